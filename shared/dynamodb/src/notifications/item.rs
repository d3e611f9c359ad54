//! Keys and attributes of NotificationsTable.

use linklet_domain::{
    CorrelationId, EventId, Notification, NotificationStatus, NotificationSubject, Timestamp, UserId, WorkspaceId,
    lifetimes,
};
use serde::{Deserialize, Serialize};

use crate::{Cursor, item::Key};

pub(super) fn user_partition(user: &UserId) -> String {
    format!("USER#{user}")
}

pub(super) fn notification_key(notification: &Notification) -> Key {
    let cursor = Cursor { at: notification.created_at, id: notification.id.clone() };
    Key::new(user_partition(&notification.user), cursor.sort_key())
}

/// The sort key of what somebody has seen. It comes after those of all notifications, which begin with a digit, so whoever reads
/// backwards reads it first.
pub(super) const SEEN: &str = "SEEN";

pub(super) fn seen_key(user: &UserId) -> Key {
    Key::new(user_partition(user), SEEN)
}

/// `USER#<id>` / `SEEN`: up to when somebody has seen their notifications.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SeenItem {
    pub seen_at: Timestamp,
}

/// `USER#<id>` / `<created_at>#<event>`: a notification. The key contains the event's id, so an event has one notification.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct NotificationItem {
    #[serde(flatten)]
    pub key: Key,
    pub event_id: EventId,
    pub user_id: UserId,
    pub workspace_id: WorkspaceId,
    pub event_type: String,
    pub message: String,
    #[serde(flatten)]
    pub about: NotificationSubject,
    pub status: NotificationStatus,
    pub created_at: Timestamp,
    pub published_at: Option<Timestamp>,
    pub sent_at: Option<Timestamp>,
    pub correlation_id: CorrelationId,
    pub ttl: i64,
}

impl From<&Notification> for NotificationItem {
    fn from(notification: &Notification) -> Self {
        Self {
            key: notification_key(notification),
            event_id: notification.id.clone(),
            user_id: notification.user,
            workspace_id: notification.workspace,
            event_type: notification.event_type.clone(),
            message: notification.message.clone(),
            about: notification.about.clone(),
            status: notification.status,
            created_at: notification.created_at,
            published_at: None,
            sent_at: notification.sent_at,
            correlation_id: notification.correlation_id.clone(),
            ttl: notification.created_at.plus(lifetimes::NOTIFICATIONS).unix_seconds(),
        }
    }
}

impl From<NotificationItem> for Notification {
    fn from(item: NotificationItem) -> Self {
        Self {
            id: item.event_id,
            user: item.user_id,
            workspace: item.workspace_id,
            event_type: item.event_type,
            message: item.message,
            about: item.about,
            status: item.status,
            created_at: item.created_at,
            sent_at: item.sent_at,
            correlation_id: item.correlation_id,
        }
    }
}
