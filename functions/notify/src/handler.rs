//! Tells people about their links and monitored URLs, and mails them tokens.
//!
//! An event makes one notification however often it is delivered, since the event is the row's key. The row remembers how
//! far delivery has come, so a retry repeats only the step that failed. It also remembers who is at it: of messages that come
//! at once, one delivers and the others come again later, when they find it done. What fails to the end stands as failed in
//! the list and waits in the dead-letter queue.
//!
//! Who is no member of an event's workspace any more isn't told at all. Others are, and by mail only where they have shown that the
//! address is theirs, want such notifications by mail, and mails get there.

mod account_mail;
mod address_mail;
mod addresses;
mod audit_log;
mod feedback;
mod invitation_mail;
mod mail;
mod mailer;
mod message;
mod notification_mail;
mod report_mail;
mod topic;

use std::collections::BTreeMap;
use std::error::Error;
use std::time::{Duration, Instant};

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use futures_util::{StreamExt as _, stream};
use linklet_domain::{EmailRequest, Event, Notification, RequestedEmail, Timestamp, Wording, wording};
use linklet_dynamodb::{
    AuditTable, Claim, ClaimOutcome, Invitations, Names, NotificationsTable, OneTimeTokens, Recipient, Recipients,
    Reports, RepositoryError,
};
use linklet_lambda::aws;
use linklet_lambda::batch::{self, Consumer, DeadLetterQueue, ReceivedMessage};
use linklet_lambda::telemetry::chain;
use tracing::Instrument as _;

pub use self::addresses::Addresses;
pub use self::mailer::{MailLimit, Mailer};
use self::message::Message;
pub use self::topic::Topic;

/// Stores, publishes and mails notifications.
pub struct Notify {
    /// The notifications.
    pub notifications: NotificationsTable,
    /// Who is told, and where they get mail.
    pub people: Recipients,
    /// The tokens that are mailed to accounts.
    pub tokens: OneTimeTokens,
    /// The invitations, whose tokens are mailed to whoever is invited.
    pub invitations: Invitations,
    /// Who wants reports, of which each is mailed once.
    pub reports: Reports,
    /// The addresses that mails contain.
    pub addresses: Addresses,
    /// The audit log, for what others than their owner have done to links, and for jobs.
    pub audit_log: AuditTable,
    /// What people are called who have changed something of somebody else's.
    pub names: Names,
    /// Every notification goes here.
    pub topic: Topic,
    /// Notifications and tokens are mailed if there is one.
    pub mailer: Option<Mailer>,
    /// Messages that make no notification go here.
    pub dead_letters: DeadLetterQueue,
    /// How often the queue delivers a message before it gives up.
    pub max_receives: u32,
    /// What time it is.
    pub clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

/// How long a delivery has a notification for itself. It takes seven calls at most: the claim, the topic and its note, the two that
/// count the mail, the mail and its note; the eighth lets clocks differ. The queue hides a message for longer, so that one whose
/// delivery failed doesn't come again before the claim has run out.
pub const CLAIMED_FOR: Duration = aws::OPERATION_TIMEOUT.saturating_mul(8);

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
    /// SES gave no answer, and may have sent the mail.
    #[error("it isn't known whether the mail was sent")]
    Unanswered(#[source] Box<dyn Error + Send + Sync>),
    /// The random number generator failed.
    #[error("no token could be made")]
    Token(#[source] getrandom::Error),
}

impl Consumer<SqsEvent, SqsBatchResponse> for Notify {
    async fn consume(&self, batch: SqsEvent) -> SqsBatchResponse {
        let started = Instant::now();
        let records = batch.records.len();
        let (readable, unreadable) = batch::read(batch);
        let mut failed = self.dead_letters.park_all(unreadable).await;
        let processed = stream::iter(by_id(readable)).map(|deliveries| self.process_all(deliveries));
        failed.extend(processed.buffer_unordered(CONCURRENCY).concat().await);
        batch::log(records, failed.len(), started);
        batch::failures(failed)
    }
}

/// How many messages are processed at a time, so that a slow mail service can't make a batch outlive the function.
const CONCURRENCY: usize = 10;

/// SQS may deliver a message twice in a batch. The deliveries of one stay together, to be worked on one after another.
fn by_id(received: Vec<ReceivedMessage<Message>>) -> Vec<Vec<ReceivedMessage<Message>>> {
    let mut messages: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for message in received {
        messages.entry(message.event.id()).or_default().push(message);
    }
    messages.into_values().collect()
}

impl Notify {
    /// Returns the ids of the messages that have to come again.
    async fn process_all(&self, deliveries: Vec<ReceivedMessage<Message>>) -> Vec<String> {
        let mut failed = Vec::new();
        for received in deliveries {
            if !self.process(&received).instrument(received.span()).await {
                failed.push(received.message_id);
            }
        }
        failed
    }

    /// Says whether the message is done with.
    async fn process(&self, received: &ReceivedMessage<Message>) -> bool {
        match &received.event {
            Message::Event(event) => self.audit_and_notify(received, event).await,
            Message::Order(order) => {
                let mailed = self.send(order).await;
                log_order(order, received.receive_count, &mailed);
                mailed.is_ok()
            }
            Message::Feedback(feedback) => self.handle_bounce(feedback).await,
        }
    }

    async fn tell(&self, received: &ReceivedMessage<Message>, event: &Event) -> bool {
        let (Some(told), Some(notification)) = (wording(&event.detail), Notification::from_event(event)) else {
            return self.set_aside(received).await;
        };
        let delivered = self.deliver(event, &told, &notification).await;
        log(event, received.receive_count, &delivered);
        if delivered.is_err() && received.receive_count >= self.max_receives {
            self.give_up(&notification).await;
        }
        matches!(delivered, Ok(Outcome::Delivered | Outcome::NobodyToTell))
    }

    async fn send(&self, order: &EmailRequest) -> Result<(), DeliveryError> {
        let Some(mailer) = &self.mailer else { return Ok(()) };
        match &order.mail {
            RequestedEmail::PasswordReset { email } => self.mail_reset(mailer, order, email).await,
            RequestedEmail::Verification { email } => self.mail_verification(mailer, order, email).await,
            RequestedEmail::AddressChange { user_id, email } => {
                self.mail_address_change(mailer, order, user_id, email).await
            }
            RequestedEmail::AddressChangeNotice { user_id, email } => {
                self.mail_address_notice(mailer, order, user_id, email).await
            }
            RequestedEmail::AddressChanged { user_id, old } => {
                self.mail_address_changed(mailer, order, user_id, old).await
            }
            RequestedEmail::Invitation { workspace_id, workspace_name, invitation_id } => {
                self.mail_invitation(mailer, order, (workspace_id, workspace_name), invitation_id).await
            }
            RequestedEmail::Report(report) => self.mail_report(mailer, order, report).await,
            RequestedEmail::AccountChange { user_id, change } => self.mail_change(mailer, order, user_id, change).await,
        }
    }

    async fn deliver(
        &self,
        event: &Event,
        told: &Wording<'_>,
        notification: &Notification,
    ) -> Result<Outcome, DeliveryError> {
        let address = match self.people.find(told.user, &event.workspace_id, (self.clock)()).await? {
            Recipient::NoMember => return Ok(Outcome::NobodyToTell),
            Recipient::Member(address) => address,
        };
        let claim = Claim::new((self.clock)(), CLAIMED_FOR);
        let published = match self.notifications.claim(notification, &claim).await? {
            ClaimOutcome::Claimed { published } => published,
            ClaimOutcome::ClaimedByOther => return Ok(Outcome::ClaimedByOther),
            ClaimOutcome::AlreadySent => return Ok(Outcome::Delivered),
        };
        if !published {
            self.topic.publish(notification).await?;
        }
        let email = address.as_ref().and_then(|address| address.for_notification(&notification.event_type));
        if let (Some(mailer), Some(email)) = (&self.mailer, email) {
            // Without a mail there is no step between this note and the last one, which says the same.
            if !published {
                self.notifications.mark_published(notification, (self.clock)()).await?;
            }
            self.mail_notification(mailer, event, email).await?;
        }
        self.notifications.mark_sent(notification, (self.clock)()).await?;
        Ok(Outcome::Delivered)
    }

    async fn give_up(&self, notification: &Notification) {
        if let Err(error) = self.notifications.mark_failed(notification).await {
            tracing::error!(error = chain(&error), "a failed notification could not be marked");
        }
    }

    /// An event that nobody is told about has no business in this queue.
    async fn set_aside(&self, received: &ReceivedMessage<Message>) -> bool {
        let refused = received.refused("this event type has no notification");
        self.dead_letters.park(&refused.body, &refused.reason, &refused.message_id).await
    }
}

/// What came of a delivery that didn't fail.
enum Outcome {
    /// Every channel has the notification, by now or since earlier.
    Delivered,
    /// The person is no member of the event's workspace any more.
    NobodyToTell,
    /// Another delivery of the event is at it. Whether that one succeeds is not known yet, so the message has to come again.
    ClaimedByOther,
}

fn log_order(order: &EmailRequest, attempt: u32, mailed: &Result<(), DeliveryError>) {
    let (order_id, mail) = (order.order_id.to_string(), order.mail.kind());
    match mailed {
        Ok(()) => tracing::debug!(order_id, mail, "an order of a mail is done with"),
        Err(error) => {
            let error = chain(error);
            tracing::error!(order_id, mail, attempt, error, "an ordered mail was not sent");
        }
    }
}

fn log(event: &Event, attempt: u32, delivered: &Result<Outcome, DeliveryError>) {
    let (event_id, event_type) = (event.event_id.as_str(), event.event_type());
    match delivered {
        Ok(Outcome::Delivered) => {
            tracing::debug!(event_id, event_type, "notification delivered");
        }
        Ok(Outcome::NobodyToTell) => {
            tracing::info!(event_id, event_type, "nobody to tell: no member any more");
        }
        Ok(Outcome::ClaimedByOther) => {
            tracing::info!(event_id, event_type, attempt, "notification is being delivered already");
        }
        Err(error) => {
            let error = chain(error);
            tracing::error!(event_id, event_type, attempt, error, "notification not delivered");
        }
    }
}
