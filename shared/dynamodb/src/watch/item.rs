//! Keys and attributes of WatchTable.

use linklet_domain::{
    CheckError, CheckPartition, CorrelationId, Event, EventDetail, EventId, Host, HostShard, IdempotencyKey, Invalid,
    LinkId, PageToken, Target, TargetDown, TargetId, TargetStatus, TargetUp, Timestamp, UserId, Watcher, WorkspaceId,
    lifetimes,
};
use serde::{Deserialize, Serialize};

use super::PartitionNotes;
use crate::Cursor;
pub(super) use crate::item::workspace_partition;
use crate::item::{Key, Stored};

pub(crate) const TARGET_PREFIX: &str = "TARGET#";

pub(super) fn shard_partition(shard: HostShard) -> String {
    format!("{TARGET_PREFIX}{shard}")
}

pub(super) fn target_key(id: &TargetId) -> Key {
    Key::new(format!("{TARGET_PREFIX}{}", id.shard_digit()), id.as_str())
}

pub(super) fn host_partition(workspace: &WorkspaceId, host: &Host) -> String {
    format!("{}#HOST#{host}", workspace_partition(workspace))
}

/// The sort key of a target in both list indexes.
pub(super) fn list_sort_key(place: &PageToken) -> String {
    Cursor { at: place.created_at, id: place.id.clone() }.sort_key()
}

/// The partition of the links that watch a target.
pub(super) fn watcher_partition(id: &TargetId) -> String {
    format!("WATCHER#{id}")
}

pub(super) fn watcher_key(id: &TargetId, link: &LinkId) -> Key {
    Key::new(watcher_partition(id), format!("{WATCHER_PREFIX}{link}"))
}

const WATCHER_PREFIX: &str = "LINK#";

pub(super) fn count_key(workspace: &WorkspaceId) -> Key {
    Key::new(workspace_partition(workspace), "TARGETS")
}

pub(super) fn idempotency_key(workspace: &WorkspaceId, key: &IdempotencyKey) -> Key {
    Key::new(format!("IDEM#{workspace}#{key}"), "IDEM")
}

pub(super) fn creator_count_key(creator: &UserId) -> Key {
    Key::new(format!("CREATOR#{creator}"), "TARGETS")
}

pub(super) fn results_partition(workspace: &WorkspaceId) -> String {
    format!("RESULTS#{workspace}")
}

/// `LANES` / `LANES`: until when which worker has which host shard.
pub(super) fn partitions_key() -> Key {
    Key::new("LANES", "LANES")
}

pub(super) fn notes_key(partition: CheckPartition) -> Key {
    Key::new("LANES", format!("NOTES#{}.{}", partition.number(), partition.of()))
}

/// `TARGET#<host shard>` / `<target id>`: a monitored URL. Its events are made from this item's stream records, so it has all that
/// events contain.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TargetItem {
    #[serde(flatten)]
    pub key: Key,
    pub by_workspace_pk: String,
    pub by_workspace_sk: String,
    pub by_host_pk: String,
    #[serde(flatten)]
    pub target: Target,
    pub host: Host,
    pub correlation_id: CorrelationId,
    /// The tick that failed while the target wasn't down, unless one is known to have succeeded since.
    pub failed_slot: Option<Timestamp>,
    /// The HTTP status of the check that changed the target's status, if it got one.
    pub status_code: Option<u16>,
    /// The error of the check that changed the target's status, if it failed without an HTTP status.
    pub error: Option<CheckError>,
    /// The id of the event that the latest change of the status publishes.
    pub change_id: EventId,
}

impl TargetItem {
    pub(super) fn new(target: &Target, change_id: EventId, correlation_id: &CorrelationId) -> Self {
        let host = target.canonical_url.host();
        Self {
            key: target_key(&target.id),
            by_workspace_pk: workspace_partition(&target.workspace),
            by_workspace_sk: list_sort_key(&PageToken { created_at: target.created_at, id: target.id.clone() }),
            by_host_pk: host_partition(&target.workspace, &host),
            target: target.clone(),
            host,
            correlation_id: correlation_id.clone(),
            failed_slot: None,
            status_code: None,
            error: None,
            change_id,
        }
    }

    /// The event of a change from `before` to this item. Only changes to down, and from down to up, have an event.
    pub(crate) fn changed_event(self, before: &Self) -> Option<Event> {
        let Self { target, status_code, error, .. } = self;
        let Target { id: target_id, workspace: workspace_id, url, owner: user_id, status, status_since, .. } = target;
        let detail = match (before.target.status, status) {
            (TargetStatus::Pending | TargetStatus::Up, TargetStatus::Down) => {
                EventDetail::TargetDown(TargetDown { target_id, url, user_id, status_code, error })
            }
            (TargetStatus::Down, TargetStatus::Up) => {
                EventDetail::TargetUp(TargetUp { target_id, url, user_id, down_since: before.target.status_since })
            }
            _ => return None,
        };
        Some(Event {
            event_id: self.change_id,
            occurred_at: status_since,
            correlation_id: self.correlation_id,
            workspace_id,
            detail,
        })
    }
}

/// `WS#<workspace>` / `TARGETS`, and `CREATOR#<user>` / `TARGETS`: how many targets a workspace has, and all that one person has
/// created.
#[derive(Debug, Deserialize)]
pub(super) struct CountItem {
    pub targets: u64,
}

/// `LANES` / `NOTES#<partition>.<partitions>`: what a partition's worker tells the next one. It is there only if there is anything to tell.
pub(super) type NotesItem = Stored<PartitionNotes>;

/// `WATCHER#<target id>` / `LINK#<code>.<generation>`: a link that watches the target, or has stopped watching it.
pub(super) type WatcherItem = Stored<Watcher>;

impl WatcherItem {
    pub(super) fn new(id: &TargetId, link: &LinkId, watcher: Watcher) -> Self {
        let kept_until = watcher.changed_at.plus(lifetimes::ENDED_WATCHES).unix_seconds();
        let ttl = (!watcher.is_watching()).then_some(kept_until);
        Self { key: watcher_key(id, link), value: watcher, ttl }
    }

    /// The link, if it watches.
    pub(super) fn watching_link(self) -> Result<Option<LinkId>, Invalid> {
        let link = LinkId::parse(self.key.sk.strip_prefix(WATCHER_PREFIX).unwrap_or_default())?;
        Ok(self.value.is_watching().then_some(link))
    }
}

/// `IDEM#<workspace>#<key>` / `IDEM`: the first request with this idempotency key, and the target that it was answered with.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct IdempotencyItem {
    #[serde(flatten)]
    pub key: Key,
    pub target_id: TargetId,
    /// When the target was created, which tells it from a later one of the same URL.
    pub created_at: Timestamp,
    pub ttl: i64,
}

impl IdempotencyItem {
    pub(super) fn new(key: &IdempotencyKey, target: &Target, now: Timestamp) -> Self {
        Self {
            key: idempotency_key(&target.workspace, key),
            target_id: target.id.clone(),
            created_at: target.created_at,
            ttl: now.plus(lifetimes::IDEMPOTENCY_KEYS).unix_seconds(),
        }
    }

    /// Whether a target that has the id now is the one of the first answer, and not a later one of the same URL.
    pub(super) fn is_of(&self, target: &Target) -> bool {
        target.registered && target.created_at == self.created_at
    }
}

/// `RESULTS#<workspace>` / `<slot>#<partition>#<part>`: results of a workspace's targets in one tick.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ResultsItem {
    #[serde(flatten)]
    pub key: Key,
    /// The results, as `packed` writes them.
    #[serde(with = "serde_bytes")]
    pub results: Vec<u8>,
    pub ttl: i64,
}

impl ResultsItem {
    pub(super) fn new(
        workspace: &WorkspaceId,
        slot: Timestamp,
        partition: CheckPartition,
        part: usize,
        results: Vec<u8>,
    ) -> Self {
        Self {
            key: Key::new(results_partition(workspace), format!("{slot}#{:x}#{part}", partition.number())),
            results,
            ttl: slot.plus(lifetimes::CHECK_RESULTS).unix_seconds(),
        }
    }

    /// The tick's slot, which the sort key begins with.
    pub(super) fn slot(&self) -> Option<Timestamp> {
        self.key.sk.split('#').next().and_then(|slot| Timestamp::parse(slot).ok())
    }
}
