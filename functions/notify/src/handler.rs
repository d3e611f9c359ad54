//! Tells people about their links and monitored URLs.
//!
//! An event makes one notification however often it is delivered, since the event is the row's key. The row remembers how
//! far delivery has come, so a retry repeats only the step that failed. It also remembers who is at it: of messages that come
//! at once, one delivers and the others come again later, when they find it done. What fails to the end stands as failed in
//! the list and waits in the dead-letter queue.

mod mail;
mod topic;

use std::{
    collections::BTreeMap,
    error::Error,
    time::{Duration, Instant},
};

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use futures_util::{StreamExt as _, stream};
use linklet_domain::{EmailAddress, Event, EventDetail, EventId, Notification, Timestamp, UserId, Wording, wording};
use linklet_dynamodb::{Claim, ClaimOutcome, NotificationsTable, RepositoryError};
use linklet_lambda::{
    aws,
    batch::{self, Consumer, DeadLetterQueue, Received},
    metrics::{self, Metric},
    telemetry::chain,
};

pub use self::{mail::Mailer, topic::Topic};

/// Stores, publishes and mails notifications.
pub struct Notify {
    /// The notifications and where people get mail.
    pub notifications: NotificationsTable,
    /// Every notification goes here.
    pub topic: Topic,
    /// Every notification is mailed if there is one.
    pub mailer: Option<Mailer>,
    /// Messages that make no notification go here.
    pub dead_letters: DeadLetterQueue,
    /// How often the queue delivers a message before it gives up.
    pub max_receives: u32,
    /// What time it is.
    pub clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

/// How long a delivery has a notification for itself. It takes six calls at most: the claim, the topic and its note, the
/// address, the mail and its note; the seventh lets clocks differ. The queue hides a message for longer, so that one whose
/// delivery failed doesn't come again before the claim has run out.
pub const CLAIMED_FOR: Duration = aws::OPERATION_TIMEOUT.saturating_mul(7);

/// Why a notification was not delivered everywhere.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    /// The table failed.
    #[error("the notification could not be stored")]
    Repository(#[from] RepositoryError),
    /// SNS failed.
    #[error("the notification could not be published")]
    Topic(#[source] Box<dyn Error + Send + Sync>),
    /// SES failed.
    #[error("the notification could not be mailed")]
    Mail(#[source] Box<dyn Error + Send + Sync>),
    /// No event that tells the address, such as the owner's first `url.created`, has come by yet.
    #[error("the owner's mail address is not known yet")]
    UnknownAddress,
}

impl Consumer<SqsEvent, SqsBatchResponse> for Notify {
    async fn consume(&self, batch: SqsEvent) -> SqsBatchResponse {
        let started = Instant::now();
        let records = batch.records.len();
        let (readable, unreadable) = batch::read(batch);
        let mut failed = self.dead_letters.park_all(unreadable).await;
        let processed = stream::iter(by_event(readable)).map(|deliveries| self.process_all(deliveries));
        failed.extend(processed.buffer_unordered(CONCURRENCY).concat().await);
        batch::log(records, failed.len(), started);
        batch::failures(failed)
    }
}

/// Where a person gets mail, as an event says, and when that was known.
struct ToldAddress<'e> {
    user: &'e UserId,
    email: &'e EmailAddress,
    as_of: Timestamp,
}

fn told_address(event: &Event) -> Option<ToldAddress<'_>> {
    let (user, email, as_of) = match &event.detail {
        EventDetail::UrlCreated(created) => (&created.user_id, &created.user_email, event.occurred_at),
        // As old as the target, which may be older than any link: such an address is taken where there is no other.
        EventDetail::TargetDown(down) => (&down.user_id, &down.user_email, Timestamp::EPOCH),
        EventDetail::TargetUp(up) => (&up.user_id, &up.user_email, Timestamp::EPOCH),
        _ => return None,
    };
    Some(ToldAddress { user, email, as_of })
}

/// How many events are told at a time, so that a slow mail service can't make a batch outlive the function.
const CONCURRENCY: usize = 10;

/// SQS may deliver an event twice in a batch. The deliveries of one event stay together, to be worked on one after another.
fn by_event(received: Vec<Received>) -> Vec<Vec<Received>> {
    let mut events: BTreeMap<EventId, Vec<Received>> = BTreeMap::new();
    for message in received {
        events.entry(message.event.event_id.clone()).or_default().push(message);
    }
    events.into_values().collect()
}

impl Notify {
    /// Returns the ids of the messages that have to come again.
    async fn process_all(&self, deliveries: Vec<Received>) -> Vec<String> {
        let mut failed = Vec::new();
        for received in deliveries {
            if !self.process(&received).await {
                failed.push(received.message_id);
            }
        }
        failed
    }

    /// Says whether the message is done with.
    async fn process(&self, received: &Received) -> bool {
        let event = &received.event;
        let Some(notification) = Notification::from_event(event) else {
            return self.set_aside(received).await;
        };
        let delivered = self.deliver(event, &notification).await;
        log(received, &delivered);
        if delivered.is_err() && received.receive_count >= self.max_receives {
            self.give_up(&notification).await;
        }
        matches!(delivered, Ok(Outcome::Delivered))
    }

    async fn deliver(&self, event: &Event, notification: &Notification) -> Result<Outcome, DeliveryError> {
        if let Some(told) = told_address(event) {
            self.notifications.remember_owner(told.user, told.email, told.as_of).await?;
        }
        let claim = Claim::new((self.clock)(), CLAIMED_FOR);
        let published = match self.notifications.claim(notification, &claim).await? {
            ClaimOutcome::Claimed { published } => published,
            ClaimOutcome::ClaimedByOther => return Ok(Outcome::ClaimedByOther),
            ClaimOutcome::AlreadySent => return Ok(Outcome::Delivered),
        };
        if !published {
            self.topic.publish(notification).await?;
        }
        if let (Some(mailer), Some(wording)) = (&self.mailer, wording(&event.detail)) {
            // Without a mail there is no step between this note and the last one, which says the same.
            if !published {
                self.notifications.mark_published(notification, (self.clock)()).await?;
            }
            self.mail(mailer, &wording).await?;
        }
        self.notifications.mark_sent(notification, (self.clock)()).await?;
        Ok(Outcome::Delivered)
    }

    async fn mail(&self, mailer: &Mailer, wording: &Wording<'_>) -> Result<(), DeliveryError> {
        let address = self.notifications.owner_email(wording.user).await?;
        let sent = mailer.send(wording, &address.ok_or(DeliveryError::UnknownAddress)?).await;
        metrics::add(if sent.is_ok() { Metric::MailsSent } else { Metric::MailsFailed }, 1);
        sent
    }

    async fn give_up(&self, notification: &Notification) {
        if let Err(error) = self.notifications.mark_failed(notification).await {
            tracing::error!(error = chain(&error), "a failed notification could not be marked");
        }
    }

    /// An event that nobody is told about has no business in this queue.
    async fn set_aside(&self, received: &Received) -> bool {
        self.dead_letters.park_all(vec![received.refused("this event type has no notification")]).await.is_empty()
    }
}

/// What came of a delivery that didn't fail.
enum Outcome {
    /// Every channel has the notification, by now or since earlier.
    Delivered,
    /// Another delivery of the event is at it. Whether that one succeeds is not known yet, so the message has to come again.
    ClaimedByOther,
}

fn log(received: &Received, delivered: &Result<Outcome, DeliveryError>) {
    let event = &received.event;
    let (correlation_id, event_id) = (event.correlation_id.as_str(), event.event_id.as_str());
    let (event_type, attempt) = (event.event_type(), received.receive_count);
    match delivered {
        Ok(Outcome::Delivered) => {
            tracing::debug!(correlation_id, event_id, event_type, "notification delivered");
        }
        Ok(Outcome::ClaimedByOther) => {
            tracing::info!(correlation_id, event_id, event_type, attempt, "notification is being delivered already");
        }
        Err(error) => {
            let error = chain(error);
            tracing::error!(correlation_id, event_id, event_type, attempt, error, "notification not delivered");
        }
    }
}
