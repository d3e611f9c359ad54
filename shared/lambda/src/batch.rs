//! Queue consumers: reading a batch, reporting batch item failures, and the dead-letter queue.
//!
//! SQS delivers at least once. A consumer answers with the messages that failed and only these come again. A message that
//! can't be read would fail forever, so it goes to the dead-letter queue after one attempt, whole, and its neighbours go on.

use std::{
    future::Future,
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use aws_lambda_events::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
use aws_sdk_sqs::{Client, types::MessageAttributeValue};
use lambda_runtime::{LambdaEvent, service_fn};
use linklet_domain::Event;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    StartError,
    metrics::{self, Metric},
    publisher::sendable,
    telemetry::chain,
};

/// A message that could be read, by default an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received<T = Event> {
    /// How SQS knows it.
    pub message_id: String,
    /// How often it has been delivered, this time included.
    pub receive_count: u32,
    /// What it says.
    pub event: T,
}

impl Received {
    /// The same as a message that its consumer can't do anything with.
    #[must_use]
    pub fn refused(&self, reason: &str) -> Unreadable {
        let body = serde_json::to_string(&self.event).unwrap_or_default();
        Unreadable { message_id: self.message_id.clone(), reason: reason.to_owned(), body }
    }
}

/// A message that could not be read and never will be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// How SQS knows it.
    pub message_id: String,
    /// What is wrong with it, without its content.
    pub reason: String,
    /// The body as it came.
    pub body: String,
}

/// Sorts a batch into what can be read and what can't.
#[must_use]
pub fn read<T: DeserializeOwned>(batch: SqsEvent) -> (Vec<Received<T>>, Vec<Unreadable>) {
    let mut readable = Vec::with_capacity(batch.records.len());
    let mut unreadable = Vec::new();
    for message in batch.records {
        match read_message(message) {
            Ok(received) => readable.push(received),
            Err(message) => unreadable.push(message),
        }
    }
    (readable, unreadable)
}

fn read_message<T: DeserializeOwned>(message: SqsMessage) -> Result<Received<T>, Unreadable> {
    let message_id = message.message_id.unwrap_or_default();
    let body = message.body.unwrap_or_default();
    let receive_count = message.attributes.get("ApproximateReceiveCount").and_then(|count| count.parse().ok());
    match serde_json::from_str(&body) {
        Ok(event) => Ok(Received { message_id, receive_count: receive_count.unwrap_or(1), event }),
        // The category only: serde's full text quotes the content.
        Err(error) => Err(Unreadable { message_id, reason: format!("not an event ({:?})", error.classify()), body }),
    }
}

/// The answer that has these messages delivered again.
#[must_use]
pub fn failures(message_ids: impl IntoIterator<Item = String>) -> SqsBatchResponse {
    let mut response = SqsBatchResponse::default();
    response.batch_item_failures = message_ids
        .into_iter()
        .map(|id| {
            let mut failure = BatchItemFailure::default();
            failure.item_identifier = id;
            failure
        })
        .collect();
    response
}

/// The queue for what can't be processed. The redrive runbook tells what happens to it.
#[derive(Debug, Clone)]
pub struct DeadLetterQueue {
    client: Client,
    url: String,
}

impl DeadLetterQueue {
    /// The queue with this URL.
    #[must_use]
    pub fn new(client: Client, url: impl Into<String>) -> Self {
        Self { client, url: url.into() }
    }

    /// Parks messages, and returns the ids of those that could not even be parked and must come again.
    pub async fn park_all(&self, unreadable: Vec<Unreadable>) -> Vec<String> {
        let mut failed = Vec::new();
        for message in unreadable {
            if !self.park(&message.body, &message.reason, &message.message_id).await {
                failed.push(message.message_id);
            }
        }
        failed
    }

    /// Parks one body with the reason, and says whether that worked. The log never shows the body.
    pub async fn park(&self, body: &str, reason: &str, message_id: &str) -> bool {
        let attribute = MessageAttributeValue::builder().data_type("String").string_value(reason).build();
        // A FIFO queue's name ends so, and wants every message in a group. No two of ours have to wait for each other.
        let group = self.url.ends_with(".fifo").then(|| message_id.to_owned());
        let sent = match attribute {
            Ok(attribute) => {
                let message = self.client.send_message().queue_url(&self.url).message_body(sendable(body));
                let message = message.set_message_group_id(group.clone()).set_message_deduplication_id(group);
                message.message_attributes("reason", attribute).send().await.map(|_| ()).map_err(|error| chain(&error))
            }
            Err(error) => Err(chain(&error)),
        };
        match sent {
            Ok(()) => tracing::error!(message_id, reason, "an unreadable message was sent to the dead-letter queue"),
            Err(ref error) => tracing::error!(message_id, reason, error, "an unreadable message could not be parked"),
        }
        sent.is_ok()
    }
}

/// What a consumer does with a batch.
pub trait Consumer<Batch, Answer>: Send + Sync {
    /// Processes one batch and answers with what failed. The answer can't be an error: that would fail all of it.
    fn consume(&self, batch: Batch) -> impl Future<Output = Answer> + Send;
}

/// Processes batches until the execution environment ends.
///
/// # Errors
/// When the Runtime API can't be reached.
pub async fn run<Batch, Answer>(consumer: impl Consumer<Batch, Answer>) -> Result<(), StartError>
where
    Batch: DeserializeOwned + Send,
    Answer: Serialize + Send,
{
    let consumer = &consumer;
    lambda_runtime::run(service_fn(async |event: LambdaEvent<Batch>| {
        // Boxed, since the types of nested futures get deeper than the compiler follows.
        Ok::<_, StartError>(Box::pin(metrics::scope(consumer.consume(event.payload))).await)
    }))
    .await
}

/// Logs a batch's line.
pub fn log(records: usize, failed: usize, started: Instant) {
    static IS_WARM: AtomicBool = AtomicBool::new(false);
    let cold_start = !IS_WARM.swap(true, Ordering::Relaxed);
    metrics::add(Metric::BatchSize, records);
    metrics::add(Metric::BatchFailures, failed);
    metrics::add(Metric::ColdStarts, cold_start.into());
    tracing::info!(
        records,
        failed,
        duration_ms = started.elapsed().as_secs_f64() * 1_000.0,
        cold_start,
        emf = metrics::embedded(),
        "batch processed"
    );
}
