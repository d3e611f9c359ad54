//! Reading many clicks, of all partitions at a time, as far as a budget goes.

use std::{ops::Range, time::Duration};

use futures_util::future::try_join_all;
use linklet_domain::{Click, ClickId, LinkId, Timestamp};
use tokio::time::Instant;

use super::{
    ClicksTable, Partition, click_of,
    item::{MarkerItem, WRITE_UNIT},
};
use crate::{
    RepositoryError,
    item::{Answers, Key, SortKeys, size},
};

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

/// A partition that is being read.
struct Lane {
    answers: Answers,
    /// The oldest click that was read.
    oldest: Option<ClickId>,
}

impl ClicksTable {
    /// Reads the clicks of a time by eventually consistent reads, newest first, as far as the budget goes. A partition that was
    /// read further back than another one counts only as far as all were read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn read_back(
        &self,
        link: &LinkId,
        time: &Range<Timestamp>,
        budget: ReadBudget,
    ) -> Result<ReadClicks, RepositoryError> {
        const OPERATION: &str = "read clicks back";
        /// Smaller answers cost more for being rounded than they bring.
        const FEWEST: usize = 8;
        let mut lanes = self.lanes(OPERATION, link, time).await?;
        let (mut clicks, mut left) = (Vec::new(), budget.bytes);
        loop {
            let open: Vec<&mut Lane> = lanes.iter_mut().filter(|lane| !lane.answers.is_at_end()).collect();
            // No click is larger than what a write unit pays for.
            let rows = left / WRITE_UNIT / open.len().max(1);
            if open.is_empty() || rows < FEWEST || Instant::now() >= budget.until {
                break;
            }
            for (read, size) in try_join_all(open.into_iter().map(|lane| lane.next(OPERATION, rows))).await? {
                clicks.extend(read);
                left = left.saturating_sub(size);
            }
        }
        let unread = lanes.iter().filter(|lane| !lane.answers.is_at_end());
        // Of the moment of a partition's oldest click there may be others.
        let until = |lane: &Lane| lane.oldest.map_or(time.end, |oldest| oldest.at().plus(Duration::from_millis(1)));
        let since = unread.map(until).max().unwrap_or(time.start);
        clicks.retain(|click: &Click| (since..time.end).contains(&click.clicked_at()));
        clicks.sort_by(|one, other| other.id.cmp(&one.id));
        Ok(ReadClicks { clicks, since, bytes: budget.bytes - left })
    }

    /// Each partition in which clicks of this time may be.
    async fn lanes(
        &self,
        operation: &'static str,
        link: &LinkId,
        time: &Range<Timestamp>,
    ) -> Result<Vec<Lane>, RepositoryError> {
        let Key { pk, sk } = MarkerItem::key(link);
        let markers: Vec<MarkerItem> = self.table.list(operation, &pk, SortKeys::From(&sk)).await?;
        let is_wide = markers.iter().any(|marker| marker.until > time.start);
        let wide = Partition::wide_only().filter(|_| is_wide);
        Ok(Partition::narrow().chain(wide).map(|partition| self.lane(operation, partition, link, time)).collect())
    }

    fn lane(&self, operation: &'static str, partition: Partition, link: &LinkId, time: &Range<Timestamp>) -> Lane {
        let [first, last] = [time.start, time.end].map(|at| ClickId::first_at(at).to_string());
        let query = self.table.query(&partition.key(link), SortKeys::Between(&first, &last)).scan_index_forward(false);
        Lane { answers: self.table.query_answers(operation, query), oldest: None }
    }
}

impl Lane {
    /// The next clicks, at most so many, and their size in bytes.
    async fn next(&mut self, operation: &'static str, rows: usize) -> Result<(Vec<Click>, usize), RepositoryError> {
        self.answers.limit_to(rows);
        let items = self.answers.next().await?.unwrap_or_default();
        let bytes = items.iter().map(size).sum();
        let clicks: Vec<Click> = items.into_iter().map(|item| click_of(operation, item)).collect::<Result<_, _>>()?;
        self.oldest = clicks.last().map(|click| click.id).or(self.oldest);
        Ok((clicks, bytes))
    }
}
