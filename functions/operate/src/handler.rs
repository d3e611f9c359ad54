//! What operators' commands ask for: inviting somebody, a new password, closing an account, recounting links, suspending what does harm.
//!
//! Whoever may invoke this function may do all of it. So no route is needed that makes somebody an operator.

mod people;
mod reconcile;
mod recount;
mod suspension;

use linklet_domain::{
    Blocked, EmailAddress, Invalid, ShortCode, SortOrder, SuspensionReason, Timestamp, WorkspaceSlug,
};
use linklet_dynamodb::{Cursor, LinkRange, LinksTable, RepositoryError};
use linklet_lambda::{order::Order, telemetry::chain};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tracing::Instrument as _;

pub use self::people::{Closed, Issued, People};
pub use self::reconcile::{Reconciler, Report};
use self::suspension::Scope;

/// The function.
pub struct Operate {
    /// Accounts and invitations.
    pub people: People,
    /// The repository of links.
    pub links: LinksTable,
    /// Statistics and raw clicks.
    pub reconciler: Reconciler,
    /// Where people reach the web application.
    pub base: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Command {
    Invite { email: EmailAddress },
    Reset { email: EmailAddress, reclaim: bool },
    CloseAccount { email: EmailAddress },
    Reconcile { code: ShortCode, repair: bool },
    Who { code: ShortCode, after: Option<String> },
    Suspend { what: Scope, reason: SuspensionReason, after: Option<String> },
    Unsuspend { what: Scope, after: Option<String> },
    Links { workspace: WorkspaceSlug, after: Option<String> },
}

/// What the operator gets to read.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// It is done.
    Done {
        /// What the operator has to know.
        text: String,
    },
    /// A page of the table was looked at.
    Page {
        /// What was found or done.
        text: String,
        /// From where to go on; `None` at the end.
        next: Option<String>,
        /// Whether it has to be done again.
        is_incomplete: bool,
    },
    /// A link was recounted.
    Recounted {
        /// What was found, and whether it was repaired.
        text: String,
        /// Whether there is a difference that nobody has repaired.
        needs_repair: bool,
    },
    /// Links of a workspace, oldest first.
    Links {
        /// Their codes.
        codes: Vec<ShortCode>,
        /// The cursor with which the next ones are asked for; none at the end.
        next: Option<String>,
    },
    /// Nothing was done, or not all of it.
    Refused {
        /// Why, in one sentence.
        refusal: String,
    },
}

/// Why a command could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum OperateError {
    /// A table can't be read or written.
    #[error("a table can't be used")]
    Table(#[from] RepositoryError),
    /// There is no randomness.
    #[error("no token can be generated")]
    Randomness(#[from] getrandom::Error),
    /// The event has no command.
    #[error("{0}")]
    NoCommand(#[from] serde_json::Error),
    /// What a list is to go on after is no cursor of it.
    #[error("{0}")]
    NoCursor(#[from] Invalid),
    /// Somebody has registered with the address.
    #[error("somebody has registered with this address already")]
    Registered,
    /// Nobody has registered with the address.
    #[error("nobody has registered with this address")]
    NotRegistered,
    /// There is no such workspace.
    #[error("no workspace has this slug or id")]
    NoWorkspace,
    /// Only a closed workspace suspends for the reason that was given.
    #[error("REASON must be abuse, legal or other")]
    NoReason,
    /// The host or workspace of the link is suspended.
    #[error("{0} is suspended, and so is the link: unsuspend that")]
    Blocked(Blocked),
    /// The host or workspace isn't suspended.
    #[error("it isn't suspended; what is: {0}")]
    NotBlocked(String),
    /// The host or workspace is suspended for another reason.
    #[error("it is suspended for another reason, {0}: unsuspend it first")]
    OtherReason(SuspensionReason),
    /// The host is a top-level domain.
    #[error("HOST must have a dot")]
    TopLevelDomain,
    /// There is no such link.
    #[error("no link has this code")]
    NoLink,
    /// The link is clicked so much that its numbers change between reading and writing. Nothing is changed.
    #[error("the link is being counted all the time; try again when it is quieter")]
    Busy,
    /// Some clicks could not be sent to the queue.
    #[error("{0} clicks could not be sent to the queue; do it again")]
    Unsent(usize),
}

impl Operate {
    /// Carries out the command in an event. What the operator can act on is an answer; neither that nor the event is logged.
    ///
    /// # Errors
    /// When a table can't be used, or there is no randomness, which is logged.
    pub async fn answer(&self, event: Value) -> Result<Answer, OperateError> {
        let order: Order<Command> = match serde_json::from_value(event) {
            Ok(order) => order,
            Err(error) => return Ok(refused(&error.into())),
        };
        let span = tracing::info_span!("command", operator = order.operator);
        let carried_out = self.carry_out(order.command, Timestamp::now()).instrument(span.clone()).await;
        carried_out.or_else(|error| match error {
            OperateError::Table(_) | OperateError::Randomness(_) => {
                span.in_scope(|| tracing::error!(error = chain(&error), "a command failed"));
                Err(error)
            }
            refusal => Ok(refused(&refusal)),
        })
    }

    async fn carry_out(&self, command: Command, now: Timestamp) -> Result<Answer, OperateError> {
        let text = match command {
            Command::Invite { email } => self.people.invite(&email, now).await?.help(&self.base),
            Command::Reset { email, reclaim } => self.people.reset(&email, reclaim, now).await?.help(&self.base),
            Command::CloseAccount { email } => self.people.close(&email).await?.help(),
            Command::Who { code, after } => return self.who(&code, after.as_deref(), now).await,
            Command::Suspend { what, reason, after } => return self.suspend(what, reason, after.as_deref()).await,
            Command::Unsuspend { what, after } => return self.unsuspend(what, after.as_deref()).await,
            Command::Reconcile { code, repair } => return self.reconcile(&code, repair, now).await,
            Command::Links { workspace, after } => return self.links_of(&workspace, after.as_deref()).await,
        };
        Ok(Answer::Done { text })
    }

    async fn reconcile(&self, code: &ShortCode, repairs: bool, now: Timestamp) -> Result<Answer, OperateError> {
        let record = self.links.redirect_target(code).await?.ok_or(OperateError::NoLink)?;
        let (link, reconciler) = (record.identity(), &self.reconciler);
        let report = match (record.is_purged(), repairs) {
            // The statistics may not say so yet, or not any more.
            (true, _) => Report::of_purged(),
            (false, true) => reconciler.repair(link, now).await?,
            (false, false) => reconciler.report(link, now).await?,
        };
        let outcome = match (report.is_clean(), repairs) {
            _ if report.is_purged => "",
            (true, _) => "\nEverything is counted.",
            (false, true) => "\nRepaired; uncounted clicks are on their way to be counted. Look again in a minute.",
            (false, false) => "",
        };
        Ok(Answer::Recounted { text: format!("{report}{outcome}"), needs_repair: !report.is_clean() && !repairs })
    }

    /// Lists links to recount, so many at a time that they fit an answer.
    async fn links_of(&self, workspace: &WorkspaceSlug, after: Option<&str>) -> Result<Answer, OperateError> {
        const AT_A_TIME: usize = 500;
        let workspace = &self.people.users.workspace_by_slug(workspace).await?.ok_or(OperateError::NoWorkspace)?;
        let (created, after) = ((None, None), after.map(Cursor::decode).transpose()?);
        let range = LinkRange { workspace, created, order: SortOrder::Ascending, after, wanted: Some(AT_A_TIME) };
        let mut reader = self.links.summaries(&range);
        let links = reader.next().await?.unwrap_or_default();
        let codes = links.into_iter().map(|link| link.id.code).collect();
        Ok(Answer::Links { codes, next: reader.rest().map(Cursor::encode) })
    }
}

fn refused(error: &OperateError) -> Answer {
    Answer::Refused { refusal: error.to_string() }
}
