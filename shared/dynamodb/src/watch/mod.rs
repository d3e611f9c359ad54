//! WatchTable: targets (monitored URLs), the links that watch them, and results of checks.

mod down;
mod health;
pub(crate) mod item;
mod ownership;
mod quota;
mod registration;
mod rounds;
mod watchers;

use aws_sdk_dynamodb::{Client, types::TransactWriteItem};
use linklet_domain::{
    CanonicalUrl, Host, PageToken, Shard, Target, TargetId, TargetStatus, TargetUrl, Timestamp, WorkspaceId,
};

use self::item::{
    DUE_PROJECTION, DueItem, ListedItem, TargetItem, host_partition, list_sort_key, shard_partition, target_key,
    workspace_partition,
};
pub use self::{
    down::DownTargets,
    health::Health,
    ownership::OwnedTargets,
    registration::{RegisteredTarget, RequestKey, TargetRegistration},
    rounds::{RoundOutcome, RoundRecord},
    watchers::WatchOutcome,
};
use crate::{
    RepositoryError,
    item::{Item, Table, from_item, number, text},
    transaction::{Transaction, TransactionOutcome, retry_on_conflict},
};

/// The repository of targets: WatchTable.
#[derive(Debug, Clone)]
pub struct WatchTable {
    table: Table,
    /// How many targets a workspace may have; `None` for functions that create none.
    quota: Option<u32>,
}

/// A target in a list: the attributes that the list indexes contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedTarget {
    /// The target's id.
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

/// A target that is due for a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueTarget {
    /// The target's id.
    pub id: TargetId,
    /// The target's workspace.
    pub workspace: WorkspaceId,
    /// The URL to fetch.
    pub url: TargetUrl,
    /// The host, whose checks run one at a time.
    pub host: Host,
    /// The target's status when it was read.
    pub status: TargetStatus,
}

/// A range of a shard's targets in the order of their ids.
#[derive(Debug, Clone, PartialEq)]
pub struct ShardRange {
    shard: Shard,
    condition: &'static str,
    split: TargetId,
    /// The exclusive start key of the next query.
    start_key: Option<Item>,
}

impl ShardRange {
    /// Splits a shard into two ranges: the ids from `split` on, and those before. A caller that doesn't read all of them can
    /// split at a random id, so that no target is always left out.
    #[must_use]
    pub fn split_at(shard: Shard, split: &TargetId) -> [Self; 2] {
        ["pk = :shard AND sk >= :split", "pk = :shard AND sk < :split"].map(|condition| Self {
            shard,
            condition,
            split: split.clone(),
            start_key: None,
        })
    }
}

/// A page of due targets.
#[derive(Debug, Default)]
pub struct DuePage {
    /// The targets to check.
    pub targets: Vec<DueTarget>,
    /// The items that can't be deserialised. They don't prevent the checks of other targets.
    pub unreadable: Vec<UnreadableTarget>,
    /// The rest of the range; `None` on the last page.
    pub rest: Option<ShardRange>,
}

/// The item of a target that doesn't have the attributes that this version of Linklet writes.
#[derive(Debug)]
pub struct UnreadableTarget {
    /// The target's id, which is the item's sort key.
    pub id: String,
    /// The deserialisation error.
    pub error: RepositoryError,
}

/// What became of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WriteOutcome {
    /// All is written.
    Committed,
    /// A concurrent write prevented it.
    NotNow,
    /// The workspace has as many targets as it may.
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

    /// A repository for the table with this name. It doesn't limit how many targets a workspace has.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self { table: Table { client, name: name.into() }, quota: None }
    }

    /// Limits how many targets a workspace has.
    #[must_use]
    pub fn with_quota(self, targets_per_workspace: u32) -> Self {
        Self { quota: Some(targets_per_workspace), ..self }
    }

    /// Reads a target with a strongly consistent read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn find(&self, id: &TargetId) -> Result<Option<Target>, RepositoryError> {
        let found = self.table.get::<TargetItem>("read a target", target_key(id)).await?;
        Ok(found.map(Target::from))
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
    ) -> Result<TargetPage, RepositoryError> {
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
        let items = rows.into_iter().map(|row| listed(OPERATION, row)).collect::<Result<Vec<_>, _>>()?;
        let last = items.last().filter(|_| has_more);
        let next = last.map(|target| PageToken { created_at: target.created_at, id: target.id.clone() });
        Ok(TargetPage { items, next })
    }

    /// Whether there is any target, by an eventually consistent look into an index that has only targets: 0.5 read units.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn has_targets(&self) -> Result<bool, RepositoryError> {
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

    /// Reads the next targets of a range with one eventually consistent query: at most `limit`, which must not be 0, and at
    /// most 1 MB.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn due(&self, range: &ShardRange, limit: usize) -> Result<DuePage, RepositoryError> {
        let query = self
            .table
            .client
            .query()
            .table_name(&self.table.name)
            .key_condition_expression(range.condition)
            .expression_attribute_values(":shard", text(&shard_partition(range.shard)))
            .expression_attribute_values(":split", text(&range.split))
            .projection_expression(DUE_PROJECTION)
            .expression_attribute_names("#url", "url")
            .expression_attribute_names("#host", "host")
            .expression_attribute_names("#status", "status")
            .set_exclusive_start_key(range.start_key.clone())
            .limit(i32::try_from(limit).unwrap_or(i32::MAX));
        let answer = query.send().await.map_err(RepositoryError::unavailable(READ_SHARD))?;
        let mut page = DuePage::default();
        for row in answer.items.unwrap_or_default() {
            match due_target(row) {
                Ok(target) => page.targets.push(target),
                Err(row) => page.unreadable.push(row),
            }
        }
        page.rest = answer.last_evaluated_key.map(|key| ShardRange { start_key: Some(key), ..range.clone() });
        Ok(page)
    }

    /// Deletes a target of a workspace, unless links watch it. Its results are deleted by their TTL. Registering the URL again
    /// gives the same id, but [`Self::results`] leaves out results from before.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn delete(&self, workspace: &WorkspaceId, id: &TargetId) -> Result<DeleteTargetOutcome, RepositoryError> {
        retry_on_conflict(DELETE, || self.try_to_delete(workspace, id)).await
    }

    async fn try_to_delete(
        &self,
        workspace: &WorkspaceId,
        id: &TargetId,
    ) -> Result<Option<DeleteTargetOutcome>, RepositoryError> {
        let delete = self.table.delete(DELETE, target_key(id)).only_if("watchers = :none").value(":none", number(&0));
        let done = self.commit(DELETE, vec![delete.action()?, self.count_out(DELETE, workspace)?]).await?;
        if done.is_some() {
            return Ok(Some(DeleteTargetOutcome::Deleted));
        }
        Ok(match self.find(id).await? {
            // A concurrent request deleted it.
            None => Some(DeleteTargetOutcome::Deleted),
            Some(target) => (target.watchers > 0).then_some(DeleteTargetOutcome::Watched),
        })
    }

    /// Sends the actions as one transaction. Returns `None` if a concurrent write prevented it.
    async fn commit(
        &self,
        operation: &'static str,
        actions: Vec<TransactWriteItem>,
    ) -> Result<Option<()>, RepositoryError> {
        Ok((self.send(operation, actions, None).await? == WriteOutcome::Committed).then_some(()))
    }

    /// Sends the actions as one transaction, which creates a target if there is an action that counts it.
    async fn send(
        &self,
        operation: &'static str,
        actions: Vec<TransactWriteItem>,
        count_in: Option<TransactWriteItem>,
    ) -> Result<WriteOutcome, RepositoryError> {
        let transaction = actions
            .into_iter()
            .fold(Transaction::new(operation), |transaction, action| transaction.and(action, WriteOutcome::NotNow));
        // The last one, so that a full workspace is the reason only if nothing else is.
        let transaction = match count_in {
            Some(count_in) => transaction.and(count_in, WriteOutcome::Full),
            None => transaction,
        };
        Ok(match transaction.send(&self.table.client).await? {
            TransactionOutcome::Committed => WriteOutcome::Committed,
            TransactionOutcome::Refused(refusal) => refusal,
            TransactionOutcome::InConflict => WriteOutcome::NotNow,
        })
    }
}

fn listed(operation: &'static str, row: Item) -> Result<ListedTarget, RepositoryError> {
    let ListedItem { id, url, canonical_url, created_at } = from_item(operation, row)?;
    Ok(ListedTarget { id, url, canonical_url, created_at })
}

const DELETE: &str = "delete a target";

const READ_SHARD: &str = "read the targets of a shard";

fn due_target(row: Item) -> Result<DueTarget, UnreadableTarget> {
    let id = row.get("sk").and_then(|id| id.as_s().ok()).cloned().unwrap_or_default();
    from_item::<DueItem>(READ_SHARD, row).map(DueTarget::from).map_err(|error| UnreadableTarget { id, error })
}

impl From<DueItem> for DueTarget {
    fn from(item: DueItem) -> Self {
        Self { id: item.id, workspace: item.workspace_id, url: item.url, host: item.host, status: item.status }
    }
}
