//! Links that watch the URL that they lead to.
//!
//! The row of a watcher decides: it is written and marked as gone in one transaction with the count of watchers, and with the
//! target's creation and end, so however often and in whichever order the news of a link come, it counts once. The mark stays
//! behind, since queues keep no order: the news that a link is gone may come before the news that there is one, which then
//! must not bring a target to life that nobody would end.

use aws_sdk_dynamodb::types::{AttributeValue, Delete, TransactWriteItem};
use linklet_domain::{CorrelationId, EventId, ShortCode, Target, TargetId, Timestamp};

use super::{
    WatchTable,
    item::{TargetItem, WatcherItem, target_key, watcher_key},
};
use crate::{
    RepositoryError,
    item::{IS_NEW, number},
    transaction::{Sent, Transaction, settle},
};

const WATCH: &str = "watch a link's target";
const UNWATCH: &str = "end watching a link's target";

/// A refused action means that it is done already, or that something has changed since it was read: look again.
enum Refusal {
    Done,
    LookAgain,
}

impl WatchTable {
    /// Lets a link watch its target, which comes into being if it has to. A link that has ceased to watch doesn't begin again.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn watch(
        &self,
        target: &Target,
        link: &ShortCode,
        correlation_id: &CorrelationId,
    ) -> Result<(), RepositoryError> {
        settle(WATCH, || self.try_to_watch(target, link, correlation_id)).await
    }

    async fn try_to_watch(
        &self,
        target: &Target,
        link: &ShortCode,
        correlation_id: &CorrelationId,
    ) -> Result<Option<()>, RepositoryError> {
        let count = match self.find(&target.id).await? {
            Some(found) => self.count_one_more(&found.id)?,
            None => {
                let target = Target { watchers: 1, registered: false, ..target.clone() };
                self.0.put_new(WATCH, &TargetItem::new(&target, EventId::generate(), correlation_id))?
            }
        };
        let transaction = Transaction::new(WATCH)
            .and(self.0.put_new(WATCH, &WatcherItem::watching(&target.id, link))?, Refusal::Done)
            .and(count, Refusal::LookAgain);
        self.settled(transaction).await
    }

    /// Ends it. The last watcher takes the target along, unless somebody registered it by itself.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn unwatch(&self, id: &TargetId, link: &ShortCode, at: Timestamp) -> Result<(), RepositoryError> {
        settle(UNWATCH, || self.try_to_unwatch(id, link, at)).await
    }

    async fn try_to_unwatch(
        &self,
        id: &TargetId,
        link: &ShortCode,
        at: Timestamp,
    ) -> Result<Option<()>, RepositoryError> {
        let gone = WatcherItem::gone(id, link, at);
        let Some(watcher) = self.0.get::<WatcherItem>(UNWATCH, watcher_key(id, link)).await? else {
            let mark = self.0.put_if(UNWATCH, &gone, IS_NEW, [])?;
            return self.settled(Transaction::new(UNWATCH).and(mark, Refusal::LookAgain)).await;
        };
        if watcher.gone_at.is_some() {
            return Ok(Some(()));
        }
        let is_watching = "attribute_exists(pk) AND attribute_not_exists(gone_at)";
        let mark = self.0.put_if(UNWATCH, &gone, is_watching, [])?;
        let transaction = Transaction::new(UNWATCH).and(mark, Refusal::LookAgain);
        let transaction = match self.find(id).await? {
            Some(target) => transaction.and(self.count_one_less(&target)?, Refusal::LookAgain),
            None => transaction,
        };
        self.settled(transaction).await
    }

    async fn settled(&self, transaction: Transaction<Refusal>) -> Result<Option<()>, RepositoryError> {
        Ok(match transaction.send(&self.0.client).await? {
            Sent::Committed | Sent::Refused(Refusal::Done) => Some(()),
            Sent::Refused(Refusal::LookAgain) | Sent::InConflict => None,
        })
    }

    fn count_one_more(&self, id: &TargetId) -> Result<TransactWriteItem, RepositoryError> {
        self.update(WATCH, id, "ADD watchers :one", "attribute_exists(pk)", Some((":one", number(&1))))
    }

    /// One watcher less, or no target any more, if it still is as it was read.
    fn count_one_less(&self, target: &Target) -> Result<TransactWriteItem, RepositoryError> {
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
