//! Ordering mails with tokens, and about changes of accounts.
//!
//! A request for a mail with a token only puts into a queue what it is about. So its answer says nothing about accounts, not even by
//! the time that it takes: who has an account is looked up by the function that mails.

use aws_config::SdkConfig;
use aws_sdk_sqs::Client;
use linklet_domain::{AccountChange, CorrelationId, MailOrder, MailOrderId, OrderedMail, Timestamp, UserId};

use crate::{
    config,
    http::{ApiError, Problem, Request},
    publisher::Publisher,
};

/// Where mails are ordered, if mail is configured.
#[derive(Debug, Clone, Default)]
pub struct MailOrders(Option<Publisher>);

impl MailOrders {
    /// Mails are ordered in the queue `NOTIFY_QUEUE_URL`. Without this variable, none are ordered.
    #[must_use]
    pub fn from_env(aws: &SdkConfig) -> Self {
        Self(config::optional("NOTIFY_QUEUE_URL").map(|queue| Publisher::new(Client::new(aws), queue)))
    }

    /// Mails are ordered in this queue.
    #[must_use]
    pub fn to(queue: Publisher) -> Self {
        Self(Some(queue))
    }

    /// Whether mail is configured.
    #[must_use]
    pub fn are_placed(&self) -> bool {
        self.0.is_some()
    }

    /// Orders a mail, if mail is configured.
    ///
    /// # Errors
    /// 503 when the queue doesn't take the order.
    pub async fn place(&self, request: &Request, mail: OrderedMail) -> Result<(), ApiError> {
        let is_placed = self.send(request.correlation_id(), request.received_at(), mail).await;
        if is_placed { Ok(()) } else { Err(Problem::ServiceUnavailable.into()) }
    }

    /// Has a person told what was changed of their account. What was changed stands without that, so a failure is only logged.
    pub async fn tell(&self, request: &Request, user: &UserId, change: AccountChange) {
        self.tell_of(request.correlation_id(), user, change).await;
    }

    /// Has a person told what was changed of their account by a request that is over.
    pub async fn tell_of(&self, cause: &CorrelationId, user: &UserId, change: AccountChange) {
        let mail = OrderedMail::AccountChange { user_id: *user, change };
        if !self.send(cause, Timestamp::now(), mail).await {
            tracing::warn!(user_id = %user, "somebody is not told what was changed of their account");
        }
    }

    /// Whether an order is in the queue, or none is placed at all. The publisher logs why not.
    async fn send(&self, cause: &CorrelationId, ordered_at: Timestamp, mail: OrderedMail) -> bool {
        let Some(queue) = &self.0 else { return true };
        let (order_id, correlation_id) = (MailOrderId::generate(), cause.clone());
        queue.send(&[&MailOrder { order_id, ordered_at, correlation_id, mail }]).await.is_empty()
    }
}
