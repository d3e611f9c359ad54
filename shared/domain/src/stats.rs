//! Click statistics: folding clicks in, and reading windows and timelines out.
//!
//! Everything is a pure function of the clicks. The store reads a [`LinkStats`], folds a batch into it and writes it back
//! on the condition that nobody else has; so the arithmetic here is the whole of the counting.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Day, Invalid, Timestamp};

/// The statistics of one link: its totals, and the days that matter to whoever loaded them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkStats {
    /// Over the link's whole life.
    pub totals: Totals,
    /// Per day; a day without clicks is absent.
    pub days: BTreeMap<Day, DayStats>,
}

impl LinkStats {
    /// Counts one click at the time it happened.
    pub fn count(&mut self, clicked_at: Timestamp, referer: Option<&str>) {
        self.totals.total_clicks += 1;
        self.totals.last_click_at = self.totals.last_click_at.max(Some(clicked_at));
        // Nothing may be left of a referrer such as `?x`, and DynamoDB has no empty names.
        if let Some(page) = referer.map(referrer_key).filter(|page| !page.is_empty()) {
            self.totals.referers.count(page);
        }
        let day = self.days.entry(clicked_at.day()).or_default();
        day.total_clicks += 1;
        day.hours[usize::from(clicked_at.hour())] += 1;
    }

    /// The numbers that the statistics page opens with. `days` must reach back seven days from `now`.
    #[must_use]
    pub fn summary(&self, now: Timestamp) -> Summary {
        const TOP_REFERERS: usize = 5;
        Summary {
            total_clicks: self.totals.total_clicks,
            clicks_last_24h: self.clicks_in_last_hours(now, 24),
            clicks_last_7d: self.clicks_in_last_hours(now, 7 * 24),
            top_referers: self.totals.referers.top(TOP_REFERERS),
            last_click_at: self.totals.last_click_at,
        }
    }

    /// Clicks in the current hour and the `hours - 1` before it.
    fn clicks_in_last_hours(&self, now: Timestamp, hours: u64) -> u64 {
        let this_hour = now.day().at_hour(now.hour());
        let first_hour = this_hour.minus(std::time::Duration::from_secs((hours - 1) * 3_600));
        self.buckets().filter(|(hour, _)| (first_hour..=this_hour).contains(hour)).map(|(_, clicks)| clicks).sum()
    }

    /// Every hour with clicks, oldest first.
    fn buckets(&self) -> impl Iterator<Item = (Timestamp, u64)> {
        self.days.iter().flat_map(|(day, stats)| {
            (0_u8..)
                .zip(stats.hours)
                .filter(|(_, clicks)| *clicks > 0)
                .map(|(hour, clicks)| (day.at_hour(hour), clicks))
        })
    }
}

/// What is known about a link over its whole life.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Totals {
    /// Every counted click.
    pub total_clicks: u64,
    /// The latest of them.
    pub last_click_at: Option<Timestamp>,
    /// Where visitors came from.
    pub referers: Breakdown,
}

/// The clicks of one UTC day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DayStats {
    /// The sum of `hours`.
    pub total_clicks: u64,
    /// Per hour of the day.
    pub hours: [u64; 24],
}

/// Counts per value, bounded in size whatever visitors send.
///
/// When it is full, a new value takes the place of the rarest one, whose count moves to `other`. So the sum is always the
/// number of counted values, a frequent value stays, and each count is exact since the value entered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Breakdown {
    /// The counted values.
    pub counts: BTreeMap<String, u64>,
    /// How often values occurred that have no place of their own.
    pub other: u64,
}

impl Breakdown {
    /// The most values with a count of their own.
    pub const MAX_VALUES: usize = 30;

    /// Counts one occurrence.
    pub fn count(&mut self, value: &str) {
        if let Some(count) = self.counts.get_mut(value) {
            *count += 1;
            return;
        }
        if self.counts.len() >= Self::MAX_VALUES {
            self.evict_rarest();
        }
        self.counts.insert(value.to_owned(), 1);
    }

    /// The most frequent values, most frequent first, equal ones in alphabetical order.
    #[must_use]
    pub fn top(&self, most: usize) -> Vec<(String, u64)> {
        let mut ranked: Vec<_> = self.counts.iter().map(|(value, count)| (value.clone(), *count)).collect();
        ranked.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
        ranked.truncate(most);
        ranked
    }

    fn evict_rarest(&mut self) {
        let rarest = self.counts.iter().min_by_key(|(_, count)| **count).map(|(value, _)| value.clone());
        if let Some(count) = rarest.and_then(|value| self.counts.remove(&value)) {
            self.other += count;
        }
    }
}

/// A referrer without query and fragment, which tell pages apart less than people, cut to 100 bytes.
fn referrer_key(referer: &str) -> &str {
    const MAX_BYTES: usize = 100;
    let page = referer.split(['?', '#']).next().unwrap_or_default();
    &page[..page.floor_char_boundary(MAX_BYTES)]
}

/// The numbers that the statistics page opens with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Every counted click.
    pub total_clicks: u64,
    /// In the current hour and the 23 before.
    pub clicks_last_24h: u64,
    /// In the current hour and the 167 before.
    pub clicks_last_7d: u64,
    /// The five most frequent referrers.
    pub top_referers: Vec<(String, u64)>,
    /// The latest click.
    pub last_click_at: Option<Timestamp>,
}

/// The width of a timeline's points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interval {
    /// A UTC hour.
    Hour,
    /// A UTC day.
    Day,
}

impl Interval {
    /// Reads `hour` or `day`.
    ///
    /// # Errors
    /// When the text is neither.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        match text {
            "hour" => Ok(Self::Hour),
            "day" => Ok(Self::Day),
            _ => Err(Invalid::new("interval must be hour or day")),
        }
    }

    /// The interval as the API spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
        }
    }
}

/// A point of a timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Point {
    /// A day (`2026-03-02`) or the start of an hour (`2026-03-02T14:00:00Z`).
    pub period: String,
    /// The clicks in it; never zero.
    pub clicks: u64,
}

/// The periods with clicks, oldest first.
#[must_use]
pub fn timeline(stats: &LinkStats, interval: Interval) -> Vec<Point> {
    match interval {
        Interval::Day => stats
            .days
            .iter()
            .map(|(day, stats)| Point { period: day.to_string(), clicks: stats.total_clicks })
            .collect(),
        Interval::Hour => stats
            .buckets()
            .map(|(hour, clicks)| Point { period: format!("{}T{:02}:00:00Z", hour.day(), hour.hour()), clicks })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn counted(clicks: &[&str]) -> LinkStats {
        let mut stats = LinkStats::default();
        clicks.iter().for_each(|click| stats.count(at(click), None));
        stats
    }

    #[test]
    fn windows_roll_by_the_hour() {
        let stats =
            counted(&["2026-03-02T14:59:00Z", "2026-03-01T15:00:00Z", "2026-03-01T14:59:59Z", "2026-02-23T14:30:00Z"]);

        let summary = stats.summary(at("2026-03-02T14:05:00Z"));

        assert_eq!(summary.total_clicks, 4);
        assert_eq!(summary.clicks_last_24h, 2);
        assert_eq!(summary.clicks_last_7d, 3);
        assert_eq!(summary.last_click_at, Some(at("2026-03-02T14:59:00Z")));
    }

    #[test]
    fn a_late_click_counts_on_its_own_day() {
        let stats = counted(&["2026-03-02T00:00:00Z", "2026-03-01T23:59:59Z"]);

        assert_eq!(stats.days.len(), 2);
        assert_eq!(stats.totals.last_click_at, Some(at("2026-03-02T00:00:00Z")));
    }

    #[test]
    fn a_timeline_is_oldest_first_and_has_no_empty_points() {
        let stats = counted(&["2026-03-02T14:30:00Z", "2026-03-01T09:00:00Z", "2026-03-02T14:00:00Z"]);

        let days: Vec<_> =
            timeline(&stats, Interval::Day).into_iter().map(|point| (point.period, point.clicks)).collect();
        let hours: Vec<_> =
            timeline(&stats, Interval::Hour).into_iter().map(|point| (point.period, point.clicks)).collect();

        assert_eq!(days, [("2026-03-01".into(), 1), ("2026-03-02".into(), 2)]);
        assert_eq!(hours, [("2026-03-01T09:00:00Z".into(), 1), ("2026-03-02T14:00:00Z".into(), 2)]);
    }

    #[test]
    fn referrers_are_ranked_without_their_queries() {
        let mut stats = LinkStats::default();
        for referer in [
            "https://b.example/?q=1",
            "https://b.example/?q=2",
            "https://a.example/#x",
            "https://c.example/",
            "https://c.example/",
        ] {
            stats.count(at("2026-03-02T14:30:00Z"), Some(referer));
        }

        let top = stats.summary(at("2026-03-02T15:00:00Z")).top_referers;

        assert_eq!(
            top,
            [("https://b.example/".into(), 2), ("https://c.example/".into(), 2), ("https://a.example/".into(), 1)]
        );
    }

    #[test]
    fn a_referrer_of_which_nothing_is_left_is_none() {
        let mut stats = LinkStats::default();

        for referer in ["?", "#x", "?x", ""] {
            stats.count(at("2026-03-02T14:30:00Z"), Some(referer));
        }

        assert_eq!(stats.totals.total_clicks, 4);
        assert_eq!(stats.totals.referers, Breakdown::default());
    }

    #[test]
    fn a_frequent_value_survives_a_flood_of_distinct_ones() {
        let mut breakdown = Breakdown::default();
        (0..5).for_each(|_| breakdown.count("regular"));

        (0..10_000).for_each(|number| breakdown.count(&number.to_string()));

        assert_eq!(breakdown.top(1), [("regular".into(), 5)]);
        assert_eq!(breakdown.counts.len(), Breakdown::MAX_VALUES);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_between_hours_days_and_total(seconds in proptest::collection::vec(0_i64..3_000_000, 0..200)) {
            let mut stats = LinkStats::default();
            for second in &seconds {
                stats.count(Timestamp::from_unix_seconds(*second).unwrap(), Some(&format!("https://{}.example/", second % 97)));
            }

            let total = seconds.len() as u64;
            prop_assert_eq!(stats.totals.total_clicks, total);
            prop_assert_eq!(stats.days.values().map(|day| day.total_clicks).sum::<u64>(), total);
            prop_assert_eq!(stats.days.values().flat_map(|day| day.hours).sum::<u64>(), total);
            let referers = &stats.totals.referers;
            prop_assert_eq!(referers.counts.values().sum::<u64>() + referers.other, total);
            prop_assert!(referers.counts.len() <= Breakdown::MAX_VALUES);
        }
    }
}
