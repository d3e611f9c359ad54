//! API keys.
//!
//! A key has two items, which are written and deleted in the same transaction: one under its hash, for authentication, and one
//! under its workspace, for the list of keys. Revoking a key deletes both, and those of the keys that it was rotated to or from.
//!
//! [`ApiKeys`] has only the operations of functions that authenticate requests; [`UsersTable`] has all others.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{
    ApiKey, AuditAction, AuditContext, AuditEntry, AuditSubject, KeyHash, KeyName, KeyPrefix, SessionId, Timestamp,
    UserId, WorkspaceId,
};

use super::item::{KEY_PREFIX, KeyItem, LastUse, api_key_key, workspace_api_key_key, workspace_partition};
use super::room::{KEYS_MADE, most_made};
use super::{ActiveSession, UsersTable};
use crate::item::{Key, SortKeys, Table, from_item, number, text};
use crate::transaction::{Transaction, TransactionOutcome, retry_on_conflict};
use crate::{KeptAnswer, Result};

/// How many keys a transaction changes. Each has two items, and any of them may be in use.
pub(super) const KEYS_AT_ONCE: usize = 10;

/// The repository for authentication by API key: the items of UsersTable under the keys' hashes.
#[derive(Debug, Clone)]
pub struct ApiKeys(pub Table);

impl ApiKeys {
    /// Reads the key with this hash. It may be expired.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn find(&self, hash: &KeyHash) -> Result<Option<ApiKey>> {
        let found = self.0.get::<KeyItem>("find an API key", api_key_key(hash)).await?;
        Ok(found.map(|item| item.value))
    }

    /// Sets the time of a key's last use, unless it was set within [`ApiKey::LAST_USED_PRECISION`]. A key that was revoked
    /// meanwhile isn't created again.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn touch(&self, hash: &KeyHash, now: Timestamp) -> Result<()> {
        let update = self
            .0
            .update("record the use of an API key", api_key_key(hash), "SET last_used_at = :now")
            .only_if("attribute_exists(pk) AND (attribute_not_exists(last_used_at) OR last_used_at <= :before)")
            .values([(":now", text(&now)), (":before", text(&now.minus(ApiKey::LAST_USED_PRECISION)))]);
        update.unless_refused().await.map(|_| ())
    }
}

/// The outcome of creating an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateKeyOutcome {
    /// The key is created.
    Created,
    /// Another key of the workspace has the same prefix; retry with another key.
    PrefixTaken,
    /// The workspace has [`ApiKey::MAX_PER_WORKSPACE`] keys, or the key that is rotated was rotated too often.
    TooMany,
    /// The caller is no longer a member of the workspace, or didn't make the key that is rotated.
    NotAllowed,
    /// The key that is rotated isn't as it was read; read it again.
    NotAsRead,
    /// Another request with the same idempotency key was faster; its answer is the answer.
    IdempotencyKeyTaken,
}

/// What is to become of an API key; what is `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyChange {
    /// The name.
    pub name: Option<KeyName>,
    /// Whether it opens anything, or is paused.
    pub is_active: Option<bool>,
}

/// An API key that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedKey {
    /// The key after the change.
    pub key: ApiKey,
    /// Whether it was active before.
    pub was_active: bool,
}

/// The outcome of changing or revoking an API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyOutcome<T> {
    /// It is done; this is what became of the key, or the key before it was revoked.
    Done(Box<T>),
    /// The workspace has no such key.
    NoKey,
    /// This person has made the key, and the caller is no admin; or the caller has, and is no longer a member.
    NotAllowed(UserId),
}

const ROTATE: &str = "rotate an API key";
const REVOKE: &str = "revoke an API key";
const PAUSE: &str = "pause API keys";
const CHANGE: &str = "change an API key";

impl UsersTable {
    /// Stores an API key, if its creator is a member at least and the workspace has room for it, and what the creator is answered if their
    /// request has an idempotency key.
    ///
    /// # Errors
    /// When DynamoDB can't be reached. The key may be stored then, but nobody knows it, so nobody can use it.
    pub async fn create_key(
        &self,
        key: &ApiKey,
        session: &SessionId,
        answer: KeptAnswer<'_>,
        origin: &AuditContext,
    ) -> Result<CreateKeyOutcome> {
        const OPERATION: &str = "create an API key";
        let creator = ActiveSession { user: &key.created_by, session };
        let created =
            origin.in_workspace(&key.workspace, AuditAction::KeyCreated, AuditSubject::Key(key.prefix.clone()));
        let created = created.to(&key.scopes);
        let (not_allowed, taken) = (Some(CreateKeyOutcome::NotAllowed), Some(CreateKeyOutcome::PrefixTaken));
        retry_on_conflict(OPERATION, async || {
            let Some(made) = self.made_in(&key.workspace).await? else { return Ok(not_allowed) };
            let rows = self.key_rows(&key.workspace, key.created_at).await?;
            let keys = rows.iter().map(|row| row.value.rotation()).collect::<HashSet<_>>().len();
            let Some(most) = most_made(made.keys_made, keys, ApiKey::MAX_PER_WORKSPACE) else {
                return Ok(Some(CreateKeyOutcome::TooMany));
            };
            Transaction::new(OPERATION)
                .and_each(
                    self.keep_answer(creator.user, answer, key.created_at)?,
                    Some(CreateKeyOutcome::IdempotencyKeyTaken),
                )
                .and(self.caller_may_change(&key.workspace, creator.user, creator.user)?, not_allowed)
                .and_each(self.session_lasts(creator)?, not_allowed)
                .and(self.one_more_made(&key.workspace, KEYS_MADE, most)?, None)
                .and(self.0.put_new(&KeyItem::under_workspace(key))?, taken)
                .and(self.0.put_new(&KeyItem::under_hash(key))?, taken)
                .and(self.entry(&created)?, taken)
                .commit(&self.0.client, CreateKeyOutcome::Created)
                .await
        })
        .await
    }

    /// Reads an API key by its prefix, without its last use.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn key(&self, workspace: &WorkspaceId, prefix: &KeyPrefix, now: Timestamp) -> Result<Option<ApiKey>> {
        let found = self.0.get::<KeyItem>(ROTATE, workspace_api_key_key(workspace, prefix)).await?;
        Ok(found.and_then(|row| row.current(now)))
    }

    /// Stores the [successor](ApiKey::successor) of an API key, which ends at this time, if the caller has made it; and what
    /// the caller is answered if their request has an idempotency key. It is refused if the key isn't as it was read, or was rotated.
    ///
    /// # Errors
    /// When DynamoDB can't be reached. The key may be rotated then, but nobody knows the other one.
    pub async fn rotate_key(
        &self,
        (key, ends_at): (&ApiKey, Timestamp),
        successor: &ApiKey,
        caller: ActiveSession<'_>,
        answer: KeptAnswer<'_>,
        origin: &AuditContext,
    ) -> Result<CreateKeyOutcome> {
        let workspace = &key.workspace;
        let rotated = origin.in_workspace(workspace, AuditAction::KeyRotated, AuditSubject::Key(key.prefix.clone()));
        let rotated = rotated.to(&successor.prefix);
        let (not_allowed, taken) = (Some(CreateKeyOutcome::NotAllowed), Some(CreateKeyOutcome::PrefixTaken));
        if *caller.user != key.created_by {
            return Ok(CreateKeyOutcome::NotAllowed);
        }
        retry_on_conflict(ROTATE, async || {
            // Only the latest can be rotated, so none is made meanwhile unless the transaction is refused.
            if self.keys_by_rotation(key, origin.at).await?.len() >= ApiKey::MOST_BY_ROTATION {
                return Ok(Some(CreateKeyOutcome::TooMany));
            }
            Transaction::new(ROTATE)
                .and_each(
                    self.keep_answer(caller.user, answer, origin.at)?,
                    Some(CreateKeyOutcome::IdempotencyKeyTaken),
                )
                .and(self.caller_may_change(workspace, caller.user, caller.user)?, not_allowed)
                .and_each(self.session_lasts(caller)?, not_allowed)
                .and_each(self.replacement(key, successor, ends_at)?, Some(CreateKeyOutcome::NotAsRead))
                .and(self.0.put_new(&KeyItem::under_workspace(successor))?, taken)
                .and(self.0.put_new(&KeyItem::under_hash(successor))?, taken)
                .and(self.entry(&rotated)?, taken)
                .commit(&self.0.client, CreateKeyOutcome::Created)
                .await
        })
        .await
    }

    /// Lists the API keys of a workspace, newest first, including keys that expired within the last 30 days.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn keys(&self, workspace: &WorkspaceId, now: Timestamp) -> Result<Vec<ApiKey>> {
        let rows = self.key_rows(workspace, now).await?;
        let mut last_uses = self.last_uses(&rows).await?;
        let mut keys: Vec<_> = rows
            .into_iter()
            .map(|row| ApiKey { last_used_at: last_uses.remove(&row.value.hash), ..row.value })
            .collect();
        keys.sort_by(|one, other| {
            (other.created_at, one.prefix.as_str()).cmp(&(one.created_at, other.prefix.as_str()))
        });
        Ok(keys)
    }

    /// Revokes an API key with those that it was rotated to or from, if the caller has made it or is an admin.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn revoke_key(
        &self,
        workspace: &WorkspaceId,
        caller: &UserId,
        prefix: &KeyPrefix,
        origin: &AuditContext,
    ) -> Result<KeyOutcome<ApiKey>> {
        retry_on_conflict(REVOKE, async || {
            let key = workspace_api_key_key(workspace, prefix);
            let Some(row) = self.0.get::<KeyItem>(REVOKE, key).await? else { return Ok(Some(KeyOutcome::NoKey)) };
            let mut rows = self.keys_by_rotation(&row.value, origin.at).await?;
            rows.retain(|other| other.value.prefix != row.value.prefix);
            let creator = row.value.created_by;
            let may_revoke = self.caller_may_change(workspace, caller, &creator)?;
            let mut transaction = Transaction::new(REVOKE).and(may_revoke, Some(KeyOutcome::NotAllowed(creator)));
            for row in rows.iter().chain([&row]) {
                let subject = AuditSubject::Key(row.value.prefix.clone());
                let revoked = origin.in_workspace(workspace, AuditAction::KeyRevoked, subject);
                transaction = transaction
                    .and(self.key_row_deletion(row)?, None)
                    .and(self.key_deletion(&row.value.hash)?, None)
                    .and(self.entry(&revoked)?, None);
            }
            transaction.commit(&self.0.client, KeyOutcome::Done(Box::new(row.value))).await
        })
        .await
    }

    /// Renames an API key, pauses it from now on, or lets it open its routes again, if the caller has made it or is an admin.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn change_key(
        &self,
        workspace: &WorkspaceId,
        caller: ActiveSession<'_>,
        prefix: &KeyPrefix,
        change: &KeyChange,
        origin: &AuditContext,
    ) -> Result<KeyOutcome<ChangedKey>> {
        retry_on_conflict(CHANGE, async || {
            let now = origin.at;
            let key = workspace_api_key_key(workspace, prefix);
            let found = self.0.get::<KeyItem>(CHANGE, key).await?;
            let Some(row) = found.filter(|row| row.is_kept(now)) else { return Ok(Some(KeyOutcome::NoKey)) };
            let creator = row.value.created_by;
            let not_allowed = Some(KeyOutcome::NotAllowed(creator));
            let mut transaction = Transaction::new(CHANGE)
                .and(self.caller_may_change(workspace, caller.user, &creator)?, not_allowed.clone())
                .and_each(self.session_lasts(caller)?, not_allowed);
            let was_active = row.value.paused_at.is_none();
            let paused = change
                .is_active
                .filter(|is_active| *is_active != was_active)
                .map(|is_active| (!is_active).then_some(now));
            let name = change.name.as_ref().filter(|name| **name != row.value.name);
            if paused.is_some() || name.is_some() {
                transaction = transaction.and_each(self.key_update(&row, name, paused)?, None);
            }
            for entry in entries_of_change(origin, workspace, &row, name, paused) {
                transaction = transaction.and(self.entry(&entry)?, None);
            }
            let sent = transaction.send(&self.0.client).await?;
            Ok(match sent {
                TransactionOutcome::Committed => {
                    let last_used_at = self.last_uses(std::slice::from_ref(&row)).await?.remove(&row.value.hash);
                    let mut key = ApiKey { last_used_at, ..row.value };
                    key.paused_at = paused.unwrap_or(key.paused_at);
                    key.name = name.cloned().unwrap_or(key.name);
                    Some(KeyOutcome::Done(Box::new(ChangedKey { key, was_active })))
                }
                TransactionOutcome::Refused(refusal) => refusal,
                TransactionOutcome::InConflict => None,
            })
        })
        .await
    }

    /// Pauses the API keys of a workspace of which this is true by their creator and the time of their creation, and returns how many
    /// these are.
    ///
    /// # Errors
    /// When DynamoDB can't be reached. Some may be paused then; doing it again pauses the rest.
    pub async fn pause_keys(
        &self,
        workspace: &WorkspaceId,
        at: Timestamp,
        is_meant: impl Fn(&UserId, Timestamp) -> bool,
        origin: &AuditContext,
    ) -> Result<usize> {
        retry_on_conflict(PAUSE, async || {
            let mut rows = self.key_rows(workspace, Timestamp::now()).await?;
            rows.retain(|row| {
                let attributes = &row.value;
                attributes.paused_at.is_none() && is_meant(&attributes.created_by, attributes.created_at)
            });
            for some in rows.chunks(KEYS_AT_ONCE) {
                let mut transaction = Transaction::new(PAUSE);
                for row in some {
                    let paused = Some(Some(at));
                    transaction = transaction.and_each(self.key_update(row, None, paused)?, ());
                    for entry in entries_of_change(origin, workspace, row, None, paused) {
                        transaction = transaction.and(self.entry(&entry)?, ());
                    }
                }
                if transaction.send(&self.0.client).await? != TransactionOutcome::Committed {
                    return Ok(None);
                }
            }
            Ok(Some(rows.len()))
        })
        .await
    }

    /// The actions that rename a key, and pause it from a time on or, without one, let it go on. They are refused if it was paused, let
    /// go on or, for another name, renamed since it was read, so that each change from one to the other happens once.
    fn key_update(
        &self,
        row: &KeyItem,
        name: Option<&KeyName>,
        paused: Option<Option<Timestamp>>,
    ) -> Result<[TransactWriteItem; 2]> {
        let mut sets = Vec::new();
        sets.extend(name.map(|_| "#name = :name"));
        sets.extend(paused.flatten().map(|_| "paused_at = :at"));
        let set = if sets.is_empty() { String::new() } else { format!("SET {} ", sets.join(", ")) };
        let remove = if paused == Some(None) { "REMOVE paused_at" } else { "" };
        let is_as_read = match row.value.paused_at {
            Some(_) => "key_hash = :hash AND attribute_exists(paused_at)",
            None => "key_hash = :hash AND attribute_not_exists(paused_at)",
        };
        let is_called_as_read = if name.is_some() { " AND #name = :was" } else { "" };
        let change = |key: Key| {
            let update = self
                .0
                .update(CHANGE, key, format!("{set}{remove}"))
                .only_if(format!("{is_as_read}{is_called_as_read}"));
            update
                .value(":hash", text(&row.value.hash))
                .values(paused.flatten().map(|at| (":at", text(&at))))
                .values(name.map(|name| [(":name", text(name)), (":was", text(&row.value.name))]).into_iter().flatten())
                .action()
        };
        Ok([change(row.key.clone())?, change(api_key_key(&row.value.hash))?])
    }

    /// The actions that end a key at a time, since another one is used instead. They are refused if the key isn't as it was read.
    fn replacement(&self, key: &ApiKey, successor: &ApiKey, ends_at: Timestamp) -> Result<[TransactWriteItem; 2]> {
        const END: &str = "SET expires_at = :end, #ttl = :ttl, rotated_to = :successor";
        const IS_AS_READ: &str = "key_hash = :hash AND #name = :name AND created_by = :creator AND \
            attribute_not_exists(rotated_to) AND attribute_not_exists(paused_at) AND attribute_not_exists(closed_at)";
        // Rounded up, so that DynamoDB deletes no item that still opens something.
        let ttl = number(&ends_at.plus(Duration::from_millis(999)).unix_seconds());
        let end = |item_key: Key| {
            let update = self.0.update(ROTATE, item_key, END).only_if(IS_AS_READ);
            update
                .values([(":end", text(&ends_at)), (":ttl", ttl.clone())])
                .values([(":successor", text(&successor.prefix)), (":hash", text(&key.hash))])
                .values([(":name", text(&key.name)), (":creator", text(&key.created_by))])
                .action()
        };
        Ok([end(workspace_api_key_key(&key.workspace, &key.prefix))?, end(api_key_key(&key.hash))?])
    }

    /// The items of the keys that come from one by rotation as this one does, which aren't over; none if it has nothing to do with
    /// rotation.
    async fn keys_by_rotation(&self, key: &ApiKey, now: Timestamp) -> Result<Vec<KeyItem>> {
        if key.rotated_to.is_none() && key.first_prefix.is_none() {
            return Ok(Vec::new());
        }
        let mut rows = self.key_rows(&key.workspace, now).await?;
        rows.retain(|row| row.value.rotation() == key.rotation());
        Ok(rows)
    }

    /// The items of a workspace's keys, without those whose TTL is over.
    pub(super) async fn key_rows(&self, workspace: &WorkspaceId, now: Timestamp) -> Result<Vec<KeyItem>> {
        let (partition, prefix) = (workspace_partition(workspace), SortKeys::Beginning(KEY_PREFIX));
        let mut rows = self.0.list::<KeyItem>("list API keys", &partition, prefix).await?;
        rows.retain(|row| row.is_kept(now));
        Ok(rows)
    }

    /// Reads when these keys were last used. Only the items under the keys' hashes have this, so that a use costs one write.
    async fn last_uses(&self, rows: &[KeyItem]) -> Result<HashMap<KeyHash, Timestamp>> {
        const OPERATION: &str = "read the last uses of API keys";
        let keys = rows.iter().map(|row| api_key_key(&row.value.hash)).collect();
        let mut last_uses = HashMap::with_capacity(rows.len());
        for item in self.0.batch_get(OPERATION, keys, false, Some("key_hash, last_used_at")).await? {
            let LastUse { key_hash, last_used_at } = from_item(OPERATION, item)?;
            last_uses.extend(last_used_at.map(|at| (key_hash, at)));
        }
        Ok(last_uses)
    }

    /// The action that deletes the key's item under its workspace, if it is still the same key, and wasn't rotated since it was read.
    pub(super) fn key_row_deletion(&self, row: &KeyItem) -> Result<TransactWriteItem> {
        let is_as_read = match row.value.rotated_to {
            Some(_) => "key_hash = :hash AND attribute_exists(rotated_to)",
            None => "key_hash = :hash AND attribute_not_exists(rotated_to)",
        };
        let delete = self.0.delete(REVOKE, row.key.clone()).only_if(is_as_read);
        delete.value(":hash", text(&row.value.hash)).action()
    }

    /// The action that deletes the key's item under its hash. It has no condition, since DynamoDB's TTL may have deleted the item.
    pub(super) fn key_deletion(&self, hash: &KeyHash) -> Result<TransactWriteItem> {
        self.0.delete(REVOKE, api_key_key(hash)).action()
    }
}

/// What the audit log says of a key that gets another name, or is paused from a time on or, without one, goes on.
fn entries_of_change(
    origin: &AuditContext,
    workspace: &WorkspaceId,
    row: &KeyItem,
    name: Option<&KeyName>,
    paused: Option<Option<Timestamp>>,
) -> impl Iterator<Item = AuditEntry> {
    let (prefix, old_name) = (&row.value.prefix, &row.value.name);
    let entry = |action| origin.in_workspace(workspace, action, AuditSubject::Key(prefix.clone()));
    let renamed = name.map(|name| entry(AuditAction::KeyChanged).from(old_name).to(name));
    let paused = paused.map(|at| entry(if at.is_some() { AuditAction::KeyPaused } else { AuditAction::KeyResumed }));
    renamed.into_iter().chain(paused)
}
