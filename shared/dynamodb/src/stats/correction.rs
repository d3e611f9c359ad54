//! Recounts: reads the statistics that are compared with raw clicks, and writes corrections.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
};

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{ClickCount, ClickId, Day, DayStats, LinkId, MilestoneReached, Past, Totals, WorkspaceId};

use super::{
    CommitOutcome, Milestone, Rows, StatsTable,
    ids::buckets_of_days,
    item::{CountedDay, DAY_PREFIX, PAST, PastItem, SEEN_FOR, ids_in_bucket, seen_partition},
    numbers_of,
    totals::{Announced, TotalChange},
};
use crate::{
    RepositoryError,
    item::{SortKeys, number},
};

const CORRECT: &str = "correct statistics";

/// All statistics of a link.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Life {
    /// The link's counts.
    pub totals: Totals,
    /// The days that have moved into the past, together.
    pub past: Option<Past>,
    /// All days.
    pub days: BTreeMap<Day, CountedDay>,
    /// The milestones that the link has reached.
    pub milestones: BTreeSet<u64>,
    /// Whether the link was purged, so that nothing is counted for it.
    pub is_purged: bool,
}

impl Life {
    /// The numbers of the days, without what tells which clicks were counted.
    #[must_use]
    pub fn numbers(&self) -> BTreeMap<Day, DayStats> {
        numbers_of(self.days.clone())
    }

    /// These statistics with other numbers of some days, and with the past and the counts that follow from all days.
    #[must_use]
    pub fn with_days(&self, corrected: &BTreeMap<Day, DayStats>) -> Self {
        let mut after = self.clone();
        for (day, stats) in corrected {
            after.days.entry(*day).or_default().correct(stats);
        }
        let days = after.numbers();
        after.past = self
            .totals
            .past_until
            .map(|until| Past::extended(None, until, days.range(..until).map(|(_, stats)| stats)));
        after.totals.past_clicks = after.past.as_ref().map_or(0, |past| past.profile.clicks);
        let open = days.iter().filter(|(day, _)| !self.totals.is_past(**day));
        after.totals.open = open.map(|(day, stats)| (*day, stats.into())).collect();
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
    /// [`StatsTable::MAX_CORRECTED_DAYS`] other days.
    pub after: &'a Life,
}

impl StatsTable {
    /// Maximum number of days in a correction, so that they fit one transaction with the total and the past.
    pub const MAX_CORRECTED_DAYS: usize = 75;

    /// How long the ids of counted clicks are kept at least.
    pub const IDS_KEPT_FOR: std::time::Duration = SEEN_FOR;

    /// Reads all statistics of a link, consistently. The total is read first: if neither it nor any day has changed when a
    /// correction commits, nothing else has.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn life(&self, workspace: &WorkspaceId, link: &LinkId) -> Result<Life, RepositoryError> {
        const OPERATION: &str = "read all of a link's statistics";
        let (totals, is_purged) = self.total(workspace, link).await?;
        let Rows { past, days, milestones } = self.rows_between(OPERATION, link, DAY_PREFIX, PAST, true).await?;
        Ok(Life { totals, past, days, milestones, is_purged })
    }

    /// Reads the ids of counted clicks of these days, as far as they are kept outside of the days' items.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn counted_on(
        &self,
        link: &LinkId,
        days: &RangeInclusive<Day>,
    ) -> Result<BTreeSet<ClickId>, RepositoryError> {
        const OPERATION: &str = "read the ids of counted clicks";
        let (first, last) = buckets_of_days(days);
        let query = self.0.query(&seen_partition(link), SortKeys::Between(&first, &last)).consistent_read(true);
        let mut ids = BTreeSet::new();
        for item in self.0.query_all(OPERATION, query, usize::MAX).await? {
            ids.extend(ids_in_bucket(&item).map_err(RepositoryError::unexpected_item(OPERATION))?);
        }
        Ok(ids)
    }

    /// Replaces statistics in one transaction, if none of them has changed since they were read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn correct(&self, correction: &Correction<'_>) -> Result<CommitOutcome, RepositoryError> {
        self.transact(CORRECT, self.corrections(correction)?).await
    }

    /// Writes missing milestones, and notes that all up to the highest of them are written.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn write_milestones(&self, milestones: &[Milestone]) -> Result<(), RepositoryError> {
        for milestone in milestones {
            self.put_milestone(milestone).await?;
            let MilestoneReached { link, milestone: number, .. } = &milestone.detail;
            if self.note_announced(&milestone.workspace, link, *number).await? == Announced::Purged {
                return self.delete_rows(link).await;
            }
        }
        Ok(())
    }

    fn corrections(&self, correction: &Correction<'_>) -> Result<Vec<TransactWriteItem>, RepositoryError> {
        let Correction { link, workspace, before, after } = correction;
        let is_written = |day: &Day| after.days.get(day) != before.days.get(day);
        let mut change = TotalChange::of(&before.totals);
        change.note_click(&before.totals, after.totals.last_click);
        change.set(&"past_clicks", number(&after.totals.past_clicks));
        // Only of days that are written here, since others may have been counted meanwhile.
        for day in before.totals.open.keys().filter(|day| is_written(day) || !after.days.contains_key(day)) {
            change.remove(*day);
        }
        for (day, count) in after.totals.open.iter().filter(|(day, _)| is_written(day)) {
            change.set_day(*day, *count);
        }
        if let Some(until) = after.totals.past_until {
            change.set_history(until, &after.totals.history);
        }
        let mut actions = vec![self.change_total(workspace, link, change)?];
        if let Some(past) = &after.past {
            actions.push(self.0.put(CORRECT, &PastItem::new(link, past))?);
        }
        for (day, counted) in after.days.iter().filter(|(day, _)| is_written(day)) {
            actions.push(self.put_day_action(link, *day, counted)?);
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

    /// Whether a click was counted on this day, as far as the ids that are still in its item tell.
    #[must_use]
    pub fn has_counted(&self, id: &ClickId) -> bool {
        self.ids.contains(id)
    }
}
