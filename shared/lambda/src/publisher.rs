//! Sending events and other messages to a queue.

use std::{ops::Range, time::Duration};

use aws_sdk_sqs::{Client, types::SendMessageBatchRequestEntry};
use futures_util::{StreamExt as _, stream};
use serde::Serialize;
use tokio::time::sleep;

use crate::telemetry::chain;

/// A message that could not be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefusedMessage {
    /// The message's position in the batch.
    pub position: usize,
    /// Whether SQS will refuse the message again (`SenderFault`), so that retrying it doesn't help.
    pub is_permanent: bool,
}

/// A message for an SQS queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    body: String,
    delay: Option<i32>,
}

impl Message {
    /// A message with `content` as JSON.
    ///
    /// # Errors
    /// When `content` can't be serialised as JSON.
    pub fn new(content: &impl Serialize) -> Result<Self, serde_json::Error> {
        text_of(content).map(Self::of_body)
    }

    fn of_body(body: String) -> Self {
        Self { body, delay: None }
    }

    /// Delays the delivery by this time, rounded up to seconds. SQS allows at most 15 minutes.
    #[must_use]
    pub fn delayed(mut self, delay: Duration) -> Self {
        self.delay = i32::try_from(delay.as_millis().div_ceil(1_000)).ok();
        self
    }
}

/// A message with several contents: `{"events": […]}`.
struct Pack {
    message: Message,
    /// Which of all contents it has.
    contents: Range<usize>,
}

impl Pack {
    /// Maximum size of a message's body in bytes: so much of it is billed as one request.
    const SIZE: usize = 64 * 1_024;
    /// Maximum size of the messages of one call in bytes, which is less than SQS's limit.
    const CALL: usize = 4 * Self::SIZE;
    const BEGIN: &str = r#"{"events":["#;
    const END: &str = "]}";

    fn of(contents: Range<usize>, texts: &[String]) -> Self {
        let body = format!("{}{}{}", Self::BEGIN, texts[contents.clone()].join(","), Self::END);
        Self { message: Message::of_body(body), contents }
    }
}

/// Puts contents into as few messages as their order allows. `begins_group` tells whether a content has another group than the
/// one before it. One that is larger than a message may be gets its own, which the queue will refuse.
fn packs_of(texts: &[String], begins_group: impl Fn(usize) -> bool) -> Vec<Pack> {
    let (mut packs, mut first, mut size, mut groups) = (Vec::new(), 0, 0, 1);
    for (position, text) in texts.iter().enumerate() {
        groups += usize::from(position > first && begins_group(position));
        let is_large = Pack::BEGIN.len() + size + text.len() + Pack::END.len() > Pack::SIZE;
        if position > first && (is_large || groups > Publisher::MAX_GROUPS) {
            packs.push(Pack::of(first..position, texts));
            (first, size, groups) = (position, 0, 1);
        }
        size += text.len() + ",".len();
    }
    if first < texts.len() {
        packs.push(Pack::of(first..texts.len(), texts));
    }
    packs
}

/// The messages of each call: as many as SQS takes at once.
fn calls_of(packs: &[Pack]) -> Vec<&[Pack]> {
    let (mut calls, mut first, mut size) = (Vec::new(), 0, 0);
    for (position, pack) in packs.iter().enumerate() {
        let is_full = position - first == Publisher::MAX_BATCH || size + pack.message.body.len() > Pack::CALL;
        if position > first && is_full {
            calls.push(&packs[first..position]);
            (first, size) = (position, 0);
        }
        size += pack.message.body.len();
    }
    calls.extend((first < packs.len()).then(|| &packs[first..]));
    calls
}

/// Sends messages to one queue.
#[derive(Debug, Clone)]
pub struct Publisher {
    client: Client,
    queue_url: String,
}

impl Publisher {
    /// Maximum number of messages in one call, a limit of SQS.
    pub const MAX_BATCH: usize = 10;
    /// Maximum number of groups in a message that is [packed](Self::send_packed). Whoever reads it works on each group by itself, so
    /// this bounds how long that takes.
    pub const MAX_GROUPS: usize = 25;

    /// A publisher for the queue with this URL.
    pub fn new(client: Client, queue_url: impl Into<String>) -> Self {
        Self { client, queue_url: queue_url.into() }
    }

    /// Sends at most [`Self::MAX_BATCH`] contents as messages in one call, and returns those that could not be sent.
    pub async fn send<T: Serialize>(&self, contents: &[&T]) -> Vec<RefusedMessage> {
        match contents.iter().map(Message::new).collect::<Result<Vec<_>, _>>() {
            Ok(messages) => self.send_batch(&messages.iter().collect::<Vec<_>>()).await,
            Err(error) => {
                tracing::error!(error = chain(&error), "messages could not be serialised");
                all_refused(contents.len())
            }
        }
    }

    /// Sends contents packed into few messages: one after another in this order, as many in each as fit. Contents that
    /// follow one another and have the same `group` are worked on together. Returns those contents that could not be sent.
    pub async fn send_packed<T: Serialize, G: PartialEq>(
        &self,
        contents: &[&T],
        group: impl Fn(&T) -> G,
    ) -> Vec<RefusedMessage> {
        /// Maximum number of concurrent calls.
        const CALLS: usize = 8;
        let packs = match contents.iter().map(text_of).collect::<Result<Vec<_>, _>>() {
            Ok(texts) => packs_of(&texts, |position| group(contents[position]) != group(contents[position - 1])),
            Err(error) => {
                tracing::error!(error = chain(&error), "messages could not be serialised");
                return all_refused(contents.len());
            }
        };
        let calls: Vec<_> = calls_of(&packs).into_iter().map(|some| self.send_packs(some)).collect();
        stream::iter(calls).buffer_unordered(CALLS).concat().await
    }

    async fn send_packs(&self, packs: &[Pack]) -> Vec<RefusedMessage> {
        let messages: Vec<&Message> = packs.iter().map(|pack| &pack.message).collect();
        let refused = self.send_batch(&messages).await;
        let contents = |one: &RefusedMessage| {
            let is_permanent = one.is_permanent;
            packs[one.position].contents.clone().map(move |position| RefusedMessage { position, is_permanent })
        };
        refused.iter().flat_map(contents).collect()
    }

    /// Sends any number of messages in any order, with up to three attempts. Returns how many could not be sent.
    pub async fn send_all(&self, messages: &[Message]) -> usize {
        const PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(100), Duration::from_millis(300)];
        /// Maximum number of concurrent calls.
        const CALLS: usize = 8;
        let mut waiting: Vec<&Message> = messages.iter().collect();
        let mut lost = 0;
        for pause in PAUSES {
            sleep(pause).await;
            let calls: Vec<_> = waiting.chunks(Self::MAX_BATCH).map(|batch| self.send_some(batch)).collect();
            let outcomes: Vec<_> = stream::iter(calls).buffer_unordered(CALLS).collect().await;
            lost += outcomes.iter().map(|outcome| outcome.lost).sum::<usize>();
            waiting = outcomes.into_iter().flat_map(|outcome| outcome.retryable).collect();
            if waiting.is_empty() {
                break;
            }
        }
        lost + waiting.len()
    }

    async fn send_some<'m>(&self, batch: &[&'m Message]) -> Unsent<'m> {
        let (permanent, transient): (Vec<_>, Vec<_>) =
            self.send_batch(batch).await.into_iter().partition(|refused| refused.is_permanent);
        let retryable = transient.into_iter().map(|refused| batch[refused.position]).collect();
        Unsent { lost: permanent.len(), retryable }
    }

    /// Sends a batch. SQS reports failures of single messages in a successful response, so each position is checked.
    async fn send_batch(&self, messages: &[&Message]) -> Vec<RefusedMessage> {
        let entries = match messages.iter().enumerate().map(entry).collect::<Result<Vec<_>, _>>() {
            Ok(entries) => entries,
            Err(error) => {
                tracing::error!(error, "messages could not be built");
                return all_refused(messages.len());
            }
        };
        let sent = self.client.send_message_batch().queue_url(&self.queue_url).set_entries(Some(entries)).send().await;
        let answer = match sent {
            Ok(answer) => answer,
            Err(error) => {
                tracing::warn!(error = chain(&error), "messages could not be sent");
                return all_refused(messages.len());
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
                let is_permanent = failure.is_some_and(|failure| failure.sender_fault());
                refused.push(RefusedMessage { position, is_permanent });
            }
        }
        refused
    }
}

/// The messages of a batch that could not be sent.
struct Unsent<'m> {
    /// Number of messages that SQS will refuse again.
    lost: usize,
    /// The messages to retry.
    retryable: Vec<&'m Message>,
}

fn all_refused(count: usize) -> Vec<RefusedMessage> {
    (0..count).map(|position| RefusedMessage { position, is_permanent: false }).collect()
}

fn entry((position, message): (usize, &&Message)) -> Result<SendMessageBatchRequestEntry, String> {
    SendMessageBatchRequestEntry::builder()
        .id(position.to_string())
        .message_body(&message.body)
        .set_delay_seconds(message.delay)
        .build()
        .map_err(|error| chain(&error))
}

/// A content as JSON that SQS takes.
fn text_of(content: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string(content).map(|json| escape_noncharacters(&json))
}

/// Escapes the two characters that JSON allows and SQS refuses, U+FFFE and U+FFFF. They occur only in JSON strings, so the
/// escaped text has the same value.
pub(crate) fn escape_noncharacters(json: &str) -> String {
    json.replace('\u{fffe}', "\\ufffe").replace('\u{ffff}', "\\uffff")
}

#[cfg(test)]
mod tests {
    use super::{Pack, Publisher, calls_of, escape_noncharacters, packs_of};

    fn text(bytes: usize) -> String {
        format!("\"{}\"", "x".repeat(bytes - 2))
    }

    #[test]
    fn contents_are_packed_into_messages_that_are_billed_once() {
        let texts: Vec<_> = (0..1_000).map(|number| text(300 + number % 200)).collect();
        let packs = packs_of(&texts, |_| false);

        let expected = (0..1_000).collect::<Vec<_>>();
        assert_eq!(packs.iter().flat_map(|pack| pack.contents.clone()).collect::<Vec<_>>(), expected);
        for pack in &packs {
            assert!(pack.message.body.len() <= Pack::SIZE, "{}", pack.message.body.len());
            let body: serde_json::Value = serde_json::from_str(&pack.message.body).unwrap();
            assert_eq!(body["events"].as_array().unwrap().len(), pack.contents.len());
        }
        let full = &packs[..packs.len() - 1];
        assert!(full.iter().all(|pack| pack.message.body.len() > Pack::SIZE - 600), "they are full");
    }

    #[test]
    fn a_message_is_filled_to_the_byte_or_with_one_oversized_content() {
        let room = Pack::SIZE - Pack::BEGIN.len() - Pack::END.len();
        let counts = |sizes: &[usize]| {
            let packs = packs_of(&sizes.iter().map(|size| text(*size)).collect::<Vec<_>>(), |_| false);
            packs.into_iter().map(|pack| pack.contents.len()).collect::<Vec<_>>()
        };

        assert_eq!(counts(&[]), [0; 0]);
        assert_eq!(counts(&[100, room - 101]), [2]);
        assert_eq!(counts(&[100, room - 100]), [1, 1]);
        assert_eq!(counts(&[10, 2 * room, 10]), [1, 1, 1]);
    }

    #[test]
    fn messages_and_calls_stay_within_the_limits_of_groups_and_sqs() {
        let texts: Vec<_> = (0..1_000).map(|_| text(300)).collect();

        let packs = packs_of(&texts, |position| position % 2 == 0);
        let calls = calls_of(&packs);

        assert!(packs.iter().all(|pack| pack.contents.len() == 2 * Publisher::MAX_GROUPS));
        assert!(calls.iter().all(|call| call.len() == Publisher::MAX_BATCH), "of 15 KB each");
        assert_eq!(calls.iter().map(|call| call.len()).sum::<usize>(), packs.len());
        let large = packs_of(&texts, |_| false);
        assert_eq!(calls_of(&large).into_iter().map(<[Pack]>::len).collect::<Vec<_>>(), [4, 1]);
        assert!(calls_of(&[]).is_empty());
    }

    #[test]
    fn what_sqs_refuses_is_escaped_and_means_the_same() {
        let text = "a\u{ffff}b\u{fffe}ü";
        let json = serde_json::to_string(text).unwrap();

        let sent = escape_noncharacters(&json);

        assert_eq!(sent, r#""a\uffffb\ufffeü""#);
        assert_eq!(serde_json::from_str::<String>(&sent).unwrap(), text);
    }
}
