//! Creating links with one code per URL and one response per idempotency key.
//!
//! ```text
//! request ── key used before? ────── yes ──→ the stored response, or an error if the request differs
//!              │ no
//!            URL has an active link? yes ──→ that link (its response is stored under the key)
//!              │ no
//!            one transaction: link + reuse entry + external id + response under the key, each only if it doesn't exist
//!              │                          │
//!           committed                  cancelled ──→ read again: a concurrent request has created one of them
//! ```
//! A request with `watch` reuses only a link that watches the URL. If there is only a link without `watch`, it creates a new
//! link, which replaces the old one in the reuse entry; the old one keeps redirecting. A link without `watch` never replaces
//! one with `watch`. So a URL has one reuse entry, and all requests with `watch` get the same link.
//!
//! Nothing is visible before the transaction commits, so a crash before leaves nothing, and a crash after it leaves the
//! response for the client's retry.

use aws_sdk_dynamodb::{
    error::SdkError,
    operation::{delete_item::DeleteItemError, put_item::PutItemError, transact_write_items::TransactWriteItemsError},
    types::{CancellationReason, TransactWriteItem},
};
use linklet_domain::{
    CorrelationId, EventId, Generation, IdempotencyKey, Link, NormalizedUrl, Record, Revision, ShortCode, TargetUrl,
    Timestamp, WorkspaceId, lifetimes,
};

use super::{
    CODE_IS_FREE, CreateOutcome, LinksTable, code_is_free_for,
    item::{IdempotencyItem, LinkItem, ReuseItem, idempotency_key, reuse_key},
};
use crate::{
    Consistency, RepositoryError,
    item::{number, retry_transaction_conflicts, text, to_item},
    transaction::Transaction,
};

/// The stored response to the first request with an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstAnswer {
    /// The fingerprint of the request, to recognise another request with the same key.
    pub fingerprint: String,
    /// The generation of the link in the response, which tells it from a later link with its code.
    pub generation: Generation,
    /// The revision of the link in the response.
    pub revision: Revision,
    /// The response's HTTP status.
    pub status: u16,
    /// The response's body.
    pub body: String,
}

/// The reuse entry of a URL, as [`LinksTable::reusable`] finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reusable {
    /// The URL has a link that can be reused.
    Link(Box<Link>),
    /// The entry names a link that can't be reused: it is not active, doesn't watch although it has to, or has another URL. A
    /// new link replaces it in the entry.
    Stale(ShortCode),
    /// The URL has no reuse entry.
    None,
}

/// A link to create, with the items that are written in the same transaction.
#[derive(Debug)]
pub struct Creation<'a> {
    /// The link.
    pub link: &'a Link,
    /// The correlation id of the request.
    pub correlation_id: &'a CorrelationId,
    /// The current reuse entry of the URL, which will name this link; `None` to leave the reuse entry alone.
    pub reusable: Option<&'a Reusable>,
    /// The idempotency key of the request, and the response to store under it.
    pub answer: Option<(&'a IdempotencyKey, &'a FirstAnswer)>,
}

impl LinksTable {
    /// Stores a new link with its reuse entry, its external id and its idempotency key, all or nothing.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn create(&self, creation: &Creation<'_>) -> Result<CreateOutcome, RepositoryError> {
        const OPERATION: &str = "create a link";
        let Creation { link, correlation_id, reusable, answer } = creation;
        let change_id = EventId::generate();
        let external_id = &link.metadata.external_id;
        if reusable.is_none() && answer.is_none() && external_id.is_none() {
            return self.put_link(link, &change_id, correlation_id).await;
        }
        let item = LinkItem::new(link, &change_id, correlation_id);
        let mut actions = vec![self.0.put_if(OPERATION, &item, CODE_IS_FREE, code_is_free_for(&link.workspace))?];
        if let Some(standing) = reusable {
            actions.push(self.put_reuse_entry(OPERATION, link, standing)?);
        }
        if let Some(id) = external_id {
            match self.claim_external_id(OPERATION, (&link.workspace, &link.id()), id).await? {
                Some(claim) => actions.push(claim),
                None => return Ok(CreateOutcome::ExternalIdTaken),
            }
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

    /// Finds the link that can be reused for a URL in a workspace. With `must_watch`, only a link with `watch` can be reused.
    /// The reuse entry is read with this consistency. An old one does no harm: [`Self::create`] then answers with a conflict.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn reusable(
        &self,
        workspace: &WorkspaceId,
        target: &TargetUrl,
        must_watch: bool,
        consistency: Consistency,
    ) -> Result<Reusable, RepositoryError> {
        let wanted = NormalizedUrl::of(target);
        let key = reuse_key(workspace, &wanted.digest());
        let Some(entry) = self.0.get_with::<ReuseItem>("look up a URL", key, consistency).await? else {
            return Ok(Reusable::None);
        };
        match self.find(&entry.short_code).await? {
            // The entry may have been written by a version with other normalisation rules, so the link's URL is compared again.
            Some(Record::Link(link))
                if link.is_reusable() && (link.watch || !must_watch) && NormalizedUrl::of(&link.target) == wanted =>
            {
                Ok(Reusable::Link(Box::new(link)))
            }
            _ => Ok(Reusable::Stale(entry.short_code)),
        }
    }

    /// The stored response to a request with this key within the last 24 hours.
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
        // DynamoDB deletes an item some time after its TTL, so the TTL is checked here as well.
        let current = found.filter(|item| item.ttl > now.unix_seconds());
        Ok(current.map(|item| FirstAnswer {
            fingerprint: item.fingerprint,
            generation: item.generation,
            revision: item.revision,
            status: item.status,
            body: item.answer,
        }))
    }

    /// Stores the response of a request that created no link. Returns whether the key was unused.
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

    /// The action that makes a link the one of its URL, if the URL still has this standing.
    fn put_reuse_entry(
        &self,
        operation: &'static str,
        link: &Link,
        standing: &Reusable,
    ) -> Result<TransactWriteItem, RepositoryError> {
        let entry = ReuseItem::new(link);
        match standing {
            Reusable::Stale(code) => {
                self.0.put_if(operation, &entry, "short_code = :stale", Some((":stale", text(code))))
            }
            Reusable::Link(_) | Reusable::None => self.0.put_new(operation, &entry),
        }
    }

    /// Makes a link the one of its URL, unless the URL has another one that can be reused. If a concurrent request gives the URL
    /// a link, that one stays.
    pub(super) async fn claim_reuse_entry(&self, link: &Link) -> Result<(), RepositoryError> {
        const OPERATION: &str = "claim a URL";
        let standing = self.reusable(&link.workspace, &link.target, link.watch, Consistency::Strong).await?;
        if matches!(standing, Reusable::Link(_)) {
            return Ok(());
        }
        let put = self.put_reuse_entry(OPERATION, link, &standing)?;
        Transaction::new(OPERATION).and(put, ()).send(&self.0.client).await?;
        Ok(())
    }

    /// Deletes the reuse entry of a link's URL if it names this link. An entry that is left after a crash is harmless, since
    /// readers check the link.
    pub(super) async fn free_reuse_entry(&self, link: &Link) -> Result<(), RepositoryError> {
        let delete = self
            .0
            .client
            .delete_item()
            .table_name(&self.0.name)
            .set_key(Some(ReuseItem::key_of(link).into_item()))
            .condition_expression("short_code = :code")
            .expression_attribute_values(":code", text(&link.code));
        let freed = retry_transaction_conflicts(|| delete.clone().send()).await;
        match freed.map_err(SdkError::into_service_error) {
            Ok(_) | Err(DeleteItemError::ConditionalCheckFailedException(_)) => Ok(()),
            Err(error) => Err(RepositoryError::unavailable("free a URL")(error)),
        }
    }
}

/// The condition that an idempotency key was not used in the last 24 hours.
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
        generation: answer.generation.clone(),
        revision: answer.revision,
        status: answer.status,
        answer: answer.body.clone(),
        ttl: now.plus(lifetimes::IDEMPOTENCY_KEYS).unix_seconds(),
    }
}

/// The outcome of a cancelled creation, whose first action puts the link. `None` if the reason is neither a condition nor a
/// conflict, such as throttling.
fn outcome_of(reasons: &[CancellationReason]) -> Option<CreateOutcome> {
    let refused = |reason: &CancellationReason| reason.code() == Some("ConditionalCheckFailed");
    let others = reasons.iter().skip(1);
    if others.clone().any(refused) {
        return Some(CreateOutcome::Conflict);
    }
    if reasons.first().is_some_and(refused) {
        return Some(CreateOutcome::CodeTaken);
    }
    let is_conflict = |reason: &CancellationReason| reason.code() == Some("TransactionConflict");
    reasons.iter().any(is_conflict).then_some(CreateOutcome::Conflict)
}
