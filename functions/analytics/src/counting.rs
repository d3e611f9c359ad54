//! Counting the clicks of a link: one day after another, and the parts of a hot day side by side.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, stream};
use linklet_domain::{ClickId, DaySlice, LinkId, Part, Totals};
use linklet_dynamodb::{ClassifiedClick, DayOutcome, DayWork, Loaded, RepositoryError, StatsTable, back_off};
use linklet_lambda::metrics::{self, Measured, Metric};
use linklet_lambda::telemetry::chain;
use tokio::time::Instant;

use crate::{Analytics, batches::DayOfClicks};

/// A day with its clicks, and what counting them needs if it was read already.
pub(crate) type DayAndState = (DayOfClicks, Option<Loaded>);

/// How many parts of a day are counted at a time. Their rows are in different partitions.
pub const PARTS_AT_ONCE: usize = 4;

/// Why clicks could not be counted now.
#[derive(Debug)]
enum CountError {
    Repository(RepositoryError),
    Contended,
    OutOfTime,
}

/// Clicks that one write counts.
#[derive(Clone, Copy)]
struct Share<'a> {
    slice: DaySlice,
    clicks: &'a [&'a ClassifiedClick],
}

/// What has become of a share.
enum Progress {
    Counted(Totals),
    Purged,
    /// Nothing is counted, since the day is split.
    Split,
}

/// What has become of the clicks of a day.
#[derive(Default)]
struct Outcome {
    /// The counts of the link; `None` if nothing was counted.
    totals: Option<Totals>,
    /// The clicks that have to come again.
    failed: Vec<ClickId>,
}

impl Outcome {
    /// Shares are counted side by side, so the counts after any of them may be the latest.
    fn reached(&mut self, totals: Totals) {
        if self.totals.as_ref().is_none_or(|known| known.total_clicks() <= totals.total_clicks()) {
            self.totals = Some(totals);
        }
    }

    fn has_failed(&mut self, clicks: &[&ClassifiedClick]) {
        self.failed.extend(clicks.iter().map(|one| one.click.id));
    }
}

impl Analytics {
    /// Counts a link's clicks, and returns the ids of the messages that failed.
    pub(crate) async fn count_link(&self, days: Vec<DayAndState>, until: Instant) -> Vec<String> {
        let mut failed = Vec::new();
        let mut latest: Option<(Totals, DayOfClicks)> = None;
        for (day, state) in days {
            if !failed.is_empty() {
                failed.extend(day.messages_of(day.clicks.keys()));
                continue;
            }
            let state = match &latest {
                Some((totals, _)) => state.map(|state| state.with_totals(totals.clone())),
                None => state,
            };
            let outcome = self.count_day(&day, state, until).await;
            failed.extend(day.messages_of(&outcome.failed));
            latest = outcome.totals.map(|totals| (totals, day)).or(latest);
        }
        if let Some((totals, day)) = latest {
            self.roll_up(&day, &totals).await;
        }
        failed
    }

    /// Counts the clicks of a day, on top of `state` if it was read already.
    async fn count_day(&self, day: &DayOfClicks, mut state: Option<Loaded>, until: Instant) -> Outcome {
        let (clicks, slice) = (day.in_order(), day.day.into());
        let mut outcome = Outcome::default();
        for clicks in clicks.chunks(StatsTable::MOST_CLICKS) {
            match self.count_share(day, Share { slice, clicks }, state.take(), until).await {
                Ok(Progress::Counted(totals)) => outcome.reached(totals),
                Ok(Progress::Purged) => return self.forget_day(day).await,
                Ok(Progress::Split) => return self.count_parts(day, until).await,
                Err(error) => {
                    report_failure(&day.link, clicks, error);
                    outcome.has_failed(clicks);
                }
            }
        }
        outcome
    }

    /// Counts the clicks of a day that is split, each in its part.
    async fn count_parts(&self, day: &DayOfClicks, until: Instant) -> Outcome {
        let mut parts: BTreeMap<Part, Vec<&ClassifiedClick>> = BTreeMap::new();
        for one in day.in_order() {
            parts.entry(Part::of(&one.click.id)).or_default().push(one);
        }
        let share = |part: &Part| {
            let slice = DaySlice { day: day.day, part: Some(*part) };
            move |clicks| Share { slice, clicks }
        };
        let mut shares: Vec<Share<'_>> =
            parts.iter().flat_map(|(part, clicks)| clicks.chunks(StatsTable::MOST_CLICKS).map(share(part))).collect();
        // Other consumers may be at the same day: each begins somewhere else.
        fastrand::shuffle(&mut shares);
        let counting: Vec<_> =
            shares.into_iter().map(async |share| (share, self.count_share(day, share, None, until).await)).collect();
        // To the end in any case: a write that nobody waits for could come after its link is forgotten.
        let counted: Vec<_> = stream::iter(counting).buffer_unordered(PARTS_AT_ONCE).collect().await;
        if counted.iter().any(|(_, progress)| matches!(progress, Ok(Progress::Purged))) {
            return self.forget_day(day).await;
        }
        let mut outcome = Outcome::default();
        for (share, progress) in counted {
            match progress {
                Ok(Progress::Counted(totals)) => outcome.reached(totals),
                // Parts are never split.
                Ok(Progress::Purged | Progress::Split) => outcome.has_failed(share.clicks),
                Err(error) => {
                    report_failure(&day.link, share.clicks, error);
                    outcome.has_failed(share.clicks);
                }
            }
        }
        outcome
    }

    /// Counts clicks of a day or a part of it.
    async fn count_share(
        &self,
        day: &DayOfClicks,
        Share { slice, clicks }: Share<'_>,
        mut state: Option<Loaded>,
        until: Instant,
    ) -> Result<Progress, CountError> {
        const CONTENDED_TRIES: u32 = 10;
        let work = DayWork { link: &day.link, workspace: &day.workspace, slice, clicks };
        let mut counted = 0;
        for attempt in 0..=CONTENDED_TRIES {
            if Instant::now() >= until {
                return Err(CountError::OutOfTime);
            }
            let before = match state.take() {
                Some(state) => state,
                None => self.stats.load(&[work]).await.map_err(CountError::Repository)?.pop().unwrap_or_default(),
            };
            match self.stats.count(&work, before, (self.clock)()).await.map_err(CountError::Repository)? {
                DayOutcome::Counted { fresh, totals } => {
                    report_counted(day, clicks, counted + fresh);
                    return Ok(Progress::Counted(totals));
                }
                DayOutcome::Purged => return Ok(Progress::Purged),
                DayOutcome::Split => return Ok(Progress::Split),
                DayOutcome::Contended { fresh } => {
                    counted += fresh;
                    back_off(attempt).await;
                }
            }
        }
        Err(CountError::Contended)
    }

    /// Deletes what clicks of a purged link have left behind.
    async fn forget_day(&self, day: &DayOfClicks) -> Outcome {
        let mut outcome = Outcome::default();
        if let Err(error) = self.forget(&day.link, day.clicks.keys()).await {
            report_failure(&day.link, &day.in_order(), CountError::Repository(error));
            outcome.failed.extend(day.clicks.keys());
        }
        outcome
    }

    /// Moves days into the past if it is time to. If that fails, the next click of the link tries again.
    async fn roll_up(&self, DayOfClicks { link, workspace, .. }: &DayOfClicks, totals: &Totals) {
        let Some(until) = totals.rolls_up_until((self.clock)().day()) else { return };
        if let Err(error) = self.stats.roll_up(workspace, link, totals, until).await {
            tracing::warn!(short_code = link.code.as_str(), error = chain(&error), "days could not be rolled up");
        }
    }
}

fn report_failure(link: &LinkId, clicks: &[&ClassifiedClick], error: CountError) {
    let error = match error {
        CountError::Repository(error) => chain(&error),
        CountError::Contended => "its rows are being written all the time".to_owned(),
        CountError::OutOfTime => "the batch has taken too long already".to_owned(),
    };
    tracing::error!(
        short_code = link.code.as_str(),
        correlation_id = ids_of(clicks),
        error,
        "clicks could not be counted"
    );
}

/// The correlation ids of the first clicks, as many as the line of a batch has.
fn ids_of(clicks: &[&ClassifiedClick]) -> String {
    let ids = clicks.iter().map(|one| one.click.correlation_id.as_str());
    ids.take(Measured::MOST_NAMED).collect::<Vec<_>>().join(" ")
}

/// What was counted is part of the batch's line. A line for each link costs more bytes than a click's whole journey, so it is
/// written only at the level debug.
fn report_counted(day: &DayOfClicks, clicks: &[&ClassifiedClick], fresh: usize) {
    let deliveries: usize = clicks.iter().map(|one| day.clicks[&one.click.id].message_ids.len()).sum();
    metrics::add(Metric::ClicksCounted, fresh);
    metrics::add(Metric::DedupeHits, deliveries - fresh);
    tracing::debug!(
        short_code = day.link.code.as_str(),
        clicks = fresh,
        duplicates = deliveries - fresh,
        correlation_id = ids_of(clicks),
        "clicks counted"
    );
}
