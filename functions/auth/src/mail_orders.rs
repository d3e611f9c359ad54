//! Ordering mails with tokens.
//!
//! A request for such a mail only puts into a queue who wants it. So its answer says nothing about accounts, not even by the time
//! that it takes: who has an account is looked up by the function that mails.

use linklet_domain::{EmailAddress, Event, EventDetail, EventId, PasswordForgotten, VerificationRequested};
use linklet_lambda::{
    http::{ApiError, Problem, Request},
    publisher::Publisher,
};

/// Where mails are ordered, if mail is configured.
#[derive(Debug, Clone, Default)]
pub struct MailOrders(Option<Publisher>);

impl MailOrders {
    /// Mails are ordered in this queue.
    #[must_use]
    pub fn to(queue: Publisher) -> Self {
        Self(Some(queue))
    }

    /// Orders a mail with a token for a new password.
    pub(crate) async fn reset(&self, request: &Request, email: &EmailAddress) -> Result<(), ApiError> {
        self.place(request, EventDetail::PasswordForgotten(PasswordForgotten { email: email.clone() })).await
    }

    /// Orders a mail with a token that shows that an address is the reader's.
    pub(crate) async fn verification(&self, request: &Request, email: &EmailAddress) -> Result<(), ApiError> {
        self.place(request, EventDetail::VerificationRequested(VerificationRequested { email: email.clone() })).await
    }

    async fn place(&self, request: &Request, detail: EventDetail) -> Result<(), ApiError> {
        let Some(queue) = &self.0 else { return Ok(()) };
        let event = Event {
            event_id: EventId::generate(),
            occurred_at: request.received_at(),
            correlation_id: request.correlation_id().clone(),
            detail,
        };
        // The publisher has logged why.
        if queue.send(&[&event]).await.is_empty() { Ok(()) } else { Err(Problem::ServiceUnavailable.into()) }
    }
}
