use aws_sdk_sesv2::{
    Client,
    types::{Body, Content, Destination, EmailContent, Message},
};
use linklet_domain::{EmailAddress, Notification};

use crate::DeliveryError;

/// Sends mail through SES.
pub struct Mailer {
    client: Client,
    sender: String,
}

impl Mailer {
    /// Sends from this address, which SES must know as verified.
    #[must_use]
    pub fn new(client: Client, sender: impl Into<String>) -> Self {
        Self { client, sender: sender.into() }
    }

    pub(crate) async fn send(&self, notification: &Notification, to: &EmailAddress) -> Result<(), DeliveryError> {
        let content = |text: &str| {
            Content::builder().data(text).charset("UTF-8").build().map_err(|error| DeliveryError::Mail(Box::new(error)))
        };
        let message = Message::builder()
            .subject(content(subject(&notification.event_type))?)
            .body(Body::builder().text(content(&notification.message)?).build())
            .build();
        self.client
            .send_email()
            .from_email_address(&self.sender)
            .destination(Destination::builder().to_addresses(to.as_str()).build())
            .content(EmailContent::builder().simple(message).build())
            .send()
            .await
            .map_err(|error| DeliveryError::Mail(Box::new(error)))?;
        Ok(())
    }
}

fn subject(event_type: &str) -> &'static str {
    match event_type {
        "url.created" => "Your short link is ready",
        "url.deleted" => "Your short link was deleted",
        "milestone.reached" => "Your short link reached a milestone",
        "target.down" => "A monitored URL is down",
        "target.up" => "A monitored URL is up again",
        _ => "News about your short link",
    }
}
