//! What happens in a workspace, at a glance: its links by status and tag, the clicks of two months, the links that are followed
//! most, and what is down.

mod question;
mod tally;

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

pub use self::question::{OverviewQuestion, Tag};
pub use self::tally::{Followed, Tally};
use crate::{
    AudienceGroup, Breakdown, Breakdowns, ClickCount, Day, Dimension, LinkId, LinkStatus, TargetId, TargetUrl,
    Timestamp, stats::by,
};

/// A workspace at a glance, or the links with a tag, as they were when they were added up. Days are UTC's.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overview {
    /// When it was added up.
    pub as_of: Timestamp,
    /// Until when nobody makes a new one.
    pub fresh_until: Timestamp,
    /// The tag that it is about, as the newest of its links has it.
    pub tag: Option<Tag>,
    /// How many links there are.
    pub links: LinkCounts,
    /// The tags that most links have, in the order of their number and then of the alphabet: at most [`Self::MAX_TAGS`].
    pub tags: Vec<TagCount>,
    /// How many tags there are.
    pub tags_total: u64,
    /// The days with clicks among the last [`Self::DAYS`].
    pub days: BTreeMap<Day, ClickCount>,
    /// The time that it is about, if it is about one.
    pub time: Option<OverviewTime>,
    /// The links that were followed most in that time, or else in the last seven days, with what they had then, and without
    /// deleted and archived ones: at most [`Self::MAX_TOP`].
    pub top: Vec<TopLink>,
    /// The monitored URLs that are down, those that went down last first: at most [`Self::MAX_DOWN`].
    pub down: Vec<DownTarget>,
    /// What there was too much of to be read completely.
    pub incomplete: Vec<OverviewPart>,
}

/// The clicks of days that somebody has asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverviewTime {
    /// The first day.
    pub first: Day,
    /// The last day.
    pub last: Day,
    /// Those of the days that have clicks.
    pub days: BTreeMap<Day, ClickCount>,
    /// The clicks of as many days before, if the totals of links know these.
    pub before: Option<ClickCount>,
    /// How many clicks these are of, if not of all.
    pub covers: Option<CoveredLinks>,
}

/// Of how many clicks numbers are that aren't of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoveredLinks {
    /// The clicks of the links whose days were added up.
    pub clicks: u64,
    /// The clicks of all links.
    pub of: u64,
}

/// Who followed the links of a workspace in a time. Days are UTC's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverviewBreakdowns {
    /// When it was added up.
    pub as_of: Timestamp,
    /// Until when nobody makes a new one.
    pub fresh_until: Timestamp,
    /// The tag that it is about, as the newest of its links has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<Tag>,
    /// The first day.
    pub first: Day,
    /// The last day.
    pub last: Day,
    /// The clicks that were added up.
    pub count: ClickCount,
    /// The clicks of people.
    pub people: Breakdowns,
    /// The clicks of bots and prefetching browsers.
    pub machines: Breakdowns,
    /// How many clicks these are of, if not of all.
    pub covers: Option<CoveredLinks>,
    /// What there was too much of to be read completely.
    pub incomplete: Vec<OverviewPart>,
}

impl OverviewTime {
    /// The clicks of all its days.
    pub fn count(&self) -> ClickCount {
        let mut count = ClickCount::default();
        self.days.values().for_each(|day| count += *day);
        count
    }
}

impl OverviewBreakdowns {
    /// The properties by which the clicks of several links are broken down: all but the places that one link leads to.
    pub const DIMENSIONS: [Dimension; 7] = [
        Dimension::Device,
        Dimension::Referer,
        Dimension::Country,
        Dimension::Browser,
        Dimension::OperatingSystem,
        Dimension::Source,
        Dimension::Campaign,
    ];

    /// How many of the clicks are of a group.
    pub fn count(&self, group: AudienceGroup) -> ClickCount {
        self.count.of(group)
    }

    /// The clicks of a group by one dimension.
    pub fn by(&self, dimension: Dimension, group: AudienceGroup) -> Breakdown {
        by(dimension, group, &self.people, &self.machines)
    }
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
    /// Links that lead nowhere until what suspends them is over. Overviews that were kept before there were any have none.
    #[serde(default)]
    pub suspended: u64,
    /// Links that were deleted and keep their statistics.
    pub deleted: u64,
    /// Links that are archived, whatever their status.
    pub archived: u64,
}

/// A tag, how many links have it, and how often these were followed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagCount {
    /// The tag as the newest of the links has it.
    pub tag: String,
    /// The links that are neither deleted nor archived.
    pub links: u64,
    /// All clicks of these links.
    pub clicks: u64,
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
    pub total_clicks: u64,
    /// The clicks of people.
    pub human_clicks: u64,
    /// All clicks in the days before.
    pub total_clicks_before: u64,
    /// The clicks of people in the days before.
    pub human_clicks_before: u64,
}

impl LinkCounts {
    /// All links that aren't archived.
    pub fn total(self) -> u64 {
        self.active + self.inactive + self.scheduled + self.exhausted + self.expired + self.suspended + self.deleted
    }

    fn count(&mut self, status: LinkStatus) {
        match status {
            LinkStatus::Active => self.active += 1,
            LinkStatus::Inactive => self.inactive += 1,
            LinkStatus::Scheduled => self.scheduled += 1,
            LinkStatus::Exhausted => self.exhausted += 1,
            LinkStatus::Expired => self.expired += 1,
            LinkStatus::Suspended => self.suspended += 1,
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

    /// All days, oldest first, those without clicks as well: those of the time that it is about, or the last 60, of which the last
    /// one is the day of the overview.
    pub fn series(&self) -> impl Iterator<Item = (Day, ClickCount)> {
        let recent = (self.as_of.day().minus(Self::DAYS - 1), self.as_of.day(), &self.days);
        let (first, last, days) = self.time.as_ref().map_or(recent, |time| (time.first, time.last, &time.days));
        let count = first.start().until(last.start()).as_secs() / 86_400;
        (0..=count)
            .map(move |number| first.start().plus(DAY * number as u32).day())
            .map(|day| (day, days.get(&day).copied().unwrap_or_default()))
    }

    /// The last so many days, of which the day of the overview is one.
    pub fn last_days(&self, days: u64) -> Period {
        let sum = |ago: std::ops::Range<u64>| {
            let mut sum = ClickCount::default();
            ago.filter_map(|ago| self.days.get(&self.as_of.day().minus(ago))).for_each(|count| sum += *count);
            sum
        };
        let (now, before) = (sum(0..days), sum(days..2 * days));
        Period {
            total_clicks: now.clicks,
            human_clicks: now.human_clicks,
            total_clicks_before: before.clicks,
            human_clicks_before: before.human_clicks,
        }
    }
}

const DAY: Duration = Duration::from_secs(86_400);
