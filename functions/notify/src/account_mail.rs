//! Mails with a token, for a new password or to show that an address is one's own.
//!
//! A queue has only who wants which mail. The token is made here, when the mail is, and only its hash is stored, so no queue, table
//! or log ever has it. Since a message may be delivered twice, there may be two mails; each has a token of its own.

use std::time::Duration;

use linklet_domain::{
    EmailAddress, Event, EventDetail, MailCount, OneTimeToken, PasswordForgotten, TokenPurpose, UserId,
    VerificationRequested, lifetimes,
};
use linklet_dynamodb::{NewToken, RepositoryError, TokenDelivery};

use crate::{
    DeliveryError, Mailer, Notify,
    addresses::{Addresses, Page},
    mail::Mail,
};

/// A mail that somebody has ordered by an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order<'e> {
    email: &'e EmailAddress,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Reset,
    Verification,
}

impl<'e> Order<'e> {
    /// The mail that an event orders, if it orders one.
    pub(crate) fn of(detail: &'e EventDetail) -> Option<Self> {
        match detail {
            EventDetail::PasswordForgotten(PasswordForgotten { email }) => Some(Self { email, kind: Kind::Reset }),
            EventDetail::VerificationRequested(VerificationRequested { email }) => {
                Some(Self { email, kind: Kind::Verification })
            }
            _ => None,
        }
    }
}

impl Kind {
    fn purpose(self) -> TokenPurpose {
        match self {
            Self::Reset => TokenPurpose::Reset,
            Self::Verification => TokenPurpose::Verification,
        }
    }

    fn count(self) -> MailCount {
        match self {
            Self::Reset => MailCount::Resets,
            Self::Verification => MailCount::Verifications,
        }
    }

    fn lifetime(self) -> Duration {
        match self {
            Self::Reset => lifetimes::PASSWORD_RESETS,
            Self::Verification => lifetimes::ADDRESS_VERIFICATIONS,
        }
    }
}

impl Notify {
    /// Mails what was ordered, if there is somebody to mail it to. Nobody learns whether there is.
    pub(crate) async fn mail_account(&self, event: &Event, order: Order<'_>) -> Result<(), DeliveryError> {
        let Some(mailer) = &self.mailer else { return Ok(()) };
        // Whoever has waited for longer than a token works doesn't wait for one any more, as after a redrive.
        if event.occurred_at.plus(order.kind.lifetime()) <= (self.clock)() {
            return Ok(());
        }
        let Some(user) = self.tokens.account_of(order.email).await? else { return Ok(()) };
        if order.kind == Kind::Verification && self.people.is_verified(&user).await? {
            return Ok(());
        }
        if !mailer.admits_to(order.email, order.kind.count(), event, (self.clock)()).await? {
            return Ok(());
        }
        self.mail_token(mailer, order, &user).await
    }

    async fn mail_token(&self, mailer: &Mailer, order: Order<'_>, user: &UserId) -> Result<(), DeliveryError> {
        let token = OneTimeToken::generate(order.kind.purpose()).map_err(DeliveryError::Token)?;
        self.store(order, user, &token).await?;
        mailer.send(&order.mail(&self.addresses, &token), order.email).await
    }

    async fn store(&self, order: Order<'_>, user: &UserId, token: &OneTimeToken) -> Result<(), RepositoryError> {
        let hash = token.hash();
        let new = NewToken { hash: &hash, user, email: order.email, issued_at: (self.clock)() };
        match order.kind {
            Kind::Reset => self.tokens.issue_reset(&new, TokenDelivery::Mailed).await,
            Kind::Verification => self.tokens.issue_verification(&new).await,
        }
    }
}

impl Order<'_> {
    fn mail(self, addresses: &Addresses, token: &OneTimeToken) -> Mail<'static> {
        match self.kind {
            Kind::Reset => reset(&addresses.page(Page::Reset, token), token),
            Kind::Verification => verification(&addresses.page(Page::Verify, token), token),
        }
    }
}

fn reset(page: &str, token: &OneTimeToken) -> Mail<'static> {
    let (minutes, token) = (lifetimes::PASSWORD_RESETS.as_secs() / 60, token.reveal());
    let text = format!(
        "Somebody wants to set a new password for your account.\n\n\
         If it is you, open this page within {minutes} minutes:\n\n{page}\n\n\
         Or use this token, which works once:\n\n{token}\n\n\
         If it isn't you, do nothing. Your password stays as it is.\n"
    );
    Mail { subject: "Set a new password", text }
}

fn verification(page: &str, token: &OneTimeToken) -> Mail<'static> {
    let (hours, token) = (lifetimes::ADDRESS_VERIFICATIONS.as_secs() / 3_600, token.reveal());
    let text = format!(
        "Somebody has registered with this address.\n\n\
         If it is you, confirm it on this page within {hours} hours:\n\n{page}\n\n\
         Or use this token, which works once:\n\n{token}\n\n\
         If it isn't you, do nothing. Nothing but such tokens is mailed to addresses that nobody has confirmed.\n"
    );
    Mail { subject: "Confirm your address", text }
}
