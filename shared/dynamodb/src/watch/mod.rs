//! WatchTable: monitored URLs, who watches them, and what checking them has found.

pub(crate) mod item;
mod registration;
mod rounds;
mod watchers;

use aws_sdk_dynamodb::{
    Client,
    error::SdkError,
    operation::delete_item::DeleteItemError,
    types::{AttributeValue, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update},
};
use linklet_domain::{
    CanonicalUrl, CheckResult, Host, PageToken, Shard, Target, TargetId, TargetStatus, TargetUrl, Timestamp,
    WorkspaceId,
};

use self::item::{
    DUE_PROJECTION, DueItem, ListedItem, TargetItem, host_partition, list_sort_key, shard_partition, target_key,
    workspace_partition,
};
pub use self::{
    registration::Registered,
    rounds::{RoundOutcome, RoundRecord},
};
use crate::{
    RepositoryError,
    item::{Item, Table, despite_transactions, from_item, number, text},
};

/// The table of monitored URLs.
#[derive(Debug, Clone)]
pub struct WatchTable(Table);

/// A target as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedTarget {
    /// Its id.
    pub id: TargetId,
    /// The URL as it was first given.
    pub url: TargetUrl,
    /// The form by which it is recognised.
    pub canonical_url: CanonicalUrl,
    /// When it was registered.
    pub created_at: Timestamp,
}

/// One page of targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetPage {
    /// The targets, who was registered first first.
    pub items: Vec<ListedTarget>,
    /// Where the next page starts; `None` at the end.
    pub next: Option<PageToken>,
}

/// How a target is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// What its rounds have come to.
    pub status: TargetStatus,
    /// What the latest one has found; `None` before the first.
    pub latest: Option<CheckResult>,
}

/// A target whose turn it is to be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueTarget {
    /// Its id.
    pub id: TargetId,
    /// The workspace that it belongs to.
    pub workspace: WorkspaceId,
    /// What is fetched.
    pub url: TargetUrl,
    /// Whose turn it has to wait for.
    pub host: Host,
    /// How it was when this was read.
    pub status: TargetStatus,
}

/// Targets of a shard that lie side by side in the order of their ids.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch {
    shard: Shard,
    condition: &'static str,
    place: TargetId,
    /// The row behind which to go on.
    behind: Option<Item>,
}

impl Stretch {
    /// All of a shard's targets: from a place among the ids on, and those before it. Whoever starts at a random place and
    /// can't go all the way leaves nobody out for ever.
    #[must_use]
    pub fn around(shard: Shard, place: &TargetId) -> [Self; 2] {
        ["pk = :shard AND sk >= :place", "pk = :shard AND sk < :place"].map(|condition| Self {
            shard,
            condition,
            place: place.clone(),
            behind: None,
        })
    }
}

/// Some targets of a stretch.
#[derive(Debug, Default)]
pub struct DuePage {
    /// Those that can be checked.
    pub targets: Vec<DueTarget>,
    /// Rows in an unknown form. They keep nobody else from being checked.
    pub unreadable: Vec<UnreadableTarget>,
    /// What comes behind; `None` at the end.
    pub rest: Option<Stretch>,
}

/// A row of a target that doesn't have the attributes that this version of Linklet writes.
#[derive(Debug)]
pub struct UnreadableTarget {
    /// The target's id, which is the row's sort key.
    pub id: String,
    /// What is wrong with it.
    pub error: RepositoryError,
}

/// What came of deleting a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteTargetOutcome {
    /// It isn't there any more.
    Deleted,
    /// Links watch it, so it stays.
    Watched,
}

impl WatchTable {
    const BY_WORKSPACE: &str = "by-workspace";
    const BY_HOST: &str = "by-host";

    /// The table with this name.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self(Table { client, name: name.into() })
    }

    /// A target, read consistently: the basis of decisions about it.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn find(&self, id: &TargetId) -> Result<Option<Target>, RepositoryError> {
        let found = self.0.get::<TargetItem>("read a target", target_key(id)).await?;
        Ok(found.map(Target::from))
    }

    /// How a target is; `None` if there is no such target.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn health(&self, id: &TargetId, now: Timestamp) -> Result<Option<Health>, RepositoryError> {
        let Some(target) = self.find(id).await? else { return Ok(None) };
        let latest = self.results(&target, None, 1, now).await?.pop();
        Ok(Some(Health { status: target.status, latest }))
    }

    /// A workspace's targets, or those at a host, in the order of (time of registration, id); `limit` at most, behind the given
    /// one.
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
        // One more than is shown only tells that there are more.
        let fetched = limit + 1;
        // A condition on the key instead of an exclusive start key: it holds even if that row is gone by now.
        let query = self
            .0
            .client
            .query()
            .index_name(index)
            .key_condition_expression("#partition = :partition AND by_workspace_sk > :after")
            .expression_attribute_names("#partition", attribute)
            .expression_attribute_values(":partition", text(&partition))
            .expression_attribute_values(":after", text(&after.map_or_else(|| " ".to_owned(), list_sort_key)))
            .limit(i32::try_from(fetched).unwrap_or(i32::MAX));
        let mut rows = self.0.query_all(OPERATION, query, fetched).await?;
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let items = rows.into_iter().map(|row| listed(OPERATION, row)).collect::<Result<Vec<_>, _>>()?;
        let last = items.last().filter(|_| has_more);
        let next = last.map(|target| PageToken { created_at: target.created_at, id: target.id.clone() });
        Ok(TargetPage { items, next })
    }

    /// The next targets of a stretch, read eventually consistently in one call: `limit` at most, which is not 0, or as many as
    /// 1 MB holds.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn due(&self, stretch: &Stretch, limit: usize) -> Result<DuePage, RepositoryError> {
        let query = self
            .0
            .client
            .query()
            .table_name(&self.0.name)
            .key_condition_expression(stretch.condition)
            .expression_attribute_values(":shard", text(&shard_partition(stretch.shard)))
            .expression_attribute_values(":place", text(&stretch.place))
            .projection_expression(DUE_PROJECTION)
            .expression_attribute_names("#url", "url")
            .expression_attribute_names("#host", "host")
            .expression_attribute_names("#status", "status")
            .set_exclusive_start_key(stretch.behind.clone())
            .limit(i32::try_from(limit).unwrap_or(i32::MAX));
        let answer = query.send().await.map_err(RepositoryError::unavailable(READ_SHARD))?;
        let mut page = DuePage::default();
        for row in answer.items.unwrap_or_default() {
            match due_target(row) {
                Ok(target) => page.targets.push(target),
                Err(row) => page.unreadable.push(row),
            }
        }
        page.rest = answer.last_evaluated_key.map(|behind| Stretch { behind: Some(behind), ..stretch.clone() });
        Ok(page)
    }

    /// Deletes a target, unless links watch it. Its results go by themselves; if the URL is registered again, which gives it
    /// the same id, nobody sees them.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn delete(&self, id: &TargetId) -> Result<DeleteTargetOutcome, RepositoryError> {
        let delete = self
            .0
            .client
            .delete_item()
            .table_name(&self.0.name)
            .set_key(Some(target_key(id).into_item()))
            .condition_expression("watchers = :none")
            .expression_attribute_values(":none", number(&0))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        match despite_transactions(|| delete.clone().send()).await.map_err(SdkError::into_service_error) {
            Ok(_) => Ok(DeleteTargetOutcome::Deleted),
            Err(DeleteItemError::ConditionalCheckFailedException(refused)) => Ok(match refused.item {
                Some(_) => DeleteTargetOutcome::Watched,
                // Somebody else deleted it, or we did and the answer got lost.
                None => DeleteTargetOutcome::Deleted,
            }),
            Err(error) => Err(RepositoryError::unavailable("delete a target")(error)),
        }
    }

    /// A transaction's action that changes a target on a condition. `#status` and `#error` stand for reserved words.
    fn update(
        &self,
        operation: &'static str,
        id: &TargetId,
        expression: &str,
        condition: &str,
        values: impl IntoIterator<Item = (&'static str, AttributeValue)>,
    ) -> Result<TransactWriteItem, RepositoryError> {
        let mut update = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(target_key(id).into_item()))
            .update_expression(expression)
            .condition_expression(condition);
        for (name, attribute) in [("#status", "status"), ("#error", "error")] {
            if expression.contains(name) || condition.contains(name) {
                update = update.expression_attribute_names(name, attribute);
            }
        }
        for (name, value) in values {
            update = update.expression_attribute_values(name, value);
        }
        let update = update.build().map_err(RepositoryError::unavailable(operation))?;
        Ok(TransactWriteItem::builder().update(update).build())
    }
}

fn listed(operation: &'static str, row: Item) -> Result<ListedTarget, RepositoryError> {
    let ListedItem { id, url, canonical_url, created_at } = from_item(operation, row)?;
    Ok(ListedTarget { id, url, canonical_url, created_at })
}

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
