//! LinksTable: links and tombstones, which are looked up by code and listed by workspace.

mod expiry;
mod external;
pub(crate) mod item;
mod listing;
mod ownership;
mod reuse;

use std::collections::HashMap;

use aws_sdk_dynamodb::{
    Client,
    error::SdkError,
    operation::{put_item::PutItemError, update_item::UpdateItemError},
    types::{AttributeValue, ReturnValue, ReturnValuesOnConditionCheckFailure},
};
use linklet_domain::{
    CorrelationId, EventId, Generation, Link, LinkId, LinkPatch, Order, Precondition, Record, RedirectTarget,
    ShortCode, Timestamp, Tombstone, UserId, WorkspaceId,
};

use self::item::{LinkItem, PURGED, RedirectItem, TOMBSTONE, TombstoneItem, link_key};
pub use self::{
    expiry::{CleanupStats, ExpiryMarker, ExpiryOutcome},
    listing::{LinkRange, LinkReader},
    ownership::OwnedLinks,
    reuse::{Creation, FirstAnswer, Reusable},
};
use crate::{
    Cursor, Page, RepositoryError,
    item::{Item, Key, Table, from_item, number, retry_transaction_conflicts, text, to_attributes, to_item},
    revision::{Guard, NEXT_REVISION, ONE_MORE, one_more},
};

/// The repository of links: LinksTable.
#[derive(Debug, Clone)]
pub struct LinksTable(Table);

/// The outcome of creating a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateOutcome {
    /// The link is created.
    Created,
    /// Another link or a tombstone has the code; retry with another code.
    CodeTaken,
    /// A concurrent request has shortened the same URL, or used the same idempotency key or external id; read again and retry.
    Conflict,
    /// Another link of the workspace has the external id.
    ExternalIdTaken,
}

/// The outcome of changing a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpdateOutcome {
    /// The link after the change.
    Changed(Box<Link>),
    /// The link has another revision than the change is meant for.
    Stale,
    /// The link was deleted or removed.
    Gone,
    /// Another link of the workspace has the external id.
    ExternalIdTaken,
}

/// The outcome of purging a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurgeOutcome {
    /// The link is purged, or its code has another one by now.
    Purged,
    /// The link has another revision than the request is meant for.
    Stale,
}

/// The outcome of deleting a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteOutcome {
    /// The link is deleted.
    Deleted,
    /// The link was deleted before, or doesn't exist.
    AlreadyDeleted,
    /// The link has another revision than the request is meant for.
    Stale,
}

impl LinksTable {
    const BY_WORKSPACE: &str = "by-workspace";

    /// A repository for the table with this name.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self(Table { client, name: name.into() })
    }

    /// Opens a connection to DynamoDB ahead of the first request, since the TLS handshake is the largest part of a first call.
    /// It reads a key that can't exist.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn open_connection(&self) -> Result<(), RepositoryError> {
        let no_link = Key::new("LINK#", "LINK").into_item();
        let read = self.0.client.get_item().table_name(&self.0.name).set_key(Some(no_link)).send().await;
        read.map(|_| ()).map_err(RepositoryError::unavailable("open a connection"))
    }

    /// Reads what a redirect needs with an eventually consistent read, which costs half of a strongly consistent one. A new
    /// link is visible within milliseconds.
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

    /// Reads a whole link with a strongly consistent read.
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

    /// Lists a workspace's links that are to be shown, newest first: at most `limit`, starting after the cursor. Where so many
    /// aren't that one request can't read on, there are fewer, and a cursor.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn list(
        &self,
        workspace: &WorkspaceId,
        limit: usize,
        after: Option<Cursor<ShortCode>>,
        is_shown: impl Fn(&Link) -> bool,
    ) -> Result<Page<Link, ShortCode>, RepositoryError> {
        let (created, order, wanted) = ((None, None), Order::Descending, Some(limit + 1));
        let mut reader = self.whole(&LinkRange { workspace, created, order, after, wanted });
        let mut links = Vec::with_capacity(limit + 1);
        while links.len() <= limit
            && let Some(more) = reader.next().await?
        {
            links.extend(more.into_iter().filter(&is_shown));
        }
        let page = Page::of(links, limit, |link| Cursor { at: link.created_at, id: link.code.clone() });
        Ok(Page { next: page.next.or_else(|| reader.rest().cloned()), ..page })
    }

    /// Changes a link of a revision that the change is meant for. One that can be reused after the change becomes the link of its
    /// URL, if the URL has no other.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn update(
        &self,
        link: &LinkId,
        patch: &LinkPatch,
        precondition: &Precondition,
        at: Timestamp,
        correlation_id: &CorrelationId,
    ) -> Result<UpdateOutcome, RepositoryError> {
        let changed = if patch.external_id.is_some() {
            self.change_external_id(link, patch, precondition, (at, correlation_id)).await?
        } else {
            self.change(link, patch, precondition, (at, correlation_id)).await?
        };
        if let UpdateOutcome::Changed(link) = &changed
            && patch.can_make_reusable()
            && link.is_reusable()
        {
            self.claim_reuse_entry(link).await?;
        }
        Ok(changed)
    }

    async fn change(
        &self,
        link: &LinkId,
        patch: &LinkPatch,
        precondition: &Precondition,
        (at, correlation_id): (Timestamp, &CorrelationId),
    ) -> Result<UpdateOutcome, RepositoryError> {
        const OPERATION: &str = "change a link";
        let changes = Changes::of(OPERATION, patch, at, correlation_id)?;
        let Guard { condition, values } = Guard::of(precondition);
        let mut update = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(link_key(&link.code).into_item()))
            .set_update_expression(changes.expression())
            .condition_expression(format!("{IS_KEPT}{condition}"))
            .set_expression_attribute_values(Some(changes.values()))
            .expression_attribute_values(":generation", text(&link.generation))
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        for (name, value) in values {
            update = update.expression_attribute_values(name, value);
        }
        if !changes.is_empty() {
            update = update.set_expression_attribute_names(Some(changes.names()));
        }
        match retry_transaction_conflicts(|| update.clone().send()).await.map_err(SdkError::into_service_error) {
            Ok(updated) => {
                let item = updated.attributes.unwrap_or_default();
                Ok(UpdateOutcome::Changed(from_item::<LinkItem>(OPERATION, item)?.into_link().into()))
            }
            Err(UpdateItemError::ConditionalCheckFailedException(refused)) => {
                let Some(kept) = refused.item.filter(|item| is_kept(item, &link.generation)) else {
                    return Ok(UpdateOutcome::Gone);
                };
                // The SDK retries a write whose response was lost. The revision is then the one that the first attempt has made.
                let is_ours = changes.change_id().is_some_and(|id| kept.get("change_id") == Some(id));
                if !is_ours {
                    return Ok(UpdateOutcome::Stale);
                }
                Ok(UpdateOutcome::Changed(from_item::<LinkItem>(OPERATION, kept)?.into_link().into()))
            }
            Err(error) => Err(RepositoryError::unavailable(OPERATION)(error)),
        }
    }

    /// Deletes a link: it answers 410 from now on, its statistics are kept, and its URL can get a new code.
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
        self.delete_if(link, &Precondition::None, by, at, correlation_id).await
    }

    /// Like [`Self::delete`], if the link is of a revision that the request is meant for.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn delete_if(
        &self,
        link: &Link,
        precondition: &Precondition,
        by: &UserId,
        at: Timestamp,
        correlation_id: &CorrelationId,
    ) -> Result<DeleteOutcome, RepositoryError> {
        let Guard { condition, values } = Guard::of(precondition);
        let mut update = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(link_key(&link.code).into_item()))
            .update_expression(format!(
                "SET deleted_at = :at, updated_at = :at, deleted_by = :by, change_id = :change, \
                 correlation_id = :correlation {NEXT_REVISION}"
            ))
            .condition_expression(format!("{IS_KEPT}{condition}"))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .expression_attribute_values(ONE_MORE, number(&1))
            .expression_attribute_values(":generation", text(&link.generation))
            .expression_attribute_values(":at", text(&at))
            .expression_attribute_values(":by", text(by))
            .expression_attribute_values(":change", text(&EventId::generate()))
            .expression_attribute_values(":correlation", text(correlation_id));
        for (name, value) in values {
            update = update.expression_attribute_values(name, value);
        }
        let deleted = retry_transaction_conflicts(|| update.clone().send()).await;
        let outcome = match deleted.map_err(SdkError::into_service_error) {
            Ok(_) => DeleteOutcome::Deleted,
            // Its URL still leads to it.
            Err(UpdateItemError::ConditionalCheckFailedException(refused))
                if refused.item().is_some_and(|item| is_kept(item, &link.generation)) =>
            {
                return Ok(DeleteOutcome::Stale);
            }
            Err(UpdateItemError::ConditionalCheckFailedException(_)) => DeleteOutcome::AlreadyDeleted,
            Err(error) => return Err(RepositoryError::unavailable("delete a link")(error)),
        };
        // Also if the link was deleted before, since that attempt may have failed between the two writes.
        self.free_reuse_entry(link).await?;
        Ok(outcome)
    }

    /// Replaces a link, or the tombstone of a deleted or expired one, with the tombstone of a purged link.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn purge(
        &self,
        record: &Record<Link>,
        at: Timestamp,
        correlation_id: &CorrelationId,
    ) -> Result<(), RepositoryError> {
        self.purge_if(record, &Precondition::None, at, correlation_id).await.map(|_| ())
    }

    /// Like [`Self::purge`], if the link is of a revision that the request is meant for.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn purge_if(
        &self,
        record: &Record<Link>,
        precondition: &Precondition,
        at: Timestamp,
        correlation_id: &CorrelationId,
    ) -> Result<PurgeOutcome, RepositoryError> {
        // The key of the reuse entry is derived from the link's URL, so a purge that is repeated after a failure would not know it:
        // the entry goes first. With a precondition the link may stay, and then so does its entry. One that is left harms nobody.
        let is_certain = *precondition == Precondition::None;
        if let (Record::Link(link), true) = (record, is_certain) {
            self.free_reuse_entry(link).await?;
        }
        let outcome = self.leave_purged(record, precondition, at, correlation_id).await?;
        if let (Record::Link(link), PurgeOutcome::Purged) = (record, outcome) {
            if !is_certain {
                self.free_reuse_entry(link).await?;
            }
            // After the link is replaced: freed before, its id could be another link's while this one still had it.
            self.free_external_id(link).await?;
        }
        Ok(outcome)
    }

    async fn leave_purged(
        &self,
        record: &Record<Link>,
        precondition: &Precondition,
        at: Timestamp,
        correlation_id: &CorrelationId,
    ) -> Result<PurgeOutcome, RepositoryError> {
        const OPERATION: &str = "purge a link";
        let tombstone = Tombstone::of_purged(record, at);
        let Guard { condition, values } = Guard::of(precondition);
        let mut put = self
            .0
            .client
            .put_item()
            .table_name(&self.0.name)
            .set_item(Some(to_item(OPERATION, &TombstoneItem::new(&tombstone, &EventId::generate(), correlation_id))?))
            // Replacing the tombstone of a purged link would publish its event again, and after that the code may have another
            // link.
            .condition_expression(format!(
                "generation = :generation AND (attribute_not_exists(tombstone) OR tombstone <> :purged){condition}"
            ))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .expression_attribute_values(":generation", text(&tombstone.generation))
            .expression_attribute_values(":purged", text(PURGED));
        for (name, value) in values {
            put = put.expression_attribute_values(name, value);
        }
        let purged = retry_transaction_conflicts(|| put.clone().send()).await;
        match purged.map_err(SdkError::into_service_error) {
            Ok(_) => Ok(PurgeOutcome::Purged),
            Err(PutItemError::ConditionalCheckFailedException(refused)) => {
                let is_there = refused.item().is_some_and(|item| {
                    item.get("generation") == Some(&text(&tombstone.generation))
                        && item.get(TOMBSTONE) != Some(&text(PURGED))
                });
                Ok(if is_there { PurgeOutcome::Stale } else { PurgeOutcome::Purged })
            }
            Err(error) => Err(RepositoryError::unavailable(OPERATION)(error)),
        }
    }

    /// Stores a link with a single write, which costs half of a transaction.
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
            .condition_expression(CODE_IS_FREE)
            .set_expression_attribute_values(Some(code_is_free_for(&link.workspace).map(named).into()))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        match created.map_err(SdkError::into_service_error) {
            Ok(_) => Ok(CreateOutcome::Created),
            // The SDK retries a write whose response was lost. The existing item is then from the first attempt.
            Err(PutItemError::ConditionalCheckFailedException(refused)) => {
                let is_ours = refused.item.is_some_and(|item| item.get("change_id") == Some(&text(change_id)));
                Ok(if is_ours { CreateOutcome::Created } else { CreateOutcome::CodeTaken })
            }
            Err(error) => Err(RepositoryError::unavailable(OPERATION)(error)),
        }
    }
}

/// The condition that a link is still the one that was read, and is not deleted. A tombstone isn't listed.
const IS_KEPT: &str =
    "attribute_exists(by_workspace_pk) AND attribute_not_exists(deleted_at) AND generation = :generation";

/// Whether [`IS_KEPT`] holds for an item.
fn is_kept(item: &Item, generation: &Generation) -> bool {
    let is_there = item.contains_key("by_workspace_pk") && !item.contains_key("deleted_at");
    is_there && item.get("generation") == Some(&text(generation))
}

/// The condition that a code can be taken: it was never used, or its link was purged in the same workspace.
const CODE_IS_FREE: &str = "attribute_not_exists(pk) OR (tombstone = :purged AND workspace_id = :workspace)";

/// The values of [`CODE_IS_FREE`].
fn code_is_free_for(workspace: &WorkspaceId) -> [(&'static str, AttributeValue); 2] {
    [(":purged", text(PURGED)), (":workspace", text(workspace))]
}

fn named((name, value): (&str, AttributeValue)) -> (String, AttributeValue) {
    (name.to_owned(), value)
}

/// Deserialises a link or a tombstone, which have the same key.
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

/// The attributes that a patch sets or removes.
#[derive(Default)]
struct Changes {
    set: Vec<(String, AttributeValue)>,
    remove: Vec<String>,
}

impl Changes {
    /// Each member of the patch is the attribute of its name. Another expiry is not published yet.
    fn of(
        operation: &'static str,
        patch: &LinkPatch,
        at: Timestamp,
        correlation_id: &CorrelationId,
    ) -> Result<Self, RepositoryError> {
        let mut attributes: Item = to_attributes(operation, patch)?;
        if attributes.is_empty() {
            return Ok(Self::default());
        }
        if patch.expires_at.is_some() {
            attributes.insert("expiry_is_published".to_owned(), AttributeValue::Null(true));
        }
        let written = [("updated_at", text(&at)), ("change_id", text(&EventId::generate()))];
        attributes.extend(written.into_iter().chain([("correlation_id", text(correlation_id))]).map(named));
        let (remove, set): (Vec<_>, Vec<_>) = attributes.into_iter().partition(|(_, value)| value.is_null());
        Ok(Self { set, remove: remove.into_iter().map(|(name, _)| name).collect() })
    }

    fn is_empty(&self) -> bool {
        self.set.is_empty() && self.remove.is_empty()
    }

    /// The id of the change, if anything changes.
    fn change_id(&self) -> Option<&AttributeValue> {
        self.set.iter().find(|(name, _)| name == "change_id").map(|(_, value)| value)
    }

    /// The attributes that [`Self::expression`] names.
    fn names(&self) -> HashMap<String, String> {
        let set = self.set.iter().enumerate().map(|(position, (name, _))| (format!("#s{position}"), name.clone()));
        let remove = self.remove.iter().enumerate().map(|(position, name)| (format!("#r{position}"), name.clone()));
        set.chain(remove).collect()
    }

    /// The values of [`Self::expression`].
    fn values(&self) -> HashMap<String, AttributeValue> {
        let set = self.set.iter().enumerate().map(|(position, (_, value))| (format!(":s{position}"), value.clone()));
        set.chain((!self.is_empty()).then(one_more)).collect()
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
        (!clauses.is_empty()).then(|| format!("{} {NEXT_REVISION}", clauses.join(" ")))
    }
}
