//! What becomes of links whose time is over.
//!
//! DynamoDB deletes them by TTL; the stream tells the relay, which buries them: the code keeps a tombstone, the URL is free for a
//! new code, and the cleanup is counted. Writing the tombstone publishes `url.expired`.

use std::time::Duration;

use aws_sdk_dynamodb::{
    error::SdkError,
    operation::transact_write_items::TransactWriteItemsError,
    types::{TransactWriteItem, Update},
};
use linklet_domain::{CorrelationId, Event, EventId, Link, Record, Timestamp, Tombstone};

use super::{
    LinksTable,
    item::{CleanupItem, TombstoneItem, cleanup_key},
};
use crate::{
    RepositoryError, back_off,
    item::{despite_transactions, from_item, number, text},
};

/// What came of burying a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuryOutcome {
    /// The code is reserved now.
    Buried,
    /// It was before: a stream repeats itself.
    AlreadyBuried,
    /// Another link has the code by now; this is the event that no tombstone publishes.
    CodeTaken(Box<Event>),
}

/// The statistics of the cleanup.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CleanupStats {
    /// When the latest run ended.
    pub last_cleanup_at: Option<Timestamp>,
    /// How many links were buried, ever.
    pub total_cleaned: u64,
    /// How many in the latest run.
    pub last_batch_size: u64,
    /// Runs that buried all of their links.
    pub successful_runs: u64,
    /// Runs that have to be repeated.
    pub failed_runs: u64,
    /// The time of all successful runs.
    pub successful_time: Duration,
    /// Whether a run is under way.
    pub is_running: bool,
}

impl LinksTable {
    /// Twice the relay's timeout: a run that is older has died.
    const LONGEST_RUN: Duration = Duration::from_secs(60);

    /// Buries a link that DynamoDB has deleted.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn bury(
        &self,
        link: &Link,
        at: Timestamp,
        correlation_id: &CorrelationId,
    ) -> Result<BuryOutcome, RepositoryError> {
        const OPERATION: &str = "bury an expired link";
        const CONFLICTS: u32 = 8;
        self.free_reuse_entry(link).await?;
        let tombstone = TombstoneItem::new(&Tombstone::of_expired(link, at), &EventId::generate(), correlation_id);
        for attempt in 0..CONFLICTS {
            // The count moves with the tombstone, so that a repetition counts nothing.
            let sent = self
                .0
                .client
                .transact_write_items()
                .transact_items(self.0.put_new(OPERATION, &tombstone)?)
                .transact_items(self.count_buried()?)
                .send()
                .await;
            match sent.map_err(SdkError::into_service_error) {
                Ok(_) => return Ok(BuryOutcome::Buried),
                Err(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
                    let failed_with =
                        |code| cancelled.cancellation_reasons().iter().any(|reason| reason.code() == Some(code));
                    if failed_with("ConditionalCheckFailed") {
                        return self.what_stands_there(link.created_at, tombstone).await;
                    }
                    if !failed_with("TransactionConflict") {
                        return Err(RepositoryError::unavailable(OPERATION)(cancelled));
                    }
                    back_off(attempt).await;
                }
                Err(error) => return Err(RepositoryError::unavailable(OPERATION)(error)),
            }
        }
        Err(RepositoryError::incomplete(OPERATION))
    }

    /// A tombstone in the way is our own, from an earlier delivery. A link in the way has taken the code in the moment between
    /// DynamoDB's deletion and the tombstone; the event of the one that expired is made here then, with an id that repeats.
    async fn what_stands_there(
        &self,
        created_at: Timestamp,
        tombstone: TombstoneItem,
    ) -> Result<BuryOutcome, RepositoryError> {
        match self.find(&tombstone.short_code).await? {
            Some(Record::Link(link)) => {
                let id = format!("expired:{}:{}", tombstone.short_code, created_at.unix_seconds());
                let change_id = EventId::parse(&id).unwrap_or(tombstone.change_id.clone());
                // If the other link watches the same, under the same code, its watching must not end.
                let watched_target =
                    tombstone.watched_target.clone().filter(|id| link.watched_target().as_ref() != Some(id));
                let event = TombstoneItem { change_id, watched_target, ..tombstone }.buried_event();
                Ok(event.map_or(BuryOutcome::AlreadyBuried, |event| BuryOutcome::CodeTaken(Box::new(event))))
            }
            Some(Record::Tombstone(_)) | None => Ok(BuryOutcome::AlreadyBuried),
        }
    }

    fn count_buried(&self) -> Result<TransactWriteItem, RepositoryError> {
        let update = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(cleanup_key().into_item()))
            .update_expression("ADD total_cleaned :one")
            .expression_attribute_values(":one", number(&1))
            .build()
            .map_err(RepositoryError::unavailable("count an expired link"))?;
        Ok(TransactWriteItem::builder().update(update).build())
    }

    /// Notes that a run has begun.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn cleanup_started(&self, at: Timestamp) -> Result<(), RepositoryError> {
        self.update_cleanup("SET running_until = :until", vec![(":until", text(&at.plus(Self::LONGEST_RUN)))]).await
    }

    /// Notes how a run has ended.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn cleanup_ended(
        &self,
        buried: usize,
        failed: usize,
        started: Timestamp,
        ended: Timestamp,
    ) -> Result<(), RepositoryError> {
        if buried == 0 && failed == 0 {
            // A repetition of what is counted already.
            return self.update_cleanup("REMOVE running_until", Vec::new()).await;
        }
        let outcome = if failed == 0 { "ADD successful_runs :one, successful_ms :ms" } else { "ADD failed_runs :one" };
        let mut values = vec![(":one", number(&1)), (":at", text(&ended)), (":buried", number(&buried))];
        if failed == 0 {
            values.push((":ms", number(&started.until(ended).as_millis())));
        }
        let expression = format!("SET last_cleanup_at = :at, last_batch_size = :buried REMOVE running_until {outcome}");
        self.update_cleanup(&expression, values).await
    }

    async fn update_cleanup(
        &self,
        expression: &str,
        values: Vec<(&str, aws_sdk_dynamodb::types::AttributeValue)>,
    ) -> Result<(), RepositoryError> {
        let mut update = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(cleanup_key().into_item()))
            .update_expression(expression);
        for (name, value) in values {
            update = update.expression_attribute_values(name, value);
        }
        despite_transactions(|| update.clone().send()).await.map_err(RepositoryError::unavailable("note a cleanup"))?;
        Ok(())
    }

    /// What the cleanup has done so far.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn cleanup_stats(&self, now: Timestamp) -> Result<CleanupStats, RepositoryError> {
        const OPERATION: &str = "read the cleanup's statistics";
        let found = self
            .0
            .client
            .get_item()
            .table_name(&self.0.name)
            .set_key(Some(cleanup_key().into_item()))
            .send()
            .await
            .map_err(RepositoryError::unavailable(OPERATION))?;
        let item: CleanupItem =
            found.item.map_or_else(|| Ok(CleanupItem::default()), |item| from_item(OPERATION, item))?;
        Ok(CleanupStats {
            last_cleanup_at: item.last_cleanup_at,
            total_cleaned: item.total_cleaned,
            last_batch_size: item.last_batch_size,
            successful_runs: item.successful_runs,
            failed_runs: item.failed_runs,
            successful_time: Duration::from_millis(item.successful_ms),
            is_running: item.running_until.is_some_and(|until| now < until),
        })
    }
}
