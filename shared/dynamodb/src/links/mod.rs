//! LinksTable: links and tombstones, which are looked up by code and listed by workspace.

mod expiry;
mod external;
mod folds;
pub(crate) mod item;
mod listing;
mod ownership;
mod reuse;

use aws_sdk_dynamodb::{Client, types::AttributeValue};
use linklet_domain::{
    CorrelationId, EventId, Generation, Link, LinkId, LinkPatch, Precondition, Record, RedirectTarget, ShortCode,
    SortOrder, Timestamp, Tombstone, UserId, WorkspaceId,
};

use self::item::{AVAILABILITY, LinkItem, PURGED, RedirectItem, TOMBSTONE, TombstoneItem, link_key};
pub use self::{
    expiry::{CleanupStats, ExpiryMarker, ExpiryOutcome},
    listing::{LinkRange, LinkReader},
    ownership::OwnedLinks,
    reuse::{Creation, FirstAnswer, Reusable},
};
use crate::{
    Consistency, Cursor, Page, RepositoryError,
    item::{Item, Key, Table, from_item, number, text, to_attributes},
    revision::{Guard, NEXT_REVISION, ONE_MORE, one_more},
    write::{Outcome, Write},
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
        let no_link = Key::new("LINK#", "LINK");
        self.0.find("open a connection", no_link, Consistency::Eventual).await.map(|_| ())
    }

    /// Reads what a redirect needs with an eventually consistent read, which costs half of a strongly consistent one. A new
    /// link is visible within milliseconds. Where there is none under the code as it was typed, it is that of a custom code in
    /// another case, for one or two such reads more.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn redirect_target(&self, code: &ShortCode) -> Result<Option<Record<RedirectTarget>>, RepositoryError> {
        match self.exact_target(code).await? {
            None => Box::pin(self.in_another_case(code)).await,
            found => Ok(found),
        }
    }

    async fn exact_target(&self, code: &ShortCode) -> Result<Option<Record<RedirectTarget>>, RepositoryError> {
        const OPERATION: &str = "read a redirect";
        let found = self.0.find(OPERATION, link_key(code), Consistency::Eventual).await?;
        found
            .map(|item| read(OPERATION, item, |item| from_item::<RedirectItem>(OPERATION, item).map(Into::into)))
            .transpose()
    }

    /// Reads a whole link with a strongly consistent read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn find(&self, code: &ShortCode) -> Result<Option<Record<Link>>, RepositoryError> {
        const OPERATION: &str = "read a link";
        let found = self.0.find(OPERATION, link_key(code), Consistency::Strong).await?;
        found
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
        let (created, order, wanted) = ((None, None), SortOrder::Descending, Some(limit + 1));
        let mut reader = self.whole(&LinkRange { workspace, created, order, after, wanted });
        let mut links = Vec::with_capacity(limit + 1);
        while links.len() <= limit
            && let Some(more) = reader.next().await?
        {
            links.extend(more.into_iter().filter(&is_shown));
        }
        let page = Page::of(links, limit, |link| Cursor { at: link.created_at, id: link.code().clone() });
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
        let changed = changes.made_to(&self.0, OPERATION, link, precondition).returning_new().send().await?;
        let kept = match changed {
            Outcome::Done(item) => item,
            Outcome::Refused(found) => {
                let Some(kept) = found.filter(|item| is_kept(item, &link.generation)) else {
                    return Ok(UpdateOutcome::Gone);
                };
                // The SDK retries a write whose response was lost. The revision is then the one that the first attempt has made.
                if changes.change_id().is_none_or(|id| kept.get("change_id") != Some(id)) {
                    return Ok(UpdateOutcome::Stale);
                }
                kept
            }
        };
        Ok(UpdateOutcome::Changed(from_item::<LinkItem>(OPERATION, kept)?.into_link().into()))
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
        // A deleted link isn't archived, so that it is found among the deleted ones.
        const DELETED: &str = "SET availability.deleted_at = :at, updated_at = :at, deleted_by = :by, is_news = :yes, \
                               change_id = :change, correlation_id = :correlation REMOVE archived";
        let Guard { condition, values } = Guard::of(precondition);
        let generation = &link.id().generation;
        let deleted = self
            .0
            .update("delete a link", link_key(link.code()), format!("{DELETED} {NEXT_REVISION}"))
            .only_if(format!("{IS_KEPT}{condition}"))
            .values(values)
            .values([
                (ONE_MORE, number(&1)),
                (":generation", text(generation)),
                (":at", text(&at)),
                (":by", text(by)),
                (":yes", AttributeValue::Bool(true)),
                (":change", text(&EventId::generate())),
                (":correlation", text(correlation_id)),
            ])
            .send()
            .await?;
        let outcome = match deleted {
            Outcome::Done(_) => DeleteOutcome::Deleted,
            // Its URL still leads to it.
            Outcome::Refused(Some(item)) if is_kept(&item, generation) => return Ok(DeleteOutcome::Stale),
            Outcome::Refused(_) => DeleteOutcome::AlreadyDeleted,
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
        let generation = text(&tombstone.identity.id.generation);
        let Guard { condition, values } = Guard::of(precondition);
        let purged = self
            .0
            .put_item(OPERATION, &TombstoneItem::new(&tombstone, &EventId::generate(), correlation_id))?
            // Replacing the tombstone of a purged link would publish its event again, and after that the code may have another
            // link.
            .only_if(format!(
                "generation = :generation AND (attribute_not_exists(tombstone) OR tombstone <> :purged){condition}"
            ))
            .values(values)
            .values([(":generation", generation.clone()), (":purged", text(PURGED))])
            .send()
            .await?;
        let is_there =
            |item: &Item| item.get("generation") == Some(&generation) && item.get(TOMBSTONE) != Some(&text(PURGED));
        Ok(match purged {
            Outcome::Refused(Some(item)) if is_there(&item) => PurgeOutcome::Stale,
            Outcome::Done(_) | Outcome::Refused(_) => PurgeOutcome::Purged,
        })
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
            .put_item(OPERATION, &LinkItem::new(link, change_id, correlation_id))?
            .only_if(CODE_IS_FREE)
            .values(code_is_free_for(&link.identity.workspace))
            .send()
            .await?;
        Ok(match created {
            Outcome::Done(_) => CreateOutcome::Created,
            // The SDK retries a write whose response was lost. The existing item is then from the first attempt.
            Outcome::Refused(Some(item)) if item.get("change_id") == Some(&text(change_id)) => CreateOutcome::Created,
            Outcome::Refused(_) => CreateOutcome::CodeTaken,
        })
    }
}

/// The condition that a link is still the one that was read, and is not deleted. A tombstone isn't listed.
const IS_KEPT: &str = "attribute_exists(by_workspace_pk) AND attribute_not_exists(availability.deleted_at) \
                       AND generation = :generation";

/// Whether [`IS_KEPT`] holds for an item.
fn is_kept(item: &Item, generation: &Generation) -> bool {
    let is_deleted = |availability: &Item| availability.contains_key("deleted_at");
    let is_link = item.get(AVAILABILITY).and_then(|map| map.as_m().ok()).is_some_and(|map| !is_deleted(map));
    is_link && item.get("generation") == Some(&text(generation))
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
    /// Each member of the patch is the attribute of its name, or [in a map](path_of). Another expiry is not published yet, and a
    /// link that isn't archived has nothing that says so.
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
        if patch.archived == Some(false) {
            attributes.insert("archived".to_owned(), AttributeValue::Null(true));
        }
        let written = [
            ("updated_at", text(&at)),
            // Of the other changes nobody hears.
            ("is_news", AttributeValue::Bool(patch.expires_at.is_some() || patch.watch.is_some())),
            ("change_id", text(&EventId::generate())),
            ("correlation_id", text(correlation_id)),
        ];
        attributes.extend(written.map(named));
        let (remove, set): (Vec<_>, Vec<_>) = attributes.into_iter().partition(|(_, value)| value.is_null());
        Ok(Self { set, remove: remove.into_iter().map(|(name, _)| name).collect() })
    }

    /// The id of the change, if anything changes.
    fn change_id(&self) -> Option<&AttributeValue> {
        self.set.iter().find(|(name, _)| name == "change_id").map(|(_, value)| value)
    }

    /// The write that makes the changes to a link that is kept and of a revision that they are meant for. It may be none that changes
    /// anything, which tells whether the link is so.
    fn made_to<'a>(
        &self,
        table: &'a Table,
        operation: &'static str,
        link: &LinkId,
        precondition: &Precondition,
    ) -> Write<'a> {
        let Guard { condition, values } = Guard::of(precondition);
        let set = self.set.iter().map(|(name, value)| (format!(":{name}"), value.clone()));
        table
            .update(operation, link_key(&link.code), self.expression().unwrap_or_default())
            .only_if(format!("{IS_KEPT}{condition}"))
            .values(values)
            .values(set.chain(self.expression().map(|_| one_more())))
            .value(":generation", text(&link.generation))
    }

    /// The update expression, or `None` if nothing changes.
    fn expression(&self) -> Option<String> {
        let set: Vec<_> = self.set.iter().map(|(name, _)| format!("{} = :{name}", path_of(name))).collect();
        let remove: Vec<_> = self.remove.iter().map(|name| path_of(name)).collect();
        let clauses: Vec<_> = [("SET", set), ("REMOVE", remove)]
            .into_iter()
            .filter(|(_, paths)| !paths.is_empty())
            .map(|(clause, paths)| format!("{clause} {}", paths.join(", ")))
            .collect();
        (!clauses.is_empty()).then(|| format!("{} {NEXT_REVISION}", clauses.join(" ")))
    }
}

/// Where the member of a patch is in the item.
fn path_of(member: &str) -> String {
    let is_of_availability = matches!(member, "expires_at" | "is_active");
    if is_of_availability { format!("{AVAILABILITY}.#{member}") } else { format!("#{member}") }
}
