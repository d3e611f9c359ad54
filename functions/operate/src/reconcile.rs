//! Recounts a link from its raw clicks.
//!
//! A raw click that is not counted is published again: the consumer counts it once, even if it was merely late. A day whose
//! numbers differ from those of its counted clicks is replaced, with the totals that follow from it, on the condition that
//! nobody has counted meanwhile. So repairing a link that is being clicked, or repairing it twice, does no harm.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use linklet_domain::{Click, Day, DaySlice, DayStats, Event, LinkId, LinkIdentity, Timestamp, milestones_crossed};
use linklet_dynamodb::{ClicksTable, CommitOutcome, Correction, Life, Milestone, StatsTable};
use linklet_lambda::publisher::Publisher;
use linklet_user_agents::Classifier;

use super::OperateError;
use super::recount::{DayOfClicks, of_day};

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
    /// For how many days raw clicks are kept.
    pub raw_days: u64,
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
    /// That of a purged link.
    pub(super) fn of_purged() -> Self {
        Self { is_purged: true, ..Self::default() }
    }

    /// Whether there is nothing to repair.
    pub fn is_clean(&self) -> bool {
        self.uncounted.is_empty() && self.days.is_empty() && !self.totals_differ
    }
}

/// A comparison with all that a repair needs.
struct Comparison {
    report: Report,
    before: Life,
    /// The right numbers of the days to write.
    corrected: BTreeMap<Day, DayStats>,
    latest: Option<Click>,
}

impl Reconciler {
    /// So many days before the lifetime of raw clicks ends, some of a day are deleted before the others.
    const INCOMPLETE_DAYS: u64 = 2;
    /// Clocks and late deletions by TTL put aside, ids of this age are certainly there.
    const MARGIN: Duration = Duration::from_secs(86_400);

    /// Compares, and changes nothing.
    ///
    /// # Errors
    /// When a table can't be read.
    pub async fn report(&self, link: &LinkIdentity, now: Timestamp) -> Result<Report, OperateError> {
        for _ in 0..TRIES {
            let comparison = self.compare(link, now).await?;
            // What was counted between reading the numbers and reading the ids would look like a difference.
            if comparison.report.is_clean() || self.life(link).await? == comparison.before {
                return Ok(comparison.report);
            }
        }
        Err(OperateError::Busy)
    }

    /// Compares, publishes the uncounted clicks again, and replaces the numbers that are wrong. What it returns is what it
    /// found; comparing again shows whether all of it is done.
    ///
    /// # Errors
    /// When a table or the queue can't be used, or the link is too busy; then part of it may be done, and doing it again goes on.
    pub async fn repair(&self, link: &LinkIdentity, now: Timestamp) -> Result<Report, OperateError> {
        for _ in 0..TRIES {
            let comparison = self.compare(link, now).await?;
            if self.correct(link, &comparison).await? == CommitOutcome::Committed {
                let unsent = self.publish(&comparison.report.uncounted).await;
                return if unsent == 0 { Ok(comparison.report) } else { Err(OperateError::Unsent(unsent)) };
            }
        }
        Err(OperateError::Busy)
    }

    async fn life(&self, LinkIdentity { id, workspace, .. }: &LinkIdentity) -> Result<Life, OperateError> {
        Ok(self.stats.life(workspace, id).await?)
    }

    /// Sends clicks to be counted, and says how many could not be sent.
    async fn publish(&self, clicks: &[Click]) -> usize {
        let events: Vec<Event> = clicks.iter().cloned().map(Click::into_event).collect();
        let day = |event: &Event| event.occurred_at.day();
        self.queue.send_packed(&events.iter().collect::<Vec<_>>(), day).await.len()
    }

    async fn compare(&self, link: &LinkIdentity, now: Timestamp) -> Result<Comparison, OperateError> {
        // First the numbers: whatever is counted from now on changes them, and no correction commits.
        let before = self.life(link).await?;
        let from = self.first_day(&link.id, &before, now).await?;
        let mut report = Report {
            is_purged: before.is_purged,
            from: Some(from),
            total_clicks: before.totals.total_clicks(),
            ..Report::default()
        };
        let counted = before.numbers();
        let (mut corrected, mut latest) = (BTreeMap::new(), None);
        if !before.is_purged {
            for day in days_back(now).take_while(|day| *day >= from) {
                let clicks = self.clicks.recorded_between(&link.id, &of_day(day)).await?;
                if clicks.is_empty() {
                    report.without_clicks.extend(counted.contains_key(&day).then_some(day));
                    continue;
                }
                latest = latest.or_else(|| clicks.iter().max_by_key(|click| click.clicked_at()).cloned());
                let recounted = self.recount(&link.id, &before, day, clicks, now).await?;
                report.uncounted.extend(recounted.uncounted);
                let (known, actual) = (counted.get(&day), recounted.counted);
                if !is_same(known, actual.as_ref()) {
                    report.days.push((day, clicks_of(known), clicks_of(actual.as_ref())));
                    // None of its clicks may be known to be counted: they are about to be published, and make the day anew.
                    corrected.insert(day, actual.unwrap_or_default());
                }
            }
        }
        let after = before.with_days(&corrected);
        report.recounted = after.totals.total_clicks();
        if !report.is_purged && report.days.is_empty() {
            let beside = days_beside_total(&before, &after);
            report.totals_differ = !beside.is_empty() || differ(&before, &after);
            corrected.extend(beside.into_iter().map(|day| (day, counted.get(&day).cloned().unwrap_or_default())));
        }
        Ok(Comparison { report, before, corrected, latest })
    }

    /// The first day with clicks, raw or counted, whose raw clicks are certainly all there.
    async fn first_day(&self, link: &LinkId, counted: &Life, now: Timestamp) -> Result<Day, OperateError> {
        let raw = self.clicks.first(link).await?.map(|click| click.clicked_at().day());
        let counted = counted.slices.keys().next().map(|slice| slice.day);
        let complete = self.raw_days.saturating_sub(Self::INCOMPLETE_DAYS);
        let complete_from = now.minus(Duration::from_secs(complete * 86_400)).day();
        Ok(raw.into_iter().chain(counted).min().unwrap_or(now.day()).max(complete_from))
    }

    async fn recount(
        &self,
        link: &LinkId,
        counted: &Life,
        day: Day,
        clicks: Vec<Click>,
        now: Timestamp,
    ) -> Result<DayOfClicks, OperateError> {
        // Without its id nothing tells whether an old click was counted. But no message lives so long that it could still be.
        let ids_since = now.minus(StatsTable::IDS_KEPT_FOR).plus(Self::MARGIN).day();
        if day <= ids_since {
            return Ok(DayOfClicks::of(clicks, |_| true, &self.classifier));
        }
        let moved = self.stats.counted_on(link, counted, &(day..=day)).await?;
        let is_counted = |click: &Click| moved.contains(&click.id) || counted.has_counted(&click.id);
        Ok(DayOfClicks::of(clicks, is_counted, &self.classifier))
    }

    /// Writes the corrected days, some at a time, and the counts that follow from them; then the milestones that are missing.
    async fn correct(&self, link: &LinkIdentity, comparison: &Comparison) -> Result<CommitOutcome, OperateError> {
        let Comparison { report, before, corrected, .. } = comparison;
        let LinkIdentity { id, workspace, .. } = link;
        let mut written = before.clone();
        let mut chunks = in_chunks(corrected, before);
        if chunks.is_empty() && report.totals_differ {
            chunks.push(BTreeMap::new());
        }
        for days in chunks {
            let after = written.with_days(&days);
            let correction = Correction { link: id, workspace, before: &written, after: &after };
            if self.stats.correct(&correction).await? == CommitOutcome::Contended {
                return Ok(CommitOutcome::Contended);
            }
            written = after;
        }
        self.stats.write_milestones(&missing_milestones(comparison, written.totals.total_clicks())).await?;
        Ok(CommitOutcome::Committed)
    }
}

/// Days that fit one correction together.
fn in_chunks(days: &BTreeMap<Day, DayStats>, life: &Life) -> Vec<BTreeMap<Day, DayStats>> {
    let (mut chunks, mut rows) = (Vec::<BTreeMap<Day, DayStats>>::new(), StatsTable::MAX_CORRECTED_ITEMS);
    for (day, stats) in days {
        rows += life.rows_of(*day);
        if rows > StatsTable::MAX_CORRECTED_ITEMS {
            chunks.push(BTreeMap::new());
            rows = life.rows_of(*day);
        }
        chunks.last_mut().map(|chunk| chunk.insert(*day, stats.clone()));
    }
    chunks
}

/// Today, yesterday, and so on.
fn days_back(now: Timestamp) -> impl Iterator<Item = Day> {
    (0..).map(move |ago| now.minus(Duration::from_secs(ago * 86_400)).day())
}

fn clicks_of(stats: Option<&DayStats>) -> u64 {
    stats.map_or(0, |stats| stats.profile.clicks)
}

/// Whether two days have the same numbers. What a full breakdown has let go depends on the order of the clicks, and a large
/// sketch too; there the sums have to do.
fn is_same(counted: Option<&DayStats>, recounted: Option<&DayStats>) -> bool {
    let (Some(counted), Some(recounted)) = (counted, recounted) else {
        return counted.is_none() && recounted.is_none();
    };
    counted.hours == recounted.hours && counted.profile.agrees_with(&recounted.profile)
}

/// The open days whose number in the total isn't that of the day.
fn days_beside_total(counted: &Life, rebuilt: &Life) -> Vec<Day> {
    let of_total = |life: &Life, slice: &DaySlice| life.totals.open.get(slice).copied();
    let slices = counted.totals.open.keys().chain(rebuilt.totals.open.keys());
    let beside = slices.filter(|slice| of_total(counted, slice) != of_total(rebuilt, slice));
    beside.map(|slice| slice.day).collect::<BTreeSet<Day>>().into_iter().collect()
}

/// Whether the past doesn't follow from its days, or a day has a click that is later than the last one that the total knows.
fn differ(counted: &Life, rebuilt: &Life) -> bool {
    let clicks = |life: &Life| life.past.as_ref().map(|past| (past.profile.clicks, past.profile.human_clicks));
    let parts = |life: &Life| (life.totals.past_clicks, life.totals.history.clone(), life.totals.last_click);
    parts(counted) != parts(rebuilt) || clicks(counted) != clicks(rebuilt)
}

/// Milestones that a correction upwards passes, or that were never written.
fn missing_milestones(comparison: &Comparison, total_clicks: u64) -> Vec<Milestone> {
    let Some(click) = &comparison.latest else { return Vec::new() };
    let known: &BTreeSet<u64> = &comparison.before.milestones;
    milestones_crossed(0, total_clicks)
        .filter(|milestone| !known.contains(milestone))
        .map(|milestone| Milestone::reached_by(click, milestone, total_clicks))
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
            let oldest = self.uncounted.iter().map(Click::clicked_at).min();
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
