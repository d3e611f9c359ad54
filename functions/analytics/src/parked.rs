//! Storing parked clicks: those that redirect sent to this queue because ClicksTable was throttled or unavailable.
//!
//! A click's id is its key, so storing it twice changes nothing, even if redirect stored it in spite of an error. Its insert
//! then makes it count like any other click, at the time of the click.

use std::time::Duration;

use futures_util::future::join_all;
use linklet_domain::Click;
use linklet_lambda::{
    metrics::{self, Metric},
    publisher::Message,
    telemetry::chain,
};

use crate::Analytics;

/// A click to store, with the id of the message that carried it.
#[derive(Debug)]
pub(crate) struct ParkedClick {
    pub click: Click,
    pub message_id: String,
}

/// How many clicks are stored concurrently.
const CONCURRENCY: usize = 24;

/// The longest delay of a message that SQS allows.
const NEXT_TRY: Duration = Duration::from_secs(15 * 60);

/// How long a click is tried to be stored. A message that is older fails, and ends in the dead-letter queue.
const TRIED_FOR: Duration = Duration::from_secs(4 * 86_400);

impl Analytics {
    /// Stores parked clicks, and returns the ids of the messages that failed. When the table refuses one, the others are sent
    /// again for later: its calls take seconds to fail, and a message that fails five times would end in the dead-letter queue,
    /// though the cause may last for hours.
    pub(crate) async fn store_parked(&self, parked: Vec<ParkedClick>) -> Vec<String> {
        let (mut refused, mut stored) = (Vec::new(), 0);
        for some in parked.chunks(CONCURRENCY) {
            if !refused.is_empty() {
                refused.extend(some);
                continue;
            }
            let outcomes = join_all(some.iter().map(|parked| self.clicks.record(&parked.click))).await;
            for (parked, outcome) in some.iter().zip(outcomes) {
                match outcome {
                    Ok(()) => stored += 1,
                    Err(error) => {
                        tracing::debug!(error = chain(&error), "a parked click could not be stored");
                        refused.push(parked);
                    }
                }
            }
        }
        metrics::add(Metric::ClicksRecorded, stored);
        self.park_again(&refused).await
    }

    async fn park_again(&self, refused: &[&ParkedClick]) -> Vec<String> {
        if refused.is_empty() {
            return Vec::new();
        }
        let now = (self.clock)();
        let (young, old): (Vec<&ParkedClick>, Vec<_>) =
            refused.iter().partition(|parked| parked.click.clicked_at().plus(TRIED_FOR) > now);
        let messages: Result<Vec<Message>, _> =
            young.iter().map(|parked| {
                Ok(Message::new(&parked.click.clone().into_parked_event())?.delayed(NEXT_TRY))
            }).collect();
        let unsent = match messages {
            Ok(messages) => self.queue.send_all(&messages).await,
            Err(error) => {
                let error: serde_json::Error = error;
                tracing::error!(error = chain(&error), "parked clicks could not be serialised");
                young.len()
            }
        };
        tracing::warn!(parked = young.len(), given_up = old.len(), unsent, "parked clicks could not be stored");
        // All of them if only some could not be sent: storing a click twice changes nothing.
        let failed = if unsent == 0 { old } else { refused.to_vec() };
        failed.into_iter().map(|parked| parked.message_id.clone()).collect()
    }
}
