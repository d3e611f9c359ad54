use std::error::Error;

use aws_sdk_sesv2::Client;
use aws_sdk_sesv2::config::{Builder, retry::RetryConfig};
use aws_sdk_sesv2::error::{BuildError, SdkError};
use aws_sdk_sesv2::operation::send_email::SendEmailError;
use aws_sdk_sesv2::types::{Body, Content, Destination, EmailContent, Message, MessageHeader, MessageTag};
use linklet_domain::{Correspondent, EmailAddress, EmailRequest, MailCount, Salt, Timestamp, UnsubscribeToken, UserId};
use linklet_dynamodb::{MailAdmission, Result, ThrottleTable};
use linklet_lambda::metrics::{self, Metric};

use crate::DeliveryError;
use crate::mail::{Mail, MailKind};

/// Sends mail through SES.
pub struct Mailer {
    client: Client,
    sender: String,
    configuration_set: Option<String>,
    limit: MailLimit,
}

/// Limits the mails that somebody gets.
pub struct MailLimit {
    /// The table that counts them.
    pub table: ThrottleTable,
    /// The salt for the hashes of addresses, and for the tokens with which people unsubscribe.
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
    pub fn new(client: Client, sender: impl Into<String>, limit: MailLimit) -> Self {
        Self { client, sender: sender.into(), configuration_set: None, limit }
    }

    /// Sends with this configuration set, which says where SES tells of bounces and complaints.
    #[must_use]
    pub fn with_configuration_set(self, configuration_set: Option<String>) -> Self {
        Self { configuration_set, ..self }
    }

    /// Whoever reads the mail of an address, for what is counted for it.
    pub(crate) fn reader(&self, address: &EmailAddress) -> Correspondent {
        Correspondent::reader(address, &self.limit.salt)
    }

    /// Somebody with an account, for what is counted for them and not for an address.
    pub(crate) fn person(&self, user: &UserId) -> Correspondent {
        Correspondent::person(user, &self.limit.salt)
    }

    /// Whether there may be one more mail of those that are counted for somebody. It is counted, but for one order only once.
    pub(crate) async fn admits(
        &self,
        whose: &Correspondent,
        count: MailCount,
        order: &EmailRequest,
        now: Timestamp,
    ) -> Result<bool> {
        Ok(self.admission(whose, count, &order.order_id.to_string(), now).await? != MailAdmission::Refused)
    }

    /// The same, for the message with this id, and whether it is the last one for now.
    pub(crate) async fn admission(
        &self,
        whose: &Correspondent,
        count: MailCount,
        id: &str,
        now: Timestamp,
    ) -> Result<MailAdmission> {
        let admission = self.limit.table.admit_mail(whose, count, id, now).await?;
        if admission == MailAdmission::Refused {
            tracing::info!(id, limit = %count, "no mail: there were as many as there may be");
        }
        Ok(admission)
    }

    /// The token with which a person unsubscribes.
    pub(crate) fn unsubscribe_token(&self, user: &UserId, now: Timestamp) -> UnsubscribeToken {
        UnsubscribeToken::of(user, now, &self.limit.salt)
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
        let headers = unsubscribing(mail).map_err(unmailed)?;
        let message = Message::builder().subject(content(&mail.subject)?).body(body).set_headers(headers).build();
        let request = self
            .client
            .send_email()
            .from_email_address(&self.sender)
            .destination(Destination::builder().to_addresses(to.email.as_str()).build())
            .content(EmailContent::builder().simple(message).build())
            .set_configuration_set_name(self.configuration_set.clone())
            .set_email_tags(Some(tags(mail, to).map_err(unmailed)?));
        let sent = if mail.kind == MailKind::Report {
            // A call that is repeated since its answer is lost could mail twice.
            let once = Builder::new().retry_config(RetryConfig::disabled());
            request.customize().config_override(once).send().await
        } else {
            request.send().await
        };
        sent.map(|_| ()).map_err(unsent)
    }
}

/// With which mail programs offer to unsubscribe by one click (RFC 8058).
fn unsubscribing(mail: &Mail) -> Result<Option<Vec<MessageHeader>>, BuildError> {
    let Some(url) = &mail.unsubscribe_url else { return Ok(None) };
    let header = |name: &str, value: &str| MessageHeader::builder().name(name).value(value).build();
    let where_to = header("List-Unsubscribe", &format!("<{url}>"))?;
    Ok(Some(vec![where_to, header("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")?]))
}

/// What SES says with a bounce, so that nobody has to read the mail to know whose it is.
fn tags(mail: &Mail, to: Addressee<'_>) -> Result<Vec<MessageTag>, BuildError> {
    let tag = |name: &str, value: &str| MessageTag::builder().name(name).value(value).build();
    let kind = tag("kind", mail.kind.into());
    let user = to.user.map(|user| tag(USER_TAG, &user.to_string()));
    [Some(kind), user].into_iter().flatten().collect()
}

/// The tag that says whose mail it is.
pub(crate) const USER_TAG: &str = "user";

/// A mail that SES has not taken, or of which nobody knows whether it has.
fn unsent(error: SdkError<SendEmailError>) -> DeliveryError {
    match error {
        SdkError::ServiceError(_) | SdkError::ConstructionFailure(_) => unmailed(error),
        error => DeliveryError::Unanswered(Box::new(error)),
    }
}

fn unmailed(error: impl Error + Send + Sync + 'static) -> DeliveryError {
    DeliveryError::Mail(Box::new(error))
}
