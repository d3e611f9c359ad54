//! Keys and attributes of StatsTable.

use std::{collections::BTreeMap, time::Duration};

use linklet_domain::{
    Breakdown, CorrelationId, Day, DayStats, Event, EventDetail, EventId, MilestoneReached, ShortCode, Timestamp,
    Tombstone, Totals, UserId, WorkspaceId,
};
use serde::{Deserialize, Serialize};

use super::Milestone;
use crate::item::Key;

pub(super) const TOTAL: &str = "TOTAL";
pub(super) const DAY_PREFIX: &str = "DAY#";
pub(crate) const MILESTONE_PREFIX: &str = "MILESTONE#";

/// As long as a message lives: 4 days in the queue and up to 14 in the dead-letter queue, both counted from the day it was
/// sent. (A redrive sends it anew; the runbook says what that means.)
const SEEN_FOR: Duration = Duration::from_secs(14 * 86_400);

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

pub(super) fn seen_key(event: &EventId) -> Key {
    Key::new(format!("SEEN#{event}"), "SEEN")
}

/// `STATS#<code>` / `TOTAL`: what is known over the link's whole life.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TotalItem {
    #[serde(flatten)]
    pub key: Key,
    pub by_workspace_pk: String,
    pub by_workspace_sk: ShortCode,
    pub total_clicks: u64,
    pub last_click_at: Option<Timestamp>,
    #[serde(default)]
    pub referers: BTreeMap<String, u64>,
    #[serde(default)]
    pub other_referers: u64,
}

impl TotalItem {
    pub(super) fn new(code: &ShortCode, workspace: &WorkspaceId, totals: &Totals) -> Self {
        Self {
            key: total_key(code),
            by_workspace_pk: workspace_partition(workspace),
            by_workspace_sk: code.clone(),
            total_clicks: totals.total_clicks,
            last_click_at: totals.last_click_at,
            referers: totals.referers.counts.clone(),
            other_referers: totals.referers.other,
        }
    }
}

impl From<TotalItem> for Totals {
    fn from(item: TotalItem) -> Self {
        Self {
            total_clicks: item.total_clicks,
            last_click_at: item.last_click_at,
            referers: Breakdown { counts: item.referers, other: item.other_referers },
        }
    }
}

/// The attribute that only the total of a purged link has.
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

/// What a list reads of a total.
#[derive(Debug, Deserialize)]
pub(super) struct ListedTotal {
    pub by_workspace_sk: ShortCode,
    pub total_clicks: u64,
}

/// `STATS#<code>` / `DAY#<day>`: the clicks of a day by hour.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct DayItem {
    #[serde(flatten)]
    pub key: Key,
    pub total_clicks: u64,
    pub hours: [u64; 24],
}

impl DayItem {
    pub(super) fn new(code: &ShortCode, day: Day, stats: &DayStats) -> Self {
        Self { key: day_key(code, day), total_clicks: stats.total_clicks, hours: stats.hours }
    }
}

impl From<DayItem> for DayStats {
    fn from(item: DayItem) -> Self {
        Self { total_clicks: item.total_clicks, hours: item.hours }
    }
}

/// `SEEN#<event>` / `SEEN`: this event has been counted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SeenItem {
    #[serde(flatten)]
    pub key: Key,
    pub ttl: i64,
}

impl SeenItem {
    pub(super) fn new(event: &EventId, now: Timestamp) -> Self {
        Self { key: seen_key(event), ttl: now.plus(SEEN_FOR).unix_seconds() }
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
