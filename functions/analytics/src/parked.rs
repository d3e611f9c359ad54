//! Storing parked clicks: those that redirect sent to this queue because ClicksTable was throttled or unavailable.
//!
//! A click's id and how it is spread are its key, so storing it twice changes nothing, even if redirect stored it in spite of an
//! error. Its insert then makes it count like any other click, at the time of the click.

use futures_util::future::join_all;
use linklet_domain::ParkedClick;
use linklet_lambda::telemetry::chain;
use tokio::time::Instant;

use crate::Analytics;

/// A click to store, with the id of the message that carried it.
#[derive(Debug)]
pub(crate) struct ParkedMessage {
    pub parked: ParkedClick,
    pub message_id: String,
}

/// How many clicks are stored concurrently.
const CONCURRENCY: usize = 24;

impl Analytics {
    /// Stores parked clicks, and returns the ids of the messages that failed. When the table refuses one, or time is up, the
    /// others are left for later, since calls of a table that is down take seconds to fail.
    pub(crate) async fn store_parked(&self, parked: Vec<ParkedMessage>, until: Instant) -> Vec<String> {
        let mut failed = Vec::new();
        for some in parked.chunks(CONCURRENCY) {
            if !failed.is_empty() || Instant::now() >= until {
                failed.extend(some.iter().map(|message| message.message_id.clone()));
                continue;
            }
            let stored =
                some.iter().map(|ParkedMessage { parked, .. }| self.clicks.record(&parked.click, parked.spread));
            for (ParkedMessage { parked, message_id }, outcome) in some.iter().zip(join_all(stored).await) {
                if let Err(error) = outcome {
                    let short_code = parked.click.link.code.as_str();
                    tracing::warn!(short_code, error = chain(&error), "a parked click could not be stored");
                    failed.push(message_id.clone());
                }
            }
        }
        failed
    }
}
