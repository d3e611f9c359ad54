//! The history of links: who has changed where or whether one leads. Each entry is written in the transaction of its change.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{EventId, HistoryEntry, LinkChanges, LinkId, Timestamp, UserId};

use super::LinksTable;
use super::item::{HistoryItem, history_partition};
use crate::item::{SortKeys, from_item};
use crate::{Cursor, Page, Result};

impl LinksTable {
    /// The history of a link, latest change first: at most `limit` entries, after the one of the cursor.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn history(
        &self,
        link: &LinkId,
        limit: usize,
        after: Option<&Cursor<EventId>>,
    ) -> Result<Page<HistoryEntry, EventId>> {
        const OPERATION: &str = "read the history of a link";
        // `~` sorts after every time.
        let before = after.map_or_else(|| "~".to_owned(), Cursor::sort_key);
        let query = self.0.query(&history_partition(link), SortKeys::Before(&before)).scan_index_forward(false);
        let items = self.0.query_all(OPERATION, query, limit + 1).await?.into_iter();
        let items = items.map(|item| from_item::<HistoryItem>(OPERATION, item)).collect::<Result<_, _>>()?;
        let cursor = |item: &HistoryItem| Cursor { at: item.changed_at, id: item.change_id.clone() };
        let Page { items, next } = Page::of(items, limit, cursor);
        let entry = |item: HistoryItem| HistoryEntry { at: item.changed_at, by: item.user_id, changes: item.changes };
        Ok(Page { items: items.into_iter().map(entry).collect(), next })
    }

    /// Deletes the history of a link that is gone.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn delete_history(&self, link: &LinkId) -> Result<()> {
        self.0.delete_partition("delete the history of a link", &history_partition(link)).await
    }

    /// The action that adds a change to a link's history.
    pub(super) fn add_to_history(
        &self,
        (link, change_id): (&LinkId, &EventId),
        (at, by): (Timestamp, UserId),
        changes: LinkChanges,
    ) -> Result<TransactWriteItem> {
        self.0.put_new(&HistoryItem::new(link, at, by, change_id, changes))
    }
}
