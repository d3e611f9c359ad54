//! Registering targets: one target per URL, also with concurrent requests.
//!
//! ```text
//! request ── key used before, and its target exists? ── yes ──→ that target, also if the request names another URL
//!              │ no
//!            URL has a target? ── yes ──→ that target (which the key leads to from now on); if only links watched it, it
//!              │ no                       becomes registered, with the caller as owner
//!            one transaction: target + key, each only if it doesn't exist, + the workspace's count, if it has room
//!              │                  │
//!           committed         cancelled ──→ read again: a concurrent request has created one of them
//! ```

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use linklet_domain::{CorrelationId, EventId, IdempotencyKey, Target, Timestamp, WorkspaceId};

use super::item::{IdempotencyItem, TargetItem, idempotency_key, target_key};
use super::{WatchTable, WriteOutcome};
use crate::Result;
use crate::item::{number, text};
use crate::transaction::retry_on_conflict;

const REGISTER: &str = "register a target";

/// The outcome of registering a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredTarget {
    /// The target after the registration.
    pub target: Target,
    /// Whether this request created the target.
    pub is_new: bool,
    /// Whether it is what an earlier request with the same idempotency key got.
    pub is_repeated: bool,
}

/// What a request to register a URL comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetRegistration {
    /// The URL is registered.
    Done(RegisteredTarget),
    /// The URL has no target, and there are as many as there may be.
    Full,
}

/// An idempotency key that has to be stored, and its item if the target in it is gone.
struct NewKey<'a> {
    key: &'a IdempotencyKey,
    stale: Option<IdempotencyItem>,
}

impl WatchTable {
    /// The target that a request with this key registered in the last 24 hours, as it is now. `None` if the key is free, also
    /// since its target is gone.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn first_registration(
        &self,
        workspace: &WorkspaceId,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<RegisteredTarget>> {
        let target = self.known_key(workspace, key, now).await?.and_then(|(_, target)| target);
        Ok(target.map(|target| RegisteredTarget { target, is_new: false, is_repeated: true }))
    }

    /// Registers a URL, or returns its existing target. A key that was used in the last 24 hours gets the target of its first
    /// answer, as long as that exists.
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
    ) -> Result<TargetRegistration> {
        retry_on_conflict(REGISTER, async || {
            let key = match key {
                None => None,
                Some(key) => match self.known_key(&target.workspace, key, target.created_at).await? {
                    Some((_, Some(target))) => {
                        return Ok(Some(TargetRegistration::Done(RegisteredTarget {
                            target,
                            is_new: false,
                            is_repeated: true,
                        })));
                    }
                    known => Some(NewKey { key, stale: known.map(|(stale, _)| stale) }),
                },
            };
            match self.find(&target.id).await? {
                Some(found) => self.register_existing(found, target, key, correlation_id).await,
                None => self.create(target, key, correlation_id).await,
            }
        })
        .await
    }

    /// The item of a key that was used in the last 24 hours, and its target, unless that is gone and the key is free again.
    async fn known_key(
        &self,
        workspace: &WorkspaceId,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<(IdempotencyItem, Option<Target>)>> {
        const LOOK_UP: &str = "look up an idempotency key";
        let found = self.table.get::<IdempotencyItem>(LOOK_UP, idempotency_key(workspace, key)).await?;
        // DynamoDB deletes an item some time after its TTL, so the TTL is checked here as well.
        let Some(item) = found.filter(|item| item.ttl > now.unix_seconds()) else { return Ok(None) };
        let target = self.find(&item.target_id).await?.filter(|target| item.is_of(target));
        Ok(Some((item, target)))
    }

    /// Returns an existing target. If only links watch it, it becomes registered, with the caller as its owner.
    async fn register_existing(
        &self,
        found: Target,
        wanted: &Target,
        key: Option<NewKey<'_>>,
        correlation_id: &CorrelationId,
    ) -> Result<Option<TargetRegistration>> {
        let (mut target, mut actions) = (found, Vec::new());
        if !target.registered {
            actions.push(self.set_owner(wanted, correlation_id)?);
            target = Target { registered: true, owner: wanted.owner, ..target };
        }
        actions.extend(key.map(|key| self.put_key(&target, &key, wanted.created_at)).transpose()?);
        let is_done = actions.is_empty() || self.commit(REGISTER, actions).await?.is_some();
        let registered = RegisteredTarget { target, is_new: false, is_repeated: false };
        Ok(is_done.then_some(TargetRegistration::Done(registered)))
    }

    /// The action that marks a target as registered and sets its owner, unless it is registered already.
    fn set_owner(&self, wanted: &Target, correlation_id: &CorrelationId) -> Result<TransactWriteItem> {
        const SET: &str = "SET registered = :yes, user_id = :user, correlation_id = :correlation";
        let values = [
            (":yes", AttributeValue::Bool(true)),
            (":no", AttributeValue::Bool(false)),
            (":user", text(&wanted.owner)),
            (":correlation", text(correlation_id)),
        ];
        self.table.update(REGISTER, target_key(&wanted.id), SET).only_if("registered = :no").values(values).action()
    }

    async fn create(
        &self,
        target: &Target,
        key: Option<NewKey<'_>>,
        correlation_id: &CorrelationId,
    ) -> Result<Option<TargetRegistration>> {
        let target = Target { registered: true, ..target.clone() };
        let item = TargetItem::new(&target, EventId::generate(), correlation_id);
        let mut actions = vec![self.table.put_new(&item)?];
        actions.extend(key.map(|key| self.put_key(&target, &key, target.created_at)).transpose()?);
        let count_in = self.count_in(&target)?;
        Ok(match self.send(REGISTER, actions, count_in).await? {
            WriteOutcome::Committed => {
                Some(TargetRegistration::Done(RegisteredTarget { target, is_new: true, is_repeated: false }))
            }
            WriteOutcome::Full => Some(TargetRegistration::Full),
            WriteOutcome::NotNow => None,
        })
    }

    /// The action that stores which target an idempotency key leads to, unless a concurrent request has used the key.
    fn put_key(&self, target: &Target, key: &NewKey<'_>, now: Timestamp) -> Result<TransactWriteItem> {
        let item = IdempotencyItem::new(key.key, target, now);
        match &key.stale {
            Some(stale) => {
                let values = [(":stale", text(&stale.target_id)), (":created", text(&stale.created_at))];
                self.table.put_if(&item, "target_id = :stale AND created_at = :created", values)
            }
            None => {
                let is_free = "attribute_not_exists(pk) OR #ttl <= :now";
                self.table.put_if(&item, is_free, Some((":now", number(&now.unix_seconds()))))
            }
        }
    }
}
