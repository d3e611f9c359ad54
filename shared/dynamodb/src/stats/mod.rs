//! StatsTable: counted clicks.
//!
//! Counting reads a [`Snapshot`], folds clicks into it and commits the result with the markers of the counted events in one
//! transaction, on the condition that nobody has counted in between and that none of the events was counted before.

mod item;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_dynamodb::{
    Client,
    error::SdkError,
    operation::transact_write_items::TransactWriteItemsError,
    types::{AttributeValue, CancellationReason, KeysAndAttributes, TransactWriteItem},
};
use linklet_domain::{CorrelationId, Day, EventId, LinkStats, MilestoneReached, ShortCode, Timestamp, WorkspaceId};
use serde::Serialize;

use self::item::{
    DAY_PREFIX, DayItem, ListedTotal, PURGED_AT, PurgedItem, SeenItem, TOTAL, TotalItem, day_key, day_sort_key,
    partition, total_key, workspace_partition,
};
pub(crate) use self::item::{MILESTONE_PREFIX, MilestoneItem};
use crate::{
    RepositoryError,
    item::{Item, Key, Table, despite_transactions, from_item, number, text, to_item},
};

const COUNT: &str = "count clicks";

/// The table of statistics.
#[derive(Debug, Clone)]
pub struct StatsTable(Table);

/// A link's statistics as they were read: the totals and the days asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot {
    stats: LinkStats,
    is_purged: bool,
}

impl Snapshot {
    /// The statistics to fold clicks into.
    #[must_use]
    pub fn stats(&self) -> &LinkStats {
        &self.stats
    }

    /// Whether the link was purged, so that nothing is counted for it any more.
    #[must_use]
    pub fn is_purged(&self) -> bool {
        self.is_purged
    }
}

/// A milestone that a transaction reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Milestone {
    /// What the event will say.
    pub detail: MilestoneReached,
    /// When the click happened that reached it.
    pub reached_at: Timestamp,
    /// The correlation id of that click.
    pub correlation_id: CorrelationId,
}

/// One transaction: clicks of one link, counted.
#[derive(Debug)]
pub struct Counting<'a> {
    /// The link.
    pub code: &'a ShortCode,
    /// The workspace that the link belongs to.
    pub workspace: &'a WorkspaceId,
    /// What was read.
    pub before: &'a Snapshot,
    /// What it has become.
    pub after: &'a LinkStats,
    /// The events that made the difference; each only once.
    pub events: &'a [EventId],
    /// The milestones passed on the way.
    pub milestones: &'a [Milestone],
    /// The time of counting, from which markers expire.
    pub now: Timestamp,
}

/// What came of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitOutcome {
    /// Everything is counted.
    Committed,
    /// Nothing is counted, since these events were counted before; the others can be tried again without them.
    Duplicates(BTreeSet<EventId>),
    /// Nothing is counted, since somebody else counts the same link; read again and retry.
    Contended,
}

impl StatsTable {
    /// The most actions in a transaction (DynamoDB's limit).
    const MAX_ACTIONS: usize = 100;
    /// The most milestones that the events of one transaction can pass: 3 → 103 passes 10 and 100.
    const MAX_MILESTONES: usize = 2;
    /// The most rows in a BatchGetItem (DynamoDB's limit).
    const MAX_BATCH: usize = 100;

    /// The table with this name.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self(Table { client, name: name.into() })
    }

    /// Whether this many events on this many days fit into one transaction.
    #[must_use]
    pub fn fits_one_transaction(events: usize, days: usize) -> bool {
        events + days + 1 + Self::MAX_MILESTONES <= Self::MAX_ACTIONS
    }

    /// Reads a link's totals and some of its days consistently.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn load(&self, code: &ShortCode, days: &BTreeSet<Day>) -> Result<Snapshot, RepositoryError> {
        const OPERATION: &str = "load statistics";
        let keys = std::iter::once(total_key(code)).chain(days.iter().map(|day| day_key(code, *day))).collect();
        let items = self.batch_get(OPERATION, keys, true, None).await?;
        // DynamoDB deletes some time after the TTL, so the time is checked here as well.
        let is_current = |item: &Item| item.get("ttl").is_none_or(|ttl| is_later(ttl, Timestamp::now()));
        let is_purged = items.iter().any(|item| item.contains_key(PURGED_AT) && is_current(item));
        Ok(Snapshot { stats: read_stats(OPERATION, items)?, is_purged })
    }

    /// Counts, all or nothing.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; whether the events are counted is then unknown, and counting them again is safe.
    pub async fn commit(&self, counting: &Counting<'_>) -> Result<CommitOutcome, RepositoryError> {
        let sent = self.0.client.transact_write_items().set_transact_items(Some(self.actions(counting)?)).send().await;
        match sent {
            Ok(_) => Ok(CommitOutcome::Committed),
            Err(error) => match cancellation_reasons(&error) {
                Some(reasons) => {
                    outcome_of(reasons, counting.events).ok_or_else(|| RepositoryError::unavailable(COUNT)(error))
                }
                None => Err(RepositoryError::unavailable(COUNT)(error)),
            },
        }
    }

    /// The markers come first: [`outcome_of`] finds an event by the position of its marker.
    fn actions(&self, counting: &Counting<'_>) -> Result<Vec<TransactWriteItem>, RepositoryError> {
        let Counting { code, workspace, before, after, events, milestones, now } = counting;
        let mut actions = Vec::with_capacity(Self::MAX_ACTIONS);
        for event in *events {
            actions.push(self.0.put_new(COUNT, &SeenItem::new(event, *now))?);
        }
        actions.push(self.put_over(&TotalItem::new(code, workspace, &after.totals), before.stats.totals.total_clicks)?);
        for (day, stats) in &after.days {
            let counted_before = before.stats.days.get(day).map_or(0, |stats| stats.total_clicks);
            if stats.total_clicks > counted_before {
                actions.push(self.put_over(&DayItem::new(code, *day, stats), counted_before)?);
            }
        }
        for milestone in *milestones {
            actions.push(self.0.put_new(COUNT, &MilestoneItem::new(milestone))?);
        }
        Ok(actions)
    }

    /// Replaces an item that still has the count it was read with. Counts only grow, so an equal count is an equal item.
    fn put_over(&self, item: &impl Serialize, counted_before: u64) -> Result<TransactWriteItem, RepositoryError> {
        if counted_before == 0 {
            // Or in place of the total of a link that was purged so long ago that its code is free again.
            let now = number(&Timestamp::now().unix_seconds());
            return self.0.put_if(COUNT, item, "attribute_not_exists(pk) OR #ttl <= :now", Some((":now", now)));
        }
        self.0.put_if(COUNT, item, "total_clicks = :before", Some((":before", number(&counted_before))))
    }

    /// A link's totals and its days from `since` on, in one Query; `None` for a link without counted clicks.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn since(&self, code: &ShortCode, since: Day) -> Result<Option<LinkStats>, RepositoryError> {
        const OPERATION: &str = "read statistics";
        // The sort keys between a day and `TOTAL` are the later days, the few milestones, and the total.
        let query = self
            .0
            .client
            .query()
            .key_condition_expression("pk = :link AND sk BETWEEN :since AND :total")
            .expression_attribute_values(":link", text(&partition(code)))
            .expression_attribute_values(":since", text(&day_sort_key(since)))
            .expression_attribute_values(":total", text(TOTAL));
        let items = self.0.query_all(OPERATION, query, usize::MAX).await?;
        let stats = read_stats(OPERATION, items)?;
        Ok((stats.totals.total_clicks > 0).then_some(stats))
    }

    /// All days of a link; `None` for a link without counted clicks.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn days(&self, code: &ShortCode) -> Result<Option<LinkStats>, RepositoryError> {
        const OPERATION: &str = "read a timeline";
        let query = self
            .0
            .client
            .query()
            .key_condition_expression("pk = :link AND begins_with(sk, :day)")
            .expression_attribute_values(":link", text(&partition(code)))
            .expression_attribute_values(":day", text(DAY_PREFIX));
        let items = self.0.query_all(OPERATION, query, usize::MAX).await?;
        let stats = read_stats(OPERATION, items)?;
        Ok((!stats.days.is_empty()).then_some(stats))
    }

    /// The total of each code that has one.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn totals(&self, codes: &[ShortCode]) -> Result<HashMap<ShortCode, u64>, RepositoryError> {
        const OPERATION: &str = "read totals";
        let mut totals = HashMap::with_capacity(codes.len());
        for batch in codes.chunks(Self::MAX_BATCH) {
            let keys = batch.iter().map(total_key).collect();
            let found = self.batch_get(OPERATION, keys, false, Some("by_workspace_sk, total_clicks")).await?;
            totals.extend(read_totals(OPERATION, found)?);
        }
        Ok(totals)
    }

    /// The totals of all links of a workspace: the order by clicks is made from these. The index has the code as its sort key
    /// and the count beside it, so a click rewrites a row and moves none.
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

    /// Forgets everything about a link and counts nothing for it from now on. Repeating it is harmless.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; then part of it may be done.
    pub async fn purge(&self, code: &ShortCode, at: Timestamp) -> Result<(), RepositoryError> {
        const OPERATION: &str = "purge statistics";
        // First the total: whoever counts at this moment fails, reads again, and sees that the link is gone.
        let put = self
            .0
            .client
            .put_item()
            .table_name(&self.0.name)
            .set_item(Some(to_item(OPERATION, &PurgedItem::new(code, at))?));
        despite_transactions(|| put.clone().send()).await.map_err(RepositoryError::unavailable(OPERATION))?;
        let query = self
            .0
            .client
            .query()
            .key_condition_expression("pk = :link AND sk < :total")
            .expression_attribute_values(":link", text(&partition(code)))
            .expression_attribute_values(":total", text(TOTAL))
            .projection_expression("pk, sk");
        let keys = self.0.query_all(OPERATION, query, usize::MAX).await?;
        self.0.delete_all(OPERATION, keys).await
    }

    /// A BatchGetItem that asks again for what DynamoDB left out of a successful answer.
    async fn batch_get(
        &self,
        operation: &'static str,
        keys: Vec<Key>,
        consistent: bool,
        projection: Option<&str>,
    ) -> Result<Vec<Item>, RepositoryError> {
        const TRIES: u32 = 5;
        let mut pending: Vec<Item> = keys.into_iter().map(Key::into_item).collect();
        let mut found = Vec::with_capacity(pending.len());
        for attempt in 0..TRIES {
            let request = KeysAndAttributes::builder()
                .set_keys(Some(pending))
                .consistent_read(consistent)
                .set_projection_expression(projection.map(str::to_owned))
                .build()
                .map_err(RepositoryError::unavailable(operation))?;
            let answer = self
                .0
                .client
                .batch_get_item()
                .request_items(&self.0.name, request)
                .send()
                .await
                .map_err(RepositoryError::unavailable(operation))?;
            found.extend(answer.responses.unwrap_or_default().remove(&self.0.name).unwrap_or_default());
            pending = answer
                .unprocessed_keys
                .unwrap_or_default()
                .remove(&self.0.name)
                .map(|left| left.keys)
                .unwrap_or_default();
            if pending.is_empty() {
                return Ok(found);
            }
            tokio::time::sleep(std::time::Duration::from_millis(20 << attempt)).await;
        }
        Err(RepositoryError::incomplete(operation))
    }
}

fn read_stats(operation: &'static str, items: Vec<Item>) -> Result<LinkStats, RepositoryError> {
    let mut stats = LinkStats { days: BTreeMap::new(), ..LinkStats::default() };
    for item in items {
        let Key { sk, .. } = from_item(operation, item.clone())?;
        if item.contains_key(PURGED_AT) {
            continue;
        }
        if sk == TOTAL {
            stats.totals = from_item::<TotalItem>(operation, item)?.into();
        } else if let Some(day) = sk.strip_prefix(DAY_PREFIX).and_then(|day| Day::parse(day).ok()) {
            stats.days.insert(day, from_item::<DayItem>(operation, item)?.into());
        }
    }
    Ok(stats)
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

fn cancellation_reasons(error: &SdkError<TransactWriteItemsError>) -> Option<&[CancellationReason]> {
    match error.as_service_error()? {
        TransactWriteItemsError::TransactionCanceledException(cancelled) => Some(cancelled.cancellation_reasons()),
        _ => None,
    }
}

/// What a cancelled transaction means, or `None` if DynamoDB cancelled it for a reason of its own, such as throttling.
fn outcome_of(reasons: &[CancellationReason], events: &[EventId]) -> Option<CommitOutcome> {
    let failed = |reason: &CancellationReason| reason.code() == Some("ConditionalCheckFailed");
    let duplicates: BTreeSet<EventId> =
        reasons.iter().zip(events).filter(|(reason, _)| failed(reason)).map(|(_, event)| event.clone()).collect();
    if !duplicates.is_empty() {
        return Some(CommitOutcome::Duplicates(duplicates));
    }
    let contended = |reason: &CancellationReason| failed(reason) || reason.code() == Some("TransactionConflict");
    reasons.iter().any(contended).then_some(CommitOutcome::Contended)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(codes: &[&str]) -> Vec<CancellationReason> {
        codes.iter().map(|code| CancellationReason::builder().code(*code).build()).collect()
    }

    fn events() -> [EventId; 2] {
        [EventId::parse("first").unwrap(), EventId::parse("second").unwrap()]
    }

    #[test]
    fn a_marker_that_exists_names_its_event() {
        let outcome = outcome_of(&reasons(&["None", "ConditionalCheckFailed", "ConditionalCheckFailed"]), &events());

        assert_eq!(outcome, Some(CommitOutcome::Duplicates(BTreeSet::from([EventId::parse("second").unwrap()]))));
    }

    #[test]
    fn a_count_that_has_moved_or_is_being_moved_is_contention() {
        for code in ["ConditionalCheckFailed", "TransactionConflict"] {
            assert_eq!(
                outcome_of(&reasons(&["None", "None", code]), &events()),
                Some(CommitOutcome::Contended),
                "{code}"
            );
        }
    }

    #[test]
    fn throttling_is_neither() {
        assert_eq!(outcome_of(&reasons(&["None", "None", "ThrottlingError"]), &events()), None);
    }

    #[test]
    fn a_transaction_has_room_for_its_days_totals_and_milestones() {
        assert!(StatsTable::fits_one_transaction(96, 1));
        assert!(!StatsTable::fits_one_transaction(97, 1));
    }
}
