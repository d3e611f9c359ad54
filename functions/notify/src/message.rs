use linklet_domain::{CorrelationId, EmailRequest, Event};
use linklet_lambda::batch::Content;
use serde::{Deserialize, Serialize};

use crate::feedback::Feedback;

/// A message of the notify queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Message {
    /// Something has happened of which somebody may be told.
    Event(Box<Event>),
    /// A function orders a mail.
    Order(EmailRequest),
    /// SES says what became of a mail.
    Feedback(Feedback),
}

impl Message {
    /// What is the same in each delivery.
    pub(crate) fn id(&self) -> String {
        match self {
            Self::Event(event) => event.event_id.to_string(),
            Self::Order(order) => order.order_id.to_string(),
            Self::Feedback(feedback) => feedback.id(),
        }
    }
}

impl Content for Message {
    fn parse(body: &str) -> serde_json::Result<Self> {
        serde_json::from_str(body)
    }

    fn correlation_ids(&self) -> Vec<&CorrelationId> {
        match self {
            Self::Event(event) => vec![&event.correlation_id],
            Self::Order(order) => vec![&order.correlation_id],
            Self::Feedback(_) => Vec::new(),
        }
    }
}
