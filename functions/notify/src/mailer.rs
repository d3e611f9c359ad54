use std::error::Error;

use aws_sdk_sesv2::{
    Client,
    error::BuildError,
    types::{Body, Content, Destination, EmailContent, Message, MessageTag},
};
use linklet_domain::{Correspondent, EmailAddress, MailCount, MailOrder, Salt, Timestamp, UserId};
use linklet_dynamodb::{RepositoryError, ThrottleTable};
use linklet_lambda::metrics::{self, Metric};

use crate::{DeliveryError, mail::Mail};

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

/// Who gets a mail.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Addressee<'a> {
    pub email: &'a EmailAddress,
    /// Their account, if they have one.
    pub user: Option<&'a UserId>,
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
    pub(crate) async fn send(&self, mail: &Mail, to: Addressee<'_>) -> Result<(), DeliveryError> {
        let sent = self.post(mail, to).await;
        metrics::add(if sent.is_ok() { Metric::MailsSent } else { Metric::MailsFailed }, 1);
        sent
    }

    async fn post(&self, mail: &Mail, to: Addressee<'_>) -> Result<(), DeliveryError> {
        let content = |text: &str| Content::builder().data(text).charset("UTF-8").build().map_err(unmailed);
        let body = Body::builder().text(content(&mail.text())?).html(content(&mail.html())?).build();
        let message = Message::builder().subject(content(mail.subject)?).body(body).build();
        self.client
            .send_email()
            .from_email_address(&self.sender)
            .destination(Destination::builder().to_addresses(to.email.as_str()).build())
            .content(EmailContent::builder().simple(message).build())
            .set_email_tags(Some(tags(mail, to).map_err(unmailed)?))
            .send()
            .await
            .map_err(unmailed)?;
        Ok(())
    }
}

/// What SES says with a bounce, so that nobody has to read the mail to know whose it is.
fn tags(mail: &Mail, to: Addressee<'_>) -> Result<Vec<MessageTag>, BuildError> {
    let tag = |name: &str, value: &str| MessageTag::builder().name(name).value(value).build();
    let kind = tag("kind", mail.kind.as_str());
    let user = to.user.map(|user| tag(USER_TAG, &user.to_string()));
    [Some(kind), user].into_iter().flatten().collect()
}

/// The tag that says whose mail it is.
pub(crate) const USER_TAG: &str = "user";

fn unmailed(error: impl Error + Send + Sync + 'static) -> DeliveryError {
    DeliveryError::Mail(Box::new(error))
}
