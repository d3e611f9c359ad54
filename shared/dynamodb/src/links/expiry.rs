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

use aws_sdk_dynamodb::types::AttributeValue;
use linklet_domain::{CorrelationId, EventId, Link, LinkId, Timestamp, WorkspaceId};
use serde::Deserialize;

use super::LinksTable;
use super::item::{ExpiryMarkerItem, cleanup_key, link_key};
use crate::item::{number, text};
use crate::{Consistency, Result};

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

/// The statistics of the cleanup of expired links in a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
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
    /// The total duration of all successful runs, in milliseconds.
    pub successful_ms: u64,
    /// If a run is in progress, when it has crashed at the latest.
    pub running_until: Option<Timestamp>,
}

impl LinksTable {
    /// Maximum duration of a run, twice the relay's timeout. A run that started earlier has crashed.
    const LONGEST_RUN: Duration = Duration::from_secs(60);

    /// Stores the marker of a link, unless the link has one that is due before. That one is the better: if it comes too early, it is
    /// written again, but one that comes too late, since an old record was delivered again, would not be noticed.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark_expiry(&self, marker: &ExpiryMarker) -> Result<()> {
        const OPERATION: &str = "mark when a link expires";
        let item = ExpiryMarkerItem::new(&marker.link, marker.due, &marker.correlation_id);
        let put = self.0.put_item(OPERATION, &item)?.only_if("attribute_not_exists(pk) OR #ttl > :ttl");
        put.value(":ttl", number(&item.ttl)).unless_refused().await.map(|_| ())
    }

    /// Writes to an expired link that its expiry is published, which publishes `url.expired`, and returns whether that was left to do.
    /// Nothing is left to do after another expiry, a deletion, or the same publication.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn publish_expiry(&self, link: &Link) -> Result<bool> {
        const PUBLISHED: &str = "SET expiry_is_published = :yes, is_news = :yes, change_id = :change";
        // A tombstone has no expiry.
        const IS_LEFT_TO_DO: &str = "generation = :generation AND availability.expires_at = :expiry \
                                     AND attribute_not_exists(availability.deleted_at) \
                                     AND attribute_not_exists(expiry_is_published)";
        let expiry = link.availability.expires_at.map_or(AttributeValue::Null(true), |expiry| text(&expiry));
        let update = self.0.update("publish an expiry", link_key(link.code()), PUBLISHED).only_if(IS_LEFT_TO_DO);
        let update = update.values([
            (":generation", text(&link.id().generation)),
            (":expiry", expiry),
            (":yes", AttributeValue::Bool(true)),
            (":change", text(&EventId::generate())),
        ]);
        update.unless_refused().await
    }

    /// Deletes the statistics of the cleanup of a workspace.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn forget_cleanup(&self, workspace: &WorkspaceId) -> Result<()> {
        self.0.delete("forget a cleanup", cleanup_key(workspace)).send().await.map(|_| ())
    }

    /// Records the start of a cleanup run in a workspace.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn cleanup_started(&self, workspace: &WorkspaceId, at: Timestamp) -> Result<()> {
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
    ) -> Result<()> {
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
    ) -> Result<()> {
        let update = self.0.update("record a cleanup", cleanup_key(workspace), expression);
        update.values(values).send().await.map(|_| ())
    }

    /// Reads the statistics of the cleanup in a workspace.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn cleanup_stats(&self, workspace: &WorkspaceId, now: Timestamp) -> Result<CleanupStats> {
        const OPERATION: &str = "read the cleanup's statistics";
        let found = self.0.get_with::<CleanupStats>(OPERATION, cleanup_key(workspace), Consistency::Eventual).await?;
        let stats = found.unwrap_or_default();
        Ok(CleanupStats { running_until: stats.running_until.filter(|until| now < *until), ..stats })
    }
}
