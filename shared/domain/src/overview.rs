//! What happens in a workspace, at a glance: its links by status and tag, the clicks of two months, the links that are followed
//! most, and what is down.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap, HashSet},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{ClickCount, Day, LinkId, LinkStatus, LinkSummary, TargetId, TargetUrl, Timestamp, Totals};

/// A workspace at a glance, as it was when it was added up. Days are UTC's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overview {
    /// When it was added up.
    pub as_of: Timestamp,
    /// How many links there are.
    pub links: LinkCounts,
    /// The tags that most links have, in the order of their number and then of the alphabet: at most [`Self::MAX_TAGS`].
    pub tags: Vec<TagCount>,
    /// How many tags there are.
    pub tags_total: u64,
    /// The days with clicks among the last [`Self::DAYS`].
    pub days: BTreeMap<Day, ClickCount>,
    /// The links that were followed most in the last seven days, with what they had then, and without deleted and
    /// archived ones: at most [`Self::MAX_TOP`].
    pub top: Vec<TopLink>,
    /// The monitored URLs that are down, those that went down last first: at most [`Self::MAX_DOWN`].
    pub down: Vec<DownTarget>,
    /// What there was too much of to be read completely.
    pub incomplete: Vec<OverviewPart>,
}

/// Links by status, without those that are archived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LinkCounts {
    /// Links that redirect.
    pub active: u64,
    /// Links that are switched off.
    pub inactive: u64,
    /// Links that don't redirect yet.
    pub scheduled: u64,
    /// Links that were used as often as they may be.
    pub exhausted: u64,
    /// Links that have expired and are still listed.
    pub expired: u64,
    /// Links that were deleted and keep their statistics.
    pub deleted: u64,
    /// Links that are archived, whatever their status.
    pub archived: u64,
}

/// A tag, and how many links have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagCount {
    /// The tag as the newest of the links has it.
    pub tag: String,
    /// The links that are neither deleted nor archived.
    pub links: u64,
}

/// A link that is followed much.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopLink {
    /// The link.
    pub id: LinkId,
    /// What it had in the last seven days.
    pub count: ClickCount,
}

/// A monitored URL that is down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DownTarget {
    /// The target's id.
    pub id: TargetId,
    /// The URL as it was first given.
    pub url: TargetUrl,
    /// Since when.
    pub since: Timestamp,
}

/// What an overview may have too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverviewPart {
    /// Links, and so tags.
    Links,
    /// The links that have clicks.
    Clicks,
    /// Monitored URLs.
    Down,
}

/// The clicks of some days up to the day of an overview, and of as many days before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Period {
    /// All clicks.
    pub clicks: u64,
    /// The clicks of people.
    pub people: u64,
    /// All clicks in the days before.
    pub clicks_before: u64,
    /// The clicks of people in the days before.
    pub people_before: u64,
}

impl LinkCounts {
    /// All links that aren't archived.
    #[must_use]
    pub fn total(self) -> u64 {
        self.active + self.inactive + self.scheduled + self.exhausted + self.expired + self.deleted
    }

    fn count(&mut self, status: LinkStatus) {
        match status {
            LinkStatus::Active => self.active += 1,
            LinkStatus::Inactive => self.inactive += 1,
            LinkStatus::Scheduled => self.scheduled += 1,
            LinkStatus::Exhausted => self.exhausted += 1,
            LinkStatus::Expired => self.expired += 1,
            LinkStatus::Deleted => self.deleted += 1,
            // Only a tombstone is left of it.
            LinkStatus::Purged => {}
        }
    }
}

impl Overview {
    /// How many days there are: twice as many as the longest period.
    pub const DAYS: u64 = 60;
    /// How many tags there are at most, so that what is kept stays small.
    pub const MAX_TAGS: usize = 500;
    /// How many links are said to be followed most.
    pub const MAX_TOP: usize = 10;
    /// How many monitored URLs are down at most, so that what is kept stays small.
    pub const MAX_DOWN: usize = 20;

    /// Until when nobody makes a new one. For many links that takes longer, so that a workspace costs the same for each minute
    /// in which somebody looks at its overview, however large it is.
    #[must_use]
    pub fn fresh_until(&self) -> Timestamp {
        const LINKS_OF_A_MINUTE: u64 = 1_000;
        const LONGEST: u64 = 15;
        let minutes = (self.links.total() + self.links.archived).div_ceil(LINKS_OF_A_MINUTE).clamp(1, LONGEST);
        self.as_of.plus(Duration::from_secs(minutes * 60))
    }

    /// All days, oldest first, those without clicks as well. The last one is the day of the overview.
    pub fn series(&self) -> impl Iterator<Item = (Day, ClickCount)> {
        (0..Self::DAYS).rev().map(|ago| {
            let day = days_before(self.as_of, ago);
            (day, self.days.get(&day).copied().unwrap_or_default())
        })
    }

    /// The last so many days, of which the day of the overview is one.
    #[must_use]
    pub fn last_days(&self, days: u64) -> Period {
        let sum = |ago: std::ops::Range<u64>| {
            let mut sum = ClickCount::default();
            ago.filter_map(|ago| self.days.get(&days_before(self.as_of, ago))).for_each(|count| sum += *count);
            sum
        };
        let (now, before) = (sum(0..days), sum(days..2 * days));
        Period { clicks: now.clicks, people: now.people, clicks_before: before.clicks, people_before: before.people }
    }
}

fn days_before(time: Timestamp, days: u64) -> Day {
    time.minus(Duration::from_secs(days * 86_400)).day()
}

/// Adds up an overview.
#[derive(Debug)]
pub struct Tally {
    as_of: Timestamp,
    links: LinkCounts,
    /// The links that are neither deleted nor archived.
    there: HashSet<LinkId>,
    /// The links of each tag, by what is the same in all of its spellings.
    tags: HashMap<String, TagCount>,
    days: BTreeMap<Day, ClickCount>,
    followed: Vec<TopLink>,
    down: Vec<DownTarget>,
    incomplete: Vec<OverviewPart>,
}

impl Tally {
    /// The days in which links compete for being followed most.
    const TOP_DAYS: u64 = 7;

    /// An overview of nothing yet.
    #[must_use]
    pub fn new(as_of: Timestamp) -> Self {
        Self {
            as_of,
            links: LinkCounts::default(),
            there: HashSet::new(),
            tags: HashMap::new(),
            days: BTreeMap::new(),
            followed: Vec::new(),
            down: Vec::new(),
            incomplete: Vec::new(),
        }
    }

    /// Adds a link. The newest comes first, since tags are spelled as it has them.
    pub fn link(&mut self, link: &LinkSummary) {
        if link.archived {
            self.links.archived += 1;
            return;
        }
        let status = link.availability.status(self.as_of);
        self.links.count(status);
        if status == LinkStatus::Deleted {
            return;
        }
        self.there.insert(link.id.clone());
        for (key, tag) in link.tags.compared() {
            self.tags.entry(key).or_insert_with(|| TagCount { tag: tag.to_owned(), links: 0 }).links += 1;
        }
    }

    /// Adds the clicks of a link.
    pub fn clicks(&mut self, link: &LinkId, totals: &Totals) {
        let (first, first_of_top) = (days_before(self.as_of, Overview::DAYS - 1), self.first_of_top());
        let mut lately = ClickCount::default();
        // A click may bear a later day, if the clock of another machine is ahead.
        for (day, count) in totals.days().filter(|(day, _)| (first..=self.as_of.day()).contains(day)) {
            *self.days.entry(day).or_default() += count;
            if day >= first_of_top {
                lately += count;
            }
        }
        if lately.clicks > 0 {
            self.followed.push(TopLink { id: link.clone(), count: lately });
        }
    }

    /// Adds a monitored URL that is down.
    pub fn down(&mut self, target: DownTarget) {
        self.down.push(target);
    }

    /// Notes that there is more than could be read.
    pub fn lacks(&mut self, part: OverviewPart) {
        self.incomplete.push(part);
    }

    /// The overview of all that was added.
    #[must_use]
    pub fn finish(self) -> Overview {
        let Self { as_of, links, there, tags, mut days, mut followed, mut down, mut incomplete } = self;
        days.retain(|_, count| count.clicks > 0);
        let mut tags: Vec<_> = tags.into_values().collect();
        tags.sort_unstable_by(|a, b| b.links.cmp(&a.links).then_with(|| a.tag.cmp(&b.tag)));
        let tags_total = tags.len() as u64;
        tags.truncate(Overview::MAX_TAGS);
        if !incomplete.contains(&OverviewPart::Links) {
            followed.retain(|link| there.contains(&link.id));
        }
        followed.sort_unstable_by(|a, b| {
            let counts = |link: &TopLink| Reverse((link.count.clicks, link.count.people));
            counts(a).cmp(&counts(b)).then_with(|| a.id.cmp(&b.id))
        });
        followed.truncate(Overview::MAX_TOP);
        down.sort_unstable_by(|a, b| b.since.cmp(&a.since).then_with(|| a.id.cmp(&b.id)));
        if down.len() > Overview::MAX_DOWN && !incomplete.contains(&OverviewPart::Down) {
            incomplete.push(OverviewPart::Down);
        }
        down.truncate(Overview::MAX_DOWN);
        Overview { as_of, links, tags, tags_total, days, top: followed, down, incomplete }
    }

    fn first_of_top(&self) -> Day {
        days_before(self.as_of, Self::TOP_DAYS - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Availability, DaySlice, Generation, LinkState, ShortCode, Tags, UserId};

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn id(code: &str) -> LinkId {
        LinkId { code: ShortCode::parse(code).unwrap(), generation: Generation::parse("000000").unwrap() }
    }

    fn now() -> Timestamp {
        at("2026-03-02T14:05:09Z")
    }

    fn link(tags: &[&str], state: LinkState) -> LinkSummary {
        LinkSummary {
            id: id("launch"),
            owner: UserId::generate(),
            created_at: at("2026-03-01T00:00:00Z"),
            availability: Availability { state, ..Availability::default() },
            tags: Tags::try_from(tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>()).unwrap(),
            archived: false,
        }
    }

    fn totals(days: &[(&str, u64, u64)]) -> Totals {
        let count = |(day, clicks, people): &(&str, u64, u64)| {
            (DaySlice::parse(day).unwrap(), ClickCount { clicks: *clicks, people: *people })
        };
        Totals { open: days.iter().map(count).collect(), ..Totals::default() }
    }

    #[test]
    fn links_are_counted_by_status_and_tag() {
        let mut tally = Tally::new(now());
        tally.link(&link(&["Launch", "mail"], LinkState::Active));
        tally.link(&link(&["launch"], LinkState::Inactive));
        tally.link(&link(&["mail", "launch"], LinkState::Deleted(now())));
        let expired = Availability { expires_at: Some(now()), ..Availability::default() };
        tally.link(&LinkSummary { availability: expired, ..link(&["art"], LinkState::Active) });
        tally.link(&LinkSummary { archived: true, ..link(&["old", "art"], LinkState::Active) });

        let overview = tally.finish();

        assert_eq!(
            overview.links,
            LinkCounts { active: 1, inactive: 1, expired: 1, deleted: 1, archived: 1, ..LinkCounts::default() }
        );
        assert_eq!(overview.links.total(), 4);
        let tags: Vec<_> = overview.tags.iter().map(|tag| (tag.tag.as_str(), tag.links)).collect();
        assert_eq!((tags, overview.tags_total), (vec![("Launch", 2), ("art", 1), ("mail", 1)], 3));
    }

    #[test]
    fn a_period_is_compared_with_as_many_days_before() {
        let mut tally = Tally::new(now());
        tally.clicks(&id("first"), &totals(&[("2026-03-02", 5, 4), ("2026-03-01", 3, 2), ("2026-02-24", 2, 1)]));
        tally.clicks(
            &id("second"),
            &totals(&[("2026-03-02", 1, 1), ("2026-02-23", 8, 7), ("2026-01-02", 9, 9), ("2026-01-01", 5, 5)]),
        );

        let overview = tally.finish();

        let period =
            |clicks, people, clicks_before, people_before| Period { clicks, people, clicks_before, people_before };
        assert_eq!(overview.last_days(1), period(6, 5, 3, 2));
        assert_eq!(overview.last_days(7), period(11, 8, 8, 7));
        assert_eq!(overview.last_days(30), period(19, 15, 9, 9));
    }

    #[test]
    fn a_series_has_sixty_days_and_ends_with_today() {
        let mut tally = Tally::new(now());
        tally.clicks(&id("first"), &totals(&[("2026-01-02", 1, 1), ("2026-01-01", 9, 9), ("2026-03-03", 9, 9)]));

        let series: Vec<_> = tally.finish().series().collect();

        let clicks: u64 = series.iter().map(|(_, count)| count.clicks).sum();
        assert_eq!((series.len(), clicks), (60, 1));
        assert_eq!((series[0].0.to_string(), series[59].0.to_string()), ("2026-01-02".into(), "2026-03-02".into()));
    }

    #[test]
    fn the_top_links_are_those_of_the_last_seven_days() {
        let mut tally = Tally::new(now());
        for code in ["long", "few1", "many", "few2"] {
            tally.link(&LinkSummary { id: id(code), ..link(&[], LinkState::Active) });
        }
        tally.link(&LinkSummary { id: id("gone"), ..link(&[], LinkState::Deleted(now())) });
        tally.link(&LinkSummary { id: id("away"), archived: true, ..link(&[], LinkState::Active) });
        tally.clicks(&id("away"), &totals(&[("2026-03-02", 50, 50)]));
        tally.clicks(&id("gone"), &totals(&[("2026-03-02", 50, 50)]));
        tally.clicks(&id("purged"), &totals(&[("2026-03-02", 50, 50)]));
        tally.clicks(&id("long"), &totals(&[("2026-02-23", 100, 100)]));
        tally.clicks(&id("few1"), &totals(&[("2026-03-01", 2, 1), ("2026-02-24", 1, 0)]));
        tally.clicks(&id("many"), &totals(&[("2026-03-02", 9, 0)]));
        tally.clicks(&id("few2"), &totals(&[("2026-03-02", 3, 2)]));

        let top: Vec<_> = tally.finish().top.iter().map(|top| (top.id.code.to_string(), top.count.clicks)).collect();

        assert_eq!(top, [("many".into(), 9), ("few2".into(), 3), ("few1".into(), 3)]);
    }

    #[test]
    fn what_is_down_for_the_shortest_time_comes_first_and_too_much_is_said_to_be() {
        let url = TargetUrl::parse("https://example.com/").unwrap();
        let down = |number: u64| DownTarget {
            id: TargetId::of_url(&crate::WorkspaceId::generate(), &url).unwrap(),
            url: url.clone(),
            since: now().minus(Duration::from_secs(number)),
        };
        let mut tally = Tally::new(now());
        (0..21).rev().for_each(|number| tally.down(down(number)));

        let overview = tally.finish();

        assert_eq!((overview.down.len(), overview.down[0].since), (Overview::MAX_DOWN, now()));
        assert_eq!(overview.incomplete, [OverviewPart::Down]);
    }

    #[test]
    fn a_large_workspace_gets_a_new_overview_less_often() {
        let fresh_for = |(active, archived)| {
            let mut tally = Tally::new(now());
            tally.links = LinkCounts { active, archived, ..LinkCounts::default() };
            now().until(tally.finish().fresh_until()).as_secs() / 60
        };

        let counts = [(0, 0), (1, 0), (1_000, 0), (1_000, 1), (1, 9_999), (1_000_000, 0)];
        assert_eq!(counts.map(fresh_for), [1, 1, 1, 2, 10, 15]);
    }
}
