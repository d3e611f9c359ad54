//! Sending events and other messages to a queue.

use std::time::Duration;

use aws_sdk_sqs::{
    Client,
    error::SdkError,
    operation::get_queue_attributes::GetQueueAttributesError,
    types::{QueueAttributeName, SendMessageBatchRequestEntry},
};
use futures_util::{StreamExt as _, stream};
use linklet_domain::Event;
use serde::Serialize;
use tokio::time::sleep;

use crate::telemetry::chain;

/// An event that a queue didn't take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// Its position among the events.
    pub position: usize,
    /// Whether the queue will never take it, so that repeating it would block whatever comes behind it.
    pub for_good: bool,
}

/// A message for a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    body: String,
    delay: Option<i32>,
    group: Option<String>,
    deduplication_id: Option<String>,
}

impl Message {
    /// A message that says this.
    ///
    /// # Errors
    /// When it can't be written as JSON.
    pub fn new(content: &impl Serialize) -> Result<Self, serde_json::Error> {
        let body = sendable(&serde_json::to_string(content)?);
        Ok(Self { body, delay: None, group: None, deduplication_id: None })
    }

    /// Delivered after this time at the earliest, in whole seconds. A queue keeps a message back for 15 minutes at most, and a
    /// FIFO queue not at all.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = i32::try_from(delay.as_millis().div_ceil(1_000)).ok();
        self
    }

    /// For a FIFO queue: delivered when nobody works on another message of this group, and once, however often a message with
    /// this id is sent within five minutes.
    #[must_use]
    pub fn in_group(mut self, group: String, deduplication_id: String) -> Self {
        self.group = Some(group);
        self.deduplication_id = Some(deduplication_id);
        self
    }
}

/// Why it isn't known how many messages a queue has.
#[derive(Debug, thiserror::Error)]
pub enum CountError {
    /// SQS doesn't say.
    #[error("the queue's messages could not be counted")]
    Unavailable(#[source] Box<SdkError<GetQueueAttributesError>>),
    /// The answer lacks one of the numbers.
    #[error("the queue's answer has no number of messages")]
    NoNumber,
}

/// Sends messages to one queue.
#[derive(Debug, Clone)]
pub struct Publisher {
    client: Client,
    queue_url: String,
}

impl Publisher {
    /// The most messages in one call (SQS's limit).
    pub const MAX_BATCH: usize = 10;

    /// The queue with this URL.
    #[must_use]
    pub fn new(client: Client, queue_url: impl Into<String>) -> Self {
        Self { client, queue_url: queue_url.into() }
    }

    /// Sends at most ten events in one call and returns those that didn't get through.
    pub async fn send(&self, events: &[&Event]) -> Vec<Refused> {
        match events.iter().map(Message::new).collect::<Result<Vec<_>, _>>() {
            Ok(messages) => self.send_batch(&messages.iter().collect::<Vec<_>>()).await,
            Err(error) => {
                tracing::error!(error = chain(&error), "events could not be written as messages");
                everything(events.len())
            }
        }
    }

    /// Sends any number of messages, in any order, the refused ones three times, and returns how many didn't get through.
    pub async fn send_all(&self, messages: &[Message]) -> usize {
        const PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(100), Duration::from_millis(300)];
        /// How many calls are under way at a time.
        const CALLS: usize = 8;
        let mut waiting: Vec<&Message> = messages.iter().collect();
        let mut lost = 0;
        for pause in PAUSES {
            sleep(pause).await;
            let calls: Vec<_> = waiting.chunks(Self::MAX_BATCH).map(|batch| self.send_some(batch)).collect();
            let outcomes: Vec<_> = stream::iter(calls).buffer_unordered(CALLS).collect().await;
            lost += outcomes.iter().map(|outcome| outcome.lost).sum::<usize>();
            waiting = outcomes.into_iter().flat_map(|outcome| outcome.again).collect();
            if waiting.is_empty() {
                break;
            }
        }
        lost + waiting.len()
    }

    async fn send_some<'m>(&self, batch: &[&'m Message]) -> Unsent<'m> {
        let (for_good, passing): (Vec<_>, Vec<_>) =
            self.send_batch(batch).await.into_iter().partition(|refused| refused.for_good);
        Unsent { lost: for_good.len(), again: passing.into_iter().map(|refused| batch[refused.position]).collect() }
    }

    /// About how many messages the queue has, those included that somebody works on.
    ///
    /// # Errors
    /// When SQS can't be reached.
    pub async fn count(&self) -> Result<usize, CountError> {
        use QueueAttributeName::{
            ApproximateNumberOfMessages as Waiting, ApproximateNumberOfMessagesNotVisible as InWork,
        };
        let answer = self.client.get_queue_attributes().queue_url(&self.queue_url).attribute_names(Waiting);
        let answer =
            answer.attribute_names(InWork).send().await.map_err(|error| CountError::Unavailable(error.into()))?;
        let attributes = answer.attributes().ok_or(CountError::NoNumber)?;
        let number =
            |name| attributes.get(&name).and_then(|text| text.parse::<usize>().ok()).ok_or(CountError::NoNumber);
        Ok(number(Waiting)? + number(InWork)?)
    }

    /// SQS reports the failure of single messages inside a successful answer, so every position has to be accounted for.
    async fn send_batch(&self, messages: &[&Message]) -> Vec<Refused> {
        let entries = match messages.iter().enumerate().map(entry).collect::<Result<Vec<_>, _>>() {
            Ok(entries) => entries,
            Err(error) => {
                tracing::error!(error, "messages could not be sent");
                return everything(messages.len());
            }
        };
        let sent = self.client.send_message_batch().queue_url(&self.queue_url).set_entries(Some(entries)).send().await;
        let answer = match sent {
            Ok(answer) => answer,
            Err(error) => {
                tracing::warn!(error = chain(&error), "a queue is unreachable");
                return everything(messages.len());
            }
        };
        let accepted: Vec<&str> = answer.successful().iter().map(|entry| entry.id()).collect();
        let failure_of = |id: &str| answer.failed().iter().find(|failure| failure.id() == id);
        let mut refused = Vec::new();
        for position in 0..messages.len() {
            let id = position.to_string();
            if !accepted.contains(&id.as_str()) {
                let failure = failure_of(&id);
                tracing::warn!(code = failure.map(|failure| failure.code()), "a queue refused a message");
                refused.push(Refused { position, for_good: failure.is_some_and(|failure| failure.sender_fault()) });
            }
        }
        refused
    }
}

/// What a queue didn't take of a batch.
struct Unsent<'m> {
    /// How many it will never take.
    lost: usize,
    /// What it may take later.
    again: Vec<&'m Message>,
}

fn everything(count: usize) -> Vec<Refused> {
    (0..count).map(|position| Refused { position, for_good: false }).collect()
}

fn entry((position, message): (usize, &&Message)) -> Result<SendMessageBatchRequestEntry, String> {
    SendMessageBatchRequestEntry::builder()
        .id(position.to_string())
        .message_body(&message.body)
        .set_delay_seconds(message.delay)
        .set_message_group_id(message.group.clone())
        .set_message_deduplication_id(message.deduplication_id.clone())
        .build()
        .map_err(|error| chain(&error))
}

/// A JSON text without the two characters that SQS refuses and JSON allows. They can only stand in strings, where an escape
/// means the same.
pub(crate) fn sendable(json: &str) -> String {
    json.replace('\u{fffe}', "\\ufffe").replace('\u{ffff}', "\\uffff")
}

#[cfg(test)]
mod tests {
    use super::sendable;

    #[test]
    fn what_sqs_refuses_is_escaped_and_means_the_same() {
        let text = "a\u{ffff}b\u{fffe}ü";
        let json = serde_json::to_string(text).unwrap();

        let sent = sendable(&json);

        assert_eq!(sent, r#""a\uffffb\ufffeü""#);
        assert_eq!(serde_json::from_str::<String>(&sent).unwrap(), text);
    }
}
