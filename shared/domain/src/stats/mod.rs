//! Click statistics: folding clicks in, and reading windows and timelines out.
//!
//! Everything is a pure function of the clicks. The store reads a day, folds clicks into it and writes it back on the condition
//! that nobody else has; so the arithmetic here is the whole of the counting.
//!
//! Who clicked is kept per day. What a link has seen over its whole life is the sum of its days, and most of that sum is
//! kept as well, in the past: the days before [`Rollup::until`]. The later days are added when somebody asks. So a click changes
//! its day and one number, however much its link has seen.

mod breakdown;
mod dimension;
mod question;
mod read;
mod slice;
mod totals;
mod visitors;

use std::collections::BTreeMap;

pub use self::breakdown::Breakdown;
pub use self::dimension::Dimension;
pub use self::question::{ClickFilter, Findings, Moment, site_of};
pub use self::read::{Interval, Point, Ranking, Summary, timeline};
pub use self::slice::{DaySlice, Part};
pub use self::totals::{ClickCount, LinkClicks, Totals, is_recent};
pub use self::visitors::UniqueVisitors;
use crate::{Audience, Client, Day, Timestamp, Visitor};

/// The statistics of one link, as far as they were loaded.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LinkStats {
    /// The earlier days together; `None` if there are none.
    pub past: Option<Rollup>,
    /// Per day, also those in the past; a day without clicks is absent.
    pub days: BTreeMap<Day, DayStats>,
}

/// The clicks of all days before a day, together.
#[derive(Debug, Clone, PartialEq)]
pub struct Rollup {
    /// The first day that isn't in the past.
    pub until: Day,
    /// When the latest click before that day happened.
    pub last_click_at: Option<Timestamp>,
    /// Who clicked before that day.
    pub profile: Profile,
}

/// The clicks of one UTC day.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DayStats {
    /// The clicks of each hour of the day.
    pub hours: [ClickCount; 24],
    /// When the latest click of the day happened.
    pub last_click_at: Option<Timestamp>,
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
    /// The clicks of people, by each dimension that has a value in any of them.
    pub people: Breakdowns,
    /// The clicks of bots and prefetching browsers, in the same way.
    pub machines: Breakdowns,
    /// The different people among them.
    pub visitors: UniqueVisitors,
}

/// Clicks by each dimension that has a value in any of them.
pub type Breakdowns = BTreeMap<Dimension, Breakdown>;

/// Whose clicks are meant. Days tell no more than this, since bots and prefetching browsers are looked at apart by few.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AudienceGroup {
    /// People, bots and prefetching browsers.
    All,
    /// People.
    Human,
    /// Bots and prefetching browsers.
    Automated,
}

impl LinkStats {
    /// The past and the days after it.
    pub fn whole_life(&self) -> Profile {
        let mut life = self.past.as_ref().map(|past| past.profile.clone()).unwrap_or_default();
        for stats in self.open_days() {
            life.merge(&stats.profile);
        }
        life
    }

    /// The days that aren't in the past.
    fn open_days(&self) -> impl DoubleEndedIterator<Item = &DayStats> {
        let from = self.past.as_ref().map(|past| past.until);
        self.days.iter().filter(move |(day, _)| Some(**day) >= from).map(|(_, stats)| stats)
    }
}

impl DayStats {
    /// Counts one click of this day.
    pub fn count(&mut self, clicked_at: Timestamp, visitor: &Visitor, client: &Client) {
        let human_clicks_before = self.profile.human_clicks;
        self.last_click_at = self.last_click_at.max(Some(clicked_at));
        self.profile.count(visitor, client);
        let human_clicks = self.profile.human_clicks - human_clicks_before;
        self.hours[usize::from(clicked_at.hour())] += ClickCount { clicks: 1, human_clicks };
    }

    /// Adds everything that another part of the day has counted.
    pub fn merge(&mut self, counted: &Self) {
        self.last_click_at = self.last_click_at.max(counted.last_click_at);
        self.profile.merge(&counted.profile);
        for (hour, more) in self.hours.iter_mut().zip(counted.hours) {
            *hour += more;
        }
    }
}

impl Rollup {
    /// Moves days into the past. They must be those from its end up to `until`.
    pub fn extended<'d>(past: Option<Self>, until: Day, days: impl IntoIterator<Item = &'d DayStats>) -> Self {
        let (mut last_click_at, mut profile) = past.map(|past| (past.last_click_at, past.profile)).unwrap_or_default();
        for stats in days {
            last_click_at = last_click_at.max(stats.last_click_at);
            profile.merge(&stats.profile);
        }
        Self { until, last_click_at, profile }
    }

    /// Counts one late click, of a day that is in the past already.
    pub fn count(&mut self, clicked_at: Timestamp, visitor: &Visitor, client: &Client) {
        self.last_click_at = self.last_click_at.max(Some(clicked_at));
        self.profile.count(visitor, client);
    }
}

impl Profile {
    /// Counts one click.
    pub fn count(&mut self, visitor: &Visitor, client: &Client) {
        self.clicks += 1;
        let group = AudienceGroup::of(Audience::of(visitor, client));
        if group == AudienceGroup::Human {
            self.human_clicks += 1;
            self.visitors.add(&visitor.ip_hash);
        }
        for dimension in Dimension::ALL {
            if let Some(value) = dimension.value(visitor, client) {
                self.breakdowns(group).entry(dimension).or_default().count(&value, dimension.capacity(group));
            }
        }
    }

    fn breakdowns(&mut self, group: AudienceGroup) -> &mut Breakdowns {
        if group == AudienceGroup::Human { &mut self.people } else { &mut self.machines }
    }

    /// Adds everything that another profile has counted.
    pub fn merge(&mut self, counted: &Self) {
        self.clicks += counted.clicks;
        self.human_clicks += counted.human_clicks;
        merge(&mut self.people, &counted.people, AudienceGroup::Human);
        merge(&mut self.machines, &counted.machines, AudienceGroup::Automated);
        self.visitors.merge(&counted.visitors);
    }

    /// The clicks of a group.
    pub fn clicks_of(&self, group: AudienceGroup) -> u64 {
        match group {
            AudienceGroup::All => self.clicks,
            AudienceGroup::Human => self.human_clicks,
            AudienceGroup::Automated => self.clicks - self.human_clicks,
        }
    }

    /// How many clicks have a value of a dimension.
    pub fn clicks_with(&self, dimension: Dimension) -> u64 {
        [&self.people, &self.machines].into_iter().filter_map(|all| all.get(&dimension)).map(Breakdown::total).sum()
    }

    /// The clicks of a group by one dimension.
    pub fn by(&self, dimension: Dimension, group: AudienceGroup) -> Breakdown {
        by(dimension, group, &self.people, &self.machines)
    }

    /// Whether both may have counted the same clicks, as far as sketches and full breakdowns tell.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let agree = |group| Dimension::ALL.into_iter().all(|by| self.by(by, group).agrees_with(&other.by(by, group)));
        (self.clicks, self.human_clicks) == (other.clicks, other.human_clicks)
            && agree(AudienceGroup::Human)
            && agree(AudienceGroup::Automated)
            && self.visitors.agrees_with(&other.visitors)
    }
}

/// The clicks of a group by one dimension, out of those of people and of machines.
pub(crate) fn by(dimension: Dimension, group: AudienceGroup, people: &Breakdowns, machines: &Breakdowns) -> Breakdown {
    let of = |breakdowns: &Breakdowns| breakdowns.get(&dimension).cloned().unwrap_or_default();
    match group {
        AudienceGroup::Human => of(people),
        AudienceGroup::Automated => of(machines),
        AudienceGroup::All => {
            let mut all = of(people);
            all.merge(&of(machines), dimension.capacity(group));
            all
        }
    }
}

fn merge(sum: &mut Breakdowns, counted: &Breakdowns, group: AudienceGroup) {
    for (dimension, breakdown) in counted {
        sum.entry(*dimension).or_default().merge(breakdown, dimension.capacity(group));
    }
}

impl AudienceGroup {
    /// The group that somebody belongs to.
    pub fn of(audience: Audience) -> Self {
        if audience == Audience::Human { Self::Human } else { Self::Automated }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::{CountryCode, Device, IpHash, Salt};

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn person(number: u64) -> Visitor {
        Visitor::new(IpHash::of(&number.to_string(), &Salt::parse(&"salt".repeat(8)).unwrap()))
    }

    pub(super) fn client(device: Device, browser: &str) -> Client {
        Client { device, browser: browser.to_owned(), version: "1".to_owned(), os: "Linux".to_owned() }
    }

    fn count(stats: &mut LinkStats, clicked_at: Timestamp, visitor: &Visitor, client: &Client) {
        stats.days.entry(clicked_at.day()).or_default().count(clicked_at, visitor, client);
        if let Some(past) = stats.past.as_mut().filter(|past| clicked_at.day() < past.until) {
            past.count(clicked_at, visitor, client);
        }
    }

    /// Moves the days before this one into the past.
    fn roll_up(stats: &mut LinkStats, until: Day) {
        let from = stats.past.as_ref().map(|past| past.until);
        let days = stats.days.range(..until).filter(|(day, _)| Some(**day) >= from).map(|(_, stats)| stats);
        stats.past = Some(Rollup::extended(stats.past.clone(), until, days));
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
        assert_eq!(stats.summary(at("2026-03-02T00:00:00Z")).last_click_at, Some(at("2026-03-02T00:00:00Z")));
        assert_eq!(stats.whole_life().clicks, 2);
    }

    /// The timeline of the first three days of March, where clocks are so many hours ahead of UTC.
    fn points(stats: &LinkStats, interval: Interval, ahead: u64) -> Vec<(String, u64)> {
        let days = at("2026-03-01T00:00:00Z").day()..=at("2026-03-03T00:00:00Z").day();
        let local = |hour: Timestamp| hour.plus(Duration::from_secs(ahead * 3_600));
        timeline(stats, interval, &days, local).into_iter().map(|point| (point.period, point.clicks)).collect()
    }

    #[test]
    fn a_timeline_is_oldest_first_and_has_no_empty_points() {
        let stats = counted(&["2026-03-02T14:30:00Z", "2026-03-01T09:00:00Z", "2026-03-02T14:00:00Z"]);

        assert_eq!(points(&stats, Interval::Day, 0), [("2026-03-01".into(), 1), ("2026-03-02".into(), 2)]);
        let expected = [("2026-03-01T09:00:00Z".to_owned(), 1), ("2026-03-02T14:00:00Z".to_owned(), 2)];
        assert_eq!(points(&stats, Interval::Hour, 0), expected);
    }

    #[test]
    fn days_begin_by_local_time_and_hours_stay_those_of_utc() {
        let stats =
            counted(&["2026-02-28T22:30:00Z", "2026-02-28T23:00:00Z", "2026-03-01T09:00:00Z", "2026-03-03T23:00:00Z"]);

        assert_eq!(points(&stats, Interval::Day, 1), [("2026-03-01".into(), 2)], "two are outside of the days");
        let expected = [("2026-02-28T23:00:00Z".to_owned(), 1), ("2026-03-01T09:00:00Z".to_owned(), 1)];
        assert_eq!(points(&stats, Interval::Hour, 1), expected);
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

        let top = stats.whole_life().by(Dimension::Referer, AudienceGroup::All).ranking();

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

        assert_eq!(stats.whole_life().clicks, 4);
        assert_eq!(stats.whole_life().by(Dimension::Referer, AudienceGroup::All), Breakdown::default());
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
        let ranking = |dimension| stats.whole_life().by(dimension, AudienceGroup::All).ranking();
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

        let browsers = stats.whole_life().by(Dimension::Browser, AudienceGroup::All).ranking();

        assert_eq!(browsers.len(), 31);
        assert_eq!(browsers.last(), Some(&("(other)".to_owned(), 20)));
    }

    proptest! {
        /// Whatever order the clicks come in, and whatever has gone into the past in between.
        #[test]
        fn nothing_is_lost_between_hours_days_past_and_total(
            clicks in prop::collection::vec((0_i64..60 * 86_400, 0_u64..40, 0_usize..3), 0..400),
            rolled_up in prop::collection::btree_map(0_usize..400, 0_i64..60, 0..3),
        ) {
            let clients =
                [client(Device::Desktop, "Firefox"), client(Device::Bot, "Googlebot"), client(Device::Mobile, "Safari")];
            let mut stats = LinkStats::default();
            for (position, (second, number, kind)) in clicks.iter().enumerate() {
                let until = rolled_up.get(&position).map(|day| Timestamp::from_unix_seconds(day * 86_400).unwrap().day());
                if let Some(until) = until.filter(|until| stats.past.as_ref().is_none_or(|past| past.until < *until)) {
                    roll_up(&mut stats, until);
                }
                let visitor = person(*number).with_headers(None, Some(&format!("https://{}.example/", number % 10)));
                count(&mut stats, Timestamp::from_unix_seconds(*second).unwrap(), &visitor, &clients[*kind]);
            }

            let total = clicks.len() as u64;
            let life = stats.whole_life();
            prop_assert_eq!(stats.days.values().map(|day| day.profile.clicks).sum::<u64>(), total);
            let mut hours = ClickCount::default();
            stats.days.values().flat_map(|day| day.hours).for_each(|hour| hours += hour);
            prop_assert_eq!(hours, ClickCount { clicks: total, human_clicks: life.human_clicks });
            prop_assert_eq!(life.clicks, total);
            let latest = clicks.iter().map(|(second, ..)| Timestamp::from_unix_seconds(*second).unwrap()).max();
            prop_assert_eq!(stats.summary(at("2026-03-02T14:00:00Z")).last_click_at, latest);
            prop_assert_eq!(life.by(Dimension::Device, AudienceGroup::All).total(), total);
            let mut all_days = Profile::default();
            stats.days.values().for_each(|day| all_days.merge(&day.profile));
            prop_assert_eq!(life.visitors.estimate(), all_days.visitors.estimate());
            all_days.visitors = life.visitors.clone();
            prop_assert_eq!(life, all_days);
        }
    }
}
