//! Counts clicks, each exactly once. Also stores clicks that redirect could not store, and forgets purged links.
//!
//! A batch is grouped by link and day. For each, the table adds the clicks that it doesn't know yet, in one write of the day on
//! the condition that nobody else has written it; if somebody has, the day is read again. What follows from the day, the link's
//! total and its milestones, is written afterwards and can be repeated, so a consumer may die at any point.

mod batches;
mod clients;
mod parked;
mod purge;

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use futures_util::{StreamExt as _, stream};
use linklet_domain::{CorrelationId, Day, LinkId, Timestamp, Totals};
use linklet_dynamodb::{ClicksTable, DayOutcome, Loaded, RepositoryError, StatsTable, back_off};
use linklet_lambda::{
    batch::{self, Consumer, DeadLetterQueue},
    metrics::{self, Metric},
    publisher::Publisher,
    telemetry::chain,
};

use self::batches::{DayOfClicks, Work, sort};
pub use self::clients::Clients;

/// Counts clicks, and deletes the clicks and statistics of purged links.
pub struct Analytics {
    /// The table of statistics.
    pub stats: StatsTable,
    /// The raw clicks, to store parked ones and to delete those of purged links.
    pub clicks: ClicksTable,
    /// The analytics queue itself, for purges that take more than one invocation.
    pub queue: Publisher,
    /// Classifies user agents.
    pub clients: Arc<Clients>,
    /// The dead-letter queue, for messages that can't be read.
    pub dead_letters: DeadLetterQueue,
    /// How long after its begin an invocation stops to delete clicks of purged links.
    pub purge_turn: Duration,
    /// Tells the time, on which it depends whether a click's day is recent.
    pub clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

/// How many links are counted concurrently. Their writes share no items, and each takes DynamoDB some 10 ms.
const CONCURRENCY: usize = 24;

/// How long an invocation starts to count links, and to store parked clicks; the rest of the batch is returned to the queue. Only a table that is down or
/// slow takes longer, and a function that ran into its timeout would return the whole batch.
const COUNT_TURN: Duration = Duration::from_secs(10);

/// Clicks that could not be counted now.
#[derive(Debug)]
enum CountError {
    Repository(RepositoryError),
    Contended,
    OutOfTime,
}

impl Consumer<SqsEvent, SqsBatchResponse> for Analytics {
    async fn consume(&self, batch: SqsEvent) -> SqsBatchResponse {
        let started = Instant::now();
        let records = batch.records.len();
        let (readable, mut unreadable) = batch::read(batch);
        let Work { links, parked, purges, set_aside } = sort(readable, &self.clients);
        unreadable.extend(set_aside);
        let mut failed = self.dead_letters.park_all(unreadable).await;
        let counted = stream::iter(self.loaded(links).await).map(|days| self.count_link(days, started + COUNT_TURN));
        failed.extend(counted.buffer_unordered(CONCURRENCY).concat().await);
        failed.extend(self.store_parked(parked, started + COUNT_TURN).await);
        let until = started + self.purge_turn;
        for (position, purge) in purges.into_iter().enumerate() {
            // At least one each time, so that every turn gets further.
            let is_late = position > 0 && Instant::now() >= until;
            let is_done = if is_late { self.later(&purge.event).await } else { self.purge(&purge, until).await };
            if !is_done {
                failed.push(purge.message_id);
            }
        }
        batch::log(records, failed.len(), started);
        batch::failures(failed)
    }
}

/// A day with its clicks, and what counting them needs if it was read already.
type DayAndState = (DayOfClicks, Option<Loaded>);

impl Analytics {
    /// Reads what counting needs for all links together, which takes a fraction of the calls. If that fails, each day is read by
    /// itself, so that one link can't keep the others from being counted.
    async fn loaded(&self, links: BTreeMap<LinkId, BTreeMap<Day, DayOfClicks>>) -> Vec<Vec<DayAndState>> {
        let in_order: Vec<_> = links.values().flat_map(BTreeMap::values).map(DayOfClicks::in_order).collect();
        let days = links.values().flat_map(BTreeMap::values);
        let works: Vec<_> = days.zip(&in_order).map(|(day, clicks)| day.work(clicks)).collect();
        let mut states = match self.stats.load(&works).await {
            Ok(states) => states.into_iter().map(Some).collect(),
            Err(error) => {
                tracing::warn!(error = chain(&error), "numbers are read day by day");
                vec![None; works.len()]
            }
        }
        .into_iter();
        let with_state = |days: BTreeMap<Day, DayOfClicks>| days.into_values().zip(states.by_ref()).collect();
        links.into_values().map(with_state).collect()
    }

    /// Counts a link's clicks, and returns the ids of the messages that failed.
    async fn count_link(&self, days: Vec<DayAndState>, until: Instant) -> Vec<String> {
        let mut failed = Vec::new();
        let mut latest: Option<(Totals, DayOfClicks)> = None;
        for (day, state) in days {
            if !failed.is_empty() {
                failed.extend(day.message_ids());
                continue;
            }
            let state = match &latest {
                Some((totals, _)) => state.map(|state| state.with_totals(totals.clone())),
                None => state,
            };
            let counted =
                if Instant::now() < until { self.count(&day, state).await } else { Err(CountError::OutOfTime) };
            match counted {
                Ok(totals) => latest = totals.map(|totals| (totals, day)).or(latest),
                Err(error) => {
                    report_failure(&day.link, error);
                    failed.extend(day.message_ids());
                }
            }
        }
        if let Some((totals, day)) = latest {
            self.settle(&day, &totals).await;
        }
        failed
    }

    /// Counts the clicks of a day, on top of `state` if it was read already. Returns the link's counts, or `None` for a link
    /// that was purged.
    async fn count(&self, day: &DayOfClicks, mut state: Option<Loaded>) -> Result<Option<Totals>, CountError> {
        const CONTENDED_TRIES: u32 = 10;
        let clicks = day.in_order();
        let (work, mut counted) = (day.work(&clicks), 0);
        for attempt in 0..=CONTENDED_TRIES {
            let before = match state.take() {
                Some(state) => state,
                None => self.stats.load(&[work]).await.map_err(CountError::Repository)?.pop().unwrap_or_default(),
            };
            match self.stats.count(&work, before, (self.clock)()).await.map_err(CountError::Repository)? {
                DayOutcome::Counted { fresh, totals } => {
                    report_counted(day, counted + fresh);
                    return Ok(Some(totals));
                }
                DayOutcome::Purged => {
                    self.forget(&day.link, day.clicks.keys()).await.map_err(CountError::Repository)?;
                    return Ok(None);
                }
                DayOutcome::Contended { fresh } => {
                    counted += fresh;
                    back_off(attempt).await;
                }
            }
        }
        Err(CountError::Contended)
    }

    /// Moves days into the past if it is time to. If that fails, the next click of the link tries again.
    async fn settle(&self, DayOfClicks { link, workspace, .. }: &DayOfClicks, totals: &Totals) {
        let Some(until) = totals.settles_until((self.clock)().day()) else { return };
        if let Err(error) = self.stats.settle(workspace, link, totals, until).await {
            tracing::warn!(short_code = link.code.as_str(), error = chain(&error), "days could not be settled");
        }
    }
}

fn report_failure(link: &LinkId, error: CountError) {
    let error = match error {
        CountError::Repository(error) => chain(&error),
        CountError::Contended => "its rows are being written all the time".to_owned(),
        CountError::OutOfTime => "the batch has taken too long already".to_owned(),
    };
    tracing::error!(short_code = link.code.as_str(), error, "clicks could not be counted");
}

/// What was counted is part of the batch's line. A line for each link costs more bytes than a click's whole journey, so it is
/// written only at the level debug.
fn report_counted(day: &DayOfClicks, fresh: usize) {
    let messages: usize = day.clicks.values().map(|queued| queued.message_ids.len()).sum();
    metrics::add(Metric::ClicksCounted, fresh);
    metrics::add(Metric::DedupeHits, messages - fresh);
    let ids = day.clicks.values().map(|queued| &queued.classified.click.correlation_id);
    tracing::debug!(
        short_code = day.link.code.as_str(),
        clicks = fresh,
        duplicates = messages - fresh,
        correlation_id = ids.map(CorrelationId::as_str).collect::<Vec<_>>().join(" "),
        "clicks counted"
    );
}
