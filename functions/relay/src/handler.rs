//! Publishes events from the tables' streams to the queues, and replaces expired links with tombstones.
//!
//! Lambda retries a batch of a stream from the first failed record on. So the relay sends all events that it can and reports
//! the first record that failed; consumers recognise events that are sent again.

use std::time::Instant;

use aws_lambda_events::{dynamodb::Event as StreamEvent, streams::DynamoDbEventResponse};
use linklet_domain::{CorrelationId, Event, EventDetail, Link, Timestamp};
use linklet_dynamodb::{LinksTable, RepositoryError, TombstoneOutcome, stream::Change};
use linklet_lambda::{
    batch::{self, Consumer, DeadLetterQueue},
    publisher::Publisher,
    stream,
    telemetry::chain,
};

/// The consumer of the tables' streams.
pub struct Relay {
    /// The repository of links, for tombstones of expired links.
    pub links: LinksTable,
    /// The analytics queue, for clicks and purges.
    pub analytics: Publisher,
    /// The notify queue, for all events but clicks.
    pub notify: Publisher,
    /// The dead-letter queue, for records that can't be read.
    pub dead_letters: DeadLetterQueue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Queue {
    Analytics,
    Notify,
}

/// The queues to which an event is sent.
fn queues(event: &EventDetail) -> &'static [Queue] {
    match event {
        EventDetail::UrlClicked(_) | EventDetail::ClickParked(_) => &[Queue::Analytics],
        EventDetail::UrlPurged(_) => &[Queue::Analytics, Queue::Notify],
        EventDetail::UrlCreated(_)
        | EventDetail::UrlDeleted(_)
        | EventDetail::UrlExpired(_)
        | EventDetail::MilestoneReached(_)
        | EventDetail::TargetDown(_)
        | EventDetail::TargetUp(_) => &[Queue::Notify],
    }
}

/// An event to publish, with the position of its record in the batch.
struct Outgoing {
    position: usize,
    event: Event,
}

impl Consumer<StreamEvent, DynamoDbEventResponse> for Relay {
    async fn consume(&self, batch: StreamEvent) -> DynamoDbEventResponse {
        let started = Instant::now();
        let (mut outgoing, mut expired, mut failed) = (Vec::with_capacity(batch.records.len()), Vec::new(), Vec::new());
        for (position, record) in batch.records.iter().enumerate() {
            match stream::read(record) {
                Ok(Change::Event(event)) => outgoing.push(Outgoing { position, event }),
                Ok(Change::Expired(link, correlation_id)) => expired.push(Expired { position, link, correlation_id }),
                Ok(Change::None) => {}
                Err(error) => {
                    if !stream::park(&self.dead_letters, record, &chain(&error)).await {
                        failed.push(position);
                    }
                }
            }
        }
        let (without_tombstone, expired_events) = self.leave_tombstones(&expired).await;
        failed.extend(without_tombstone);
        outgoing.extend(expired_events);
        let bound_for = |queue| outgoing.iter().filter(move |one| queues(&one.event.detail).contains(&queue)).collect();
        failed.extend(self.publish(&self.analytics, bound_for(Queue::Analytics)).await);
        failed.extend(self.publish(&self.notify, bound_for(Queue::Notify)).await);
        batch::log(batch.records.len(), failed.len(), started);
        stream::retry_from(failed.into_iter().min().map(|position| &batch.records[position]))
    }
}

/// A link that DynamoDB's TTL has deleted, with the position of its record in the batch.
struct Expired {
    position: usize,
    link: Box<Link>,
    correlation_id: CorrelationId,
}

impl Relay {
    /// Writes the tombstones of expired links as one run of the cleanup.
    ///
    /// Returns the positions of the links that failed, and the events of those whose code was taken by another link before
    /// there was a tombstone, which would have published the event.
    async fn leave_tombstones(&self, expired: &[Expired]) -> (Vec<usize>, Vec<Outgoing>) {
        let (mut failed, mut events) = (Vec::new(), Vec::new());
        if expired.is_empty() {
            return (failed, events);
        }
        let started = Timestamp::now();
        log_failure(self.links.cleanup_started(started).await);
        let mut cleaned = 0;
        for Expired { position, link, correlation_id } in expired {
            match self.links.leave_tombstone(link, Timestamp::now(), correlation_id).await {
                Ok(TombstoneOutcome::Written) => cleaned += 1,
                Ok(TombstoneOutcome::AlreadyWritten) => {}
                Ok(TombstoneOutcome::CodeTaken(event)) => {
                    tracing::warn!(
                        short_code = link.code.as_str(),
                        "the code of an expired link was taken by another link"
                    );
                    events.push(Outgoing { position: *position, event: *event });
                }
                Err(error) => {
                    tracing::error!(
                        short_code = link.code.as_str(),
                        error = chain(&error),
                        "the tombstone of an expired link could not be written"
                    );
                    failed.push(*position);
                }
            }
        }
        log_failure(self.links.cleanup_ended(cleaned, failed.len(), started, Timestamp::now()).await);
        (failed, events)
    }

    /// Sends events in order, and returns the positions of the records whose events have to be sent again.
    async fn publish(&self, queue: &Publisher, outgoing: Vec<&Outgoing>) -> Vec<usize> {
        let mut failed = Vec::new();
        for chunk in outgoing.chunks(Publisher::MAX_BATCH) {
            let events: Vec<&Event> = chunk.iter().map(|outgoing| &outgoing.event).collect();
            let refused = queue.send(&events).await;
            for one in &refused {
                let Outgoing { position, event } = chunk[one.position];
                if !(one.is_permanent && self.park_event(event).await) {
                    failed.push(*position);
                }
            }
            tracing::debug!(sent = chunk.len() - refused.len(), refused = refused.len(), "events sent to a queue");
        }
        failed
    }

    /// Sends an event that its queue refuses permanently to the dead-letter queue.
    async fn park_event(&self, event: &Event) -> bool {
        match serde_json::to_string(event) {
            Ok(body) => self.dead_letters.park(&body, "refused by its queue", event.event_id.as_str()).await,
            Err(error) => {
                tracing::error!(error = chain(&error), "an event could not be serialised");
                false
            }
        }
    }
}

/// Logs a failure to update the statistics of the cleanup. The cleanup continues, since it doesn't depend on them.
fn log_failure(written: Result<(), RepositoryError>) {
    if let Err(error) = written {
        tracing::warn!(error = chain(&error), "the cleanup's statistics could not be written");
    }
}
