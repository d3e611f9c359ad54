//! WatchTable: targets (monitored URLs), the links that watch them, partitions, and results of checks.

mod down;
mod due;
mod health;
pub(crate) mod item;
mod ownership;
mod packed;
mod partitions;
mod quota;
mod registration;
mod results;
mod target_health;
mod watchers;

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{AuditEntry, CanonicalUrl, Host, PageToken, Target, TargetId, TargetUrl, Timestamp, WorkspaceId};
use serde::Deserialize;

pub use self::down::DownTargets;
pub use self::due::{DuePage, DueTarget, ShardRange, UnreadableTarget};
pub use self::health::Health;
use self::item::{TargetItem, count_key, host_partition, list_sort_key, target_key, workspace_partition};
pub use self::ownership::OwnedTargets;
pub use self::partitions::PartitionNotes;
pub use self::quota::TargetQuota;
pub use self::registration::{RegisteredTarget, TargetRegistration};
pub use self::results::{CheckedTarget, ResultsCursor};
pub use self::watchers::WatchOutcome;
use crate::item::{Table, from_item, number, text};
use crate::transaction::{Transaction, retry_on_conflict};
use crate::{AuditTable, RepositoryError, Result};

/// The repository of targets: WatchTable.
#[derive(Debug, Clone)]
pub struct WatchTable {
    table: Table,
    /// How many targets there may be; `None` for functions that create none.
    quota: Option<TargetQuota>,
}

/// A target in a list: the attributes that the list indexes contain.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ListedTarget {
    /// The target's id, which is the sort key.
    #[serde(rename = "sk")]
    pub id: TargetId,
    /// The URL as it was first given.
    pub url: TargetUrl,
    /// The canonical form of the URL.
    pub canonical_url: CanonicalUrl,
    /// When the target was created.
    pub created_at: Timestamp,
}

/// A page of targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetPage {
    /// The targets by time of creation, oldest first.
    pub items: Vec<ListedTarget>,
    /// The token for the next page; `None` on the last page.
    pub next: Option<PageToken>,
}

/// What became of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WriteOutcome {
    /// All is written.
    Committed,
    /// A concurrent write prevented it.
    NotNow,
    /// There are as many targets as there may be.
    Full,
}

/// The outcome of deleting a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteTargetOutcome {
    /// The target is deleted, or didn't exist.
    Deleted,
    /// Links watch the target, so it is kept.
    Watched,
}

impl WatchTable {
    const BY_WORKSPACE: &str = "by-workspace";
    const BY_HOST: &str = "by-host";

    /// A repository for this table. It doesn't limit how many targets there are.
    pub fn new(table: Table) -> Self {
        Self { table, quota: None }
    }

    /// Limits how many targets there are.
    #[must_use]
    pub fn with_quota(self, quota: TargetQuota) -> Self {
        Self { quota: Some(quota), ..self }
    }

    /// Reads a target with a strongly consistent read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn find(&self, id: &TargetId) -> Result<Option<Target>> {
        let found = self.table.get::<TargetItem>("read a target", target_key(id)).await?;
        Ok(found.map(|item| item.target))
    }

    /// Lists a workspace's targets, or those of one host, by time of creation and id: at most `limit`, starting after the token.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn list(
        &self,
        workspace: &WorkspaceId,
        host: Option<&Host>,
        limit: usize,
        after: Option<&PageToken>,
    ) -> Result<TargetPage> {
        const OPERATION: &str = "list targets";
        let (index, attribute, partition) = match host {
            None => (Self::BY_WORKSPACE, "by_workspace_pk", workspace_partition(workspace)),
            Some(host) => (Self::BY_HOST, "by_host_pk", host_partition(workspace, host)),
        };
        // The extra item only shows whether there is a next page.
        let fetched = limit + 1;
        // A key condition instead of an exclusive start key, since it also works if that target was deleted meanwhile.
        let query = self
            .table
            .client
            .query()
            .index_name(index)
            .key_condition_expression("#partition = :partition AND by_workspace_sk > :after")
            .expression_attribute_names("#partition", attribute)
            .expression_attribute_values(":partition", text(&partition))
            .expression_attribute_values(":after", text(&after.map_or_else(|| " ".to_owned(), list_sort_key)));
        let mut rows = self.table.query_all(OPERATION, query, fetched).await?;
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let items = rows.into_iter().map(|row| from_item(OPERATION, row)).collect::<Result<Vec<ListedTarget>, _>>()?;
        let last = items.last().filter(|_| has_more);
        let next = last.map(|target| PageToken { created_at: target.created_at, id: target.id.clone() });
        Ok(TargetPage { items, next })
    }

    /// Whether there is any target, by an eventually consistent look into an index that has only targets: 0.5 read units.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn has_targets(&self) -> Result<bool> {
        let look = self.table.client.scan().table_name(&self.table.name).index_name(Self::BY_WORKSPACE).limit(1);
        let mut start = None;
        loop {
            let page = look.clone().set_exclusive_start_key(start).send().await;
            let page = page.map_err(RepositoryError::unavailable("look for targets"))?;
            if page.count > 0 {
                return Ok(true);
            }
            // A page can be empty though more follow.
            start = page.last_evaluated_key;
            if start.is_none() {
                return Ok(false);
            }
        }
    }

    /// Deletes a target, unless links watch it. Its results are deleted by their TTL. Registering the URL again gives the same id,
    /// but [`Self::results`] leaves out results from before.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn delete(&self, target: &Target) -> Result<DeleteTargetOutcome> {
        retry_on_conflict(DELETE, || self.try_to_delete(target, None)).await
    }

    /// Deletes a target that is somebody else's, with an entry in the audit log.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn delete_anothers(
        &self,
        target: &Target,
        audit_log: &AuditTable,
        entry: &AuditEntry,
    ) -> Result<DeleteTargetOutcome> {
        retry_on_conflict(DELETE, || self.try_to_delete(target, Some((audit_log, entry)))).await
    }

    async fn try_to_delete(
        &self,
        target: &Target,
        entry: Option<(&AuditTable, &AuditEntry)>,
    ) -> Result<Option<DeleteTargetOutcome>> {
        let delete = self.table.delete(DELETE, target_key(&target.id));
        let delete = delete.only_if("watchers = :none").value(":none", number(&0)).action()?;
        let entry = entry.map(|(audit_log, entry)| audit_log.action(entry)).transpose()?;
        let actions = [delete].into_iter().chain(self.count_out(target)?).chain(entry).collect();
        if self.commit(DELETE, actions).await?.is_some() {
            return Ok(Some(DeleteTargetOutcome::Deleted));
        }
        Ok(match self.find(&target.id).await? {
            // A concurrent request deleted it.
            None => Some(DeleteTargetOutcome::Deleted),
            Some(target) => (target.watchers > 0).then_some(DeleteTargetOutcome::Watched),
        })
    }

    /// Deletes a target although links watch it, since they are purged as well.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn purge(&self, id: &TargetId) -> Result<()> {
        const PURGE: &str = "purge a target";
        retry_on_conflict(PURGE, || async {
            let Some(target) = self.find(id).await? else { return Ok(Some(())) };
            let delete = self.table.delete(PURGE, target_key(id)).only_if("attribute_exists(pk)").action()?;
            let actions = [delete].into_iter().chain(self.count_out(&target)?).collect();
            self.commit(PURGE, actions).await
        })
        .await
    }

    /// Deletes the count of a workspace's targets.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn forget_workspace(&self, workspace: &WorkspaceId) -> Result<()> {
        self.table.delete("forget how many targets a workspace has", count_key(workspace)).send().await.map(|_| ())
    }

    /// Sends the actions as one transaction. Returns `None` if a concurrent write prevented it.
    async fn commit(&self, operation: &'static str, actions: Vec<TransactWriteItem>) -> Result<Option<()>> {
        Ok((self.send(operation, actions, Vec::new()).await? == WriteOutcome::Committed).then_some(()))
    }

    /// Sends the actions as one transaction, which creates a target if there are actions that count it.
    async fn send(
        &self,
        operation: &'static str,
        actions: Vec<TransactWriteItem>,
        count_in: Vec<TransactWriteItem>,
    ) -> Result<WriteOutcome> {
        let transaction = Transaction::new(operation).and_each(actions, WriteOutcome::NotNow);
        // The last ones, so that a quota is the reason only if nothing else is.
        let transaction = transaction.and_each(count_in, WriteOutcome::Full);
        Ok(transaction.send(&self.table.client).await?.or(WriteOutcome::Committed, WriteOutcome::NotNow))
    }
}

const DELETE: &str = "delete a target";
