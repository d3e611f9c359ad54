//! Keys and attributes of StatsTable.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use linklet_domain::{
    Breakdown, Breakdowns, ClickCount, ClickId, Day, DaySlice, DayStats, Dimension, Event, EventDetail, EventId,
    Invalid, LinkClicks, LinkId, MilestoneReached, Part, Profile, Rollup, Timestamp, Totals, UniqueVisitors,
    WorkspaceId,
};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::Milestone;
use super::ids::{CountedDay, Moved, Width, part_of_partition, seen_partition};
pub(super) use crate::item::workspace_partition;
use crate::item::{Key, is_zero};

pub(super) const PAST: &str = "PAST";
/// The attribute of a day that was split.
pub(super) const IS_SPLIT: &str = "is_split";
pub(super) const DAY_PREFIX: &str = "DAY#";
pub(super) const TOTAL_PREFIX: &str = "TOTAL#";
pub(crate) const MILESTONE_PREFIX: &str = "MILESTONE#";

/// How long the ids of counted clicks are kept, and the mark of a purged link.
pub(super) const SEEN_FOR: Duration = linklet_domain::lifetimes::COUNTED_IDS;

pub(super) fn partition(link: &LinkId) -> String {
    format!("STATS#{link}")
}

/// All totals of a workspace are in one partition, sorted by link, so that they are listed without an index.
pub(super) fn total_key(workspace: &WorkspaceId, link: &LinkId) -> Key {
    Key::new(workspace_partition(workspace), format!("{TOTAL_PREFIX}{link}"))
}

pub(super) fn day_sort_key(day: Day) -> String {
    format!("{DAY_PREFIX}{day}")
}

/// Parts of days have partitions of their own, since they get more writes together than one partition takes.
pub(super) fn slice_key(link: &LinkId, slice: DaySlice) -> Key {
    Key::new(part_of_partition(&partition(link), slice.part), day_sort_key(slice.day))
}

/// The slice that a key is of, if it is one of a day or a part of it.
pub(super) fn slice_of(key: &Key) -> Option<DaySlice> {
    let day = key.sk.strip_prefix(DAY_PREFIX)?;
    let part = key.pk.splitn(3, '#').nth(2).map_or(String::new(), |part| format!("#{part}"));
    DaySlice::parse(&format!("{day}{part}")).ok()
}

pub(super) fn past_key(link: &LinkId) -> Key {
    Key::new(partition(link), PAST)
}

/// The partitions with the statistics of a link, or of a part of each of its days that were split.
pub(super) fn partitions(link: &LinkId, part: Option<Part>) -> [String; 2] {
    [part_of_partition(&partition(link), part), seen_partition(link, part)]
}

/// `WS#<workspace>` / `TOTAL#<link>`: how many clicks a link has.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TotalItem {
    #[serde(flatten)]
    pub key: Key,
    #[serde(default)]
    pub past_clicks: u64,
    pub past_until: Option<Day>,
    #[serde(default)]
    pub announced: u64,
    #[serde(default)]
    pub epoch: u64,
    /// When the latest of all clicks happened, in milliseconds.
    pub last_click: Option<u64>,
    /// Set when the link was purged; nothing is counted for it any more.
    pub purged_at: Option<Timestamp>,
    pub ttl: Option<i64>,
    /// The latest days of the past, packed.
    #[serde(default, skip_serializing_if = "no_bytes")]
    pub history: ByteBuf,
    /// The clicks of each day that isn't in the past, and of each part of one that was split, as an attribute with its name: a
    /// list of the clicks and of those of people.
    #[serde(flatten)]
    pub open: BTreeMap<DaySlice, ClickCount>,
}

impl TotalItem {
    /// The mark of a purged link.
    pub(super) fn purged(workspace: &WorkspaceId, link: &LinkId, at: Timestamp) -> Self {
        Self {
            key: total_key(workspace, link),
            past_clicks: 0,
            past_until: None,
            announced: 0,
            epoch: 0,
            last_click: None,
            purged_at: Some(at),
            ttl: Some(at.plus(SEEN_FOR).unix_seconds()),
            history: ByteBuf::new(),
            open: BTreeMap::new(),
        }
    }

    pub(super) fn link(&self) -> Result<LinkId, Invalid> {
        LinkId::parse(self.key.sk.strip_prefix(TOTAL_PREFIX).unwrap_or_default())
    }

    /// All clicks, and the last of them. The history isn't unpacked for it, since lists ask this of each link.
    pub(super) fn clicks(self) -> LinkClicks {
        let Self { past_clicks, past_until, open, last_click, .. } = self;
        let total = Totals { past_clicks, past_until, open, ..Totals::default() }.total_clicks();
        LinkClicks { total, last: last_click.map(Timestamp::from_unix_millis) }
    }
}

impl TryFrom<TotalItem> for Totals {
    type Error = Invalid;

    fn try_from(item: TotalItem) -> Result<Self, Invalid> {
        let TotalItem { past_clicks, past_until, announced, epoch, last_click, history, open, .. } = item;
        let history = past_until.map(|until| unpacked_history(until, &history)).transpose()?.unwrap_or_default();
        let last_click = last_click.map(Timestamp::from_unix_millis);
        Ok(Self { past_clicks, past_until, open, history, last_click, announced, epoch })
    }
}

/// Days as bytes, so that a total with two months of them is less than a write unit: for each day how many days before `until` it
/// is, its clicks, and those of people.
pub(super) fn packed_history(until: Day, days: &BTreeMap<Day, ClickCount>) -> ByteBuf {
    let mut bytes = Vec::with_capacity(days.len() * 5);
    for (day, count) in days {
        let Ok(ago) = u8::try_from(day.start().until(until.start()).as_secs() / SECONDS_OF_DAY) else { continue };
        bytes.push(ago);
        push_count(&mut bytes, *count);
    }
    ByteBuf::from(bytes)
}

const SECONDS_OF_DAY: u64 = 86_400;

/// Hours as bytes: of each its clicks and those of people, which takes less than a list of 24 numbers.
fn packed_hours(hours: &[ClickCount; 24]) -> ByteBuf {
    let mut bytes = Vec::with_capacity(hours.len() * 2);
    hours.iter().for_each(|count| push_count(&mut bytes, *count));
    ByteBuf::from(bytes)
}

fn unpacked_hours(bytes: &[u8]) -> Result<[ClickCount; 24], Invalid> {
    let mut rest = bytes.iter().copied();
    let mut hours = [ClickCount::default(); 24];
    for hour in &mut hours {
        *hour = next_count(&mut rest)?;
    }
    if rest.next().is_none() { Ok(hours) } else { Err(Invalid::new("a day has 24 hours")) }
}

/// Both numbers in base 128 with the lowest digit first, where all digits but the last have their highest bit set (LEB128).
fn push_count(bytes: &mut Vec<u8>, count: ClickCount) {
    [count.clicks, count.human_clicks].into_iter().for_each(|number| push_number(bytes, number));
}

fn next_count(bytes: &mut impl Iterator<Item = u8>) -> Result<ClickCount, Invalid> {
    Ok(ClickCount { clicks: next_number(bytes)?, human_clicks: next_number(bytes)? })
}

fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number % 0x80) as u8 | 0x80);
        number /= 0x80;
    }
    bytes.push(number as u8);
}

fn unpacked_history(until: Day, bytes: &[u8]) -> Result<BTreeMap<Day, ClickCount>, Invalid> {
    let mut days = BTreeMap::new();
    let mut rest = bytes.iter().copied();
    while let Some(ago) = rest.next() {
        let day = until.minus(u64::from(ago));
        days.insert(day, next_count(&mut rest)?);
    }
    Ok(days)
}

fn next_number(bytes: &mut impl Iterator<Item = u8>) -> Result<u64, Invalid> {
    let mut number = 0_u64;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = bytes.next().ok_or_else(|| Invalid::new("counts that are packed have two numbers each"))?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(Invalid::new("a packed number has at most ten bytes"))
}

/// A profile as attributes of an item.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ProfileAttributes {
    pub total_clicks: u64,
    #[serde(default)]
    pub human_clicks: u64,
    /// The clicks of people.
    #[serde(flatten)]
    people: BreakdownAttributes,
    /// The clicks of bots and prefetching browsers; absent without any.
    #[serde(default, skip_serializing_if = "BreakdownAttributes::is_empty")]
    machines: BreakdownAttributes,
    /// The sketch of unique visitors; absent without clicks by people.
    #[serde(default, skip_serializing_if = "no_bytes")]
    pub visitors: ByteBuf,
}

fn no_bytes(bytes: &ByteBuf) -> bool {
    bytes.is_empty()
}

/// Breakdowns as attributes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct BreakdownAttributes {
    /// Counts per value, by the name of the dimension.
    #[serde(default)]
    breakdowns: BTreeMap<String, BTreeMap<String, u64>>,
    /// The count of replaced values, by the name of the dimension.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    others: BTreeMap<String, u64>,
}

impl BreakdownAttributes {
    fn is_empty(&self) -> bool {
        self.breakdowns.is_empty() && self.others.is_empty()
    }
}

impl From<&Breakdowns> for BreakdownAttributes {
    fn from(all: &Breakdowns) -> Self {
        Self {
            breakdowns: of_each(all, |breakdown| (!breakdown.counts.is_empty()).then(|| breakdown.counts.clone())),
            others: of_each(all, |breakdown| (breakdown.other > 0).then_some(breakdown.other)),
        }
    }
}

/// A part of each breakdown that has it, by the name of its dimension.
fn of_each<T>(all: &Breakdowns, part: impl Fn(&Breakdown) -> Option<T>) -> BTreeMap<String, T> {
    let parts = all.iter().filter_map(|(dimension, breakdown)| Some((dimension, part(breakdown)?)));
    parts.map(|(dimension, part)| (dimension.name().to_owned(), part)).collect()
}

impl From<BreakdownAttributes> for Breakdowns {
    fn from(mut stored: BreakdownAttributes) -> Self {
        let mut breakdown = |dimension: Dimension| Breakdown {
            counts: stored.breakdowns.remove(dimension.name()).unwrap_or_default(),
            other: stored.others.remove(dimension.name()).unwrap_or_default(),
        };
        let all = Dimension::ALL.into_iter().map(|dimension| (dimension, breakdown(dimension)));
        all.filter(|(_, breakdown)| breakdown.total() > 0).collect()
    }
}

impl From<&Profile> for ProfileAttributes {
    fn from(profile: &Profile) -> Self {
        Self {
            total_clicks: profile.clicks,
            human_clicks: profile.human_clicks,
            people: (&profile.people).into(),
            machines: (&profile.machines).into(),
            visitors: ByteBuf::from(if profile.visitors.is_empty() { Vec::new() } else { profile.visitors.to_bytes() }),
        }
    }
}

impl TryFrom<ProfileAttributes> for Profile {
    type Error = Invalid;

    fn try_from(item: ProfileAttributes) -> Result<Self, Invalid> {
        let visitors = if item.visitors.is_empty() {
            UniqueVisitors::default()
        } else {
            UniqueVisitors::from_bytes(&item.visitors)?
        };
        Ok(Self {
            clicks: item.total_clicks,
            human_clicks: item.human_clicks,
            people: item.people.into(),
            machines: item.machines.into(),
            visitors,
        })
    }
}

/// `STATS#<link>` / `DAY#<day>`: the clicks of a day, until it was split if it was.
/// `STATS#<link>#<part>` / `DAY#<day>`: those of a part of it since.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct DayItem {
    #[serde(flatten)]
    pub key: Key,
    /// Grows with each write, so that an equal version means an unchanged item.
    version: u64,
    /// The clicks of each hour and those of people, packed.
    hours: ByteBuf,
    last_click_at: Option<Timestamp>,
    #[serde(flatten)]
    profile: ProfileAttributes,
    #[serde(default, skip_serializing_if = "no_bytes")]
    ids: ByteBuf,
    #[serde(default, skip_serializing_if = "is_zero")]
    moved: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    moved_until: BTreeMap<Width, ClickId>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_split: bool,
}

impl DayItem {
    pub(super) fn new(link: &LinkId, slice: DaySlice, counted: &CountedDay) -> Self {
        Self {
            key: slice_key(link, slice),
            version: counted.version,
            hours: packed_hours(&counted.stats.hours),
            last_click_at: counted.stats.last_click_at,
            profile: (&counted.stats.profile).into(),
            ids: packed(&counted.ids),
            moved: counted.moved.count,
            moved_until: counted.moved.until.clone(),
            is_split: counted.is_split,
        }
    }
}

impl TryFrom<DayItem> for CountedDay {
    type Error = Invalid;

    fn try_from(item: DayItem) -> Result<Self, Invalid> {
        Ok(Self {
            stats: DayStats {
                hours: unpacked_hours(&item.hours)?,
                last_click_at: item.last_click_at,
                profile: item.profile.try_into()?,
            },
            version: item.version,
            ids: unpacked(&item.ids)?.collect(),
            moved: Moved { count: item.moved, until: item.moved_until },
            is_split: item.is_split,
        })
    }
}

/// Ids one after another, as one value: sets of many small values take more space and time.
fn packed(ids: &BTreeSet<ClickId>) -> ByteBuf {
    ByteBuf::from(ids.iter().flat_map(ClickId::to_bytes).collect::<Vec<u8>>())
}

fn unpacked(bytes: &[u8]) -> Result<impl Iterator<Item = ClickId>, Invalid> {
    let (ids, rest) = bytes.as_chunks::<{ ClickId::BYTES }>();
    let ids = ids.iter().copied().map(ClickId::from_bytes);
    if rest.is_empty() { Ok(ids) } else { Err(Invalid::new("ids of clicks have 12 bytes each")) }
}

/// `STATS#<link>` / `PAST`: the days before `past_until`, together.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PastItem {
    #[serde(flatten)]
    pub key: Key,
    past_until: Day,
    last_click_at: Option<Timestamp>,
    #[serde(flatten)]
    profile: ProfileAttributes,
}

impl PastItem {
    pub(super) fn new(link: &LinkId, past: &Rollup) -> Self {
        Self {
            key: past_key(link),
            past_until: past.until,
            last_click_at: past.last_click_at,
            profile: (&past.profile).into(),
        }
    }
}

impl TryFrom<PastItem> for Rollup {
    type Error = Invalid;

    fn try_from(item: PastItem) -> Result<Self, Invalid> {
        Ok(Self { until: item.past_until, last_click_at: item.last_click_at, profile: item.profile.try_into()? })
    }
}

/// `SEEN#<link>` or `SEEN#<link>#<part>` / `<slot>#<version>`: a run. These clicks have been counted, and have left the item of
/// their day, or of their part of it, when it had this version. Whoever writes it again has read the same version, and so writes the same ids.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RunItem {
    #[serde(flatten)]
    key: Key,
    ids: ByteBuf,
    ttl: i64,
}

impl RunItem {
    pub(super) fn new(key: Key, ids: &BTreeSet<ClickId>, now: Timestamp) -> Self {
        Self { key, ids: packed(ids), ttl: now.plus(SEEN_FOR).unix_seconds() }
    }

    pub(super) fn ids(&self) -> Result<impl Iterator<Item = ClickId>, Invalid> {
        unpacked(&self.ids)
    }
}

/// `STATS#<link>` / `MILESTONE#<clicks>`: the link has reached a round number. Creating it publishes the event, unless imported clicks have
/// reached it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct MilestoneItem {
    #[serde(flatten)]
    pub key: Key,
    #[serde(flatten)]
    pub milestone: Milestone,
    /// Whether nobody is told of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    quiet: bool,
}

impl MilestoneItem {
    pub(super) fn new(milestone: &Milestone, quiet: bool) -> Self {
        let MilestoneReached { link, milestone: clicks, .. } = &milestone.detail;
        // Padded to the digits of the largest count, so that the rows sort by number.
        let key = Key::new(partition(link), format!("{MILESTONE_PREFIX}{clicks:020}"));
        Self { key, milestone: milestone.clone(), quiet }
    }

    pub(crate) fn reached_event(self) -> Option<Event> {
        if self.quiet {
            return None;
        }
        let Milestone { detail, workspace: workspace_id, reached_at: occurred_at, correlation_id } = self.milestone;
        let event_id = EventId::milestone(&detail.link, detail.milestone);
        let detail = EventDetail::MilestoneReached(detail);
        Some(Event { event_id, occurred_at, correlation_id, workspace_id, detail })
    }
}
