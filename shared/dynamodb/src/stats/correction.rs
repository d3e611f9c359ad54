//! Recounts: reads the statistics that are compared with raw clicks, and writes corrections.

use std::{
    collections::{BTreeSet, HashSet},
    ops::RangeInclusive,
};

use aws_sdk_dynamodb::types::{Delete, TransactWriteItem};
use linklet_domain::{Day, EventId, LinkStats, ShortCode, Timestamp, WorkspaceId};

use super::{
    Bucket, CommitOutcome, DayItem, Milestone, MilestoneItem, PURGED_AT, PastItem, StatsTable, TOTAL, TotalItem,
    day_key, is_purge_mark, partition, seen_partition,
};
use crate::{
    RepositoryError,
    item::{from_item, number, text},
    stats::{
        item::{DAY_PREFIX, MILESTONE_PREFIX, PAST, SEEN_FOR, SeenItem},
        read_stats,
    },
};

const CORRECT: &str = "correct statistics";

/// All statistics of a link.
#[derive(Debug, Clone, Default)]
pub struct Life {
    /// The totals, the past and all days.
    pub stats: LinkStats,
    /// The workspace that the link is counted for; `None` without a total.
    pub workspace: Option<WorkspaceId>,
    /// The milestones that the link has reached.
    pub milestones: BTreeSet<u64>,
    /// Whether the link was purged, so that nothing is counted for it.
    pub is_purged: bool,
}

/// A link's numbers to replace after a recount.
#[derive(Debug)]
pub struct Correction<'a> {
    /// The link.
    pub code: &'a ShortCode,
    /// The workspace that it belongs to.
    pub workspace: &'a WorkspaceId,
    /// The statistics that were read.
    pub before: &'a LinkStats,
    /// The statistics to write.
    pub after: &'a LinkStats,
    /// The days that differ, at most [`StatsTable::MAX_CORRECTED_DAYS`].
    pub days: &'a [Day],
    /// The missing milestones to write.
    pub milestones: &'a [Milestone],
}

impl StatsTable {
    /// Maximum number of days in a correction, so that they fit one transaction with the total, the past and the milestones.
    pub const MAX_CORRECTED_DAYS: usize = 75;

    /// How long the ids of counted events are kept at least.
    pub const IDS_KEPT_FOR: std::time::Duration = SEEN_FOR;

    /// Reads all statistics of a link, consistently. The total is read first: if it hasn't changed when a correction commits,
    /// nothing else has.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn life(&self, code: &ShortCode) -> Result<Life, RepositoryError> {
        const OPERATION: &str = "read all of a link's statistics";
        let link = text(&partition(code));
        let between = |first: &str, last: &str| {
            self.0
                .client
                .query()
                .consistent_read(true)
                .key_condition_expression("pk = :link AND sk BETWEEN :first AND :last")
                .expression_attribute_values(":link", link.clone())
                .expression_attribute_values(":first", text(first))
                .expression_attribute_values(":last", text(last))
        };
        let total = self.0.query_all(OPERATION, between(TOTAL, TOTAL), 1).await?;
        let rest = self.0.query_all(OPERATION, between(DAY_PREFIX, PAST), usize::MAX).await?;
        let milestones = rest
            .iter()
            .filter_map(|item| item.get("sk")?.as_s().ok()?.strip_prefix(MILESTONE_PREFIX)?.parse().ok())
            .collect();
        let is_purged = total.iter().any(is_purge_mark);
        let workspace = match total.first().filter(|item| !item.contains_key(PURGED_AT)) {
            Some(item) => from_item::<TotalItem>(OPERATION, item.clone())?.workspace(),
            None => None,
        };
        let stats = read_stats(OPERATION, total.into_iter().chain(rest).collect())?;
        Ok(Life { stats, workspace, milestones, is_purged })
    }

    /// Reads the ids of counted events that were generated in this time, as far as they are kept.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn counted_between(
        &self,
        code: &ShortCode,
        time: &RangeInclusive<Timestamp>,
    ) -> Result<HashSet<EventId>, RepositoryError> {
        const OPERATION: &str = "read the ids of counted events";
        let query = self
            .0
            .client
            .query()
            .consistent_read(true)
            .key_condition_expression("pk = :seen AND sk BETWEEN :first AND :last")
            .expression_attribute_values(":seen", text(&seen_partition(code)))
            .expression_attribute_values(":first", text(&bucket_at(*time.start())))
            .expression_attribute_values(":last", text(&bucket_at(*time.end())));
        let mut events = HashSet::new();
        for item in self.0.query_all(OPERATION, query, usize::MAX).await? {
            let row: SeenItem = from_item(OPERATION, item)?;
            events.extend(row.events().map_err(RepositoryError::unexpected_item(OPERATION))?);
        }
        Ok(events)
    }

    /// Replaces statistics in one transaction, if none of them has changed since they were read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn correct(&self, correction: &Correction<'_>) -> Result<CommitOutcome, RepositoryError> {
        self.transact(CORRECT, self.corrections(correction)?).await
    }

    fn corrections(&self, correction: &Correction<'_>) -> Result<Vec<TransactWriteItem>, RepositoryError> {
        let Correction { code, workspace, before, after, days, milestones } = correction;
        let total = TotalItem::new(code, workspace, &after.totals);
        let mut actions = vec![self.put_over_total(&total, &before.totals)?];
        if let Some(past) = &after.past {
            let counted_before = before.past.as_ref().map_or(0, |past| past.clicks);
            actions.push(self.put_over(&PastItem::new(code, past), counted_before)?);
        }
        for day in *days {
            let counted_before = before.days.get(day).map_or(0, |stats| stats.profile.clicks);
            actions.push(match after.days.get(day) {
                Some(stats) => self.put_over(&DayItem::new(code, *day, stats), counted_before)?,
                None => self.delete_over(code, *day, counted_before)?,
            });
        }
        for milestone in *milestones {
            actions.push(self.0.put(CORRECT, &MilestoneItem::new(milestone))?);
        }
        Ok(actions)
    }

    fn delete_over(
        &self,
        code: &ShortCode,
        day: Day,
        counted_before: u64,
    ) -> Result<TransactWriteItem, RepositoryError> {
        let delete = Delete::builder()
            .table_name(&self.0.name)
            .set_key(Some(day_key(code, day).into_item()))
            .condition_expression("total_clicks = :before")
            .expression_attribute_values(":before", number(&counted_before))
            .build()
            .map_err(RepositoryError::unavailable(CORRECT))?;
        Ok(TransactWriteItem::builder().delete(delete).build())
    }
}

/// The sort key of the bucket with the ids of this second.
fn bucket_at(time: Timestamp) -> String {
    Bucket::of(&EventId::first_at(time)).0.0
}
