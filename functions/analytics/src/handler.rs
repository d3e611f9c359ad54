//! Counts clicks, each exactly once.
//!
//! A batch is grouped by link. For each link the numbers are read, the clicks folded in, and the result is written in one
//! transaction together with a marker per click. A click that was counted before cancels the transaction and is dropped;
//! somebody else who counts the same link cancels it too, and then the numbers are read again. Nothing is known before the
//! transaction commits and nothing is left to do after it, so a consumer may die at any point.

mod batches;
mod purge;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use futures_util::{StreamExt as _, stream};
use linklet_domain::{MilestoneReached, ShortCode, Timestamp, milestones_crossed};
use linklet_dynamodb::{ClicksTable, CommitOutcome, Counting, Milestone, RepositoryError, Snapshot, StatsTable};
use linklet_lambda::{
    batch::{self, Consumer, DeadLetterQueue},
    publisher::Publisher,
    telemetry::chain,
};

use self::batches::{Clicked, Work, next_transaction, sort};

/// Counts clicks, and forgets them when their link is purged.
pub struct Analytics {
    /// The counts.
    pub stats: StatsTable,
    /// The raw clicks, to delete those of purged links.
    pub clicks: ClicksTable,
    /// Its own queue, for work that takes more than one turn.
    pub queue: Publisher,
    /// Messages that are no clicks go here.
    pub dead_letters: DeadLetterQueue,
    /// How long a batch may delete, all of its purges together.
    pub purge_turn: Duration,
}

/// How many links are counted at a time. Their transactions don't touch each other.
const CONCURRENCY: usize = 8;

/// Clicks that could not be counted now.
#[derive(Debug)]
enum CountError {
    Repository(RepositoryError),
    Contended,
}

impl Consumer<SqsEvent, SqsBatchResponse> for Analytics {
    async fn consume(&self, batch: SqsEvent) -> SqsBatchResponse {
        let started = Instant::now();
        let records = batch.records.len();
        let (readable, mut unreadable) = batch::read(batch);
        let Work { links, purges, set_aside } = sort(readable);
        unreadable.extend(set_aside);
        let mut failed = self.dead_letters.park_all(unreadable).await;
        let counted = stream::iter(links).map(|(code, clicks)| self.count_link(code, clicks));
        failed.extend(counted.buffer_unordered(CONCURRENCY).concat().await);
        let until = Instant::now() + self.purge_turn;
        for purge in purges {
            if !self.purge(&purge.event, until).await {
                failed.push(purge.message_id);
            }
        }
        batch::log(records, failed.len(), started);
        batch::failures(failed)
    }
}

impl Analytics {
    /// Counts a link's clicks and returns the ids of the messages that have to come again.
    async fn count_link(&self, code: ShortCode, clicks: BTreeMap<Timestamp, Vec<Clicked>>) -> Vec<String> {
        let mut pending: Vec<Clicked> = clicks.into_values().flatten().collect();
        while !pending.is_empty() {
            let rest = pending.split_off(next_transaction(&pending));
            if let Err(error) = self.count(&code, pending.clone()).await {
                let error = match error {
                    CountError::Repository(error) => chain(&error),
                    CountError::Contended => "others count the same link all the time".to_owned(),
                };
                tracing::error!(short_code = code.as_str(), error, "clicks could not be counted");
                return pending.into_iter().chain(rest).flat_map(|click| click.message_ids).collect();
            }
            pending = rest;
        }
        Vec::new()
    }

    /// Counts as many clicks as fit one transaction.
    async fn count(&self, code: &ShortCode, mut clicks: Vec<Clicked>) -> Result<(), CountError> {
        const CONTENDED_TRIES: u32 = 10;
        let mut contended = 0;
        let mut duplicates = 0;
        while !clicks.is_empty() {
            match self.try_count(code, &clicks).await.map_err(CountError::Repository)? {
                CommitOutcome::Committed => {
                    log_counted(code, &clicks, duplicates);
                    return Ok(());
                }
                CommitOutcome::Duplicates(counted) => {
                    duplicates += counted.len();
                    clicks.retain(|click| !counted.contains(&click.event_id));
                }
                CommitOutcome::Contended if contended == CONTENDED_TRIES => return Err(CountError::Contended),
                CommitOutcome::Contended => {
                    tokio::time::sleep(backoff(contended)).await;
                    contended += 1;
                }
            }
        }
        log_counted(code, &clicks, duplicates);
        Ok(())
    }

    async fn try_count(&self, code: &ShortCode, clicks: &[Clicked]) -> Result<CommitOutcome, RepositoryError> {
        let days: BTreeSet<_> = clicks.iter().map(|click| click.occurred_at.day()).collect();
        let before = self.stats.load(code, &days).await?;
        if before.is_purged() {
            self.forget(code, clicks).await?;
            return Ok(CommitOutcome::Duplicates(clicks.iter().map(|click| click.event_id.clone()).collect()));
        }
        let mut after = before.stats().clone();
        for click in clicks {
            after.count(click.occurred_at, click.detail.referer.as_deref());
        }
        let events: Vec<_> = clicks.iter().map(|click| click.event_id.clone()).collect();
        let milestones = milestones(&before, clicks);
        let counting = Counting {
            code,
            workspace: &clicks[0].detail.workspace_id,
            before: &before,
            after: &after,
            events: &events,
            milestones: &milestones,
            now: Timestamp::now(),
        };
        self.stats.commit(&counting).await
    }
}

/// The milestones that these clicks reach, each with the click that reached it.
fn milestones(before: &Snapshot, clicks: &[Clicked]) -> Vec<Milestone> {
    let counted_before = before.stats().totals.total_clicks;
    let ordinals = counted_before + 1..;
    let crossed: BTreeSet<u64> = milestones_crossed(counted_before, counted_before + clicks.len() as u64).collect();
    ordinals
        .zip(clicks)
        .filter(|(ordinal, _)| crossed.contains(ordinal))
        .map(|(ordinal, click)| Milestone {
            detail: MilestoneReached {
                short_code: click.detail.short_code.clone(),
                workspace_id: click.detail.workspace_id.clone(),
                user_id: click.detail.user_id.clone(),
                milestone: ordinal,
            },
            reached_at: click.occurred_at,
            correlation_id: click.correlation_id.clone(),
        })
        .collect()
}

/// 0–10 ms, 0–20 ms, … up to 0–640 ms: random, so that two consumers don't meet again.
fn backoff(attempt: u32) -> Duration {
    let longest = 10_000_u64 << attempt.min(6);
    let random = getrandom::u64().unwrap_or_default();
    Duration::from_micros(random % longest)
}

/// The correlation ids of all counted clicks stand in one line, since a line per click would cost more than counting it.
fn log_counted(code: &ShortCode, clicks: &[Clicked], duplicates: usize) {
    let ids: Vec<_> = clicks.iter().map(|click| click.correlation_id.as_str()).collect();
    tracing::info!(
        short_code = code.as_str(),
        clicks = clicks.len(),
        duplicates,
        correlation_id = ids.join(" "),
        "clicks counted"
    );
}
