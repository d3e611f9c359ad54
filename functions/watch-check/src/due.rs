//! Reading the targets of a partition.

use std::time::Duration;

use futures_util::future::join_all;
use linklet_domain::{PlannedTick, TargetId};
use linklet_dynamodb::{DueTarget, RepositoryError, ShardRange, UnreadableTarget};
use linklet_fetch::Network;
use linklet_lambda::telemetry::chain;
use tokio::time::sleep;

use crate::Checker;

/// How many checks a place makes in a second if each takes a quarter of it. It bounds what is read, and nothing else.
const CHECKS_PER_SECOND: usize = 4;

/// How often what can't be read is tried, each time after a pause.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(500);

/// The targets of a partition.
#[derive(Debug, Default)]
pub(crate) struct Due {
    pub targets: Vec<DueTarget>,
    /// Whether there are more than were read.
    pub is_cut: bool,
    /// Whether some could not be read.
    pub has_failed: bool,
}

impl<N: Network> Checker<N> {
    /// Reads the targets of a tick's partition, all host shards at a time. If the last tick could not read all, this one begins at a random
    /// place of each host shard, so that no target is left out for ever.
    pub(crate) async fn due(&self, tick: &PlannedTick, was_cut: bool) -> Due {
        let (mut due, mut pending) = (Due::default(), ranges(tick, was_cut));
        let mut left = self.most_read(tick);
        let mut tries = 0;
        while !pending.is_empty() && left > 0 {
            let limit = left.div_ceil(pending.len());
            let reading = pending.drain(..).map(|range| async move { (self.targets.due(&range, limit).await, range) });
            let (mut rest, mut failure) = (Vec::new(), None);
            for (page, range) in join_all(reading).await {
                match page {
                    Ok(page) => {
                        log_unreadable(&page.unreadable);
                        due.has_failed |= !page.unreadable.is_empty();
                        left = left.saturating_sub(page.targets.len() + page.unreadable.len());
                        due.targets.extend(page.targets);
                        rest.extend(page.rest);
                    }
                    Err(error) => {
                        failure = Some(error);
                        rest.push(range);
                    }
                }
            }
            pending = rest;
            if let Some(error) = failure {
                tries += 1;
                if tries == TRIES {
                    log_failure(tick, &error);
                    return Due { has_failed: true, ..due };
                }
                sleep(PAUSE).await;
            }
        }
        Due { is_cut: !pending.is_empty(), ..due }
    }

    fn most_read(&self, tick: &PlannedTick) -> usize {
        let seconds = usize::from(tick.interval.seconds());
        usize::from(tick.partition.places()) * seconds * CHECKS_PER_SECOND + self.extra_reads
    }
}

fn ranges(tick: &PlannedTick, was_cut: bool) -> Vec<ShardRange> {
    if !was_cut {
        return tick.partition.shards().map(ShardRange::all).collect();
    }
    let split = fastrand::u128(..1 << TargetId::BITS);
    let halves: Vec<_> = tick.partition.shards().map(|shard| ShardRange::split_at(shard, split)).collect();
    let (upper, lower): (Vec<_>, Vec<_>) = halves.into_iter().map(|[upper, lower]| (upper, lower)).unzip();
    upper.into_iter().chain(lower).collect()
}

fn log_failure(tick: &PlannedTick, error: &RepositoryError) {
    let (partition, slot) = (tick.partition.number(), tick.slot.to_string());
    tracing::error!(partition, slot, error = chain(error), "a tick left targets out");
}

/// Logs targets that can't be read, in one line for all, since possibly all targets are affected.
fn log_unreadable(unreadable: &[UnreadableTarget]) {
    if let [first, ..] = unreadable {
        let (target_id, targets, error) = (&first.id, unreadable.len(), chain(&first.error));
        tracing::error!(target_id, targets, error, "targets can't be read and are not checked");
    }
}
