//! Click statistics: folding clicks in, and reading windows and timelines out.
//!
//! Everything is a pure function of the clicks. The store reads a [`LinkStats`], folds a batch into it and writes it back
//! on the condition that nobody else has; so the arithmetic here is the whole of the counting.
//!
//! Who clicked is kept per day. What a link has seen over its whole life is the sum of its days, and most of that sum is
//! kept as well, in the past: the days before [`Totals::past_until`]. The later days are added when somebody asks. So a
//! click changes its day and a few numbers, however much its link has seen.

mod breakdown;
mod dimension;
mod read;
mod visitors;

use std::{collections::BTreeMap, time::Duration};

pub use self::{
    breakdown::Breakdown,
    dimension::Dimension,
    read::{Interval, Point, Ranking, Summary, timeline},
    visitors::UniqueVisitors,
};
use crate::{Audience, Client, Day, Timestamp, Visitor};

/// The statistics of one link: its totals, and those of its other parts that were loaded.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LinkStats {
    /// Over the link's whole life.
    pub totals: Totals,
    /// The days before [`Totals::past_until`] together; `None` if it wasn't loaded or there are none.
    pub past: Option<Profile>,
    /// Per day; a day without clicks is absent.
    pub days: BTreeMap<Day, DayStats>,
}

/// The small numbers of a link, which change with every click.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Totals {
    /// Every counted click.
    pub total_clicks: u64,
    /// The counted clicks of people.
    pub human_clicks: u64,
    /// When the latest click happened.
    pub last_click_at: Option<Timestamp>,
    /// The first day that isn't in the past; `None` before the first click.
    pub past_until: Option<Day>,
    /// The clicks on days that aren't in the past.
    pub recent_clicks: u64,
    /// How often the numbers were corrected after a recount.
    pub corrections: u64,
}

/// The clicks of one UTC day.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DayStats {
    /// Clicks per hour of the day.
    pub hours: [u64; 24],
    /// Who clicked.
    pub profile: Profile,
}

/// Who clicked, and where they came from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// All of the clicks.
    pub clicks: u64,
    /// The clicks of people.
    pub human_clicks: u64,
    /// All of the clicks, by each dimension that has a value in any of them.
    pub breakdowns: BTreeMap<Dimension, Breakdown>,
    /// The different people among them.
    pub visitors: UniqueVisitors,
}

impl LinkStats {
    /// Moves days into the past if it is time to, before clicks of `newest` and earlier days are counted. All days from
    /// [`Totals::past_until`] up to `newest`, and the past, must be loaded if [`Totals::is_settling_due`] says so.
    pub fn settle(&mut self, newest: Day) {
        if !self.totals.is_settling_due(newest) {
            return;
        }
        let past = self.past.get_or_insert_default();
        let from = self.totals.past_until.unwrap_or(newest);
        for stats in self.days.range(from..newest).map(|(_, stats)| stats) {
            past.merge(&stats.profile);
            // A day that was read after others had counted on it may have more clicks than the total knows of. Then the total
            // has changed too, and what is made of this is never written.
            self.totals.recent_clicks = self.totals.recent_clicks.saturating_sub(stats.profile.clicks);
        }
        self.totals.past_until = Some(newest);
    }

    /// Counts one click at the time it happened. If its day is in the past, the past must be loaded.
    pub fn count(&mut self, clicked_at: Timestamp, visitor: &Visitor, client: &Client) {
        let is_human = Audience::of(visitor, client) == Audience::Human;
        let day = clicked_at.day();
        self.totals.total_clicks += 1;
        self.totals.human_clicks += u64::from(is_human);
        self.totals.last_click_at = self.totals.last_click_at.max(Some(clicked_at));
        if day < *self.totals.past_until.get_or_insert(day) {
            self.past.get_or_insert_default().count(visitor, client);
        } else {
            self.totals.recent_clicks += 1;
        }
        let stats = self.days.entry(day).or_default();
        stats.hours[usize::from(clicked_at.hour())] += 1;
        stats.profile.count(visitor, client);
    }

    /// The past and the days after it.
    #[must_use]
    pub fn whole_life(&self) -> Profile {
        let mut life = self.past.clone().unwrap_or_default();
        for stats in self.recent_days() {
            life.merge(&stats.profile);
        }
        life
    }

    fn recent_days(&self) -> impl Iterator<Item = &DayStats> {
        let from = self.totals.past_until;
        self.days.iter().filter(move |(day, _)| Some(**day) >= from).map(|(_, stats)| stats)
    }
}

impl Totals {
    /// How long days stay out of the past while a link has fewer than [`Self::MANY`] recent clicks.
    const SETTLED_AFTER: Duration = Duration::from_secs(28 * 86_400);
    /// The number of recent clicks from which days move into the past when the next day begins.
    const MANY: u64 = 100;

    /// Whether the days before `newest` should move into the past before clicks of `newest` are counted. Moving costs one more
    /// write, so it is done for many clicks at a time, or once in four weeks.
    #[must_use]
    pub fn is_settling_due(&self, newest: Day) -> bool {
        let Some(past_until) = self.past_until else { return false };
        let is_long_ago = newest.at_hour(0) >= past_until.at_hour(0).plus(Self::SETTLED_AFTER);
        newest > past_until && (is_long_ago || self.recent_clicks >= Self::MANY)
    }

    /// Whether a click of this day changes the past.
    #[must_use]
    pub fn is_past(&self, day: Day) -> bool {
        self.past_until.is_some_and(|until| day < until)
    }
}

impl Profile {
    fn count(&mut self, visitor: &Visitor, client: &Client) {
        self.clicks += 1;
        if Audience::of(visitor, client) == Audience::Human {
            self.human_clicks += 1;
            self.visitors.add(&visitor.ip_hash);
        }
        for dimension in Dimension::ALL {
            if let Some(value) = dimension.value(visitor, client) {
                self.breakdowns.entry(dimension).or_default().count(value, dimension.capacity());
            }
        }
    }

    /// Adds everything that another profile has counted.
    pub fn merge(&mut self, counted: &Self) {
        self.clicks += counted.clicks;
        self.human_clicks += counted.human_clicks;
        for (dimension, breakdown) in &counted.breakdowns {
            self.breakdowns.entry(*dimension).or_default().merge(breakdown, dimension.capacity());
        }
        self.visitors.merge(&counted.visitors);
    }

    /// The clicks by one dimension.
    #[must_use]
    pub fn by(&self, dimension: Dimension) -> &Breakdown {
        static NONE: Breakdown = Breakdown { counts: BTreeMap::new(), other: 0 };
        self.breakdowns.get(&dimension).unwrap_or(&NONE)
    }

    /// Whether both may have counted the same clicks, as far as sketches and full breakdowns tell.
    #[must_use]
    pub fn agrees_with(&self, other: &Self) -> bool {
        (self.clicks, self.human_clicks) == (other.clicks, other.human_clicks)
            && Dimension::ALL.iter().all(|by| self.by(*by).agrees_with(other.by(*by)))
            && self.visitors.agrees_with(&other.visitors)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{CountryCode, Device, IpHash, Salt};

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn person(number: u64) -> Visitor {
        Visitor::new(IpHash::of(&number.to_string(), &Salt::parse(&"salt".repeat(8)).unwrap()))
    }

    fn client(device: Device, browser: &str) -> Client {
        Client { device, browser: browser.to_owned(), version: "1".to_owned(), os: "Linux".to_owned() }
    }

    /// Counts as the consumer does: it settles first.
    fn count(stats: &mut LinkStats, clicked_at: Timestamp, visitor: &Visitor, client: &Client) {
        stats.settle(clicked_at.day());
        stats.count(clicked_at, visitor, client);
    }

    fn counted(clicks: &[&str]) -> LinkStats {
        let mut stats = LinkStats::default();
        clicks.iter().for_each(|click| count(&mut stats, at(click), &person(1), &client(Device::Desktop, "Firefox")));
        stats
    }

    #[test]
    fn windows_roll_by_the_hour() {
        let stats =
            counted(&["2026-02-23T14:30:00Z", "2026-03-01T14:59:59Z", "2026-03-01T15:00:00Z", "2026-03-02T14:59:00Z"]);

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
        assert_eq!(stats.whole_life().clicks, 2);
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
            let visitor = person(1).with_headers(None, Some(referer));
            count(&mut stats, at("2026-03-02T14:30:00Z"), &visitor, &client(Device::Desktop, "Firefox"));
        }

        let top = stats.whole_life().by(Dimension::Referer).ranking();

        assert_eq!(
            top,
            [("https://b.example/".into(), 2), ("https://c.example/".into(), 2), ("https://a.example/".into(), 1)]
        );
    }

    #[test]
    fn a_referrer_of_which_nothing_is_left_is_none() {
        let mut stats = LinkStats::default();

        for referer in ["?", "#x", "?x", ""] {
            let visitor = person(1).with_headers(None, Some(referer));
            count(&mut stats, at("2026-03-02T14:30:00Z"), &visitor, &client(Device::Desktop, "Firefox"));
        }

        assert_eq!(stats.totals.total_clicks, 4);
        assert_eq!(stats.whole_life().by(Dimension::Referer), &Breakdown::default());
    }

    #[test]
    fn only_people_are_human_clicks_and_visitors() {
        let mut stats = LinkStats::default();
        let now = at("2026-03-02T14:30:00Z");
        let firefox = client(Device::Mobile, "Firefox");
        let german = person(1).at_place(CountryCode::parse("DE").ok(), Some("Köln"));
        count(&mut stats, now, &german, &firefox);
        count(&mut stats, now, &german, &firefox);
        count(&mut stats, now, &person(2), &client(Device::Bot, "Googlebot"));
        count(&mut stats, now, &person(3).prefetching(true), &firefox);

        let summary = stats.summary(now);

        assert_eq!((summary.total_clicks, summary.human_clicks, summary.unique_visitors), (4, 2, 1));
        let ranking = |dimension| stats.whole_life().by(dimension).ranking();
        assert_eq!(ranking(Dimension::Device), [("mobile".into(), 3), ("bot".into(), 1)]);
        assert_eq!(ranking(Dimension::Browser), [("Firefox".into(), 3), ("Googlebot".into(), 1)]);
        assert_eq!(ranking(Dimension::OperatingSystem), [("Linux".into(), 4)]);
        assert_eq!(ranking(Dimension::Country), [("DE".into(), 2), ("unknown".into(), 2)]);
    }

    #[test]
    fn values_without_a_place_of_their_own_are_shown_together() {
        let mut stats = LinkStats::default();
        for number in 0..50 {
            let client = client(Device::Desktop, &format!("Browser {number:02}"));
            count(&mut stats, at("2026-03-02T14:30:00Z"), &person(1), &client);
        }

        let browsers = stats.whole_life().by(Dimension::Browser).ranking();

        assert_eq!(browsers.len(), 31);
        assert_eq!(browsers.last(), Some(&("(other)".to_owned(), 20)));
    }

    #[test]
    fn a_busy_day_goes_into_the_past_with_the_next_one() {
        let mut stats = counted(&["2026-03-01T10:00:00Z"; 100]);
        assert_eq!(stats.past, None);

        let tomorrow = at("2026-03-02T10:00:00Z");
        count(&mut stats, tomorrow, &person(2), &client(Device::Desktop, "Firefox"));

        assert_eq!(stats.totals.past_until, Some(tomorrow.day()));
        assert_eq!(stats.totals.recent_clicks, 1);
        assert_eq!(stats.past.as_ref().map(|past| past.clicks), Some(100));
        assert_eq!(stats.whole_life().clicks, 101);
        assert_eq!(stats.whole_life().visitors.estimate(), 2);
    }

    #[test]
    fn a_day_that_is_newer_than_the_total_does_no_harm() {
        let mut stats = counted(&["2026-03-01T10:00:00Z"]);
        let day = stats.days.values_mut().next().unwrap();
        day.profile.clicks += 1;

        count(&mut stats, at("2026-03-29T10:00:00Z"), &person(2), &client(Device::Desktop, "Firefox"));

        assert_eq!(stats.totals.recent_clicks, 1);
    }

    #[test]
    fn quiet_days_go_into_the_past_after_four_weeks() {
        let stats = counted(&["2026-03-01T10:00:00Z", "2026-03-28T10:00:00Z"]);
        assert_eq!(stats.past, None);

        let stats = counted(&["2026-03-01T10:00:00Z", "2026-03-29T10:00:00Z"]);
        assert_eq!(stats.past.as_ref().map(|past| past.clicks), Some(1));
        assert_eq!(stats.whole_life().clicks, 2);
    }

    proptest! {
        /// Whatever order the clicks come in, and whatever has gone into the past in between.
        #[test]
        fn nothing_is_lost_between_hours_days_past_and_total(
            clicks in prop::collection::vec((0_i64..60 * 86_400, 0_u64..40, 0_usize..3), 0..400),
        ) {
            let clients =
                [client(Device::Desktop, "Firefox"), client(Device::Bot, "Googlebot"), client(Device::Mobile, "Safari")];
            let mut stats = LinkStats::default();
            for (second, number, kind) in &clicks {
                let visitor = person(*number).with_headers(None, Some(&format!("https://{}.example/", number % 29)));
                count(&mut stats, Timestamp::from_unix_seconds(*second).unwrap(), &visitor, &clients[*kind]);
            }

            let total = clicks.len() as u64;
            let life = stats.whole_life();
            prop_assert_eq!(stats.totals.total_clicks, total);
            prop_assert_eq!(stats.days.values().map(|day| day.profile.clicks).sum::<u64>(), total);
            prop_assert_eq!(stats.days.values().flat_map(|day| day.hours).sum::<u64>(), total);
            prop_assert_eq!(life.clicks, total);
            prop_assert_eq!(life.human_clicks, stats.totals.human_clicks);
            prop_assert_eq!(life.by(Dimension::Device).total(), total);
            let mut all_days = Profile::default();
            stats.days.values().for_each(|day| all_days.merge(&day.profile));
            prop_assert_eq!(life.visitors.estimate(), all_days.visitors.estimate());
            all_days.visitors = life.visitors.clone();
            prop_assert_eq!(life, all_days);
        }
    }
}
