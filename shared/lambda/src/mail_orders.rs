//! Ordering mails with tokens.
//!
//! A request for such a mail only puts into a queue what it is about. So its answer says nothing about accounts, not even by the
//! time that it takes: who has an account is looked up by the function that mails.

use aws_config::SdkConfig;
use aws_sdk_sqs::Client;
use linklet_domain::{Event, EventDetail, EventId};

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

    /// Orders the mail that an event stands for, if mail is configured.
    ///
    /// # Errors
    /// 503 when the queue doesn't take the order.
    pub async fn place(&self, request: &Request, order: EventDetail) -> Result<(), ApiError> {
        let Some(queue) = &self.0 else { return Ok(()) };
        let event = Event {
            event_id: EventId::generate(),
            occurred_at: request.received_at(),
            correlation_id: request.correlation_id().clone(),
            detail: order,
        };
        // The publisher has logged why.
        if queue.send(&[&event]).await.is_empty() { Ok(()) } else { Err(Problem::ServiceUnavailable.into()) }
    }
}
