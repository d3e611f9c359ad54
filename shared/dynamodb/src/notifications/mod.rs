//! NotificationsTable: notifications with the state of their delivery.

mod item;

use std::time::Duration;

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use linklet_domain::{EventId, Notification, NotificationKind, NotificationStatus, Timestamp, UserId, lifetimes};
use uuid::Uuid;

use self::item::{NotificationItem, SEEN, SeenItem, notification_key, seen_key, user_partition};
use crate::item::{Item, SortKeys, Table, from_item, number, text, to_item};
use crate::write::{Outcome, Write};
use crate::{Cursor, Page, Result};

/// The repository of notifications: NotificationsTable.
#[derive(Debug, Clone)]
pub struct NotificationsTable(pub Table);

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

/// A page of somebody's notifications.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feed {
    /// The notifications, newest first. There may be fewer than were asked for, also none, although others come behind them.
    pub page: Page<Notification, EventId>,
    /// Up to when they have seen their notifications. Only the first page knows.
    pub seen_at: Option<Timestamp>,
}

impl NotificationsTable {
    /// Deletes all notifications of a person.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn forget(&self, user: &UserId) -> Result<()> {
        self.0.delete_partition("forget a person's notifications", &user_partition(user)).await
    }

    /// Claims a notification for delivery, and stores it as pending if it doesn't exist. Both happen in one write.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn claim(&self, notification: &Notification, claim: &Claim) -> Result<ClaimOutcome> {
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
                let is_sent = existing.is_some_and(|item| item.notification.status == NotificationStatus::Sent);
                Ok(if is_sent { ClaimOutcome::AlreadySent } else { ClaimOutcome::ClaimedByOther })
            }
        }
    }

    /// Records that the notification was published to the SNS topic, so that a retry of the mail doesn't publish it again.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark_published(&self, notification: &Notification, at: Timestamp) -> Result<()> {
        self.mark(notification, "SET published_at = :at").value(":at", text(&at)).or_fail().await
    }

    /// Records that the notification was delivered to all channels, and with that that it was published, and releases the claim.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark_sent(&self, notification: &Notification, at: Timestamp) -> Result<()> {
        const IS_SENT: &str = "SET #status = :sent, sent_at = :at, published_at = if_not_exists(published_at, :at) \
                               REMOVE claimed_by, claimed_until";
        self.mark(notification, IS_SENT).values([(":sent", text(SENT)), (":at", text(&at))]).or_fail().await
    }

    /// Records that delivery has failed, unless the notification is sent. A redrive can still deliver it.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark_failed(&self, notification: &Notification) -> Result<()> {
        let update = self.mark(notification, "SET #status = :failed").and_if("#status <> :sent");
        // If it is refused, the notification is sent, or was never stored.
        update.values([(":failed", text("failed")), (":sent", text(SENT))]).unless_refused().await.map(|_| ())
    }

    /// Changes a notification that is stored.
    fn mark(&self, notification: &Notification, change: &str) -> Write<'_> {
        let update = self.0.update("update a notification", notification_key(notification), change);
        update.only_if("attribute_exists(pk)")
    }

    /// Lists a user's notifications of these kinds, or of all if none is named, newest first: at most `limit`, starting after the
    /// cursor.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn list(
        &self,
        user: &UserId,
        kinds: &[NotificationKind],
        limit: usize,
        after: Option<&Cursor<EventId>>,
    ) -> Result<Feed> {
        const OPERATION: &str = "list notifications";
        /// How many rows are looked at together for those of some kinds, which may be few of many.
        const AT_A_TIME: usize = 250;
        let after = after.map(Cursor::sort_key);
        let query = self.0.query(&user_partition(user), after.as_deref().map_or(SortKeys::All, SortKeys::Before));
        // One more shows that there is a next page, and one may be what was seen.
        let most = limit + 2;
        let (query, most) =
            if kinds.is_empty() { (query, most) } else { (of_kinds(query, kinds), most.max(AT_A_TIME)) };
        let query = query.scan_index_forward(false).set_limit(i32::try_from(most).ok());
        let mut answers = self.0.query_within_budget(OPERATION, query);
        let (mut notifications, mut seen_at) = (Vec::new(), None);
        while notifications.len() <= limit
            && let Some(items) = answers.next().await?
        {
            for item in items {
                if item.get("sk") == Some(&text(SEEN)) {
                    seen_at = Some(from_item::<SeenItem>(OPERATION, item)?.seen_at);
                } else {
                    notifications.push(from_item::<NotificationItem>(OPERATION, item)?.notification);
                }
            }
        }
        let mut page = Page::of(notifications, limit, |row| Cursor { at: row.created_at, id: row.id.clone() });
        let read_to =
            || answers.last_read()?.get("sk")?.as_s().ok().and_then(|sort_key| Cursor::from_sort_key(sort_key));
        page.next = page.next.or_else(read_to);
        Ok(Feed { page, seen_at })
    }

    /// Notes up to when a user has seen their notifications, unless they have seen later ones already.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark_seen(&self, user: &UserId, at: Timestamp) -> Result<()> {
        // Nothing older exists once it is gone.
        let ttl = at.plus(lifetimes::NOTIFICATIONS).unix_seconds();
        let update = self.0.update("note what was seen", seen_key(user), "SET seen_at = :at, #ttl = :ttl");
        let update = update.only_if("attribute_not_exists(seen_at) OR seen_at < :at");
        update.values([(":at", text(&at)), (":ttl", number(&ttl))]).unless_refused().await.map(|_| ())
    }
}

/// Has a query give the notifications of these kinds only, and what was seen.
fn of_kinds(query: QueryFluentBuilder, kinds: &[NotificationKind]) -> QueryFluentBuilder {
    let types = kinds.iter().flat_map(|kind| kind.event_types()).enumerate();
    let types: Vec<_> = types.map(|(index, event_type)| (format!(":type{index}"), text(*event_type))).collect();
    let names: Vec<_> = types.iter().map(|(name, _)| name.as_str()).collect();
    let filter = format!("attribute_exists(seen_at) OR event_type IN ({})", names.join(", "));
    let query = query.filter_expression(filter);
    types.into_iter().fold(query, |query, (name, value)| query.expression_attribute_values(name, value))
}

/// The stored form of [`NotificationStatus::Sent`].
const SENT: &str = "sent";
