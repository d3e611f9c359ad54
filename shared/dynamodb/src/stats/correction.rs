//! Recounts: reads the statistics that are compared with raw clicks, and writes corrections.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{
    ClickCount, ClickId, Day, DaySlice, DayStats, LinkId, MilestoneReached, Part, Rollup, Totals, WorkspaceId,
};

use super::ids::{CountedDay, runs_of_days, seen_partition};
use super::item::{DAY_PREFIX, PAST, PastItem, RunItem, SEEN_FOR};
use super::totals::{Announced, TotalChange};
use super::{CommitOutcome, Milestone, Rows, StatsTable, numbers_of};
use crate::item::{SortKeys, number};
use crate::{RepositoryError, Result};

const CORRECT: &str = "correct statistics";

/// All statistics of a link.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Life {
    /// The link's counts.
    pub totals: Totals,
    /// The days that have moved into the past, together.
    pub past: Option<Rollup>,
    /// All days, and the parts of those that were split.
    pub slices: BTreeMap<DaySlice, CountedDay>,
    /// The milestones that the link has reached.
    pub milestones: BTreeSet<u64>,
    /// Whether the link was purged, so that nothing is counted for it.
    pub is_purged: bool,
}

impl Life {
    /// The numbers of the days, without what tells which clicks were counted.
    pub fn numbers(&self) -> BTreeMap<Day, DayStats> {
        numbers_of(self.slices.clone())
    }

    /// Whether a click was counted, as far as the ids that are still in the item of its day or part tell.
    pub fn has_counted(&self, id: &ClickId) -> bool {
        let day = id.at().day();
        let slices = [DaySlice::from(day), DaySlice { day, part: Some(Part::of(id)) }];
        slices.iter().filter_map(|slice| self.slices.get(slice)).any(|counted| counted.ids.contains(id))
    }

    /// In how many items the numbers of a day are, all of which a correction writes.
    pub fn rows_of(&self, day: Day) -> usize {
        1 + self.parts_of(day).count()
    }

    fn parts_of(&self, day: Day) -> impl Iterator<Item = DaySlice> {
        let is_split = self.slices.get(&day.into()).is_some_and(|counted| counted.is_split);
        DaySlice::parts_of(day).filter(move |_| is_split)
    }

    /// These statistics with other numbers of some days, and with the past and the counts that follow from all days. The numbers of
    /// a day that was split are those of the day itself then, and its parts are empty.
    pub fn with_days(&self, corrected: &BTreeMap<Day, DayStats>) -> Self {
        let mut after = self.clone();
        for (day, stats) in corrected {
            after.slices.entry((*day).into()).or_default().correct(stats);
            for part in self.parts_of(*day) {
                after.slices.entry(part).or_default().correct(&DayStats::default());
            }
        }
        let days = after.numbers();
        after.past = self
            .totals
            .past_until
            .map(|until| Rollup::extended(None, until, days.range(..until).map(|(_, stats)| stats)));
        after.totals.past_clicks = after.past.as_ref().map_or(0, |past| past.profile.clicks);
        let counts = after.slices.iter().map(|(slice, counted)| (*slice, ClickCount::from(&counted.stats)));
        let open = counts.filter(|(slice, count)| count.clicks > 0 && !self.totals.is_past(slice.day));
        after.totals.open = open.collect();
        let counts = days.iter().map(|(day, stats)| (*day, ClickCount::from(stats)));
        after.totals.history =
            self.totals.past_until.map(|until| Totals::history_until(until, counts)).unwrap_or_default();
        let last_clicks = days.values().map(|stats| stats.last_click_at);
        after.totals.last_click = last_clicks.chain([self.totals.last_click]).max().flatten();
        after.totals.epoch += 1;
        after
    }
}

/// A link's numbers to replace after a recount.
#[derive(Debug)]
pub struct Correction<'a> {
    /// The link.
    pub link: &'a LinkId,
    /// The workspace that it belongs to.
    pub workspace: &'a WorkspaceId,
    /// The statistics that were read.
    pub before: &'a Life,
    /// The statistics to write, which [`Life::with_days`] has made of those, with at most
    /// [`StatsTable::MAX_CORRECTED_ITEMS`] items of other days.
    pub after: &'a Life,
}

impl StatsTable {
    /// Maximum number of items of days in a correction, so that they fit one transaction with the total and the past.
    pub const MAX_CORRECTED_ITEMS: usize = 75;

    /// How long the ids of counted clicks are kept at least.
    pub const IDS_KEPT_FOR: std::time::Duration = SEEN_FOR;

    /// Reads all statistics of a link, consistently. The total is read first: if neither it nor any day has changed when a
    /// correction commits, nothing else has.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn life(&self, workspace: &WorkspaceId, link: &LinkId) -> Result<Life> {
        const OPERATION: &str = "read all of a link's statistics";
        let (totals, is_purged) = self.total(workspace, link).await?;
        let Rows { past, slices, milestones } = self.rows_between(OPERATION, link, DAY_PREFIX, PAST, true).await?;
        Ok(Life { totals, past, slices, milestones, is_purged })
    }

    /// Reads the ids of counted clicks of these days, as far as they are kept outside of the items of `life`.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn counted_on(
        &self,
        link: &LinkId,
        life: &Life,
        days: &RangeInclusive<Day>,
    ) -> Result<BTreeSet<ClickId>> {
        const OPERATION: &str = "read the ids of counted clicks";
        let (first, last) = runs_of_days(days);
        let is_split = life.slices.iter().any(|(slice, counted)| counted.is_split && days.contains(&slice.day));
        let parts = Part::all().filter(|_| is_split).map(Some).chain([None]);
        let runs = parts.map(async |part| {
            let partition = seen_partition(link, part);
            self.table.list::<RunItem>(OPERATION, &partition, SortKeys::Between(&first, &last)).await
        });
        let mut ids = BTreeSet::new();
        for run in futures_util::future::try_join_all(runs).await?.into_iter().flatten() {
            ids.extend(run.ids().map_err(RepositoryError::unexpected_item(OPERATION))?);
        }
        Ok(ids)
    }

    /// Replaces statistics in one transaction, if none of them has changed since they were read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn correct(&self, correction: &Correction<'_>) -> Result<CommitOutcome> {
        self.transact(CORRECT, self.corrections(correction)?).await
    }

    /// Writes missing milestones, and notes that all up to the highest of them are written.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn write_milestones(&self, milestones: &[Milestone]) -> Result<()> {
        for milestone in milestones {
            self.put_milestone(milestone, false).await?;
            let MilestoneReached { link, milestone: number, .. } = &milestone.detail;
            if self.note_announced(&milestone.workspace, link, *number).await? == Announced::Purged {
                return self.delete_rows(link).await;
            }
        }
        Ok(())
    }

    fn corrections(&self, correction: &Correction<'_>) -> Result<Vec<TransactWriteItem>> {
        let Correction { link, workspace, before, after } = correction;
        let is_written = |slice: &DaySlice| after.slices.get(slice) != before.slices.get(slice);
        let mut change = TotalChange::of(&before.totals);
        change.note_click(&before.totals, after.totals.last_click);
        change.set(&"past_clicks", number(&after.totals.past_clicks));
        // Only of days that are written here, since others may have been counted meanwhile.
        for slice in before.totals.open.keys().filter(|slice| is_written(slice) || !after.slices.contains_key(slice)) {
            change.remove(*slice);
        }
        for (slice, count) in after.totals.open.iter().filter(|(slice, _)| is_written(slice)) {
            change.set_slice(*slice, *count);
        }
        if let Some(until) = after.totals.past_until {
            change.set_history(until, &after.totals.history);
        }
        let mut actions = vec![self.change_total(workspace, link, change)?];
        if let Some(past) = &after.past {
            actions.push(self.table.put(&PastItem::new(link, past))?);
        }
        for (slice, counted) in after.slices.iter().filter(|(slice, _)| is_written(slice)) {
            actions.push(self.put_day_action(link, *slice, counted)?);
        }
        Ok(actions)
    }
}

impl CountedDay {
    /// Replaces the numbers. An empty day keeps its item, so that its version never begins again. The last click stays the
    /// latest that was ever counted, since it has happened even if its raw click is gone.
    fn correct(&mut self, stats: &DayStats) {
        let last_click_at = self.stats.last_click_at.max(stats.last_click_at);
        self.stats = DayStats { last_click_at, ..stats.clone() };
        self.version += 1;
    }
}
