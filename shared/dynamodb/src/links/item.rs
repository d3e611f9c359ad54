//! Keys and attributes of LinksTable.

use linklet_domain::{
    CorrelationId, EmailAddress, Event, EventDetail, EventId, Link, LinkState, RedirectTarget, ShortCode, TargetUrl,
    Timestamp, UrlCreated, UrlDeleted, UserId, WorkspaceId,
};
use serde::{Deserialize, Serialize};

use crate::{Cursor, item::Key};

pub(crate) const LINK_PREFIX: &str = "LINK#";

pub(crate) fn link_key(code: &ShortCode) -> Key {
    Key::new(format!("{LINK_PREFIX}{code}"), "LINK")
}

pub(crate) fn workspace_partition(workspace: &WorkspaceId) -> String {
    format!("WS#{workspace}")
}

/// `LINK#<code>` / `LINK`: a link. Creating and changing it is also what publishes its events, so it carries what they need.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LinkItem {
    #[serde(flatten)]
    pub key: Key,
    pub by_workspace_pk: String,
    pub by_workspace_sk: String,
    pub short_code: ShortCode,
    pub original_url: TargetUrl,
    pub workspace_id: WorkspaceId,
    pub user_id: UserId,
    pub user_email: EmailAddress,
    pub created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_by: Option<UserId>,
    /// The id of the event that the latest write makes.
    pub change_id: EventId,
    pub correlation_id: CorrelationId,
}

impl LinkItem {
    pub(crate) fn new(link: &Link, change_id: &EventId, correlation_id: &CorrelationId) -> Self {
        Self {
            key: link_key(&link.code),
            by_workspace_pk: workspace_partition(&link.workspace),
            by_workspace_sk: Cursor { at: link.created_at, id: link.code.clone() }.sort_key(),
            short_code: link.code.clone(),
            original_url: link.target.clone(),
            workspace_id: link.workspace.clone(),
            user_id: link.owner.clone(),
            user_email: link.owner_email.clone(),
            created_at: link.created_at,
            expires_at: link.expires_at,
            title: link.title.clone(),
            description: link.description.clone(),
            tags: link.tags.clone(),
            deleted_at: match link.state {
                LinkState::Active => None,
                LinkState::Deleted(at) => Some(at),
            },
            deleted_by: None,
            change_id: change_id.clone(),
            correlation_id: correlation_id.clone(),
        }
    }

    fn state(&self) -> LinkState {
        self.deleted_at.map_or(LinkState::Active, LinkState::Deleted)
    }

    pub(crate) fn into_link(self) -> Link {
        let state = self.state();
        Link {
            code: self.short_code,
            target: self.original_url,
            workspace: self.workspace_id,
            owner: self.user_id,
            owner_email: self.user_email,
            created_at: self.created_at,
            expires_at: self.expires_at,
            title: self.title,
            description: self.description,
            tags: self.tags,
            state,
        }
    }

    /// The event of a new link.
    pub(crate) fn created_event(self) -> Event {
        Event {
            event_id: self.change_id,
            occurred_at: self.created_at,
            correlation_id: self.correlation_id,
            detail: EventDetail::UrlCreated(UrlCreated {
                short_code: self.short_code,
                original_url: self.original_url,
                workspace_id: self.workspace_id,
                user_id: self.user_id,
                user_email: self.user_email,
                expires_at: self.expires_at,
            }),
        }
    }

    /// The event of a change from `before` to this, if there is one.
    pub(crate) fn changed_event(self, before: &Self) -> Option<Event> {
        let deleted_at = self.deleted_at?;
        if before.deleted_at.is_some() {
            return None;
        }
        Some(Event {
            event_id: self.change_id,
            occurred_at: deleted_at,
            correlation_id: self.correlation_id,
            detail: EventDetail::UrlDeleted(UrlDeleted {
                short_code: self.short_code,
                original_url: self.original_url,
                workspace_id: self.workspace_id,
                deleted_by: self.deleted_by.unwrap_or_else(|| self.user_id.clone()),
                user_id: self.user_id,
            }),
        })
    }
}

/// The attributes of a link that a redirect reads.
#[derive(Debug, Deserialize)]
pub(super) struct RedirectItem {
    pub short_code: ShortCode,
    pub original_url: TargetUrl,
    pub workspace_id: WorkspaceId,
    pub user_id: UserId,
    pub expires_at: Option<Timestamp>,
    pub deleted_at: Option<Timestamp>,
}

impl RedirectItem {
    pub(super) const PROJECTION: &str = "short_code, original_url, workspace_id, user_id, expires_at, deleted_at";
}

impl From<RedirectItem> for RedirectTarget {
    fn from(item: RedirectItem) -> Self {
        Self {
            code: item.short_code,
            target: item.original_url,
            workspace: item.workspace_id,
            owner: item.user_id,
            expires_at: item.expires_at,
            state: item.deleted_at.map_or(LinkState::Active, LinkState::Deleted),
        }
    }
}
