//! NotificationsTable: what people were told, how far it got, and where they get mail.

mod item;

use std::time::Duration;

use aws_sdk_dynamodb::{
    Client,
    error::SdkError,
    operation::{
        put_item::PutItemError,
        update_item::{UpdateItemError, builders::UpdateItemFluentBuilder},
    },
    types::{ReturnValue, ReturnValuesOnConditionCheckFailure},
};
use linklet_domain::{EmailAddress, EventId, Notification, NotificationStatus, Timestamp, UserId};
use uuid::Uuid;

use self::item::{NotificationItem, OwnerItem, notification_key, owner_key, user_partition};
use crate::{
    Cursor, Page, RepositoryError,
    item::{Item, Table, from_item, text, to_item},
};

/// The table of notifications.
#[derive(Debug, Clone)]
pub struct NotificationsTable(Table);

/// A delivery's wish to have a notification for itself for a time. Each delivery makes one of its own. Nothing takes it back
/// when a delivery dies or fails: it runs out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    id: Uuid,
    from: Timestamp,
    until: Timestamp,
}

impl Claim {
    /// From now on, for this time.
    #[must_use]
    pub fn new(now: Timestamp, lasts: Duration) -> Self {
        Self { id: Uuid::new_v4(), from: now, until: now.plus(lasts) }
    }
}

/// Who delivers a notification, when somebody has claimed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Whoever asks, and nobody else until their claim runs out.
    Ours {
        /// Whether the topic has it already.
        published: bool,
    },
    /// Somebody whose claim hasn't run out.
    Elsewhere,
    /// Nobody: every channel has it.
    Complete,
}

impl NotificationsTable {
    /// The table with this name.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self(Table { client, name: name.into() })
    }

    /// Stores a notification as pending, or finds how far an earlier delivery of the same event has come; and claims what
    /// remains to be done. All of that is one write, also for what is there already.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn open(&self, notification: &Notification, claim: &Claim) -> Result<Delivery, RepositoryError> {
        const OPERATION: &str = "open a notification";
        // The last one is the SDK's, which repeats a write whose answer got lost.
        const IS_FREE: &str = "attribute_not_exists(pk) OR (#status <> :sent AND (attribute_not_exists(claimed_until) OR \
                               claimed_until <= :now OR claimed_by = :claim))";
        let item = to_item(OPERATION, &NotificationItem::from(notification))?;
        let opened = unless_there(self.update_of(notification), item, "claimed_by = :claim, claimed_until = :until")
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
        match opened.map_err(SdkError::into_service_error) {
            Ok(opened) => {
                let published_at = read(opened.attributes.unwrap_or_default())?.published_at;
                Ok(Delivery::Ours { published: published_at.is_some() })
            }
            Err(UpdateItemError::ConditionalCheckFailedException(refused)) => {
                let standing = refused.item.map(read).transpose()?;
                let is_sent = standing.is_some_and(|item| item.status == NotificationStatus::Sent);
                Ok(if is_sent { Delivery::Complete } else { Delivery::Elsewhere })
            }
            Err(error) => Err(RepositoryError::unavailable(OPERATION)(error)),
        }
    }

    /// Notes that the topic has it, so that a retry of the mail doesn't publish again.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark_published(&self, notification: &Notification, at: Timestamp) -> Result<(), RepositoryError> {
        let update = self.update_of(notification).update_expression("SET published_at = :at");
        mark(update.condition_expression("attribute_exists(pk)").expression_attribute_values(":at", text(&at))).await
    }

    /// Notes that every channel has it, which ends the claim.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark_sent(&self, notification: &Notification, at: Timestamp) -> Result<(), RepositoryError> {
        let update = self
            .update_of(notification)
            .update_expression("SET #status = :sent, sent_at = :at REMOVE claimed_by, claimed_until")
            .condition_expression("attribute_exists(pk)")
            .expression_attribute_names("#status", "status")
            .expression_attribute_values(":sent", text(SENT))
            .expression_attribute_values(":at", text(&at));
        mark(update).await
    }

    /// Notes that delivery was given up for now, unless every channel has it by then; a redrive can still bring it to sent.
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
            // It is sent, or was never stored: there is nothing to mark.
            Ok(_) | Err(UpdateItemError::ConditionalCheckFailedException(_)) => Ok(()),
            Err(error) => Err(RepositoryError::unavailable(MARK)(error)),
        }
    }

    fn update_of(&self, notification: &Notification) -> UpdateItemFluentBuilder {
        let key = notification_key(notification).into_item();
        self.0.client.update_item().table_name(&self.0.name).set_key(Some(key))
    }

    /// A person's notifications, newest first, `limit` at most, after the given one.
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

    /// Remembers where a person gets mail, unless something newer is known.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn remember_owner(
        &self,
        user: &UserId,
        email: &EmailAddress,
        as_of: Timestamp,
    ) -> Result<(), RepositoryError> {
        const OPERATION: &str = "remember an owner's address";
        let owner = OwnerItem { key: owner_key(user), email: email.clone(), as_of };
        let stored = self
            .0
            .client
            .put_item()
            .table_name(&self.0.name)
            .set_item(Some(to_item(OPERATION, &owner)?))
            .condition_expression("attribute_not_exists(pk) OR as_of < :as_of")
            .expression_attribute_values(":as_of", text(&as_of))
            .send()
            .await;
        match stored.map_err(SdkError::into_service_error) {
            // Something at least as new is known: that is what was asked for.
            Ok(_) | Err(PutItemError::ConditionalCheckFailedException(_)) => Ok(()),
            Err(error) => Err(RepositoryError::unavailable(OPERATION)(error)),
        }
    }

    /// Where a person gets mail, if any of their links has said so yet.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn owner_email(&self, user: &UserId) -> Result<Option<EmailAddress>, RepositoryError> {
        const OPERATION: &str = "look up an owner's address";
        let found = self
            .0
            .client
            .get_item()
            .table_name(&self.0.name)
            .set_key(Some(owner_key(user).into_item()))
            .send()
            .await
            .map_err(RepositoryError::unavailable(OPERATION))?;
        found.item.map(|item| from_item::<OwnerItem>(OPERATION, item).map(|owner| owner.email)).transpose()
    }
}

const MARK: &str = "update a notification";

/// [`NotificationStatus::Sent`], as it is stored.
const SENT: &str = "sent";

/// Writes the attributes of an item that aren't there yet, and sets others.
fn unless_there(update: UpdateItemFluentBuilder, item: Item, set: &str) -> UpdateItemFluentBuilder {
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
