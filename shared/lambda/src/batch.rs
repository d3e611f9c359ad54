//! Queue consumers: parsing batches, batch item failures, and the dead-letter queue.
//!
//! SQS delivers at least once. A consumer returns the messages that failed, and only these are redelivered. A message that
//! can't be parsed would fail in each delivery, so it is sent to the dead-letter queue at once, and the others are processed.
//!
//! The log lines of a batch name the requests that its messages come from. Reading a message takes note of them, here as in
//! [`crate::stream`], so no consumer has to. What is logged of one message belongs into its [`ReceivedMessage::span`].

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use aws_lambda_events::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
use aws_sdk_sqs::{Client, error::BuildError, types::MessageAttributeValue};
use lambda_runtime::{LambdaEvent, service_fn};
use linklet_domain::{CorrelationId, Event, PlannedTick};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tracing::{Instrument as _, Span};

use crate::StartError;
use crate::metrics::{self, Metric};
use crate::publisher::escape_noncharacters;
use crate::telemetry::{chain, milliseconds, span_of};

/// A parsed message, by default an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedMessage<T = Event> {
    /// The SQS message id.
    pub message_id: String,
    /// How often the message has been delivered, including this delivery.
    pub receive_count: u32,
    /// The message's content.
    pub event: T,
}

impl<T: Content> ReceivedMessage<T> {
    /// The span of what is logged of this message.
    pub fn span(&self) -> Span {
        self.event.correlation_ids().first().map_or_else(Span::none, |first| span_of(first))
    }
}

impl<T: Serialize + Content> ReceivedMessage<T> {
    /// Converts a message that its consumer can't process, for [`DeadLetterQueue::park_all`].
    pub fn refused(&self, reason: &str) -> UnreadableMessage {
        let correlation_ids = self.event.correlation_ids();
        UnreadableMessage {
            message_id: self.message_id.clone(),
            correlation_id: correlation_ids.first().map_or_else(CorrelationId::generate, |first| (*first).clone()),
            reason: reason.to_owned(),
            body: serde_json::to_string(&self.event).unwrap_or_default(),
        }
    }
}

/// A message that can't be parsed or processed, so that retrying it doesn't help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableMessage {
    /// The SQS message id.
    pub message_id: String,
    /// The correlation id that the message names, or a new one if none can be read.
    pub correlation_id: CorrelationId,
    /// Why the message can't be processed, without parts of its content.
    pub reason: String,
    /// The message's body, unchanged.
    pub body: String,
}

impl UnreadableMessage {
    /// A text that isn't the JSON that was expected.
    pub fn malformed(body: &str, message_id: &str, error: &serde_json::Error) -> Self {
        Self {
            message_id: message_id.to_owned(),
            correlation_id: correlation_id_in(body),
            // Only the category, since the full text of serde's error quotes the content.
            reason: format!("malformed message ({:?})", error.classify()),
            body: body.to_owned(),
        }
    }
}

/// The content of a message.
pub trait Content: Sized {
    /// Reads the body of a message.
    ///
    /// # Errors
    /// When it has another form.
    fn parse(body: &str) -> serde_json::Result<Self>;

    /// The correlation ids of the requests or scheduled calls that the message comes from.
    fn correlation_ids(&self) -> Vec<&CorrelationId>;
}

macro_rules! content {
    ($name:ident) => {
        impl Content for $name {
            fn parse(body: &str) -> serde_json::Result<Self> {
                serde_json::from_str(body)
            }

            fn correlation_ids(&self) -> Vec<&CorrelationId> {
                vec![&self.correlation_id]
            }
        }
    };
}

content!(Event);
content!(PlannedTick);

/// Parses the messages of a batch, and separates those that can't be parsed.
pub fn read<T: Content>(batch: SqsEvent) -> (Vec<ReceivedMessage<T>>, Vec<UnreadableMessage>) {
    let mut readable = Vec::with_capacity(batch.records.len());
    let mut unreadable = Vec::new();
    for message in batch.records {
        match read_message::<T>(message) {
            Ok(received) => {
                received.event.correlation_ids().into_iter().for_each(metrics::concerns);
                readable.push(received);
            }
            Err(message) => {
                metrics::concerns(&message.correlation_id);
                unreadable.push(message);
            }
        }
    }
    (readable, unreadable)
}

fn read_message<T: Content>(message: SqsMessage) -> Result<ReceivedMessage<T>, UnreadableMessage> {
    let message_id = message.message_id.unwrap_or_default();
    let body = message.body.unwrap_or_default();
    let receive_count = message.attributes.get("ApproximateReceiveCount").and_then(|count| count.parse().ok());
    match T::parse(&body) {
        Ok(event) => Ok(ReceivedMessage { message_id, receive_count: receive_count.unwrap_or(1), event }),
        Err(error) => Err(UnreadableMessage::malformed(&body, &message_id, &error)),
    }
}

/// The correlation id that a message names, of which nothing else may be as expected.
fn correlation_id_in(body: &str) -> CorrelationId {
    #[derive(Deserialize)]
    struct Named {
        correlation_id: String,
    }
    let named = serde_json::from_str::<Named>(body).ok();
    CorrelationId::accept(named.as_ref().map(|named| named.correlation_id.as_str()))
}

/// The response of a consumer that makes SQS redeliver these messages.
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

/// The dead-letter queue, for messages that can't be processed. What to do with them is in `infra/runbooks/redrive.md`.
#[derive(Debug, Clone)]
pub struct DeadLetterQueue {
    client: Client,
    url: String,
    consumer: Option<&'static str>,
}

impl DeadLetterQueue {
    /// The dead-letter queue with this URL.
    pub fn new(client: Client, url: impl Into<String>) -> Self {
        Self { client, url: url.into(), consumer: None }
    }

    /// This queue for one of several consumers that use it. Each message then names its consumer in an attribute, so that a
    /// redrive hands it to the same one.
    #[must_use]
    pub fn shared_by(mut self, consumer: &'static str) -> Self {
        self.consumer = Some(consumer);
        self
    }

    /// Sends messages to the dead-letter queue. Returns the ids of those that could not be sent and must be redelivered.
    pub async fn park_all(&self, unreadable: Vec<UnreadableMessage>) -> Vec<String> {
        let mut failed = Vec::new();
        for message in unreadable {
            let span = span_of(&message.correlation_id);
            if !self.park(&message.body, &message.reason, &message.message_id).instrument(span).await {
                failed.push(message.message_id);
            }
        }
        failed
    }

    /// Sends one message to the dead-letter queue, with the reason (and the consumer) as an attribute. Returns whether it was sent. The body isn't
    /// logged.
    pub async fn park(&self, body: &str, reason: &str, message_id: &str) -> bool {
        let sent = match self.attributes(reason) {
            Ok(attributes) => {
                let message = self.client.send_message().queue_url(&self.url).message_body(escape_noncharacters(body));
                let message = message.set_message_attributes(Some(attributes));
                message.send().await.map(|_| ()).map_err(|error| chain(&error))
            }
            Err(error) => Err(chain(&error)),
        };
        match sent {
            Ok(()) => tracing::error!(message_id, reason, "an unreadable message was sent to the dead-letter queue"),
            Err(ref error) => tracing::error!(message_id, reason, error, "an unreadable message could not be parked"),
        }
        sent.is_ok()
    }

    fn attributes(&self, reason: &str) -> Result<HashMap<String, MessageAttributeValue>, BuildError> {
        let named = [("reason", Some(reason)), ("consumer", self.consumer)];
        let given = named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        given
            .map(|(name, text)| {
                Ok((name, MessageAttributeValue::builder().data_type("String").string_value(text).build()?))
            })
            .collect()
    }
}

/// A consumer of a queue or stream.
pub trait Consumer<Batch, Answer>: Send + Sync {
    /// Processes a batch and returns the items that failed. It can't return an error, which would fail the whole batch.
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
        // Boxed, since the type of the nested futures exceeds the compiler's recursion limit.
        Ok::<_, StartError>(Box::pin(metrics::scope(consumer.consume(event.payload))).await)
    }))
    .await
}

/// Writes the log line of a batch, with what it has measured.
pub fn log(records: usize, failed: usize, started: Instant) {
    static IS_WARM: AtomicBool = AtomicBool::new(false);
    let cold_start = !IS_WARM.swap(true, Ordering::Relaxed);
    metrics::add(Metric::BatchFailures, failed);
    metrics::add(Metric::ColdStarts, cold_start.into());
    tracing::info!(records, duration_ms = milliseconds(started.elapsed()), emf = metrics::emf(), "batch processed");
}
