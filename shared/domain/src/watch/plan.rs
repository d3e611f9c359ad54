//! What travels in the queues between the scheduler and a check.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{CheckInterval, Host, Phase, TargetId, TargetStatus};
use crate::{TargetUrl, Timestamp, WorkspaceId};

/// A minute, which is how often the scheduler calls.
const MINUTE: Duration = Duration::from_secs(60);

/// A round that is to be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRound {
    /// Whose turn it is.
    pub phase: Phase,
    /// When it starts.
    pub slot: Timestamp,
    /// How long it is until the next round of the same targets. It travels along, so that rounds which were planned before the
    /// interval was changed are held as they were planned.
    #[serde(rename = "interval_seconds")]
    pub interval: CheckInterval,
}

impl PlannedRound {
    /// The rounds that a call of the scheduler plans: those of the minute after the one that it is meant for. The scheduler
    /// calls at any second of its minute, and all of these are still to come then.
    pub fn planned_by(call: Timestamp, interval: CheckInterval) -> impl Iterator<Item = Self> {
        let rounds = interval.rounds_of_minute(call.plus(MINUTE));
        rounds.map(move |round| Self { phase: round.phase, slot: round.slot, interval })
    }

    /// When the next round of the same targets begins.
    #[must_use]
    pub fn ends_at(&self) -> Timestamp {
        self.slot.plus(self.interval.duration())
    }

    /// Whether the next round of the same targets has begun.
    #[must_use]
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.interval.is_over(self.slot, now)
    }
}

/// A check of one target in a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedCheck {
    /// Which target.
    pub target_id: TargetId,
    /// The workspace that it belongs to.
    pub workspace_id: WorkspaceId,
    /// What is fetched.
    pub url: TargetUrl,
    /// Whose turn it has to wait for.
    pub host: Host,
    /// How the target was when the round began.
    pub status: TargetStatus,
    /// When the round began, by its plan.
    pub slot: Timestamp,
    /// How long the round lasts.
    #[serde(rename = "interval_seconds")]
    pub interval: CheckInterval,
}

impl PlannedCheck {
    /// Whether the next round of this target has begun, so that this check is left out.
    #[must_use]
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.interval.is_over(self.slot, now)
    }

    /// What makes two messages the same check.
    #[must_use]
    pub fn deduplication_id(&self) -> String {
        format!("{}@{}", self.target_id, self.slot)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn interval(seconds: u8) -> CheckInterval {
        CheckInterval::from_seconds(seconds).unwrap()
    }

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn a_call_of_the_scheduler_plans_the_next_minute_however_late_it_is() {
        let early: Vec<_> = PlannedRound::planned_by(at("2026-03-02T14:05:00Z"), interval(20)).collect();
        let late: Vec<_> = PlannedRound::planned_by(at("2026-03-02T14:05:59.999Z"), interval(20)).collect();

        assert_eq!(early, late);
        assert_eq!(early.len(), 9);
        assert_eq!(early[0].slot, at("2026-03-02T14:06:00Z"));
        assert_eq!(early[8].slot, at("2026-03-02T14:06:53Z"));
    }

    #[test]
    fn a_planned_round_is_read_as_it_was_written() {
        let round = PlannedRound::planned_by(at("2026-03-02T14:05:00Z"), interval(15)).nth(1).unwrap();

        let text = serde_json::to_value(round).unwrap();

        assert_eq!(text, json!({"phase": 1, "slot": "2026-03-02T14:06:05.000Z", "interval_seconds": 15}));
        assert_eq!(serde_json::from_value::<PlannedRound>(text).unwrap(), round);
        for wrong in [
            json!({"phase": 3, "slot": "2026-03-02T14:06:05.000Z", "interval_seconds": 15}),
            json!({"phase": 1, "slot": "2026-03-02T14:06:05.000Z", "interval_seconds": 14}),
        ] {
            assert!(serde_json::from_value::<PlannedRound>(wrong).is_err());
        }
    }
}
