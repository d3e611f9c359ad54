//! A link's total: its clicks by open day, those of the past together, and how far its milestones are announced.
//!
//! It follows from the numbers of the link's days. A day's number only ever rises, so writing it can be repeated, and the order
//! doesn't matter. What moves numbers between days and the past, or lowers one, begins another epoch: a consumer that has read
//! the total before then has to read it again.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use linklet_domain::{ClickCount, Day, DaySlice, DayStats, LinkClicks, LinkId, Timestamp, Totals, WorkspaceId};

use super::item::{TOTAL_PREFIX, TotalItem, packed_history, total_key, workspace_partition};
use super::{DayWork, StatsTable};
use crate::item::{Answers, Item, Key, SortKeys, from_item, number};
use crate::write::Outcome;
use crate::{RepositoryError, Result};

const LOAD: &str = "read a link's total";
const WRITE: &str = "write a link's total";

/// What became of a link's total.
pub(super) enum Raised {
    To(Totals),
    Purged,
    Contended,
}

/// Whether milestones are noted in the link's total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Announced {
    Yes,
    Purged,
}

/// A change of a total that ends its epoch.
pub(super) struct TotalChange {
    epoch: u64,
    set: BTreeMap<String, AttributeValue>,
    remove: BTreeSet<String>,
    last_click: Option<Timestamp>,
}

impl TotalChange {
    /// A change of a total that was read.
    pub(super) fn of(before: &Totals) -> Self {
        Self { epoch: before.epoch, set: BTreeMap::new(), remove: BTreeSet::new(), last_click: None }
    }

    /// Moves the time of the last click forward, if this click is later than all that were known.
    pub(super) fn note_click(&mut self, before: &Totals, at: Option<Timestamp>) {
        self.last_click = later(before, at);
    }

    /// Sets an attribute, such as that of a day.
    pub(super) fn set(&mut self, name: &impl ToString, value: AttributeValue) {
        self.remove.remove(&name.to_string());
        self.set.insert(name.to_string(), value);
    }

    /// Sets the clicks of a day or a part of it.
    pub(super) fn set_slice(&mut self, slice: DaySlice, count: ClickCount) {
        self.set(&slice, counts(count));
    }

    /// Sets the latest days of a past that ends with `until`.
    pub(super) fn set_history(&mut self, until: Day, days: &BTreeMap<Day, ClickCount>) {
        self.set(&"history", AttributeValue::B(Blob::new(packed_history(until, days).into_vec())));
    }

    /// Removes the number of a day or a part of it.
    pub(super) fn remove(&mut self, slice: DaySlice) {
        self.remove.insert(slice.to_string());
    }
}

/// The counts of a day as their attribute.
fn counts(ClickCount { clicks, human_clicks }: ClickCount) -> AttributeValue {
    AttributeValue::L(vec![number(&clicks), number(&human_clicks)])
}

/// The time of the last click, in milliseconds.
fn moment(at: Timestamp) -> AttributeValue {
    number(&at.unix_millis())
}

/// This time, if it has to be written since it is later than the last click that was known.
fn later(before: &Totals, at: Option<Timestamp>) -> Option<Timestamp> {
    at.filter(|at| Some(*at) > before.last_click)
}

/// The condition that no click is known that came after `:last_click`. A click of another day may have been noted since the
/// total was read.
const IS_LAST: &str = "(attribute_not_exists(last_click) OR last_click <= :last_click)";

/// The condition that a link isn't purged.
const IS_COUNTED: &str = "attribute_not_exists(purged_at)";

/// The condition that a total is in the epoch `:epoch`.
fn same_epoch(epoch: u64) -> &'static str {
    // Comparing `:epoch` in both cases, since DynamoDB refuses a value that no expression uses.
    if epoch == 0 { "(attribute_not_exists(epoch) OR epoch = :epoch)" } else { "epoch = :epoch" }
}

impl StatsTable {
    /// Reads the clicks of each of a workspace's links that has any.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn totals(&self, workspace: &WorkspaceId, links: &[LinkId]) -> Result<HashMap<LinkId, LinkClicks>> {
        const OPERATION: &str = "read totals";
        let keys = links.iter().map(|link| total_key(workspace, link)).collect();
        read_totals(OPERATION, self.table.batch_get(OPERATION, keys, false, None).await?)
    }

    /// Reads the clicks of all links of a workspace, for sorting by them; `None` if they are more than one request may read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn totals_of_workspace(&self, workspace: &WorkspaceId) -> Result<Option<HashMap<LinkId, LinkClicks>>> {
        const OPERATION: &str = "read a workspace's totals";
        let mut answers = self.answers_of_workspace(OPERATION, workspace);
        let mut totals = HashMap::new();
        while let Some(items) = answers.next().await? {
            totals.extend(read_totals(OPERATION, items)?);
        }
        Ok(answers.is_at_end.then_some(totals))
    }

    /// The links of a workspace that were ever followed and aren't purged, among the next 250 after this one, in the order of their
    /// codes, and after which to read on.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn followed(
        &self,
        workspace: &WorkspaceId,
        after: Option<&LinkId>,
    ) -> Result<(Vec<LinkId>, Option<LinkId>)> {
        const OPERATION: &str = "read which links were followed";
        const AT_ONCE: i32 = 250;
        // `!` sorts before all that a code has, and `~` after it.
        let first = after.map_or_else(|| TOTAL_PREFIX.to_owned(), |link| format!("{TOTAL_PREFIX}{link}!"));
        let range = SortKeys::Between(&first, "TOTAL#~");
        let query = self.table.query(&workspace_partition(workspace), range).limit(AT_ONCE);
        let query = query.filter_expression(IS_COUNTED).projection_expression("pk, sk");
        let mut answers = self.table.query_answers(OPERATION, query);
        let items = answers.next().await?.unwrap_or_default();
        let link_of = |item: &Item| {
            let Key { sk, .. } = from_item(OPERATION, item.clone())?;
            let link = LinkId::parse(sk.strip_prefix(TOTAL_PREFIX).unwrap_or_default());
            link.map_err(RepositoryError::unexpected_item(OPERATION))
        };
        let links = items.iter().map(link_of).collect::<Result<_, _>>()?;
        Ok((links, answers.last_read().map(link_of).transpose()?))
    }

    /// Reads the counts of all links of a workspace that were ever followed, as far as one request may read.
    pub fn counts_of_workspace(&self, workspace: &WorkspaceId) -> CountsReader {
        CountsReader(self.answers_of_workspace(CountsReader::OPERATION, workspace))
    }

    fn answers_of_workspace(&self, operation: &'static str, workspace: &WorkspaceId) -> Answers {
        let query = self.table.query(&workspace_partition(workspace), SortKeys::Beginning(TOTAL_PREFIX));
        self.table.query_within_budget(operation, query)
    }

    /// Raises the number of a day, or of a part of it, in the link's total, unless it is there already.
    pub(super) async fn raise_total(
        &self,
        work: &DayWork<'_>,
        slice: DaySlice,
        before: &Totals,
        stats: &DayStats,
    ) -> Result<Raised> {
        let count = ClickCount::from(stats);
        let last_click = later(before, stats.last_click_at);
        let set_last = if last_click.is_some() { ", last_click = :last_click" } else { "" };
        let raising = self
            .table
            .update(WRITE, total_key(work.workspace, work.link), format!("SET #day = :counts{set_last}"))
            .only_if(format!(
                "{IS_COUNTED} AND {} AND (attribute_not_exists(#day) OR #day[0] < :clicks)",
                same_epoch(before.epoch)
            ))
            .placeholder("day", slice.to_string())
            .values([(":counts", counts(count)), (":clicks", number(&count.clicks)), (":epoch", number(&before.epoch))])
            .returning_new();
        let raising = match last_click {
            Some(at) => raising.and_if(IS_LAST).value(":last_click", moment(at)),
            None => raising,
        };
        match raising.send().await? {
            Outcome::Done(raised) => total_of(raised).map(|(totals, _)| Raised::To(totals)),
            Outcome::Refused(found) => {
                let (totals, is_purged) = total_of(found.unwrap_or_default())?;
                Ok(match () {
                    () if is_purged => Raised::Purged,
                    () if totals.epoch == before.epoch && totals.includes(slice, count.clicks) => Raised::To(totals),
                    () => Raised::Contended,
                })
            }
        }
    }

    /// A transaction action that changes a total and begins its next epoch, if it is in the epoch that was read.
    pub(super) fn change_total(
        &self,
        workspace: &WorkspaceId,
        link: &LinkId,
        change: TotalChange,
    ) -> Result<TransactWriteItem> {
        let TotalChange { epoch, set, remove, last_click } = change;
        let mut expression = "SET epoch = :next".to_owned();
        if last_click.is_some() {
            expression.push_str(", last_click = :last_click");
        }
        for position in 0..set.len() {
            expression.push_str(&format!(", #s{position} = :s{position}"));
        }
        for position in 0..remove.len() {
            expression.push_str(if position == 0 { " REMOVE " } else { ", " });
            expression.push_str(&format!("#r{position}"));
        }
        let mut update = self
            .table
            .update(WRITE, total_key(workspace, link), expression)
            .only_if(format!("{IS_COUNTED} AND {}", same_epoch(epoch)))
            .values([(":epoch", number(&epoch)), (":next", number(&(epoch + 1)))]);
        if let Some(at) = last_click {
            update = update.and_if(IS_LAST).value(":last_click", moment(at));
        }
        for (position, (name, value)) in set.into_iter().enumerate() {
            update = update.placeholder(&format!("s{position}"), name).value(&format!(":s{position}"), value);
        }
        for (position, name) in remove.into_iter().enumerate() {
            update = update.placeholder(&format!("r{position}"), name);
        }
        update.action()
    }

    /// Reads a link's counts consistently, and whether it was purged.
    pub(super) async fn total(&self, workspace: &WorkspaceId, link: &LinkId) -> Result<(Totals, bool)> {
        let item = self.table.get::<TotalItem>(LOAD, total_key(workspace, link)).await?;
        item.map_or_else(|| Ok(Default::default()), counts_of)
    }

    /// Notes that the milestones up to this one are written. A link may have been purged before they were.
    pub(super) async fn note_announced(
        &self,
        workspace: &WorkspaceId,
        link: &LinkId,
        milestone: u64,
    ) -> Result<Announced> {
        let update = self
            .table
            .update("note a milestone", total_key(workspace, link), "SET announced = :milestone")
            .only_if(IS_COUNTED)
            .and_if("(attribute_not_exists(announced) OR announced < :milestone)");
        let Outcome::Refused(found) = update.value(":milestone", number(&milestone)).send().await? else {
            return Ok(Announced::Yes);
        };
        let (_, is_purged) = total_of(found.unwrap_or_default())?;
        Ok(if is_purged { Announced::Purged } else { Announced::Yes })
    }
}

/// The counts of a total's item, and whether its link was purged.
pub(super) fn total_of(item: Item) -> Result<(Totals, bool)> {
    if item.is_empty() { Ok(Default::default()) } else { from_item(LOAD, item).and_then(counts_of) }
}

fn counts_of(item: TotalItem) -> Result<(Totals, bool)> {
    let is_purged = item.purged_at.is_some();
    Ok((item.try_into().map_err(RepositoryError::unexpected_item(LOAD))?, is_purged))
}

/// Reads the counts of links part by part: at most 8 MB, and 1 MB at a time.
#[derive(Debug)]
pub struct CountsReader(Answers);

impl CountsReader {
    const OPERATION: &str = "read a workspace's counts";

    /// The counts of the next links, without purged ones; `None` at the end, or when as much has been read as one request may
    /// read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn next(&mut self) -> Result<Option<Vec<(LinkId, Totals)>>> {
        let Some(items) = self.0.next().await? else { return Ok(None) };
        let mut links = Vec::with_capacity(items.len());
        for item in items {
            let total: TotalItem = from_item(Self::OPERATION, item)?;
            let link = total.link().map_err(RepositoryError::unexpected_item(Self::OPERATION))?;
            let (totals, is_purged) = counts_of(total)?;
            links.extend((!is_purged).then_some((link, totals)));
        }
        Ok(Some(links))
    }

    /// Whether all were read.
    pub fn is_at_end(&self) -> bool {
        self.0.is_at_end
    }
}

fn read_totals(operation: &'static str, items: Vec<Item>) -> Result<HashMap<LinkId, LinkClicks>> {
    let mut totals = HashMap::with_capacity(items.len());
    for item in items {
        let total: TotalItem = from_item(operation, item)?;
        if total.purged_at.is_none() {
            let link = total.link().map_err(RepositoryError::unexpected_item(operation))?;
            totals.insert(link, total.clicks());
        }
    }
    // A correction may have left a link none.
    totals.retain(|_, clicks| clicks.total > 0);
    Ok(totals)
}
