//! From the tables' streams to the queues.
//!
//! Streams keep their order and are read in batches that are retried from the first failure on. So the relay sends what it
//! can, reports the first record that didn't get through, and leaves recognising repetitions to the consumers.

mod publisher;

use std::time::Instant;

use aws_lambda_events::{
    dynamodb::{Event as StreamEvent, EventRecord},
    streams::{DynamoDbBatchItemFailure, DynamoDbEventResponse},
};
use linklet_domain::{Event, EventDetail};
use linklet_dynamodb::stream::event_of;
use linklet_lambda::{
    batch::{self, Consumer, DeadLetterQueue},
    telemetry::chain,
};

pub use self::publisher::Publisher;

/// Publishes what the tables have committed.
pub struct Relay {
    /// Clicks go here.
    pub analytics: Publisher,
    /// Whatever somebody is told about goes here.
    pub notify: Publisher,
    /// Records that can't be read go here.
    pub dead_letters: DeadLetterQueue,
}

/// An event on its way, with its record's position in the batch.
struct Outgoing {
    position: usize,
    event: Event,
}

impl Consumer<StreamEvent, DynamoDbEventResponse> for Relay {
    async fn consume(&self, batch: StreamEvent) -> DynamoDbEventResponse {
        let started = Instant::now();
        let mut outgoing = Vec::with_capacity(batch.records.len());
        let mut failed = Vec::new();
        for (position, record) in batch.records.iter().enumerate() {
            match event_of(record) {
                Ok(Some(event)) => outgoing.push(Outgoing { position, event }),
                Ok(None) => {}
                Err(error) => {
                    if !self.park(record, &chain(&error)).await {
                        failed.push(position);
                    }
                }
            }
        }
        let (clicks, others): (Vec<_>, Vec<_>) =
            outgoing.into_iter().partition(|outgoing| matches!(outgoing.event.detail, EventDetail::UrlClicked(_)));
        failed.extend(publish(&self.analytics, &clicks).await);
        failed.extend(publish(&self.notify, &others).await);
        batch::log(batch.records.len(), failed.len(), started);
        failure_at(failed.into_iter().min().map(|position| &batch.records[position]))
    }
}

impl Relay {
    /// Keeps a record that can't be read, whole, so that it neither blocks its shard nor vanishes.
    async fn park(&self, record: &EventRecord, reason: &str) -> bool {
        let body = match serde_json_body(record) {
            Ok(body) => body,
            Err(error) => {
                tracing::error!(error, "an unreadable record could not be written as a message");
                return false;
            }
        };
        self.dead_letters.park(&body, reason, record.change.sequence_number.as_deref().unwrap_or_default()).await
    }
}

fn serde_json_body(record: &EventRecord) -> Result<String, String> {
    serde_json::to_string(record).map_err(|error| chain(&error))
}

/// Sends events in their order and returns the positions of those that didn't get through.
async fn publish(queue: &Publisher, outgoing: &[Outgoing]) -> Vec<usize> {
    let mut failed = Vec::new();
    for chunk in outgoing.chunks(Publisher::MAX_BATCH) {
        let events: Vec<&Event> = chunk.iter().map(|outgoing| &outgoing.event).collect();
        failed.extend(queue.send(&events).await.into_iter().map(|index| chunk[index].position));
        for Outgoing { event, .. } in chunk {
            tracing::debug!(
                correlation_id = event.correlation_id.as_str(),
                event_id = event.event_id.as_str(),
                event_type = event.event_type(),
                "event handed to its queue"
            );
        }
    }
    failed
}

/// The answer that has Lambda retry from this record on; without one, the batch is done.
fn failure_at(record: Option<&EventRecord>) -> DynamoDbEventResponse {
    let mut response = DynamoDbEventResponse::default();
    if let Some(record) = record {
        let mut failure = DynamoDbBatchItemFailure::default();
        failure.item_identifier.clone_from(&record.change.sequence_number);
        response.batch_item_failures = vec![failure];
    }
    response
}
