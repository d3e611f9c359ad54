//! Transactions whose actions say what it means when DynamoDB refuses them.

use aws_sdk_dynamodb::{
    Client,
    error::SdkError,
    operation::transact_write_items::TransactWriteItemsError,
    types::{CancellationReason, TransactWriteItem},
};

use crate::{RepositoryError, back_off};

/// Actions that become true together or not at all.
pub(crate) struct Transaction<T> {
    operation: &'static str,
    actions: Vec<TransactWriteItem>,
    refusals: Vec<T>,
}

/// What came of a transaction.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sent<T> {
    /// All of it is true now.
    Committed,
    /// The condition of an action did not hold, which means this.
    Refused(T),
    /// Another transaction has one of the items at this moment.
    InConflict,
}

impl<T> Transaction<T> {
    pub(crate) fn new(operation: &'static str) -> Self {
        Self { operation, actions: Vec::new(), refusals: Vec::new() }
    }

    /// With one more action. If several are refused, the one that was added first says what that means.
    pub(crate) fn and(mut self, action: TransactWriteItem, refusal: T) -> Self {
        self.actions.push(action);
        self.refusals.push(refusal);
        self
    }

    /// Sends it. The SDK repeats it under one token, so a lost answer changes nothing twice.
    pub(crate) async fn send(self, client: &Client) -> Result<Sent<T>, RepositoryError> {
        let sent = client.transact_write_items().set_transact_items(Some(self.actions)).send().await;
        let cancelled = match sent.map_err(SdkError::into_service_error) {
            Ok(_) => return Ok(Sent::Committed),
            Err(TransactWriteItemsError::TransactionCanceledException(cancelled)) => cancelled,
            Err(error) => return Err(RepositoryError::unavailable(self.operation)(error)),
        };
        match outcome_of(cancelled.cancellation_reasons(), self.refusals) {
            Some(outcome) => Ok(outcome),
            None => Err(RepositoryError::unavailable(self.operation)(cancelled)),
        }
    }
}

/// What a cancelled transaction means. `None` if DynamoDB had a reason of its own, such as too many writes.
fn outcome_of<T>(reasons: &[CancellationReason], refusals: Vec<T>) -> Option<Sent<T>> {
    let mut refused = refusals.into_iter().zip(reasons);
    if let Some((refusal, _)) = refused.find(|(_, reason)| reason.code() == Some("ConditionalCheckFailed")) {
        return Some(Sent::Refused(refusal));
    }
    reasons.iter().any(|reason| reason.code() == Some("TransactionConflict")).then_some(Sent::InConflict)
}

/// Looks and tries again as long as somebody else was faster, which `attempt` says with `None`.
pub(crate) async fn settle<T, Tried>(
    operation: &'static str,
    mut attempt: impl FnMut() -> Tried,
) -> Result<T, RepositoryError>
where
    Tried: Future<Output = Result<Option<T>, RepositoryError>>,
{
    const TRIES: u32 = 8;
    for tried in 0..TRIES {
        if let Some(settled) = attempt().await? {
            return Ok(settled);
        }
        back_off(tried).await;
    }
    Err(RepositoryError::overtaken(operation))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(codes: &[&str]) -> Option<Sent<usize>> {
        let reasons: Vec<_> = codes.iter().map(|code| CancellationReason::builder().code(*code).build()).collect();
        outcome_of(&reasons, (0..codes.len()).collect())
    }

    #[test]
    fn the_first_refused_action_says_what_it_means() {
        assert_eq!(outcome(&["None", "ConditionalCheckFailed", "ConditionalCheckFailed"]), Some(Sent::Refused(1)));
        assert_eq!(outcome(&["TransactionConflict", "ConditionalCheckFailed"]), Some(Sent::Refused(1)));
        assert_eq!(outcome(&["None", "TransactionConflict"]), Some(Sent::InConflict));
        assert_eq!(outcome(&["None", "ThrottlingError"]), None);
    }

    #[tokio::test]
    async fn whoever_is_overtaken_tries_again_but_not_for_ever() {
        let tries = std::cell::Cell::new(0);
        let attempt = async |succeeds_at| {
            tries.set(tries.get() + 1);
            Ok((tries.get() == succeeds_at).then_some("done"))
        };

        assert_eq!(settle("try", || attempt(3)).await.unwrap(), "done");
        tries.set(0);
        assert!(settle("try", || attempt(0)).await.is_err());
        assert_eq!(tries.get(), 8);
    }
}
