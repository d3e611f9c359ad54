use aws_sdk_sesv2::{
    Client,
    types::{Body, Content, Destination, EmailContent, Message},
};
use linklet_domain::{EmailAddress, Wording};

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

    pub(crate) async fn send(&self, wording: &Wording<'_>, to: &EmailAddress) -> Result<(), DeliveryError> {
        let content = |text: &str| {
            Content::builder().data(text).charset("UTF-8").build().map_err(|error| DeliveryError::Mail(Box::new(error)))
        };
        let message = Message::builder()
            .subject(content(wording.subject)?)
            .body(Body::builder().text(content(&wording.message)?).build())
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
