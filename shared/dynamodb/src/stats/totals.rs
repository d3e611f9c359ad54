//! A link's total: its clicks by open day, those of the past together, and how far its milestones are announced.
//!
//! It follows from the numbers of the link's days. A day's number only ever rises, so writing it can be repeated, and the order
//! doesn't matter. What moves numbers between days and the past, or lowers one, begins another epoch: a consumer that has read
//! the total before then has to read it again.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_dynamodb::{
    error::SdkError,
    operation::update_item::UpdateItemError,
    primitives::Blob,
    types::{AttributeValue, ReturnValue, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update},
};
use linklet_domain::{ClickCount, Day, DayStats, LinkClicks, LinkId, Timestamp, Totals, WorkspaceId};

use super::{
    DayWork, StatsTable,
    item::{TOTAL_PREFIX, TotalItem, packed_history, total_key, workspace_partition},
};
use crate::{
    RepositoryError,
    item::{Answers, Item, from_item, number, retry_transaction_conflicts, text},
};

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

    /// Sets the clicks of a day.
    pub(super) fn set_day(&mut self, day: Day, count: ClickCount) {
        self.set(&day, counts(count));
    }

    /// Sets the latest days of a past that ends with `until`.
    pub(super) fn set_history(&mut self, until: Day, days: &BTreeMap<Day, ClickCount>) {
        self.set(&"history", AttributeValue::B(Blob::new(packed_history(until, days).into_vec())));
    }

    /// Removes the number of a day.
    pub(super) fn remove(&mut self, day: Day) {
        self.remove.insert(day.to_string());
    }
}

/// The counts of a day as their attribute.
fn counts(ClickCount { clicks, people }: ClickCount) -> AttributeValue {
    AttributeValue::L(vec![number(&clicks), number(&people)])
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
    pub async fn totals(
        &self,
        workspace: &WorkspaceId,
        links: &[LinkId],
    ) -> Result<HashMap<LinkId, LinkClicks>, RepositoryError> {
        const OPERATION: &str = "read totals";
        let mut totals = HashMap::with_capacity(links.len());
        for batch in links.chunks(Self::MAX_BATCH) {
            let keys = batch.iter().map(|link| total_key(workspace, link)).collect();
            totals.extend(read_totals(OPERATION, self.0.batch_get(OPERATION, keys, false, None).await?)?);
        }
        Ok(totals)
    }

    /// Reads the clicks of all links of a workspace, for sorting by them; `None` if they are more than one request may read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn totals_of_workspace(
        &self,
        workspace: &WorkspaceId,
    ) -> Result<Option<HashMap<LinkId, LinkClicks>>, RepositoryError> {
        const OPERATION: &str = "read a workspace's totals";
        let mut answers = self.answers_of_workspace(OPERATION, workspace);
        let mut totals = HashMap::new();
        while let Some(items) = answers.next().await? {
            totals.extend(read_totals(OPERATION, items)?);
        }
        Ok(answers.is_at_end().then_some(totals))
    }

    /// Reads the counts of all links of a workspace that were ever followed, as far as one request may read.
    #[must_use]
    pub fn counts_of_workspace(&self, workspace: &WorkspaceId) -> CountsReader {
        CountsReader(self.answers_of_workspace(CountsReader::OPERATION, workspace))
    }

    fn answers_of_workspace(&self, operation: &'static str, workspace: &WorkspaceId) -> Answers {
        let query = self
            .0
            .client
            .query()
            .key_condition_expression("pk = :workspace AND begins_with(sk, :totals)")
            .expression_attribute_values(":workspace", text(&workspace_partition(workspace)))
            .expression_attribute_values(":totals", text(TOTAL_PREFIX));
        self.0.query_within_budget(operation, query)
    }

    /// Raises the number of a day in the link's total, unless it is there already.
    pub(super) async fn raise_total(
        &self,
        work: &DayWork<'_>,
        before: &Totals,
        stats: &DayStats,
    ) -> Result<Raised, RepositoryError> {
        let count = ClickCount::from(stats);
        let last_click = later(before, stats.last_click_at);
        let (set_last, and_is_last) = if last_click.is_some() {
            (", last_click = :last_click", format!(" AND {IS_LAST}"))
        } else {
            ("", String::new())
        };
        let update = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(total_key(work.workspace, work.link).into_item()))
            .update_expression(format!("SET #day = :counts{set_last}"))
            .condition_expression(format!(
                "{IS_COUNTED} AND {} AND (attribute_not_exists(#day) OR #day[0] < :clicks){and_is_last}",
                same_epoch(before.epoch)
            ))
            .expression_attribute_names("#day", work.day.to_string())
            .expression_attribute_values(":counts", counts(count))
            .expression_attribute_values(":clicks", number(&count.clicks))
            .expression_attribute_values(":epoch", number(&before.epoch))
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let update = match last_click {
            Some(at) => update.expression_attribute_values(":last_click", moment(at)),
            None => update,
        };
        let raised = retry_transaction_conflicts(|| update.clone().send()).await;
        match raised.map_err(SdkError::into_service_error) {
            Ok(raised) => total_of(raised.attributes.unwrap_or_default()).map(|(totals, _)| Raised::To(totals)),
            Err(UpdateItemError::ConditionalCheckFailedException(refused)) => {
                let (totals, is_purged) = total_of(refused.item.unwrap_or_default())?;
                Ok(match () {
                    () if is_purged => Raised::Purged,
                    () if totals.epoch == before.epoch && totals.includes(work.day, count.clicks) => Raised::To(totals),
                    () => Raised::Contended,
                })
            }
            Err(error) => Err(RepositoryError::unavailable(WRITE)(error)),
        }
    }

    /// A transaction action that changes a total and begins its next epoch, if it is in the epoch that was read.
    pub(super) fn change_total(
        &self,
        workspace: &WorkspaceId,
        link: &LinkId,
        change: TotalChange,
    ) -> Result<TransactWriteItem, RepositoryError> {
        let TotalChange { epoch, set, remove, last_click } = change;
        let mut update = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(total_key(workspace, link).into_item()))
            .expression_attribute_values(":epoch", number(&epoch))
            .expression_attribute_values(":next", number(&(epoch + 1)));
        let mut condition = format!("{IS_COUNTED} AND {}", same_epoch(epoch));
        let mut expression = "SET epoch = :next".to_owned();
        if let Some(at) = last_click {
            condition.push_str(&format!(" AND {IS_LAST}"));
            expression.push_str(", last_click = :last_click");
            update = update.expression_attribute_values(":last_click", moment(at));
        }
        for (position, (name, value)) in set.into_iter().enumerate() {
            expression.push_str(&format!(", #s{position} = :s{position}"));
            update = update
                .expression_attribute_names(format!("#s{position}"), name)
                .expression_attribute_values(format!(":s{position}"), value);
        }
        for (position, name) in remove.into_iter().enumerate() {
            expression.push_str(if position == 0 { " REMOVE " } else { ", " });
            expression.push_str(&format!("#r{position}"));
            update = update.expression_attribute_names(format!("#r{position}"), name);
        }
        let update = update.condition_expression(condition).update_expression(expression);
        let update = update.build().map_err(RepositoryError::unavailable(WRITE))?;
        Ok(TransactWriteItem::builder().update(update).build())
    }

    /// Reads a link's counts consistently, and whether it was purged.
    pub(super) async fn total(
        &self,
        workspace: &WorkspaceId,
        link: &LinkId,
    ) -> Result<(Totals, bool), RepositoryError> {
        let item = self.0.get::<TotalItem>(LOAD, total_key(workspace, link)).await?;
        item.map_or_else(|| Ok(Default::default()), counts_of)
    }

    /// Notes that the milestones up to this one are written. A link may have been purged before they were.
    pub(super) async fn note_announced(
        &self,
        workspace: &WorkspaceId,
        link: &LinkId,
        milestone: u64,
    ) -> Result<Announced, RepositoryError> {
        let update = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(total_key(workspace, link).into_item()))
            .update_expression("SET announced = :milestone")
            .condition_expression(format!(
                "{IS_COUNTED} AND (attribute_not_exists(announced) OR announced < :milestone)"
            ))
            .expression_attribute_values(":milestone", number(&milestone))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        match retry_transaction_conflicts(|| update.clone().send()).await.map_err(SdkError::into_service_error) {
            Ok(_) => Ok(Announced::Yes),
            Err(UpdateItemError::ConditionalCheckFailedException(refused)) => {
                let (_, is_purged) = total_of(refused.item.unwrap_or_default())?;
                Ok(if is_purged { Announced::Purged } else { Announced::Yes })
            }
            Err(error) => Err(RepositoryError::unavailable("note a milestone")(error)),
        }
    }
}

/// The counts of a total's item, and whether its link was purged.
pub(super) fn total_of(item: Item) -> Result<(Totals, bool), RepositoryError> {
    if item.is_empty() { Ok(Default::default()) } else { from_item(LOAD, item).and_then(counts_of) }
}

fn counts_of(item: TotalItem) -> Result<(Totals, bool), RepositoryError> {
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
    pub async fn next(&mut self) -> Result<Option<Vec<(LinkId, Totals)>>, RepositoryError> {
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
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.0.is_at_end()
    }
}

fn read_totals(operation: &'static str, items: Vec<Item>) -> Result<HashMap<LinkId, LinkClicks>, RepositoryError> {
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
