//! How fast something comes.

use std::{collections::VecDeque, time::Duration};

use linklet_domain::Timestamp;

/// The times of the latest `MANY`, which tell whether it was that many within a second.
#[derive(Debug, Default)]
pub struct Pace<const MANY: usize>(VecDeque<Timestamp>);

impl<const MANY: usize> Pace<MANY> {
    const SECOND: Duration = Duration::from_secs(1);

    /// One more has come.
    pub fn note(&mut self, now: Timestamp) {
        if self.0.len() == MANY {
            self.0.pop_front();
        }
        self.0.push_back(now);
    }

    /// Whether that many have come within the second before this time.
    pub fn is_reached(&self, now: Timestamp) -> bool {
        self.0.len() == MANY && self.0.front().is_some_and(|first| first.until(now) <= Self::SECOND)
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
