//! LinksTable: links and tombstones, which are looked up by code and listed by workspace.

mod blocks;
mod case_aliases;
mod edit;
mod events;
mod expiry;
mod external;
mod history;
pub(crate) mod item;
mod link_passwords;
mod listing;
mod ownership;
mod reuse;
mod uses;

use aws_sdk_dynamodb::types::AttributeValue;
use linklet_domain::{Link, Record, RedirectTarget, ShortCode, SortOrder, WorkspaceId};

pub use self::blocks::ScannedLinks;
pub use self::edit::{EditContext, EditOutcome};
pub use self::expiry::{CleanupStats, ExpiryMarker};
pub use self::item::FirstAnswer;
use self::item::{LinkItem, PURGED, RedirectItem, TOMBSTONE, TombstoneItem, link_key};
pub use self::listing::{LinkRange, LinkReader};
pub use self::ownership::OwnedLinks;
pub use self::reuse::{AnyCase, Creation, Reusable};
pub use self::uses::{Exhaustion, UseOutcome};
use crate::item::{Item, Key, Table, from_item, text};
use crate::write::Outcome;
use crate::{Consistency, Cursor, Page, Result};

/// The repository of links: LinksTable.
#[derive(Debug, Clone)]
pub struct LinksTable(pub Table);

/// The outcome of creating a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreateOutcome {
    /// The link is created.
    Created,
    /// Another link or a tombstone has the code; retry with another code.
    CodeTaken,
    /// A concurrent request has shortened the same URL, or used the same idempotency key or external id; read again and retry.
    Conflict,
    /// Another link of the workspace has the external id.
    ExternalIdTaken(ShortCode),
}

impl LinksTable {
    const BY_WORKSPACE: &str = "by-workspace";

    /// Opens a connection to DynamoDB ahead of the first request, since the TLS handshake is the largest part of a first call.
    /// It reads a key that can't exist.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn open_connection(&self) -> Result<()> {
        let no_link = Key::new("LINK#", "LINK");
        self.0.find("open a connection", no_link, Consistency::Eventual).await.map(|_| ())
    }

    /// Reads what a redirect needs with an eventually consistent read, which costs half of a strongly consistent one. A new
    /// link is visible within milliseconds. Where there is none under the code as it was typed, it is that of a custom code in
    /// another case, for one or two such reads more.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn redirect_target(&self, code: &ShortCode) -> Result<Option<Record<RedirectTarget>>> {
        match self.target_by(code, Consistency::Eventual).await? {
            None => Box::pin(self.in_another_case(code)).await,
            found => Ok(found),
        }
    }

    /// What a redirect needs, by a strongly consistent read, for those who have found that they know something out of date.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn current_target(&self, code: &ShortCode) -> Result<Option<Record<RedirectTarget>>> {
        self.target_by(code, Consistency::Strong).await
    }

    async fn target_by(&self, code: &ShortCode, consistency: Consistency) -> Result<Option<Record<RedirectTarget>>> {
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
    pub async fn find(&self, code: &ShortCode) -> Result<Option<Record<Link>>> {
        const OPERATION: &str = "read a link";
        let found = self.0.find(OPERATION, link_key(code), Consistency::Strong).await?;
        found.map(|item| record_of(OPERATION, item)).transpose()
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
    ) -> Result<Page<Link, ShortCode>> {
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

    /// Stores a link with a single write, which costs half of a transaction.
    async fn put_link(&self, link: &LinkItem) -> Result<CreateOutcome> {
        const OPERATION: &str = "create a link";
        let put = self.0.put_item(OPERATION, link)?.only_if(CODE_IS_FREE);
        let created = put.values(code_is_free_for(&link.identity.workspace)).send().await?;
        Ok(match created {
            Outcome::Done(_) => CreateOutcome::Created,
            // The SDK retries a write whose response was lost. The existing item is then from the first attempt.
            Outcome::Refused(Some(item)) if item.get("change_id") == Some(&text(&link.last_write.id)) => {
                CreateOutcome::Created
            }
            Outcome::Refused(_) => CreateOutcome::CodeTaken,
        })
    }
}

/// The condition that a code can be taken: it was never used, or its link was purged in the same workspace and no operator had suspended it.
const CODE_IS_FREE: &str = "attribute_not_exists(pk) OR (tombstone = :purged AND workspace_id = :workspace AND attribute_not_exists(suspensions))";

/// The values of [`CODE_IS_FREE`].
fn code_is_free_for(workspace: &WorkspaceId) -> [(&'static str, AttributeValue); 2] {
    [(":purged", text(PURGED)), (":workspace", text(workspace))]
}

/// A whole link, or a tombstone.
fn record_of(operation: &'static str, item: Item) -> Result<Record<Link>> {
    read(operation, item, |item| from_item::<LinkItem>(operation, item).map(LinkItem::into_link))
}

/// Deserialises a link or a tombstone, which have the same key.
fn read<L>(operation: &'static str, item: Item, link: impl FnOnce(Item) -> Result<L>) -> Result<Record<L>> {
    if item.contains_key(TOMBSTONE) {
        return from_item::<TombstoneItem>(operation, item).map(|item| Record::Tombstone(item.tombstone));
    }
    link(item).map(Record::Link)
}
