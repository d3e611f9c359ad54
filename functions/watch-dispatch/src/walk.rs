//! Iteration over the targets of a round's phase.

use std::collections::VecDeque;

use linklet_domain::{Phase, Shard, TargetId};
use linklet_dynamodb::{DuePage, DueTarget, RepositoryError, ShardRange};

use crate::allowance::{Admission, Allowance};

/// Minimum number of targets to read per query.
const PAGE: usize = 100;

/// An iteration over the targets of a phase, until the round has no capacity left for checks.
pub(crate) struct TargetWalk {
    pending: VecDeque<ShardRange>,
    /// The ranges that could not be read, to be retried.
    deferred: VecDeque<ShardRange>,
    /// The latest error of a read.
    failure: Option<RepositoryError>,
    allowance: Allowance,
    /// Number of targets that may still be read.
    reads_left: usize,
    left_out: LeftOut,
}

/// The targets without a check in a round.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LeftOut {
    /// Number of targets that were read, but whose host has reached its limit.
    pub held_back: usize,
    /// Whether there were targets without a check for another reason.
    pub others: bool,
}

impl TargetWalk {
    /// A walk that reads at most `extra_reads` more targets than the allowance has capacity for.
    pub(crate) fn new(phase: Phase, start: &StartPoint, allowance: Allowance, extra_reads: usize) -> Self {
        let reads_left = allowance.capacity() + extra_reads;
        let (pending, deferred) = (start.ranges(phase), VecDeque::new());
        Self { pending, deferred, failure: None, allowance, reads_left, left_out: LeftOut::default() }
    }

    /// The next range to read, and the maximum number of targets to read.
    pub(crate) fn next(&mut self) -> Option<(ShardRange, usize)> {
        if self.reads_left == 0 && !self.pending.is_empty() {
            self.stop();
        }
        // One more than the capacity, to see whether a target is left out.
        let limit = PAGE.max(self.allowance.capacity() + 1).min(self.reads_left);
        self.pending.pop_front().map(|range| (range, limit))
    }

    /// Processes a page that was read, and returns the targets whose checks may be sent.
    pub(crate) fn admit(&mut self, page: DuePage) -> Vec<DueTarget> {
        self.reads_left = self.reads_left.saturating_sub(page.targets.len() + page.unreadable.len());
        self.left_out.others |= !page.unreadable.is_empty();
        if let Some(rest) = page.rest {
            self.pending.push_front(rest);
        }
        let mut admitted = Vec::new();
        for target in page.targets {
            match self.allowance.admit(&target.host) {
                Admission::Admitted => admitted.push(target),
                Admission::HeldBack => self.left_out.held_back += 1,
                Admission::NoCapacity => {
                    self.stop();
                    break;
                }
            }
        }
        admitted
    }

    /// Defers a range that could not be read.
    pub(crate) fn defer(&mut self, range: ShardRange, failure: RepositoryError) {
        self.deferred.push_back(range);
        self.failure = Some(failure);
    }

    /// Makes the deferred ranges pending again, and returns the latest error; `None` if no range was deferred.
    pub(crate) fn resume_deferred(&mut self) -> Option<RepositoryError> {
        self.pending.append(&mut self.deferred);
        self.failure.take()
    }

    /// Ends the walk, leaving out all targets that were not read.
    fn stop(&mut self) {
        self.left_out.others = true;
        self.pending.clear();
        self.deferred.clear();
        self.failure = None;
    }

    pub(crate) fn left_out(&self) -> LeftOut {
        self.left_out
    }
}

/// The point at which a walk starts.
pub(crate) struct StartPoint(u128);

impl StartPoint {
    /// A random point, so that no target is always the last.
    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(u128::from_be_bytes(bytes)))
    }

    /// The ranges with all targets of a phase, beginning at one of its shards, and in each shard at one of its targets.
    fn ranges(&self, phase: Phase) -> VecDeque<ShardRange> {
        let mut shards: Vec<Shard> = phase.shards().collect();
        let first = self.0 % shards.len().max(1) as u128;
        shards.rotate_left(usize::try_from(first).unwrap_or_default());
        let split = TargetId::from_number(self.0);
        shards.into_iter().flat_map(|shard| ShardRange::split_at(shard, &split)).collect()
    }
}
