//! Mails about another address for an account: to the new one, to whoever has it already, and to the old one.
//!
//! Each goes by an order of its own, so that one of them that fails is tried again without the others.

use linklet_domain::{EmailAddress, MailCount, MailOrder, OneTimeToken, TokenPurpose, UserId, lifetimes};
use linklet_dynamodb::{MailAddress, NewToken};

use crate::{
    DeliveryError, Mailer, Notify,
    account_mail::OR_THIS_TOKEN,
    addresses::{Addresses, Page},
    invitation_mail::plain_address,
    mail::{Mail, MailKind},
    mailer::Addressee,
};

impl Notify {
    /// Mails a token to the address that somebody wants, or tells whoever has it. Whoever asks doesn't learn which.
    pub(crate) async fn mail_address_change(
        &self,
        mailer: &Mailer,
        order: &MailOrder,
        user: &UserId,
        email: &EmailAddress,
    ) -> Result<(), DeliveryError> {
        let now = (self.clock)();
        let wanted = self.waiting_for(user, email).await?.is_some();
        if !wanted || !mailer.admits_to(email, MailCount::Verifications, order, now).await? {
            return Ok(());
        }
        let to = Addressee { email, user: Some(user) };
        match self.tokens.account_of(email).await? {
            Some(owner) => mailer.send(&taken(), Addressee { email, user: Some(&owner) }).await,
            None => {
                let token = OneTimeToken::generate(TokenPurpose::Verification).map_err(DeliveryError::Token)?;
                let new = NewToken { hash: &token.hash(), user, email, issued_at: now };
                self.tokens.issue_verification(&new).await?;
                mailer.send(&confirm(&self.addresses, &token), to).await
            }
        }
    }

    /// Mails a token that stops another address to the one that somebody has, if they have shown that it is theirs.
    pub(crate) async fn mail_address_notice(
        &self,
        mailer: &Mailer,
        order: &MailOrder,
        user: &UserId,
        email: &EmailAddress,
    ) -> Result<(), DeliveryError> {
        let now = (self.clock)();
        let address = self.waiting_for(user, email).await?.filter(|address| address.is_verified);
        let Some(address) = address else { return Ok(()) };
        if !mailer.admits_of(user, MailCount::PasswordChanges, order, now).await? {
            return Ok(());
        }
        let token = OneTimeToken::generate(TokenPurpose::Keep).map_err(DeliveryError::Token)?;
        self.tokens.issue_keep(&NewToken { hash: &token.hash(), user, email, issued_at: now }).await?;
        let to = Addressee { email: &address.email, user: Some(user) };
        mailer.send(&notice(&self.addresses, email, &token), to).await
    }

    /// Mails to the address that an account had that it has another one.
    pub(crate) async fn mail_address_changed(
        &self,
        mailer: &Mailer,
        order: &MailOrder,
        user: &UserId,
        old: &EmailAddress,
    ) -> Result<(), DeliveryError> {
        if !mailer.admits_of(user, MailCount::PasswordChanges, order, (self.clock)()).await? {
            return Ok(());
        }
        mailer.send(&changed(), Addressee { email: old, user: Some(user) }).await
    }

    /// Where somebody gets mail for whom this address waits still.
    async fn waiting_for(&self, user: &UserId, email: &EmailAddress) -> Result<Option<MailAddress>, DeliveryError> {
        let address = self.people.address(user, (self.clock)()).await?;
        Ok(address.filter(|address| address.pending.as_ref() == Some(email)))
    }
}

fn hours() -> u64 {
    lifetimes::ADDRESS_VERIFICATIONS.as_secs() / 3_600
}

fn confirm(addresses: &Addresses, token: &OneTimeToken) -> Mail {
    Mail::new(MailKind::Verification, "Confirm your new address")
        .paragraph("Somebody wants this to be the address of their account.")
        .paragraph(format!("If it is you, confirm it on this page within {} hours:", hours()))
        .button("Confirm your address", addresses.page(Page::Verify, token))
        .paragraph(OR_THIS_TOKEN)
        .token(token)
        .paragraph("If it isn't you, do nothing. Your address is used for no account then.")
}

fn taken() -> Mail {
    Mail::new(MailKind::AccountChange, "Somebody wants to use your address")
        .paragraph("Somebody wants this to be the address of another account. Nothing has changed: it is yours, and stays yours.")
        .paragraph(
            "If it is you, sign in with this address instead, or give this account another one first. \
             If it isn't you, there is nothing to do.",
        )
}

fn notice(addresses: &Addresses, wanted: &EmailAddress, token: &OneTimeToken) -> Mail {
    let wanted = plain_address(wanted).unwrap_or("another address");
    Mail::new(MailKind::AccountChange, "Your account is to have another address")
        .paragraph(format!(
            "Somebody who knows your password wants {wanted} to be the address of your account instead of this one. \
             It will be when they confirm it, which they can do for {} hours.",
            hours()
        ))
        .paragraph("If it is you, there is nothing to do here. If not, keep your address on this page:")
        .button("Keep my address", addresses.page(Page::KeepAddress, token))
        .paragraph(OR_THIS_TOKEN)
        .token(token)
        .paragraph("Then set a new password, which ends all sessions:")
        .button("Set a new password", addresses.forgot())
}

fn changed() -> Mail {
    Mail::new(MailKind::AccountChange, "Your account has another address")
        .paragraph(
            "Your account has another address now, which somebody has confirmed who knew your password. \
             This one belongs to no account any more.",
        )
        .paragraph("If you know about it, there is nothing to do. If not, tell those who run Linklet for you at once.")
}
