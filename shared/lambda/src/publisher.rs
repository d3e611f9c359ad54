//! Sending events to a queue.

use aws_sdk_sqs::{Client, types::SendMessageBatchRequestEntry};
use linklet_domain::Event;

use crate::telemetry::chain;

/// An event that a queue didn't take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// Its position among the events.
    pub position: usize,
    /// Whether the queue will never take it, so that repeating it would block whatever comes behind it.
    pub for_good: bool,
}

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

    /// Sends at most ten events in one call and returns those that didn't get through.
    ///
    /// SQS reports the failure of single messages inside a successful answer, so every position has to be accounted for.
    pub async fn send(&self, events: &[&Event]) -> Vec<Refused> {
        let everything = || (0..events.len()).map(|position| Refused { position, for_good: false }).collect();
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
                let accepted: Vec<&str> = answer.successful().iter().map(|entry| entry.id()).collect();
                let failure_of = |id: &str| answer.failed().iter().find(|failure| failure.id() == id);
                let mut refused = Vec::new();
                for position in 0..events.len() {
                    let id = position.to_string();
                    if !accepted.contains(&id.as_str()) {
                        let failure = failure_of(&id);
                        tracing::warn!(code = failure.map(|failure| failure.code()), "a queue refused an event");
                        refused.push(Refused {
                            position,
                            for_good: failure.is_some_and(|failure| failure.sender_fault()),
                        });
                    }
                }
                refused
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
        .message_body(sendable(&body))
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
