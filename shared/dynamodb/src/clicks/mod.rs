//! ClicksTable: the raw clicks, written by `redirect` and deleted by `analytics` when a link is purged.

pub(crate) mod item;

use std::{ops::Range, time::Duration};

use aws_sdk_dynamodb::Client;
use linklet_domain::{Click, ClickId, LinkId, Timestamp, lifetimes};

use self::item::{ClickItem, SHARDS, click_key, item_of, partition, shard_of};
use crate::{
    RepositoryError,
    item::{Item, SortKeys, Table, from_item},
};

/// The table of raw clicks.
#[derive(Debug, Clone)]
pub struct ClicksTable {
    table: Table,
    kept_for: Duration,
}

impl ClicksTable {
    /// The table with this name.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self { table: Table { client, name: name.into() }, kept_for: lifetimes::RAW_CLICKS }
    }

    /// Has DynamoDB delete new clicks so long after they happened.
    #[must_use]
    pub fn keeping_clicks_for(self, kept_for: Duration) -> Self {
        Self { kept_for, ..self }
    }

    /// The number of partition keys over which the clicks of a link are spread.
    pub const SHARDS: u32 = SHARDS;

    /// The shard of a click with this id, from 0.
    #[must_use]
    pub fn shard_of(id: &ClickId) -> u32 {
        shard_of(id)
    }

    /// Stores a click. Repeating it changes nothing, since its id is its key.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn record(&self, click: &Click) -> Result<(), RepositoryError> {
        const OPERATION: &str = "record a click";
        self.table
            .client
            .put_item()
            .table_name(&self.table.name)
            .set_item(Some(item_of(OPERATION, click, self.kept_for)?))
            .send()
            .await
            .map_err(RepositoryError::unavailable(OPERATION))?;
        Ok(())
    }

    /// Reads the latest clicks of a link, newest first. Each of the 16 shards is asked for its share and a few more, and again
    /// only if it may hold more of the latest. So the cost depends on `limit` and not on the number of clicks.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn latest(&self, link: &LinkId, limit: usize) -> Result<Vec<Click>, RepositoryError> {
        const OPERATION: &str = "read the latest clicks";
        let page = limit / SHARDS as usize + 8;
        let mut open: Vec<ShardPage> = (0..SHARDS).map(|shard| ShardPage { shard, before: None }).collect();
        let mut latest: Vec<ClickItem> = Vec::new();
        while !open.is_empty() {
            let pages = open.iter().map(|next| self.page_of(OPERATION, link, next, page));
            let mut more = Vec::new();
            for (next, found) in open.iter().zip(futures_util::future::try_join_all(pages).await?) {
                if found.len() == page {
                    more.extend(found.last().map(|last| ShardPage { before: Some(last.key.sk.clone()), ..*next }));
                }
                latest.extend(found);
            }
            latest.sort_by(|left, right| right.key.sk.cmp(&left.key.sk));
            latest.truncate(limit);
            // A shard is read on while its next click may be newer than the last of the result.
            let last_shown = latest.get(limit - 1).map(|click| click.key.sk.clone());
            open = more.into_iter().filter(|shard| shard.before > last_shown).collect();
        }
        let click = |item: ClickItem| item.into_click().map_err(RepositoryError::unexpected_item(OPERATION));
        latest.into_iter().map(click).collect()
    }

    /// Reads the newest clicks of a shard, from a position on.
    async fn page_of(
        &self,
        operation: &'static str,
        link: &LinkId,
        page: &ShardPage,
        limit: usize,
    ) -> Result<Vec<ClickItem>, RepositoryError> {
        let sort_keys = page.before.as_deref().map_or(SortKeys::All, SortKeys::Before);
        let query = self.table.query(&partition(link, page.shard), sort_keys).scan_index_forward(false);
        let found = self.table.query_all(operation, query, limit).await?;
        found.into_iter().map(|item| from_item(operation, item)).collect()
    }

    /// Reads the oldest click of a link.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn first(&self, link: &LinkId) -> Result<Option<Click>, RepositoryError> {
        const OPERATION: &str = "read the oldest click";
        let shards = (0..SHARDS).map(|shard| {
            let query = self.table.query(&partition(link, shard), SortKeys::All);
            self.table.query_all(OPERATION, query, 1)
        });
        let found = futures_util::future::try_join_all(shards).await?;
        let clicks: Result<Vec<Click>, _> = found.into_iter().flatten().map(|item| click_of(OPERATION, item)).collect();
        Ok(clicks?.into_iter().min_by_key(Click::clicked_at))
    }

    /// Reads all clicks of a link in this time, consistently and in no order.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn recorded_between(
        &self,
        link: &LinkId,
        time: &Range<Timestamp>,
    ) -> Result<Vec<Click>, RepositoryError> {
        const OPERATION: &str = "read clicks";
        let [first, last] = [time.start, time.end].map(|at| ClickId::first_at(at).to_string());
        let shards = (0..SHARDS).map(|shard| {
            let query = self.table.query(&partition(link, shard), SortKeys::Between(&first, &last));
            self.table.query_all(OPERATION, query.consistent_read(true), usize::MAX)
        });
        let found = futures_util::future::try_join_all(shards).await?;
        found.into_iter().flatten().map(|item| click_of(OPERATION, item)).collect()
    }

    /// Deletes some 1,000 clicks of a link, and returns whether there may be more, so that a caller can stop in between.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; then part of it may be done.
    pub async fn purge_some(&self, link: &LinkId) -> Result<Purged, RepositoryError> {
        const OPERATION: &str = "purge clicks";
        const FROM_EACH: usize = 62;
        let shards = (0..SHARDS).map(|shard| {
            let query = self.table.query(&partition(link, shard), SortKeys::All).projection_expression("pk, sk");
            self.table.query_all(OPERATION, query, FROM_EACH)
        });
        let keys: Vec<Item> = futures_util::future::try_join_all(shards).await?.into_iter().flatten().collect();
        if keys.is_empty() {
            return Ok(Purged::All);
        }
        self.table.delete_all(OPERATION, keys).await?;
        Ok(Purged::Some)
    }

    /// Deletes one click.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn delete(&self, link: &LinkId, id: &ClickId) -> Result<(), RepositoryError> {
        self.table.delete("delete a click", click_key(link, id)).send().await.map(|_| ())
    }
}

fn click_of(operation: &'static str, item: Item) -> Result<Click, RepositoryError> {
    let item: ClickItem = from_item(operation, item)?;
    item.into_click().map_err(RepositoryError::unexpected_item(operation))
}

/// A position in a shard.
#[derive(Debug, Clone)]
struct ShardPage {
    shard: u32,
    before: Option<String>,
}

/// Whether clicks of a purged link are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purged {
    /// Some clicks were deleted, and there may be more.
    Some,
    /// None is left.
    All,
}
