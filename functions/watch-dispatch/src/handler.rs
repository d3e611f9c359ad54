//! Dispatches rounds: reads the targets that are due, and sends a message for the check of each.
//!
//! A check that can't start before the target's next one would be skipped, but its message would cost money. So a round sends
//! no more checks than the workers have capacity for, and no more of one host than can run one after another (`allowance`). It
//! reads targets from a random point on, so that no target is always left out, and admits them in turns of the workspaces, so
//! that none takes the room of others (`turns`).

mod allowance;
mod turns;
mod walk;

use std::time::{Duration, Instant};

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use linklet_domain::{PlannedCheck, PlannedRound, Timestamp};
use linklet_dynamodb::{DueTarget, RepositoryError, UnreadableTarget, WatchTable};
use linklet_lambda::{
    batch::{self, Consumer, DeadLetterQueue},
    metrics::{self, Metric},
    publisher::{CountError, Message, Publisher},
    telemetry::chain,
};
use tokio::time::sleep;
use tracing::Instrument as _;

use self::{
    allowance::Allowance,
    walk::{LeftOut, StartPoint, TargetWalk},
};

/// The consumer of the queue of rounds.
pub struct Dispatch {
    /// The repository of targets.
    pub targets: WatchTable,
    /// The queue of checks.
    pub checks: Publisher,
    /// The dead-letter queue, for messages that can't be parsed.
    pub dead_letters: DeadLetterQueue,
    /// Maximum number of concurrent checks.
    pub max_concurrency: u16,
    /// How many more targets than it has capacity for a round may read, to give each workspace its share, and to get past targets
    /// of hosts that reached their limit.
    pub extra_reads: usize,
    /// How long a round retries failed calls, at most until it is over.
    pub retry_for: Duration,
}

/// Why a round was not dispatched completely.
#[derive(Debug, thiserror::Error)]
pub enum DispatchError {
    /// The messages in the queue of checks could not be counted.
    #[error("the number of waiting checks is not known")]
    Count(#[from] CountError),
    /// The targets could not be read from the table.
    #[error("the targets could not be read")]
    Repository(#[from] RepositoryError),
    /// A check could not be serialised.
    #[error("a check could not be serialised")]
    Message(#[from] serde_json::Error),
    /// The operating system's random number generator failed.
    #[error("no random number could be generated")]
    Random(#[from] getrandom::Error),
}

/// The outcome of a round.
#[derive(Debug, Default)]
struct RoundReport {
    checks: usize,
    left_out: LeftOut,
}

impl Consumer<SqsEvent, SqsBatchResponse> for Dispatch {
    async fn consume(&self, batch: SqsEvent) -> SqsBatchResponse {
        let started = Instant::now();
        let records = batch.records.len();
        let (rounds, unreadable) = batch::read::<PlannedRound>(batch);
        let failed = self.dead_letters.park_all(unreadable).await;
        for received in rounds {
            self.dispatch(&received.event).instrument(received.span()).await;
        }
        batch::log(records, failed.len(), started);
        batch::failures(failed)
    }
}

impl Dispatch {
    /// The default of [`Self::extra_reads`]: 1.5 MB of items, which cost 190 read units.
    pub const EXTRA_READS: usize = 2_000;

    /// The default of [`Self::retry_for`]. A call times out after 2.4 seconds, so the last retries end before the function's
    /// timeout of 30 seconds.
    pub const RETRY_FOR: Duration = Duration::from_secs(10);

    /// Dispatches a round. It never fails the message, since the round would be over when SQS redelivers it.
    async fn dispatch(&self, round: &PlannedRound) {
        let (phase, slot) = (round.phase.number(), round.slot.to_string());
        if round.is_over(Timestamp::now()) {
            metrics::add(Metric::RoundsCut, 1);
            tracing::warn!(phase, slot, "a round came too late");
            return;
        }
        let mut sent = RoundReport::default();
        if let Err(error) = self.send(round, &mut sent).await {
            sent.left_out.others = true;
            tracing::error!(phase, slot, error = chain(&error), "a round left targets out");
        }
        let RoundReport { checks, left_out: LeftOut { held_back, others: cut } } = sent;
        metrics::add(Metric::RoundsCut, cut.into());
        metrics::add(Metric::ChecksHeldBack, held_back);
        tracing::info!(phase, slot, checks, held_back, cut, "round begun");
    }

    async fn send(&self, round: &PlannedRound, sent: &mut RoundReport) -> Result<(), DispatchError> {
        let retries = RetryDeadline::new(round, self.retry_for);
        let allowance = Allowance::new(self.max_concurrency, round.interval, self.waiting(&retries).await?);
        let mut walk = TargetWalk::new(round.phase, StartPoint::random()?, allowance, self.extra_reads);
        loop {
            while let Some((range, limit)) = walk.next() {
                match self.targets.due(&range, limit).await {
                    Ok(page) => {
                        log_unreadable(&page.unreadable);
                        walk.take(page);
                    }
                    Err(error) => walk.defer(range, error),
                }
            }
            // Before what failed is tried again, since that takes a while.
            sent.checks += self.send_checks(round, walk.admit()).await?;
            sent.left_out = walk.left_out();
            let Some(error) = walk.resume_deferred() else { return Ok(()) };
            if !retries.pause().await {
                return Err(error.into());
            }
        }
    }

    /// The number of messages in the queue of checks.
    async fn waiting(&self, retries: &RetryDeadline) -> Result<usize, CountError> {
        loop {
            let counted = self.checks.count().await;
            if counted.is_ok() || !retries.pause().await {
                return counted;
            }
        }
    }

    /// Sends the checks of these targets, and returns how many were sent.
    async fn send_checks(&self, round: &PlannedRound, targets: Vec<DueTarget>) -> Result<usize, DispatchError> {
        let messages = targets.into_iter().map(|target| message(round, target)).collect::<Result<Vec<_>, _>>()?;
        let refused = self.checks.send_all(&messages).await;
        metrics::add(Metric::ChecksSkipped, refused);
        Ok(messages.len() - refused)
    }
}

/// The time until which a round retries failed calls.
struct RetryDeadline {
    until: Timestamp,
}

impl RetryDeadline {
    const PAUSE: Duration = Duration::from_millis(500);

    fn new(round: &PlannedRound, retry_for: Duration) -> Self {
        Self { until: round.ends_at().min(Timestamp::now().plus(retry_for)) }
    }

    /// Waits before a retry. Returns `false` at once if the deadline would pass meanwhile.
    async fn pause(&self) -> bool {
        let is_left = Timestamp::now().plus(Self::PAUSE) < self.until;
        if is_left {
            sleep(Self::PAUSE).await;
        }
        is_left
    }
}

fn message(round: &PlannedRound, target: DueTarget) -> Result<Message, serde_json::Error> {
    let check = PlannedCheck {
        target_id: target.id,
        workspace_id: target.workspace,
        url: target.url,
        host: target.host,
        status: target.status,
        slot: round.slot,
        interval: round.interval,
        correlation_id: round.correlation_id.clone(),
    };
    Ok(Message::new(&check)?.in_group(check.host.message_group_id(), check.deduplication_id()))
}

/// Logs targets that can't be read, in one line for all, since possibly all targets are affected.
fn log_unreadable(unreadable: &[UnreadableTarget]) {
    if let [first, ..] = unreadable {
        let (target_id, targets, error) = (&first.id, unreadable.len(), chain(&first.error));
        tracing::error!(target_id, targets, error, "targets can't be read and are not checked");
    }
}
