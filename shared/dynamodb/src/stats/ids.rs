//! The ids of counted clicks that have left the item of their day.
//!
//! A day's item has the ids of its latest clicks. When it gets others, the old ones are added to items that collect ids of about
//! the same time. So whether a click was counted is known from the day's item and the items of its id.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
};

use linklet_domain::{ClickId, Day, LinkId};

use super::item::{CountedDay, seen_partition};
use crate::item::Key;

/// An item that collects ids of a day: how it collects them, and the beginning of their time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bucket(String);

/// How much time the ids of a bucket are from.
#[derive(Debug, Clone, Copy)]
enum Width {
    /// 35 minutes, so that the ids of a link with a few clicks an hour take few writes.
    Wide,
    /// Half a second. At 12 bytes per id, an item of 400 KB has room for 30,000 ids: 60,000 clicks a second on one link.
    Narrow,
}

impl Width {
    /// The number of ids of a day from which on others go into narrow buckets. A wide one then has 60 KB at most.
    const MOST_WIDE: u64 = 4_096;

    fn of_ids_after(moved: u64) -> Self {
        if moved < Self::MOST_WIDE { Self::Wide } else { Self::Narrow }
    }

    fn bucket(self, id: ClickId) -> Bucket {
        let day = id.at().day();
        Bucket(match self {
            Self::Wide => format!("{day}#W{:06x}", id.millis() >> 21),
            Self::Narrow => format!("{day}#N{:09x}", id.millis() >> 9),
        })
    }
}

impl Bucket {
    pub(super) fn key(&self, link: &LinkId) -> Key {
        Key::new(seen_partition(link), &self.0)
    }
}

/// The buckets into which the ids of a day's item move next.
pub(super) fn buckets_for(day: &CountedDay) -> BTreeMap<Bucket, BTreeSet<ClickId>> {
    let width = Width::of_ids_after(day.moved);
    let mut buckets: BTreeMap<Bucket, BTreeSet<ClickId>> = BTreeMap::new();
    for id in &day.ids {
        buckets.entry(width.bucket(*id)).or_default().insert(*id);
    }
    buckets
}

/// The buckets in which these ids are, if they were counted and have left the day's item; none for an id that is later than all
/// that have left it.
pub(super) fn buckets_of(day: &CountedDay, ids: impl IntoIterator<Item = ClickId>) -> BTreeSet<Bucket> {
    let moved = ids.into_iter().filter(|id| day.moved_until.is_some_and(|last| *id <= last));
    let has_narrow = matches!(Width::of_ids_after(day.moved), Width::Narrow);
    let narrow = |id| has_narrow.then(|| Width::Narrow.bucket(id));
    moved.flat_map(|id| [Width::Wide.bucket(id)].into_iter().chain(narrow(id))).collect()
}

/// The range of the sort keys of all buckets of these days.
pub(super) fn buckets_of_days(days: &RangeInclusive<Day>) -> (String, String) {
    (days.start().to_string(), format!("{}#~", days.end()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use linklet_domain::Timestamp;

    use super::*;

    fn at(seconds: u64) -> ClickId {
        ClickId::generate(Timestamp::parse("2026-03-02T14:00:00Z").unwrap().plus(Duration::from_secs(seconds)))
    }

    #[test]
    fn an_id_is_looked_for_where_it_has_moved_to() {
        for moved in [0, Width::MOST_WIDE - 1, Width::MOST_WIDE, 1_000_000] {
            let ids: BTreeSet<ClickId> = (0..30).map(|number| at(number * 97)).collect();
            let before = CountedDay { moved, ids: ids.clone(), ..CountedDay::default() };
            let after = CountedDay { moved: moved + 30, moved_until: ids.last().copied(), ..CountedDay::default() };

            for (bucket, moving) in buckets_for(&before) {
                for id in moving {
                    assert!(buckets_of(&after, [id]).contains(&bucket), "{moved}");
                }
            }
        }
    }

    #[test]
    fn ids_that_are_later_than_all_that_have_moved_are_not_looked_for() {
        let day = CountedDay { moved: 24, moved_until: Some(at(60)), ..CountedDay::default() };

        assert!(buckets_of(&day, [at(61)]).is_empty());
        assert_eq!(buckets_of(&day, [at(59), at(58)]).len(), 1);
        assert!(buckets_of(&CountedDay::default(), [at(0)]).is_empty());
    }

    #[test]
    fn the_ids_of_a_quiet_day_take_few_writes_and_those_of_a_busy_one_small_items() {
        let quiet = CountedDay { ids: (0..24).map(|number| at(number * 86)).collect(), ..CountedDay::default() };
        let busy = CountedDay {
            ids: (0..24).map(|number| at(number * 86)).collect(),
            moved: Width::MOST_WIDE,
            ..CountedDay::default()
        };

        assert!(buckets_for(&quiet).len() <= 2);
        assert_eq!(buckets_for(&busy).len(), 24);
    }
}
