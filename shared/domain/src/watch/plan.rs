//! The messages in the queues of rounds and checks.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{CheckInterval, Host, Phase, Round, TargetId, TargetStatus};
use crate::{CorrelationId, TargetUrl, Timestamp, WorkspaceId};

/// The interval at which the scheduler invokes the planning function.
const MINUTE: Duration = Duration::from_secs(60);

/// A planned round, as the queue of rounds carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRound {
    /// The phase whose targets are checked.
    pub phase: Phase,
    /// When the round starts.
    pub slot: Timestamp,
    /// The check interval when the round was planned. It is part of the message, so that a later change of the setting
    /// doesn't affect rounds that are already queued.
    #[serde(rename = "interval_seconds")]
    pub interval: CheckInterval,
    /// The scheduled call that planned the round.
    pub correlation_id: CorrelationId,
}

impl PlannedRound {
    /// The rounds that a scheduled call plans: those of the minute after the call's scheduled minute. The scheduler may call
    /// at any second of its minute, and none of these rounds has started by then.
    pub fn planned_by(
        call: Timestamp,
        correlation_id: &CorrelationId,
        interval: CheckInterval,
    ) -> impl Iterator<Item = Self> {
        let rounds = interval.rounds_of_minute(call.plus(MINUTE));
        rounds.map(move |Round { phase, slot }| Self { phase, slot, interval, correlation_id: correlation_id.clone() })
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

/// A planned check of one target, as the queue of checks carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedCheck {
    /// The target to check.
    pub target_id: TargetId,
    /// The target's workspace.
    pub workspace_id: WorkspaceId,
    /// The URL to fetch.
    pub url: TargetUrl,
    /// The host, whose checks run one at a time.
    pub host: Host,
    /// The target's status when the round was dispatched.
    pub status: TargetStatus,
    /// The planned start of the round.
    pub slot: Timestamp,
    /// The check interval of the round.
    #[serde(rename = "interval_seconds")]
    pub interval: CheckInterval,
    /// The scheduled call that planned the round.
    pub correlation_id: CorrelationId,
}

impl PlannedCheck {
    /// Whether the next round of this target has begun, so that this check is skipped.
    #[must_use]
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.interval.is_over(self.slot, now)
    }

    /// The SQS deduplication id: messages for the same target and slot are the same check.
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

    fn planned_by(call: &str, seconds: u8) -> Vec<PlannedRound> {
        let correlation_id = CorrelationId::parse("call-1").unwrap();
        PlannedRound::planned_by(at(call), &correlation_id, interval(seconds)).collect()
    }

    #[test]
    fn a_call_of_the_scheduler_plans_the_next_minute_however_late_it_is() {
        let (early, late) = (planned_by("2026-03-02T14:05:00Z", 20), planned_by("2026-03-02T14:05:59.999Z", 20));

        assert_eq!(early, late);
        assert_eq!(early.len(), 9);
        assert_eq!(early[0].slot, at("2026-03-02T14:06:00Z"));
        assert_eq!(early[8].slot, at("2026-03-02T14:06:53Z"));
    }

    #[test]
    fn a_planned_round_is_read_as_it_was_written() {
        let round = &planned_by("2026-03-02T14:05:00Z", 15)[1];
        let written = |phase: u8, seconds: u8| {
            json!({
                "phase": phase, "slot": "2026-03-02T14:06:05.000Z", "interval_seconds": seconds,
                "correlation_id": "call-1",
            })
        };

        let text = serde_json::to_value(round).unwrap();

        assert_eq!(text, written(1, 15));
        assert_eq!(serde_json::from_value::<PlannedRound>(text).unwrap(), *round);
        for wrong in [written(3, 15), written(1, 14)] {
            assert!(serde_json::from_value::<PlannedRound>(wrong).is_err());
        }
    }
}
