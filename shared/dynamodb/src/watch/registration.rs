//! Registering a URL so that it has one target, however many ask at once.
//!
//! ```text
//! request ── key known, and its target there? ── yes ──→ that target
//!              │ no
//!            URL has a target? ── yes ──→ that target, registered and the caller's from now on if only links
//!              │ no                       watched it (and noted under the key)
//!            one transaction: target + key, each only if nobody has it
//!              │                  │
//!           committed         cancelled ──→ look again: whoever was faster has the answer
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
    transaction::{Sent, Transaction, settle},
};

const REGISTER: &str = "register a target";

/// The target of a URL that somebody asked to monitor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    /// The target as it is now.
    pub target: Target,
    /// Whether it was made for this request.
    pub is_new: bool,
}

/// An idempotency key and what was found under it: a target that was deleted since, or nothing.
struct Key<'a> {
    key: &'a IdempotencyKey,
    stale: Option<IdempotencyItem>,
}

impl WatchTable {
    /// Registers a URL, or finds the target that it has. A key that was used in the last 24 hours finds the target that it was
    /// used for, whatever the URL, as long as that is there.
    ///
    /// The time of the request is the target's `created_at`.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn register(
        &self,
        target: &Target,
        key: Option<&IdempotencyKey>,
        correlation_id: &CorrelationId,
    ) -> Result<Registered, RepositoryError> {
        settle(REGISTER, || self.try_to_register(target, key, correlation_id)).await
    }

    async fn try_to_register(
        &self,
        target: &Target,
        key: Option<&IdempotencyKey>,
        correlation_id: &CorrelationId,
    ) -> Result<Option<Registered>, RepositoryError> {
        let known = self.known_key(target, key).await?;
        if let Some(known) = &known
            && let Some(found) = self.find(&known.target_id).await?
            && found.registered
        {
            return Ok(Some(Registered { target: found, is_new: false }));
        }
        let key = key.map(|key| Key { key, stale: known });
        match self.find(&target.id).await? {
            Some(found) => self.adopt(found, target, key, correlation_id).await,
            None => self.create(target, key, correlation_id).await,
        }
    }

    async fn known_key(
        &self,
        target: &Target,
        key: Option<&IdempotencyKey>,
    ) -> Result<Option<IdempotencyItem>, RepositoryError> {
        let Some(key) = key else { return Ok(None) };
        let found = self
            .0
            .get::<IdempotencyItem>("look up an idempotency key", idempotency_key(&target.workspace, key))
            .await?;
        // DynamoDB deletes some time after the TTL, so the time is checked here as well.
        Ok(found.filter(|item| item.ttl > target.created_at.unix_seconds()))
    }

    /// Answers with a target that is there. One that only links watch becomes registered, and belongs to who wants it then.
    async fn adopt(
        &self,
        found: Target,
        wanted: &Target,
        key: Option<Key<'_>>,
        correlation_id: &CorrelationId,
    ) -> Result<Option<Registered>, RepositoryError> {
        let (mut target, mut actions) = (found, Vec::new());
        if !target.registered {
            actions.push(self.take_over(wanted, correlation_id)?);
            let (owner, owner_email) = (wanted.owner.clone(), wanted.owner_email.clone());
            target = Target { registered: true, owner, owner_email, ..target };
        }
        actions.extend(key.map(|key| self.note_key(wanted, &key)).transpose()?);
        let is_done = actions.is_empty() || self.commit(actions).await?;
        Ok(is_done.then_some(Registered { target, is_new: false }))
    }

    /// The action that registers a target for who wants it, if nobody has registered it.
    fn take_over(&self, wanted: &Target, correlation_id: &CorrelationId) -> Result<TransactWriteItem, RepositoryError> {
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
        actions.extend(key.map(|key| self.note_key(&target, &key)).transpose()?);
        Ok(self.commit(actions).await?.then_some(Registered { target, is_new: true }))
    }

    /// The action that notes a target under a key, if nobody has used the key in the last 24 hours, or for this one only.
    fn note_key(&self, target: &Target, key: &Key<'_>) -> Result<TransactWriteItem, RepositoryError> {
        let item = IdempotencyItem::new(target, key.key, target.created_at);
        let (condition, value) = match &key.stale {
            Some(stale) => ("target_id = :stale", (":stale", text(&stale.target_id))),
            None => ("attribute_not_exists(pk) OR #ttl <= :now", (":now", number(&target.created_at.unix_seconds()))),
        };
        self.0.put_if(REGISTER, &item, condition, Some(value))
    }

    /// Says whether the actions are done; otherwise somebody else was faster.
    async fn commit(&self, actions: Vec<TransactWriteItem>) -> Result<bool, RepositoryError> {
        let transaction =
            actions.into_iter().fold(Transaction::new(REGISTER), |transaction, action| transaction.and(action, ()));
        Ok(transaction.send(&self.0.client).await? == Sent::Committed)
    }
}
