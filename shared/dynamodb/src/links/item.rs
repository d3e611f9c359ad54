//! Keys and attributes of LinksTable.

use std::time::Duration;

use linklet_domain::{
    CorrelationId, Event, EventDetail, EventId, ExternalId, Generation, Invalid, Link, LinkId, LinkMetadata, LinkState,
    LinkStatus, LinkSummary, NormalizedUrl, RedirectTarget, Revision, ShortCode, Tags, TargetId, TargetUrl, Timestamp,
    Tombstone, UrlCreated, UrlDeleted, UrlExpired, UrlPurged, UrlUnwatched, UserId, WorkspaceId,
};
use serde::{Deserialize, Serialize};

use crate::{Cursor, item::Key, revision::is_first};

pub(crate) const LINK_PREFIX: &str = "LINK#";

pub(crate) const EXPIRY_PREFIX: &str = "EXPIRY#";

/// The attribute [`TOMBSTONE`] of a purged link.
pub(super) const PURGED: &str = "purged";

/// The name of the attribute that only links with an expiry have.
pub(crate) const EXPIRES_AT: &str = "expires_at";

/// The name of the attribute that distinguishes tombstones from links.
pub(crate) const TOMBSTONE: &str = "tombstone";

pub(crate) fn link_key(code: &ShortCode) -> Key {
    Key::new(format!("{LINK_PREFIX}{code}"), "LINK")
}

pub(crate) fn workspace_partition(workspace: &WorkspaceId) -> String {
    format!("WS#{workspace}")
}

/// `URL#<workspace>#<digest>` / `URL`: the reuse entry of a URL.
pub(super) fn reuse_key(workspace: &WorkspaceId, digest: &str) -> Key {
    Key::new(format!("URL#{workspace}#{digest}"), "URL")
}

/// `IDEM#<workspace>#<key>` / `IDEM`: the stored response to a request with this idempotency key.
pub(super) fn idempotency_key(workspace: &WorkspaceId, key: &str) -> Key {
    Key::new(format!("IDEM#{workspace}#{key}"), "IDEM")
}

/// `EXTERNAL#<workspace>#<id>` / `EXTERNAL`: the link that is called this elsewhere. IAM roles in `template.yaml` name the prefix.
pub(super) fn external_id_key(workspace: &WorkspaceId, id: &ExternalId) -> Key {
    Key::new(format!("EXTERNAL#{workspace}#{id}"), "EXTERNAL")
}

/// `CLEANUP#<workspace>` / `CLEANUP`: the statistics of the cleanup.
pub(super) fn cleanup_key(workspace: &WorkspaceId) -> Key {
    Key::new(format!("CLEANUP#{workspace}"), "CLEANUP")
}

/// `LINK#<code>` / `LINK`: a link. Its events are made from this item's stream records, so it has all that events contain.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LinkItem {
    #[serde(flatten)]
    pub key: Key,
    pub by_workspace_pk: String,
    pub by_workspace_sk: String,
    pub short_code: ShortCode,
    pub generation: Generation,
    pub original_url: TargetUrl,
    pub workspace_id: WorkspaceId,
    pub user_id: UserId,
    pub created_at: Timestamp,
    /// The time of the last change; absent as long as there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expiry_is_published: bool,
    #[serde(flatten)]
    pub metadata: LinkMetadata,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub watch: bool,
    #[serde(default = "yes")]
    pub is_active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_by: Option<UserId>,
    /// Absent as long as nothing was changed.
    #[serde(default, skip_serializing_if = "is_first")]
    pub revision: Revision,
    /// The id of the event that the latest write publishes.
    pub change_id: EventId,
    pub correlation_id: CorrelationId,
}

fn yes() -> bool {
    true
}

fn state_of(is_active: bool, deleted_at: Option<Timestamp>) -> LinkState {
    match deleted_at {
        Some(at) => LinkState::Deleted(at),
        None if is_active => LinkState::Active,
        None => LinkState::Inactive,
    }
}

impl LinkItem {
    pub(crate) fn new(link: &Link, change_id: &EventId, correlation_id: &CorrelationId) -> Self {
        Self {
            key: link_key(&link.code),
            by_workspace_pk: workspace_partition(&link.workspace),
            by_workspace_sk: Cursor { at: link.created_at, id: link.code.clone() }.sort_key(),
            short_code: link.code.clone(),
            generation: link.generation.clone(),
            original_url: link.target.clone(),
            workspace_id: link.workspace.clone(),
            user_id: link.owner.clone(),
            created_at: link.created_at,
            updated_at: (link.updated_at != link.created_at).then_some(link.updated_at),
            expires_at: link.expires_at,
            expiry_is_published: link.expiry_is_published,
            metadata: link.metadata.clone(),
            watch: link.watch,
            is_active: link.state != LinkState::Inactive,
            deleted_at: match link.state {
                LinkState::Active | LinkState::Inactive => None,
                LinkState::Deleted(at) => Some(at),
            },
            deleted_by: None,
            revision: link.revision,
            change_id: change_id.clone(),
            correlation_id: correlation_id.clone(),
        }
    }

    pub(crate) fn into_link(self) -> Link {
        Link {
            code: self.short_code,
            generation: self.generation,
            target: self.original_url,
            workspace: self.workspace_id,
            owner: self.user_id,
            created_at: self.created_at,
            updated_at: self.updated_at.unwrap_or(self.created_at),
            expires_at: self.expires_at,
            expiry_is_published: self.expiry_is_published,
            metadata: self.metadata,
            watch: self.watch,
            state: state_of(self.is_active, self.deleted_at),
            revision: self.revision,
        }
    }

    /// The `url.created` event of a new link.
    pub(crate) fn created_event(self) -> Event {
        let occurred_at = self.created_at;
        self.event_of_what_it_is(occurred_at, EventDetail::UrlCreated)
    }

    /// An event that says all that its consumers have to know of the link.
    fn event_of_what_it_is(self, occurred_at: Timestamp, detail: fn(UrlCreated) -> EventDetail) -> Event {
        Event {
            event_id: self.change_id,
            occurred_at,
            correlation_id: self.correlation_id,
            detail: detail(UrlCreated {
                link: LinkId { code: self.short_code, generation: self.generation },
                original_url: self.original_url,
                workspace_id: self.workspace_id,
                user_id: self.user_id,
                expires_at: self.expires_at,
                watch: self.watch,
            }),
        }
    }

    /// The event of the change from `before` to this item: the link was deleted, has given up watching, its expiry has passed, or
    /// was put off after that. Other changes have none.
    pub(crate) fn changed_event(self, before: &Self) -> Option<Event> {
        if let Some(deleted_at) = self.deleted_at {
            return before.deleted_at.is_none().then(|| self.deleted_event(before, deleted_at));
        }
        if before.watch && !self.watch {
            // Nobody else wants to know of an expiry that was put off at the same time.
            return self.unwatched_event(before);
        }
        match (before.expiry_is_published, self.expiry_is_published, before.expires_at) {
            (false, true, Some(expired_at)) => Some(self.expired_event(expired_at)),
            (true, false, Some(expired_at)) => Some(self.extended_event(expired_at)),
            _ => None,
        }
    }

    fn deleted_event(self, before: &Self, deleted_at: Timestamp) -> Event {
        let watched_target = before.clone().into_link().watched_target();
        Event {
            event_id: self.change_id,
            occurred_at: deleted_at,
            correlation_id: self.correlation_id,
            detail: EventDetail::UrlDeleted(UrlDeleted {
                link: LinkId { code: self.short_code, generation: self.generation },
                original_url: self.original_url,
                workspace_id: self.workspace_id,
                deleted_by: self.deleted_by.unwrap_or_else(|| self.user_id.clone()),
                user_id: self.user_id,
                watched_target,
            }),
        }
    }

    fn unwatched_event(self, before: &Self) -> Option<Event> {
        let watched_target = before.clone().into_link().watched_target()?;
        let link = LinkId { code: self.short_code, generation: self.generation };
        Some(Event {
            event_id: self.change_id,
            occurred_at: self.updated_at.unwrap_or(self.created_at),
            correlation_id: self.correlation_id,
            detail: EventDetail::UrlUnwatched(UrlUnwatched { link, workspace_id: self.workspace_id, watched_target }),
        })
    }

    fn expired_event(self, expired_at: Timestamp) -> Event {
        let (event_id, correlation_id) = (self.change_id.clone(), self.correlation_id.clone());
        let link = self.into_link();
        let detail = EventDetail::UrlExpired(UrlExpired {
            link: link.id(),
            watched_target: link.watched_target(),
            workspace_id: link.workspace,
            user_id: link.owner,
        });
        Event { event_id, occurred_at: expired_at, correlation_id, detail }
    }

    /// The clocks of two hosts differ, and a watch begins again only after it has ended. So the event is later than the expiry in
    /// any case.
    fn extended_event(self, expired_at: Timestamp) -> Event {
        let earliest = expired_at.plus(Duration::from_millis(1));
        let occurred_at = self.updated_at.map_or(earliest, |at| at.max(earliest));
        self.event_of_what_it_is(occurred_at, EventDetail::UrlExtended)
    }
}

/// What the index `by-workspace-lean` has of a link. Code and time of creation are in the key.
#[derive(Debug, Deserialize)]
pub(super) struct LeanItem {
    by_workspace_sk: String,
    generation: Generation,
    user_id: UserId,
    expires_at: Option<Timestamp>,
    #[serde(default)]
    tags: Tags,
    #[serde(default = "yes")]
    is_active: bool,
    deleted_at: Option<Timestamp>,
}

impl LeanItem {
    pub(super) fn into_summary(self) -> Result<LinkSummary, Invalid> {
        let Cursor { at, id: code } = Cursor::from_sort_key(&self.by_workspace_sk)
            .ok_or_else(|| Invalid::new("a place in a list is a time and a code"))?;
        Ok(LinkSummary {
            id: LinkId { code, generation: self.generation },
            owner: self.user_id,
            created_at: at,
            expires_at: self.expires_at,
            tags: self.tags,
            state: state_of(self.is_active, self.deleted_at),
        })
    }
}

/// `EXPIRY#<link>` / `EXPIRY`: the marker of a link that expires. Its deletion by TTL says that something is to be done about the
/// link; what that is, the link itself says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ExpiryMarkerItem {
    #[serde(flatten)]
    pub key: Key,
    pub short_code: ShortCode,
    pub generation: Generation,
    pub correlation_id: CorrelationId,
    pub ttl: i64,
}

impl ExpiryMarkerItem {
    pub(super) fn new(link: &LinkId, due: Timestamp, correlation_id: &CorrelationId) -> Self {
        Self {
            key: Key::new(format!("{EXPIRY_PREFIX}{link}"), "EXPIRY"),
            short_code: link.code.clone(),
            generation: link.generation.clone(),
            correlation_id: correlation_id.clone(),
            // Rounded up, since a marker that is gone before its time has to be written again.
            ttl: due.plus(Duration::from_millis(999)).unix_seconds(),
        }
    }
}

/// `LINK#<code>` / `LINK`: the tombstone of a removed link. Writing that of a purged one publishes `url.purged`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TombstoneItem {
    #[serde(flatten)]
    pub key: Key,
    pub short_code: ShortCode,
    pub generation: Generation,
    pub workspace_id: WorkspaceId,
    pub user_id: UserId,
    pub tombstone: Reason,
    pub removed_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched_target: Option<TargetId>,
    pub change_id: EventId,
    pub correlation_id: CorrelationId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<i64>,
}

/// Why a link was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Reason {
    Deleted,
    Expired,
    Purged,
}

impl TombstoneItem {
    pub(crate) fn new(tombstone: &Tombstone, change_id: &EventId, correlation_id: &CorrelationId) -> Self {
        Self {
            key: link_key(&tombstone.code),
            short_code: tombstone.code.clone(),
            generation: tombstone.generation.clone(),
            workspace_id: tombstone.workspace.clone(),
            user_id: tombstone.owner.clone(),
            tombstone: match tombstone.reason {
                LinkStatus::Purged => Reason::Purged,
                LinkStatus::Deleted => Reason::Deleted,
                LinkStatus::Active | LinkStatus::Inactive | LinkStatus::Expired => Reason::Expired,
            },
            removed_at: tombstone.removed_at,
            watched_target: tombstone.watched_target.clone(),
            change_id: change_id.clone(),
            correlation_id: correlation_id.clone(),
            ttl: tombstone.kept_until().map(Timestamp::unix_seconds),
        }
    }

    /// The event of a new tombstone. That of a deleted or expired link has none, since `url.deleted` or `url.expired` was
    /// published while there was the link.
    pub(crate) fn removed_event(self) -> Option<Event> {
        let Self { short_code, generation, workspace_id, user_id, watched_target, .. } = self;
        let is_purged = matches!(self.tombstone, Reason::Purged);
        let link = LinkId { code: short_code, generation };
        is_purged.then_some(Event {
            event_id: self.change_id,
            occurred_at: self.removed_at,
            correlation_id: self.correlation_id,
            detail: EventDetail::UrlPurged(UrlPurged { link, workspace_id, user_id, watched_target }),
        })
    }
}

impl From<TombstoneItem> for Tombstone {
    fn from(item: TombstoneItem) -> Self {
        Self {
            code: item.short_code,
            generation: item.generation,
            workspace: item.workspace_id,
            owner: item.user_id,
            reason: match item.tombstone {
                Reason::Deleted => LinkStatus::Deleted,
                Reason::Expired => LinkStatus::Expired,
                Reason::Purged => LinkStatus::Purged,
            },
            removed_at: item.removed_at,
            watched_target: item.watched_target,
        }
    }
}

/// The attributes of a link that a redirect needs. The whole item is read, since a projection saves no read units, and naming
/// the attributes takes longer than skipping the others.
#[derive(Debug, Deserialize)]
pub(super) struct RedirectItem {
    pub short_code: ShortCode,
    pub generation: Generation,
    pub original_url: TargetUrl,
    pub workspace_id: WorkspaceId,
    pub user_id: UserId,
    pub expires_at: Option<Timestamp>,
    pub deleted_at: Option<Timestamp>,
    #[serde(default = "yes")]
    pub is_active: bool,
}

impl From<RedirectItem> for RedirectTarget {
    fn from(item: RedirectItem) -> Self {
        Self {
            id: LinkId { code: item.short_code, generation: item.generation },
            target: item.original_url,
            workspace: item.workspace_id,
            owner: item.user_id,
            expires_at: item.expires_at,
            state: state_of(item.is_active, item.deleted_at),
        }
    }
}

/// `URL#<workspace>#<digest>` / `URL`: the reuse entry, the link to return when the URL is shortened again. The link may have
/// been removed since, so readers have to check it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ReuseItem {
    #[serde(flatten)]
    pub key: Key,
    pub short_code: ShortCode,
}

impl ReuseItem {
    pub(super) fn key_of(link: &Link) -> Key {
        reuse_key(&link.workspace, &NormalizedUrl::of(&link.target).digest())
    }

    pub(super) fn new(link: &Link) -> Self {
        Self { key: Self::key_of(link), short_code: link.code.clone() }
    }
}

/// `EXTERNAL#<workspace>#<id>` / `EXTERNAL`: the link that is called this elsewhere. The link may have been removed since, so
/// readers have to check it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ExternalIdItem {
    #[serde(flatten)]
    pub key: Key,
    pub short_code: ShortCode,
    pub generation: Generation,
    /// Tells the entry from others of the same link.
    pub claim: EventId,
}

impl ExternalIdItem {
    pub(super) fn new(workspace: &WorkspaceId, link: &LinkId, id: &ExternalId) -> Self {
        Self {
            key: external_id_key(workspace, id),
            short_code: link.code.clone(),
            generation: link.generation.clone(),
            claim: EventId::generate(),
        }
    }
}

/// `IDEM#<workspace>#<key>` / `IDEM`: the stored response to a request with this idempotency key.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct IdempotencyItem {
    #[serde(flatten)]
    pub key: Key,
    pub fingerprint: String,
    pub generation: Generation,
    #[serde(default, skip_serializing_if = "is_first")]
    pub revision: Revision,
    pub status: u16,
    pub answer: String,
    pub ttl: i64,
}

/// `CLEANUP#<workspace>` / `CLEANUP`: the statistics of the cleanup of a workspace's expired links.
#[derive(Debug, Default, Deserialize)]
pub(super) struct CleanupItem {
    #[serde(default)]
    pub total_cleaned: u64,
    #[serde(default)]
    pub last_batch_size: u64,
    #[serde(default)]
    pub successful_runs: u64,
    #[serde(default)]
    pub failed_runs: u64,
    #[serde(default)]
    pub successful_ms: u64,
    pub last_cleanup_at: Option<Timestamp>,
    pub running_until: Option<Timestamp>,
}
