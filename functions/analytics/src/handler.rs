//! Counts clicks, each exactly once.
//!
//! A batch is grouped by link. For each link, its statistics are read together with the ids of clicks that were counted at
//! about the same time. Clicks whose ids are not among them are added, and statistics and ids are written in one transaction.
//! If another consumer counts the same link, the transaction is cancelled, and the link is read again. There is no state before
//! the commit and no work after it, so a consumer may die at any point.

mod batches;
mod clients;
mod purge;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use futures_util::{StreamExt as _, stream};
use linklet_domain::{Day, EventId, ShortCode, Timestamp, WorkspaceId, milestones_crossed};
use linklet_dynamodb::{
    ClicksTable, CommitOutcome, Counting, Milestone, RepositoryError, Snapshot, StatsTable, back_off,
};
use linklet_lambda::{
    batch::{self, Consumer, DeadLetterQueue},
    metrics::{self, Metric},
    publisher::Publisher,
    telemetry::chain,
};

use self::batches::{ByTime, QueuedClick, Work, next_transaction, sort};
pub use self::clients::Clients;

/// Counts clicks, and deletes the clicks and statistics of purged links.
pub struct Analytics {
    /// The table of statistics.
    pub stats: StatsTable,
    /// The raw clicks, to delete those of purged links.
    pub clicks: ClicksTable,
    /// The analytics queue itself, for purges that take more than one invocation.
    pub queue: Publisher,
    /// Classifies user agents.
    pub clients: Arc<Clients>,
    /// The dead-letter queue, for messages that can't be read.
    pub dead_letters: DeadLetterQueue,
    /// How long one invocation may delete clicks of purged links.
    pub purge_turn: Duration,
}

/// How many links are counted concurrently. Their transactions share no items, and each takes DynamoDB some 10 ms.
const CONCURRENCY: usize = 24;

/// How long an invocation starts to count links; the rest of the batch is returned to the queue. Only a table that is down or
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
        let Work { links, purges, set_aside } = sort(readable, &self.clients);
        unreadable.extend(set_aside);
        let mut failed = self.dead_letters.park_all(unreadable).await;
        let counted =
            stream::iter(self.with_snapshots(links).await).map(|link| self.count_link(link, started + COUNT_TURN));
        failed.extend(counted.buffer_unordered(CONCURRENCY).concat().await);
        let until = Instant::now() + self.purge_turn;
        for (position, purge) in purges.into_iter().enumerate() {
            // At least one each time, so that every turn gets further.
            let is_late = position > 0 && Instant::now() >= until;
            let is_done = if is_late { self.later(&purge.event).await } else { self.purge(&purge.event, until).await };
            if !is_done {
                failed.push(purge.message_id);
            }
        }
        batch::log(records, failed.len(), started);
        batch::failures(failed)
    }
}

impl Analytics {
    /// Reads the statistics of all links together, which takes a fraction of the calls. If that fails, each link is read by
    /// itself, so that one link can't keep the others from being counted.
    async fn with_snapshots(&self, links: BTreeMap<ShortCode, ByTime>) -> Vec<LinkWork> {
        let mut links: Vec<LinkWork> = links.into_iter().map(|(code, clicks)| LinkWork::new(code, clicks)).collect();
        let requests: Vec<_> = links.iter().map(|link| (&link.code, ids_and_days(link.first_transaction()))).collect();
        match self.stats.load_all(&requests).await {
            Ok(snapshots) => {
                links.iter_mut().zip(snapshots).for_each(|(link, snapshot)| link.snapshot = snapshot);
            }
            Err(error) => tracing::warn!(error = chain(&error), "numbers are read link by link"),
        }
        links
    }

    /// Counts a link's clicks, and returns the ids of the messages that failed.
    async fn count_link(&self, link: LinkWork, until: Instant) -> Vec<String> {
        let LinkWork { code, clicks: mut pending, mut snapshot } = link;
        while !pending.is_empty() {
            let rest = pending.split_off(next_transaction(&pending));
            let counted = if Instant::now() < until {
                self.count(&code, &pending, snapshot.take()).await
            } else {
                Err(CountError::OutOfTime)
            };
            if let Err(error) = counted {
                let error = match error {
                    CountError::Repository(error) => chain(&error),
                    CountError::Contended => "its rows are being written all the time".to_owned(),
                    CountError::OutOfTime => "the batch has taken too long already".to_owned(),
                };
                tracing::error!(short_code = code.as_str(), error, "clicks could not be counted");
                return pending.into_iter().chain(rest).flat_map(|queued| queued.message_ids).collect();
            }
            pending = rest;
        }
        Vec::new()
    }

    /// Counts the clicks of one transaction, on top of `known` if it was read already.
    async fn count(
        &self,
        code: &ShortCode,
        clicks: &[QueuedClick],
        mut known: Option<Snapshot>,
    ) -> Result<(), CountError> {
        const CONTENDED_TRIES: u32 = 10;
        for attempt in 0..=CONTENDED_TRIES {
            let before = match known.take() {
                Some(snapshot) => snapshot,
                None => self.stats.load(code, &ids_and_days(clicks)).await.map_err(CountError::Repository)?,
            };
            match self.try_count(code, clicks, &before).await.map_err(CountError::Repository)? {
                CommitOutcome::Committed => return Ok(()),
                CommitOutcome::Contended => back_off(attempt).await,
            }
        }
        Err(CountError::Contended)
    }

    async fn try_count(
        &self,
        code: &ShortCode,
        clicks: &[QueuedClick],
        before: &Snapshot,
    ) -> Result<CommitOutcome, RepositoryError> {
        if before.is_purged() {
            self.forget(code, clicks).await?;
            return Ok(CommitOutcome::Committed);
        }
        let fresh: Vec<&QueuedClick> = clicks.iter().filter(|queued| !before.has_counted(&queued.click.id)).collect();
        let outcome = match fresh.first() {
            Some(first) => self.commit(code, &first.click.workspace, before, &fresh).await?,
            None => CommitOutcome::Committed,
        };
        if outcome == CommitOutcome::Committed {
            let messages: usize = clicks.iter().map(|queued| queued.message_ids.len()).sum();
            report_counted(code, &fresh, messages - fresh.len());
        }
        Ok(outcome)
    }

    async fn commit(
        &self,
        code: &ShortCode,
        workspace: &WorkspaceId,
        before: &Snapshot,
        clicks: &[&QueuedClick],
    ) -> Result<CommitOutcome, RepositoryError> {
        let mut after = before.stats().clone();
        if let Some(newest) = clicks.iter().map(|queued| queued.click.clicked_at.day()).max() {
            after.settle(newest);
        }
        for QueuedClick { click, client, .. } in clicks {
            after.count(click.clicked_at, &click.visitor, client);
        }
        let events: Vec<_> = clicks.iter().map(|queued| queued.click.id.clone()).collect();
        let counting = Counting {
            code,
            workspace,
            before,
            after: &after,
            events: &events,
            milestones: &milestones(before, clicks),
            now: Timestamp::now(),
        };
        self.stats.commit(&counting).await
    }
}

/// A link with its clicks, and its statistics if they were read already.
struct LinkWork {
    code: ShortCode,
    clicks: Vec<QueuedClick>,
    snapshot: Option<Snapshot>,
}

impl LinkWork {
    fn new(code: ShortCode, clicks: ByTime) -> Self {
        Self { code, clicks: clicks.into_values().flatten().collect(), snapshot: None }
    }

    fn first_transaction(&self) -> &[QueuedClick] {
        &self.clicks[..next_transaction(&self.clicks)]
    }
}

fn ids_and_days(clicks: &[QueuedClick]) -> Vec<(EventId, Day)> {
    clicks.iter().map(|QueuedClick { click, .. }| (click.id.clone(), click.clicked_at.day())).collect()
}

/// The milestones that these clicks reach.
fn milestones(before: &Snapshot, clicks: &[&QueuedClick]) -> Vec<Milestone> {
    let counted_before = before.stats().totals.total_clicks;
    let ordinals = counted_before + 1..;
    let crossed: BTreeSet<u64> = milestones_crossed(counted_before, counted_before + clicks.len() as u64).collect();
    ordinals
        .zip(clicks)
        .filter(|(ordinal, _)| crossed.contains(ordinal))
        .map(|(ordinal, queued)| Milestone::reached_by(&queued.click, ordinal))
        .collect()
}

/// What was counted is part of the batch's line. A line for each link costs more bytes than a click's whole journey, so it is
/// written only at the level debug.
fn report_counted(code: &ShortCode, clicks: &[&QueuedClick], duplicates: usize) {
    metrics::add(Metric::ClicksCounted, clicks.len());
    metrics::add(Metric::DedupeHits, duplicates);
    clicks.iter().for_each(|queued| metrics::concerns(&queued.click.correlation_id));
    tracing::debug!(
        short_code = code.as_str(),
        clicks = clicks.len(),
        duplicates,
        correlation_id = clicks.iter().map(|queued| queued.click.correlation_id.as_str()).collect::<Vec<_>>().join(" "),
        "clicks counted"
    );
}
