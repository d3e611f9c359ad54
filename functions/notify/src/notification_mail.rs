//! Notifications by mail, of which people choose which they get, and can get rid of with one click.

use linklet_domain::{
    EmailAddress, Event, EventDetail, MailCount, NotificationSubject, ShortCode, UnsubscribeToken, Wording,
    mail_wording,
};
use linklet_dynamodb::MailAdmission;

use crate::addresses::Addresses;
use crate::invitation_mail::plain_person;
use crate::mail::{Mail, MailKind};
use crate::mailer::Addressee;
use crate::{DeliveryError, Mailer, Notify};

impl Notify {
    /// Mails a notification, unless its person got as many within an hour as anybody wants.
    pub(crate) async fn mail_notification(
        &self,
        mailer: &Mailer,
        event: &Event,
        email: &EmailAddress,
    ) -> Result<(), DeliveryError> {
        let short_link = |code: &ShortCode| self.addresses.short_link(code);
        let Some(worded) = mail_wording(&event.detail, short_link, plain_person) else { return Ok(()) };
        let (user, now) = (worded.user, (self.clock)());
        let admission =
            mailer.admission(&mailer.person(user), MailCount::Notifications, event.event_id.as_str(), now).await?;
        if admission == MailAdmission::Refused {
            return Ok(());
        }
        let token = mailer.unsubscribe_token(user, now);
        let mail = mail(&self.addresses, event, &worded, admission == MailAdmission::Last, &token);
        mailer.send(&mail, Addressee { email, user: Some(user) }).await
    }
}

fn mail(addresses: &Addresses, event: &Event, worded: &Wording<'_>, is_last: bool, token: &UnsubscribeToken) -> Mail {
    let mut mail = Mail::new(MailKind::Notification, worded.subject).paragraph(worded.message.clone());
    // There is nothing left to look at.
    if !matches!(event.detail, EventDetail::UrlPurged(_)) {
        let words = match worded.about {
            NotificationSubject::Link(_) => "View link",
            NotificationSubject::Target(_) => "View monitored URL",
            NotificationSubject::Job(_) => "View job",
        };
        mail = mail.button(words, addresses.about(&event.workspace_id, &worded.about));
    }
    if is_last {
        let mails = MailCount::Notifications.limit().mails;
        mail = mail.paragraph(format!(
            "This is the {mails}th email like this within an hour. Further notifications are only shown in the app until the hour is over."
        ));
    }
    mail.footnote("You get emails like this one about your links.", "Unsubscribe", addresses.unsubscribe(token, None))
        .unsubscribed_at(addresses.one_click(token, None))
}
