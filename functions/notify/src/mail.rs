use aws_sdk_sesv2::{
    Client,
    types::{Body, Content, Destination, EmailContent, Message},
};
use linklet_domain::{Correspondent, EmailAddress, MailCount, MailOrder, Salt, Timestamp, UserId};
use linklet_dynamodb::{RepositoryError, ThrottleTable};
use linklet_lambda::metrics::{self, Metric};

use crate::DeliveryError;

/// Sends mail through SES.
pub struct Mailer {
    client: Client,
    sender: String,
    limit: MailLimit,
}

/// Limits the mails that somebody can have sent by asking for them.
pub struct MailLimit {
    /// The table that counts them.
    pub table: ThrottleTable,
    /// The salt for the hashes of addresses.
    pub salt: Salt,
}

/// A mail of plain text. It isn't `Debug`, since it may have a token.
pub(crate) struct Mail<'m> {
    pub subject: &'m str,
    pub text: String,
}

impl Mailer {
    /// Sends from this address, which SES must know as verified.
    #[must_use]
    pub fn new(client: Client, sender: impl Into<String>, limit: MailLimit) -> Self {
        Self { client, sender: sender.into(), limit }
    }

    /// Whether there may be one more mail to this address that was ordered. It is counted, but for one order only once.
    pub(crate) async fn admits_to(
        &self,
        address: &EmailAddress,
        count: MailCount,
        order: &MailOrder,
        now: Timestamp,
    ) -> Result<bool, RepositoryError> {
        self.admits(&Correspondent::reader(address, &self.limit.salt), count, order, now).await
    }

    /// Whether there may be one more mail of those that are counted for a person and not for an address.
    pub(crate) async fn admits_of(
        &self,
        user: &UserId,
        count: MailCount,
        order: &MailOrder,
        now: Timestamp,
    ) -> Result<bool, RepositoryError> {
        self.admits(&Correspondent::person(user, &self.limit.salt), count, order, now).await
    }

    async fn admits(
        &self,
        whose: &Correspondent,
        count: MailCount,
        order: &MailOrder,
        now: Timestamp,
    ) -> Result<bool, RepositoryError> {
        let is_admitted = self.limit.table.admit_mail(whose, count, &order.order_id, now).await?;
        if !is_admitted {
            let (order_id, limit) = (order.order_id.to_string(), count.as_str());
            tracing::info!(order_id, limit, "no mail: there were as many as there may be");
        }
        Ok(is_admitted)
    }

    /// Sends a mail, and counts whether it was sent.
    pub(crate) async fn send(&self, mail: &Mail<'_>, to: &EmailAddress) -> Result<(), DeliveryError> {
        let sent = self.post(mail, to).await;
        metrics::add(if sent.is_ok() { Metric::MailsSent } else { Metric::MailsFailed }, 1);
        sent
    }

    async fn post(&self, mail: &Mail<'_>, to: &EmailAddress) -> Result<(), DeliveryError> {
        let content = |text: &str| {
            Content::builder().data(text).charset("UTF-8").build().map_err(|error| DeliveryError::Mail(Box::new(error)))
        };
        let message = Message::builder()
            .subject(content(mail.subject)?)
            .body(Body::builder().text(content(&mail.text)?).build())
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
