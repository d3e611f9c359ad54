//! Ordering mails with tokens, and about changes of accounts.
//!
//! A request for a mail with a token only puts into a queue what it is about. So its answer says nothing about accounts, not even by
//! the time that it takes: who has an account is looked up by the function that mails.

use std::time::Duration;

use aws_config::SdkConfig;
use aws_sdk_sqs::Client;
use linklet_domain::{AccountChange, CorrelationId, EmailRequest, RequestedEmail, Timestamp, UserId};
use tokio::time::timeout;

use crate::config;
use crate::http::{Problem, Request, Result};
use crate::publisher::{Message, Publisher};
use crate::telemetry::chain;

/// How long telling many people may take.
const TOLD_WITHIN: Duration = Duration::from_secs(10);

/// Where mails are ordered, if mail is configured.
#[derive(Debug, Clone, Default)]
pub struct EmailRequests(Option<Publisher>);

impl EmailRequests {
    /// Mails are ordered in the queue `NOTIFY_QUEUE_URL`. Without this variable, none are ordered.
    pub fn from_env(aws: &SdkConfig) -> Self {
        Self(config::optional("NOTIFY_QUEUE_URL").map(|queue| Publisher::new(Client::new(aws), queue)))
    }

    /// Mails are ordered in this queue.
    pub fn to(queue: Publisher) -> Self {
        Self(Some(queue))
    }

    /// Whether mail is configured.
    pub fn are_placed(&self) -> bool {
        self.0.is_some()
    }

    /// Orders a mail, if mail is configured.
    ///
    /// # Errors
    /// 503 when the queue doesn't take the order.
    pub async fn place(&self, request: &Request, mail: RequestedEmail) -> Result<()> {
        let is_placed = self.send(&request.correlation_id, request.received_at, mail).await;
        if is_placed { Ok(()) } else { Err(Problem::ServiceUnavailable.into()) }
    }

    /// Has a person told what was changed of their account. What was changed stands without that, so a failure is only logged.
    pub async fn tell(&self, request: &Request, user: &UserId, change: AccountChange) {
        self.tell_of(&request.correlation_id, user, change).await;
    }

    /// Has a person told what was changed of their account by a request that is over.
    pub async fn tell_of(&self, cause: &CorrelationId, user: &UserId, change: AccountChange) {
        let mail = RequestedEmail::AccountChange { user_id: *user, change };
        if !self.send(cause, Timestamp::now(), mail).await {
            tracing::warn!(user_id = %user, "somebody is not told what was changed of their account");
        }
    }

    /// Has these people told what has become of something of theirs, all at once, and returns how many aren't. It is given up after some
    /// seconds: whoever has more to do than telling doesn't wait for a queue that is slow.
    pub async fn tell_all(&self, cause: &CorrelationId, users: &[UserId], change: &AccountChange) -> usize {
        let Some(queue) = &self.0 else { return 0 };
        let order = |user: &UserId| {
            let mail = RequestedEmail::AccountChange { user_id: *user, change: change.clone() };
            Message::new(&EmailRequest::new(cause, Timestamp::now(), mail))
        };
        let messages = match users.iter().map(order).collect::<Result<Vec<_>, _>>() {
            Ok(messages) => messages,
            Err(error) => {
                tracing::error!(error = chain(&error), "orders of mails could not be serialised");
                return users.len();
            }
        };
        let untold = timeout(TOLD_WITHIN, queue.send_all(&messages)).await.ok();
        if untold != Some(0) {
            tracing::warn!(people = users.len(), untold, "some are not told what has become of something");
        }
        untold.unwrap_or(users.len())
    }

    /// Whether an order is in the queue, or none is placed at all. The publisher logs why not.
    async fn send(&self, cause: &CorrelationId, ordered_at: Timestamp, mail: RequestedEmail) -> bool {
        let Some(queue) = &self.0 else { return true };
        queue.send(&[&EmailRequest::new(cause, ordered_at, mail)]).await.is_empty()
    }
}
