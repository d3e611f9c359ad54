//! Stream consumers: where Lambda goes on after a failure, and records that can't be processed.
//!
//! Lambda delivers the records of a shard in order, and after a failure again from the first record that failed on. A record
//! that can never be processed would block its shard, so it is sent whole to the dead-letter queue.

use std::time::Instant;

use aws_lambda_events::dynamodb::{Event as StreamEvent, EventRecord};
use aws_lambda_events::streams::{DynamoDbBatchItemFailure, DynamoDbEventResponse};

use linklet_domain::CorrelationId;
use linklet_dynamodb::stream::{Change, StreamError, change_of};
use tracing::Instrument as _;

use crate::batch::{self, DeadLetterQueue};
use crate::metrics;
use crate::telemetry::{chain, span_of};

/// Reads what a record says. The log line of the batch names the request that has changed the item.
///
/// # Errors
/// When the record can't be read.
pub fn read(record: &EventRecord) -> Result<Change, StreamError> {
    let change = change_of(record)?;
    match &change {
        Change::Events(events) => events.iter().for_each(|event| metrics::concerns(&event.correlation_id)),
        Change::ExpiryDue(_, correlation_id) => metrics::concerns(correlation_id),
        Change::Exhausted(end) => metrics::concerns(&end.correlation_id),
    }
    Ok(change)
}

/// Sends a whole record that can't be read to the dead-letter queue, as [`park`] does. Its log lines have a new correlation id.
pub async fn park_unreadable(dead_letters: &DeadLetterQueue, record: &EventRecord, error: &StreamError) -> bool {
    let correlation_id = CorrelationId::generate();
    metrics::concerns(&correlation_id);
    park(dead_letters, record, &chain(error)).instrument(span_of(&correlation_id)).await
}

/// Sends a whole record that can't be processed to the dead-letter queue. Returns whether it was sent; if not, the record has
/// to be delivered again.
pub async fn park(dead_letters: &DeadLetterQueue, record: &EventRecord, reason: &str) -> bool {
    match serde_json::to_string(record) {
        Ok(body) => {
            dead_letters.park(&body, reason, record.change.sequence_number.as_deref().unwrap_or_default()).await
        }
        Err(error) => {
            tracing::error!(error = chain(&error), "an unreadable record could not be serialised");
            false
        }
    }
}

/// A consumer for which each record has to wait for the one before.
pub trait InOrder: Sync {
    /// Processes a record, and returns whether it is done. If not, it has to be delivered again.
    fn process(&self, record: &EventRecord) -> impl Future<Output = bool> + Send;
}

/// Processes the records of a batch one after another, until one has to be delivered again, and writes the batch's log line.
pub async fn one_by_one(batch: StreamEvent, consumer: &impl InOrder) -> DynamoDbEventResponse {
    let (started, records) = (Instant::now(), &batch.records);
    let mut done = 0;
    while let Some(record) = records.get(done)
        && consumer.process(record).await
    {
        done += 1;
    }
    batch::log(records.len(), records.len() - done, started);
    retry_from(records.get(done))
}

/// The response that makes Lambda deliver the batch again from this record on; `None` means that all records succeeded.
pub fn retry_from(record: Option<&EventRecord>) -> DynamoDbEventResponse {
    let mut response = DynamoDbEventResponse::default();
    if let Some(record) = record {
        let mut failure = DynamoDbBatchItemFailure::default();
        failure.item_identifier.clone_from(&record.change.sequence_number);
        response.batch_item_failures = vec![failure];
    }
    response
}
