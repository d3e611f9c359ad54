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
mod roll_up;
mod shares;
mod totals;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::time::Duration;

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{CancellationReason, TransactWriteItem};
use linklet_domain::{
    Click, CorrelationId, Day, DaySlice, DayStats, LinkId, LinkStats, MilestoneReached, Part, Rollup, Timestamp,
    WorkspaceId,
};
use serde::{Deserialize, Serialize};

pub use self::correction::{Correction, Life};
pub use self::counting::{ClassifiedClick, DayOutcome, DayWork, Loaded};
pub use self::ids::CountedDay;
use self::ids::seen_partition;
use self::item::{
    DAY_PREFIX, DayItem, IS_SPLIT, PAST, PastItem, TotalItem, day_sort_key, partition, partitions, slice_key, slice_of,
};
pub(crate) use self::item::{MILESTONE_PREFIX, MilestoneItem};
pub use self::overview::Kept;
pub use self::shares::SharedAnswer;
pub use self::totals::CountsReader;
use crate::item::{Item, Key, SortKeys, Table, from_item, size};
use crate::{ByteBudget, RepositoryError, Result};

const DAY: Duration = Duration::from_secs(86_400);

/// The table of statistics.
#[derive(Debug, Clone)]
pub struct StatsTable {
    /// Where they are.
    pub table: Table,
    /// At how many new clicks at once a day is split.
    pub split_from: usize,
}

/// A milestone that a link has reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Milestone {
    /// What has happened.
    #[serde(flatten)]
    pub detail: MilestoneReached,
    /// The workspace of the link.
    #[serde(rename = "workspace_id")]
    pub workspace: WorkspaceId,
    /// The time of the click that reached the milestone.
    pub reached_at: Timestamp,
    /// The correlation id of the click that reached the milestone.
    pub correlation_id: CorrelationId,
}

impl Milestone {
    /// The milestone that a click reached, and the link's total by then.
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
    /// A repository for this table.
    pub fn new(table: Table) -> Self {
        Self { table, split_from: Self::SPLIT_FROM }
    }

    async fn transact(&self, operation: &'static str, actions: Vec<TransactWriteItem>) -> Result<CommitOutcome> {
        match self.table.client.transact_write_items().set_transact_items(Some(actions)).send().await {
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
    pub async fn since(&self, link: &LinkId, since: Day) -> Result<LinkStats> {
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
    pub async fn days(&self, link: &LinkId, days: &RangeInclusive<Day>) -> Result<LinkStats> {
        self.between("read days", link, &day_sort_key(*days.start()), &day_sort_key(*days.end())).await
    }

    /// Reads a range of days of a link, the last one first, as far as a budget goes. Returns the days, and the first one that was
    /// read or known to have no clicks; those before it are left out.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn days_back(
        &self,
        link: &LinkId,
        days: &RangeInclusive<Day>,
        budget: &ByteBudget,
    ) -> Result<(BTreeMap<Day, DayStats>, Day)> {
        const OPERATION: &str = "read days back";
        /// As many days as one request reads the parts of.
        const SPLIT_DAYS: usize = Table::MAX_BATCH / Part::COUNT as usize;
        let [first, last] = [days.start(), days.end()].map(|day| day_sort_key(*day));
        let query = self.table.query(&partition(link), SortKeys::Between(&first, &last)).scan_index_forward(false);
        let (mut answers, mut rows) = (self.table.query_answers(OPERATION, query), Rows::default());
        while !answers.is_at_end && budget.take() {
            let items = answers.next().await?.unwrap_or_default();
            budget.give_back(items.iter().map(size).sum());
            items.into_iter().try_for_each(|item| rows.add(OPERATION, item))?;
        }
        let oldest = rows.slices.keys().next().map_or_else(|| days.end().start().plus(DAY).day(), |slice| slice.day);
        let mut read_from = if answers.is_at_end { *days.start() } else { oldest };
        let split = rows.slices.iter().rev().filter(|(_, counted)| counted.is_split).map(|(slice, _)| slice.day);
        let split: Vec<Day> = split.collect();
        for days in split.chunks(SPLIT_DAYS) {
            if !budget.take() {
                read_from = days[0].start().plus(DAY).day();
                break;
            }
            let parts = days.iter().flat_map(|day| DaySlice::parts_of(*day)).map(|part| slice_key(link, part));
            let parts = self.table.batch_get(OPERATION, parts.collect(), false, None).await?;
            budget.give_back(parts.iter().map(size).sum());
            parts.into_iter().try_for_each(|part| rows.add(OPERATION, part))?;
        }
        let days = numbers_of(rows.slices);
        Ok((days.into_iter().filter(|(day, _)| *day >= read_from).collect(), read_from))
    }

    /// Reads a link's items between two sort keys.
    async fn between(&self, operation: &'static str, link: &LinkId, first: &str, last: &str) -> Result<LinkStats> {
        let Rows { past, slices, .. } = self.rows_between(operation, link, first, last, false).await?;
        Ok(LinkStats { past, days: numbers_of(slices) })
    }

    async fn rows_between(
        &self,
        operation: &'static str,
        link: &LinkId,
        first: &str,
        last: &str,
        consistent: bool,
    ) -> Result<Rows> {
        let query = self.table.query(&partition(link), SortKeys::Between(first, last)).consistent_read(consistent);
        let mut rows = read_rows(operation, self.table.query_all(operation, query, usize::MAX).await?)?;
        let split = rows.slices.iter().filter(|(_, counted)| counted.is_split);
        let parts = split.flat_map(|(slice, _)| DaySlice::parts_of(slice.day)).map(|part| slice_key(link, part));
        for part in self.table.batch_get(operation, parts.collect(), consistent, None).await? {
            rows.add(operation, part)?;
        }
        Ok(rows)
    }

    /// Deletes a link's statistics, and marks it so that nothing more is counted for it. Repeating it changes nothing.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; then part of it may be done.
    pub async fn purge(&self, workspace: &WorkspaceId, link: &LinkId, at: Timestamp) -> Result<()> {
        // First the total: who counts concurrently sees that the link is purged, and deletes what was written meanwhile.
        self.table.put_item("purge statistics", &TotalItem::purged(workspace, link, at))?.send().await?;
        const OPERATION: &str = "delete the statistics of a purged link";
        let days = self.keys_in(OPERATION, &partition(link)).await?;
        if days.iter().any(|row| row.contains_key(IS_SPLIT)) {
            return self.delete_rows(link).await;
        }
        self.delete_keys(OPERATION, days).await?;
        self.delete_partition(OPERATION, &seen_partition(link, None)).await
    }

    /// Deletes all rows of a purged link but the mark, also parts of which no day tells any more: whoever counts in one may write
    /// it after its day is deleted.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; then part of it may be done.
    pub async fn delete_rows(&self, link: &LinkId) -> Result<()> {
        const OPERATION: &str = "delete the rows of a purged link";
        // Parts before the days that say that they are there.
        for part in Part::all().map(Some).chain([None]) {
            for partition in partitions(link, part) {
                self.delete_partition(OPERATION, &partition).await?;
            }
        }
        Ok(())
    }

    async fn delete_partition(&self, operation: &'static str, partition: &str) -> Result<()> {
        self.delete_keys(operation, self.keys_in(operation, partition).await?).await
    }

    /// The keys of a partition's items, and of those of split days that they are.
    async fn keys_in(&self, operation: &'static str, partition: &str) -> Result<Vec<Item>> {
        // Consistently: a row that was written a moment ago would be missed, and stay for ever.
        let query = self.table.query(partition, SortKeys::All).consistent_read(true);
        self.table.query_all(operation, query.projection_expression(format!("pk, sk, {IS_SPLIT}")), usize::MAX).await
    }

    async fn delete_keys(&self, operation: &'static str, mut keys: Vec<Item>) -> Result<()> {
        keys.iter_mut().for_each(|key| drop(key.remove(IS_SPLIT)));
        self.table.delete_all(operation, keys).await
    }
}

/// Rows of a link.
#[derive(Debug, Default)]
struct Rows {
    past: Option<Rollup>,
    slices: BTreeMap<DaySlice, CountedDay>,
    milestones: BTreeSet<u64>,
}

impl Rows {
    fn add(&mut self, operation: &'static str, item: Item) -> Result<()> {
        let invalid = RepositoryError::unexpected_item(operation);
        let key = key_of(&item);
        if key.sk == PAST {
            self.past = Some(from_item::<PastItem>(operation, item)?.try_into().map_err(&invalid)?);
        } else if let Some(slice) = slice_of(&key) {
            self.slices.insert(slice, from_item::<DayItem>(operation, item)?.try_into().map_err(&invalid)?);
        } else if let Some(milestone) = key.sk.strip_prefix(MILESTONE_PREFIX).and_then(|text| text.parse().ok()) {
            self.milestones.insert(milestone);
        }
        Ok(())
    }
}

fn read_rows(operation: &'static str, items: Vec<Item>) -> Result<Rows> {
    let mut rows = Rows::default();
    items.into_iter().try_for_each(|item| rows.add(operation, item))?;
    Ok(rows)
}

/// The key of an item; every item has both of its attributes.
fn key_of(item: &Item) -> Key {
    let [pk, sk] = ["pk", "sk"].map(|name| item.get(name).and_then(|value| value.as_s().ok()).cloned());
    Key::new(pk.unwrap_or_default(), sk.unwrap_or_default())
}

/// The numbers of days with clicks, those of their parts added up; a correction may have emptied others.
fn numbers_of(slices: BTreeMap<DaySlice, CountedDay>) -> BTreeMap<Day, DayStats> {
    let mut days: BTreeMap<Day, DayStats> = BTreeMap::new();
    for (slice, CountedDay { stats, .. }) in slices.into_iter().filter(|(_, counted)| counted.stats.profile.clicks > 0)
    {
        // Nothing is merged into an empty sketch, which would estimate less well than the one that there is.
        match days.entry(slice.day) {
            Entry::Vacant(vacant) => drop(vacant.insert(stats)),
            Entry::Occupied(mut of_day) => of_day.get_mut().merge(&stats),
        }
    }
    days
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
