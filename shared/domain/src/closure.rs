//! Closed workspaces.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{JobId, Timestamp, lifetimes};

/// That a workspace is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closure {
    /// Since when.
    pub closed_at: Timestamp,
    /// Until when one who was its admin can bring it back. From then on it is purged.
    pub restorable_until: Timestamp,
    /// The job that closes it.
    #[serde(rename = "closing_job")]
    pub job: JobId,
}

impl Closure {
    /// How long after a workspace was closed or brought back the environments may still hold what it was before: they hold sessions and
    /// API keys for a minute, and the rest is for requests and turns that take long and for clocks that differ.
    pub const CACHES_EXPIRE_WITHIN: Duration = Duration::from_secs(120);

    /// That a workspace is closed from now on, and can be brought back for a while.
    pub fn restorable(now: Timestamp, job: JobId) -> Self {
        Self { closed_at: now, restorable_until: now.plus(lifetimes::CLOSED_WORKSPACES), job }
    }

    /// That a workspace is closed from now on for good, since nobody is left who could bring it back.
    pub fn for_good(now: Timestamp, job: JobId) -> Self {
        Self { closed_at: now, restorable_until: now, job }
    }

    /// Whether nobody can bring the workspace back any more.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.restorable_until <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_workspace_is_gone_after_exactly_seven_days() {
        let closed_at = Timestamp::parse("2026-03-02T12:00:00Z").unwrap();
        let closure = Closure::restorable(closed_at, JobId::generate());
        let week = Duration::from_secs(7 * 24 * 3_600);

        assert!(!closure.is_over(closed_at.plus(week).minus(Duration::from_millis(1))));
        assert!(closure.is_over(closed_at.plus(week)));
        assert!(Closure::for_good(closed_at, JobId::generate()).is_over(closed_at));
    }
}
