//! How many clicks a link has, kept day by day where days are still counted.

use std::{collections::BTreeMap, ops::AddAssign, time::Duration};

use serde::{Deserialize, Serialize};

use super::{AudienceGroup, DaySlice, DayStats};
use crate::{Day, Timestamp, milestones_crossed};

/// The clicks of a time, and how many of them were people's. Stored as a list of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "(u64, u64)", into = "(u64, u64)")]
pub struct ClickCount {
    /// All of the clicks.
    pub clicks: u64,
    /// The clicks of people.
    pub human_clicks: u64,
}

impl From<(u64, u64)> for ClickCount {
    fn from((clicks, human_clicks): (u64, u64)) -> Self {
        Self { clicks, human_clicks }
    }
}

impl From<ClickCount> for (u64, u64) {
    fn from(ClickCount { clicks, human_clicks }: ClickCount) -> Self {
        (clicks, human_clicks)
    }
}

impl From<&DayStats> for ClickCount {
    fn from(stats: &DayStats) -> Self {
        Self { clicks: stats.profile.clicks, human_clicks: stats.profile.human_clicks }
    }
}

impl AddAssign for ClickCount {
    fn add_assign(&mut self, other: Self) {
        self.clicks += other.clicks;
        self.human_clicks += other.human_clicks;
    }
}

impl ClickCount {
    /// Those of a group.
    #[must_use]
    pub fn of(self, group: AudienceGroup) -> Self {
        match group {
            AudienceGroup::All => self,
            AudienceGroup::Human => Self { clicks: self.human_clicks, human_clicks: self.human_clicks },
            AudienceGroup::Automated => Self { clicks: self.clicks.saturating_sub(self.human_clicks), human_clicks: 0 },
        }
    }

    /// How many more these are than what was counted before.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            clicks: self.clicks.saturating_sub(before.clicks),
            human_clicks: self.human_clicks.saturating_sub(before.human_clicks),
        }
    }
}

/// A link's clicks as lists show them and sort by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkClicks {
    /// Every counted click.
    pub total: u64,
    /// When the latest of them happened; `None` before the first.
    pub last: Option<Timestamp>,
}

/// A link's counts as lists show them: the past in one number, and the number of each later day or part of one.
///
/// Such a number only grows. So repeating it, or writing numbers in another order than they were counted in, does no harm.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Totals {
    /// The clicks on the days before [`Self::past_until`].
    pub past_clicks: u64,
    /// The first day that isn't in the past; `None` before any day is.
    pub past_until: Option<Day>,
    /// The clicks on each later day, and of each part of a day that was split.
    pub open: BTreeMap<DaySlice, ClickCount>,
    /// The latest days of the past, as far as [`Self::HISTORY`] reaches: those with clicks. With the open days these are what a
    /// workspace's overview adds up.
    pub history: BTreeMap<Day, ClickCount>,
    /// When the latest of all clicks happened. It only grows.
    pub last_click: Option<Timestamp>,
    /// The highest milestone that was announced; 0 before the first.
    pub announced: u64,
    /// How often the past was changed, or a day that isn't recent: what was computed from an older state must not be written.
    pub epoch: u64,
}

impl Totals {
    /// How long days stay out of the past while they have fewer than [`Self::MANY`] clicks together.
    const SETTLED_AFTER: Duration = Duration::from_secs(28 * 86_400);
    /// The number of clicks from which days move into the past as soon as they may.
    const MANY: u64 = 100;
    /// How many days before the end of the past are remembered one by one: two months that an overview compares. The last open
    /// days come on top of them.
    pub const HISTORY: u64 = 60;

    /// Every counted click.
    pub fn total_clicks(&self) -> u64 {
        self.past_clicks
            + self.open.iter().filter(|(slice, _)| !self.is_past(slice.day)).map(|(_, count)| count.clicks).sum::<u64>()
    }

    /// The days that are known one by one, oldest first: those of the last two months, and earlier ones that aren't in the past.
    /// A day that was split is there several times.
    pub fn days(&self) -> impl Iterator<Item = (Day, ClickCount)> {
        let open = self.open.iter().map(|(slice, count)| (slice.day, *count)).filter(|(day, _)| !self.is_past(*day));
        self.history.iter().map(|(day, count)| (*day, *count)).chain(open)
    }

    /// The history of a past that ends with `until`, out of days or their parts, which may reach further back.
    pub fn history_until(until: Day, days: impl IntoIterator<Item = (Day, ClickCount)>) -> BTreeMap<Day, ClickCount> {
        let remembered = until.minus(Self::HISTORY)..until;
        let mut history: BTreeMap<Day, ClickCount> = BTreeMap::new();
        for (day, count) in days.into_iter().filter(|(day, count)| remembered.contains(day) && count.clicks > 0) {
            *history.entry(day).or_default() += count;
        }
        history
    }

    /// Whether a click of this day changes the past.
    pub fn is_past(&self, day: Day) -> bool {
        self.past_until.is_some_and(|until| day < until)
    }

    /// Whether the number of a day, or of a part of it, is known to be at least this.
    pub fn includes(&self, slice: DaySlice, clicks: u64) -> bool {
        self.is_past(slice.day) || self.open.get(&slice).map_or(0, |counted| counted.clicks) >= clicks
    }

    /// The milestones that are reached and not announced yet.
    pub fn unannounced(&self) -> impl Iterator<Item = u64> + use<> {
        milestones_crossed(self.announced, self.total_clicks())
    }

    /// The first day that stays out of the past, if it is time to move the days before it. Moving costs a transaction, so it is
    /// done for many clicks at a time, or once in four weeks.
    pub fn rolls_up_until(&self, today: Day) -> Option<Day> {
        let until = today.minus(RECENT_DAYS);
        let old_days = self.open.range(..DaySlice::from(until));
        let (oldest, _) = old_days.clone().next()?;
        let clicks: u64 = old_days.map(|(_, count)| count.clicks).sum();
        let is_long_ago = oldest.day.start().plus(Self::SETTLED_AFTER) <= today.start();
        (clicks >= Self::MANY || is_long_ago).then_some(until)
    }
}

/// Days before this many days ago may be in the past, and only later ones are recent. The day between is neither, so that two
/// consumers whose clocks differ by less than a day never disagree about a day in the worse way.
const RECENT_DAYS: u64 = 2;

/// Whether the clicks of a day are counted by one write of the day's item, which takes no transaction, since it can't be in the
/// past: today, yesterday, and the future of clocks that are ahead.
pub fn is_recent(day: Day, today: Day) -> bool {
    day > today.minus(RECENT_DAYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    fn totals(open: &[(&str, u64)]) -> Totals {
        let count = |clicks: u64| ClickCount { clicks, human_clicks: clicks / 2 };
        let slice = |text| DaySlice::parse(text).unwrap();
        Totals { open: open.iter().map(|(text, clicks)| (slice(text), count(*clicks))).collect(), ..Totals::default() }
    }

    #[test]
    fn the_total_is_the_past_and_the_later_days() {
        let totals = Totals { past_clicks: 90, ..totals(&[("2026-03-01", 7), ("2026-03-02", 4)]) };

        assert_eq!(totals.total_clicks(), 101);
    }

    #[test]
    fn a_busy_day_rolls_up_when_neither_recent_nor_the_day_before() {
        let totals = totals(&[("2026-03-01", 100), ("2026-03-03", 5)]);

        assert_eq!(totals.rolls_up_until(day("2026-03-03")), None);
        assert_eq!(totals.rolls_up_until(day("2026-03-04")), Some(day("2026-03-02")));
    }

    #[test]
    fn quiet_days_move_into_the_past_after_four_weeks() {
        let totals = totals(&[("2026-03-01", 1), ("2026-03-28", 1)]);

        assert_eq!(totals.rolls_up_until(day("2026-03-28")), None);
        assert_eq!(totals.rolls_up_until(day("2026-03-29")), Some(day("2026-03-27")));
    }

    #[test]
    fn no_day_rolls_up_while_a_slower_clock_finds_it_recent() {
        let busy = totals(&[("2026-03-01", 1_000)]);
        for now in ["2026-03-02", "2026-03-03", "2026-03-04", "2026-03-05"] {
            let until = busy.rolls_up_until(day(now));
            let an_hour_behind = day(now).minus(1);

            assert!(until.is_none_or(|until| !is_recent(until.minus(1), an_hour_behind)), "{now}");
        }
    }

    #[test]
    fn the_known_days_are_the_history_and_the_open_ones() {
        let totals = Totals {
            past_until: Some(day("2026-03-02")),
            history: totals(&[("2026-02-27", 90)]).days().collect(),
            ..totals(&[("2026-03-01", 90), ("2026-03-02", 4)])
        };

        let known: Vec<_> = totals.days().map(|(day, count)| (day.to_string(), count.clicks)).collect();

        let open = [("2026-02-27".to_owned(), 90), ("2026-03-02".to_owned(), 4)];
        assert_eq!(known, open, "a day in the past isn't open");
    }

    #[test]
    fn a_history_has_the_days_with_clicks_of_two_months() {
        let days =
            totals(&[("2025-12-31", 3), ("2026-01-01", 4), ("2026-02-01", 0), ("2026-03-01", 5), ("2026-03-02", 6)]);

        let history = Totals::history_until(day("2026-03-02"), days.days());

        assert_eq!(history.keys().map(Day::to_string).collect::<Vec<_>>(), ["2026-01-01", "2026-03-01"]);
    }

    #[test]
    fn a_day_that_was_split_counts_with_all_of_its_parts() {
        let split = totals(&[("2026-03-01", 60), ("2026-03-01#0", 30), ("2026-03-01#f", 10), ("2026-03-03", 5)]);

        assert_eq!(split.total_clicks(), 105);
        assert_eq!(split.rolls_up_until(day("2026-03-04")), Some(day("2026-03-02")));
        let history = Totals::history_until(day("2026-03-02"), split.days());
        assert_eq!(history, [(day("2026-03-01"), ClickCount { clicks: 100, human_clicks: 50 })].into());
        let rolled_up = Totals { past_until: Some(day("2026-03-02")), past_clicks: 100, ..split };
        assert_eq!(rolled_up.total_clicks(), 105);
    }

    #[test]
    fn milestones_are_due_until_they_are_announced() {
        let reached = totals(&[("2026-03-01", 104)]);
        let announced = Totals { announced: 10, ..reached.clone() };

        assert_eq!(reached.unannounced().collect::<Vec<_>>(), [10, 100]);
        assert_eq!(announced.unannounced().collect::<Vec<_>>(), [100]);
    }

    #[test]
    fn a_day_in_the_past_is_included_whatever_its_number() {
        let totals = Totals { past_until: Some(day("2026-03-02")), ..totals(&[("2026-03-02", 4)]) };

        let includes = |text, clicks| totals.includes(DaySlice::parse(text).unwrap(), clicks);
        assert!(includes("2026-03-01", 9));
        assert!(includes("2026-03-01#a", 9));
        assert!(includes("2026-03-02", 4));
        assert!(!includes("2026-03-02", 5));
        assert!(!includes("2026-03-02#a", 1));
        assert!(!includes("2026-03-03", 1));
        assert!(includes("2026-03-03", 0));
    }
}
