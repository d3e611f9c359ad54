//! The statistics that counting reads, and how many events fit one transaction.

use std::collections::{BTreeMap, BTreeSet};

use linklet_domain::{Day, EventId, LinkStats, ShortCode};

use super::{
    LOAD, is_purge_mark,
    item::{Bucket, Rest, SeenItem, day_key, seen_partition, total_key},
    read_stats,
};
use crate::{
    RepositoryError,
    item::{Item, Key, from_item, text},
};

/// A link's statistics as they were read, with the ids that tell which events were counted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    pub(super) stats: LinkStats,
    pub(super) seen: BTreeMap<Bucket, BTreeSet<Rest>>,
    is_purged: bool,
}

impl Snapshot {
    /// The statistics to which clicks are added.
    #[must_use]
    pub fn stats(&self) -> &LinkStats {
        &self.stats
    }

    /// Whether the link was purged, so that nothing is counted for it any more.
    #[must_use]
    pub fn is_purged(&self) -> bool {
        self.is_purged
    }

    pub(super) fn read(code: &ShortCode, items: Vec<Item>) -> Result<Self, RepositoryError> {
        let seen_partition = text(&seen_partition(code));
        let (seen, items): (Vec<_>, Vec<_>) =
            items.into_iter().partition(|item| item.get("pk") == Some(&seen_partition));
        let is_purged = items.iter().any(is_purge_mark);
        Ok(Self { stats: read_stats(LOAD, items)?, seen: read_seen(seen)?, is_purged })
    }

    /// Whether counting these events needs the past, which the snapshot doesn't have.
    pub(super) fn lacks_past(&self, events: &[(EventId, Day)]) -> bool {
        let totals = &self.stats.totals;
        let newest = events.iter().map(|(_, day)| *day).max();
        newest.is_some_and(|newest| totals.is_settling_due(newest))
            || events.iter().any(|(_, day)| totals.is_past(*day))
    }

    /// Whether an event was counted before. It must be one of those for which the snapshot was loaded.
    #[must_use]
    pub fn has_counted(&self, event: &EventId) -> bool {
        let (bucket, rest) = Bucket::of(event);
        self.seen.get(&bucket).is_some_and(|ids| ids.contains(&rest))
    }
}

/// Measures how many events fit one transaction: DynamoDB allows 100 rows.
#[derive(Debug, Default)]
pub struct Room {
    events: usize,
    buckets: BTreeSet<Bucket>,
    days: BTreeSet<Day>,
}

impl Room {
    const MAX_ROWS: usize = 100;
    /// The total, the past, and at most two milestones, since 500 events can reach two: from 3 to 503 clicks, 10 and 100.
    const OTHER_ROWS: usize = 4;
    const MAX_EVENTS: usize = 500;

    /// Adds an event, and returns whether the transaction still has room for it.
    pub fn take(&mut self, event: &EventId, day: Day) -> bool {
        self.events += 1;
        self.buckets.insert(Bucket::of(event).0);
        self.days.insert(day);
        self.events <= Self::MAX_EVENTS && self.buckets.len() + self.days.len() + Self::OTHER_ROWS <= Self::MAX_ROWS
    }
}

/// The rows that counting these events reads.
pub(super) fn needed_for(code: &ShortCode, events: &[(EventId, Day)]) -> Vec<Key> {
    let days: BTreeSet<Day> = events.iter().map(|(_, day)| *day).collect();
    let buckets: BTreeSet<Bucket> = events.iter().map(|(event, _)| Bucket::of(event).0).collect();
    std::iter::once(total_key(code))
        .chain(days.into_iter().map(|day| day_key(code, day)))
        .chain(buckets.into_iter().map(|bucket| bucket.key(code)))
        .collect()
}

fn read_seen(items: Vec<Item>) -> Result<BTreeMap<Bucket, BTreeSet<Rest>>, RepositoryError> {
    items
        .into_iter()
        .map(|item| from_item::<SeenItem>(LOAD, item))
        .map(|item| item.map(|item| (item.bucket(), item.event_ids)))
        .collect()
}

#[cfg(test)]
mod tests {
    use linklet_domain::Timestamp;

    use super::*;

    #[test]
    fn a_transaction_has_room_for_its_days_totals_past_and_milestones() {
        let today = Timestamp::now().day();
        let apart = |number: usize| EventId::parse(&format!("0198c0de-{number:04x}-7000-8000-000000000001")).unwrap();
        let mut room = Room::default();

        // Each id in a bucket of its own: with one day, the total, the past and two milestones that is 100 rows.
        assert!((0..95).all(|number| room.take(&apart(number * 256), today)));
        assert!(!room.take(&apart(95 * 256), today));
    }

    #[test]
    fn events_of_one_moment_take_one_row() {
        let today = Timestamp::now().day();
        let together = |number: usize| EventId::parse(&format!("0198c0de-0000-7000-8000-{number:012x}")).unwrap();
        let mut room = Room::default();

        assert!((0..500).all(|number| room.take(&together(number), today)));
        assert!(!room.take(&together(500), today));
    }
}
