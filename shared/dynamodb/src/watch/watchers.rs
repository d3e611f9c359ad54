//! Watchers: links that watch their destination.
//!
//! A watcher's item is written, and later replaced with a tombstone, in one transaction with the change of the target: its
//! count of watchers, its creation or its deletion. So each link counts once, however often and in whichever order its
//! messages arrive. The tombstone is needed because queues don't keep the order: if the message about a link's removal comes
//! before the one about its creation, the latter must not create a target that nothing would delete.

use aws_sdk_dynamodb::types::{AttributeValue, Delete, TransactWriteItem};
use linklet_domain::{CorrelationId, EventId, ShortCode, Target, TargetId, Timestamp};

use super::{
    WatchTable,
    item::{TargetItem, WatcherItem, target_key, watcher_key},
};
use crate::{
    RepositoryError,
    item::{IS_NEW, number},
    transaction::{Sent, Transaction, retry_on_conflict},
};

const WATCH: &str = "watch a link's target";
const UNWATCH: &str = "end watching a link's target";

/// What a refused action means.
enum Refusal {
    /// The change was made before.
    Done,
    /// A concurrent write has changed an item since it was read; read again and retry.
    Retry,
}

impl WatchTable {
    /// Adds a link to a target's watchers, and creates the target if it doesn't exist. A link that has stopped watching isn't
    /// added again.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn watch(
        &self,
        target: &Target,
        link: &ShortCode,
        correlation_id: &CorrelationId,
    ) -> Result<(), RepositoryError> {
        retry_on_conflict(WATCH, || self.try_to_watch(target, link, correlation_id)).await
    }

    async fn try_to_watch(
        &self,
        target: &Target,
        link: &ShortCode,
        correlation_id: &CorrelationId,
    ) -> Result<Option<()>, RepositoryError> {
        let count = match self.find(&target.id).await? {
            Some(found) => self.increment_watchers(&found.id)?,
            None => {
                let target = Target { watchers: 1, registered: false, ..target.clone() };
                self.0.put_new(WATCH, &TargetItem::new(&target, EventId::generate(), correlation_id))?
            }
        };
        let transaction = Transaction::new(WATCH)
            .and(self.0.put_new(WATCH, &WatcherItem::watching(&target.id, link))?, Refusal::Done)
            .and(count, Refusal::Retry);
        self.settled(transaction).await
    }

    /// Removes a link from a target's watchers. The target is deleted with its last watcher, unless it is registered.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn unwatch(&self, id: &TargetId, link: &ShortCode, at: Timestamp) -> Result<(), RepositoryError> {
        retry_on_conflict(UNWATCH, || self.try_to_unwatch(id, link, at)).await
    }

    async fn try_to_unwatch(
        &self,
        id: &TargetId,
        link: &ShortCode,
        at: Timestamp,
    ) -> Result<Option<()>, RepositoryError> {
        let tombstone = WatcherItem::tombstone(id, link, at);
        let Some(watcher) = self.0.get::<WatcherItem>(UNWATCH, watcher_key(id, link)).await? else {
            let put = self.0.put_if(UNWATCH, &tombstone, IS_NEW, [])?;
            return self.settled(Transaction::new(UNWATCH).and(put, Refusal::Retry)).await;
        };
        if watcher.removed_at.is_some() {
            return Ok(Some(()));
        }
        let is_watching = "attribute_exists(pk) AND attribute_not_exists(removed_at)";
        let put = self.0.put_if(UNWATCH, &tombstone, is_watching, [])?;
        let transaction = Transaction::new(UNWATCH).and(put, Refusal::Retry);
        let transaction = match self.find(id).await? {
            Some(target) => transaction.and(self.decrement_watchers(&target)?, Refusal::Retry),
            None => transaction,
        };
        self.settled(transaction).await
    }

    async fn settled(&self, transaction: Transaction<Refusal>) -> Result<Option<()>, RepositoryError> {
        Ok(match transaction.send(&self.0.client).await? {
            Sent::Committed | Sent::Refused(Refusal::Done) => Some(()),
            Sent::Refused(Refusal::Retry) | Sent::InConflict => None,
        })
    }

    fn increment_watchers(&self, id: &TargetId) -> Result<TransactWriteItem, RepositoryError> {
        self.update(WATCH, id, "ADD watchers :one", "attribute_exists(pk)", Some((":one", number(&1))))
    }

    /// The action that decrements the count of watchers, or deletes a target without other watchers that isn't registered. Its
    /// condition fails if the target has changed since it was read in a way that matters.
    fn decrement_watchers(&self, target: &Target) -> Result<TransactWriteItem, RepositoryError> {
        if target.registered || target.watchers > 1 {
            let values = [(":less", number(&-1)), (":one", number(&1)), (":yes", AttributeValue::Bool(true))];
            let stays = "watchers > :one OR (watchers = :one AND registered = :yes)";
            return self.update(UNWATCH, &target.id, "ADD watchers :less", stays, values);
        }
        let delete = Delete::builder()
            .table_name(&self.0.name)
            .set_key(Some(target_key(&target.id).into_item()))
            .condition_expression("watchers = :one AND registered = :no")
            .expression_attribute_values(":one", number(&1))
            .expression_attribute_values(":no", AttributeValue::Bool(false))
            .build()
            .map_err(RepositoryError::unavailable(UNWATCH))?;
        Ok(TransactWriteItem::builder().delete(delete).build())
    }
}
