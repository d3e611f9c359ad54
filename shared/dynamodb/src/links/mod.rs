//! LinksTable: links and tombstones, which are looked up by code and listed by workspace.

mod changing;
mod events;
mod expiry;
mod external;
mod folds;
mod history;
pub(crate) mod item;
mod listing;
mod locks;
mod ownership;
mod reuse;
mod suspending;
mod uses;

use aws_sdk_dynamodb::{Client, types::AttributeValue};
use linklet_domain::{
    Changer, CorrelationId, EventId, Generation, Invalid, LeadingChanges, Link, LinkId, Precondition, Record,
    RedirectTarget, ShortCode, SortOrder, Timestamp, Tombstone, UserId, WorkspaceId,
};

use self::item::{AVAILABILITY, LinkItem, PURGED, RedirectItem, TOMBSTONE, TombstoneItem, link_key};
pub use self::{
    changing::LinkUpdate,
    expiry::{CleanupStats, ExpiryMarker, ExpiryOutcome},
    listing::{LinkRange, LinkReader, TracedLink},
    ownership::OwnedLinks,
    reuse::{Creation, FirstAnswer, Reusable},
    suspending::SuspensionChange,
    uses::{Exhaustion, UseOutcome},
};
use crate::{
    Consistency, Cursor, Page, RepositoryError,
    item::{Item, Key, Table, from_item, number, text},
    revision::{Guard, NEXT_REVISION, ONE_MORE},
    transaction::{Transaction, TransactionOutcome, retry_on_conflict},
    write::Outcome,
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
    /// The link would lead where its workspace lets nobody lead a link that exists.
    DestinationFixed,
    /// The link would never redirect.
    Invalid(Invalid),
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

    /// What a redirect needs, by a strongly consistent read, for those who have found that they know something out of date.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn current_target(&self, code: &ShortCode) -> Result<Option<Record<RedirectTarget>>, RepositoryError> {
        self.target_by(code, Consistency::Strong).await
    }

    async fn exact_target(&self, code: &ShortCode) -> Result<Option<Record<RedirectTarget>>, RepositoryError> {
        self.target_by(code, Consistency::Eventual).await
    }

    async fn target_by(
        &self,
        code: &ShortCode,
        consistency: Consistency,
    ) -> Result<Option<Record<RedirectTarget>>, RepositoryError> {
        const OPERATION: &str = "read a redirect";
        let found = self.0.find(OPERATION, link_key(code), consistency).await?;
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
        let deletion = Deletion { precondition: &Precondition::None, by, named: None, at, correlation_id };
        self.delete_if(link, &deletion).await
    }

    /// Like [`Self::delete`], if the link is of a revision that the request is meant for.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn delete_if(&self, link: &Link, deletion: &Deletion<'_>) -> Result<DeleteOutcome, RepositoryError> {
        const OPERATION: &str = "delete a link";
        let outcome = retry_on_conflict(OPERATION, || self.try_to_delete(OPERATION, link, deletion)).await?;
        if outcome == DeleteOutcome::AlreadyDeleted {
            // The entry may be left of a link that has gone another way.
            self.free_reuse_entry(link).await?;
        }
        Ok(outcome)
    }

    async fn try_to_delete(
        &self,
        operation: &'static str,
        link: &Link,
        deletion: &Deletion<'_>,
    ) -> Result<Option<DeleteOutcome>, RepositoryError> {
        // A deleted link isn't archived, so that it is found among the deleted ones.
        const DELETED: &str = "SET availability.deleted_at = :at, updated_at = :at, deleted_by = :by, is_news = :yes, \
                               change_id = :change, correlation_id = :correlation";
        let named = if deletion.named.is_some() {
            ", changed_by = :named REMOVE archived"
        } else {
            " REMOVE archived, changed_by"
        };
        let id = link.id();
        let Some(Record::Link(current)) = self.find(&id.code).await?.filter(|record| record.identity().id == *id)
        else {
            return Ok(Some(DeleteOutcome::AlreadyDeleted));
        };
        if current.availability.is_deleted() {
            return Ok(Some(DeleteOutcome::AlreadyDeleted));
        }
        if !deletion.precondition.admits(current.revision) {
            return Ok(Some(DeleteOutcome::Stale));
        }
        let (change_id, at) = (EventId::generate(), current.next_change_at(deletion.at));
        let Guard { condition, values } = Guard::of(&Precondition::only(current.revision));
        let update = self
            .0
            .update(operation, link_key(&id.code), format!("{DELETED}{named} {NEXT_REVISION}"))
            .only_if(format!("{IS_KEPT}{condition}"))
            .values(values)
            .values([
                (ONE_MORE, number(&1)),
                (":generation", text(&id.generation)),
                (":at", text(&at)),
                (":by", text(deletion.by)),
                (":yes", AttributeValue::Bool(true)),
                (":change", text(&change_id)),
                (":correlation", text(deletion.correlation_id)),
            ])
            .values(deletion.named.map(|named| (":named", text(named))));
        let history = (at, *deletion.by);
        let sent = Transaction::new(operation)
            .and(update.action()?, ())
            .and(self.add_to_history(operation, (id, &change_id), history, LeadingChanges::deletion())?, ())
            .and_each(self.release_reuse_entry(operation, &current).await?, ())
            .send(&self.0.client)
            .await?;
        Ok((sent == TransactionOutcome::Committed).then_some(DeleteOutcome::Deleted))
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
        self.purge_if(record, &Purge { precondition: &Precondition::None, named: None, at, correlation_id })
            .await
            .map(|_| ())
    }

    /// Like [`Self::purge`], if the link is of a revision that the request is meant for.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn purge_if(&self, record: &Record<Link>, purge: &Purge<'_>) -> Result<PurgeOutcome, RepositoryError> {
        const OPERATION: &str = "purge a link";
        let id = &record.identity().id;
        let (outcome, link) = retry_on_conflict(OPERATION, || self.try_to_purge(OPERATION, id, purge)).await?;
        // After the link is replaced: freed before, its id could be another link's while this one still had it. Also if it was
        // purged before, since that attempt may have failed between the two writes.
        let read = if let Record::Link(link) = record { Some(link) } else { None };
        if let (Some(link), PurgeOutcome::Purged) = (link.as_ref().or(read), outcome) {
            self.free_external_id(link).await?;
        }
        Ok(outcome)
    }

    /// Replaces what stands under a code as it is now, with all that belongs to it, and returns it if it was a link; `None` if others
    /// were faster. What a link leads to may have changed since the request has read it, and with it what it watches.
    async fn try_to_purge(
        &self,
        operation: &'static str,
        id: &LinkId,
        purge: &Purge<'_>,
    ) -> Result<Option<(PurgeOutcome, Option<Link>)>, RepositoryError> {
        let found = self.find(&id.code).await?.filter(|found| found.identity().id == *id && !found.is_purged());
        let Some(current) = found else { return Ok(Some((PurgeOutcome::Purged, None))) };
        let (is_meant, guard) = match &current {
            Record::Link(link) => (purge.precondition.admits(link.revision), Precondition::only(link.revision)),
            // A tombstone has no revision.
            Record::Tombstone(_) => (*purge.precondition == Precondition::None, Precondition::None),
        };
        if !is_meant {
            return Ok(Some((PurgeOutcome::Stale, None)));
        }
        let Guard { condition, values } = Guard::of(&guard);
        let tombstone = Tombstone::of_purged(&current, purge.at);
        let item = TombstoneItem::new(&tombstone, &EventId::generate(), purge.correlation_id);
        let item = TombstoneItem { purged_by: purge.named.cloned(), ..item };
        let purged = self
            .0
            .put_item(operation, &item)?
            // Replacing the tombstone of a purged link would publish its event again, and after that the code may have another
            // link.
            .only_if(format!(
                "generation = :generation AND (attribute_not_exists(tombstone) OR tombstone <> :purged){condition}"
            ))
            .values(values)
            .values([(":generation", text(&id.generation)), (":purged", text(PURGED))]);
        let mut transaction = Transaction::new(operation)
            .and(purged.action()?, ())
            .and(self.end_limit(operation, id)?, ())
            .and(self.set_lock(operation, id, None)?, ());
        if let Record::Link(link) = &current {
            transaction = transaction.and_each(self.release_reuse_entry(operation, link).await?, ());
        }
        let is_done = transaction.send(&self.0.client).await? == TransactionOutcome::Committed;
        let link = if let Record::Link(link) = current { Some(link) } else { None };
        Ok(is_done.then_some((PurgeOutcome::Purged, link)))
    }

    /// Stores a link with a single write, which costs half of a transaction.
    async fn put_link(&self, link: &LinkItem) -> Result<CreateOutcome, RepositoryError> {
        const OPERATION: &str = "create a link";
        let put = self.0.put_item(OPERATION, link)?.only_if(CODE_IS_FREE);
        let created = put.values(code_is_free_for(&link.workspace_id)).send().await?;
        Ok(match created {
            Outcome::Done(_) => CreateOutcome::Created,
            // The SDK retries a write whose response was lost. The existing item is then from the first attempt.
            Outcome::Refused(Some(item)) if item.get("change_id") == Some(&text(&link.change_id)) => {
                CreateOutcome::Created
            }
            Outcome::Refused(_) => CreateOutcome::CodeTaken,
        })
    }
}

/// The deletion of a link.
#[derive(Debug, Clone, Copy)]
pub struct Deletion<'a> {
    /// Which revisions it is meant for.
    pub precondition: &'a Precondition,
    /// Who deletes it.
    pub by: &'a UserId,
    /// Who is named to others that hear of it, as in a [`LinkUpdate`].
    pub named: Option<&'a Changer>,
    /// When.
    pub at: Timestamp,
    /// The correlation id of the request.
    pub correlation_id: &'a CorrelationId,
}

/// The purge of a link.
#[derive(Debug, Clone, Copy)]
pub struct Purge<'a> {
    /// Which revisions it is meant for.
    pub precondition: &'a Precondition,
    /// Who purges it; nobody, for a job.
    pub named: Option<&'a Changer>,
    /// When.
    pub at: Timestamp,
    /// The correlation id of the request.
    pub correlation_id: &'a CorrelationId,
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
