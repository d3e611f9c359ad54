//! Click statistics: folding clicks in, and reading windows and timelines out.
//!
//! Everything is a pure function of the clicks. The store reads a [`LinkStats`], folds a batch into it and writes it back
//! on the condition that nobody else has; so the arithmetic here is the whole of the counting.
//!
//! Who clicked is kept per day. What a link has seen over its whole life is the sum of its days, and most of that sum is
//! kept as well, in the past: the days before [`Totals::past_until`]. The later days are added when somebody asks. So a
//! click changes its day and a few numbers, however much its link has seen.

mod breakdown;
mod read;
mod visitors;

use std::{collections::BTreeMap, time::Duration};

pub use self::{
    breakdown::Breakdown,
    read::{Interval, Point, Ranking, Summary, timeline},
    visitors::UniqueVisitors,
};
use crate::{Audience, Client, Day, Device, Timestamp, Visitor};

/// A click with all that is counted about it.
#[derive(Debug, Clone, Copy)]
pub struct CountedClick<'a> {
    /// When it happened.
    pub clicked_at: Timestamp,
    /// What the request told.
    pub visitor: &'a Visitor,
    /// What the user agent says.
    pub client: &'a Client,
}

/// The statistics of one link: its totals, and the parts that matter to whoever loaded them.
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
    /// Those of people.
    pub human_clicks: u64,
    /// The latest click.
    pub last_click_at: Option<Timestamp>,
    /// The first day that isn't in the past; `None` before the first click.
    pub past_until: Option<Day>,
    /// The clicks that aren't in the past.
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
    /// Those of people.
    pub human_clicks: u64,
    /// By kind of device.
    pub devices: BTreeMap<Device, u64>,
    /// By page that they came from, if they said so.
    pub referers: Source,
    /// By country, or `unknown`.
    pub countries: Place,
    /// By browser or program.
    pub browsers: Tool,
    /// By operating system.
    pub operating_systems: Tool,
    /// The different people among them.
    pub visitors: UniqueVisitors,
}

/// Referrers; the five most frequent are shown.
pub type Source = Breakdown<30>;
/// Countries; the world has about 250.
pub type Place = Breakdown<250>;
/// Browsers or operating systems.
pub type Tool = Breakdown<30>;

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
    pub fn count(&mut self, click: &CountedClick<'_>) {
        let is_human = Audience::of(click.visitor, click.client) == Audience::Human;
        let day = click.clicked_at.day();
        self.totals.total_clicks += 1;
        self.totals.human_clicks += u64::from(is_human);
        self.totals.last_click_at = self.totals.last_click_at.max(Some(click.clicked_at));
        if day < *self.totals.past_until.get_or_insert(day) {
            self.past.get_or_insert_default().count(click);
        } else {
            self.totals.recent_clicks += 1;
        }
        let stats = self.days.entry(day).or_default();
        stats.hours[usize::from(click.clicked_at.hour())] += 1;
        stats.profile.count(click);
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
    /// Days stay out of the past for so long, unless there are many clicks.
    const SETTLED_AFTER: Duration = Duration::from_secs(28 * 86_400);
    /// With so many clicks they go there when the next day begins.
    const MANY: u64 = 100;

    /// Whether, before clicks of this day are counted, the days before it should move into the past. Moving costs one more
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
    fn count(&mut self, click: &CountedClick<'_>) {
        let CountedClick { visitor, client, .. } = click;
        self.clicks += 1;
        if Audience::of(visitor, client) == Audience::Human {
            self.human_clicks += 1;
            self.visitors.add(&visitor.ip_hash);
        }
        *self.devices.entry(client.device).or_default() += 1;
        // Nothing may be left of a referrer such as `?x`, and DynamoDB has no empty names.
        if let Some(page) = visitor.referer.as_deref().map(referer_key).filter(|page| !page.is_empty()) {
            self.referers.count(page);
        }
        self.countries.count(visitor.country.as_ref().map_or("unknown", |country| country.as_str()));
        self.browsers.count(&client.browser);
        self.operating_systems.count(&client.os);
    }

    /// Adds everything that another profile has counted.
    pub fn merge(&mut self, counted: &Self) {
        self.clicks += counted.clicks;
        self.human_clicks += counted.human_clicks;
        for (device, count) in &counted.devices {
            *self.devices.entry(*device).or_default() += count;
        }
        self.referers.merge(&counted.referers);
        self.countries.merge(&counted.countries);
        self.browsers.merge(&counted.browsers);
        self.operating_systems.merge(&counted.operating_systems);
        self.visitors.merge(&counted.visitors);
    }
}

/// A referrer without query and fragment, which tell pages apart less than people, cut to 100 bytes.
fn referer_key(referer: &str) -> &str {
    const MAX_BYTES: usize = 100;
    let page = referer.split(['?', '#']).next().unwrap_or_default();
    &page[..page.floor_char_boundary(MAX_BYTES)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{CountryCode, IpHash, Salt};

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
        stats.count(&CountedClick { clicked_at, visitor, client });
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
            let visitor = person(1).with_headers(None, Some(referer));
            count(&mut stats, at("2026-03-02T14:30:00Z"), &visitor, &client(Device::Desktop, "Firefox"));
        }

        assert_eq!(stats.totals.total_clicks, 4);
        assert_eq!(stats.whole_life().referers, Breakdown::default());
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
        assert_eq!(summary.devices, [(Device::Mobile, 3), (Device::Bot, 1)]);
        assert_eq!(summary.browsers, [("Firefox".into(), 3), ("Googlebot".into(), 1)]);
        assert_eq!(summary.operating_systems, [("Linux".into(), 4)]);
        assert_eq!(summary.countries, [("DE".into(), 2), ("unknown".into(), 2)]);
    }

    #[test]
    fn values_without_a_place_of_their_own_are_shown_together() {
        let mut stats = LinkStats::default();
        for number in 0..50 {
            let client = client(Device::Desktop, &format!("Browser {number:02}"));
            count(&mut stats, at("2026-03-02T14:30:00Z"), &person(1), &client);
        }

        let browsers = stats.summary(at("2026-03-02T15:00:00Z")).browsers;

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
            prop_assert_eq!(life.devices.values().sum::<u64>(), total);
            let mut all_days = Profile::default();
            stats.days.values().for_each(|day| all_days.merge(&day.profile));
            prop_assert_eq!(life.visitors.estimate(), all_days.visitors.estimate());
            all_days.visitors = life.visitors.clone();
            prop_assert_eq!(life, all_days);
        }
    }
}
