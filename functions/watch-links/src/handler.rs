//! Lets links watch the URLs that they lead to, and ends that with them.
//!
//! Queues keep no order and deliver twice. The table knows which links have begun and which have ceased to watch, so it doesn't
//! matter here which news comes first, or how often.

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

/// Keeps account of which links watch which targets.
pub struct WatchLinks {
    /// The monitored URLs.
    pub targets: WatchTable,
    /// Messages that neither begin nor end anything go here.
    pub dead_letters: DeadLetterQueue,
}

/// How many links are worked on at a time.
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

/// What an event means here.
enum News<'e> {
    /// The link watches this from now on.
    Began(Box<Target>, &'e ShortCode),
    /// The link doesn't any more.
    Ended(&'e TargetId, &'e ShortCode),
}

/// Why an event means nothing here, and never will.
#[derive(Debug, thiserror::Error)]
enum NoNews {
    #[error("its link watches nothing")]
    NotWatching,
    #[error("its URL can't be monitored")]
    Target(#[from] Invalid),
}

fn news_of(event: &Event) -> Result<News<'_>, NoNews> {
    match &event.detail {
        EventDetail::UrlCreated(created @ UrlCreated { watch: true, short_code, .. }) => {
            Ok(News::Began(Box::new(target_of(event, created)?), short_code))
        }
        EventDetail::UrlDeleted(UrlDeleted { watched_target: Some(target), short_code, .. })
        | EventDetail::UrlExpired(UrlExpired { watched_target: Some(target), short_code, .. })
        | EventDetail::UrlPurged(UrlPurged { watched_target: Some(target), short_code, .. }) => {
            Ok(News::Ended(target, short_code))
        }
        _ => Err(NoNews::NotWatching),
    }
}

/// The target of a new link, in case that there is none: it belongs to whoever created the link, and is as old.
fn target_of(event: &Event, created: &UrlCreated) -> Result<Target, Invalid> {
    let UrlCreated { original_url, workspace_id, user_id, user_email, .. } = created.clone();
    Target::new(original_url, workspace_id, user_id, user_email, event.occurred_at)
}

impl WatchLinks {
    /// Returns the id of the message if it has to come again.
    async fn process(&self, received: Received) -> Vec<String> {
        let event = &received.event;
        let result = match news_of(event) {
            Ok(news) => self.take_note(event, news).await,
            Err(reason) => return self.dead_letters.park_all(vec![received.refused(&chain(&reason))]).await,
        };
        let (correlation_id, event_id) = (event.correlation_id.as_str(), event.event_id.as_str());
        match result {
            Ok(()) => {
                tracing::info!(correlation_id, event_id, event_type = event.event_type(), "watching changed");
                Vec::new()
            }
            Err(error) => {
                tracing::error!(
                    correlation_id,
                    event_id,
                    event_type = event.event_type(),
                    attempt = received.receive_count,
                    error = chain(&error),
                    "watching not changed"
                );
                vec![received.message_id]
            }
        }
    }

    async fn take_note(&self, event: &Event, news: News<'_>) -> Result<(), RepositoryError> {
        match news {
            News::Began(target, link) => self.targets.watch(&target, link, &event.correlation_id).await,
            News::Ended(target, link) => self.targets.unwatch(target, link, event.occurred_at).await,
        }
    }
}
