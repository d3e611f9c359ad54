//! API keys.
//!
//! A key is two rows, written and deleted in the same transactions: one by its hash, with all that a request needs to be let
//! in by it, and one with the workspace, for its list. A key that is revoked has no row, so nothing has to look at a mark.
//!
//! What a function that only lets requests in may do stands in [`ApiKeysTable`], apart from everything else about accounts.

use std::collections::HashMap;

use aws_sdk_dynamodb::{
    Client,
    operation::update_item::UpdateItemError,
    types::{Delete, TransactWriteItem},
};
use linklet_domain::{ApiKey, KeyHash, KeyPrefix, Timestamp, UserId, WorkspaceId};

use super::{
    UsersTable,
    item::{
        ApiKeyItem, KEY_PREFIX, LastUse, WorkspaceKeyItem, api_key_key, workspace_api_key_key, workspace_partition,
    },
};
use crate::{
    RepositoryError,
    item::{Item, Table, from_item, text},
    transaction::{Sent, Transaction, settle},
};

/// The rows of UsersTable that let requests in by their keys.
#[derive(Debug, Clone)]
pub struct ApiKeysTable(Table);

impl ApiKeysTable {
    /// The table with this name.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self(Table { client, name: name.into() })
    }

    /// The key with this hash, expired or not.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn find(&self, hash: &KeyHash) -> Result<Option<ApiKey>, RepositoryError> {
        let found = self.0.get::<ApiKeyItem>("find an API key", api_key_key(hash)).await?;
        Ok(found.map(ApiKey::from))
    }

    /// Notes that a key is in use, once a minute: not if that was noted within the last one. A key that was revoked in the
    /// meantime stays away.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn touch(&self, hash: &KeyHash, now: Timestamp) -> Result<(), RepositoryError> {
        let touched = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(api_key_key(hash).into_item()))
            .update_expression("SET last_used_at = :now")
            .condition_expression(
                "attribute_exists(pk) AND (attribute_not_exists(last_used_at) OR last_used_at <= :before)",
            )
            .expression_attribute_values(":now", text(&now))
            .expression_attribute_values(":before", text(&now.minus(ApiKey::USE_NOTED_EVERY)))
            .send()
            .await;
        match touched {
            Err(error)
                if !error.as_service_error().is_some_and(UpdateItemError::is_conditional_check_failed_exception) =>
            {
                Err(RepositoryError::unavailable("note the use of an API key")(error))
            }
            _ => Ok(()),
        }
    }
}

/// What came of creating a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateKeyOutcome {
    /// It opens the workspace now.
    Created,
    /// Another key of the workspace has its prefix: another one will do.
    PrefixTaken,
    /// The workspace has as many keys as it may have.
    TooMany,
    /// Its creator isn't an admin of the workspace any more.
    CallerNotAdmin,
}

/// What came of revoking a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RevokeOutcome {
    /// It opens nothing any more.
    Revoked,
    /// The workspace has no such key.
    NoKey,
    /// The caller isn't an admin of the workspace any more.
    CallerNotAdmin,
}

const REVOKE: &str = "revoke an API key";

impl UsersTable {
    /// Stores a key, if who creates it is an admin now. The number of keys is counted before: requests at once may exceed the
    /// maximum by some, which does no harm.
    ///
    /// # Errors
    /// When DynamoDB can't be reached. Whether the key is there is then unknown; as nobody has seen it, nobody can use it.
    pub async fn create_key(&self, key: &ApiKey) -> Result<CreateKeyOutcome, RepositoryError> {
        const OPERATION: &str = "create an API key";
        if self.key_rows(&key.workspace, key.created_at).await?.len() >= ApiKey::MAX_PER_WORKSPACE {
            return Ok(CreateKeyOutcome::TooMany);
        }
        settle(OPERATION, || async {
            let sent = Transaction::new(OPERATION)
                .and(self.caller_is_admin(&key.workspace, &key.created_by)?, CreateKeyOutcome::CallerNotAdmin)
                .and(self.0.put_new(OPERATION, &WorkspaceKeyItem::from(key))?, CreateKeyOutcome::PrefixTaken)
                .and(self.0.put_new(OPERATION, &ApiKeyItem::from(key))?, CreateKeyOutcome::PrefixTaken)
                .send(&self.0.client)
                .await?;
            Ok(match sent {
                Sent::Committed => Some(CreateKeyOutcome::Created),
                Sent::Refused(outcome) => Some(outcome),
                Sent::InConflict => None,
            })
        })
        .await
    }

    /// The keys of a workspace, newest first; an expired one for 30 days.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn keys(&self, workspace: &WorkspaceId, now: Timestamp) -> Result<Vec<ApiKey>, RepositoryError> {
        let rows = self.key_rows(workspace, now).await?;
        let mut last_uses = self.last_uses(&rows).await?;
        let mut keys: Vec<_> = rows
            .into_iter()
            .map(|row| {
                let last_used_at = last_uses.remove(&row.key_hash);
                row.into_key(workspace.clone(), last_used_at)
            })
            .collect();
        keys.sort_by(|one, other| {
            (other.created_at, one.prefix.as_str()).cmp(&(one.created_at, other.prefix.as_str()))
        });
        Ok(keys)
    }

    /// Takes a key away, if the caller is an admin now.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn revoke_key(
        &self,
        workspace: &WorkspaceId,
        caller: &UserId,
        prefix: &KeyPrefix,
    ) -> Result<RevokeOutcome, RepositoryError> {
        settle(REVOKE, || self.try_to_revoke(workspace, caller, prefix)).await
    }

    async fn try_to_revoke(
        &self,
        workspace: &WorkspaceId,
        caller: &UserId,
        prefix: &KeyPrefix,
    ) -> Result<Option<RevokeOutcome>, RepositoryError> {
        let key = workspace_api_key_key(workspace, prefix);
        let Some(row) = self.0.get::<WorkspaceKeyItem>(REVOKE, key).await? else {
            return Ok(Some(RevokeOutcome::NoKey));
        };
        let sent = Transaction::new(REVOKE)
            .and(self.caller_is_admin(workspace, caller)?, Some(RevokeOutcome::CallerNotAdmin))
            .and(self.key_row_deletion(&row)?, None)
            .and(self.key_deletion(&row.key_hash)?, None)
            .send(&self.0.client)
            .await?;
        Ok(match sent {
            Sent::Committed => Some(RevokeOutcome::Revoked),
            Sent::Refused(refusal) => refusal,
            Sent::InConflict => None,
        })
    }

    /// The rows of a workspace's keys, without those that DynamoDB is about to delete.
    async fn key_rows(
        &self,
        workspace: &WorkspaceId,
        now: Timestamp,
    ) -> Result<Vec<WorkspaceKeyItem>, RepositoryError> {
        const OPERATION: &str = "list API keys";
        let query = self
            .0
            .client
            .query()
            .consistent_read(true)
            .key_condition_expression("pk = :workspace AND begins_with(sk, :key)")
            .expression_attribute_values(":workspace", text(&workspace_partition(workspace)))
            .expression_attribute_values(":key", text(KEY_PREFIX));
        let items = self.0.query_all(OPERATION, query, usize::MAX).await?;
        let mut rows = items
            .into_iter()
            .map(|item| from_item::<WorkspaceKeyItem>(OPERATION, item))
            .collect::<Result<Vec<_>, _>>()?;
        rows.retain(|row| row.facts.ttl.is_none_or(|ttl| now.unix_seconds() < ttl));
        Ok(rows)
    }

    /// When each of these keys was last used. It is noted in the key's row and not in the list's, so that a use costs one write.
    async fn last_uses(&self, rows: &[WorkspaceKeyItem]) -> Result<HashMap<KeyHash, Timestamp>, RepositoryError> {
        const OPERATION: &str = "read the last uses of API keys";
        const BATCH: usize = 100;
        let mut last_uses = HashMap::with_capacity(rows.len());
        for batch in rows.chunks(BATCH) {
            let keys = batch.iter().map(|row| api_key_key(&row.key_hash)).collect();
            let found: Vec<Item> = self.0.batch_get(OPERATION, keys, false, Some("key_hash, last_used_at")).await?;
            for item in found {
                let LastUse { key_hash, last_used_at } = from_item(OPERATION, item)?;
                last_uses.extend(last_used_at.map(|at| (key_hash, at)));
            }
        }
        Ok(last_uses)
    }

    /// On the condition that the prefix is still that of the same key.
    fn key_row_deletion(&self, row: &WorkspaceKeyItem) -> Result<TransactWriteItem, RepositoryError> {
        let delete = Delete::builder()
            .table_name(&self.0.name)
            .set_key(Some(row.key.clone().into_item()))
            .condition_expression("key_hash = :hash")
            .expression_attribute_values(":hash", text(&row.key_hash))
            .build()
            .map_err(RepositoryError::unavailable(REVOKE))?;
        Ok(TransactWriteItem::builder().delete(delete).build())
    }

    /// Without a condition: DynamoDB may have deleted an expired one already.
    fn key_deletion(&self, hash: &KeyHash) -> Result<TransactWriteItem, RepositoryError> {
        let delete = Delete::builder()
            .table_name(&self.0.name)
            .set_key(Some(api_key_key(hash).into_item()))
            .build()
            .map_err(RepositoryError::unavailable(REVOKE))?;
        Ok(TransactWriteItem::builder().delete(delete).build())
    }
}
