//! The messages in the queue of ticks.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{CheckInterval, CheckPartition, Concurrency};
use crate::{CorrelationId, Timestamp};

/// The interval at which the scheduler invokes the planning function.
const MINUTE: Duration = Duration::from_secs(60);

/// A planned tick of a partition, as the queue of ticks carries it. Its settings are those of the time when it was planned, so that
/// a later change doesn't affect ticks that are already queued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTick {
    /// The partition whose targets are checked.
    #[serde(flatten)]
    pub partition: CheckPartition,
    /// When the tick begins, in whole seconds. A target has at most one result per slot.
    pub slot: Timestamp,
    /// The check interval.
    #[serde(rename = "interval_seconds")]
    pub interval: CheckInterval,
    /// The scheduled call that planned the tick.
    pub correlation_id: CorrelationId,
}

impl PlannedTick {
    /// How long before its end a tick stops, so that the results are stored when the next one begins.
    const STOPS_EARLY: Duration = Duration::from_millis(500);

    /// The ticks that a scheduled call plans: those of the minute after the call's scheduled minute. The scheduler may call
    /// at any second of its minute, and none of these ticks has started by then.
    pub fn planned_by(
        call: Timestamp,
        correlation_id: &CorrelationId,
        interval: CheckInterval,
        places: Concurrency,
    ) -> impl Iterator<Item = Self> {
        let slots = interval.slots_of_minute(call.plus(MINUTE));
        slots.flat_map(move |slot| {
            places.in_partitions().map(move |partition| Self {
                partition,
                slot,
                interval,
                correlation_id: correlation_id.clone(),
            })
        })
    }

    /// When the next tick of the same targets begins.
    pub fn ends_at(&self) -> Timestamp {
        self.slot.plus(self.interval.duration())
    }

    /// When the tick's checks stop.
    pub fn stops_at(&self) -> Timestamp {
        self.ends_at().minus(Self::STOPS_EARLY)
    }

    /// Whether the next tick of the same targets has begun.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.ends_at() <= now
    }

    /// Whether the next tick of the same targets is over as well. What this tick has found out by then is of the past.
    pub fn is_long_over(&self, now: Timestamp) -> bool {
        self.ends_at().plus(self.interval.duration()) <= now
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn planned_by(call: &str, seconds: u8, places: u8) -> Vec<PlannedTick> {
        let correlation_id = CorrelationId::parse("call-1").unwrap();
        let (interval, places) = (CheckInterval::try_from(seconds).unwrap(), Concurrency::try_from(places).unwrap());
        PlannedTick::planned_by(at(call), &correlation_id, interval, places).collect()
    }

    #[test]
    fn a_scheduler_call_plans_the_next_minute_however_late_it_is() {
        let planned = |call| planned_by(call, 20, 17);

        let (early, late) = (planned("2026-03-02T14:05:00Z"), planned("2026-03-02T14:05:59.999Z"));

        assert_eq!(early, late);
        assert_eq!(early.len(), 3 * 4);
        assert_eq!((early[0].slot, early[0].partition.number()), (at("2026-03-02T14:06:00Z"), 0));
        assert_eq!((early[11].slot, early[11].partition.number()), (at("2026-03-02T14:06:40Z"), 3));
    }

    #[test]
    fn a_tick_stops_before_the_next_begins() {
        let tick = &planned_by("2026-03-02T14:05:00Z", 15, 8)[1];

        assert_eq!(tick.stops_at(), at("2026-03-02T14:06:29.500Z"));
        assert!(!tick.is_over(at("2026-03-02T14:06:29.999Z")));
        assert!(tick.is_over(at("2026-03-02T14:06:30Z")));
        assert!(!tick.is_long_over(at("2026-03-02T14:06:44.999Z")));
        assert!(tick.is_long_over(at("2026-03-02T14:06:45Z")));
    }

    #[test]
    fn a_planned_tick_is_read_as_it_was_written() {
        let tick = &planned_by("2026-03-02T14:05:00Z", 15, 9)[1];
        let written = |partition: u8, partitions: u8, places: u8, seconds: u8| {
            json!({
                "partition": partition, "partitions": partitions, "places": places, "slot": "2026-03-02T14:06:00.000Z",
                "interval_seconds": seconds, "correlation_id": "call-1",
            })
        };

        let text = serde_json::to_value(tick).unwrap();

        assert_eq!(text, written(1, 2, 4, 15));
        assert_eq!(serde_json::from_value::<PlannedTick>(text).unwrap(), *tick);
        for wrong in [
            written(2, 2, 4, 15),
            written(1, 3, 4, 15),
            written(1, 2, 0, 15),
            written(1, 2, 9, 15),
            written(1, 2, 4, 14),
        ] {
            assert!(serde_json::from_value::<PlannedTick>(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
