//! NotificationsTable: what people were told, how far it got, and where they get mail.

mod item;

use aws_sdk_dynamodb::{
    Client, error::SdkError, operation::put_item::PutItemError, types::ReturnValuesOnConditionCheckFailure,
};
use linklet_domain::{EmailAddress, EventId, Notification, NotificationStatus, Timestamp, UserId};

use self::item::{NotificationItem, OwnerItem, notification_key, owner_key, user_partition};
use crate::{
    Cursor, Page, RepositoryError,
    item::{IS_NEW, Table, from_item, text, to_item},
};

/// The table of notifications.
#[derive(Debug, Clone)]
pub struct NotificationsTable(Table);

/// How far the delivery of a notification had come when it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    /// Whether the topic has it.
    pub published: bool,
    /// Whether every channel has it.
    pub complete: bool,
}

impl NotificationsTable {
    /// The table with this name.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self(Table { client, name: name.into() })
    }

    /// Stores a notification as pending, or finds how far an earlier delivery of the same event has come.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn open(&self, notification: &Notification) -> Result<Delivery, RepositoryError> {
        const OPERATION: &str = "store a notification";
        let stored = self
            .0
            .client
            .put_item()
            .table_name(&self.0.name)
            .set_item(Some(to_item(OPERATION, &NotificationItem::from(notification))?))
            .condition_expression(IS_NEW)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        match stored.map_err(SdkError::into_service_error) {
            Ok(_) => Ok(Delivery { published: false, complete: false }),
            Err(PutItemError::ConditionalCheckFailedException(refused)) => {
                let standing = refused.item.map(|item| from_item::<NotificationItem>(OPERATION, item)).transpose()?;
                Ok(standing.map_or(Delivery { published: false, complete: false }, |item| Delivery {
                    published: item.published_at.is_some(),
                    complete: item.status == NotificationStatus::Sent,
                }))
            }
            Err(error) => Err(RepositoryError::unavailable(OPERATION)(error)),
        }
    }

    /// Notes that the topic has it, so that a retry of the mail doesn't publish again.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark_published(&self, notification: &Notification, at: Timestamp) -> Result<(), RepositoryError> {
        self.update(notification, "SET published_at = :at", vec![(":at", at.to_string())]).await
    }

    /// Notes that every channel has it.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark_sent(&self, notification: &Notification, at: Timestamp) -> Result<(), RepositoryError> {
        let values = vec![(":at", at.to_string()), (":status", "sent".to_owned())];
        self.update(notification, "SET #status = :status, sent_at = :at", values).await
    }

    /// Notes that delivery was given up for now; a redrive can still bring it to sent.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark_failed(&self, notification: &Notification) -> Result<(), RepositoryError> {
        self.update(notification, "SET #status = :status", vec![(":status", "failed".to_owned())]).await
    }

    async fn update(
        &self,
        notification: &Notification,
        expression: &str,
        values: Vec<(&str, String)>,
    ) -> Result<(), RepositoryError> {
        let mut update = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(notification_key(notification).into_item()))
            .update_expression(expression)
            .condition_expression("attribute_exists(pk)");
        if expression.contains("#status") {
            update = update.expression_attribute_names("#status", "status");
        }
        for (name, value) in values {
            update = update.expression_attribute_values(name, text(&value));
        }
        update.send().await.map_err(RepositoryError::unavailable("update a notification"))?;
        Ok(())
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
