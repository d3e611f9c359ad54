//! The consumer of the queue of ticks.

use std::time::Instant;

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use linklet_domain::{CorrelationId, PlannedTick};
use linklet_dynamodb::{PartitionNotes, WatchTable};
use linklet_fetch::{Fetcher, Network, SystemNetwork};
use linklet_lambda::batch::{self, Consumer, DeadLetterQueue};
use linklet_lambda::metrics::{self, Metric};
use linklet_lambda::telemetry::{chain, warn_of};
use tracing::Instrument as _;

use crate::Clock;
use crate::check::Deadline;
use crate::concurrency::{Checked, check_in_turns};
use crate::fair_queue::FairQueue;

/// The consumer of the queue of ticks.
pub struct Checker<N = SystemNetwork> {
    /// Fetches the URLs.
    pub fetcher: Fetcher<N>,
    /// The repository of targets, which stores the results.
    pub targets: WatchTable,
    /// The dead-letter queue, for messages that can't be parsed.
    pub dead_letters: DeadLetterQueue,
    /// How many more targets a tick may read than its places check in the time if each takes a quarter of a second: to give each
    /// workspace its share, and to get past targets of hosts that are busy.
    pub extra_reads: usize,
    /// Tells the time.
    pub clock: Box<Clock>,
}

/// How many targets without a result come first in the next tick.
const MOST_FIRST: usize = 50;

impl<N: Network> Consumer<SqsEvent, SqsBatchResponse> for Checker<N> {
    async fn consume(&self, batch: SqsEvent) -> SqsBatchResponse {
        let started = Instant::now();
        let records = batch.records.len();
        let (ticks, unreadable) = batch::read::<PlannedTick>(batch);
        let failed = self.dead_letters.park_all(unreadable).await;
        for received in ticks {
            self.work_on(&received.event).instrument(received.span()).await;
        }
        batch::log(records, failed.len(), started);
        batch::failures(failed)
    }
}

impl<N: Network> Checker<N> {
    /// The default of [`Self::extra_reads`]: 1.5 MB of items, which cost 190 read units.
    pub const EXTRA_READS: usize = 2_000;

    /// Works on a tick, if nobody else does. It never fails the message: the tick would be over when SQS redelivers it.
    async fn work_on(&self, tick: &PlannedTick) {
        let (partition, slot) = (tick.partition.number(), tick.slot.to_string());
        if tick.is_over((self.clock)()) {
            metrics::add(Metric::TicksCut, 1);
            tracing::warn!(partition, slot, "a tick came too late");
            return;
        }
        match self.targets.take_partition(tick, &CorrelationId::generate()).await {
            Ok(true) => self.run(tick).await,
            Ok(false) => tracing::info!(partition, slot, "another worker has the partition"),
            Err(error) => {
                metrics::add(Metric::TicksCut, 1);
                tracing::error!(partition, slot, error = chain(&error), "a tick was left out");
            }
        }
    }

    async fn run(&self, tick: &PlannedTick) {
        let told = self.notes(tick).await;
        let due = self.due(tick, told.is_cut).await;
        let queue = FairQueue::of(due.targets, &told.first);
        let deadline = Deadline { at: tick.stops_at(), clock: &*self.clock };
        let Checked { results, skipped, held_back } =
            check_in_turns(&self.fetcher, queue, tick.partition.places(), deadline).await;
        let checks = results.len();
        self.record(tick, results).await;
        let first = skipped.iter().chain(&held_back).take(MOST_FIRST).map(|target| target.id.clone()).collect();
        self.tell(tick, &told, PartitionNotes { first, is_cut: due.is_cut }).await;
        metrics::add(Metric::TicksCut, (due.is_cut || due.has_failed).into());
        let (skipped, held_back) = (skipped.len(), held_back.len());
        metrics::add(Metric::ChecksSkipped, skipped);
        metrics::add(Metric::ChecksHeldBack, held_back);
        let (partition, slot, cut) = (tick.partition.number(), tick.slot.to_string(), due.is_cut);
        tracing::info!(partition, slot, checks, skipped, held_back, cut, "tick done");
    }

    async fn notes(&self, tick: &PlannedTick) -> PartitionNotes {
        let notes = self.targets.notes(tick.partition).await;
        warn_of(notes, "a tick begins without what the last one has left").unwrap_or_default()
    }

    async fn tell(&self, tick: &PlannedTick, told: &PartitionNotes, notes: PartitionNotes) {
        if notes == *told {
            return;
        }
        warn_of(self.targets.note(tick, &notes).await, "what a tick has left could not be told to the next one");
    }
}
