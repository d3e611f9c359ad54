//! Adds up what is known of the links of a workspace.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;
use std::time::Duration;

use super::{
    CoveredLinks, DownTarget, LinkCounts, Overview, OverviewBreakdowns, OverviewPart, OverviewQuestion, OverviewTime,
    Tag, TagCount, TopLink,
};
use crate::{ClickCount, Day, DayStats, Dimension, LinkId, LinkStatus, LinkSummary, Profile, Timestamp, Totals};

/// Adds up what a question is about: first the links, if it asks for a tag, and then their clicks.
#[derive(Debug)]
pub struct Tally {
    as_of: Timestamp,
    question: OverviewQuestion,
    /// The days that those of the question are compared with, if not with as many before.
    before: Option<RangeInclusive<Day>>,
    links: LinkCounts,
    /// All links of the workspace, whether the question is about them or not.
    of_workspace: u64,
    /// The tag that the question asks for, as the newest link has it, and the links that have it.
    tagged: Option<(Tag, HashSet<LinkId>)>,
    /// The links that are neither deleted nor archived.
    there: HashSet<LinkId>,
    /// The links of each tag, by what is the same in all of its spellings.
    tags: HashMap<String, TagCount>,
    /// What is the same in all spellings of the tags of each link that has some.
    tags_of: HashMap<LinkId, Vec<String>>,
    /// All clicks of each link, which may be known before its tags.
    clicks_of: HashMap<LinkId, u64>,
    days: BTreeMap<Day, ClickCount>,
    /// The clicks of the days that the question is about, if these had to be read.
    read: Option<(BTreeMap<Day, ClickCount>, Profile)>,
    covers: Option<CoveredLinks>,
    /// The links that have clicks in the time that the question is about, as far as it is known.
    followed: Vec<TopLink>,
    /// What decides whose days are read.
    weights: Vec<(LinkId, u64)>,
    down: Vec<DownTarget>,
    incomplete: Vec<OverviewPart>,
}

/// The links whose days are worth reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// The links with their clicks, those with most first: the clicks in the time that the question is about if that is known,
    /// or else all of their clicks.
    pub links: Vec<(LinkId, u64)>,
    /// The clicks of all of them.
    pub clicks: u64,
}

impl Tally {
    /// The days in which links compete for being followed most, if the question is about no others.
    const TOP_DAYS: u64 = 7;

    /// What a question is about, of which nothing is known yet.
    pub fn new(question: OverviewQuestion, as_of: Timestamp) -> Self {
        Self {
            as_of,
            question,
            before: None,
            links: LinkCounts::default(),
            of_workspace: 0,
            tagged: None,
            there: HashSet::new(),
            tags: HashMap::new(),
            tags_of: HashMap::new(),
            clicks_of: HashMap::new(),
            days: BTreeMap::new(),
            read: None,
            covers: None,
            followed: Vec::new(),
            weights: Vec::new(),
            down: Vec::new(),
            incomplete: Vec::new(),
        }
    }

    /// Compares the days that the question is about with these, which may lie three days further back than what an overview shows:
    /// [so far](Totals::HISTORY) the totals of links know each day. So a month is compared with the whole month before.
    #[must_use]
    pub fn against(self, before: RangeInclusive<Day>) -> Self {
        Self { before: Some(before), ..self }
    }

    /// Adds a link of the workspace. The newest comes first, since tags are spelled as it has them.
    pub fn link(&mut self, link: &LinkSummary) {
        self.of_workspace += 1;
        if !self.takes(link) {
            return;
        }
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
        if self.question.is_plain() {
            for (key, tag) in link.tags.compared() {
                let none = || TagCount { tag: tag.to_owned(), links: 0, clicks: 0 };
                self.tags.entry(key.clone()).or_insert_with(none).links += 1;
                self.tags_of.entry(link.id.clone()).or_default().push(key);
            }
        }
    }

    /// Whether the question is about a link, which is noted then.
    fn takes(&mut self, link: &LinkSummary) -> bool {
        if self.question.tag.is_none() {
            return true;
        }
        let Some(spelling) = self.question.spelling(link) else { return false };
        self.tagged.get_or_insert_with(|| (spelling, HashSet::new())).1.insert(link.id.clone());
        true
    }

    /// Whether the question is about a link. If it asks for a tag, all links have to be added before.
    pub fn is_about(&self, link: &LinkId) -> bool {
        self.question.tag.is_none() || self.tagged.as_ref().is_some_and(|(_, links)| links.contains(link))
    }

    /// Adds the clicks of a link of the workspace.
    pub fn clicks(&mut self, link: &LinkId, totals: &Totals) {
        if !self.is_about(link) {
            return;
        }
        let (recent, top_days) = (self.recent_days(), self.top_days());
        let mut lately = ClickCount::default();
        // A click may bear a later day, if the clock of another machine is ahead.
        for (day, count) in totals.days().filter(|(day, _)| recent.contains(day)) {
            *self.days.entry(day).or_default() += count;
            if top_days.contains(&day) {
                lately += count;
            }
        }
        if self.question.is_plain() {
            self.clicks_of.insert(link.clone(), totals.total_clicks());
        }
        let is_known = self.question.is_recent(self.as_of);
        if self.question.days.is_some() {
            let weight = if is_known { lately.clicks } else { totals.total_clicks() };
            self.weights.extend((weight > 0).then(|| (link.clone(), weight)));
        }
        if is_known && lately.clicks > 0 {
            self.followed.push(TopLink { id: link.clone(), count: lately });
        }
    }

    /// The links whose days tell more than what was added so far.
    pub fn followed(&self) -> Followed {
        let mut links = self.weights.clone();
        links.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Followed { clicks: links.iter().map(|(_, clicks)| clicks).sum(), links }
    }

    /// Adds the days of a link that the question is about.
    pub fn days(&mut self, link: &LinkId, days: &BTreeMap<Day, DayStats>) {
        let mut all = ClickCount::default();
        let (read, profile) = self.read.get_or_insert_default();
        for (day, stats) in days {
            let count = ClickCount::from(stats);
            *read.entry(*day).or_default() += count;
            all += count;
            profile.merge(&stats.profile);
        }
        if all.clicks > 0 && !self.question.is_recent(self.as_of) {
            self.followed.push(TopLink { id: link.clone(), count: all });
        }
    }

    /// Notes that only the days of links with so many clicks were added.
    pub fn covers(&mut self, covers: CoveredLinks) {
        self.covers = Some(covers);
    }

    /// Adds a monitored URL that is down.
    pub fn down(&mut self, target: DownTarget) {
        self.down.push(target);
    }

    /// Notes that there is more than could be read.
    pub fn lacks(&mut self, part: OverviewPart) {
        if !self.incomplete.contains(&part) {
            self.incomplete.push(part);
        }
    }

    /// The overview of all that was added.
    pub fn finish(mut self) -> Overview {
        self.days.retain(|_, count| count.clicks > 0);
        let (fresh_until, time) = (self.fresh_until(), self.time());
        self.add_clicks_of_tags();
        let Self { as_of, links, tagged, there, tags, days, mut followed, mut down, mut incomplete, .. } = self;
        let mut tags: Vec<_> = tags.into_values().collect();
        tags.sort_unstable_by(|a, b| b.links.cmp(&a.links).then_with(|| a.tag.cmp(&b.tag)));
        let tags_total = tags.len() as u64;
        tags.truncate(Overview::MAX_TAGS);
        if !incomplete.contains(&OverviewPart::Links) {
            followed.retain(|link| there.contains(&link.id));
        }
        followed.sort_unstable_by(|a, b| {
            let counts = |link: &TopLink| Reverse((link.count.clicks, link.count.human_clicks));
            counts(a).cmp(&counts(b)).then_with(|| a.id.cmp(&b.id))
        });
        followed.truncate(Overview::MAX_TOP);
        down.sort_unstable_by(|a, b| b.since.cmp(&a.since).then_with(|| a.id.cmp(&b.id)));
        if down.len() > Overview::MAX_DOWN && !incomplete.contains(&OverviewPart::Down) {
            incomplete.push(OverviewPart::Down);
        }
        down.truncate(Overview::MAX_DOWN);
        let tag = tagged.map(|(tag, _)| tag);
        Overview { as_of, fresh_until, tag, links, tags, tags_total, days, time, top: followed, down, incomplete }
    }

    fn add_clicks_of_tags(&mut self) {
        for (link, keys) in &self.tags_of {
            let clicks = self.clicks_of.get(link).copied().unwrap_or_default();
            for key in keys {
                self.tags.entry(key.clone()).and_modify(|tag| tag.clicks += clicks);
            }
        }
    }

    /// The breakdowns of all days that were added.
    pub fn finish_breakdowns(self) -> OverviewBreakdowns {
        let (fresh_until, days) =
            (self.fresh_until(), self.question.days.clone().unwrap_or_else(|| self.recent_days()));
        let Profile { clicks, human_clicks, people, machines, .. } =
            self.read.map(|(_, profile)| profile).unwrap_or_default();
        Self::of_many(OverviewBreakdowns {
            as_of: self.as_of,
            fresh_until,
            tag: self.tagged.map(|(tag, _)| tag),
            first: *days.start(),
            last: *days.end(),
            count: ClickCount { clicks, human_clicks },
            people,
            machines,
            covers: self.covers,
            incomplete: self.incomplete,
        })
    }

    /// These breakdowns without what only the clicks of one link have in common.
    fn of_many(mut breakdowns: OverviewBreakdowns) -> OverviewBreakdowns {
        let is_shown = |dimension: &Dimension| OverviewBreakdowns::DIMENSIONS.contains(dimension);
        breakdowns.people.retain(|dimension, _| is_shown(dimension));
        breakdowns.machines.retain(|dimension, _| is_shown(dimension));
        breakdowns
    }

    /// Until when nobody makes a new one. For many links that takes longer, so that a workspace costs the same for each minute
    /// in which somebody looks at its overview, however large it is.
    fn fresh_until(&self) -> Timestamp {
        const LINKS_OF_A_MINUTE: u64 = 1_000;
        const LONGEST: u64 = 15;
        let minutes = self.of_workspace.div_ceil(LINKS_OF_A_MINUTE).clamp(1, LONGEST);
        self.as_of.plus(Duration::from_secs(minutes * 60))
    }

    /// The time that the question is about.
    fn time(&self) -> Option<OverviewTime> {
        let days = self.question.days.clone()?;
        let (first, last) = (*days.start(), *days.end());
        let common = OverviewTime { first, last, days: BTreeMap::new(), before: None, covers: self.covers };
        if !self.question.is_recent(self.as_of) {
            let read = self.read.as_ref().map(|(days, _)| days.clone()).unwrap_or_default();
            return Some(OverviewTime { days: read, ..common });
        }
        let count = first.start().until(last.start()).as_secs() / 86_400 + 1;
        let compared = self.before.clone().unwrap_or_else(|| first.minus(count)..=first.minus(1));
        let is_known = compared.start() >= self.recent_days().start();
        let mut before = ClickCount::default();
        self.days.range(compared).for_each(|(_, count)| before += *count);
        let days = self.days.range(days).map(|(day, count)| (*day, *count)).collect();
        Some(OverviewTime { days, before: is_known.then_some(before), ..common })
    }

    /// The days that the totals of all links know one by one.
    fn recent_days(&self) -> RangeInclusive<Day> {
        let first = self.as_of.day().minus(Overview::DAYS - 1);
        self.before.as_ref().map_or(first, |before| first.min(*before.start()))..=self.as_of.day()
    }

    /// The days in which links compete for being followed most.
    fn top_days(&self) -> RangeInclusive<Day> {
        let asked = self.question.days.clone().filter(|_| self.question.is_recent(self.as_of));
        asked.unwrap_or_else(|| self.as_of.day().minus(Self::TOP_DAYS - 1)..=self.as_of.day())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Availability, Client, DaySlice, Device, Generation, IpHash, LinkState, Period, Salt, ShortCode, Tags, TargetId,
        TargetUrl, UserId, Visitor,
    };

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn id(code: &str) -> LinkId {
        LinkId { code: ShortCode::parse(code).unwrap(), generation: Generation::parse("000000").unwrap() }
    }

    fn now() -> Timestamp {
        at("2026-03-02T14:05:09Z")
    }

    fn recent() -> Tally {
        Tally::new(OverviewQuestion::default(), now())
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
            (DaySlice::parse(day).unwrap(), ClickCount { clicks: *clicks, human_clicks: *people })
        };
        Totals { open: days.iter().map(count).collect(), ..Totals::default() }
    }

    #[test]
    fn links_are_counted_by_status_and_tag() {
        let mut tally = recent();
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
    fn a_tags_clicks_are_those_of_its_links_in_any_order() {
        let mut tally = recent();
        tally.clicks(&id("early"), &Totals { past_clicks: 40, ..totals(&[("2026-03-02", 2, 1)]) });
        tally.link(&LinkSummary { id: id("early"), ..link(&["mail"], LinkState::Active) });
        tally.link(&LinkSummary { id: id("late"), ..link(&["Mail", "art"], LinkState::Active) });
        tally.clicks(&id("late"), &totals(&[("2026-03-01", 3, 3)]));
        tally.link(&LinkSummary { id: id("gone"), ..link(&["art"], LinkState::Deleted(now())) });
        tally.clicks(&id("gone"), &totals(&[("2026-03-01", 9, 9)]));

        let overview = tally.finish();

        let tags: Vec<_> = overview.tags.iter().map(|tag| (tag.tag.as_str(), tag.links, tag.clicks)).collect();
        assert_eq!(tags, [("mail", 2, 45), ("art", 1, 3)]);
    }

    #[test]
    fn a_period_is_compared_with_as_many_days_before() {
        let mut tally = recent();
        tally.clicks(&id("first"), &totals(&[("2026-03-02", 5, 4), ("2026-03-01", 3, 2), ("2026-02-24", 2, 1)]));
        tally.clicks(
            &id("second"),
            &totals(&[("2026-03-02", 1, 1), ("2026-02-23", 8, 7), ("2026-01-02", 9, 9), ("2026-01-01", 5, 5)]),
        );

        let overview = tally.finish();

        let period = |total_clicks, human_clicks, total_clicks_before, human_clicks_before| Period {
            total_clicks,
            human_clicks,
            total_clicks_before,
            human_clicks_before,
        };
        assert_eq!(overview.last_days(1), period(6, 5, 3, 2));
        assert_eq!(overview.last_days(7), period(11, 8, 8, 7));
        assert_eq!(overview.last_days(30), period(19, 15, 9, 9));
    }

    #[test]
    fn a_series_has_sixty_days_and_ends_with_today() {
        let mut tally = recent();
        tally.clicks(&id("first"), &totals(&[("2026-01-02", 1, 1), ("2026-01-01", 9, 9), ("2026-03-03", 9, 9)]));

        let series: Vec<_> = tally.finish().series().collect();

        let clicks: u64 = series.iter().map(|(_, count)| count.clicks).sum();
        assert_eq!((series.len(), clicks), (60, 1));
        assert_eq!((series[0].0.to_string(), series[59].0.to_string()), ("2026-01-02".into(), "2026-03-02".into()));
    }

    #[test]
    fn the_top_links_are_those_of_the_last_seven_days() {
        let mut tally = recent();
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
    fn the_latest_down_targets_come_first_and_an_excess_is_reported() {
        let url = TargetUrl::parse("https://example.com/").unwrap();
        let down = |number: u64| DownTarget {
            id: TargetId::of_url(&crate::WorkspaceId::generate(), &url).unwrap(),
            url: url.clone(),
            since: now().minus(Duration::from_secs(number)),
        };
        let mut tally = recent();
        (0..21).rev().for_each(|number| tally.down(down(number)));

        let overview = tally.finish();

        assert_eq!((overview.down.len(), overview.down[0].since), (Overview::MAX_DOWN, now()));
        assert_eq!(overview.incomplete, [OverviewPart::Down]);
    }

    #[test]
    fn a_large_workspace_gets_a_new_overview_less_often() {
        let fresh_for = |of_workspace| {
            let tally = Tally { of_workspace, ..recent() };
            now().until(tally.finish().fresh_until).as_secs() / 60
        };

        assert_eq!([0, 1, 1_000, 1_001, 10_000, 1_000_000].map(fresh_for), [1, 1, 1, 2, 10, 15]);
    }

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    fn about(tag: Option<&str>, days: Option<(&str, &str)>) -> Tally {
        let question = OverviewQuestion {
            tag: tag.map(|tag| Tag::parse(tag).unwrap()),
            days: days.map(|(first, last)| day(first)..=day(last)),
        };
        Tally::new(question, now())
    }

    #[test]
    fn a_tag_narrows_links_and_clicks_but_not_an_overviews_freshness() {
        let mut tally = about(Some("launch"), None);
        tally.link(&LinkSummary { id: id("with1"), ..link(&["Launch", "mail"], LinkState::Active) });
        tally.link(&LinkSummary { id: id("with2"), ..link(&["LAUNCH"], LinkState::Deleted(now())) });
        (0..1_000).for_each(|_| tally.link(&LinkSummary { id: id("without"), ..link(&["mail"], LinkState::Active) }));
        for code in ["with1", "with2", "without", "purged"] {
            tally.clicks(&id(code), &totals(&[("2026-03-02", 5, 4)]));
        }

        let overview = tally.finish();

        assert_eq!(overview.tag, Some(Tag::parse("Launch").unwrap()), "as the newest link has it");
        assert_eq!((overview.links.total(), overview.links.deleted), (2, 1));
        assert_eq!(overview.last_days(1).total_clicks, 10);
        assert_eq!(overview.top.iter().map(|top| top.id.code.to_string()).collect::<Vec<_>>(), ["with1"]);
        assert_eq!(overview.tags, []);
        assert_eq!(overview.fresh_until, now().plus(Duration::from_secs(120)));
    }

    #[test]
    fn totals_answer_recent_periods_and_compare_them_with_those_before_if_known() {
        let of = |first, last| {
            let mut tally = about(None, Some((first, last)));
            tally.link(&LinkSummary { id: id("first"), ..link(&[], LinkState::Active) });
            tally.clicks(&id("first"), &totals(&[("2026-03-02", 5, 4), ("2026-03-01", 3, 2), ("2026-01-02", 9, 9)]));
            let overview = tally.finish();
            let series: Vec<_> = overview.series().map(|(day, count)| (day.to_string(), count.clicks)).collect();
            (series, overview.time.unwrap().before.map(|before| before.clicks), overview.top[0].count.clicks)
        };

        let expected = (vec![("2026-03-02".to_owned(), 5), ("2026-03-03".to_owned(), 0)], Some(3), 5);
        assert_eq!(of("2026-03-02", "2026-03-03"), expected);
        let (series, before, top) = of("2026-02-01", "2026-03-02");
        assert_eq!((series.len(), before, top), (30, Some(9), 8));
        let (series, before, top) = of("2026-01-02", "2026-03-01");
        assert_eq!((series.len(), before, top), (59, None, 12));
    }

    #[test]
    fn an_older_period_comes_from_days_of_the_most_clicked_links() {
        let mut tally = about(None, Some(("2025-12-01", "2026-01-31")));
        for (code, clicks) in [("few", 2), ("many", 90), ("gone", 50)] {
            let state = if code == "gone" { LinkState::Deleted(now()) } else { LinkState::Active };
            tally.link(&LinkSummary { id: id(code), ..link(&[], state) });
            tally.clicks(&id(code), &totals(&[("2026-03-02", clicks, clicks)]));
        }

        let followed = tally.followed();
        let mut stats = DayStats::default();
        let client =
            Client { device: Device::Desktop, browser: "Firefox".into(), version: String::new(), os: "Linux".into() };
        let visitor = Visitor::new(IpHash::of("203.0.113.9", &Salt::parse(&"s".repeat(32)).unwrap()));
        stats.count(at("2025-12-24T18:00:00Z"), &visitor, &client);
        for code in ["many", "gone"] {
            tally.days(&id(code), &BTreeMap::from([(day("2025-12-24"), stats.clone())]));
        }
        tally.covers(CoveredLinks { clicks: 140, of: followed.clicks });
        let overview = tally.finish();

        assert_eq!(followed.links, [(id("many"), 90), (id("gone"), 50), (id("few"), 2)]);
        let time = overview.time.clone().unwrap();
        assert_eq!(time.days, BTreeMap::from([(day("2025-12-24"), ClickCount { clicks: 2, human_clicks: 2 })]));
        assert_eq!((time.before, time.covers), (None, Some(CoveredLinks { clicks: 140, of: 142 })));
        assert_eq!(overview.top, [TopLink { id: id("many"), count: ClickCount { clicks: 1, human_clicks: 1 } }]);
        assert_eq!(overview.series().count(), 62);
    }

    #[test]
    fn breakdowns_are_of_all_days_that_were_added_and_leave_out_destinations() {
        let mut tally = about(None, Some(("2026-03-01", "2026-03-02")));
        let client = |browser: &str| Client {
            device: Device::Desktop,
            browser: browser.into(),
            version: String::new(),
            os: "Linux".into(),
        };
        for (code, browser) in [("first", "Firefox"), ("second", "Chrome"), ("third", "Firefox")] {
            let mut visitor = Visitor::new(IpHash::of(code, &Salt::parse(&"s".repeat(32)).unwrap()));
            visitor.destination = crate::DestinationName::parse("store").ok();
            let mut stats = DayStats::default();
            stats.count(now(), &visitor, &client(browser));
            tally.days(&id(code), &BTreeMap::from([(day("2026-03-02"), stats)]));
        }

        let breakdowns = tally.finish_breakdowns();

        let browsers = breakdowns.by(Dimension::Browser, crate::AudienceGroup::Human).ranking();
        assert_eq!(browsers, [("Firefox".into(), 2), ("Chrome".into(), 1)]);
        assert_eq!(breakdowns.by(Dimension::Destination, crate::AudienceGroup::All).total(), 0);
        assert_eq!(breakdowns.count(crate::AudienceGroup::Automated), ClickCount::default());
    }
}
