//! ClicksTable: the raw clicks, written by `redirect` and deleted by `analytics` when a link is purged.

mod imported;
pub(crate) mod item;
mod reading;

use std::{collections::BTreeSet, ops::Range, time::Duration};

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use linklet_domain::{Click, ClickId, LinkId, Spread, Timestamp, lifetimes};

pub use self::item::Partition;
use self::item::{ClickItem, MARKER, MarkerItem, click_key, item_of};
pub use self::reading::{PageOfClicks, ReadBudget, ReadClicks};
use crate::item::{Item, Key, SortKeys, Table, from_item, number, text};
use crate::write::Outcome;
use crate::{RepositoryError, Result};

/// The table of raw clicks.
#[derive(Debug, Clone)]
pub struct ClicksTable {
    table: Table,
    /// How long clicks are kept.
    pub kept_for: Duration,
}

impl ClicksTable {
    /// A repository for this table.
    pub fn new(table: Table) -> Self {
        Self { table, kept_for: lifetimes::RAW_CLICKS }
    }

    /// Has DynamoDB delete new clicks so long after they happened.
    #[must_use]
    pub fn keeping_clicks_for(self, kept_for: Duration) -> Self {
        Self { kept_for, ..self }
    }

    /// Stores a click like this; wide only before the time of a [marker](Self::widen). Repeating it changes nothing, since the
    /// click's id is its key.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn record(&self, click: &Click, spread: Spread) -> Result<()> {
        let put = self.table.client.put_item().table_name(&self.table.name);
        let put = put.set_item(Some(self.item_of(click, spread)?)).send().await;
        put.map(|_| ()).map_err(RepositoryError::unavailable(RECORD))
    }

    /// The item as which a click is stored.
    ///
    /// # Errors
    /// When it can't be serialised.
    pub fn item_of(&self, click: &Click, spread: Spread) -> Result<Item> {
        item_of(RECORD, click, spread, self.kept_for)
    }

    /// Writes the marker that tells readers of wide clicks: from now on, those of the link that are followed before this time
    /// may be stored wide. A marker that is there for later clicks, or for clicks that are kept longer, stays so.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; then no click may be stored wide.
    pub async fn widen(&self, link: &LinkId, until: Timestamp) -> Result<()> {
        const OPERATION: &str = "mark a link whose clicks are stored wide";
        const TAKES_NOTHING_BACK: &str = "attribute_not_exists(pk) OR (#until <= :until AND #ttl <= :ttl)";
        const TRIES: usize = 5;
        let mut marker = MarkerItem::new(link, until, self.kept_for);
        for _ in 0..TRIES {
            let put = self.table.put_item(OPERATION, &marker)?.only_if(TAKES_NOTHING_BACK);
            let values = [(":until", text(&marker.until)), (":ttl", number(&marker.ttl))];
            let Outcome::Refused(found) = put.values(values).send().await? else { return Ok(()) };
            let found: MarkerItem = from_item(OPERATION, found.unwrap_or_default())?;
            marker = marker.joined_with(&found);
            if marker == found {
                return Ok(());
            }
        }
        Err(RepositoryError::contention(OPERATION))
    }

    /// Reads the latest clicks of a link, newest first. Each partition is asked for its share and a few more, and again only if
    /// it may hold more of the latest. So the cost depends on `limit` and not on the number of clicks. Partitions that have only
    /// wide clicks are read if the first ones have a marker, and not enough clicks that are later than any wide one.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn latest(&self, link: &LinkId, limit: usize) -> Result<Vec<Click>> {
        const OPERATION: &str = "read the latest clicks";
        let mut open: Vec<Position> = Partition::narrow().map(Position::newest_of).collect();
        let mut latest: Vec<ClickItem> = Vec::new();
        while !open.is_empty() {
            let pages = open.iter().map(|position| self.page_of(OPERATION, link, position, limit));
            let (mut more, mut marked_until) = (Vec::new(), None);
            for page in futures_util::future::try_join_all(pages).await? {
                more.extend(page.next);
                marked_until = marked_until.or(page.marked_until);
                latest.extend(page.clicks);
            }
            latest.sort_by(|left, right| right.key.sk.cmp(&left.key.sk));
            latest.truncate(limit);
            let last_shown = latest.get(limit - 1).map(|click| click.key.sk.clone());
            // A partition is read on while its next click may be newer than the last of the result.
            open = more.into_iter().filter(|position| position.before > last_shown).collect();
            if marked_until.map(|until| ClickId::first_at(until).to_string()) > last_shown {
                open.extend(Partition::wide_only().map(Position::newest_of));
            }
        }
        let click = |item: ClickItem| item.into_click().map_err(RepositoryError::unexpected_item(OPERATION));
        latest.into_iter().map(click).collect()
    }

    /// Reads the newest clicks of a partition, from a position on.
    async fn page_of(
        &self,
        operation: &'static str,
        link: &LinkId,
        position: &Position,
        limit: usize,
    ) -> Result<NewestOf> {
        let partition = position.partition;
        let rows = limit / partition.siblings() + 8;
        let sort_keys = position.before.as_deref().map_or(SortKeys::All, SortKeys::Before);
        let query = self.table.query(&partition.key(link), sort_keys).scan_index_forward(false);
        let (markers, clicks) = without_marker(self.table.query_all(operation, query, rows).await?);
        let is_full = markers.len() + clicks.len() == rows;
        let marker = markers.into_iter().next().map(|item| from_item::<MarkerItem>(operation, item)).transpose()?;
        let clicks: Vec<ClickItem> =
            clicks.into_iter().map(|item| from_item(operation, item)).collect::<Result<_, _>>()?;
        let last = clicks.last().filter(|_| is_full);
        let next = last.map(|last| Position { partition, before: Some(last.key.sk.clone()) });
        Ok(NewestOf { marked_until: marker.map(|marker| marker.until), clicks, next })
    }

    /// Reads the oldest click of a link.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn first(&self, link: &LinkId) -> Result<Option<Click>> {
        let query = |partition: &str| self.table.query(partition, SortKeys::Before(MARKER));
        let found = self.clicks_from(Timestamp::EPOCH, "read the oldest click", link, query, 1).await?;
        Ok(found.into_iter().min_by_key(Click::clicked_at))
    }

    /// Reads all clicks of a link in this time, consistently and in no order.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn recorded_between(&self, link: &LinkId, time: &Range<Timestamp>) -> Result<Vec<Click>> {
        let [first, last] = [time.start, time.end].map(|at| ClickId::first_at(at).to_string());
        let query =
            |partition: &str| self.table.query(partition, SortKeys::Between(&first, &last)).consistent_read(true);
        self.clicks_from(time.start, "read clicks", link, query, usize::MAX).await
    }

    /// Queries each partition in which clicks of this time or later may be.
    async fn clicks_from(
        &self,
        time: Timestamp,
        operation: &'static str,
        link: &LinkId,
        query: impl Fn(&str) -> QueryFluentBuilder,
        limit: usize,
    ) -> Result<Vec<Click>> {
        let Key { pk, sk } = MarkerItem::key(link);
        let (markers, mut found) = futures_util::try_join!(
            self.table.list::<MarkerItem>(operation, &pk, SortKeys::From(&sk)),
            self.query_each(Partition::narrow(), operation, link, &query, limit),
        )?;
        if markers.iter().any(|marker| marker.until > time) {
            found.extend(self.query_each(Partition::wide_only(), operation, link, &query, limit).await?);
        }
        found.into_iter().map(|item| click_of(operation, item)).collect()
    }

    async fn query_each(
        &self,
        partitions: impl Iterator<Item = Partition>,
        operation: &'static str,
        link: &LinkId,
        query: impl Fn(&str) -> QueryFluentBuilder,
        limit: usize,
    ) -> Result<Vec<Item>> {
        let found = partitions.map(|partition| self.table.query_all(operation, query(&partition.key(link)), limit));
        Ok(futures_util::future::try_join_all(found).await?.into_iter().flatten().collect())
    }

    /// Deletes some 1,000 clicks of a link, and returns whether there may be more, so that a caller can stop in between.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; then part of it may be done.
    pub async fn purge_some(&self, link: &LinkId) -> Result<Purged> {
        const OPERATION: &str = "purge clicks";
        const FROM_EACH: usize = 62;
        const FROM_EACH_WIDE: usize = 20;
        let keys = |partition: &str| self.table.query(partition, SortKeys::All).projection_expression("pk, sk");
        let found = self.query_each(Partition::narrow(), OPERATION, link, keys, FROM_EACH).await?;
        let (marker, mut clicks) = without_marker(found);
        if clicks.is_empty() && !marker.is_empty() {
            clicks = self.query_each(Partition::wide_only(), OPERATION, link, keys, FROM_EACH_WIDE).await?;
        }
        // The marker goes last, since it tells whoever repeats a purge that has died where clicks may be.
        let (keys, purged) = if clicks.is_empty() { (marker, Purged::All) } else { (clicks, Purged::Some) };
        self.table.delete_all(OPERATION, keys).await?;
        Ok(purged)
    }

    /// Deletes clicks of a link, however they were stored. A marker stays, since a purge may still need it.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; then part of it may be done.
    pub async fn delete(&self, link: &LinkId, ids: impl IntoIterator<Item = &ClickId>) -> Result<()> {
        let places = |id| BTreeSet::from([Spread::Narrow, Spread::Wide].map(|spread| click_key(link, id, spread)));
        let keys = ids.into_iter().flat_map(places).map(Key::into_item).collect();
        self.table.delete_all("delete clicks", keys).await
    }
}

/// The marker, if it is among a link's items, and the clicks.
fn without_marker(items: Vec<Item>) -> (Vec<Item>, Vec<Item>) {
    let marker = text(MARKER);
    items.into_iter().partition(|item| item.get("sk") == Some(&marker))
}

const RECORD: &str = "record a click";

fn click_of(operation: &'static str, item: Item) -> Result<Click> {
    let item: ClickItem = from_item(operation, item)?;
    item.into_click().map_err(RepositoryError::unexpected_item(operation))
}

/// A position in a partition.
#[derive(Debug)]
struct Position {
    partition: Partition,
    before: Option<String>,
}

impl Position {
    fn newest_of(partition: Partition) -> Self {
        Self { partition, before: None }
    }
}

/// Clicks of a partition, newest first.
struct NewestOf {
    /// What the marker says, if it is on the page.
    marked_until: Option<Timestamp>,
    clicks: Vec<ClickItem>,
    /// Where to read on, if there may be more.
    next: Option<Position>,
}

/// Whether clicks of a purged link are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purged {
    /// Some clicks were deleted, and there may be more.
    Some,
    /// None is left.
    All,
}
