//! StatsTable: counted clicks.
//!
//! Counting reads a link's day, adds clicks to it and writes it back with the ids of these clicks, on the condition that it
//! hasn't changed since it was read. That one write counts the clicks; the ids tell which were counted. The link's total, which
//! lists show, follows from the numbers of its days: writing it can be repeated, and the order doesn't matter.

mod correction;
mod counting;
mod ids;
mod item;
mod overview;
mod settling;
mod totals;

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_dynamodb::{
    Client,
    error::SdkError,
    operation::transact_write_items::TransactWriteItemsError,
    types::{CancellationReason, TransactWriteItem},
};
use linklet_domain::{
    Click, CorrelationId, Day, DayStats, LinkId, LinkStats, MilestoneReached, Past, Timestamp, WorkspaceId,
};

use self::item::{DAY_PREFIX, DayItem, PAST, PastItem, TotalItem, day_sort_key, partition, seen_partition};
pub(crate) use self::item::{MILESTONE_PREFIX, MilestoneItem};
pub use self::{
    correction::{Correction, Life},
    counting::{ClassifiedClick, DayOutcome, DayWork, Loaded},
    item::CountedDay,
    totals::CountsReader,
};
use crate::{
    RepositoryError,
    item::{Item, SortKeys, Table, from_item},
};

/// The table of statistics.
#[derive(Debug, Clone)]
pub struct StatsTable(Table);

/// A milestone that a link has reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Milestone {
    /// What has happened.
    pub detail: MilestoneReached,
    /// The workspace of the link.
    pub workspace: WorkspaceId,
    /// The time of the click that reached the milestone.
    pub reached_at: Timestamp,
    /// The correlation id of the click that reached the milestone.
    pub correlation_id: CorrelationId,
}

impl Milestone {
    /// The milestone that a click reached, and the link's total by then.
    #[must_use]
    pub fn reached_by(click: &Click, milestone: u64, total_clicks: u64) -> Self {
        Self {
            detail: MilestoneReached { link: click.link.clone(), user_id: click.owner, milestone, total_clicks },
            workspace: click.workspace,
            reached_at: click.clicked_at(),
            correlation_id: click.correlation_id.clone(),
        }
    }
}

/// The outcome of a write with conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitOutcome {
    /// It is done.
    Committed,
    /// Nothing is written, because another write on the same link got in the way. Read again and retry.
    Contended,
}

impl StatsTable {
    /// Maximum number of items in a BatchGetItem (DynamoDB's limit).
    const MAX_BATCH: usize = 100;

    /// The table with this name.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self(Table { client, name: name.into() })
    }

    async fn transact(
        &self,
        operation: &'static str,
        actions: Vec<TransactWriteItem>,
    ) -> Result<CommitOutcome, RepositoryError> {
        match self.0.client.transact_write_items().set_transact_items(Some(actions)).send().await {
            Ok(_) => Ok(CommitOutcome::Committed),
            Err(error) if is_contended(&error) => Ok(CommitOutcome::Contended),
            Err(error) => Err(RepositoryError::unavailable(operation)(error)),
        }
    }

    /// Reads a link's past, and its days from `since` or from the end of the past on. That is one Query, or two for a link that
    /// has open days before `since` because it is quiet.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn since(&self, link: &LinkId, since: Day) -> Result<LinkStats, RepositoryError> {
        const OPERATION: &str = "read statistics";
        // The sort keys between a day and `PAST` are the later days, the few milestones, and the past.
        let mut stats = self.between(OPERATION, link, &day_sort_key(since), PAST).await?;
        let open_from = stats.past.as_ref().map(|past| past.until);
        if open_from.is_none_or(|from| from < since) {
            let first = open_from.map_or_else(|| DAY_PREFIX.to_owned(), day_sort_key);
            let earlier = self.between(OPERATION, link, &first, &day_sort_key(since)).await?;
            stats.days.extend(earlier.days);
        }
        Ok(stats)
    }

    /// Reads a range of days of a link.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn days(
        &self,
        link: &LinkId,
        days: &std::ops::RangeInclusive<Day>,
    ) -> Result<LinkStats, RepositoryError> {
        self.between("read days", link, &day_sort_key(*days.start()), &day_sort_key(*days.end())).await
    }

    /// Reads a link's items between two sort keys.
    async fn between(
        &self,
        operation: &'static str,
        link: &LinkId,
        first: &str,
        last: &str,
    ) -> Result<LinkStats, RepositoryError> {
        let Rows { past, days, .. } = self.rows_between(operation, link, first, last, false).await?;
        Ok(LinkStats { past, days: numbers_of(days) })
    }

    async fn rows_between(
        &self,
        operation: &'static str,
        link: &LinkId,
        first: &str,
        last: &str,
        consistent: bool,
    ) -> Result<Rows, RepositoryError> {
        let query = self.0.query(&partition(link), SortKeys::Between(first, last)).consistent_read(consistent);
        read_rows(operation, self.0.query_all(operation, query, usize::MAX).await?)
    }

    /// Deletes a link's statistics, and marks it so that nothing more is counted for it. Repeating it changes nothing.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; then part of it may be done.
    pub async fn purge(&self, workspace: &WorkspaceId, link: &LinkId, at: Timestamp) -> Result<(), RepositoryError> {
        // First the total: who counts concurrently sees that the link is purged, and deletes what was written meanwhile.
        self.0.put_item("purge statistics", &TotalItem::purged(workspace, link, at))?.send().await?;
        self.delete_rows(link).await
    }

    /// Deletes all rows of a purged link but the mark.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; then part of it may be done.
    pub async fn delete_rows(&self, link: &LinkId) -> Result<(), RepositoryError> {
        const OPERATION: &str = "delete the statistics of a purged link";
        for partition in [partition(link), seen_partition(link)] {
            // Consistently: a row that was written a moment ago would be missed, and stay for ever.
            let query = self.0.query(&partition, SortKeys::All).consistent_read(true).projection_expression("pk, sk");
            let keys = self.0.query_all(OPERATION, query, usize::MAX).await?;
            self.0.delete_all(OPERATION, keys).await?;
        }
        Ok(())
    }
}

/// Rows of a link.
#[derive(Debug, Default)]
struct Rows {
    past: Option<Past>,
    days: BTreeMap<Day, CountedDay>,
    milestones: BTreeSet<u64>,
}

fn read_rows(operation: &'static str, items: Vec<Item>) -> Result<Rows, RepositoryError> {
    let invalid = RepositoryError::unexpected_item(operation);
    let mut rows = Rows::default();
    for item in items {
        let sort_key = item.get("sk").and_then(|sk| sk.as_s().ok()).cloned().unwrap_or_default();
        if sort_key == PAST {
            rows.past = Some(from_item::<PastItem>(operation, item)?.try_into().map_err(&invalid)?);
        } else if let Some(day) = sort_key.strip_prefix(DAY_PREFIX).and_then(|day| Day::parse(day).ok()) {
            rows.days.insert(day, from_item::<DayItem>(operation, item)?.try_into().map_err(&invalid)?);
        } else if let Some(milestone) = sort_key.strip_prefix(MILESTONE_PREFIX).and_then(|text| text.parse().ok()) {
            rows.milestones.insert(milestone);
        }
    }
    Ok(rows)
}

/// The numbers of days with clicks; a correction may have emptied others.
fn numbers_of(days: BTreeMap<Day, CountedDay>) -> BTreeMap<Day, DayStats> {
    let days = days.into_iter().map(|(day, counted)| (day, counted.stats));
    days.filter(|(_, stats)| stats.profile.clicks > 0).collect()
}

/// Whether a transaction was cancelled because of a conflict with another one, or because the link's items get more writes than
/// DynamoDB takes. It is then retried after a pause, since the message would come again only minutes later.
fn is_contended(error: &SdkError<TransactWriteItemsError>) -> bool {
    match error.as_service_error() {
        Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
            cancelled.cancellation_reasons().iter().any(passes)
        }
        _ => false,
    }
}

fn passes(reason: &CancellationReason) -> bool {
    const PASSING: [&str; 4] =
        ["ConditionalCheckFailed", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"];
    reason.code().is_some_and(|code| PASSING.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_by_itself_is_tried_again_and_nothing_else_is() {
        let reason = |code: &str| CancellationReason::builder().code(code).build();

        for code in
            ["ConditionalCheckFailed", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"]
        {
            assert!(passes(&reason(code)), "{code}");
        }
        for code in ["None", "ValidationError", "ItemCollectionSizeLimitExceeded"] {
            assert!(!passes(&reason(code)), "{code}");
        }
    }
}
