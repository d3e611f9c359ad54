//! Mails with a token, for a new password or to show that an address is one's own, and about changes of an account.
//!
//! A queue has only who wants which mail. The token is made here, when the mail is, and only its hash is stored, so no queue, table
//! or log ever has it. Since a message may be delivered twice, there may be two mails; each has a token of its own.

use std::time::Duration;

use linklet_domain::{
    AccountChange, EmailAddress, EmailRequest, MailCount, OneTimeToken, Role, SignInPlace, Timestamp, TokenPurpose,
    UserId, lifetimes,
};
use linklet_dynamodb::{MailAddress, NewToken, Result, TokenDelivery};

use crate::addresses::{Addresses, Page, PageAddress};
use crate::invitation_mail::{plain_name, plain_words};
use crate::mail::{Mail, MailKind};
use crate::mailer::Addressee;
use crate::{DeliveryError, Mailer, Notify};

/// The mails with a token that are about an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Reset,
    Verification,
    /// A verification of an account that has no password yet.
    FirstPassword,
}

impl Kind {
    fn purpose(self) -> TokenPurpose {
        match self {
            Self::Reset => TokenPurpose::Reset,
            Self::Verification | Self::FirstPassword => TokenPurpose::Verification,
        }
    }

    fn count(self) -> MailCount {
        match self {
            Self::Reset => MailCount::Resets,
            Self::Verification | Self::FirstPassword => MailCount::Verifications,
        }
    }

    fn lifetime(self) -> Duration {
        match self {
            Self::Reset => lifetimes::PASSWORD_RESETS,
            Self::Verification | Self::FirstPassword => lifetimes::ADDRESS_VERIFICATIONS,
        }
    }
}

impl Notify {
    /// Mails a token for a new password, if there is somebody to mail it to. Nobody learns whether there is.
    pub(crate) async fn mail_reset(
        &self,
        mailer: &Mailer,
        order: &EmailRequest,
        email: &EmailAddress,
    ) -> Result<(), DeliveryError> {
        let Some(user) = self.waits_for(order, email, Kind::Reset).await? else { return Ok(()) };
        self.mail_token(mailer, order, Kind::Reset, email, &user).await
    }

    /// Mails a token that shows whose an address is, if it has an account and isn't verified already, or mail to it has come back.
    /// Nobody learns whether it has.
    pub(crate) async fn mail_verification(
        &self,
        mailer: &Mailer,
        order: &EmailRequest,
        email: &EmailAddress,
    ) -> Result<(), DeliveryError> {
        let Some(user) = self.waits_for(order, email, Kind::Verification).await? else { return Ok(()) };
        let address = self.people.address(&user, (self.clock)()).await?;
        let Some(address) = address.filter(|address| address.reachable().is_none()) else { return Ok(()) };
        let kind = if address.awaits_password { Kind::FirstPassword } else { Kind::Verification };
        self.mail_token(mailer, order, kind, email, &user).await
    }

    /// Mails somebody what was changed of their account, if they have shown that their address is theirs, and mails get there.
    pub(crate) async fn mail_change(
        &self,
        mailer: &Mailer,
        order: &EmailRequest,
        user: &UserId,
        change: &AccountChange,
    ) -> Result<(), DeliveryError> {
        let address = self.people.address(user, (self.clock)()).await?;
        let Some(email) = address.as_ref().and_then(MailAddress::reachable) else { return Ok(()) };
        if !mailer.admits(&mailer.person(user), count_of(change), order, (self.clock)()).await? {
            return Ok(());
        }
        let mail = change_mail(change, order.ordered_at, &self.addresses);
        mailer.send(&mail, Addressee { email, user: Some(user) }).await
    }

    /// The account that an order is for. Whoever has waited for longer than a token works doesn't wait for one any more, as after a
    /// redrive.
    async fn waits_for(&self, order: &EmailRequest, email: &EmailAddress, kind: Kind) -> Result<Option<UserId>> {
        if order.ordered_at.plus(kind.lifetime()) <= (self.clock)() {
            Ok(None)
        } else {
            self.tokens.account_of(email).await
        }
    }

    async fn mail_token(
        &self,
        mailer: &Mailer,
        order: &EmailRequest,
        kind: Kind,
        email: &EmailAddress,
        user: &UserId,
    ) -> Result<(), DeliveryError> {
        if !mailer.admits(&mailer.reader(email), kind.count(), order, (self.clock)()).await? {
            return Ok(());
        }
        let token = OneTimeToken::generate(kind.purpose()).map_err(DeliveryError::Token)?;
        self.store(kind, &NewToken { hash: &token.hash(), user, email, issued_at: (self.clock)() }).await?;
        mailer.send(&kind.mail(&self.addresses, &token), Addressee { email, user: Some(user) }).await
    }

    async fn store(&self, kind: Kind, token: &NewToken<'_>) -> Result<()> {
        match kind {
            Kind::Reset => self.tokens.issue_reset(token, TokenDelivery::Mailed).await,
            Kind::Verification | Kind::FirstPassword => self.tokens.issue_verification(token).await,
        }
    }
}

/// With which mails one about a change is counted.
fn count_of(change: &AccountChange) -> MailCount {
    match change {
        AccountChange::PasswordChanged
        | AccountChange::PasswordReset { .. }
        | AccountChange::PasswordRemoved
        | AccountChange::IdentityConnected { .. }
        | AccountChange::IdentityRemoved { .. } => MailCount::PasswordChanges,
        _ => MailCount::AccountChanges,
    }
}

impl Kind {
    fn mail(self, addresses: &Addresses, token: &OneTimeToken) -> Mail {
        match self {
            Self::Reset => reset(addresses.page(Page::Reset, token), token),
            Self::Verification => verification(addresses.page(Page::Verify, token), token),
            Self::FirstPassword => first_password(addresses.page(Page::FirstPassword, token), token),
        }
    }
}

const REGISTERED: &str = "Someone signed up with this email address.";

fn reset(page: PageAddress, token: &OneTimeToken) -> Mail {
    let minutes = lifetimes::PASSWORD_RESETS.as_secs() / 60;
    Mail::new(MailKind::Reset, "Set a new password")
        .paragraph("Someone asked to reset the password of your account.")
        .paragraph(format!("If it was you, open this page within {minutes} minutes:"))
        .button("Set a new password", page)
        .token(token)
        .paragraph("If it wasn't you, you can ignore this email. Your password won't change.")
}

fn verification(page: PageAddress, token: &OneTimeToken) -> Mail {
    let hours = lifetimes::ADDRESS_VERIFICATIONS.as_secs() / 3_600;
    Mail::new(MailKind::Verification, "Confirm your email address")
        .paragraph(REGISTERED)
        .paragraph(format!("If it was you, confirm it on this page within {hours} hours:"))
        .button("Confirm your email address", page)
        .token(token)
        .paragraph("If it wasn't you, you can ignore this email. We only send such links to unconfirmed addresses.")
}

fn first_password(page: PageAddress, token: &OneTimeToken) -> Mail {
    let hours = lifetimes::ADDRESS_VERIFICATIONS.as_secs() / 3_600;
    Mail::new(MailKind::Verification, "Choose a password")
        .paragraph(REGISTERED)
        .paragraph(format!("If it was you, choose a password on this page within {hours} hours:"))
        .button("Choose a password", page)
        .token(token)
        .paragraph("If it wasn't you, you can ignore this email. Nobody can sign in to an account without a password.")
}

/// A mail about a change. It has no token.
fn change_mail(change: &AccountChange, at: Timestamp, addresses: &Addresses) -> Mail {
    let (subject, what) = changed(change);
    what.into_iter()
        .fold(Mail::new(MailKind::AccountChange, subject), Mail::paragraph)
        .paragraph(format!("This happened on {} UTC.", to_the_minute(at)))
        .paragraph(
            "If this was expected, you don't need to do anything. If not, set a new password, which ends all sessions:",
        )
        .button("Set a new password", addresses.forgot())
}

/// Such as `2026-03-02 14:05`.
pub(crate) fn to_the_minute(at: Timestamp) -> String {
    at.to_string().chars().take("2026-03-02T14:05".len()).collect::<String>().replace('T', " ")
}

/// The subject of the mail about a change, and what has happened.
fn changed(change: &AccountChange) -> (&'static str, Vec<String>) {
    let (subject, sentence) = match change {
        AccountChange::PasswordReset { pauses } => return ("Your password was reset", reset_sentences(*pauses)),
        AccountChange::IdentityConnected { provider, pauses } => {
            return ("You have a new way to sign in", identity_sentences(provider, *pauses));
        }
        AccountChange::PasswordChanged => (
            "Your password was changed",
            "Your password was changed by someone who was signed in. All other sessions have ended.".to_owned(),
        ),
        AccountChange::PasswordRemoved => (
            "Your password was removed",
            "Your password was removed by someone who was signed in. All other sessions have ended.".to_owned(),
        ),
        AccountChange::IdentityRemoved { provider } => (
            "A way to sign in was removed",
            format!("Your account at {} no longer opens this one. All other sessions have ended.", plain_words(provider)),
        ),
        AccountChange::ResetIssued { email } => (
            "An operator opened an account of your workspace",
            format!("An operator of this service made a link that sets a new password for {email}."),
        ),
        AccountChange::SignedIn(place) => ("Your account was used from a new place", signed_in(place)),
        AccountChange::SessionsEnded => (
            "You're signed out everywhere",
            "Someone who was signed in to your account ended all its sessions.".to_owned(),
        ),
        AccountChange::KeyCreated { prefix, workspace_name } => {
            ("You have a new API key", format!("The API key {prefix}… was created in {}.", plain_name(workspace_name)))
        }
        AccountChange::KeyRevoked { prefix, workspace_name } => (
            "Your API key was revoked",
            format!("Your API key {prefix}… in {} was revoked.", plain_name(workspace_name)),
        ),
        AccountChange::KeyPaused { prefix, workspace_name } => (
            "Your API key is paused",
            format!("Your API key {prefix}… in {} was paused by an admin.", plain_name(workspace_name)),
        ),
        AccountChange::KeyResumed { prefix, workspace_name } => (
            "Your API key works again",
            format!("Your API key {prefix}… in {} was paused and works again.", plain_name(workspace_name)),
        ),
        AccountChange::Joined { workspace_name, role } => (
            "You joined a workspace",
            format!("You're now {} of {}.", in_words(*role), plain_name(workspace_name)),
        ),
        AccountChange::RoleChanged { workspace_name, role } => {
            ("Your role was changed", format!("You're now {} of {}.", in_words(*role), plain_name(workspace_name)))
        }
        AccountChange::MembershipPaused { workspace_name } => (
            "Your membership is paused",
            format!(
                "Your membership of {} is paused because its creator reset their password. \
                 It resumes when the creator keeps it.",
                plain_name(workspace_name)
            ),
        ),
        AccountChange::MembershipResumed { workspace_name, role } => {
            ("Your membership has resumed", format!("You're {} of {} again.", in_words(*role), plain_name(workspace_name)))
        }
        AccountChange::WorkspaceClosed { workspace_name, restorable_until } => (
            "A workspace was closed",
            format!(
                "{} was closed by an admin. Its links and API keys no longer work. {}",
                plain_name(workspace_name),
                restorable_until.map_or_else(
                    || "It can't be restored, and everything in it is permanently deleted.".to_owned(),
                    |until| format!(
                        "One of its admins can restore it until {} UTC. After that, everything in it is permanently deleted.",
                        to_the_minute(until)
                    )
                )
            ),
        ),
        AccountChange::WorkspaceRestored { workspace_name } => (
            "A workspace was restored",
            format!("{} was closed and is now restored with everything in it.", plain_name(workspace_name)),
        ),
        AccountChange::Removed { workspace_name } => (
            "You left a workspace",
            format!(
                "You are no longer a member of {}. Your links there now belong to someone else.",
                plain_name(workspace_name)
            ),
        ),
    };
    (subject, vec![sentence])
}

fn reset_sentences(pauses: bool) -> Vec<String> {
    let reset = "Your password was reset. All sessions have ended.".to_owned();
    [reset].into_iter().chain(pauses.then(paused)).collect()
}

fn identity_sentences(provider: &str, pauses: bool) -> Vec<String> {
    let mut connected = format!("Your account can now be signed in to with {provider}.");
    if pauses {
        connected.push_str(" All sessions have ended, and the old password no longer works.");
    }
    [connected].into_iter().chain(pauses.then(paused)).collect()
}

fn paused() -> String {
    "Nobody had confirmed this email address before. Someone else may have used the account, so whatever could let \
             them in again is paused: its API keys, and other people in workspaces it has created. Pending invitations are \
             withdrawn. Sign in, review Members and API keys, and keep or remove each one."
        .to_owned()
}

fn signed_in(place: &SignInPlace) -> String {
    let device = place.device.as_deref().unwrap_or("a program");
    let country = place.country.as_ref().map(|country| format!(" in {country}")).unwrap_or_default();
    let days = lifetimes::in_days(lifetimes::FAMILIAR_ADDRESSES);
    format!(
        "Someone signed in to your account with {device}{country}. It's the first sign-in from that network in {days} days."
    )
}

fn in_words(role: Role) -> &'static str {
    match role {
        Role::Viewer => "a viewer",
        Role::Member => "a member",
        Role::Admin => "an admin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_to_the_minute() {
        let at = Timestamp::parse("2026-03-02T14:05:09Z").unwrap();
        assert_eq!(to_the_minute(at), "2026-03-02 14:05");
    }

    #[test]
    fn mails_about_passwords_and_addresses_are_counted_apart_from_frequent_ones() {
        let key: AccountChange = serde_json::from_value(serde_json::json!({
            "change": "key_created", "prefix": "lk_live_abcdefgh", "workspace_name": "Analytical Engines",
        }))
        .unwrap();
        let signed_in = AccountChange::SignedIn(SignInPlace { device: None, country: None });
        for often in [key, signed_in, AccountChange::SessionsEnded] {
            for change in [AccountChange::PasswordChanged, AccountChange::PasswordReset { pauses: false }] {
                assert_ne!(count_of(&change), count_of(&often), "{change:?} {often:?}");
            }
            assert_ne!(MailCount::AddressChanges, count_of(&often), "{often:?}");
        }
    }
}
