//! Keys and attributes of ClicksTable.

use std::time::Duration;

use linklet_domain::{
    Click, CorrelationId, Event, EventDetail, EventId, IpHash, ShortCode, Timestamp, UrlClicked, UserId, WorkspaceId,
};
use serde::{Deserialize, Serialize};

use crate::item::Key;

/// Thirteen months: a full year can be compared with the one before.
const KEPT_FOR: Duration = Duration::from_secs(396 * 86_400);

/// The partition of a click: `CLICK#<code>#<shard>` with 16 shards, so that a viral link isn't bound to the 1,000 writes a
/// second of one partition. The shard is the id's last digit, which is random.
pub(crate) fn click_key(code: &ShortCode, id: &EventId) -> Key {
    let shard = id.as_str().chars().next_back().and_then(|digit| digit.to_digit(SHARDS)).unwrap_or_default();
    Key::new(partition(code, shard), id.as_str())
}

pub(super) const SHARDS: u32 = 16;

pub(super) fn partition(code: &ShortCode, shard: u32) -> String {
    format!("CLICK#{code}#{shard}")
}

/// `CLICK#<code>#<shard>` / `<id>`: a click. It is also the message that makes it count.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ClickItem {
    #[serde(flatten)]
    pub key: Key,
    pub short_code: ShortCode,
    pub workspace_id: WorkspaceId,
    pub user_id: UserId,
    pub clicked_at: Timestamp,
    pub ip_hash: IpHash,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub user_agent: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub referer: Option<String>,
    pub correlation_id: CorrelationId,
    pub ttl: i64,
}

impl From<&Click> for ClickItem {
    fn from(click: &Click) -> Self {
        Self {
            key: click_key(&click.code, &click.id),
            short_code: click.code.clone(),
            workspace_id: click.workspace.clone(),
            user_id: click.owner.clone(),
            clicked_at: click.clicked_at,
            ip_hash: click.ip_hash.clone(),
            user_agent: click.user_agent.clone(),
            referer: click.referer.clone(),
            correlation_id: click.correlation_id.clone(),
            ttl: click.clicked_at.plus(KEPT_FOR).unix_seconds(),
        }
    }
}

impl ClickItem {
    /// The event of this click.
    ///
    /// # Errors
    /// When the sort key is no event id.
    pub(crate) fn clicked_event(self) -> Result<Event, linklet_domain::Invalid> {
        Ok(Event {
            event_id: EventId::parse(&self.key.sk)?,
            occurred_at: self.clicked_at,
            correlation_id: self.correlation_id,
            detail: EventDetail::UrlClicked(UrlClicked {
                short_code: self.short_code,
                workspace_id: self.workspace_id,
                user_id: self.user_id,
                ip_hash: self.ip_hash,
                user_agent: self.user_agent,
                referer: self.referer,
            }),
        })
    }
}
