//! Mails about another address for an account: to the new one, to whoever has it already, and to the old one.
//!
//! Each goes by an order of its own, so that one of them that fails is tried again without the others.

use linklet_domain::{EmailAddress, EmailRequest, MailCount, OneTimeToken, Timestamp, TokenPurpose, UserId};
use linklet_dynamodb::{MailAddress, NewToken};

use crate::account_mail::to_the_minute;
use crate::addresses::{Addresses, Page};
use crate::invitation_mail::plain_address;
use crate::mail::{Mail, MailKind};
use crate::mailer::Addressee;
use crate::{DeliveryError, Mailer, Notify};

impl Notify {
    /// Mails a token to the address that somebody wants, or tells whoever has it. Whoever asks doesn't learn which.
    pub(crate) async fn mail_address_change(
        &self,
        mailer: &Mailer,
        order: &EmailRequest,
        user: &UserId,
        email: &EmailAddress,
    ) -> Result<(), DeliveryError> {
        let now = (self.clock)();
        let Some((_, until)) = self.waiting_for(user, email).await? else { return Ok(()) };
        if !mailer.admits(&mailer.reader(email), MailCount::WantedAddresses, order, now).await? {
            return Ok(());
        }
        let to = Addressee { email, user: Some(user) };
        match self.tokens.account_of(email).await? {
            Some(owner) if self.is_undeliverable(Some(&owner)).await? => Ok(()),
            Some(owner) => mailer.send(&taken(), Addressee { email, user: Some(&owner) }).await,
            None => {
                let token = OneTimeToken::generate(TokenPurpose::Verification).map_err(DeliveryError::Token)?;
                let new = NewToken { hash: &token.hash(), user, email, issued_at: now };
                self.tokens.issue_verification(&new).await?;
                mailer.send(&confirm(&self.addresses, &token, until), to).await
            }
        }
    }

    /// Mails a token that stops another address to the one that somebody has, if they have shown that it is theirs, and
    /// mails get there.
    pub(crate) async fn mail_address_notice(
        &self,
        mailer: &Mailer,
        order: &EmailRequest,
        user: &UserId,
        email: &EmailAddress,
    ) -> Result<(), DeliveryError> {
        let now = (self.clock)();
        let Some((address, until)) = self.waiting_for(user, email).await? else { return Ok(()) };
        let Some(own) = address.reachable() else { return Ok(()) };
        if !mailer.admits(&mailer.person(user), MailCount::AddressChanges, order, now).await? {
            return Ok(());
        }
        let token = OneTimeToken::generate(TokenPurpose::Keep).map_err(DeliveryError::Token)?;
        self.tokens.issue_keep(&NewToken { hash: &token.hash(), user, email, issued_at: now }).await?;
        let to = Addressee { email: own, user: Some(user) };
        mailer.send(&notice(&self.addresses, email, &token, until), to).await
    }

    /// Mails to the address that an account had that it has another one.
    pub(crate) async fn mail_address_changed(
        &self,
        mailer: &Mailer,
        order: &EmailRequest,
        user: &UserId,
        old: &EmailAddress,
    ) -> Result<(), DeliveryError> {
        if !mailer.admits(&mailer.person(user), MailCount::AddressChanges, order, (self.clock)()).await? {
            return Ok(());
        }
        mailer.send(&changed(), Addressee { email: old, user: Some(user) }).await
    }

    /// Where somebody gets mail for whom this address waits still, and until when it does.
    async fn waiting_for(
        &self,
        user: &UserId,
        email: &EmailAddress,
    ) -> Result<Option<(MailAddress, Timestamp)>, DeliveryError> {
        let Some(address) = self.people.address(user, (self.clock)()).await? else { return Ok(None) };
        let until = address.pending.as_ref().filter(|pending| pending.email == *email).map(|pending| pending.until);
        Ok(until.map(|until| (address, until)))
    }
}

fn confirm(addresses: &Addresses, token: &OneTimeToken, until: Timestamp) -> Mail {
    Mail::new(MailKind::Verification, "Confirm your new email address")
        .paragraph("Someone wants to use this email address for their account.")
        .paragraph(format!("If it was you, confirm it on this page by {} UTC:", to_the_minute(until)))
        .button("Confirm your email address", addresses.page(Page::Verify, token))
        .token(token)
        .paragraph("If it wasn't you, you can ignore this email. Your address won't be used.")
}

fn taken() -> Mail {
    Mail::new(MailKind::AccountChange, "Someone wants to use your email address")
        .paragraph(
            "Someone wants to use this email address for another account. Nothing has changed, and it stays yours.",
        )
        .paragraph(
            "If it was you, sign in with this address instead, or change the email of this account first. \
             If it wasn't you, you don't need to do anything.",
        )
}

fn notice(addresses: &Addresses, wanted: &EmailAddress, token: &OneTimeToken, until: Timestamp) -> Mail {
    let wanted = plain_address(wanted).unwrap_or("another address");
    Mail::new(MailKind::AccountChange, "Your account's email is about to change")
        .paragraph(format!(
            "Someone who knows your password asked to change the email of your account to {wanted}. \
             It changes when they confirm it, which they can do until {} UTC.",
            to_the_minute(until)
        ))
        .paragraph("If it was you, you don't need to do anything here. If not, keep your email on this page:")
        .button("Keep my email", addresses.page(Page::KeepAddress, token))
        .token(token)
        .paragraph("Then set a new password, which ends all sessions:")
        .button("Set a new password", addresses.forgot())
}

fn changed() -> Mail {
    Mail::new(MailKind::AccountChange, "Your account's email has changed")
        .paragraph(
            "Someone who knew your password changed the email of your account and confirmed the new one. \
             This address no longer belongs to an account.",
        )
        .paragraph(
            "If this was expected, you don't need to do anything. If not, contact Linklet's operator immediately.",
        )
}
