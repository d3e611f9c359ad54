//! Recording what rounds have found, and the changes of status that follow.
//!
//! The result's row is what makes a round count once: it is put on the condition that it isn't there, alone or in one
//! transaction with the change that it causes. So a change of status exists if and only if the result behind it does, and a
//! message that comes again finds the row.

use std::time::Duration;

use aws_sdk_dynamodb::{
    error::SdkError,
    operation::put_item::PutItemError,
    types::{AttributeValue, TransactWriteItem},
};
use linklet_domain::{CheckResult, EventId, Target, TargetId, TargetStatus, Timestamp, lifetimes, next_status};

use super::{
    WatchTable,
    item::{ResultItem, result_partition},
};
use crate::{
    RepositoryError,
    item::{IS_NEW, despite_transactions, from_item, number, text, to_item},
    transaction::{Sent, Transaction, settle},
};

const RECORD: &str = "record a round";

/// A check has begun at most this long after its slot: the longest interval, after which it isn't started any more.
const LATEST_START: Duration = Duration::from_secs(60);

/// What a round has found about a target.
#[derive(Debug, Clone, Copy)]
pub struct RoundRecord<'a> {
    /// The target.
    pub target: &'a TargetId,
    /// When the round started, by its plan; it names the round.
    pub slot: Timestamp,
    /// The target's status when the round was planned. It decides what has to be looked at, and nothing else: it may be
    /// outdated.
    pub known_status: TargetStatus,
    /// What was found.
    pub result: &'a CheckResult,
}

/// What came of recording a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundOutcome {
    /// The result is stored.
    Recorded,
    /// The result is stored, and the target has another status now.
    Changed(TargetStatus),
    /// The round has a result already, which stays.
    AlreadyRecorded,
}

/// A change of status that a result causes if nothing newer is known.
struct Change {
    to: TargetStatus,
    /// The target has to be at least as old as this: the results of a target that was deleted don't count for a new one.
    counted_from: Timestamp,
}

/// Why a change is refused.
enum Refusal {
    AlreadyRecorded,
    NotDue,
}

impl WatchTable {
    /// Stores the result of a round, and changes the target's status if that follows. A good round of a target that was up is
    /// one read and one write.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn record(&self, round: RoundRecord<'_>) -> Result<RoundOutcome, RepositoryError> {
        settle(RECORD, || self.try_to_record(round)).await
    }

    async fn try_to_record(&self, round: RoundRecord<'_>) -> Result<Option<RoundOutcome>, RepositoryError> {
        let Some(change) = self.change_of(round).await? else {
            return self.put_result(round).await.map(Some);
        };
        let transaction = Transaction::new(RECORD)
            .and(self.0.put_new(RECORD, &item_of(round))?, Refusal::AlreadyRecorded)
            .and(self.change_action(round, &change)?, Refusal::NotDue);
        match transaction.send(&self.0.client).await? {
            Sent::Committed => Ok(Some(RoundOutcome::Changed(change.to))),
            Sent::Refused(Refusal::AlreadyRecorded) => Ok(Some(RoundOutcome::AlreadyRecorded)),
            // It has that status, something newer is known, or it is gone: only the result remains to be stored.
            Sent::Refused(Refusal::NotDue) => self.put_result(round).await.map(Some),
            Sent::InConflict => Ok(None),
        }
    }

    /// The change that a result causes, as far as one can tell from the status that was known and the result before.
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
        // Behind a failure, `up` may be outdated: that round may have ended after this one was planned. Its result is there,
        // since the checks of a host come one after another.
        if to == known && (failed || previous_failure.is_none()) {
            return Ok(None);
        }
        let counted_from = previous_failure.filter(|_| failed).map_or(checked_at, |previous| previous.checked_at);
        Ok(Some(Change { to, counted_from }))
    }

    /// The result of the last round before this one that has one.
    async fn previous(&self, round: RoundRecord<'_>) -> Result<Option<CheckResult>, RepositoryError> {
        const OPERATION: &str = "read the previous result";
        let query = self
            .0
            .client
            .query()
            .consistent_read(true)
            .key_condition_expression("pk = :results AND sk < :slot")
            .expression_attribute_values(":results", text(&result_partition(round.target)))
            .expression_attribute_values(":slot", text(&round.slot))
            .scan_index_forward(false)
            .limit(1);
        let mut found = self.0.query_all(OPERATION, query, 1).await?;
        found.pop().map(|item| from_item::<ResultItem>(OPERATION, item).map(CheckResult::from)).transpose()
    }

    fn change_action(&self, round: RoundRecord<'_>, change: &Change) -> Result<TransactWriteItem, RepositoryError> {
        const SET: &str = "SET #status = :status, status_since = :at, change_id = :change";
        const IS_DUE: &str = "#status <> :status AND status_since <= :at AND created_at <= :counted_from";
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
        self.update(RECORD, round.target, &format!("{SET}{reason}"), IS_DUE, values)
    }

    async fn put_result(&self, round: RoundRecord<'_>) -> Result<RoundOutcome, RepositoryError> {
        let put = self
            .0
            .client
            .put_item()
            .table_name(&self.0.name)
            .set_item(Some(to_item(RECORD, &item_of(round))?))
            .condition_expression(IS_NEW);
        match despite_transactions(|| put.clone().send()).await.map_err(SdkError::into_service_error) {
            Ok(_) => Ok(RoundOutcome::Recorded),
            Err(PutItemError::ConditionalCheckFailedException(_)) => Ok(RoundOutcome::AlreadyRecorded),
            Err(error) => Err(RepositoryError::unavailable(RECORD)(error)),
        }
    }

    /// A target's results, newest first, `limit` at most, of checks since a moment, as far back as results are kept. Results
    /// of a target that had the id before are left out.
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
        // DynamoDB deletes some time after the TTL, so the time is checked here as well.
        let oldest = now.minus(lifetimes::CHECK_RESULTS).max(target.created_at).max(since.unwrap_or(target.created_at));
        let query = self
            .0
            .client
            .query()
            .key_condition_expression("pk = :results AND sk >= :oldest")
            .expression_attribute_values(":results", text(&result_partition(&target.id)))
            // A check starts after its slot. What this lets in too much are the oldest, so the limit cuts off nothing newer.
            .expression_attribute_values(":oldest", text(&oldest.minus(LATEST_START)))
            .scan_index_forward(false)
            .limit(i32::try_from(limit).unwrap_or(i32::MAX));
        let items = self.0.query_all(OPERATION, query, limit).await?;
        let results: Result<Vec<_>, _> =
            items.into_iter().map(|item| from_item::<ResultItem>(OPERATION, item).map(CheckResult::from)).collect();
        Ok(results?.into_iter().filter(|result| result.checked_at >= oldest).collect())
    }
}

fn item_of(round: RoundRecord<'_>) -> ResultItem {
    ResultItem::new(round.target, round.slot, round.result)
}
