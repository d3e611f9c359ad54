//! From the tables' streams to the queues, and from expired links to tombstones.
//!
//! Streams keep their order and are read in batches that are retried from the first failure on. So the relay sends what it
//! can, reports the first record that didn't get through, and leaves recognising repetitions to the consumers.

use std::time::Instant;

use aws_lambda_events::{
    dynamodb::{Event as StreamEvent, EventRecord},
    streams::{DynamoDbBatchItemFailure, DynamoDbEventResponse},
};
use linklet_domain::{
    CorrelationId, Event, EventDetail, Link, Timestamp, UrlCreated, UrlDeleted, UrlExpired, UrlPurged,
};
use linklet_dynamodb::{
    BuryOutcome, LinksTable, RepositoryError,
    stream::{Change, change_of},
};
use linklet_lambda::{
    batch::{self, Consumer, DeadLetterQueue},
    publisher::Publisher,
    telemetry::chain,
};

/// Publishes what the tables have committed.
pub struct Relay {
    /// Expired links are buried here.
    pub links: LinksTable,
    /// Clicks go here, and what makes them void.
    pub analytics: Publisher,
    /// Whatever somebody is told about goes here.
    pub notify: Publisher,
    /// The beginnings and ends of links that watch their URLs go here.
    pub watch_links: Publisher,
    /// Records that can't be read go here.
    pub dead_letters: DeadLetterQueue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Queue {
    Analytics,
    Notify,
    WatchLinks,
}

/// The bindings: which queues an event goes to.
fn queues(event: &EventDetail) -> &'static [Queue] {
    match event {
        EventDetail::UrlClicked(_) => &[Queue::Analytics],
        EventDetail::UrlPurged(UrlPurged { watched_target: Some(_), .. }) => {
            &[Queue::Analytics, Queue::Notify, Queue::WatchLinks]
        }
        EventDetail::UrlPurged(_) => &[Queue::Analytics, Queue::Notify],
        EventDetail::UrlCreated(UrlCreated { watch: true, .. })
        | EventDetail::UrlDeleted(UrlDeleted { watched_target: Some(_), .. })
        | EventDetail::UrlExpired(UrlExpired { watched_target: Some(_), .. }) => &[Queue::Notify, Queue::WatchLinks],
        EventDetail::UrlCreated(_)
        | EventDetail::UrlDeleted(_)
        | EventDetail::UrlExpired(_)
        | EventDetail::MilestoneReached(_)
        | EventDetail::TargetDown(_)
        | EventDetail::TargetUp(_) => &[Queue::Notify],
    }
}

/// An event on its way, with its record's position in the batch.
struct Outgoing {
    position: usize,
    event: Event,
}

impl Consumer<StreamEvent, DynamoDbEventResponse> for Relay {
    async fn consume(&self, batch: StreamEvent) -> DynamoDbEventResponse {
        let started = Instant::now();
        let (mut outgoing, mut expired, mut failed) = (Vec::with_capacity(batch.records.len()), Vec::new(), Vec::new());
        for (position, record) in batch.records.iter().enumerate() {
            match change_of(record) {
                Ok(Change::Event(event)) => outgoing.push(Outgoing { position, event }),
                Ok(Change::Expired(link, correlation_id)) => expired.push(Expired { position, link, correlation_id }),
                Ok(Change::None) => {}
                Err(error) => {
                    if !self.park(record, &chain(&error)).await {
                        failed.push(position);
                    }
                }
            }
        }
        let (unburied, overtaken) = self.bury(&expired).await;
        failed.extend(unburied);
        outgoing.extend(overtaken);
        let bound_for = |queue| outgoing.iter().filter(move |one| queues(&one.event.detail).contains(&queue)).collect();
        failed.extend(self.publish(&self.analytics, bound_for(Queue::Analytics)).await);
        failed.extend(self.publish(&self.notify, bound_for(Queue::Notify)).await);
        failed.extend(self.publish(&self.watch_links, bound_for(Queue::WatchLinks)).await);
        batch::log(batch.records.len(), failed.len(), started);
        failure_at(failed.into_iter().min().map(|position| &batch.records[position]))
    }
}

/// A link that DynamoDB has deleted, with its record's position in the batch.
struct Expired {
    position: usize,
    link: Box<Link>,
    correlation_id: CorrelationId,
}

impl Relay {
    /// Buries expired links as one run of the cleanup. Returns the positions of those that could not be buried, and the events
    /// of those whose code was taken before there was a tombstone: they have expired all the same.
    async fn bury(&self, expired: &[Expired]) -> (Vec<usize>, Vec<Outgoing>) {
        let (mut failed, mut overtaken) = (Vec::new(), Vec::new());
        if expired.is_empty() {
            return (failed, overtaken);
        }
        let started = Timestamp::now();
        note(self.links.cleanup_started(started).await);
        let mut buried = 0;
        for Expired { position, link, correlation_id } in expired {
            match self.links.bury(link, Timestamp::now(), correlation_id).await {
                Ok(BuryOutcome::Buried) => buried += 1,
                Ok(BuryOutcome::AlreadyBuried) => {}
                Ok(BuryOutcome::CodeTaken(event)) => {
                    tracing::warn!(short_code = link.code.as_str(), "the code of an expired link was taken at once");
                    overtaken.push(Outgoing { position: *position, event: *event });
                }
                Err(error) => {
                    tracing::error!(
                        short_code = link.code.as_str(),
                        error = chain(&error),
                        "an expired link was not buried"
                    );
                    failed.push(*position);
                }
            }
        }
        note(self.links.cleanup_ended(buried, failed.len(), started, Timestamp::now()).await);
        (failed, overtaken)
    }

    /// Sends events in their order and returns the positions of those that have to be sent again.
    async fn publish(&self, queue: &Publisher, outgoing: Vec<&Outgoing>) -> Vec<usize> {
        let mut failed = Vec::new();
        for chunk in outgoing.chunks(Publisher::MAX_BATCH) {
            let events: Vec<&Event> = chunk.iter().map(|outgoing| &outgoing.event).collect();
            let refused = queue.send(&events).await;
            for one in &refused {
                let Outgoing { position, event } = chunk[one.position];
                if !(one.for_good && self.park_event(event).await) {
                    failed.push(*position);
                }
            }
            tracing::debug!(sent = chunk.len() - refused.len(), refused = refused.len(), "events handed to a queue");
        }
        failed
    }

    /// Keeps an event that its queue will never take.
    async fn park_event(&self, event: &Event) -> bool {
        match serde_json::to_string(event) {
            Ok(body) => self.dead_letters.park(&body, "its queue refuses it", event.event_id.as_str()).await,
            Err(error) => {
                tracing::error!(error = chain(&error), "an event could not be written as a message");
                false
            }
        }
    }

    /// Keeps a record that can't be read, whole, so that it neither blocks its shard nor vanishes.
    async fn park(&self, record: &EventRecord, reason: &str) -> bool {
        let body = match serde_json_body(record) {
            Ok(body) => body,
            Err(error) => {
                tracing::error!(error, "an unreadable record could not be written as a message");
                return false;
            }
        };
        self.dead_letters.park(&body, reason, record.change.sequence_number.as_deref().unwrap_or_default()).await
    }
}

fn serde_json_body(record: &EventRecord) -> Result<String, String> {
    serde_json::to_string(record).map_err(|error| chain(&error))
}

/// The statistics of the cleanup are for people; the cleanup itself doesn't depend on them.
fn note(written: Result<(), RepositoryError>) {
    if let Err(error) = written {
        tracing::warn!(error = chain(&error), "the cleanup's statistics could not be written");
    }
}

/// The answer that has Lambda retry from this record on; without one, the batch is done.
fn failure_at(record: Option<&EventRecord>) -> DynamoDbEventResponse {
    let mut response = DynamoDbEventResponse::default();
    if let Some(record) = record {
        let mut failure = DynamoDbBatchItemFailure::default();
        failure.item_identifier.clone_from(&record.change.sequence_number);
        response.batch_item_failures = vec![failure];
    }
    response
}
