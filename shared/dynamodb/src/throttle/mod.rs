//! ThrottleTable: the number of calls per client and route in the current window, and what limits guesses, hashes and mails.
//!
//! Requests have short timeouts and no retries, since a retried `ADD` could count twice, and a rate limit must not delay the
//! request that it protects.
//!
//! A call starts a window or is added to the live one, and each is one conditional update, paid for even if its condition
//! fails. The right one to begin with is the one that succeeds: most clients call once, so it is the start, unless this
//! environment has seen a live window of the client. Both updates are correct in any order, so that only decides the cost.

mod guesses;
mod hashes;
mod item;
mod known;
mod mails;
pub(crate) mod reads;

use std::{sync::Arc, time::Duration};

use aws_sdk_dynamodb::config::Builder;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use linklet_domain::{LimitedRoute, RateLimit, ThrottleSubject, Timestamp, Window};

pub use self::guesses::{AdmittedGuess, GuessOutcome};
use self::hashes::SeenSeconds;
use self::item::{ttl, window_key};
use self::known::KnownWindows;
pub use self::mails::MailAdmission;
pub use self::reads::ReadMeter;
use crate::item::{Item, Table, from_item, number, text};
use crate::write::{Outcome, Write};
use crate::{RepositoryError, Result};

/// The repository of rate limit windows: ThrottleTable. Clones share what they know of windows.
#[derive(Debug, Clone)]
pub struct ThrottleTable {
    table: Table,
    known: Arc<KnownWindows>,
    seen: Arc<SeenSeconds>,
}

/// The outcome of counting a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountOutcome {
    /// The call is counted; the window includes it.
    Counted(Window),
    /// The limit of the window was reached before, so the call isn't counted.
    Refused(Window),
}

/// Calls to add.
#[derive(Debug)]
struct Calls<'a> {
    /// What to call this in errors.
    operation: &'static str,
    route: LimitedRoute,
    subject: &'a ThrottleSubject,
    /// How many, as the window that they start if there is no live one.
    first: Window,
    /// The limit beyond which they aren't counted, if there is one.
    limit: Option<RateLimit>,
    now: Timestamp,
}

impl Calls<'_> {
    fn are_refused_by(&self, window: Window) -> bool {
        self.limit.is_some_and(|limit| limit.has_no_room(window, self.first.hits))
    }
}

/// The outcome of a conditional update.
enum Updated {
    /// The window after the update.
    To(Window),
    /// The condition failed; this is the existing window, if any.
    Refused(Option<Window>),
}

impl ThrottleTable {
    const TIMEOUT: Duration = Duration::from_millis(500);
    /// What comes with a password takes a while anyway, and is worth more: if the table doesn't answer, it isn't limited.
    const TIMEOUT_OF_GUESSES: Duration = Duration::from_secs(2);
    /// Number of updates: usually one or two, and more if concurrent calls start a window between them.
    const TRIES: u32 = 6;

    /// A repository for this table.
    pub fn new(table: Table) -> Self {
        Self { table, known: Arc::default(), seen: Arc::default() }
    }

    /// Counts so many calls at once, which the limit allows or refuses together. A limit is at least as many. The count is exact, also
    /// with concurrent calls.
    ///
    /// # Errors
    /// When DynamoDB doesn't answer within half a second; the calls may or may not be counted then.
    pub async fn count(
        &self,
        route: LimitedRoute,
        subject: &ThrottleSubject,
        limit: RateLimit,
        calls: u32,
        now: Timestamp,
    ) -> Result<CountOutcome> {
        let first = Window { hits: calls, ..Window::starting(now) };
        self.add(&Calls { operation: "count a call", route, subject, first, limit: Some(limit), now }).await
    }

    /// Undoes [`Self::count`]: subtracts a call that was counted in this window, unless another window has begun.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; the call may stay counted then.
    pub async fn uncount(&self, route: LimitedRoute, subject: &ThrottleSubject, window: Window) -> Result<()> {
        let update = self
            .table
            .update("uncount a call", window_key(route, subject), "ADD hits :hits")
            .only_if("window_ends = :ends")
            .values([(":hits", number(&-1)), (":ends", text(&window.ends_at))]);
        send("uncount a call", update).await?;
        Ok(())
    }

    /// Adds calls that an execution environment has counted in memory, regardless of the limit, and returns the shared window.
    /// If there is no current window, `counted` becomes it.
    ///
    /// # Errors
    /// When DynamoDB doesn't answer within half a second; the calls may or may not be added then.
    pub async fn merge(
        &self,
        route: LimitedRoute,
        subject: &ThrottleSubject,
        counted: Window,
        now: Timestamp,
    ) -> Result<Window> {
        match self.add(&Calls { operation: "merge calls", route, subject, first: counted, limit: None, now }).await? {
            CountOutcome::Counted(window) | CountOutcome::Refused(window) => Ok(window),
        }
    }

    /// Adds calls to the live window of a subject, or starts one with them.
    async fn add(&self, calls: &Calls<'_>) -> Result<CountOutcome> {
        let mut may_be_first = self.known.live(calls.route, calls.subject, calls.now).is_none();
        for _ in 0..Self::TRIES {
            let updated = if may_be_first { self.start(calls).await? } else { self.join(calls).await? };
            let outcome = match updated {
                Updated::To(window) => CountOutcome::Counted(window),
                Updated::Refused(Some(window)) if window.is_live(calls.now) && calls.are_refused_by(window) => {
                    CountOutcome::Refused(window)
                }
                // There is a window already, or none any more.
                Updated::Refused(_) => {
                    may_be_first = !may_be_first;
                    continue;
                }
            };
            let (CountOutcome::Counted(window) | CountOutcome::Refused(window)) = outcome;
            self.known.remember(calls.route, calls.subject, window);
            return Ok(outcome);
        }
        Err(RepositoryError::contention(calls.operation))
    }

    /// Adds calls to the live window, unless there is none or it has reached the limit.
    async fn join(&self, calls: &Calls<'_>) -> Result<Updated> {
        let update = self
            .table
            .update(calls.operation, window_key(calls.route, calls.subject), "ADD hits :hits")
            .only_if("window_ends > :now")
            .values([(":hits", number(&calls.first.hits)), (":now", text(&calls.now))]);
        let update = match calls.limit {
            Some(limit) => {
                let room = limit.calls().saturating_sub(calls.first.hits);
                update.and_if("hits <= :room").value(":room", number(&room))
            }
            None => update,
        };
        send(calls.operation, update).await
    }

    /// Writes a new window, unless there is a current one.
    async fn start(&self, calls: &Calls<'_>) -> Result<Updated> {
        const START: &str = "SET hits = :hits, window_ends = :ends, #ttl = :ttl";
        let window = calls.first;
        let update = self
            .table
            .update(calls.operation, window_key(calls.route, calls.subject), START)
            .only_if("attribute_not_exists(window_ends) OR window_ends <= :now")
            .values([(":hits", number(&window.hits)), (":ends", text(&window.ends_at))])
            .values([(":ttl", number(&ttl(window.ends_at))), (":now", text(&calls.now))]);
        send(calls.operation, update).await
    }

    /// The settings of calls that are sent once. The connect timeout isn't changed: with another one, the SDK wouldn't share
    /// connections with other calls.
    fn once_within(timeout: Duration) -> Builder {
        let timeouts = TimeoutConfig::builder().operation_timeout(timeout).build();
        Builder::new().timeout_config(timeouts).retry_config(RetryConfig::disabled())
    }
}

async fn send(operation: &'static str, update: Write<'_>) -> Result<Updated> {
    let window = |item: Item| from_item(operation, item);
    Ok(match once(update, ThrottleTable::TIMEOUT).await? {
        Outcome::Done(item) => Updated::To(window(item)?),
        Outcome::Refused(item) => Updated::Refused(item.map(window).transpose()?),
    })
}

/// Sends an update once.
async fn once(update: Write<'_>, timeout: Duration) -> Result<Outcome> {
    update.returning_new().once(ThrottleTable::once_within(timeout)).send().await
}
