//! Iteration over the targets of a round's phase.

use std::collections::VecDeque;

use linklet_domain::{Phase, Shard, TargetId};
use linklet_dynamodb::{DuePage, DueTarget, RepositoryError, ShardRange};

use crate::{allowance::Allowance, turns::Turns};

/// An iteration over the targets of a phase. All that may be read is read before checks are admitted, since a workspace's share
/// depends on how many targets the others have.
pub(crate) struct TargetWalk {
    start: StartPoint,
    pending: VecDeque<ShardRange>,
    /// The ranges that could not be read, to be retried.
    deferred: VecDeque<ShardRange>,
    /// The latest error of a read.
    failure: Option<RepositoryError>,
    allowance: Allowance,
    /// The targets that were read and have not been admitted yet.
    turns: Turns,
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
    pub(crate) fn new(phase: Phase, start: StartPoint, allowance: Allowance, extra_reads: usize) -> Self {
        let reads_left = allowance.capacity() + extra_reads;
        let (pending, deferred) = (start.ranges(phase), VecDeque::new());
        let (turns, left_out) = (Turns::default(), LeftOut::default());
        Self { start, pending, deferred, failure: None, allowance, turns, reads_left, left_out }
    }

    /// The next range to read, and the maximum number of targets to read.
    pub(crate) fn next(&mut self) -> Option<(ShardRange, usize)> {
        if self.reads_left == 0 && !self.pending.is_empty() {
            self.stop();
        }
        // Without capacity, one target shows that some are left out.
        let limit = if self.allowance.capacity() == 0 { 1 } else { self.reads_left };
        self.pending.pop_front().map(|range| (range, limit))
    }

    /// Takes a page that was read.
    pub(crate) fn take(&mut self, page: DuePage) {
        self.reads_left = self.reads_left.saturating_sub(page.targets.len() + page.unreadable.len());
        self.left_out.others |= !page.unreadable.is_empty();
        if let Some(rest) = page.rest {
            self.pending.push_front(rest);
        }
        for target in page.targets {
            self.turns.add(target);
        }
        if self.allowance.capacity() == 0 && !self.turns.is_empty() {
            self.stop();
        }
    }

    /// Returns those of the targets that were read whose checks may be sent.
    pub(crate) fn admit(&mut self) -> Vec<DueTarget> {
        let admitted = self.turns.admit(self.start.0, &mut self.allowance, &mut self.left_out);
        if self.allowance.capacity() == 0 && !self.deferred.is_empty() {
            self.stop();
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
