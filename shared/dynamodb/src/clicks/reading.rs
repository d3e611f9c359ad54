//! Reading many clicks, of all partitions at a time, as far as a budget goes.

use std::{ops::Range, time::Duration};

use futures_util::future::try_join_all;
use linklet_domain::{Click, ClickId, LinkId, Timestamp};
use tokio::time::Instant;

use super::item::{MarkerItem, WRITE_UNIT};
use super::{ClicksTable, Partition, click_of};
use crate::Result;
use crate::item::{Answers, Key, SortKeys, from_item, size};

/// How much is read.
#[derive(Debug, Clone, Copy)]
pub struct ReadBudget {
    /// How many bytes of clicks at most.
    pub bytes: usize,
    /// When the last call may leave.
    pub until: Instant,
}

/// Clicks that were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadClicks {
    /// Newest first.
    pub clicks: Vec<Click>,
    /// All clicks from this time on are among them, and no others.
    pub since: Timestamp,
    /// How many bytes were read.
    pub bytes: usize,
}

/// A page of clicks that fit, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageOfClicks {
    /// The clicks.
    pub clicks: Vec<Click>,
    /// The click before which the next page begins, which need not fit; `None` on the last page.
    pub next: Option<ClickId>,
}

impl ClicksTable {
    /// Reads the clicks of a time by eventually consistent reads, newest first, as far as the budget goes. A partition that was
    /// read further back than another one counts only as far as all were read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn read_back(&self, link: &LinkId, time: &Range<Timestamp>, budget: ReadBudget) -> Result<ReadClicks> {
        let before = ClickId::first_at(time.end);
        let mut reader = self.reader(link, ClickId::first_at(time.start)..before, budget).await?;
        while reader.read_on(usize::MAX).await? {}
        // Of the moment of a partition's oldest click there may be others.
        let since = reader.read_from().map(|oldest| oldest.at().plus(Duration::from_millis(1)).min(time.end));
        let since = since.unwrap_or(time.start);
        let mut clicks = reader.clicks;
        clicks.retain(|click| click.clicked_at() >= since);
        clicks.sort_by_key(|click| std::cmp::Reverse(click.id));
        Ok(ReadClicks { clicks, since, bytes: budget.bytes - reader.left })
    }

    /// Reads the newest clicks of a time that fit and come before a click, as far as the budget goes.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn page_back(
        &self,
        link: &LinkId,
        ids: Range<ClickId>,
        limit: usize,
        budget: ReadBudget,
        mut fits: impl FnMut(&Click) -> bool,
    ) -> Result<PageOfClicks> {
        let mut reader = self.reader(link, ids, budget).await?;
        let mut clicks: Vec<Click> = Vec::new();
        loop {
            let may_go_on = reader.read_on(limit).await?;
            clicks.extend(reader.clicks.drain(..).filter(&mut fits));
            let read_from = reader.read_from();
            let known = clicks.iter().filter(|click| Some(click.id) >= read_from).count();
            if known > limit || !may_go_on {
                clicks.retain(|click| Some(click.id) >= read_from);
                clicks.sort_by_key(|click| std::cmp::Reverse(click.id));
                let next = if known > limit { clicks.get(limit - 1).map(|last| last.id) } else { read_from };
                clicks.truncate(limit);
                return Ok(PageOfClicks { clicks, next });
            }
        }
    }

    /// A reader of each partition in which clicks with these ids may be.
    async fn reader(&self, link: &LinkId, ids: Range<ClickId>, budget: ReadBudget) -> Result<Reader> {
        let Key { pk, sk } = MarkerItem::key(link);
        let query = self.table.query(&pk, SortKeys::From(&sk));
        let markers = self.table.query_all(OPERATION, query, 1).await?.into_iter();
        let markers: Vec<MarkerItem> = markers.map(|item| from_item(OPERATION, item)).collect::<Result<_, _>>()?;
        let is_wide = markers.iter().any(|marker| marker.until > ids.start.at());
        let wide = Partition::wide_only().filter(|_| is_wide);
        let readers =
            Partition::narrow().chain(wide).map(|partition| self.partition_reader(partition, link, &ids)).collect();
        Ok(Reader { readers, clicks: Vec::new(), ids, left: budget.bytes, until: budget.until })
    }

    fn partition_reader(&self, partition: Partition, link: &LinkId, ids: &Range<ClickId>) -> PartitionReader {
        let (first, last) = (ids.start.to_string(), ids.end.to_string());
        let query = self.table.query(&partition.key(link), SortKeys::Between(&first, &last)).scan_index_forward(false);
        PartitionReader {
            answers: self.table.query_answers(OPERATION, query),
            siblings: partition.siblings(),
            oldest: None,
        }
    }
}

const OPERATION: &str = "read clicks back";

/// Reads all partitions of a link side by side, newest clicks first.
struct Reader {
    readers: Vec<PartitionReader>,
    /// What was read and not taken, in no order.
    clicks: Vec<Click>,
    ids: Range<ClickId>,
    /// How many bytes may still be read.
    left: usize,
    until: Instant,
}

/// A partition that is being read.
struct PartitionReader {
    answers: Answers,
    siblings: usize,
    /// The oldest click that was read.
    oldest: Option<ClickId>,
}

impl Reader {
    /// Reads more of each partition, with so many clicks wanted of all together. Returns whether there may be more to read.
    async fn read_on(&mut self, wanted: usize) -> Result<bool> {
        /// Smaller answers cost more for being rounded than they bring.
        const FEWEST: usize = 8;
        let open: Vec<&mut PartitionReader> =
            self.readers.iter_mut().filter(|reader| !reader.answers.is_at_end).collect();
        // No click is larger than what a write unit pays for.
        let rows = self.left / WRITE_UNIT / open.len().max(1);
        if open.is_empty() || rows < FEWEST || Instant::now() >= self.until {
            return Ok(false);
        }
        let reads = open.into_iter().map(|reader| {
            let share = wanted / reader.siblings + FEWEST;
            reader.next(rows.min(share))
        });
        for (read, size) in try_join_all(reads).await? {
            self.clicks.extend(read.into_iter().filter(|click| self.ids.contains(&click.id)));
            self.left = self.left.saturating_sub(size);
        }
        Ok(self.readers.iter().any(|reader| !reader.answers.is_at_end))
    }

    /// The click from which on all were read; `None` if all were.
    fn read_from(&self) -> Option<ClickId> {
        let unread = self.readers.iter().filter(|reader| !reader.answers.is_at_end);
        unread.map(|reader| reader.oldest.unwrap_or(self.ids.end)).max()
    }
}

impl PartitionReader {
    /// The next clicks, at most so many, and their size in bytes.
    async fn next(&mut self, rows: usize) -> Result<(Vec<Click>, usize)> {
        self.answers.limit_to(rows);
        let items = self.answers.next().await?.unwrap_or_default();
        let bytes = items.iter().map(size).sum();
        let clicks: Vec<Click> = items.into_iter().map(|item| click_of(OPERATION, item)).collect::<Result<_, _>>()?;
        self.oldest = clicks.last().map(|click| click.id).or(self.oldest);
        Ok((clicks, bytes))
    }
}
