//! Stores parked clicks: those that redirect put into a queue because ClicksTable was throttled or unavailable.
//!
//! A click's id is its key, so storing it twice changes nothing, even if redirect stored it in spite of an error. Its insert
//! then makes it count like any other click, at the time of the click.

use std::time::Instant;

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use futures_util::{StreamExt as _, stream};
use linklet_domain::Click;
use linklet_dynamodb::ClicksTable;
use linklet_lambda::{
    batch::{self, Consumer, DeadLetterQueue, Received},
    telemetry::chain,
};

/// Stores parked clicks.
pub struct RecordClicks {
    /// The table of raw clicks.
    pub clicks: ClicksTable,
    /// The dead-letter queue, for messages that aren't clicks.
    pub dead_letters: DeadLetterQueue,
}

/// How many clicks are stored concurrently.
const CONCURRENCY: usize = 10;

impl Consumer<SqsEvent, SqsBatchResponse> for RecordClicks {
    async fn consume(&self, batch: SqsEvent) -> SqsBatchResponse {
        let started = Instant::now();
        let records = batch.records.len();
        let (readable, unreadable) = batch::read(batch);
        let mut failed = self.dead_letters.park_all(unreadable).await;
        let recorded = stream::iter(readable).map(|received| self.record(received));
        failed.extend(recorded.buffer_unordered(CONCURRENCY).concat().await);
        batch::log(records, failed.len(), started);
        batch::failures(failed)
    }
}

impl RecordClicks {
    /// Stores one click, and returns the message's id if that failed.
    async fn record(&self, received: Received) -> Vec<String> {
        let Received { message_id, event, receive_count } = received;
        let click = match Click::from_event(event) {
            Ok(click) => click,
            Err(event) => {
                let other = Received { message_id, event: *event, receive_count };
                return self.dead_letters.park_all(vec![other.refused("not a click")]).await;
            }
        };
        let Err(error) = self.clicks.record(&click).await else {
            return Vec::new();
        };
        tracing::warn!(
            correlation_id = click.correlation_id.as_str(),
            short_code = click.code.as_str(),
            attempt = receive_count,
            error = chain(&error),
            "a parked click could not be stored"
        );
        vec![message_id]
    }
}
