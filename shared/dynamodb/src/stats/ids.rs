//! The ids of counted clicks that have left the item of their day.
//!
//! A day's item has the ids of its latest clicks. When it gets others, the old ones are written to *runs*: items that are
//! written once and never added to, since DynamoDB charges an addition by the size of the whole item. A run has ids of one
//! *slot* of time. So whether a click was counted is known from the day's item and the runs of its id's slots.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::RangeInclusive;

use linklet_domain::{ClickId, Day, DayStats, LinkId, Part};
use serde::{Deserialize, Serialize};

use crate::item::Key;

pub(super) fn part_of_partition(partition: &str, part: Option<Part>) -> String {
    part.map_or_else(|| partition.to_owned(), |part| format!("{partition}#{part}"))
}

pub(super) fn seen_partition(link: &LinkId, part: Option<Part>) -> String {
    part_of_partition(&format!("SEEN#{link}"), part)
}

/// A day or a part of it as it was read, with what tells which clicks were counted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CountedDay {
    /// The numbers.
    pub stats: DayStats,
    /// How often the item was written; 0 if there is none.
    pub(super) version: u64,
    /// The ids of clicks that were counted last.
    pub(super) ids: BTreeSet<ClickId>,
    /// The ids that have left the item.
    pub(super) moved: Moved,
    /// Whether it is a day whose further clicks are counted in its parts.
    pub(super) is_split: bool,
}

/// Ids that have left the item of their day.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Moved {
    /// How many they are.
    pub count: u64,
    /// The highest id that has moved to slots of this width.
    pub until: BTreeMap<Width, ClickId>,
}

impl Moved {
    /// These, and others that leave the item together.
    pub(super) fn with(mut self, ids: &BTreeSet<ClickId>) -> Self {
        if let Some(last) = ids.last() {
            let until = self.until.entry(Width::after(self.count)).or_insert(*last);
            *until = (*until).max(*last);
        }
        self.count += ids.len() as u64;
        self
    }
}

/// How much time the ids of a slot are from. The more ids a day has, the narrower the slots are that further ones go to: few
/// clicks that happen far apart share a run, and whoever looks for an id of a busy time reads a small part of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Width {
    #[serde(rename = "D")]
    Day,
    /// 35 minutes.
    #[serde(rename = "H")]
    HalfHour,
    /// 131 seconds.
    #[serde(rename = "M")]
    Minutes,
    /// 8 seconds.
    #[serde(rename = "S")]
    Seconds,
}

impl Width {
    /// The width of the slots to which ids go that leave a day's item after so many others.
    fn after(moved: u64) -> Self {
        match moved {
            0..512 => Self::Day,
            512..8_192 => Self::HalfHour,
            8_192..65_536 => Self::Minutes,
            65_536.. => Self::Seconds,
        }
    }

    fn slot_of(self, id: ClickId) -> Slot {
        let day = id.at().day();
        Slot(match self {
            Self::Day => format!("{day}#D"),
            Self::HalfHour => format!("{day}#H{:06x}", id.millis() >> 21),
            Self::Minutes => format!("{day}#M{:07x}", id.millis() >> 17),
            Self::Seconds => format!("{day}#S{:08x}", id.millis() >> 13),
        })
    }
}

/// A time from which runs have ids: its day, its width, and where it begins.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot(String);

impl Slot {
    /// What the sort keys of its runs begin with.
    pub(super) fn prefix(&self) -> String {
        format!("{self}#")
    }

    /// The key of the run with the ids of this slot that a version of the item had of the day, or of a part of it.
    pub(super) fn run(&self, link: &LinkId, part: Option<Part>, version: u64) -> Key {
        Key::new(seen_partition(link, part), format!("{self}#{version}"))
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The ids of a day's item by the slots to which they move next.
pub(super) fn runs_of(day: &CountedDay) -> BTreeMap<Slot, BTreeSet<ClickId>> {
    let width = Width::after(day.moved.count);
    let mut runs: BTreeMap<Slot, BTreeSet<ClickId>> = BTreeMap::new();
    for id in &day.ids {
        runs.entry(width.slot_of(*id)).or_default().insert(*id);
    }
    runs
}

/// The slots whose runs have these ids, if they were counted and have left the day's item; none for an id that is later than all
/// that have left it.
pub(super) fn slots_of(day: &CountedDay, ids: impl IntoIterator<Item = ClickId>) -> BTreeSet<Slot> {
    let slots = |id: ClickId| {
        let widths = day.moved.until.iter().filter(move |(_, last)| id <= **last);
        widths.map(move |(width, _)| width.slot_of(id))
    };
    ids.into_iter().flat_map(slots).collect()
}

/// The range of the sort keys of all runs of these days.
pub(super) fn runs_of_days(days: &RangeInclusive<Day>) -> (String, String) {
    (days.start().to_string(), format!("{}#~", days.end()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use linklet_domain::Timestamp;

    use super::*;

    const COUNTS: [u64; 8] = [0, 511, 512, 8_191, 8_192, 65_535, 65_536, 1_000_000];

    fn at(seconds: u64) -> ClickId {
        ClickId::generate(Timestamp::parse("2026-03-02T00:00:00Z").unwrap().plus(Duration::from_secs(seconds)))
    }

    fn ids(count: u64, seconds_apart: u64) -> BTreeSet<ClickId> {
        (0..count).map(|number| at(number * seconds_apart)).collect()
    }

    fn day(moved: u64, ids: BTreeSet<ClickId>) -> CountedDay {
        CountedDay { moved: Moved { count: moved, ..Moved::default() }, ids, ..CountedDay::default() }
    }

    fn without_ids(before: &CountedDay) -> CountedDay {
        CountedDay { moved: before.moved.clone().with(&before.ids), ids: BTreeSet::new(), ..before.clone() }
    }

    #[test]
    fn an_id_is_looked_for_where_it_has_moved_to() {
        for moved in COUNTS {
            let before = day(moved, ids(30, 97));
            let after = without_ids(&before);

            for (slot, moving) in runs_of(&before) {
                for id in moving {
                    assert!(slots_of(&after, [id]).contains(&slot), "{moved}");
                }
            }
        }
    }

    #[test]
    fn an_id_is_still_found_when_others_have_moved_to_narrower_slots() {
        let mut day = CountedDay::default();
        let mut runs = Vec::new();
        for (position, count) in COUNTS.into_iter().enumerate() {
            day.moved.count = count;
            day.ids = [at(10 * position as u64)].into();
            runs.extend(runs_of(&day));
            day = without_ids(&day);
        }

        for (slot, ids) in runs {
            assert!(slots_of(&day, ids.clone()).contains(&slot), "{slot} of {ids:?}");
        }
    }

    #[test]
    fn ids_later_than_all_moved_ones_are_not_looked_for() {
        let day = without_ids(&day(0, [at(60)].into()));

        assert!(slots_of(&day, [at(61)]).is_empty());
        assert_eq!(slots_of(&day, [at(59), at(58)]).len(), 1);
        assert!(slots_of(&CountedDay::default(), [at(0)]).is_empty());
    }

    #[test]
    fn slots_are_searched_only_in_widths_to_which_later_ids_moved() {
        let early = without_ids(&day(0, ids(24, 1)));
        let busy =
            without_ids(&CountedDay { ids: ids(24, 60), moved: Moved { count: 65_536, ..early.moved }, ..early });

        assert_eq!(slots_of(&busy, [at(20)]).len(), 2);
        assert_eq!(slots_of(&busy, [at(600)]).len(), 1);
    }

    #[test]
    fn a_days_ids_take_few_runs_however_many_clicks_it_has() {
        for (moved, seconds_apart, most) in [(0, 3_000, 1), (512, 86, 2), (8_192, 10, 3), (65_536, 1, 4)] {
            let runs = runs_of(&day(moved, ids(24, seconds_apart)));

            assert!(runs.len() <= most, "{} runs after {moved} ids", runs.len());
        }
    }

    #[test]
    fn the_runs_of_other_slots_of_a_day_have_other_keys() {
        let id = at(0);
        let widths = [Width::Day, Width::HalfHour, Width::Minutes, Width::Seconds];
        let slots: BTreeSet<Slot> = widths.iter().map(|width| width.slot_of(id)).collect();

        assert_eq!(slots.len(), 4);
        let (first, last) = runs_of_days(&(id.at().day()..=id.at().day()));
        for slot in slots {
            let key = slot.run(&LinkId::parse("launch.x7Kf2a").unwrap(), None, 7);
            assert!(key.sk.starts_with(&slot.prefix()) && first < key.sk && key.sk < last, "{}", key.sk);
        }
    }
}
