//! Recording results of checks, and the changes of status that they cause.
//!
//! A result counts once, since its item is put on the condition that it doesn't exist: alone, or in one transaction with the
//! change of status that it causes. So a change of status is stored if and only if its result is, and a redelivered message
//! finds the item.

use std::time::Duration;

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use linklet_domain::{CheckResult, EventId, Target, TargetId, TargetStatus, Timestamp, lifetimes, next_status};

use super::{
    WatchTable,
    item::{ResultItem, result_partition, target_key},
};
use crate::{
    RepositoryError,
    item::{IS_NEW, SortKeys, from_item, number, text},
    transaction::{Transaction, TransactionOutcome, retry_on_conflict},
};

const RECORD: &str = "record a round";

/// The latest start of a check after its slot: the longest check interval, since a later check is skipped.
const LATEST_START: Duration = Duration::from_secs(60);

/// A target's result in a round, to be recorded.
#[derive(Debug, Clone, Copy)]
pub struct RoundRecord<'a> {
    /// The target.
    pub target: &'a TargetId,
    /// The planned start of the round, which identifies it.
    pub slot: Timestamp,
    /// The target's status when the round was dispatched. It may be outdated, and only determines what has to be read.
    pub known_status: TargetStatus,
    /// The result of the check.
    pub result: &'a CheckResult,
}

/// The outcome of recording a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundOutcome {
    /// The result is stored; the target's status is unchanged.
    Recorded,
    /// The result is stored, and the target's status has changed to this one.
    Changed(TargetStatus),
    /// The round already has a result, which is kept.
    AlreadyRecorded,
}

/// A change of status that a result causes, unless the target's status is newer than the result.
struct Change {
    to: TargetStatus,
    /// The time of the first result that the change is based on. The target must not have been created later, since results of
    /// a deleted target don't count for a new one with the same id.
    counted_from: Timestamp,
}

/// Why recording a result with a change of status is refused.
enum Refusal {
    /// The round already has a result.
    AlreadyRecorded,
    /// The target already has the status, has a newer one, or is deleted.
    NotApplicable,
}

impl WatchTable {
    /// Stores the result of a check, and changes the target's status if the result causes that. A success of a target that is
    /// up takes one read and one write.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn record(&self, round: RoundRecord<'_>) -> Result<RoundOutcome, RepositoryError> {
        retry_on_conflict(RECORD, || self.try_to_record(round)).await
    }

    async fn try_to_record(&self, round: RoundRecord<'_>) -> Result<Option<RoundOutcome>, RepositoryError> {
        let Some(change) = self.change_of(round).await? else {
            return self.put_result(round).await.map(Some);
        };
        let transaction = Transaction::new(RECORD)
            .and(self.table.put_new(RECORD, &item_of(round))?, Refusal::AlreadyRecorded)
            .and(self.change_action(round, &change)?, Refusal::NotApplicable);
        match transaction.send(&self.table.client).await? {
            TransactionOutcome::Committed => Ok(Some(RoundOutcome::Changed(change.to))),
            TransactionOutcome::Refused(Refusal::AlreadyRecorded) => Ok(Some(RoundOutcome::AlreadyRecorded)),
            TransactionOutcome::Refused(Refusal::NotApplicable) => self.put_result(round).await.map(Some),
            TransactionOutcome::InConflict => Ok(None),
        }
    }

    /// The change of status that a result causes, judging by the known status and the previous result.
    async fn change_of(&self, round: RoundRecord<'_>) -> Result<Option<Change>, RepositoryError> {
        let (known, failed, checked_at) = (round.known_status, round.result.is_failure(), round.result.checked_at);
        let previous_failure = match (known, failed) {
            (TargetStatus::Down, true) => return Ok(None),
            (TargetStatus::Pending | TargetStatus::Down, false) => None,
            (TargetStatus::Pending, true) | (TargetStatus::Up, _) => {
                self.previous(round).await?.filter(CheckResult::is_failure)
            }
        };
        let to = next_status(known, previous_failure.is_some(), failed);
        // After a failure, the known status `up` may be outdated, since the previous round may have ended after this one was
        // dispatched. Its result is stored by now, since the checks of a host run one after another.
        if to == known && (failed || previous_failure.is_none()) {
            return Ok(None);
        }
        let counted_from = previous_failure.filter(|_| failed).map_or(checked_at, |previous| previous.checked_at);
        Ok(Some(Change { to, counted_from }))
    }

    /// The latest result before this round.
    async fn previous(&self, round: RoundRecord<'_>) -> Result<Option<CheckResult>, RepositoryError> {
        const OPERATION: &str = "read the previous result";
        let earlier = self.table.query(&result_partition(round.target), SortKeys::Before(&round.slot.to_string()));
        let query = earlier.consistent_read(true).scan_index_forward(false);
        let mut found = self.table.query_all(OPERATION, query, 1).await?;
        found.pop().map(|item| from_item::<ResultItem>(OPERATION, item).map(CheckResult::from)).transpose()
    }

    fn change_action(&self, round: RoundRecord<'_>, change: &Change) -> Result<TransactWriteItem, RepositoryError> {
        const SET: &str = "SET #status = :status, status_since = :at, change_id = :change";
        const IS_APPLICABLE: &str = "#status <> :status AND status_since <= :at AND created_at <= :counted_from";
        let CheckResult { checked_at, outcome, .. } = round.result;
        let (reason, value): (_, (_, AttributeValue)) = match (outcome.error(), outcome.status_code()) {
            (Some(error), _) => (", #error = :reason REMOVE status_code", (":reason", text(error.as_str()))),
            (None, code) => (", status_code = :reason REMOVE #error", (":reason", number(&code.unwrap_or_default()))),
        };
        let values = [
            (":status", text(change.to.as_str())),
            (":at", text(checked_at)),
            (":change", text(&EventId::generate())),
            (":counted_from", text(&change.counted_from)),
            value,
        ];
        let update = self.table.update(RECORD, target_key(round.target), format!("{SET}{reason}"));
        update.only_if(IS_APPLICABLE).values(values).action()
    }

    async fn put_result(&self, round: RoundRecord<'_>) -> Result<RoundOutcome, RepositoryError> {
        let is_new = self.table.put_item(RECORD, &item_of(round))?.only_if(IS_NEW).unless_refused().await?;
        Ok(if is_new { RoundOutcome::Recorded } else { RoundOutcome::AlreadyRecorded })
    }

    /// Lists a target's results, newest first, as far back as they are kept: at most `limit`, and only checks since `since` if
    /// given. Results of a deleted target with the same id are left out.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn results(
        &self,
        target: &Target,
        since: Option<Timestamp>,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<CheckResult>, RepositoryError> {
        const OPERATION: &str = "list results";
        // DynamoDB deletes an item some time after its TTL, so the time is checked here as well.
        let oldest = now.minus(lifetimes::CHECK_RESULTS).max(target.created_at).max(since.unwrap_or(target.created_at));
        // The sort key is the slot, and a check starts after its slot, so this may include results that are too old. They are the
        // last ones and are filtered out below.
        let first = oldest.minus(LATEST_START).to_string();
        let query = self.table.query(&result_partition(&target.id), SortKeys::From(&first)).scan_index_forward(false);
        let items = self.table.query_all(OPERATION, query, limit).await?;
        let results: Result<Vec<_>, _> =
            items.into_iter().map(|item| from_item::<ResultItem>(OPERATION, item).map(CheckResult::from)).collect();
        Ok(results?.into_iter().filter(|result| result.checked_at >= oldest).collect())
    }
}

fn item_of(round: RoundRecord<'_>) -> ResultItem {
    ResultItem::new(round.target, round.slot, round.result)
}
