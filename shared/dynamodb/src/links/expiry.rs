//! Cleanup of expired links.
//!
//! DynamoDB's TTL deletes an expired link. The relay sees this in the stream and writes a tombstone, which reserves the code
//! and publishes `url.expired`, deletes the reuse entry of the URL, and updates the statistics of the cleanup.

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
    item::{from_item, number, retry_transaction_conflicts, text},
};

/// The outcome of writing the tombstone of an expired link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TombstoneOutcome {
    /// The tombstone is written, and the code is reserved.
    Written,
    /// The tombstone exists from an earlier delivery of the same stream record.
    AlreadyWritten,
    /// Another link has taken the code, so no tombstone is written. The caller has to publish this event of the expired link.
    CodeTaken(Box<Event>),
}

/// The statistics of the cleanup of expired links.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CleanupStats {
    /// When the latest run ended.
    pub last_cleanup_at: Option<Timestamp>,
    /// Number of links in all runs.
    pub total_cleaned: u64,
    /// Number of links in the latest run.
    pub last_batch_size: u64,
    /// Number of runs without a failed link.
    pub successful_runs: u64,
    /// Number of runs with a failed link, which are retried.
    pub failed_runs: u64,
    /// The total duration of all successful runs.
    pub successful_time: Duration,
    /// Whether a run is in progress.
    pub is_running: bool,
}

impl LinksTable {
    /// Maximum duration of a run, twice the relay's timeout. A run that started earlier has crashed.
    const LONGEST_RUN: Duration = Duration::from_secs(60);

    /// Writes the tombstone of a link that DynamoDB's TTL has deleted, and frees its URL.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn leave_tombstone(
        &self,
        link: &Link,
        at: Timestamp,
        correlation_id: &CorrelationId,
    ) -> Result<TombstoneOutcome, RepositoryError> {
        const OPERATION: &str = "write the tombstone of an expired link";
        const CONFLICTS: u32 = 8;
        self.free_reuse_entry(link).await?;
        let tombstone = TombstoneItem::new(&Tombstone::of_expired(link, at), &EventId::generate(), correlation_id);
        for attempt in 0..CONFLICTS {
            // The total is incremented in the same transaction, so that a redelivered record doesn't count again.
            let sent = self
                .0
                .client
                .transact_write_items()
                .transact_items(self.0.put_new(OPERATION, &tombstone)?)
                .transact_items(self.increment_total_cleaned()?)
                .send()
                .await;
            match sent.map_err(SdkError::into_service_error) {
                Ok(_) => return Ok(TombstoneOutcome::Written),
                Err(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
                    let failed_with =
                        |code| cancelled.cancellation_reasons().iter().any(|reason| reason.code() == Some(code));
                    if failed_with("ConditionalCheckFailed") {
                        return self.resolve_taken_code(link.created_at, tombstone).await;
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

    /// The outcome when the code has an item already. A tombstone was written by an earlier delivery of the same record. A link
    /// took the code between the TTL deletion and the tombstone; the event of the expired link is then made here, with an id
    /// derived from the link, so that it is the same in each delivery.
    async fn resolve_taken_code(
        &self,
        created_at: Timestamp,
        tombstone: TombstoneItem,
    ) -> Result<TombstoneOutcome, RepositoryError> {
        match self.find(&tombstone.short_code).await? {
            Some(Record::Link(_)) => {
                let id = format!("expired:{}:{}", tombstone.short_code, created_at.unix_seconds());
                let change_id = EventId::parse(&id).unwrap_or(tombstone.change_id.clone());
                let event = TombstoneItem { change_id, ..tombstone }.removed_event();
                Ok(event.map_or(TombstoneOutcome::AlreadyWritten, |event| TombstoneOutcome::CodeTaken(Box::new(event))))
            }
            Some(Record::Tombstone(_)) | None => Ok(TombstoneOutcome::AlreadyWritten),
        }
    }

    fn increment_total_cleaned(&self) -> Result<TransactWriteItem, RepositoryError> {
        let update = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(cleanup_key().into_item()))
            .update_expression("ADD total_cleaned :one")
            .expression_attribute_values(":one", number(&1))
            .build()
            .map_err(RepositoryError::unavailable("count an expired link"))?;
        Ok(TransactWriteItem::builder().update(update).build())
    }

    /// Records the start of a cleanup run.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn cleanup_started(&self, at: Timestamp) -> Result<(), RepositoryError> {
        self.update_cleanup("SET running_until = :until", vec![(":until", text(&at.plus(Self::LONGEST_RUN)))]).await
    }

    /// Records the end of a cleanup run, with the number of new tombstones and of failed links.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn cleanup_ended(
        &self,
        cleaned: usize,
        failed: usize,
        started: Timestamp,
        ended: Timestamp,
    ) -> Result<(), RepositoryError> {
        if cleaned == 0 && failed == 0 {
            // All records were redelivered, so the run is counted already.
            return self.update_cleanup("REMOVE running_until", Vec::new()).await;
        }
        let outcome = if failed == 0 { "ADD successful_runs :one, successful_ms :ms" } else { "ADD failed_runs :one" };
        let mut values = vec![(":one", number(&1)), (":at", text(&ended)), (":cleaned", number(&cleaned))];
        if failed == 0 {
            values.push((":ms", number(&started.until(ended).as_millis())));
        }
        let expression =
            format!("SET last_cleanup_at = :at, last_batch_size = :cleaned REMOVE running_until {outcome}");
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
        retry_transaction_conflicts(|| update.clone().send())
            .await
            .map_err(RepositoryError::unavailable("record a cleanup"))?;
        Ok(())
    }

    /// Reads the statistics of the cleanup.
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
