//! Creating links so that one URL has one code and one idempotency key one answer.
//!
//! ```text
//! request ── key known? ──────────── yes ──→ the first answer, or a refusal if the request is another
//!              │ no
//!            URL has a working link? yes ──→ that link (and the answer under the key)
//!              │ no
//!            one transaction: link + reuse entry + answer under the key, each only if nobody has it
//!              │                          │
//!           committed                  cancelled ──→ look again: whoever was faster has the answer
//! ```
//! A request to watch the URL finds only a link that watches it. A new one that does then takes over the entry of one that
//! doesn't, which goes on to redirect; the other way round an entry never goes. So all who ask for a link that watches get the
//! same one, too, and there is one entry for a URL.
//!
//! The transaction is the only moment at which anything becomes visible, so a crash before it leaves nothing and a crash after
//! it leaves the answer for the retry.

use aws_sdk_dynamodb::{
    error::SdkError,
    operation::{delete_item::DeleteItemError, put_item::PutItemError, transact_write_items::TransactWriteItemsError},
    types::CancellationReason,
};
use linklet_domain::{
    CorrelationId, EventId, IdempotencyKey, Link, NormalizedUrl, Record, ShortCode, TargetUrl, Timestamp, WorkspaceId,
    lifetimes,
};

use super::{
    CreateOutcome, LinksTable,
    item::{IdempotencyItem, LinkItem, ReuseItem, idempotency_key, reuse_key},
};
use crate::{
    RepositoryError,
    item::{despite_transactions, number, text, to_item},
};

/// The answer that a request got when it came for the first time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstAnswer {
    /// Tells whether a repetition is the same request.
    pub fingerprint: String,
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: String,
}

/// What shortening a URL again finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reusable {
    /// A link that works.
    Link(Box<Link>),
    /// An entry whose link won't do: it doesn't work any more, doesn't watch as it should, or leads to another URL. A new link
    /// replaces it.
    Stale(ShortCode),
    /// Nothing.
    None,
}

/// A link to create, with everything that has to become true together with it.
#[derive(Debug)]
pub struct Creation<'a> {
    /// The link.
    pub link: &'a Link,
    /// The correlation id of the request.
    pub correlation_id: &'a CorrelationId,
    /// Whether the next request for the URL gets this link, and what stands in its place so far.
    pub reusable: Option<&'a Reusable>,
    /// The answer to remember, and under which key.
    pub answer: Option<(&'a IdempotencyKey, &'a FirstAnswer)>,
}

impl LinksTable {
    /// Stores a new link with its reuse entry and its remembered answer, all or nothing.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn create(&self, creation: &Creation<'_>) -> Result<CreateOutcome, RepositoryError> {
        const OPERATION: &str = "create a link";
        let Creation { link, correlation_id, reusable, answer } = creation;
        let change_id = EventId::generate();
        if reusable.is_none() && answer.is_none() {
            return self.put_link(link, &change_id, correlation_id).await;
        }
        let mut actions = vec![self.0.put_new(OPERATION, &LinkItem::new(link, &change_id, correlation_id))?];
        if let Some(standing) = reusable {
            actions.push(match standing {
                Reusable::Stale(code) => self.0.put_if(
                    OPERATION,
                    &ReuseItem::new(link),
                    "short_code = :stale",
                    Some((":stale", text(code))),
                )?,
                Reusable::Link(_) | Reusable::None => self.0.put_new(OPERATION, &ReuseItem::new(link))?,
            });
        }
        if let Some((key, answer)) = answer {
            let item = idempotency_item(&link.workspace, key, answer, link.created_at);
            actions.push(self.0.put_if(
                OPERATION,
                &item,
                KEY_IS_FREE,
                Some((":now", number(&link.created_at.unix_seconds()))),
            )?);
        }
        let sent = self.0.client.transact_write_items().set_transact_items(Some(actions)).send().await;
        match sent.map_err(SdkError::into_service_error) {
            Ok(_) => Ok(CreateOutcome::Created),
            Err(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
                outcome_of(cancelled.cancellation_reasons())
                    .ok_or_else(|| RepositoryError::unavailable(OPERATION)(cancelled))
            }
            Err(error) => Err(RepositoryError::unavailable(OPERATION)(error)),
        }
    }

    /// The link that a URL already has in a workspace, and that watches it if it has to.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn reusable(
        &self,
        workspace: &WorkspaceId,
        target: &TargetUrl,
        must_watch: bool,
    ) -> Result<Reusable, RepositoryError> {
        let wanted = NormalizedUrl::of(target);
        let key = reuse_key(workspace, &wanted.digest());
        let Some(entry) = self.0.get::<ReuseItem>("look up a URL", key).await? else {
            return Ok(Reusable::None);
        };
        match self.find(&entry.short_code).await? {
            // The entry may have been made when other URLs counted as the same, so the link itself has the last word.
            Some(Record::Link(link))
                if link.is_reusable() && (link.watch || !must_watch) && NormalizedUrl::of(&link.target) == wanted =>
            {
                Ok(Reusable::Link(Box::new(link)))
            }
            _ => Ok(Reusable::Stale(entry.short_code)),
        }
    }

    /// The answer that a request with this key got within the last 24 hours.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn first_answer(
        &self,
        workspace: &WorkspaceId,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<FirstAnswer>, RepositoryError> {
        let found =
            self.0.get::<IdempotencyItem>("look up a first answer", idempotency_key(workspace, key.as_str())).await?;
        // DynamoDB deletes some time after the TTL, so the time is checked here as well.
        let current = found.filter(|item| item.ttl > now.unix_seconds());
        Ok(current.map(|item| FirstAnswer { fingerprint: item.fingerprint, status: item.status, body: item.answer }))
    }

    /// Remembers an answer that created nothing; says whether the key was free.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn remember_answer(
        &self,
        workspace: &WorkspaceId,
        key: &IdempotencyKey,
        answer: &FirstAnswer,
        now: Timestamp,
    ) -> Result<bool, RepositoryError> {
        const OPERATION: &str = "remember an answer";
        let stored = self
            .0
            .client
            .put_item()
            .table_name(&self.0.name)
            .set_item(Some(to_item(OPERATION, &idempotency_item(workspace, key, answer, now))?))
            .condition_expression(KEY_IS_FREE)
            .expression_attribute_names("#ttl", "ttl")
            .expression_attribute_values(":now", number(&now.unix_seconds()))
            .send()
            .await;
        match stored.map_err(SdkError::into_service_error) {
            Ok(_) => Ok(true),
            Err(PutItemError::ConditionalCheckFailedException(_)) => Ok(false),
            Err(error) => Err(RepositoryError::unavailable(OPERATION)(error)),
        }
    }

    /// Removes a link's reuse entry if it is the link's own. An entry that stays behind after a crash does no harm: whoever
    /// reads it sees that the link doesn't work any more.
    pub(super) async fn free_reuse_entry(&self, link: &Link) -> Result<(), RepositoryError> {
        let delete = self
            .0
            .client
            .delete_item()
            .table_name(&self.0.name)
            .set_key(Some(ReuseItem::key_of(link).into_item()))
            .condition_expression("short_code = :code")
            .expression_attribute_values(":code", text(&link.code));
        let freed = despite_transactions(|| delete.clone().send()).await;
        match freed.map_err(SdkError::into_service_error) {
            Ok(_) | Err(DeleteItemError::ConditionalCheckFailedException(_)) => Ok(()),
            Err(error) => Err(RepositoryError::unavailable("free a URL")(error)),
        }
    }
}

/// Nobody has used the key in the last 24 hours.
const KEY_IS_FREE: &str = "attribute_not_exists(pk) OR #ttl <= :now";

fn idempotency_item(
    workspace: &WorkspaceId,
    key: &IdempotencyKey,
    answer: &FirstAnswer,
    now: Timestamp,
) -> IdempotencyItem {
    IdempotencyItem {
        key: idempotency_key(workspace, key.as_str()),
        fingerprint: answer.fingerprint.clone(),
        status: answer.status,
        answer: answer.body.clone(),
        ttl: now.plus(lifetimes::IDEMPOTENCY_KEYS).unix_seconds(),
    }
}

/// What a cancelled creation means; the link is the first action. `None` if DynamoDB had a reason of its own.
fn outcome_of(reasons: &[CancellationReason]) -> Option<CreateOutcome> {
    let refused = |reason: &CancellationReason| reason.code() == Some("ConditionalCheckFailed");
    let others = reasons.iter().skip(1);
    if others.clone().any(refused) {
        return Some(CreateOutcome::Overtaken);
    }
    if reasons.first().is_some_and(refused) {
        return Some(CreateOutcome::CodeTaken);
    }
    let meets_another = |reason: &CancellationReason| reason.code() == Some("TransactionConflict");
    reasons.iter().any(meets_another).then_some(CreateOutcome::Overtaken)
}
