//! Begins rounds: reads the targets whose turn it is, and sends a message for each.
//!
//! A message whose check can't begin before the next one of its target would be paid for and left out. So a round sends no more
//! than there is room for, and takes the targets from a random place on: who is left out this time comes another time.

use std::{collections::VecDeque, time::Instant};

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use linklet_domain::{CheckInterval, Phase, PlannedCheck, PlannedRound, Shard, TargetId, Timestamp};
use linklet_dynamodb::{DueTarget, RepositoryError, Stretch, UnreadableTarget, WatchTable};
use linklet_lambda::{
    batch::{self, Consumer, DeadLetterQueue},
    metrics::{self, Metric},
    publisher::{CountError, Message, Publisher},
    telemetry::chain,
};

/// How many checks one worker does in a second: an answer takes a quarter of a second, we assume. Where it takes longer, some
/// checks are sent that are left out later.
const CHECKS_PER_SECOND: usize = 4;

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
}

/// Why a round did not begin.
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
    Random(#[source] getrandom::Error),
}

/// What came of a round.
#[derive(Debug, Default)]
struct Sent {
    checks: usize,
    /// Whether it left targets out.
    cut: bool,
}

impl Consumer<SqsEvent, SqsBatchResponse> for Dispatch {
    async fn consume(&self, batch: SqsEvent) -> SqsBatchResponse {
        let started = Instant::now();
        let records = batch.records.len();
        let (rounds, unreadable) = batch::read::<PlannedRound>(batch);
        let mut failed = self.dead_letters.park_all(unreadable).await;
        for received in rounds {
            if !self.hold(received.event).await {
                failed.push(received.message_id);
            }
        }
        batch::log(records, failed.len(), started);
        batch::failures(failed)
    }
}

impl Dispatch {
    /// Says whether the message is done with.
    async fn hold(&self, round: PlannedRound) -> bool {
        let (phase, slot) = (round.phase.number(), round.slot.to_string());
        if round.is_over(Timestamp::now()) {
            metrics::add(Metric::RoundsCut, 1);
            tracing::warn!(phase, slot, "a round came too late");
            return true;
        }
        match self.send(round).await {
            Ok(sent) => {
                metrics::add(Metric::RoundsCut, sent.cut.into());
                tracing::info!(phase, slot, checks = sent.checks, cut = sent.cut, "round begun");
                true
            }
            Err(error) => {
                tracing::error!(phase, slot, error = chain(&error), "a round did not begin");
                false
            }
        }
    }

    async fn send(&self, round: PlannedRound) -> Result<Sent, DispatchError> {
        let mut ahead = Start::random()?.stretches(round.phase);
        let mut room = self.room(round.interval).await?;
        let mut sent = Sent::default();
        while let Some(stretch) = ahead.pop_front() {
            // One more than there is room for tells whether anybody is left out.
            let mut page = self.targets.due(&stretch, room + 1).await?;
            if !page.unreadable.is_empty() {
                report(&page.unreadable);
                sent.cut = true;
            }
            let is_full = page.targets.len() > room;
            page.targets.truncate(room);
            room -= page.targets.len();
            let messages =
                page.targets.into_iter().map(|target| message(round, target)).collect::<Result<Vec<_>, _>>()?;
            let refused = self.checks.send_all(&messages).await;
            // The same as without room: to repeat the round would bring these back after it is over.
            metrics::add(Metric::ChecksSkipped, refused);
            sent.checks += messages.len() - refused;
            if is_full {
                sent.cut = true;
                break;
            }
            if let Some(rest) = page.rest {
                ahead.push_front(rest);
            }
        }
        Ok(sent)
    }

    /// How many messages more can become checks before the round is over.
    async fn room(&self, interval: CheckInterval) -> Result<usize, DispatchError> {
        let capacity = usize::from(self.max_concurrency) * usize::from(interval.seconds()) * CHECKS_PER_SECOND;
        Ok(capacity.saturating_sub(self.checks.count().await?))
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

/// Where a walk through the targets of a phase starts.
struct Start(u128);

impl Start {
    fn random() -> Result<Self, DispatchError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(DispatchError::Random)?;
        Ok(Self(u128::from_be_bytes(bytes)))
    }

    /// All targets of a phase, from one of its shards on, and in each shard from one of its targets on.
    fn stretches(&self, phase: Phase) -> VecDeque<Stretch> {
        let mut shards: Vec<Shard> = phase.shards().collect();
        let first = self.0 % shards.len().max(1) as u128;
        shards.rotate_left(usize::try_from(first).unwrap_or_default());
        let place = TargetId::numbered(self.0);
        shards.into_iter().flat_map(|shard| Stretch::around(shard, &place)).collect()
    }
}
