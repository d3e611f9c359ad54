//! Keys and attributes of StatsTable.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use linklet_domain::{
    Breakdown, CorrelationId, Day, DayStats, Dimension, Event, EventDetail, EventId, Invalid, MilestoneReached,
    Profile, ShortCode, Timestamp, Tombstone, Totals, UniqueVisitors, UserId, WorkspaceId,
};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use uuid::Uuid;

use super::Milestone;
use crate::item::Key;

pub(super) const TOTAL: &str = "TOTAL";
pub(super) const PAST: &str = "PAST";
pub(super) const DAY_PREFIX: &str = "DAY#";
pub(crate) const MILESTONE_PREFIX: &str = "MILESTONE#";

pub(super) const SEEN_FOR: Duration = linklet_domain::lifetimes::COUNTED_IDS;

pub(super) fn partition(code: &ShortCode) -> String {
    format!("STATS#{code}")
}

pub(super) fn workspace_partition(workspace: &WorkspaceId) -> String {
    format!("WS#{workspace}")
}

pub(super) fn total_key(code: &ShortCode) -> Key {
    Key::new(partition(code), TOTAL)
}

pub(super) fn day_sort_key(day: Day) -> String {
    format!("{DAY_PREFIX}{day}")
}

pub(super) fn day_key(code: &ShortCode, day: Day) -> Key {
    Key::new(partition(code), day_sort_key(day))
}

pub(super) fn seen_partition(code: &ShortCode) -> String {
    format!("SEEN#{code}")
}

/// The common beginning of the event ids that share an item.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bucket(pub String);

/// The rest of an id after its bucket: the last 11 bytes of a UUID, or a zero byte and the text of another id.
pub(super) type Rest = ByteBuf;

impl Bucket {
    /// The length of the first 40 bits of a UUID version 7 as text, which the ids of a quarter of a second share (RFC 9562). At
    /// 12 bytes per id, an item of 400 KB has room for more than 30,000 ids: 120,000 clicks a second on one link.
    const PREFIX: usize = "0198c0de-00".len();

    /// The bucket of ids that aren't UUIDs. Linklet generates none of these.
    const OTHERS: &str = "others";

    /// Splits an id into its bucket and the rest.
    pub(super) fn of(id: &EventId) -> (Self, Rest) {
        match Uuid::try_parse(id.as_str()).ok().filter(|uuid| uuid.to_string() == id.as_str()) {
            Some(uuid) => (Self(id.as_str()[..Self::PREFIX].to_owned()), ByteBuf::from(&uuid.as_bytes()[5..])),
            None => (Self(Self::OTHERS.to_owned()), ByteBuf::from([b"\0", id.as_str().as_bytes()].concat())),
        }
    }

    /// Joins the bucket and the rest of an id.
    fn id(&self, rest: &Rest) -> Result<EventId, Invalid> {
        let unknown = || Invalid::new("a counted event's id can't be read");
        let digits = hex::encode(rest);
        let id = match rest.split_first() {
            Some((0, text)) if self.0 == Self::OTHERS => String::from_utf8(text.to_vec()).map_err(|_| unknown())?,
            _ => Uuid::try_parse(&format!("{}{digits}", self.0.replace('-', ""))).map_err(|_| unknown())?.to_string(),
        };
        EventId::parse(&id)
    }

    pub(super) fn key(&self, code: &ShortCode) -> Key {
        Key::new(seen_partition(code), &self.0)
    }
}

/// `STATS#<code>` / `TOTAL`: the totals of a link, written with each counted batch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TotalItem {
    #[serde(flatten)]
    pub key: Key,
    pub by_workspace_pk: String,
    pub by_workspace_sk: ShortCode,
    pub total_clicks: u64,
    #[serde(default)]
    pub human_clicks: u64,
    pub last_click_at: Option<Timestamp>,
    #[serde(default)]
    pub past_until: Option<Day>,
    #[serde(default)]
    pub recent_clicks: u64,
    #[serde(default)]
    pub corrections: u64,
}

impl TotalItem {
    pub(super) fn new(code: &ShortCode, workspace: &WorkspaceId, totals: &Totals) -> Self {
        Self {
            key: total_key(code),
            by_workspace_pk: workspace_partition(workspace),
            by_workspace_sk: code.clone(),
            total_clicks: totals.total_clicks,
            human_clicks: totals.human_clicks,
            last_click_at: totals.last_click_at,
            past_until: totals.past_until,
            recent_clicks: totals.recent_clicks,
            corrections: totals.corrections,
        }
    }
}

impl TotalItem {
    pub(super) fn workspace(&self) -> Option<WorkspaceId> {
        self.by_workspace_pk.strip_prefix("WS#").and_then(|id| WorkspaceId::parse(id).ok())
    }
}

impl From<TotalItem> for Totals {
    fn from(item: TotalItem) -> Self {
        Self {
            total_clicks: item.total_clicks,
            human_clicks: item.human_clicks,
            last_click_at: item.last_click_at,
            past_until: item.past_until,
            recent_clicks: item.recent_clicks,
            corrections: item.corrections,
        }
    }
}

/// The attribute that marks the total of a purged link.
pub(super) const PURGED_AT: &str = "purged_at";

/// `STATS#<code>` / `TOTAL` of a purged link: nothing is counted for it any more.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PurgedItem {
    #[serde(flatten)]
    pub key: Key,
    pub purged_at: Timestamp,
    pub ttl: i64,
}

impl PurgedItem {
    pub(super) fn new(code: &ShortCode, purged_at: Timestamp) -> Self {
        Self { key: total_key(code), purged_at, ttl: purged_at.plus(Tombstone::KEPT_FOR).unix_seconds() }
    }
}

/// The attributes of a total that lists read.
#[derive(Debug, Deserialize)]
pub(super) struct ListedTotal {
    pub by_workspace_sk: ShortCode,
    pub total_clicks: u64,
}

/// A profile as attributes of an item.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ProfileAttributes {
    pub total_clicks: u64,
    #[serde(default)]
    pub human_clicks: u64,
    /// Counts per value, by the name of the dimension.
    #[serde(default)]
    pub breakdowns: BTreeMap<String, BTreeMap<String, u64>>,
    /// The count of evicted values, by the name of the dimension.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<String, u64>,
    /// The sketch of unique visitors; absent without clicks by people.
    #[serde(default, skip_serializing_if = "no_bytes")]
    pub visitors: ByteBuf,
}

fn no_bytes(bytes: &ByteBuf) -> bool {
    bytes.is_empty()
}

impl From<&Profile> for ProfileAttributes {
    fn from(profile: &Profile) -> Self {
        Self {
            total_clicks: profile.clicks,
            human_clicks: profile.human_clicks,
            breakdowns: of_each(profile, |breakdown| (!breakdown.counts.is_empty()).then(|| breakdown.counts.clone())),
            others: of_each(profile, |breakdown| (breakdown.other > 0).then_some(breakdown.other)),
            visitors: ByteBuf::from(if profile.visitors.is_empty() { Vec::new() } else { profile.visitors.to_bytes() }),
        }
    }
}

/// A part of each breakdown that has it, by the name of its dimension.
fn of_each<T>(profile: &Profile, part: impl Fn(&Breakdown) -> Option<T>) -> BTreeMap<String, T> {
    let parts = profile.breakdowns.iter().filter_map(|(dimension, breakdown)| Some((dimension, part(breakdown)?)));
    parts.map(|(dimension, part)| (dimension.name().to_owned(), part)).collect()
}

impl TryFrom<ProfileAttributes> for Profile {
    type Error = Invalid;

    fn try_from(mut item: ProfileAttributes) -> Result<Self, Invalid> {
        let visitors = if item.visitors.is_empty() {
            UniqueVisitors::default()
        } else {
            UniqueVisitors::from_bytes(&item.visitors)?
        };
        let mut breakdown = |dimension: Dimension| Breakdown {
            counts: item.breakdowns.remove(dimension.name()).unwrap_or_default(),
            other: item.others.remove(dimension.name()).unwrap_or_default(),
        };
        let breakdowns = Dimension::ALL.into_iter().map(|dimension| (dimension, breakdown(dimension)));
        let breakdowns = breakdowns.filter(|(_, breakdown)| breakdown.total() > 0).collect();
        Ok(Self { clicks: item.total_clicks, human_clicks: item.human_clicks, breakdowns, visitors })
    }
}

/// `STATS#<code>` / `DAY#<day>`: the clicks of a day.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct DayItem {
    #[serde(flatten)]
    pub key: Key,
    pub hours: [u64; 24],
    #[serde(flatten)]
    pub profile: ProfileAttributes,
}

impl DayItem {
    pub(super) fn new(code: &ShortCode, day: Day, stats: &DayStats) -> Self {
        Self { key: day_key(code, day), hours: stats.hours, profile: (&stats.profile).into() }
    }
}

impl TryFrom<DayItem> for DayStats {
    type Error = Invalid;

    fn try_from(item: DayItem) -> Result<Self, Invalid> {
        Ok(Self { hours: item.hours, profile: item.profile.try_into()? })
    }
}

/// `STATS#<code>` / `PAST`: the days before `past_until` of the total, together.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PastItem {
    #[serde(flatten)]
    pub key: Key,
    #[serde(flatten)]
    pub profile: ProfileAttributes,
}

impl PastItem {
    pub(super) fn new(code: &ShortCode, profile: &Profile) -> Self {
        Self { key: Key::new(partition(code), PAST), profile: profile.into() }
    }
}

/// `SEEN#<code>` / `<beginning of event ids>`: these events have been counted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SeenItem {
    #[serde(flatten)]
    pub key: Key,
    /// The number of ids.
    pub total_clicks: usize,
    /// The rests of the ids after the bucket in the sort key.
    #[serde(with = "serde_dynamo::binary_set")]
    pub event_ids: BTreeSet<Rest>,
    pub ttl: i64,
}

impl SeenItem {
    pub(super) fn new(code: &ShortCode, bucket: &Bucket, event_ids: BTreeSet<Rest>, now: Timestamp) -> Self {
        let ttl = now.plus(SEEN_FOR).unix_seconds();
        Self { key: bucket.key(code), total_clicks: event_ids.len(), event_ids, ttl }
    }

    pub(super) fn bucket(&self) -> Bucket {
        Bucket(self.key.sk.clone())
    }

    /// The complete ids.
    pub(super) fn events(&self) -> Result<Vec<EventId>, Invalid> {
        let bucket = self.bucket();
        self.event_ids.iter().map(|rest| bucket.id(rest)).collect()
    }
}

/// `STATS#<code>` / `MILESTONE#<clicks>`: the link has reached a round number. Creating it publishes the event.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct MilestoneItem {
    #[serde(flatten)]
    pub key: Key,
    pub short_code: ShortCode,
    pub workspace_id: WorkspaceId,
    pub user_id: UserId,
    pub milestone: u64,
    pub reached_at: Timestamp,
    pub correlation_id: CorrelationId,
}

impl MilestoneItem {
    pub(super) fn new(milestone: &Milestone) -> Self {
        let Milestone { detail, reached_at, correlation_id } = milestone;
        Self {
            // Padded to the digits of the largest count, so that the rows sort by number.
            key: Key::new(partition(&detail.short_code), format!("{MILESTONE_PREFIX}{:020}", detail.milestone)),
            short_code: detail.short_code.clone(),
            workspace_id: detail.workspace_id.clone(),
            user_id: detail.user_id.clone(),
            milestone: detail.milestone,
            reached_at: *reached_at,
            correlation_id: correlation_id.clone(),
        }
    }

    pub(crate) fn reached_event(self) -> Event {
        Event {
            event_id: EventId::milestone(&self.short_code, self.milestone),
            occurred_at: self.reached_at,
            correlation_id: self.correlation_id,
            detail: EventDetail::MilestoneReached(MilestoneReached {
                short_code: self.short_code,
                workspace_id: self.workspace_id,
                user_id: self.user_id,
                milestone: self.milestone,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_and_the_rest_are_the_whole_id() {
        let uuid = EventId::generate();
        let others =
            ["1", "12345678901", "0198C0DE-0000-7000-8000-000000000001", "milestone:launch:10", "0198c0de00007000"];
        for id in others.map(|id| EventId::parse(id).unwrap()).iter().chain([&uuid]) {
            let (bucket, rest) = Bucket::of(id);

            assert_eq!(&bucket.id(&rest).unwrap(), id);
        }
        let (bucket, rest) = Bucket::of(&uuid);
        assert_eq!((bucket.0.len(), rest.len()), (11, 11));
    }
}
