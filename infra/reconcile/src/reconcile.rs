//! Recounts a link from its raw clicks.
//!
//! A raw click that is not counted is published again: the consumer counts it once, even if it was merely late. A day whose
//! numbers differ from those of its counted clicks is replaced, with the totals that follow from it, on the condition that
//! nobody has counted meanwhile. So repairing a link that is being clicked, or repairing it twice, does no harm.

mod recount;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    time::Duration,
};

use linklet_domain::{
    Click, Day, DayStats, Event, LinkStats, ShortCode, Timestamp, WorkspaceId, lifetimes, milestones_crossed,
};
use linklet_dynamodb::{ClicksTable, CommitOutcome, Correction, Life, Milestone, RepositoryError, StatsTable};
use linklet_lambda::publisher::Publisher;
use linklet_user_agents::Classifier;

use self::recount::{DayOfClicks, around, rebuilt};

/// How often a link is compared anew since it is being clicked.
const TRIES: usize = 5;

/// Compares a link's statistics with its raw clicks.
pub struct Reconciler {
    /// The numbers.
    pub stats: StatsTable,
    /// The raw clicks.
    pub clicks: ClicksTable,
    /// Says who clicked.
    pub classifier: Classifier,
    /// The analytics queue.
    pub queue: Publisher,
}

/// Why a link can't be compared or repaired.
#[derive(Debug, thiserror::Error)]
pub enum ReconcileError {
    /// A table can't be read or written.
    #[error("a table can't be used")]
    Table(#[from] RepositoryError),
    /// The link is clicked so much that its numbers change between reading and writing. Nothing is changed.
    #[error("the link is being counted all the time; try again when it is quieter")]
    Busy,
    /// Neither the numbers nor a raw click say whose the link is, so there is nothing to repair it from.
    #[error("the link has neither a total nor a raw click to repair it from")]
    NothingToGoBy,
    /// Some clicks could not be sent to the queue.
    #[error("{0} clicks could not be sent to the queue; do it again")]
    Unsent(usize),
}

/// What a comparison has found.
#[derive(Debug, Default)]
pub struct Report {
    /// Purged: there is nothing to count.
    pub is_purged: bool,
    /// The first day whose raw clicks are certainly all there. Earlier days are taken as they are counted.
    pub from: Option<Day>,
    /// The total as it is counted.
    pub total_clicks: u64,
    /// The total as it should be, without the uncounted clicks.
    pub recounted: u64,
    /// Raw clicks that are not counted.
    pub uncounted: Vec<Click>,
    /// Days with numbers and without any raw click: somebody has lost clicks, or a day. They are left as they are.
    pub without_clicks: Vec<Day>,
    /// Days whose numbers are not those of their counted clicks: the day, the clicks as they are counted, as they should be.
    pub days: Vec<(Day, u64, u64)>,
    /// Whether the totals, or the past, don't follow from the days.
    pub totals_differ: bool,
}

impl Report {
    /// Whether there is nothing to repair.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.uncounted.is_empty() && self.days.is_empty() && !self.totals_differ
    }
}

/// A comparison with all that a repair needs.
struct Comparison {
    report: Report,
    before: Life,
    after: LinkStats,
    workspace: Option<WorkspaceId>,
    latest: Option<Click>,
}

impl Reconciler {
    /// The number of days whose raw clicks are certainly complete: when the lifetime of a day's clicks ends, some are deleted
    /// before the others.
    const RAW_DAYS: u64 = lifetimes::in_days(lifetimes::RAW_CLICKS) - 2;
    /// Clocks and late deletions by TTL put aside, ids of this age are certainly there.
    const MARGIN: Duration = Duration::from_secs(86_400);

    /// Compares, and changes nothing.
    ///
    /// # Errors
    /// When a table can't be read.
    pub async fn report(&self, code: &ShortCode, now: Timestamp) -> Result<Report, ReconcileError> {
        for _ in 0..TRIES {
            let comparison = self.compare(code, now).await?;
            // What was counted between reading the numbers and reading the ids would look like a difference.
            let is_still = || async { Ok(self.stats.life(code).await?.stats.totals == comparison.before.stats.totals) };
            if comparison.report.is_clean() || is_still().await.map_err(ReconcileError::Table)? {
                return Ok(comparison.report);
            }
        }
        Err(ReconcileError::Busy)
    }

    /// Compares, publishes the uncounted clicks again, and replaces the numbers that are wrong. What it returns is what it
    /// found; comparing again shows whether all of it is done.
    ///
    /// # Errors
    /// When a table or the queue can't be used, or the link is too busy; then part of it may be done, and doing it again goes on.
    pub async fn repair(&self, code: &ShortCode, now: Timestamp) -> Result<Report, ReconcileError> {
        for _ in 0..TRIES {
            let comparison = self.compare(code, now).await?;
            if self.correct(code, &comparison).await? == CommitOutcome::Committed {
                let unsent = self.publish(&comparison.report.uncounted).await;
                return if unsent == 0 { Ok(comparison.report) } else { Err(ReconcileError::Unsent(unsent)) };
            }
        }
        Err(ReconcileError::Busy)
    }

    /// Sends clicks to be counted, and says how many could not be sent.
    async fn publish(&self, clicks: &[Click]) -> usize {
        let mut unsent = 0;
        for batch in clicks.chunks(Publisher::MAX_BATCH) {
            let events: Vec<Event> = batch.iter().cloned().map(Click::into_event).collect();
            unsent += self.queue.send(&events.iter().collect::<Vec<_>>()).await.len();
        }
        unsent
    }

    async fn compare(&self, code: &ShortCode, now: Timestamp) -> Result<Comparison, ReconcileError> {
        // First the numbers: whatever is counted from now on changes the total, and no correction commits.
        let before = self.stats.life(code).await?;
        let from = self.first_day(code, &before, now).await?;
        let mut report = Report {
            is_purged: before.is_purged,
            from: Some(from),
            total_clicks: before.stats.totals.total_clicks,
            ..Report::default()
        };
        let mut days = before.stats.days.clone();
        let (mut latest, mut last_click_at) = (None, None);
        if !before.is_purged {
            for day in days_back(now).take_while(|day| *day >= from) {
                let clicks = self.clicks.recorded_between(code, &around(day)).await?;
                if clicks.iter().all(|click| click.clicked_at.day() != day) {
                    report.without_clicks.extend(days.contains_key(&day).then_some(day));
                    continue;
                }
                latest = latest.or_else(|| clicks.iter().max_by_key(|click| click.clicked_at).cloned());
                let recounted = self.recount(code, day, clicks, now).await?;
                last_click_at = last_click_at.max(recounted.last_click_at);
                report.uncounted.extend(recounted.uncounted);
                if let Some((counted, actual)) = replace(&mut days, day, recounted.counted) {
                    report.days.push((day, counted, actual));
                }
            }
        }
        let after = rebuilt(&before.stats, days, last_click_at);
        report.recounted = after.totals.total_clicks;
        report.totals_differ = !report.is_purged && report.days.is_empty() && differ(&before.stats, &after);
        let workspace = before.workspace.clone().or_else(|| latest.as_ref().map(|click| click.workspace.clone()));
        Ok(Comparison { report, before, after, workspace, latest })
    }

    /// The first day with clicks, raw or counted, whose raw clicks are certainly all there.
    async fn first_day(&self, code: &ShortCode, counted: &Life, now: Timestamp) -> Result<Day, ReconcileError> {
        let raw = self.clicks.first(code).await?.map(|click| click.clicked_at.day());
        let counted = counted.stats.days.keys().next().copied();
        let complete_from = now.minus(Duration::from_secs(Self::RAW_DAYS * 86_400)).day();
        Ok(raw.into_iter().chain(counted).min().unwrap_or(now.day()).max(complete_from))
    }

    async fn recount(
        &self,
        code: &ShortCode,
        day: Day,
        clicks: Vec<Click>,
        now: Timestamp,
    ) -> Result<DayOfClicks, ReconcileError> {
        // Without its id nothing tells whether an old click was counted. But no message lives so long that it could still be.
        let ids_since = now.minus(StatsTable::IDS_KEPT_FOR).plus(Self::MARGIN).day();
        if day <= ids_since || clicks.is_empty() {
            return Ok(DayOfClicks::of(day, clicks, |_| true, &self.classifier));
        }
        let counted = self.stats.counted_between(code, &around(day)).await?;
        Ok(DayOfClicks::of(day, clicks, |click| counted.contains(&click.id), &self.classifier))
    }

    /// Writes the corrected days, some at a time, and the totals that follow from them.
    async fn correct(&self, code: &ShortCode, comparison: &Comparison) -> Result<CommitOutcome, ReconcileError> {
        let Comparison { report, before, after, workspace, .. } = comparison;
        if report.days.is_empty() && !report.totals_differ {
            return Ok(CommitOutcome::Committed);
        }
        let workspace = workspace.as_ref().ok_or(ReconcileError::NothingToGoBy)?;
        let mut written = before.stats.clone();
        let wrong: Vec<Day> = report.days.iter().map(|(day, ..)| *day).collect();
        let mut chunks: Vec<&[Day]> = wrong.chunks(StatsTable::MAX_CORRECTED_DAYS).collect();
        if report.totals_differ {
            chunks.push(&[]);
        }
        for days in chunks {
            let mut corrected = written.days.clone();
            for day in days {
                match after.days.get(day) {
                    Some(stats) => corrected.insert(*day, stats.clone()),
                    None => corrected.remove(day),
                };
            }
            let mut next = rebuilt(&written, corrected, after.totals.last_click_at);
            next.totals.corrections += 1;
            // On the way a total may be larger than in the end.
            let reached = next.totals.total_clicks.min(after.totals.total_clicks);
            let milestones = missing_milestones(comparison, reached);
            let correction =
                Correction { code, workspace, before: &written, after: &next, days, milestones: &milestones };
            if self.stats.correct(&correction).await? == CommitOutcome::Contended {
                return Ok(CommitOutcome::Contended);
            }
            written = next;
        }
        Ok(CommitOutcome::Committed)
    }
}

/// Today, yesterday, and so on.
fn days_back(now: Timestamp) -> impl Iterator<Item = Day> {
    (0..).map(move |ago| now.minus(Duration::from_secs(ago * 86_400)).day())
}

/// Puts recounted numbers in the place of the counted ones; says how many clicks both have, if they differ.
fn replace(days: &mut BTreeMap<Day, DayStats>, day: Day, recounted: Option<DayStats>) -> Option<(u64, u64)> {
    let clicks = |stats: Option<&DayStats>| stats.map_or(0, |stats| stats.profile.clicks);
    if is_same(days.get(&day), recounted.as_ref()) {
        return None;
    }
    let difference = (clicks(days.get(&day)), clicks(recounted.as_ref()));
    match recounted {
        Some(stats) => days.insert(day, stats),
        // None of its clicks is known to be counted: they are about to be published, and make the day anew.
        None => days.remove(&day),
    };
    Some(difference)
}

/// Whether two days have the same numbers. What a full breakdown has let go depends on the order of the clicks, and a large
/// sketch too; there the sums have to do.
fn is_same(counted: Option<&DayStats>, recounted: Option<&DayStats>) -> bool {
    let (Some(counted), Some(recounted)) = (counted, recounted) else {
        return counted.is_none() && recounted.is_none();
    };
    counted.hours == recounted.hours && counted.profile.agrees_with(&recounted.profile)
}

fn differ(counted: &LinkStats, rebuilt: &LinkStats) -> bool {
    let clicks = |stats: &LinkStats| stats.past.as_ref().map_or(0, |past| past.clicks + past.human_clicks);
    counted.totals != rebuilt.totals || clicks(counted) != clicks(rebuilt)
}

/// Milestones that a correction upwards passes, or that were never noted.
fn missing_milestones(comparison: &Comparison, total_clicks: u64) -> Vec<Milestone> {
    let Some(click) = &comparison.latest else { return Vec::new() };
    let known: &BTreeSet<u64> = &comparison.before.milestones;
    milestones_crossed(0, total_clicks)
        .filter(|milestone| !known.contains(milestone))
        .map(|milestone| Milestone::reached_by(click, milestone))
        .collect()
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_purged {
            return write!(formatter, "The link was purged: nothing is counted for it.");
        }
        if let Some(from) = self.from {
            writeln!(formatter, "Compared with the raw clicks from {from} on.")?;
        }
        for (day, counted, actual) in &self.days {
            writeln!(formatter, "{day}: {counted} clicks are counted, and {actual} should be; or their parts differ.")?;
        }
        if let (Some(last), Some(first)) = (self.without_clicks.first(), self.without_clicks.last()) {
            let days = self.without_clicks.len();
            writeln!(
                formatter,
                "{days} days from {first} to {last} have numbers but no raw clicks; they stay as they are."
            )?;
        }
        if self.totals_differ {
            writeln!(formatter, "The totals don't follow from the days.")?;
        }
        if !self.uncounted.is_empty() {
            let oldest = self.uncounted.iter().map(|click| click.clicked_at).min();
            let since = oldest.map(|time| time.to_string()).unwrap_or_default();
            writeln!(
                formatter,
                "{} clicks are not counted, or not yet; the oldest is of {since}.",
                self.uncounted.len()
            )?;
        }
        write!(formatter, "Total: {} counted, {} recounted.", self.total_clicks, self.recounted)
    }
}
