//! Transactions that map the refusal of each action to a value.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{CancellationReason, TransactWriteItem};

use crate::{RepositoryError, Result, back_off, item::Item};

/// A transaction: write actions, each with the value that [`Self::send`] returns if the action's condition fails.
pub(crate) struct Transaction<T> {
    operation: &'static str,
    actions: Vec<TransactWriteItem>,
    refusals: Vec<T>,
}

/// The outcome of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransactionOutcome<T> {
    /// All actions are committed.
    Committed,
    /// The condition of an action failed; this is the action's refusal.
    Refused(T),
    /// Another transaction is writing one of the items; a retry may succeed.
    InConflict,
}

impl<T> TransactionOutcome<T> {
    /// The refusal, or what it means that the transaction is committed, or in conflict.
    pub(crate) fn or(self, committed: T, in_conflict: T) -> T {
        match self {
            Self::Committed => committed,
            Self::Refused(refusal) => refusal,
            Self::InConflict => in_conflict,
        }
    }
}

impl<T> Transaction<T> {
    pub(crate) fn new(operation: &'static str) -> Self {
        Self { operation, actions: Vec::new(), refusals: Vec::new() }
    }

    /// Adds an action. If the conditions of several actions fail, the refusal of the first of them is returned.
    pub(crate) fn and(mut self, action: TransactWriteItem, refusal: T) -> Self {
        self.actions.push(action);
        self.refusals.push(refusal);
        self
    }

    /// Adds actions that are refused for the same reason.
    pub(crate) fn and_each(self, actions: impl IntoIterator<Item = TransactWriteItem>, refusal: T) -> Self
    where
        T: Clone,
    {
        actions.into_iter().fold(self, |transaction, action| transaction.and(action, refusal.clone()))
    }

    /// Sends the transaction. The SDK retries it with the same client request token, so it is applied at most once.
    pub(crate) async fn send(self, client: &Client) -> Result<TransactionOutcome<T>> {
        self.send_returning(client).await.map(|(outcome, _)| outcome)
    }

    /// As [`Self::send`], with the item of the action that is refused, if the action [returns it](crate::write::Write::returning_refused).
    pub(crate) async fn send_returning(self, client: &Client) -> Result<(TransactionOutcome<T>, Option<Item>)> {
        let sent = client.transact_write_items().set_transact_items(Some(self.actions)).send().await;
        let cancelled = match sent.map_err(SdkError::into_service_error) {
            Ok(_) => return Ok((TransactionOutcome::Committed, None)),
            Err(TransactWriteItemsError::TransactionCanceledException(cancelled)) => cancelled,
            Err(error) => return Err(RepositoryError::unavailable(self.operation)(error)),
        };
        let reasons = cancelled.cancellation_reasons();
        let item = reasons.iter().find(|reason| is_refusal(reason)).and_then(|reason| reason.item().cloned());
        match outcome_of(reasons, self.refusals) {
            Some(outcome) => Ok((outcome, item)),
            None => Err(RepositoryError::unavailable(self.operation)(cancelled)),
        }
    }
}

impl<T> Transaction<Option<T>> {
    /// As [`Self::send`], for [`retry_on_conflict`]: `done` if it is committed, otherwise the refusal, which is `None` if a retry may
    /// succeed.
    pub(crate) async fn commit(self, client: &Client, done: T) -> Result<Option<T>> {
        Ok(self.send(client).await?.or(Some(done), None))
    }
}

impl Transaction<()> {
    /// As [`Self::send`], where a refusal is an error: nobody counts on it.
    pub(crate) async fn or_fail(self, client: &Client) -> Result<()> {
        let operation = self.operation;
        match self.send(client).await? {
            TransactionOutcome::Committed => Ok(()),
            _ => Err(RepositoryError::contention(operation)),
        }
    }
}

/// The outcome of a cancelled transaction; `None` if the reason is neither a condition nor a conflict, such as throttling.
fn outcome_of<T>(reasons: &[CancellationReason], refusals: Vec<T>) -> Option<TransactionOutcome<T>> {
    let mut refused = refusals.into_iter().zip(reasons);
    if let Some((refusal, _)) = refused.find(|(_, reason)| is_refusal(reason)) {
        return Some(TransactionOutcome::Refused(refusal));
    }
    reasons.iter().any(|reason| reason.code() == Some("TransactionConflict")).then_some(TransactionOutcome::InConflict)
}

fn is_refusal(reason: &CancellationReason) -> bool {
    reason.code() == Some("ConditionalCheckFailed")
}

/// How often a read-check-write is tried that concurrent writes come before.
pub(crate) const TRIES: u32 = 8;

/// Retries a read-check-write `attempt` up to [`TRIES`] times while it returns `None`, which means that a concurrent write came first.
pub(crate) async fn retry_on_conflict<T, Tried>(
    operation: &'static str,
    mut attempt: impl FnMut() -> Tried,
) -> Result<T>
where
    Tried: Future<Output = Result<Option<T>>>,
{
    for tried in 0..TRIES {
        if let Some(result) = attempt().await? {
            return Ok(result);
        }
        back_off(tried).await;
    }
    Err(RepositoryError::contention(operation))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(codes: &[&str]) -> Option<TransactionOutcome<usize>> {
        let reasons: Vec<_> = codes.iter().map(|code| CancellationReason::builder().code(*code).build()).collect();
        outcome_of(&reasons, (0..codes.len()).collect())
    }

    #[test]
    fn the_first_refused_action_says_what_it_means() {
        let expected = Some(TransactionOutcome::Refused(1));
        assert_eq!(outcome(&["None", "ConditionalCheckFailed", "ConditionalCheckFailed"]), expected);
        assert_eq!(outcome(&["TransactionConflict", "ConditionalCheckFailed"]), Some(TransactionOutcome::Refused(1)));
        assert_eq!(outcome(&["None", "TransactionConflict"]), Some(TransactionOutcome::InConflict));
        assert_eq!(outcome(&["None", "ThrottlingError"]), None);
    }

    #[tokio::test]
    async fn conflicts_are_retried_eight_times() {
        let tries = std::cell::Cell::new(0);
        let attempt = async |succeeds_at| {
            tries.set(tries.get() + 1);
            Ok((tries.get() == succeeds_at).then_some("done"))
        };

        assert_eq!(retry_on_conflict("try", || attempt(3)).await.unwrap(), "done");
        tries.set(0);
        assert!(retry_on_conflict("try", || attempt(0)).await.is_err());
        assert_eq!(tries.get(), 8);
    }
}
