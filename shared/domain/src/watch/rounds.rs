//! The schedule of checks: shards, phases and rounds.
//!
//! All targets have the same interval. A target's id determines its shard, and the shard determines the phase, the part of
//! the interval in which the target is checked. So the schedule needs no index of due times that each check would update.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::TargetId;
use crate::{Invalid, Timestamp};

/// A shard of the targets, 0–14.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard(u8);

impl Shard {
    /// Number of shards. With 100,000 targets, each shard has about 7,000.
    pub const COUNT: u8 = Phase::COUNT * Phase::SHARDS;

    /// All shards.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    /// The shard of a target.
    pub(super) fn of(id: &TargetId) -> Self {
        let digest = Sha256::digest(id.as_str());
        let number = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        Self(u8::try_from(number % u64::from(Self::COUNT)).unwrap_or_default())
    }

    /// The phase in which the shard's targets are checked.
    #[must_use]
    pub fn phase(self) -> Phase {
        Phase(self.0 / Phase::SHARDS)
    }
}

/// Formats the shard as two digits, as in table keys.
impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:02}", self.0)
    }
}

/// A third of the check interval, 0–2. Phases spread the checks over the interval instead of starting all at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Phase(u8);

impl Phase {
    /// Number of phases.
    pub const COUNT: u8 = 3;
    /// Number of shards per phase.
    const SHARDS: u8 = 5;

    /// All phases in ascending order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    /// The phase with this number.
    ///
    /// # Errors
    /// When the number is not 0, 1 or 2.
    pub fn new(number: u8) -> Result<Self, Invalid> {
        if number < Self::COUNT { Ok(Self(number)) } else { Err(Invalid::new("a phase is 0, 1 or 2")) }
    }

    /// The phase's number, 0–2.
    #[must_use]
    pub fn number(self) -> u8 {
        self.0
    }

    /// The shards whose targets are checked in this phase.
    pub fn shards(self) -> impl Iterator<Item = Shard> {
        let first = self.0 * Self::SHARDS;
        (first..first + Self::SHARDS).map(Shard)
    }
}

impl TryFrom<u8> for Phase {
    type Error = Invalid;

    fn try_from(number: u8) -> Result<Self, Self::Error> {
        Self::new(number)
    }
}

impl From<Phase> for u8 {
    fn from(phase: Phase) -> Self {
        phase.0
    }
}

/// How often each target is checked: every 10, 15, 20, 30 or 60 seconds.
///
/// Each of these divides a minute, the interval at which the scheduler invokes the planning function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct CheckInterval(u8);

impl CheckInterval {
    /// An interval of 10, 15, 20, 30 or 60 seconds.
    ///
    /// # Errors
    /// When `seconds` is any other number.
    pub fn from_seconds(seconds: u8) -> Result<Self, Invalid> {
        match seconds {
            10 | 15 | 20 | 30 | 60 => Ok(Self(seconds)),
            _ => Err(Invalid::new("the check interval must be 10, 15, 20, 30 or 60 seconds")),
        }
    }

    /// The interval in seconds.
    #[must_use]
    pub fn seconds(self) -> u8 {
        self.0
    }

    /// The interval as a duration.
    #[must_use]
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.0.into())
    }

    /// Whether the round that started at `slot` is over, because the next round of the same targets has begun.
    #[must_use]
    pub fn is_over(self, slot: Timestamp, now: Timestamp) -> bool {
        slot.plus(self.duration()) <= now
    }

    /// The rounds that start in the UTC minute that contains `moment`, in ascending order.
    pub fn rounds_of_minute(self, moment: Timestamp) -> impl Iterator<Item = Round> {
        let minute = moment.minus(Duration::from_millis(moment.unix_millis() % 60_000));
        (0..60 / self.0).flat_map(move |turn| {
            Phase::all().map(move |phase| {
                let start = turn * self.0 + phase.number() * self.0 / Phase::COUNT;
                Round { phase, slot: minute.plus(Duration::from_secs(start.into())) }
            })
        })
    }
}

impl TryFrom<u8> for CheckInterval {
    type Error = Invalid;

    fn try_from(seconds: u8) -> Result<Self, Self::Error> {
        Self::from_seconds(seconds)
    }
}

impl From<CheckInterval> for u8 {
    fn from(interval: CheckInterval) -> Self {
        interval.0
    }
}

impl FromStr for CheckInterval {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::from_seconds(text.parse().unwrap_or_default())
    }
}

/// A round: one check of each target of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Round {
    /// The phase whose targets are checked.
    pub phase: Phase,
    /// When the round starts, in whole seconds. It identifies the round: a target has at most one result per slot.
    pub slot: Timestamp,
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    const INTERVALS: [u8; 5] = [10, 15, 20, 30, 60];

    fn seconds_of(rounds: impl Iterator<Item = Round>) -> Vec<(u8, String)> {
        rounds.map(|round| (round.phase.number(), round.slot.to_string()[17..19].to_owned())).collect()
    }

    #[test]
    fn a_minute_has_a_round_per_interval_and_phase() {
        let interval = CheckInterval::from_seconds(15).unwrap();
        let minute = Timestamp::parse("2026-03-02T14:05:00Z").unwrap();

        let rounds = seconds_of(interval.rounds_of_minute(minute));

        let expected = ["00", "05", "10", "15", "20", "25", "30", "35", "40", "45", "50", "55"];
        let expected: Vec<_> =
            expected.iter().zip([0, 1, 2].into_iter().cycle()).map(|(at, phase)| (phase, (*at).to_owned())).collect();
        assert_eq!(rounds, expected);
        let late = minute.plus(Duration::from_millis(59_999));
        assert_eq!(seconds_of(interval.rounds_of_minute(late)), expected);
    }

    #[test]
    fn a_round_is_over_when_the_next_one_of_its_targets_begins() {
        let interval = CheckInterval::from_seconds(15).unwrap();
        let slot = Timestamp::parse("2026-03-02T14:05:05Z").unwrap();

        assert!(!interval.is_over(slot, slot.plus(Duration::from_millis(14_999))));
        assert!(interval.is_over(slot, slot.plus(Duration::from_secs(15))));
    }

    #[test]
    fn only_intervals_that_divide_a_minute_are_accepted() {
        let accepted: Vec<_> = (0..=u8::MAX).filter(|seconds| CheckInterval::from_seconds(*seconds).is_ok()).collect();

        assert_eq!(accepted, INTERVALS);
        assert_eq!("15".parse(), CheckInterval::from_seconds(15));
        for refused in ["", "0", "15s", "-15", "1000"] {
            assert!(refused.parse::<CheckInterval>().is_err(), "{refused}");
        }
    }

    #[test]
    fn each_shard_has_its_turn_in_one_phase() {
        let by_phase: Vec<Shard> = Phase::all().flat_map(Phase::shards).collect();

        assert_eq!(by_phase, Shard::all().collect::<Vec<_>>());
        for phase in Phase::all() {
            assert!(phase.shards().all(|shard| shard.phase() == phase));
            assert_eq!(Phase::new(phase.number()), Ok(phase));
        }
        assert!(Phase::new(3).is_err());
        let names: BTreeSet<_> = Shard::all().map(|shard| shard.to_string()).collect();
        assert_eq!((names.len(), names.first().unwrap().as_str(), names.last().unwrap().as_str()), (15, "00", "14"));
    }

    #[test]
    fn targets_are_spread_evenly() {
        let mut counts = BTreeMap::new();
        for number in 0..15_000 {
            *counts.entry(TargetId::from_number(number).shard()).or_insert(0) += 1;
        }

        assert_eq!(counts.len(), 15);
        assert!(counts.values().all(|count| (850..1_150).contains(count)), "{counts:?}");
    }

    proptest! {
        /// However the minutes are called, a phase comes back after exactly one interval.
        #[test]
        fn a_phase_comes_once_per_interval(minute in 0_i64..100_000, choice in 0_usize..5) {
            let interval = CheckInterval::from_seconds(INTERVALS[choice]).unwrap();
            let rounds: Vec<_> = (minute..minute + 3)
                .flat_map(|minute| interval.rounds_of_minute(Timestamp::from_unix_seconds(minute * 60).unwrap()))
                .collect();

            for phase in Phase::all() {
                let slots: Vec<_> = rounds.iter().filter(|round| round.phase == phase).map(|round| round.slot).collect();
                prop_assert_eq!(slots.len(), 180 / usize::from(interval.seconds()));
                for pair in slots.windows(2) {
                    prop_assert_eq!(pair[0].until(pair[1]), interval.duration());
                }
            }
            prop_assert!(rounds.windows(2).all(|pair| pair[0].slot < pair[1].slot));
        }
    }
}
