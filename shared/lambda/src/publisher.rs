//! Sending events to a queue.

use aws_sdk_sqs::{Client, types::SendMessageBatchRequestEntry};
use linklet_domain::Event;

use crate::telemetry::chain;

/// Sends events to one queue.
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

    /// Sends at most ten events in one call and returns the positions of those that didn't get through.
    ///
    /// SQS reports the failure of single messages inside a successful answer, so every position has to be accounted for.
    pub async fn send(&self, events: &[&Event]) -> Vec<usize> {
        let everything = || (0..events.len()).collect();
        let entries = match events.iter().enumerate().map(entry).collect::<Result<Vec<_>, _>>() {
            Ok(entries) => entries,
            Err(error) => {
                tracing::error!(error, "events could not be written as messages");
                return everything();
            }
        };
        let sent = self.client.send_message_batch().queue_url(&self.queue_url).set_entries(Some(entries)).send().await;
        match sent {
            Ok(answer) => {
                for failure in answer.failed() {
                    tracing::warn!(code = failure.code(), "a queue refused an event");
                }
                let accepted: Vec<&str> = answer.successful().iter().map(|entry| entry.id()).collect();
                (0..events.len()).filter(|position| !accepted.contains(&position.to_string().as_str())).collect()
            }
            Err(error) => {
                tracing::warn!(error = chain(&error), "a queue is unreachable");
                everything()
            }
        }
    }
}

fn entry((position, event): (usize, &&Event)) -> Result<SendMessageBatchRequestEntry, String> {
    let body = serde_json::to_string(event).map_err(|error| chain(&error))?;
    SendMessageBatchRequestEntry::builder()
        .id(position.to_string())
        .message_body(body)
        .build()
        .map_err(|error| chain(&error))
}
