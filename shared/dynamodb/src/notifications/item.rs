//! Keys and attributes of NotificationsTable.

use linklet_domain::{Notification, Timestamp, UserId, lifetimes};
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
    #[serde(flatten)]
    pub notification: Notification,
    pub published_at: Option<Timestamp>,
    pub ttl: i64,
}

impl From<&Notification> for NotificationItem {
    fn from(notification: &Notification) -> Self {
        Self {
            key: notification_key(notification),
            notification: notification.clone(),
            published_at: None,
            ttl: notification.created_at.plus(lifetimes::NOTIFICATIONS).unix_seconds(),
        }
    }
}
