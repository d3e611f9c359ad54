//! Adds links to the watchers of their targets when they are created, and removes them when they are deleted or expire.
//!
//! Queues don't keep the order and may deliver twice. The table stores which links watch and which have stopped, so events may
//! arrive in any order and repeatedly.

use std::time::Instant;

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use futures_util::{StreamExt as _, stream};
use linklet_domain::{
    Event, EventDetail, Invalid, ShortCode, Target, TargetId, UrlCreated, UrlDeleted, UrlExpired, UrlPurged,
};
use linklet_dynamodb::{RepositoryError, WatchTable};
use linklet_lambda::{
    batch::{self, Consumer, DeadLetterQueue, Received},
    telemetry::chain,
};

/// The consumer of the watch-links queue.
pub struct WatchLinks {
    /// The repository of targets.
    pub targets: WatchTable,
    /// The dead-letter queue, for messages that can't be parsed or don't apply.
    pub dead_letters: DeadLetterQueue,
}

/// Maximum number of messages that are processed concurrently.
const CONCURRENCY: usize = 10;

impl Consumer<SqsEvent, SqsBatchResponse> for WatchLinks {
    async fn consume(&self, batch: SqsEvent) -> SqsBatchResponse {
        let started = Instant::now();
        let records = batch.records.len();
        let (readable, unreadable) = batch::read(batch);
        let mut failed = self.dead_letters.park_all(unreadable).await;
        let processed = stream::iter(readable).map(|received| self.process(received));
        failed.extend(processed.buffer_unordered(CONCURRENCY).concat().await);
        batch::log(records, failed.len(), started);
        batch::failures(failed)
    }
}

/// The change of a target's watchers that an event causes.
enum WatcherChange<'e> {
    /// The link starts watching the target.
    Added(Box<Target>, &'e ShortCode),
    /// The link stops watching the target.
    Removed(&'e TargetId, &'e ShortCode),
}

/// Why an event causes no change. Retrying doesn't help.
#[derive(Debug, thiserror::Error)]
enum NotApplicable {
    #[error("the link doesn't watch a target")]
    NotWatching,
    #[error("the link's URL can't be monitored")]
    Target(#[from] Invalid),
}

fn change_of(event: &Event) -> Result<WatcherChange<'_>, NotApplicable> {
    match &event.detail {
        EventDetail::UrlCreated(created @ UrlCreated { watch: true, short_code, .. }) => {
            Ok(WatcherChange::Added(Box::new(target_of(event, created)?), short_code))
        }
        EventDetail::UrlDeleted(UrlDeleted { watched_target: Some(target), short_code, .. })
        | EventDetail::UrlExpired(UrlExpired { watched_target: Some(target), short_code, .. }) => {
            Ok(WatcherChange::Removed(target, short_code))
        }
        EventDetail::UrlPurged(UrlPurged { watched_target: Some(target), link, .. }) => {
            Ok(WatcherChange::Removed(target, &link.code))
        }
        _ => Err(NotApplicable::NotWatching),
    }
}

/// The target to create for a new link if its URL has none. Its owner is the link's creator, its time of creation the link's.
fn target_of(event: &Event, created: &UrlCreated) -> Result<Target, Invalid> {
    let UrlCreated { original_url, workspace_id, user_id, user_email, .. } = created.clone();
    Target::new(original_url, workspace_id, user_id, user_email, event.occurred_at)
}

impl WatchLinks {
    /// Processes a message, and returns its id if it has to be redelivered.
    async fn process(&self, received: Received) -> Vec<String> {
        let event = &received.event;
        let result = match change_of(event) {
            Ok(change) => self.apply(event, change).await,
            Err(reason) => return self.dead_letters.park_all(vec![received.refused(&chain(&reason))]).await,
        };
        let (correlation_id, event_id) = (event.correlation_id.as_str(), event.event_id.as_str());
        match result {
            Ok(()) => {
                tracing::info!(correlation_id, event_id, event_type = event.event_type(), "watchers updated");
                Vec::new()
            }
            Err(error) => {
                tracing::error!(
                    correlation_id,
                    event_id,
                    event_type = event.event_type(),
                    attempt = received.receive_count,
                    error = chain(&error),
                    "watchers could not be updated"
                );
                vec![received.message_id]
            }
        }
    }

    async fn apply(&self, event: &Event, change: WatcherChange<'_>) -> Result<(), RepositoryError> {
        match change {
            WatcherChange::Added(target, link) => self.targets.watch(&target, link, &event.correlation_id).await,
            WatcherChange::Removed(target, link) => self.targets.unwatch(target, link, event.occurred_at).await,
        }
    }
}
