//! Results of checks: those of a workspace's tick share items.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use linklet_domain::{CheckResult, Invalid, PlannedTick, Target, TargetMark, Timestamp, WorkspaceId, lifetimes};

use super::item::{ResultsItem, results_partition};
use super::packed::{pack, unpack};
use super::{DueTarget, WatchTable};
use crate::Result;
use crate::item::{IS_NEW, Item, SortKeys, from_item, to_item};
use crate::write::Outcome;

/// The latest start of a check after its slot: the longest check interval.
const LATEST_START: Duration = Duration::from_secs(60);

/// Up to where a workspace's results were read for a page of a target's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultsCursor(String);

impl ResultsCursor {
    /// How many bytes a sort key of results has at most, which is fewer than DynamoDB allows.
    const LONGEST: usize = 64;

    /// Encodes the cursor for clients.
    pub fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(&self.0)
    }

    /// Decodes a cursor that a client sent.
    ///
    /// # Errors
    /// When the text is not a cursor made by [`Self::encode`].
    pub fn decode(text: &str) -> std::result::Result<Self, Invalid> {
        let key = URL_SAFE_NO_PAD.decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let is_of_results = |key: &String| {
            let slot = key.split('#').next().and_then(|slot| Timestamp::parse(slot).ok());
            key.len() <= Self::LONGEST && slot.is_some()
        };
        key.filter(is_of_results).map(Self).ok_or_else(|| Invalid::new("no cursor of results"))
    }
}

/// A target with its result in a tick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedTarget {
    /// The target, as it was read at the beginning of the tick.
    pub target: DueTarget,
    /// The result of the check.
    pub result: CheckResult,
}

impl WatchTable {
    /// How many results an item has at most, so that it is written by one unit.
    pub const RESULTS_OF_AN_ITEM: usize = 64;
    /// How many items are read at least.
    const LEAST_ITEMS: usize = 8;
    /// How many items are read at most for the latest results of a workspace's targets: 1 MB, for 128 read units.
    const LATEST_ITEMS: usize = 1_024;

    /// Stores up to [`Self::RESULTS_OF_AN_ITEM`] results of a workspace's tick, and returns whether they are what is stored now:
    /// not if this part of the tick has other results already.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn store_results(&self, tick: &PlannedTick, part: usize, results: &[CheckedTarget]) -> Result<bool> {
        const STORE: &str = "store results";
        let Some(CheckedTarget { target: DueTarget { workspace, .. }, .. }) = results.first() else { return Ok(true) };
        let packed = pack(tick.slot, results.iter().map(|checked| (checked.target.mark(), &checked.result)));
        let item = ResultsItem::new(workspace, tick.slot, tick.partition, part, packed);
        Ok(match self.table.put_item(STORE, &item)?.only_if(IS_NEW).send().await? {
            Outcome::Done(_) => true,
            // The answer to an earlier try may have been lost.
            Outcome::Refused(found) => found == Some(to_item(STORE, &item)?),
        })
    }

    /// Whether the latest result of a target between two ticks that failed is a success, by strongly consistent reads, of 8 MB at
    /// most: the first tick is the one before in general.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub(super) async fn has_succeeded(&self, target: &DueTarget, since: Timestamp, until: Timestamp) -> Result<bool> {
        const OPERATION: &str = "read the results since a failure";
        let (first, last) = (since.to_string(), until.to_string());
        let query = self.table.query(&results_partition(&target.workspace), SortKeys::Between(&first, &last));
        let query = query.consistent_read(true).scan_index_forward(false).limit(items(Self::LEAST_ITEMS));
        let (mut answers, mark) = (self.table.query_within_budget(OPERATION, query), target.mark());
        while let Some(items) = answers.next().await? {
            for item in items {
                let latest = results_of(OPERATION, item)?.into_iter().find(|(found, _)| *found == mark);
                if let Some((_, result)) = latest {
                    return Ok(!result.is_failure());
                }
            }
            answers.enlarge();
        }
        Ok(false)
    }

    /// Lists a target's results, newest first, as far back as they are kept: at most `limit`, and only checks since `since` if
    /// given. They are among those of its workspace, of which up to 8 MB are read for a page, so it may have fewer.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn results(
        &self,
        target: &Target,
        (since, after): (Option<Timestamp>, Option<&ResultsCursor>),
        limit: usize,
        now: Timestamp,
    ) -> Result<(Vec<CheckResult>, Option<ResultsCursor>)> {
        const OPERATION: &str = "list results";
        // DynamoDB deletes an item some time after its TTL, so the time is checked here as well.
        let oldest = now.minus(lifetimes::CHECK_RESULTS).max(target.created_at).max(since.unwrap_or(target.created_at));
        // The sort key begins with the slot, and a check starts after its slot.
        let first = oldest.minus(LATEST_START).to_string();
        let end = after.map(|cursor| cursor.0.as_str());
        if end.is_some_and(|end| end <= first.as_str()) {
            return Ok((Vec::new(), None));
        }
        let sort_keys = end.map_or(SortKeys::From(&first), |end| SortKeys::Between(&first, end));
        let query = self.table.query(&results_partition(&target.workspace), sort_keys);
        let query = query.scan_index_forward(false).limit(items(limit.max(Self::LEAST_ITEMS)));
        let (mut answers, mark) = (self.table.query_within_budget(OPERATION, query), target.mark());
        let (mut results, mut read) = (Vec::new(), None);
        while results.len() < limit
            && let Some(items) = answers.next().await?
        {
            for item in items {
                let item: ResultsItem = from_item(OPERATION, item)?;
                // The end of the page before is the one before the first of this page.
                if end == Some(item.key.sk.as_str()) {
                    continue;
                }
                let of_target = item.unpacked().into_iter().filter(|(found, _)| *found == mark);
                let mut of_target = of_target.map(|(_, result)| result).filter(|result| result.checked_at >= oldest);
                let found = of_target.next();
                if found.is_some() && results.len() == limit {
                    return Ok((results, read));
                }
                results.extend(found);
                read = Some(ResultsCursor(item.key.sk));
            }
            answers.enlarge();
        }
        Ok((results, read.filter(|_| !answers.is_at_end)))
    }

    /// The latest results of some targets of a workspace that were created since `since`, among its latest ones.
    pub(super) async fn latest_results(
        &self,
        workspace: &WorkspaceId,
        marks: &[TargetMark],
        since: Timestamp,
        now: Timestamp,
    ) -> Result<HashMap<TargetMark, CheckResult>> {
        const OPERATION: &str = "read the latest results";
        let oldest = now.minus(lifetimes::CHECK_RESULTS).max(since);
        let query =
            self.table.query(&results_partition(workspace), SortKeys::From(&oldest.minus(LATEST_START).to_string()));
        let least = Self::LEAST_ITEMS.max(marks.len() / Self::RESULTS_OF_AN_ITEM * 4);
        let query = query.scan_index_forward(false).limit(items(least));
        let mut answers = self.table.query_within_budget(OPERATION, query);
        let wanted: HashSet<_> = marks.iter().collect();
        let (mut latest, mut read) = (HashMap::new(), 0);
        while latest.len() < wanted.len()
            && read < Self::LATEST_ITEMS
            && let Some(items) = answers.next().await?
        {
            read += items.len();
            for item in items {
                for (mark, result) in results_of(OPERATION, item)? {
                    if wanted.contains(&mark) {
                        latest.entry(mark).or_insert(result);
                    }
                }
            }
            answers.enlarge();
        }
        Ok(latest)
    }
}

fn items(limit: usize) -> i32 {
    i32::try_from(limit).unwrap_or(i32::MAX)
}

fn results_of(operation: &'static str, item: Item) -> Result<Vec<(TargetMark, CheckResult)>> {
    Ok(from_item::<ResultsItem>(operation, item)?.unpacked())
}

impl ResultsItem {
    /// The results, of which each target has one.
    fn unpacked(&self) -> Vec<(TargetMark, CheckResult)> {
        self.slot().map(|slot| unpack(slot, &self.results).collect()).unwrap_or_default()
    }
}
