//! The way of a round through the targets of its phase.

use std::collections::VecDeque;

use linklet_domain::{Phase, Shard, TargetId};
use linklet_dynamodb::{DuePage, DueTarget, RepositoryError, Stretch};

use crate::allowance::{Admission, Allowance};

/// How many targets are read at a time at least.
const PAGE: usize = 100;

/// A walk through the targets of a phase, until there is no room for more checks.
pub(crate) struct Walk {
    ahead: VecDeque<Stretch>,
    /// What could not be read, and the latest reason.
    put_off: VecDeque<Stretch>,
    failure: Option<RepositoryError>,
    allowance: Allowance,
    /// How many rows may still be read.
    rows: usize,
    left_out: LeftOut,
}

/// Whom a walk has left out.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LeftOut {
    /// How many targets were read whose host has its share.
    pub held_back: usize,
    /// Whether there were others.
    pub others: bool,
}

impl Walk {
    /// A walk that reads at most `detour` targets more than there is room for.
    pub(crate) fn new(phase: Phase, start: &Start, allowance: Allowance, detour: usize) -> Self {
        let rows = allowance.room() + detour;
        let (ahead, put_off) = (start.stretches(phase), VecDeque::new());
        Self { ahead, put_off, failure: None, allowance, rows, left_out: LeftOut::default() }
    }

    /// What to read next, and how many rows of it at most.
    pub(crate) fn next(&mut self) -> Option<(Stretch, usize)> {
        if self.rows == 0 && !self.ahead.is_empty() {
            self.end();
        }
        // One more than there is room for tells whether anybody is left out.
        let limit = PAGE.max(self.allowance.room() + 1).min(self.rows);
        self.ahead.pop_front().map(|stretch| (stretch, limit))
    }

    /// Goes past what was read, and says which of it may be checked.
    pub(crate) fn pass(&mut self, page: DuePage) -> Vec<DueTarget> {
        self.rows = self.rows.saturating_sub(page.targets.len() + page.unreadable.len());
        self.left_out.others |= !page.unreadable.is_empty();
        if let Some(rest) = page.rest {
            self.ahead.push_front(rest);
        }
        let mut admitted = Vec::new();
        for target in page.targets {
            match self.allowance.admit(&target.host) {
                Admission::Admitted => admitted.push(target),
                Admission::HeldBack => self.left_out.held_back += 1,
                Admission::NoRoom => {
                    self.end();
                    break;
                }
            }
        }
        admitted
    }

    /// Leaves a stretch that could not be read for later, and goes on with the next.
    pub(crate) fn put_off(&mut self, stretch: Stretch, failure: RepositoryError) {
        self.put_off.push_back(stretch);
        self.failure = Some(failure);
    }

    /// Goes back to what was put off, and says why it was; `None` if nothing was.
    pub(crate) fn go_back(&mut self) -> Option<RepositoryError> {
        self.ahead.append(&mut self.put_off);
        self.failure.take()
    }

    /// Leaves out all that is still to be read.
    fn end(&mut self) {
        self.left_out.others = true;
        self.ahead.clear();
        self.put_off.clear();
        self.failure = None;
    }

    pub(crate) fn left_out(&self) -> LeftOut {
        self.left_out
    }
}

/// Where a walk starts.
pub(crate) struct Start(u128);

impl Start {
    /// Anywhere, so that nobody is always the last.
    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
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
