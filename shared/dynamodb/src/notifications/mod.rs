//! NotificationsTable: notifications with the state of their delivery.

mod item;

use std::time::Duration;

use aws_sdk_dynamodb::Client;
use linklet_domain::{EventId, Notification, NotificationStatus, Timestamp, UserId};
use uuid::Uuid;

use self::item::{NotificationItem, notification_key, user_partition};
use crate::{
    Cursor, Page, RepositoryError,
    item::{Item, SortKeys, Table, from_item, text, to_item},
    write::{Outcome, Write},
};

/// The repository of notifications: NotificationsTable.
#[derive(Debug, Clone)]
pub struct NotificationsTable(Table);

/// A lease on a notification: only the holder delivers it until the claim expires.
///
/// Each delivery attempt makes its own claim. A claim isn't released when the attempt fails or crashes; it expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    id: Uuid,
    from: Timestamp,
    until: Timestamp,
}

impl Claim {
    /// A claim that starts at `now` and expires after `duration`.
    #[must_use]
    pub fn new(now: Timestamp, duration: Duration) -> Self {
        Self { id: Uuid::new_v4(), from: now, until: now.plus(duration) }
    }
}

/// The outcome of claiming a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// The caller holds the claim and has to deliver the notification.
    Claimed {
        /// Whether an earlier attempt has published the notification to the SNS topic.
        published: bool,
    },
    /// Another delivery attempt holds a claim that has not expired.
    ClaimedByOther,
    /// The notification was delivered to all channels.
    AlreadySent,
}

impl NotificationsTable {
    /// A repository for the table with this name.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self(Table { client, name: name.into() })
    }

    /// Claims a notification for delivery, and stores it as pending if it doesn't exist. Both happen in one write.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn claim(&self, notification: &Notification, claim: &Claim) -> Result<ClaimOutcome, RepositoryError> {
        const OPERATION: &str = "claim a notification";
        // `claimed_by = :claim` holds when the SDK retries a write whose response was lost.
        const IS_FREE: &str = "attribute_not_exists(pk) OR (#status <> :sent AND (attribute_not_exists(claimed_until) OR \
                               claimed_until <= :now OR claimed_by = :claim))";
        let mut attributes = to_item(OPERATION, &NotificationItem::from(notification))?;
        attributes.retain(|name, _| name != "pk" && name != "sk");
        // What is stored already stays.
        let stored: String =
            attributes.keys().map(|name| format!(", #{name} = if_not_exists(#{name}, :{name})")).collect();
        let expression = format!("SET claimed_by = :claim, claimed_until = :until{stored}");
        let claimed = self
            .0
            .update(OPERATION, notification_key(notification), expression)
            .only_if(IS_FREE)
            .values(attributes.into_iter().map(|(name, value)| (format!(":{name}"), value)))
            .values([(":sent", text(SENT)), (":now", text(&claim.from))])
            .values([(":claim", text(&claim.id)), (":until", text(&claim.until))])
            .returning_new();
        let read = |item: Item| from_item::<NotificationItem>(OPERATION, item);
        match claimed.send().await? {
            Outcome::Done(claimed) => Ok(ClaimOutcome::Claimed { published: read(claimed)?.published_at.is_some() }),
            Outcome::Refused(existing) => {
                let existing = existing.map(read).transpose()?;
                let is_sent = existing.is_some_and(|item| item.status == NotificationStatus::Sent);
                Ok(if is_sent { ClaimOutcome::AlreadySent } else { ClaimOutcome::ClaimedByOther })
            }
        }
    }

    /// Records that the notification was published to the SNS topic, so that a retry of the mail doesn't publish it again.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark_published(&self, notification: &Notification, at: Timestamp) -> Result<(), RepositoryError> {
        self.mark(notification, "SET published_at = :at").value(":at", text(&at)).or_fail().await
    }

    /// Records that the notification was delivered to all channels, and with that that it was published, and releases the claim.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark_sent(&self, notification: &Notification, at: Timestamp) -> Result<(), RepositoryError> {
        const IS_SENT: &str = "SET #status = :sent, sent_at = :at, published_at = if_not_exists(published_at, :at) \
                               REMOVE claimed_by, claimed_until";
        self.mark(notification, IS_SENT).values([(":sent", text(SENT)), (":at", text(&at))]).or_fail().await
    }

    /// Records that delivery has failed, unless the notification is sent. A redrive can still deliver it.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark_failed(&self, notification: &Notification) -> Result<(), RepositoryError> {
        let update = self.mark(notification, "SET #status = :failed").and_if("#status <> :sent");
        // If it is refused, the notification is sent, or was never stored.
        update.values([(":failed", text("failed")), (":sent", text(SENT))]).unless_refused().await.map(|_| ())
    }

    /// Changes a notification that is stored.
    fn mark(&self, notification: &Notification, change: &str) -> Write<'_> {
        let update = self.0.update("update a notification", notification_key(notification), change);
        update.only_if("attribute_exists(pk)")
    }

    /// Lists a user's notifications, newest first: at most `limit`, starting after the cursor.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn list(
        &self,
        user: &UserId,
        limit: usize,
        after: Option<&Cursor<EventId>>,
    ) -> Result<Page<Notification, EventId>, RepositoryError> {
        const OPERATION: &str = "list notifications";
        let after = after.map(Cursor::sort_key);
        let query = self.0.query(&user_partition(user), after.as_deref().map_or(SortKeys::All, SortKeys::Before));
        let rows = self.0.query_all(OPERATION, query.scan_index_forward(false), limit + 1).await?;
        let notifications: Result<Vec<Notification>, _> =
            rows.into_iter().map(|item| from_item::<NotificationItem>(OPERATION, item).map(Into::into)).collect();
        Ok(Page::of(notifications?, limit, |row| Cursor { at: row.created_at, id: row.id.clone() }))
    }
}

/// The stored form of [`NotificationStatus::Sent`].
const SENT: &str = "sent";
