//! Which part of a time is taken from counted days, and which from single clicks.

use std::{collections::BTreeMap, ops::Range, time::Duration};

use linklet_domain::{Day, DayStats, Timestamp};

use crate::question::DAY;

pub(crate) type Days = BTreeMap<Day, DayStats>;

/// The parts of a time: whole UTC days, and hours before and after them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The whole time, as the answer says it.
    pub time: Range<Timestamp>,
    /// From one midnight to another one; empty if there is no whole day.
    pub whole: Range<Timestamp>,
    /// What is read click by click.
    pub edges: Vec<Range<Timestamp>>,
}

impl Plan {
    /// The parts of a time. Nothing has been clicked after now, so a day that isn't over is a whole one.
    pub(crate) fn of(time: Range<Timestamp>, now: Timestamp) -> Self {
        let end = if time.end > now { midnight_after(time.end) } else { time.end };
        let whole = midnight_after(time.start)..end.day().start();
        if whole.start >= whole.end {
            return Self { whole: time.start..time.start, edges: vec![time.start..end], time };
        }
        let edges = [time.start..whole.start, whole.end..end].into_iter().filter(|edge| edge.start < edge.end);
        Self { whole, edges: edges.collect(), time }
    }

    /// All of it click by click.
    pub(crate) fn of_clicks(time: Range<Timestamp>) -> Self {
        Self { whole: time.start..time.start, edges: vec![time.clone()], time }
    }

    /// The whole days that the time is in.
    pub(crate) fn of_whole_days(time: &Range<Timestamp>) -> Self {
        let whole = time.start.day().start()..midnight_after(time.end);
        Self { time: whole.clone(), whole, edges: Vec::new() }
    }

    /// The whole days.
    pub(crate) fn days<'d>(&self, days: &'d Days) -> impl Iterator<Item = (Day, &'d DayStats)> {
        let whole = self.whole.clone();
        days.iter().map(|(day, stats)| (*day, stats)).filter(move |(day, _)| whole.contains(&day.start()))
    }

    /// How many clicks were counted in the hours that the edges reach into.
    pub(crate) fn clicks_at_edges(&self, days: &Days) -> u64 {
        self.edges.iter().map(|edge| clicks_in(days, edge)).sum()
    }

    /// When the first of its clicks may have been, if any is read.
    pub(crate) fn first_edge(&self) -> Option<Timestamp> {
        self.edges.first().map(|edge| edge.start)
    }
}

/// How many clicks were counted in the hours that a time reaches into.
pub(crate) fn clicks_in(days: &Days, time: &Range<Timestamp>) -> u64 {
    const HOUR: Duration = Duration::from_secs(3_600);
    let hours = days
        .iter()
        .flat_map(|(day, stats)| (0_u8..).zip(stats.hours).map(|(hour, count)| (day.at_hour(hour), count.clicks)));
    hours.filter(|(start, _)| *start < time.end && start.plus(HOUR) > time.start).map(|(_, clicks)| clicks).sum()
}

/// The first midnight at this time or later.
fn midnight_after(time: Timestamp) -> Timestamp {
    let midnight = time.day().start();
    if midnight == time { time } else { midnight.plus(DAY) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn range(from: &str, to: &str) -> Range<Timestamp> {
        at(from)..at(to)
    }

    fn later() -> Timestamp {
        at("2026-04-01T00:00:00Z")
    }

    #[test]
    fn days_that_are_whole_are_taken_as_they_were_counted() {
        let plan = Plan::of(range("2026-03-01T22:30:00Z", "2026-03-05T06:00:00Z"), later());

        assert_eq!(plan.whole, range("2026-03-02T00:00:00Z", "2026-03-05T00:00:00Z"));
        let expected = [
            range("2026-03-01T22:30:00Z", "2026-03-02T00:00:00Z"),
            range("2026-03-05T00:00:00Z", "2026-03-05T06:00:00Z"),
        ];
        assert_eq!(plan.edges, expected);
        let whole = range("2026-03-01T00:00:00Z", "2026-03-05T00:00:00Z");
        assert_eq!(Plan::of(whole.clone(), later()), Plan { time: whole.clone(), whole, edges: vec![] });
    }

    #[test]
    fn a_time_without_a_whole_day_is_read_click_by_click() {
        for (from, to) in [
            ("2026-03-01T10:00:00Z", "2026-03-01T12:00:00Z"),
            ("2026-03-01T10:00:00Z", "2026-03-02T10:00:00Z"),
            ("2026-03-01T10:00:00Z", "2026-03-02T00:00:00Z"),
        ] {
            let plan = Plan::of(range(from, to), later());

            assert_eq!((plan.whole.start, plan.edges), (plan.whole.end, vec![range(from, to)]), "{from}");
        }
    }

    #[test]
    fn today_counts_as_a_whole_day_if_the_period_reaches_now() {
        let now = at("2026-03-05T06:00:00Z");

        let until_now = Plan::of(at("2026-03-04T06:00:00Z")..now.plus(Duration::from_millis(1)), now);
        let until_before = Plan::of(at("2026-03-04T06:00:00Z")..now, now);

        assert_eq!(until_now.whole, range("2026-03-05T00:00:00Z", "2026-03-06T00:00:00Z"));
        assert_eq!(until_now.edges, [range("2026-03-04T06:00:00Z", "2026-03-05T00:00:00Z")]);
        assert_eq!(until_before.edges.len(), 1);
    }

    #[test]
    fn what_edges_hold_is_known_before_anything_is_read() {
        let mut day = DayStats::default();
        day.hours[22].clicks = 5;
        day.hours[23].clicks = 7;
        day.hours[3].clicks = 90;
        let days = Days::from([(at("2026-03-01T00:00:00Z").day(), day)]);

        let plan = Plan::of(range("2026-03-01T22:30:00Z", "2026-03-05T00:00:00Z"), later());

        assert_eq!(plan.clicks_at_edges(&days), 12);
    }
}
