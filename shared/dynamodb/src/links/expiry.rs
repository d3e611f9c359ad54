//! Expiry of links.
//!
//! ```text
//! link with an expiry ── relay ──→ marker, whose TTL is the expiry
//!                                    │ deleted by TTL
//!                                  relay: url.expired, the link stays ──→ marker, whose TTL is the end of the link's time
//!                                                                           │ deleted by TTL
//!                                                                         relay: the tombstone replaces the link
//! ```
//! A link's own item has no TTL, so its code is never free, whatever happens to the relay. A marker only says that a link has to
//! be looked at: if it comes too early, since the expiry was put off, it is written again.

use std::time::Duration;

use aws_sdk_dynamodb::{
    error::SdkError,
    operation::{put_item::PutItemError, transact_write_items::TransactWriteItemsError, update_item::UpdateItemError},
    types::{AttributeValue, TransactWriteItem, Update},
};
use linklet_domain::{CorrelationId, EventId, Link, LinkId, Timestamp, Tombstone, WorkspaceId};

use super::{
    LinksTable,
    item::{CleanupItem, ExpiryMarkerItem, TombstoneItem, cleanup_key, link_key},
};
use crate::{
    RepositoryError, back_off,
    item::{from_item, number, retry_transaction_conflicts, text, to_item},
};

/// The marker of a link that expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpiryMarker {
    /// The link.
    pub link: LinkId,
    /// When the next step of its expiry is due.
    pub due: Timestamp,
    /// The correlation id of the request that created or last changed the link.
    pub correlation_id: CorrelationId,
}

/// The outcome of a step of a link's expiry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpiryOutcome {
    /// The step is done.
    Done,
    /// There was nothing to do: the link has changed since it was read, or the step was done before.
    Unchanged,
}

/// The statistics of the cleanup of expired links in a workspace.
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

    /// Stores the marker of a link, unless the link has one that is due before. That one is the better: if it comes too early, it is
    /// written again, but one that comes too late, since an old record was delivered again, would not be noticed.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark_expiry(&self, marker: &ExpiryMarker) -> Result<(), RepositoryError> {
        const OPERATION: &str = "mark when a link expires";
        let item = ExpiryMarkerItem::new(&marker.link, marker.due, &marker.correlation_id);
        let put = self
            .0
            .client
            .put_item()
            .table_name(&self.0.name)
            .set_item(Some(to_item(OPERATION, &item)?))
            .condition_expression("attribute_not_exists(pk) OR #ttl > :ttl")
            .expression_attribute_names("#ttl", "ttl")
            .expression_attribute_values(":ttl", number(&item.ttl))
            .send()
            .await;
        match put.map_err(SdkError::into_service_error) {
            Ok(_) | Err(PutItemError::ConditionalCheckFailedException(_)) => Ok(()),
            Err(error) => Err(RepositoryError::unavailable(OPERATION)(error)),
        }
    }

    /// Writes to an expired link that its expiry is published, which publishes `url.expired`.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn publish_expiry(&self, link: &Link) -> Result<ExpiryOutcome, RepositoryError> {
        let update = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(link_key(&link.code).into_item()))
            .update_expression("SET expiry_is_published = :yes, change_id = :change")
            .condition_expression(format!(
                "{HAS_SAME_EXPIRY} AND attribute_not_exists(deleted_at) AND attribute_not_exists(expiry_is_published)"
            ))
            .expression_attribute_values(":yes", AttributeValue::Bool(true))
            .expression_attribute_values(":change", text(&EventId::generate()));
        let update = same_expiry(link)
            .into_iter()
            .fold(update, |update, (name, value)| update.expression_attribute_values(name, value));
        let published = retry_transaction_conflicts(|| update.clone().send()).await;
        match published.map_err(SdkError::into_service_error) {
            Ok(_) => Ok(ExpiryOutcome::Done),
            Err(UpdateItemError::ConditionalCheckFailedException(_)) => Ok(ExpiryOutcome::Unchanged),
            Err(error) => Err(RepositoryError::unavailable("publish an expiry")(error)),
        }
    }

    /// Replaces an expired link by its tombstone, and frees its URL.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn leave_tombstone(
        &self,
        link: &Link,
        at: Timestamp,
        correlation_id: &CorrelationId,
    ) -> Result<ExpiryOutcome, RepositoryError> {
        const OPERATION: &str = "write the tombstone of an expired link";
        const CONFLICTS: u32 = 8;
        let tombstone = TombstoneItem::new(&Tombstone::of_expired(link, at), &EventId::generate(), correlation_id);
        for attempt in 0..CONFLICTS {
            // The total is incremented in the same transaction, so that a marker that is processed again doesn't count again.
            let sent = self
                .0
                .client
                .transact_write_items()
                .transact_items(self.0.put_if(OPERATION, &tombstone, HAS_SAME_EXPIRY, same_expiry(link))?)
                .transact_items(self.increment_total_cleaned(&link.workspace)?)
                .send()
                .await;
            match sent.map_err(SdkError::into_service_error) {
                Ok(_) => {
                    // An entry that is left after a crash is harmless. Freed before, that of a link which has just been extended
                    // would be lost.
                    self.free_reuse_entry(link).await?;
                    self.free_external_id(link).await?;
                    return Ok(ExpiryOutcome::Done);
                }
                Err(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
                    let failed_with =
                        |code| cancelled.cancellation_reasons().iter().any(|reason| reason.code() == Some(code));
                    if failed_with("ConditionalCheckFailed") {
                        return Ok(ExpiryOutcome::Unchanged);
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

    fn increment_total_cleaned(&self, workspace: &WorkspaceId) -> Result<TransactWriteItem, RepositoryError> {
        let update = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(cleanup_key(workspace).into_item()))
            .update_expression("ADD total_cleaned :one")
            .expression_attribute_values(":one", number(&1))
            .build()
            .map_err(RepositoryError::unavailable("count an expired link"))?;
        Ok(TransactWriteItem::builder().update(update).build())
    }

    /// Records the start of a cleanup run in a workspace.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn cleanup_started(&self, workspace: &WorkspaceId, at: Timestamp) -> Result<(), RepositoryError> {
        let until = vec![(":until", text(&at.plus(Self::LONGEST_RUN)))];
        self.update_cleanup(workspace, "SET running_until = :until", until).await
    }

    /// Records the end of a cleanup run, with the number of new tombstones and of failed links.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn cleanup_ended(
        &self,
        workspace: &WorkspaceId,
        (cleaned, failed): (usize, usize),
        started: Timestamp,
        ended: Timestamp,
    ) -> Result<(), RepositoryError> {
        if cleaned == 0 && failed == 0 {
            // All markers were processed before, so the run is counted already.
            return self.update_cleanup(workspace, "REMOVE running_until", Vec::new()).await;
        }
        let outcome = if failed == 0 { "ADD successful_runs :one, successful_ms :ms" } else { "ADD failed_runs :one" };
        let mut values = vec![(":one", number(&1)), (":at", text(&ended)), (":cleaned", number(&cleaned))];
        if failed == 0 {
            values.push((":ms", number(&started.until(ended).as_millis())));
        }
        let expression =
            format!("SET last_cleanup_at = :at, last_batch_size = :cleaned REMOVE running_until {outcome}");
        self.update_cleanup(workspace, &expression, values).await
    }

    async fn update_cleanup(
        &self,
        workspace: &WorkspaceId,
        expression: &str,
        values: Vec<(&str, AttributeValue)>,
    ) -> Result<(), RepositoryError> {
        let mut update = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(cleanup_key(workspace).into_item()))
            .update_expression(expression);
        for (name, value) in values {
            update = update.expression_attribute_values(name, value);
        }
        retry_transaction_conflicts(|| update.clone().send())
            .await
            .map_err(RepositoryError::unavailable("record a cleanup"))?;
        Ok(())
    }

    /// Reads the statistics of the cleanup in a workspace.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn cleanup_stats(
        &self,
        workspace: &WorkspaceId,
        now: Timestamp,
    ) -> Result<CleanupStats, RepositoryError> {
        const OPERATION: &str = "read the cleanup's statistics";
        let found = self
            .0
            .client
            .get_item()
            .table_name(&self.0.name)
            .set_key(Some(cleanup_key(workspace).into_item()))
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

/// The condition that a link is still the one that was read, with the same expiry. A tombstone has no expiry.
const HAS_SAME_EXPIRY: &str = "generation = :generation AND expires_at = :expiry";

/// The values of [`HAS_SAME_EXPIRY`].
fn same_expiry(link: &Link) -> [(&'static str, AttributeValue); 2] {
    let expiry = link.expires_at.map_or(AttributeValue::Null(true), |expiry| text(&expiry));
    [(":generation", text(&link.generation)), (":expiry", expiry)]
}
