//! LinksTable: every link and every reserved code, found by its code and listed by its workspace.

mod expiry;
pub(crate) mod item;
mod reuse;

use aws_sdk_dynamodb::{
    Client,
    error::SdkError,
    operation::{put_item::PutItemError, update_item::UpdateItemError},
    types::{AttributeValue, ReturnValue, ReturnValuesOnConditionCheckFailure},
};
use linklet_domain::{
    CorrelationId, EventId, Link, LinkPatch, Order, Record, RedirectTarget, ShortCode, Timestamp, Tombstone, UserId,
    WorkspaceId,
};

use self::item::{LinkItem, RedirectItem, TOMBSTONE, TombstoneItem, link_key, workspace_partition};
pub use self::{
    expiry::{BuryOutcome, CleanupStats},
    reuse::{Creation, FirstAnswer, Reusable},
};
use crate::{
    Cursor, Page, RepositoryError,
    item::{Item, Key, Table, despite_transactions, from_item, number, text, to_attributes, to_item},
};

/// The table of links.
#[derive(Debug, Clone)]
pub struct LinksTable(Table);

/// What came of creating a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateOutcome {
    /// The link exists now.
    Created,
    /// Another link, or a tombstone, has the code.
    CodeTaken,
    /// Somebody else has just shortened the URL, or used the idempotency key, or is doing so: look again.
    Overtaken,
}

/// What came of deactivating a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteOutcome {
    /// It redirected before and doesn't any more.
    Deleted,
    /// It was deleted before.
    AlreadyDeleted,
}

impl LinksTable {
    const BY_WORKSPACE: &str = "by-workspace";

    /// The table with this name.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self(Table { client, name: name.into() })
    }

    /// Reads a row that can't exist, to open the connection while nobody waits: TLS is the largest part of a first call.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn open_connection(&self) -> Result<(), RepositoryError> {
        let nobodys = Key::new("LINK#", "LINK").into_item();
        let read = self.0.client.get_item().table_name(&self.0.name).set_key(Some(nobodys)).send().await;
        read.map(|_| ()).map_err(RepositoryError::unavailable("open a connection"))
    }

    /// What a redirect needs, read eventually consistently: half the price, and a new link is there within milliseconds.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn redirect_target(&self, code: &ShortCode) -> Result<Option<Record<RedirectTarget>>, RepositoryError> {
        const OPERATION: &str = "read a redirect";
        let found = self
            .0
            .client
            .get_item()
            .table_name(&self.0.name)
            .set_key(Some(link_key(code).into_item()))
            .send()
            .await
            .map_err(RepositoryError::unavailable(OPERATION))?;
        found
            .item
            .map(|item| read(OPERATION, item, |item| from_item::<RedirectItem>(OPERATION, item).map(Into::into)))
            .transpose()
    }

    /// A whole link, read consistently: the basis of decisions about it.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn find(&self, code: &ShortCode) -> Result<Option<Record<Link>>, RepositoryError> {
        const OPERATION: &str = "read a link";
        let found = self
            .0
            .client
            .get_item()
            .table_name(&self.0.name)
            .set_key(Some(link_key(code).into_item()))
            .consistent_read(true)
            .send()
            .await
            .map_err(RepositoryError::unavailable(OPERATION))?;
        found
            .item
            .map(|item| read(OPERATION, item, |item| from_item::<LinkItem>(OPERATION, item).map(LinkItem::into_link)))
            .transpose()
    }

    /// A workspace's links, newest first, `limit` at most, after the given one.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn list(
        &self,
        workspace: &WorkspaceId,
        limit: usize,
        after: Option<&Cursor<ShortCode>>,
    ) -> Result<Page<Link, ShortCode>, RepositoryError> {
        const OPERATION: &str = "list a workspace's links";
        let fetched = limit + 1;
        let mut query = self
            .0
            .client
            .query()
            .index_name(Self::BY_WORKSPACE)
            .expression_attribute_values(":workspace", text(&workspace_partition(workspace)))
            .scan_index_forward(false)
            .limit(i32::try_from(fetched).unwrap_or(i32::MAX));
        query = match after {
            // A condition on the key instead of an exclusive start key: it holds even if that row is gone by now.
            Some(cursor) => query
                .key_condition_expression("by_workspace_pk = :workspace AND by_workspace_sk < :after")
                .expression_attribute_values(":after", text(&cursor.sort_key())),
            None => query.key_condition_expression("by_workspace_pk = :workspace"),
        };
        let links = read_links(OPERATION, self.0.query_all(OPERATION, query, fetched).await?)?;
        Ok(Page::of(links, limit, |link| Cursor { at: link.created_at, id: link.code.clone() }))
    }

    /// A workspace's links that were created between two moments, both included, in the order of creation; `limit` at most.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn created_between(
        &self,
        workspace: &WorkspaceId,
        (from, to): (Option<Timestamp>, Option<Timestamp>),
        order: Order,
        limit: usize,
    ) -> Result<Vec<Link>, RepositoryError> {
        const OPERATION: &str = "list a workspace's links";
        // The sort key is `<created_at>#<code>`, so `~`, which sorts behind every code, closes the last moment.
        let first = from.map(|at| at.to_string()).unwrap_or_default();
        let last = to.map_or_else(|| "~".to_owned(), |at| format!("{at}#~"));
        if first > last {
            return Ok(Vec::new());
        }
        let query = self
            .0
            .client
            .query()
            .index_name(Self::BY_WORKSPACE)
            .key_condition_expression("by_workspace_pk = :workspace AND by_workspace_sk BETWEEN :first AND :last")
            .expression_attribute_values(":workspace", text(&workspace_partition(workspace)))
            .expression_attribute_values(":first", text(if first.is_empty() { "0" } else { &first }))
            .expression_attribute_values(":last", text(&last))
            .scan_index_forward(order == Order::Ascending);
        read_links(OPERATION, self.0.query_all(OPERATION, query, limit).await?)
    }

    /// Changes a link and returns what it has become; `None` if it was deleted or is gone.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn update(&self, code: &ShortCode, patch: &LinkPatch) -> Result<Option<Link>, RepositoryError> {
        const OPERATION: &str = "change a link";
        let changes = Changes::of(OPERATION, patch)?;
        let mut update = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(link_key(code).into_item()))
            .set_update_expression(changes.expression())
            .condition_expression("attribute_exists(by_workspace_pk) AND attribute_not_exists(deleted_at)")
            .return_values(ReturnValue::AllNew);
        for (position, (name, value)) in changes.set.iter().enumerate() {
            update = update
                .expression_attribute_names(format!("#s{position}"), name)
                .expression_attribute_values(format!(":s{position}"), value.clone());
        }
        for (position, name) in changes.remove.iter().enumerate() {
            update = update.expression_attribute_names(format!("#r{position}"), name);
        }
        match despite_transactions(|| update.clone().send()).await.map_err(SdkError::into_service_error) {
            Ok(updated) => {
                let item = updated.attributes.unwrap_or_default();
                Ok(Some(from_item::<LinkItem>(OPERATION, item)?.into_link()))
            }
            Err(UpdateItemError::ConditionalCheckFailedException(_)) => Ok(None),
            Err(error) => Err(RepositoryError::unavailable(OPERATION)(error)),
        }
    }

    /// Deactivates a link: it answers 410 from now on, its statistics stay, and its URL can get a new code.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn delete(
        &self,
        link: &Link,
        by: &UserId,
        at: Timestamp,
        correlation_id: &CorrelationId,
    ) -> Result<DeleteOutcome, RepositoryError> {
        let update = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(link_key(&link.code).into_item()))
            .update_expression(
                "SET deleted_at = :at, deleted_by = :by, change_id = :change, correlation_id = :correlation",
            )
            .condition_expression("attribute_exists(by_workspace_pk) AND attribute_not_exists(deleted_at)")
            .expression_attribute_values(":at", text(&at))
            .expression_attribute_values(":by", text(by))
            .expression_attribute_values(":change", text(&EventId::generate()))
            .expression_attribute_values(":correlation", text(correlation_id));
        let deleted = despite_transactions(|| update.clone().send()).await;
        let outcome = match deleted.map_err(SdkError::into_service_error) {
            Ok(_) => DeleteOutcome::Deleted,
            Err(UpdateItemError::ConditionalCheckFailedException(_)) => DeleteOutcome::AlreadyDeleted,
            Err(error) => return Err(RepositoryError::unavailable("delete a link")(error)),
        };
        // Also after a repetition, since the first try may have ended between the two writes.
        self.free_reuse_entry(link).await?;
        Ok(outcome)
    }

    /// Replaces a link, or the tombstone of one that expired, by the tombstone of a purged one.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn purge(
        &self,
        record: &Record<Link>,
        at: Timestamp,
        correlation_id: &CorrelationId,
    ) -> Result<(), RepositoryError> {
        const OPERATION: &str = "purge a link";
        let tombstone = Tombstone::of_purged(record, at);
        if let Record::Link(link) = record {
            // First, as long as the link still tells which entry is its own.
            self.free_reuse_entry(link).await?;
        }
        let put = self
            .0
            .client
            .put_item()
            .table_name(&self.0.name)
            .set_item(Some(to_item(OPERATION, &TombstoneItem::new(&tombstone, &EventId::generate(), correlation_id))?))
            // A purged one is there already: repeating it would publish its event again.
            .condition_expression("attribute_not_exists(tombstone) OR tombstone <> :purged")
            .expression_attribute_values(":purged", text("purged"));
        let purged = despite_transactions(|| put.clone().send()).await;
        match purged.map_err(SdkError::into_service_error) {
            Ok(_) | Err(PutItemError::ConditionalCheckFailedException(_)) => Ok(()),
            Err(error) => Err(RepositoryError::unavailable(OPERATION)(error)),
        }
    }

    /// Stores a link on its own, which costs half of a transaction.
    async fn put_link(
        &self,
        link: &Link,
        change_id: &EventId,
        correlation_id: &CorrelationId,
    ) -> Result<CreateOutcome, RepositoryError> {
        const OPERATION: &str = "create a link";
        let created = self
            .0
            .client
            .put_item()
            .table_name(&self.0.name)
            .set_item(Some(to_item(OPERATION, &LinkItem::new(link, change_id, correlation_id))?))
            .condition_expression(crate::item::IS_NEW)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        match created.map_err(SdkError::into_service_error) {
            Ok(_) => Ok(CreateOutcome::Created),
            // The SDK repeats a write whose answer got lost; then the item in the way is our own.
            Err(PutItemError::ConditionalCheckFailedException(refused)) => {
                let is_ours = refused.item.is_some_and(|item| item.get("change_id") == Some(&text(change_id)));
                Ok(if is_ours { CreateOutcome::Created } else { CreateOutcome::CodeTaken })
            }
            Err(error) => Err(RepositoryError::unavailable(OPERATION)(error)),
        }
    }
}

/// A link or a tombstone: they share the key.
fn read<L>(
    operation: &'static str,
    item: Item,
    link: impl FnOnce(Item) -> Result<L, RepositoryError>,
) -> Result<Record<L>, RepositoryError> {
    if item.contains_key(TOMBSTONE) {
        return from_item::<TombstoneItem>(operation, item).map(|item| Record::Tombstone(item.into()));
    }
    link(item).map(Record::Link)
}

fn read_links(operation: &'static str, items: Vec<Item>) -> Result<Vec<Link>, RepositoryError> {
    items.into_iter().map(|item| from_item::<LinkItem>(operation, item).map(LinkItem::into_link)).collect()
}

/// The attributes that a patch sets and removes.
#[derive(Default)]
struct Changes {
    set: Vec<(String, AttributeValue)>,
    remove: Vec<String>,
}

impl Changes {
    /// Each member of the patch is the attribute of its name. The TTL follows the expiry.
    fn of(operation: &'static str, patch: &LinkPatch) -> Result<Self, RepositoryError> {
        let mut attributes: Item = to_attributes(operation, patch)?;
        if let Some(expires_at) = patch.expires_at {
            let ttl = expires_at.map(|expiry| number(&Link::forgotten_at(expiry).unix_seconds()));
            attributes.insert("ttl".to_owned(), ttl.unwrap_or(AttributeValue::Null(true)));
        }
        let (remove, set): (Vec<_>, Vec<_>) = attributes.into_iter().partition(|(_, value)| value.is_null());
        Ok(Self { set, remove: remove.into_iter().map(|(name, _)| name).collect() })
    }

    /// The update expression, or `None` if nothing changes.
    fn expression(&self) -> Option<String> {
        let list = |count, term: fn(usize) -> String| (0..count).map(term).collect::<Vec<_>>().join(", ");
        let mut clauses = Vec::new();
        if !self.set.is_empty() {
            clauses.push(format!("SET {}", list(self.set.len(), |position| format!("#s{position} = :s{position}"))));
        }
        if !self.remove.is_empty() {
            clauses.push(format!("REMOVE {}", list(self.remove.len(), |position| format!("#r{position}"))));
        }
        (!clauses.is_empty()).then(|| clauses.join(" "))
    }
}
