//! NotificationsTable: notifications with the state of their delivery.

mod item;

use std::time::Duration;

use aws_sdk_dynamodb::{
    Client,
    error::SdkError,
    operation::update_item::{UpdateItemError, builders::UpdateItemFluentBuilder},
    types::{ReturnValue, ReturnValuesOnConditionCheckFailure},
};
use linklet_domain::{EventId, Notification, NotificationStatus, Timestamp, UserId};
use uuid::Uuid;

use self::item::{NotificationItem, notification_key, user_partition};
use crate::{
    Cursor, Page, RepositoryError,
    item::{Item, Table, from_item, text, to_item},
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
        let item = to_item(OPERATION, &NotificationItem::from(notification))?;
        let claimed = set_if_absent(self.update_of(notification), item, "claimed_by = :claim, claimed_until = :until")
            .condition_expression(IS_FREE)
            .expression_attribute_names("#status", "status")
            .expression_attribute_values(":sent", text(SENT))
            .expression_attribute_values(":now", text(&claim.from))
            .expression_attribute_values(":claim", text(&claim.id))
            .expression_attribute_values(":until", text(&claim.until))
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        let read = |item: Item| from_item::<NotificationItem>(OPERATION, item);
        match claimed.map_err(SdkError::into_service_error) {
            Ok(claimed) => {
                let published_at = read(claimed.attributes.unwrap_or_default())?.published_at;
                Ok(ClaimOutcome::Claimed { published: published_at.is_some() })
            }
            Err(UpdateItemError::ConditionalCheckFailedException(refused)) => {
                let existing = refused.item.map(read).transpose()?;
                let is_sent = existing.is_some_and(|item| item.status == NotificationStatus::Sent);
                Ok(if is_sent { ClaimOutcome::AlreadySent } else { ClaimOutcome::ClaimedByOther })
            }
            Err(error) => Err(RepositoryError::unavailable(OPERATION)(error)),
        }
    }

    /// Records that the notification was published to the SNS topic, so that a retry of the mail doesn't publish it again.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark_published(&self, notification: &Notification, at: Timestamp) -> Result<(), RepositoryError> {
        let update = self.update_of(notification).update_expression("SET published_at = :at");
        mark(update.condition_expression("attribute_exists(pk)").expression_attribute_values(":at", text(&at))).await
    }

    /// Records that the notification was delivered to all channels, and with that that it was published, and releases the claim.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark_sent(&self, notification: &Notification, at: Timestamp) -> Result<(), RepositoryError> {
        let update = self
            .update_of(notification)
            .update_expression(
                "SET #status = :sent, sent_at = :at, published_at = if_not_exists(published_at, :at) \
                 REMOVE claimed_by, claimed_until",
            )
            .condition_expression("attribute_exists(pk)")
            .expression_attribute_names("#status", "status")
            .expression_attribute_values(":sent", text(SENT))
            .expression_attribute_values(":at", text(&at));
        mark(update).await
    }

    /// Records that delivery has failed, unless the notification is sent. A redrive can still deliver it.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark_failed(&self, notification: &Notification) -> Result<(), RepositoryError> {
        let update = self
            .update_of(notification)
            .update_expression("SET #status = :failed")
            .condition_expression("attribute_exists(pk) AND #status <> :sent")
            .expression_attribute_names("#status", "status")
            .expression_attribute_values(":failed", text("failed"))
            .expression_attribute_values(":sent", text(SENT));
        match update.send().await.map_err(SdkError::into_service_error) {
            // The notification is sent, or was never stored.
            Ok(_) | Err(UpdateItemError::ConditionalCheckFailedException(_)) => Ok(()),
            Err(error) => Err(RepositoryError::unavailable(MARK)(error)),
        }
    }

    fn update_of(&self, notification: &Notification) -> UpdateItemFluentBuilder {
        let key = notification_key(notification).into_item();
        self.0.client.update_item().table_name(&self.0.name).set_key(Some(key))
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
        let fetched = limit + 1;
        let mut query = self
            .0
            .client
            .query()
            .expression_attribute_values(":user", text(&user_partition(user)))
            .scan_index_forward(false)
            .limit(i32::try_from(fetched).unwrap_or(i32::MAX));
        query = match after {
            Some(cursor) => query
                .key_condition_expression("pk = :user AND sk < :after")
                .expression_attribute_values(":after", text(&cursor.sort_key())),
            None => query.key_condition_expression("pk = :user"),
        };
        let rows = self.0.query_all(OPERATION, query, fetched).await?;
        let notifications: Result<Vec<Notification>, _> =
            rows.into_iter().map(|item| from_item::<NotificationItem>(OPERATION, item).map(Into::into)).collect();
        Ok(Page::of(notifications?, limit, |row| Cursor { at: row.created_at, id: row.id.clone() }))
    }
}

const MARK: &str = "update a notification";

/// The stored form of [`NotificationStatus::Sent`].
const SENT: &str = "sent";

/// An update that sets each attribute of `item` only if it doesn't exist, and applies `set` in any case.
fn set_if_absent(update: UpdateItemFluentBuilder, item: Item, set: &str) -> UpdateItemFluentBuilder {
    let attributes = item.into_iter().filter(|(name, _)| name != "pk" && name != "sk");
    let (mut expression, mut update) = (format!("SET {set}"), update);
    for (number, (name, value)) in attributes.enumerate() {
        expression.push_str(&format!(", #a{number} = if_not_exists(#a{number}, :a{number})"));
        update = update
            .expression_attribute_names(format!("#a{number}"), name)
            .expression_attribute_values(format!(":a{number}"), value);
    }
    update.update_expression(expression)
}

async fn mark(update: UpdateItemFluentBuilder) -> Result<(), RepositoryError> {
    update.send().await.map_err(RepositoryError::unavailable(MARK))?;
    Ok(())
}
