//! Counts clicks, each exactly once. Also stores clicks that redirect could not store, and forgets purged links.
//!
//! A batch is grouped by link and day. For each, the table adds the clicks that it doesn't know yet, in one write of the day on
//! the condition that nobody else has written it; if somebody has, the day is read again. What follows from the day, the link's
//! total and its milestones, is written afterwards and can be repeated, so a consumer may die at any point.

mod batches;
mod clients;
mod counting;
mod loads;
mod parked;
mod purge;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use futures_util::{StreamExt as _, stream};
use linklet_domain::{Day, Timestamp};
use linklet_dynamodb::{ClicksTable, JobsTable, LinksTable, StatsTable};
use linklet_lambda::batch::{self, Consumer, DeadLetterQueue};
use linklet_lambda::telemetry::{chain, span_of};
use tokio::time::Instant;
use tracing::Instrument as _;

use self::batches::{DayOfClicks, Work, sort};
use self::counting::DayAndState;
use self::loads::{Links, in_loads};
pub use self::{clients::Clients, counting::PARTS_AT_ONCE};

/// Counts clicks, and deletes the clicks and statistics of purged links.
pub struct Analytics {
    /// The table of statistics.
    pub stats: StatsTable,
    /// The raw clicks, to store parked ones and to delete those of purged links.
    pub clicks: ClicksTable,
    /// The histories of links, to delete those of purged ones.
    pub links: LinksTable,
    /// The tasks of the job runner, for purges that take more than one invocation.
    pub jobs: JobsTable,
    /// Classifies user agents.
    pub clients: Arc<Clients>,
    /// The dead-letter queue, for messages that can't be read.
    pub dead_letters: DeadLetterQueue,
    /// How long an invocation starts to count links, and to store parked clicks; the rest of the batch is returned to the queue. Only a
    /// table that is down or slow takes longer, and a function that ran into its timeout would return the whole batch.
    pub count_turn: Duration,
    /// How long after its begin an invocation stops to delete clicks of purged links.
    pub purge_turn: Duration,
    /// Tells the time, on which it depends whether a click's day is recent.
    pub clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

/// How many links of a load are counted concurrently. Their writes share no items, and each takes DynamoDB some 10 ms.
const CONCURRENCY: usize = 12;

/// How many loads are read and counted concurrently.
const LOADS_AT_ONCE: usize = 2;

impl Consumer<SqsEvent, SqsBatchResponse> for Analytics {
    async fn consume(&self, batch: SqsEvent) -> SqsBatchResponse {
        let started = Instant::now();
        let records = batch.records.len();
        let (readable, unreadable) = batch::read(batch);
        let Work { links, parked, purges, set_aside } = sort(readable, &self.clients);
        let mut failed: BTreeSet<String> = self.dead_letters.park_all(unreadable).await.into_iter().collect();
        let counted = stream::iter(in_loads(links)).map(|links| self.count_links(links, started + self.count_turn));
        failed.extend(counted.buffer_unordered(LOADS_AT_ONCE).concat().await);
        failed.extend(self.store_parked(parked, started + self.count_turn).await);
        let until = started + self.purge_turn;
        for (position, purge) in purges.into_iter().enumerate() {
            // At least one each time, so that every turn gets further. The others come again.
            let is_late = position > 0 && Instant::now() >= until;
            let span = span_of(&purge.event.correlation_id);
            if is_late || !self.purge(&purge, until).instrument(span).await {
                failed.insert(purge.message_id);
            }
        }
        // What else a message carries comes again if one of its clicks does, and is set aside then.
        let set_aside = set_aside.into_iter().filter(|event| !failed.contains(&event.message_id)).collect();
        failed.extend(self.dead_letters.park_all(set_aside).await);
        batch::log(records, failed.len(), started.into_std());
        batch::failures(failed)
    }
}

impl Analytics {
    /// Counts the clicks of links that are loaded together, and returns the ids of the messages that failed.
    async fn count_links(&self, links: Links, until: Instant) -> Vec<String> {
        if Instant::now() >= until {
            let days = links.values().flat_map(BTreeMap::values);
            return days.flat_map(|day| day.messages_of(day.clicks.keys())).collect();
        }
        let counted = stream::iter(self.loaded(links).await).map(|days| self.count_link(days, until));
        counted.buffer_unordered(CONCURRENCY).concat().await
    }

    /// Reads what counting needs for some links together, which takes a fraction of the calls. If that fails, each day is read by
    /// itself, so that one link can't keep the others from being counted.
    async fn loaded(&self, links: Links) -> Vec<Vec<DayAndState>> {
        let in_order: Vec<_> = links.values().flat_map(BTreeMap::values).map(DayOfClicks::in_order).collect();
        let days = links.values().flat_map(BTreeMap::values);
        let works: Vec<_> = days.zip(&in_order).map(|(day, clicks)| day.work(clicks)).collect();
        let mut states = match self.stats.load(&works).await {
            Ok(states) => states.into_iter().map(Some).collect(),
            Err(error) => {
                tracing::warn!(error = chain(&error), "numbers are read day by day");
                vec![None; works.len()]
            }
        }
        .into_iter();
        let with_state = |days: BTreeMap<Day, DayOfClicks>| days.into_values().zip(states.by_ref()).collect();
        links.into_values().map(with_state).collect()
    }
}
