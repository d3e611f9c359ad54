//! Registering targets: one target per URL, also with concurrent requests.
//!
//! ```text
//! request ── key used before, and its target exists? ── yes ──→ that target
//!              │ no
//!            URL has a target? ── yes ──→ that target (stored under the key); if only links watched it, it becomes
//!              │ no                       registered, with the caller as owner
//!            one transaction: target + key, each only if it doesn't exist
//!              │                  │
//!           committed         cancelled ──→ read again: a concurrent request has created one of them
//! ```

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use linklet_domain::{CorrelationId, EventId, IdempotencyKey, Target};

use super::{
    WatchTable,
    item::{IdempotencyItem, TargetItem, idempotency_key},
};
use crate::{
    RepositoryError,
    item::{number, text},
    transaction::retry_on_conflict,
};

const REGISTER: &str = "register a target";

/// The outcome of registering a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    /// The target after the registration.
    pub target: Target,
    /// Whether this request created the target.
    pub is_new: bool,
}

/// The idempotency key of a request, and its existing item if the target in it is deleted or no longer registered.
struct Key<'a> {
    key: &'a IdempotencyKey,
    stale: Option<IdempotencyItem>,
}

impl WatchTable {
    /// Registers a URL, or returns its existing target. A key that was used in the last 24 hours returns the target of that
    /// request whatever the URL is now, as long as the target is registered.
    ///
    /// `target.created_at` must be the time of the request.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn register(
        &self,
        target: &Target,
        key: Option<&IdempotencyKey>,
        correlation_id: &CorrelationId,
    ) -> Result<Registered, RepositoryError> {
        retry_on_conflict(REGISTER, || self.try_to_register(target, key, correlation_id)).await
    }

    async fn try_to_register(
        &self,
        target: &Target,
        key: Option<&IdempotencyKey>,
        correlation_id: &CorrelationId,
    ) -> Result<Option<Registered>, RepositoryError> {
        let used = self.used_key(target, key).await?;
        if let Some(used) = &used
            && let Some(found) = self.find(&used.target_id).await?
            && found.registered
        {
            return Ok(Some(Registered { target: found, is_new: false }));
        }
        let key = key.map(|key| Key { key, stale: used });
        match self.find(&target.id).await? {
            Some(found) => self.register_existing(found, target, key, correlation_id).await,
            None => self.create(target, key, correlation_id).await,
        }
    }

    /// The item of an idempotency key that was used in the last 24 hours.
    async fn used_key(
        &self,
        target: &Target,
        key: Option<&IdempotencyKey>,
    ) -> Result<Option<IdempotencyItem>, RepositoryError> {
        let Some(key) = key else { return Ok(None) };
        let found = self
            .0
            .get::<IdempotencyItem>("look up an idempotency key", idempotency_key(&target.workspace, key))
            .await?;
        // DynamoDB deletes an item some time after its TTL, so the TTL is checked here as well.
        Ok(found.filter(|item| item.ttl > target.created_at.unix_seconds()))
    }

    /// Returns an existing target. If only links watch it, it becomes registered, with the caller as its owner.
    async fn register_existing(
        &self,
        found: Target,
        wanted: &Target,
        key: Option<Key<'_>>,
        correlation_id: &CorrelationId,
    ) -> Result<Option<Registered>, RepositoryError> {
        let (mut target, mut actions) = (found, Vec::new());
        if !target.registered {
            actions.push(self.set_owner(wanted, correlation_id)?);
            let (owner, owner_email) = (wanted.owner.clone(), wanted.owner_email.clone());
            target = Target { registered: true, owner, owner_email, ..target };
        }
        actions.extend(key.map(|key| self.put_key(wanted, &key)).transpose()?);
        let is_done = actions.is_empty() || self.commit(REGISTER, actions).await?.is_some();
        Ok(is_done.then_some(Registered { target, is_new: false }))
    }

    /// The action that marks a target as registered and sets its owner, unless it is registered already.
    fn set_owner(&self, wanted: &Target, correlation_id: &CorrelationId) -> Result<TransactWriteItem, RepositoryError> {
        const SET: &str = "SET registered = :yes, user_id = :user, user_email = :email, correlation_id = :correlation";
        let values = [
            (":yes", AttributeValue::Bool(true)),
            (":no", AttributeValue::Bool(false)),
            (":user", text(&wanted.owner)),
            (":email", text(&wanted.owner_email)),
            (":correlation", text(correlation_id)),
        ];
        self.update(REGISTER, &wanted.id, SET, "registered = :no", values)
    }

    async fn create(
        &self,
        target: &Target,
        key: Option<Key<'_>>,
        correlation_id: &CorrelationId,
    ) -> Result<Option<Registered>, RepositoryError> {
        let target = Target { registered: true, ..target.clone() };
        let mut actions =
            vec![self.0.put_new(REGISTER, &TargetItem::new(&target, EventId::generate(), correlation_id))?];
        actions.extend(key.map(|key| self.put_key(&target, &key)).transpose()?);
        Ok(self.commit(REGISTER, actions).await?.map(|()| Registered { target, is_new: true }))
    }

    /// The action that stores a target under an idempotency key, unless a concurrent request has used the key.
    fn put_key(&self, target: &Target, key: &Key<'_>) -> Result<TransactWriteItem, RepositoryError> {
        let item = IdempotencyItem::new(target, key.key, target.created_at);
        let (condition, value) = match &key.stale {
            Some(stale) => ("target_id = :stale", (":stale", text(&stale.target_id))),
            None => ("attribute_not_exists(pk) OR #ttl <= :now", (":now", number(&target.created_at.unix_seconds()))),
        };
        self.0.put_if(REGISTER, &item, condition, Some(value))
    }
}
