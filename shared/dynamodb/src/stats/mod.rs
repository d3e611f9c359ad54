//! StatsTable: counted clicks.
//!
//! Counting reads a [`Snapshot`], adds clicks to it and commits the result in one transaction with the ids of the counted
//! events, on the condition that none of the items has changed since it was read. The ids tell which events were counted.

mod correction;
mod item;
mod snapshot;

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::{
    Client,
    error::SdkError,
    operation::transact_write_items::TransactWriteItemsError,
    types::{AttributeValue, CancellationReason, TransactWriteItem},
};
use linklet_domain::{
    Click, CorrelationId, Day, EventId, LinkStats, MilestoneReached, ShortCode, Timestamp, Totals, WorkspaceId,
};
use serde::Serialize;

pub use self::correction::{Correction, Life};
use self::item::{
    Bucket, DAY_PREFIX, DayItem, ListedTotal, PAST, PURGED_AT, PastItem, PurgedItem, Rest, SeenItem, TOTAL, TotalItem,
    day_key, day_sort_key, partition, seen_partition, total_key, workspace_partition,
};
pub(crate) use self::item::{MILESTONE_PREFIX, MilestoneItem};
use self::snapshot::needed_for;
pub use self::snapshot::{Room, Snapshot};
use crate::{
    RepositoryError,
    item::{Item, Key, Table, from_item, number, retry_transaction_conflicts, text, to_item},
};

const LOAD: &str = "load statistics";
const COUNT: &str = "count clicks";

/// The table of statistics.
#[derive(Debug, Clone)]
pub struct StatsTable(Table);

/// A milestone that a transaction reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Milestone {
    /// The members of the event.
    pub detail: MilestoneReached,
    /// The time of the click that reached the milestone.
    pub reached_at: Timestamp,
    /// The correlation id of the click that reached the milestone.
    pub correlation_id: CorrelationId,
}

impl Milestone {
    /// The milestone that a click reached.
    #[must_use]
    pub fn reached_by(click: &Click, milestone: u64) -> Self {
        Self {
            detail: MilestoneReached {
                short_code: click.code.clone(),
                workspace_id: click.workspace.clone(),
                user_id: click.owner.clone(),
                milestone,
            },
            reached_at: click.clicked_at,
            correlation_id: click.correlation_id.clone(),
        }
    }
}

/// Clicks of one link to count in one transaction.
#[derive(Debug)]
pub struct Counting<'a> {
    /// The link.
    pub code: &'a ShortCode,
    /// The workspace that the link belongs to.
    pub workspace: &'a WorkspaceId,
    /// The statistics that were read.
    pub before: &'a Snapshot,
    /// The statistics to write.
    pub after: &'a LinkStats,
    /// The events of the clicks that `after` counts and `before` doesn't, each once.
    pub events: &'a [EventId],
    /// The milestones that the clicks reach.
    pub milestones: &'a [Milestone],
    /// The time of counting, from which the TTL of the ids is computed.
    pub now: Timestamp,
}

/// The outcome of a transaction that counts clicks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitOutcome {
    /// All clicks are counted.
    Committed,
    /// Nothing is counted, because another write on the same link got in the way. Read again and retry.
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

    /// Reads what counting these events needs, consistently. The events must fit a [`Room`].
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn load(&self, code: &ShortCode, events: &[(EventId, Day)]) -> Result<Snapshot, RepositoryError> {
        let items = self.0.batch_get(LOAD, needed_for(code, events), true, None).await?;
        let mut snapshot = Snapshot::read(code, items)?;
        if snapshot.lacks_past(events) {
            self.add_past(LOAD, code, &mut snapshot.stats).await?;
        }
        Ok(snapshot)
    }

    /// Reads snapshots of many links like [`Self::load`], with as few calls as possible. A link that needs its past as well is
    /// `None` and has to be loaded by itself.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn load_all(
        &self,
        links: &[(&ShortCode, Vec<(EventId, Day)>)],
    ) -> Result<Vec<Option<Snapshot>>, RepositoryError> {
        let keys: Vec<Key> = links.iter().flat_map(|(code, events)| needed_for(code, events)).collect();
        let chunks = keys.chunks(Self::MAX_BATCH).map(|keys| self.0.batch_get(LOAD, keys.to_vec(), true, None));
        let mut by_code: HashMap<String, Vec<Item>> = HashMap::with_capacity(links.len());
        for item in futures_util::future::try_join_all(chunks).await?.into_iter().flatten() {
            let partition = item.get("pk").and_then(|pk| pk.as_s().ok()).map_or("", String::as_str);
            let code = partition.split_once('#').map_or("", |(_, code)| code).to_owned();
            by_code.entry(code).or_default().push(item);
        }
        let snapshot = |(code, events): &(&ShortCode, Vec<(EventId, Day)>)| {
            let snapshot = Snapshot::read(code, by_code.remove(code.as_str()).unwrap_or_default())?;
            Ok(if snapshot.lacks_past(events) { None } else { Some(snapshot) })
        };
        links.iter().map(snapshot).collect()
    }

    /// Adds the past and the days after it. They are read after the total, and each change of them changes the total, too. So if
    /// the total hasn't changed at the commit, they haven't either.
    async fn add_past(
        &self,
        operation: &'static str,
        code: &ShortCode,
        stats: &mut LinkStats,
    ) -> Result<(), RepositoryError> {
        let Some(from) = stats.totals.past_until else { return Ok(()) };
        let read = self.between(operation, code, &day_sort_key(from), PAST, true).await?;
        stats.past = Some(read.past.unwrap_or_default());
        stats.days.extend(read.days);
        Ok(())
    }

    /// Counts all clicks, or none.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; whether the events are counted is then unknown, and counting them again is safe.
    pub async fn commit(&self, counting: &Counting<'_>) -> Result<CommitOutcome, RepositoryError> {
        self.transact(COUNT, self.actions(counting)?).await
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

    fn actions(&self, counting: &Counting<'_>) -> Result<Vec<TransactWriteItem>, RepositoryError> {
        let Counting { code, workspace, before, after, events, milestones, now } = counting;
        let mut actions =
            vec![self.put_over_total(&TotalItem::new(code, workspace, &after.totals), &before.stats.totals)?];
        for (day, stats) in &after.days {
            let counted_before = before.stats.days.get(day).map_or(0, |stats| stats.profile.clicks);
            if stats.profile.clicks > counted_before {
                actions.push(self.put_over(&DayItem::new(code, *day, stats), counted_before)?);
            }
        }
        if let Some(past) = &after.past {
            let counted_before = before.stats.past.as_ref().map_or(0, |past| past.clicks);
            if past.clicks > counted_before {
                actions.push(self.put_over(&PastItem::new(code, past), counted_before)?);
            }
        }
        for (bucket, fresh) in by_bucket(events) {
            let known = before.seen.get(&bucket).cloned().unwrap_or_default();
            let counted_before = known.len() as u64;
            let ids = known.into_iter().chain(fresh).collect();
            actions.push(self.put_over(&SeenItem::new(code, &bucket, ids, *now), counted_before)?);
        }
        for milestone in *milestones {
            // Only once by the condition on the total. Should it stand there already, after a correction downwards, then it is
            // replaced and not inserted, so that nobody is told a second time.
            actions.push(self.0.put(COUNT, &MilestoneItem::new(milestone))?);
        }
        Ok(actions)
    }

    /// Replaces a link's total if it is unchanged. Counting changes the number of clicks, and a correction the number of
    /// corrections, so comparing these two is enough.
    fn put_over_total(&self, total: &TotalItem, before: &Totals) -> Result<TransactWriteItem, RepositoryError> {
        if before.total_clicks == 0 {
            return self.put_over(total, 0);
        }
        let condition = match before.corrections {
            0 => "total_clicks = :before AND (attribute_not_exists(corrections) OR corrections = :corrections)",
            _ => "total_clicks = :before AND corrections = :corrections",
        };
        let values = [(":before", number(&before.total_clicks)), (":corrections", number(&before.corrections))];
        self.0.put_if(COUNT, total, condition, values)
    }

    /// Replaces an item if its count is unchanged. Counts only grow, except by corrections, which change the total, too. So an
    /// equal count means an equal item.
    fn put_over(&self, item: &impl Serialize, counted_before: u64) -> Result<TransactWriteItem, RepositoryError> {
        if counted_before == 0 {
            // Or in place of the total of a link that was purged so long ago that its code is free again, or that a correction
            // has set to nothing.
            let values = [(":now", number(&Timestamp::now().unix_seconds())), (":nothing", number(&0))];
            let condition = "attribute_not_exists(pk) OR #ttl <= :now OR total_clicks = :nothing";
            return self.0.put_if(COUNT, item, condition, values);
        }
        self.0.put_if(COUNT, item, "total_clicks = :before", [(":before", number(&counted_before))])
    }

    /// Reads a link's totals, its past, and its days from `since` or from the end of the past on; `None` for a link without
    /// counted clicks. That is one Query, or two for a quiet link, whose past ends before `since`.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn since(&self, code: &ShortCode, since: Day) -> Result<Option<LinkStats>, RepositoryError> {
        const OPERATION: &str = "read statistics";
        // The sort keys between a day and `TOTAL` are the later days, the few milestones, the past, and the total.
        let mut stats = self.between(OPERATION, code, &day_sort_key(since), TOTAL, false).await?;
        if let Some(from) = stats.totals.past_until.filter(|from| *from < since) {
            let earlier = self.between(OPERATION, code, &day_sort_key(from), &day_sort_key(since), false).await?;
            stats.days.extend(earlier.days);
        }
        Ok((stats.totals.total_clicks > 0).then_some(stats))
    }

    /// Reads a range of days of a link, without its totals.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn days(
        &self,
        code: &ShortCode,
        days: &std::ops::RangeInclusive<Day>,
    ) -> Result<LinkStats, RepositoryError> {
        self.between("read days", code, &day_sort_key(*days.start()), &day_sort_key(*days.end()), false).await
    }

    /// Whether a link has counted clicks.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn has_clicks(&self, code: &ShortCode) -> Result<bool, RepositoryError> {
        Ok(self.between("ask for clicks", code, TOTAL, TOTAL, false).await?.totals.total_clicks > 0)
    }

    /// Reads a link's items between two sort keys.
    async fn between(
        &self,
        operation: &'static str,
        code: &ShortCode,
        first: &str,
        last: &str,
        consistent: bool,
    ) -> Result<LinkStats, RepositoryError> {
        let query = self
            .0
            .client
            .query()
            .consistent_read(consistent)
            .key_condition_expression("pk = :link AND sk BETWEEN :first AND :last")
            .expression_attribute_values(":link", text(&partition(code)))
            .expression_attribute_values(":first", text(first))
            .expression_attribute_values(":last", text(last));
        read_stats(operation, self.0.query_all(operation, query, usize::MAX).await?)
    }

    /// Reads the total clicks of each code that has any.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn totals(&self, codes: &[ShortCode]) -> Result<HashMap<ShortCode, u64>, RepositoryError> {
        const OPERATION: &str = "read totals";
        let mut totals = HashMap::with_capacity(codes.len());
        for batch in codes.chunks(Self::MAX_BATCH) {
            let keys = batch.iter().map(total_key).collect();
            let found = self.0.batch_get(OPERATION, keys, false, Some("by_workspace_sk, total_clicks")).await?;
            totals.extend(read_totals(OPERATION, found)?);
        }
        Ok(totals)
    }

    /// Reads the total clicks of all links of a workspace, for sorting by clicks. The index has the code as its sort key and the
    /// count as an attribute, so a click updates an index item in place.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn totals_of_workspace(
        &self,
        workspace: &WorkspaceId,
    ) -> Result<HashMap<ShortCode, u64>, RepositoryError> {
        const OPERATION: &str = "read a workspace's totals";
        let query = self
            .0
            .client
            .query()
            .index_name("by-workspace")
            .key_condition_expression("by_workspace_pk = :workspace")
            .expression_attribute_values(":workspace", text(&workspace_partition(workspace)))
            .projection_expression("by_workspace_sk, total_clicks");
        let found = self.0.query_all(OPERATION, query, usize::MAX).await?;
        Ok(read_totals(OPERATION, found)?.into_iter().collect())
    }

    /// Deletes a link's statistics, and marks it so that nothing more is counted for it. Repeating it changes nothing.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; then part of it may be done.
    pub async fn purge(&self, code: &ShortCode, at: Timestamp) -> Result<(), RepositoryError> {
        const OPERATION: &str = "purge statistics";
        // First the total: a concurrent count fails, reads again, and sees that the link is purged.
        let put = self
            .0
            .client
            .put_item()
            .table_name(&self.0.name)
            .set_item(Some(to_item(OPERATION, &PurgedItem::new(code, at))?));
        retry_transaction_conflicts(|| put.clone().send()).await.map_err(RepositoryError::unavailable(OPERATION))?;
        // Consistently: a row that was counted a moment before the mark would be missed, and stay for ever.
        let query = self.0.client.query().consistent_read(true).projection_expression("pk, sk");
        let numbers = query
            .clone()
            .key_condition_expression("pk = :link AND sk < :total")
            .expression_attribute_values(":link", text(&partition(code)))
            .expression_attribute_values(":total", text(TOTAL));
        let seen = query
            .key_condition_expression("pk = :seen")
            .expression_attribute_values(":seen", text(&seen_partition(code)));
        for query in [numbers, seen] {
            let keys = self.0.query_all(OPERATION, query, usize::MAX).await?;
            self.0.delete_all(OPERATION, keys).await?;
        }
        Ok(())
    }
}

fn by_bucket(events: &[EventId]) -> BTreeMap<Bucket, Vec<Rest>> {
    let mut buckets: BTreeMap<Bucket, Vec<Rest>> = BTreeMap::new();
    for (bucket, rest) in events.iter().map(Bucket::of) {
        buckets.entry(bucket).or_default().push(rest);
    }
    buckets
}

fn read_stats(operation: &'static str, items: Vec<Item>) -> Result<LinkStats, RepositoryError> {
    let invalid = RepositoryError::unexpected_item(operation);
    let mut stats = LinkStats::default();
    for item in items {
        let sort_key = item.get("sk").and_then(|sk| sk.as_s().ok()).cloned().unwrap_or_default();
        if sort_key == TOTAL && !item.contains_key(PURGED_AT) {
            stats.totals = from_item::<TotalItem>(operation, item)?.into();
        } else if sort_key == PAST {
            stats.past = Some(from_item::<PastItem>(operation, item)?.profile.try_into().map_err(&invalid)?);
        } else if let Some(day) = sort_key.strip_prefix(DAY_PREFIX).and_then(|day| Day::parse(day).ok()) {
            stats.days.insert(day, from_item::<DayItem>(operation, item)?.try_into().map_err(&invalid)?);
        }
    }
    Ok(stats)
}

/// Whether an item marks a purged link. DynamoDB deletes an item some time after its TTL, so the time is checked as well.
fn is_purge_mark(item: &Item) -> bool {
    item.contains_key(PURGED_AT) && item.get("ttl").is_none_or(|ttl| is_later(ttl, Timestamp::now()))
}

fn is_later(ttl: &AttributeValue, now: Timestamp) -> bool {
    ttl.as_n().ok().and_then(|ttl| ttl.parse::<i64>().ok()).is_some_and(|ttl| ttl > now.unix_seconds())
}

fn read_totals(
    operation: &'static str,
    items: Vec<Item>,
) -> Result<impl IntoIterator<Item = (ShortCode, u64)>, RepositoryError> {
    let totals: Result<Vec<ListedTotal>, _> = items
        .into_iter()
        .filter(|item| item.contains_key("total_clicks"))
        .map(|item| from_item(operation, item))
        .collect();
    Ok(totals?.into_iter().map(|total| (total.by_workspace_sk, total.total_clicks)))
}

/// Whether a transaction was cancelled because of a conflict with another one, or because the link's items get more writes than
/// DynamoDB takes. It is then retried after a pause, since a message has only five attempts.
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
