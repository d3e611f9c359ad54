//! Publishes events from the tables' streams to the queues, and takes the steps of links' expiries.
//!
//! Lambda retries a batch of a stream from the first failed record on. So the relay does all that it can and reports the first
//! record that failed; consumers recognise events that are sent again.

mod expiry;

use std::time::{Duration, Instant};

use aws_lambda_events::dynamodb::{Event as StreamEvent, EventRecord};
use aws_lambda_events::streams::DynamoDbEventResponse;
use linklet_domain::{ClickId, Day, Event, EventDetail, LinkId, Part};
use linklet_dynamodb::stream::{Change, StreamError, marker_after};
use linklet_dynamodb::{Exhaustion, ExpiryMarker, LinksTable};
use linklet_lambda::batch::{self, Consumer, DeadLetterQueue};
use linklet_lambda::publisher::{Publisher, RefusedMessage};
use linklet_lambda::stream;
use linklet_lambda::telemetry::chain;

use self::expiry::{DueExpiry, DueMarker};

/// The consumer of the tables' streams.
pub struct Relay {
    /// The repository of links, for the steps of their expiry.
    pub links: LinksTable,
    /// How long an expired link is kept.
    pub keep_expired: Duration,
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

/// Which event goes to which queues. watch-links needs none, since it reads the stream itself.
fn queues(event: &EventDetail) -> &'static [Queue] {
    match event {
        EventDetail::UrlClicked(_) => &[Queue::Analytics],
        EventDetail::UrlCreated(created) if created.quiet => &[],
        EventDetail::UrlUpdated(updated) if updated.by.is_some() => &[Queue::Notify],
        EventDetail::UrlActivated(switched) | EventDetail::UrlDeactivated(switched) if switched.by.is_some() => {
            &[Queue::Notify]
        }
        EventDetail::UrlSuspended(suspended) if !suspended.reasons.is_empty() => &[Queue::Notify],
        EventDetail::UrlResumed(resumed) if !resumed.reasons.is_empty() => &[Queue::Notify],
        EventDetail::UrlUpdated(_)
        | EventDetail::UrlActivated(_)
        | EventDetail::UrlDeactivated(_)
        | EventDetail::UrlExtended(_)
        | EventDetail::UrlSuspended(_)
        | EventDetail::UrlResumed(_)
        | EventDetail::UrlUnwatched(_)
        | EventDetail::UrlRemoved(_) => &[],
        EventDetail::UrlPurged(_) => &[Queue::Analytics, Queue::Notify],
        EventDetail::UrlCreated(_)
        | EventDetail::UrlDeleted(_)
        | EventDetail::UrlExpired(_)
        | EventDetail::UrlExhausted(_)
        | EventDetail::MilestoneReached(_)
        | EventDetail::TargetDown(_)
        | EventDetail::TargetUp(_)
        | EventDetail::JobFinished(_) => &[Queue::Notify],
    }
}

/// What a click is counted with: others of its link, day and part. Purges need no company.
fn counted_with(event: &Event) -> Option<(LinkId, Day, Part)> {
    let EventDetail::UrlClicked(clicked) = &event.detail else { return None };
    let id = ClickId::parse(event.event_id.as_str()).ok()?;
    Some((clicked.link.clone(), id.at().day(), Part::of(&id)))
}

/// An event to publish, with the position of its record in the batch.
struct OutgoingEvent {
    position: usize,
    event: Event,
}

impl Consumer<StreamEvent, DynamoDbEventResponse> for Relay {
    async fn consume(&self, batch: StreamEvent) -> DynamoDbEventResponse {
        let started = Instant::now();
        let (mut outgoing, mut markings, mut due) = (Vec::with_capacity(batch.records.len()), Vec::new(), Vec::new());
        let (mut ends, mut failed) = (Vec::new(), Vec::new());
        for (position, record) in batch.records.iter().enumerate() {
            match self.read(record) {
                Ok(RecordContent { change, marker }) => {
                    markings.extend(marker.map(|marker| DueMarker { position, marker }));
                    match change {
                        Change::Events(events) => {
                            outgoing.extend(events.into_iter().map(|event| OutgoingEvent { position, event }));
                        }
                        Change::ExpiryDue(link, correlation_id) => {
                            due.push(DueExpiry { position, link, correlation_id });
                        }
                        Change::Exhausted(end) => ends.push((position, end)),
                    }
                }
                Err(error) => {
                    if !stream::park_unreadable(&self.dead_letters, record, &error).await {
                        failed.push(position);
                    }
                }
            }
        }
        failed.extend(self.mark(&markings).await);
        failed.extend(self.take_steps(due).await);
        failed.extend(self.exhaust(&ends).await);
        failed.extend(self.name_owners(&mut outgoing).await);
        let bound_for = |queue| outgoing.iter().filter(move |one| queues(&one.event.detail).contains(&queue)).collect();
        failed.extend(self.publish_packed(&self.analytics, bound_for(Queue::Analytics)).await);
        failed.extend(self.publish(&self.notify, bound_for(Queue::Notify)).await);
        batch::log(batch.records.len(), failed.len(), started);
        stream::retry_from(failed.into_iter().min().map(|position| &batch.records[position]))
    }
}

/// What a record says.
struct RecordContent {
    change: Change,
    marker: Option<ExpiryMarker>,
}

impl Relay {
    fn read(&self, record: &EventRecord) -> Result<RecordContent, StreamError> {
        Ok(RecordContent { change: stream::read(record)?, marker: marker_after(record, self.keep_expired)? })
    }

    /// Writes to links that they are used up. Returns the positions of the records whose links could not be changed.
    async fn exhaust(&self, ends: &[(usize, Exhaustion)]) -> Vec<usize> {
        let mut failed = Vec::new();
        for (position, end) in ends {
            if let Err(error) = self.links.exhaust(end).await {
                let (short_code, error) = (end.link.code.as_str(), chain(&error));
                tracing::error!(short_code, error, "it could not be written that a link is used up");
                failed.push(*position);
            }
        }
        failed
    }

    /// Has milestones told to who owns their link now: a click names who owned it when it was followed, and they may have left the
    /// workspace since. Takes out the events for which that can't be read, and returns the positions of their records.
    async fn name_owners(&self, outgoing: &mut Vec<OutgoingEvent>) -> Vec<usize> {
        let mut unknown = Vec::new();
        for OutgoingEvent { position, event } in outgoing.iter_mut() {
            let EventDetail::MilestoneReached(reached) = &mut event.detail else { continue };
            match self.links.find(&reached.link.code).await {
                Ok(Some(record)) if record.identity().id == reached.link => {
                    reached.user_id = record.identity().owner;
                }
                // The link is gone, and with it who else might be told.
                Ok(_) => {}
                Err(error) => {
                    tracing::error!(error = chain(&error), "the owner of a link could not be looked up");
                    unknown.push(*position);
                }
            }
        }
        outgoing.retain(|one| !unknown.contains(&one.position));
        unknown
    }

    /// Sends events in order, and returns the positions of the records whose events have to be sent again.
    async fn publish(&self, queue: &Publisher, outgoing: Vec<&OutgoingEvent>) -> Vec<usize> {
        let mut failed = Vec::new();
        for chunk in outgoing.chunks(Publisher::MAX_BATCH) {
            let events: Vec<&Event> = chunk.iter().map(|outgoing| &outgoing.event).collect();
            failed.extend(self.unpublished(chunk, queue.send(&events).await).await);
        }
        failed
    }

    /// Sends clicks and purges in few messages, those of a link, day and part together, so that one write counts them. Returns the
    /// positions of the records whose events have to be sent again.
    async fn publish_packed(&self, queue: &Publisher, mut outgoing: Vec<&OutgoingEvent>) -> Vec<usize> {
        outgoing.sort_by_cached_key(|one| counted_with(&one.event));
        let events: Vec<&Event> = outgoing.iter().map(|outgoing| &outgoing.event).collect();
        let refused = queue.send_packed(&events, counted_with).await;
        self.unpublished(&outgoing, refused).await
    }

    /// Sends what a queue refuses for ever to the dead-letter queue, and returns the positions of the records of the rest.
    async fn unpublished(&self, outgoing: &[&OutgoingEvent], refused: Vec<RefusedMessage>) -> Vec<usize> {
        let mut failed = Vec::new();
        for one in &refused {
            let OutgoingEvent { position, event } = outgoing[one.position];
            if !(one.is_permanent && self.park_event(event).await) {
                failed.push(*position);
            }
        }
        tracing::debug!(sent = outgoing.len() - refused.len(), refused = refused.len(), "events sent to a queue");
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
