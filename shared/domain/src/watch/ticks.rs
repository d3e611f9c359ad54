//! The schedule of checks: host shards, partitions and ticks.
//!
//! All targets have the same interval, and are checked at its beginning. A target's host determines its host shard, and as many
//! host shards as fit make a partition, whose tick is one message and one invocation. So a host is in one partition at a time, and the schedule
//! needs no index of due times that each check would update.

use std::{fmt, num::NonZeroU8, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Host;
use crate::{Invalid, Timestamp};

/// A host shard of the targets, 0–15: the targets of some hosts, of all workspaces. No change of the settings moves a host to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostShard(u8);

impl HostShard {
    /// Number of host shards. With 100,000 targets, each has about 6,000.
    pub const COUNT: u8 = 16;

    /// All host shards.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    /// The host shard of a host's targets.
    pub fn of(host: &Host) -> Self {
        let digest = Sha256::digest(host.as_str());
        Self(digest.first().copied().unwrap_or_default() % Self::COUNT)
    }

    /// The host shard that is written so.
    pub(super) fn parse(digit: char) -> Option<Self> {
        let is_lower = !digit.is_ascii_uppercase();
        digit.to_digit(Self::COUNT.into()).filter(|_| is_lower).and_then(|number| u8::try_from(number).ok()).map(Self)
    }

    /// The host shard's number, 0–15.
    pub fn number(self) -> u8 {
        self.0
    }
}

/// Formats the host shard as one hexadecimal digit, as in ids of targets and in table keys.
impl fmt::Display for HostShard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:x}", self.0)
    }
}

/// How many checks run at a time in the whole system, 2–100.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Concurrency(u8);

impl Concurrency {
    /// How many checks a partition runs at a time, at most.
    pub const OF_A_PARTITION: u8 = 8;

    /// Number of partitions, a power of two: as few as give each of them at most [`Self::OF_A_PARTITION`] places.
    pub fn partitions(self) -> u8 {
        self.0.div_ceil(Self::OF_A_PARTITION).next_power_of_two()
    }

    /// The partitions, which together have exactly these places.
    pub fn in_partitions(self) -> impl Iterator<Item = CheckPartition> {
        let partitions = self.partitions();
        (0..partitions).filter_map(move |number| {
            let places = NonZeroU8::new(self.0 / partitions + u8::from(number < self.0 % partitions))?;
            Some(CheckPartition { number, of: partitions, places })
        })
    }
}

impl TryFrom<u8> for Concurrency {
    type Error = Invalid;

    fn try_from(number: u8) -> Result<Self, Self::Error> {
        match number {
            2..=100 => Ok(Self(number)),
            _ => Err(Invalid::new("2 to 100 checks run at a time")),
        }
    }
}

impl FromStr for Concurrency {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::try_from(text.parse::<u8>().unwrap_or_default())
    }
}

/// A partition: some host shards, whose targets one worker checks in a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "PartitionMessage", into = "PartitionMessage")]
pub struct CheckPartition {
    number: u8,
    of: u8,
    places: NonZeroU8,
}

impl CheckPartition {
    /// The partition's number, from 0.
    pub fn number(self) -> u8 {
        self.number
    }

    /// How many partitions there are.
    pub fn of(self) -> u8 {
        self.of
    }

    /// How many of its checks run at a time.
    pub fn places(self) -> u8 {
        self.places.get()
    }

    /// The host shards whose targets are checked in this partition.
    pub fn shards(self) -> impl Iterator<Item = HostShard> {
        HostShard::all().filter(move |shard| shard.0 % self.of == self.number)
    }
}

/// A partition as messages carry it.
#[derive(Serialize, Deserialize)]
struct PartitionMessage {
    partition: u8,
    partitions: u8,
    places: NonZeroU8,
}

impl TryFrom<PartitionMessage> for CheckPartition {
    type Error = Invalid;

    fn try_from(PartitionMessage { partition, partitions, places }: PartitionMessage) -> Result<Self, Self::Error> {
        match partitions {
            1 | 2 | 4 | 8 | 16 if partition < partitions && places.get() <= Concurrency::OF_A_PARTITION => {
                Ok(Self { number: partition, of: partitions, places })
            }
            _ => Err(Invalid::new("a partition is one of 1, 2, 4, 8 or 16, with up to 8 places")),
        }
    }
}

impl From<CheckPartition> for PartitionMessage {
    fn from(CheckPartition { number, of, places }: CheckPartition) -> Self {
        Self { partition: number, partitions: of, places }
    }
}

/// How often each target is checked: every 10, 15, 20, 30 or 60 seconds.
///
/// Each of these divides a minute, the interval at which the scheduler invokes the planning function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8")]
pub struct CheckInterval(u8);

impl CheckInterval {
    /// The interval in seconds.
    pub fn seconds(self) -> u8 {
        self.0
    }

    /// The interval as a duration.
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.0.into())
    }

    /// When the ticks begin that start in the UTC minute that contains `moment`, in ascending order.
    pub fn slots_of_minute(self, moment: Timestamp) -> impl Iterator<Item = Timestamp> {
        let minute = moment.minus(Duration::from_millis(moment.unix_millis() % 60_000));
        (0..60 / self.0).map(move |turn| minute.plus(self.duration() * turn.into()))
    }
}

impl TryFrom<u8> for CheckInterval {
    type Error = Invalid;

    fn try_from(seconds: u8) -> Result<Self, Self::Error> {
        match seconds {
            10 | 15 | 20 | 30 | 60 => Ok(Self(seconds)),
            _ => Err(Invalid::new("the check interval must be 10, 15, 20, 30 or 60 seconds")),
        }
    }
}

impl FromStr for CheckInterval {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::try_from(text.parse::<u8>().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    const INTERVALS: [u8; 5] = [10, 15, 20, 30, 60];

    #[test]
    fn a_minute_has_a_tick_per_interval() {
        let interval = CheckInterval::try_from(15).unwrap();
        let minute = Timestamp::parse("2026-03-02T14:05:00Z").unwrap();
        let seconds = |moment| -> Vec<String> {
            interval.slots_of_minute(moment).map(|slot| slot.to_string()[11..19].to_owned()).collect()
        };

        let late = minute.plus(Duration::from_millis(59_999));
        for moment in [minute, late] {
            assert_eq!(seconds(moment), ["14:05:00", "14:05:15", "14:05:30", "14:05:45"]);
        }
    }

    #[test]
    fn only_intervals_that_divide_a_minute_are_accepted() {
        let accepted: Vec<_> = (0..=u8::MAX).filter(|seconds| CheckInterval::try_from(*seconds).is_ok()).collect();

        assert_eq!(accepted, INTERVALS);
        assert_eq!("15".parse(), CheckInterval::try_from(15));
        for refused in ["", "0", "15s", "-15", "1000"] {
            assert!(refused.parse::<CheckInterval>().is_err(), "{refused}");
        }
    }

    #[test]
    fn there_are_as_few_partitions_as_have_room_for_all_places() {
        for (places, partitions) in
            [(2, 1), (8, 1), (9, 2), (16, 2), (17, 4), (32, 4), (33, 8), (64, 8), (65, 16), (100, 16)]
        {
            assert_eq!(Concurrency::try_from(places).unwrap().partitions(), partitions, "{places} places");
        }
        for refused in ["", "0", "1", "101", "1000", "8.5"] {
            assert!(refused.parse::<Concurrency>().is_err(), "{refused}");
        }
    }

    #[test]
    fn partitions_have_exactly_the_places_and_each_shard_once() {
        for places in 2..=100 {
            let partitions: Vec<CheckPartition> = Concurrency::try_from(places).unwrap().in_partitions().collect();

            assert_eq!(partitions.iter().map(|partition| partition.places()).sum::<u8>(), places);
            let fit = partitions.iter().all(|partition| partition.places() <= Concurrency::OF_A_PARTITION);
            assert!(fit, "{partitions:?}");
            let mut shards: Vec<HostShard> = partitions.iter().flat_map(|partition| partition.shards()).collect();
            shards.sort_unstable();
            assert_eq!(shards, HostShard::all().collect::<Vec<_>>());
        }
    }

    #[test]
    fn hosts_are_spread_evenly_over_shards_whatever_their_names() {
        let mut counts = BTreeMap::new();
        for number in 0..16_000 {
            *counts.entry(HostShard::of(&Host::parse(&format!("host{number}.example")).unwrap())).or_insert(0) += 1;
        }

        assert_eq!(counts.len(), 16);
        assert!(counts.values().all(|count| (850..1_150).contains(count)), "{counts:?}");
        let names: BTreeSet<_> = HostShard::all().map(|shard| shard.to_string()).collect();
        assert_eq!(names.into_iter().collect::<String>(), "0123456789abcdef");
    }

    proptest! {
        /// However the minutes are called, a tick begins when the one before is over.
        #[test]
        fn a_tick_begins_when_the_one_before_is_over(minute in 0_i64..100_000, choice in 0_usize..5) {
            let interval = CheckInterval::try_from(INTERVALS[choice]).unwrap();
            let slots: Vec<_> = (minute..minute + 3)
                .flat_map(|minute| interval.slots_of_minute(Timestamp::from_unix_seconds(minute * 60).unwrap()))
                .collect();

            prop_assert_eq!(slots.len(), 180 / usize::from(interval.seconds()));
            for pair in slots.windows(2) {
                prop_assert_eq!(pair[0].until(pair[1]), interval.duration());
            }
        }
    }
}
