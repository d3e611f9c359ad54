//! Begins rounds: reads the targets whose turn it is, and sends a message for each.
//!
//! A message whose check can't begin before the next one of its target would be paid for and left out. So a round sends no more
//! than there is room for, and of one host no more than are checked one after another; `allowance` knows how many that is. It
//! takes the targets from a random place on: who is left out this time comes another time.

mod allowance;
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

use self::{
    allowance::Allowance,
    walk::{LeftOut, Start, Walk},
};

/// Begins rounds.
pub struct Dispatch {
    /// The targets.
    pub targets: WatchTable,
    /// Where checks wait for their turn.
    pub checks: Publisher,
    /// Messages that are no rounds go here.
    pub dead_letters: DeadLetterQueue,
    /// How many checks run at once.
    pub max_concurrency: u16,
    /// How many targets a round reads at most beyond those that it has room for, to get past hosts that have their share.
    pub detour: usize,
    /// For how long it tries again what failed, while the round lasts.
    pub patience: Duration,
}

/// Why a round left out some of its targets, or all.
#[derive(Debug, thiserror::Error)]
pub enum DispatchError {
    /// It isn't known how much room there is.
    #[error("the room in the queue of checks is not known")]
    Room(#[from] CountError),
    /// The table failed.
    #[error("the targets could not be read")]
    Repository(#[from] RepositoryError),
    /// A check could not be written down.
    #[error("a check could not be written as a message")]
    Message(#[from] serde_json::Error),
    /// The operating system has no random numbers.
    #[error("there is no random place to start from")]
    Random(#[from] getrandom::Error),
}

/// What came of a round.
#[derive(Debug, Default)]
struct Sent {
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
            self.hold(received.event).await;
        }
        batch::log(records, failed.len(), started);
        batch::failures(failed)
    }
}

impl Dispatch {
    /// So far a round goes to get past hosts that have their share: 1.5 MB more, which is 190 read units.
    pub const DETOUR: usize = 2_000;

    /// A call that hangs is given up after 2.4 seconds, so the last tries end before the function's 30 seconds do.
    pub const PATIENCE: Duration = Duration::from_secs(10);

    /// Whatever happens, the message is done with: when SQS shows one again that failed, its round is over.
    async fn hold(&self, round: PlannedRound) {
        let (phase, slot) = (round.phase.number(), round.slot.to_string());
        if round.is_over(Timestamp::now()) {
            metrics::add(Metric::RoundsCut, 1);
            tracing::warn!(phase, slot, "a round came too late");
            return;
        }
        let mut sent = Sent::default();
        if let Err(error) = self.send(round, &mut sent).await {
            sent.left_out.others = true;
            tracing::error!(phase, slot, error = chain(&error), "a round left targets out");
        }
        let Sent { checks, left_out: LeftOut { held_back, others: cut } } = sent;
        metrics::add(Metric::RoundsCut, cut.into());
        metrics::add(Metric::ChecksHeldBack, held_back);
        tracing::info!(phase, slot, checks, held_back, cut, "round begun");
    }

    async fn send(&self, round: PlannedRound, sent: &mut Sent) -> Result<(), DispatchError> {
        let patience = Patience::new(round, self.patience);
        let allowance = Allowance::new(self.max_concurrency, round.interval, self.waiting(&patience).await?);
        let mut walk = Walk::new(round.phase, &Start::random()?, allowance, self.detour);
        loop {
            while let Some((stretch, limit)) = walk.next() {
                match self.targets.due(&stretch, limit).await {
                    Ok(page) => {
                        report(&page.unreadable);
                        sent.checks += self.send_checks(round, walk.pass(page)).await?;
                    }
                    Err(error) => walk.put_off(stretch, error),
                }
            }
            sent.left_out = walk.left_out();
            let Some(error) = walk.go_back() else { return Ok(()) };
            if !patience.pause().await {
                return Err(error.into());
            }
        }
    }

    /// How many messages are in the queue of checks.
    async fn waiting(&self, patience: &Patience) -> Result<usize, CountError> {
        loop {
            let counted = self.checks.count().await;
            if counted.is_ok() || !patience.pause().await {
                return counted;
            }
        }
    }

    /// Returns how many checks are on their way.
    async fn send_checks(&self, round: PlannedRound, targets: Vec<DueTarget>) -> Result<usize, DispatchError> {
        let messages = targets.into_iter().map(|target| message(round, target)).collect::<Result<Vec<_>, _>>()?;
        let refused = self.checks.send_all(&messages).await;
        metrics::add(Metric::ChecksSkipped, refused);
        Ok(messages.len() - refused)
    }
}

/// Until when a round tries again what failed.
struct Patience {
    until: Timestamp,
}

impl Patience {
    const PAUSE: Duration = Duration::from_millis(500);

    fn new(round: PlannedRound, patience: Duration) -> Self {
        Self { until: round.ends_at().min(Timestamp::now().plus(patience)) }
    }

    /// Waits for the next try, if there is one.
    async fn pause(&self) -> bool {
        let is_left = Timestamp::now().plus(Self::PAUSE) < self.until;
        if is_left {
            sleep(Self::PAUSE).await;
        }
        is_left
    }
}

fn message(round: PlannedRound, target: DueTarget) -> Result<Message, serde_json::Error> {
    let check = PlannedCheck {
        target_id: target.id,
        workspace_id: target.workspace,
        url: target.url,
        host: target.host,
        status: target.status,
        slot: round.slot,
        interval: round.interval,
    };
    Ok(Message::new(&check)?.in_group(check.host.group(), check.deduplication_id()))
}

/// One line for all of them: if a version of Linklet can't read one row, it may well not be able to read any.
fn report(unreadable: &[UnreadableTarget]) {
    if let [first, ..] = unreadable {
        let (target_id, targets, error) = (&first.id, unreadable.len(), chain(&first.error));
        tracing::error!(target_id, targets, error, "targets can't be read and are not checked");
    }
}
