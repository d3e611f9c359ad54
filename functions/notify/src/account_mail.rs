//! Mails with a token, for a new password or to show that an address is one's own, and about changes of an account.
//!
//! A queue has only who wants which mail. The token is made here, when the mail is, and only its hash is stored, so no queue, table
//! or log ever has it. Since a message may be delivered twice, there may be two mails; each has a token of its own.

use std::time::Duration;

use linklet_domain::{
    AccountChange, AccountChanged, EmailAddress, Event, EventDetail, MailCount, OneTimeToken, PasswordForgotten, Role,
    Timestamp, TokenPurpose, UserId, VerificationRequested, lifetimes,
};
use linklet_dynamodb::{NewToken, RepositoryError, TokenDelivery};

use crate::{
    DeliveryError, Mailer, Notify,
    addresses::{Addresses, Page},
    invitation_mail::plain_name,
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
    /// A verification of an account that has no password yet.
    FirstPassword,
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
    /// Mails what was ordered, if there is somebody to mail it to. Nobody learns whether there is.
    pub(crate) async fn mail_account(&self, event: &Event, order: Order<'_>) -> Result<(), DeliveryError> {
        let Some(mailer) = &self.mailer else { return Ok(()) };
        // Whoever has waited for longer than a token works doesn't wait for one any more, as after a redrive.
        if event.occurred_at.plus(order.kind.lifetime()) <= (self.clock)() {
            return Ok(());
        }
        let Some(user) = self.tokens.account_of(order.email).await? else { return Ok(()) };
        let Some(order) = self.still_wanted(order, &user).await? else { return Ok(()) };
        if !mailer.admits_to(order.email, order.kind.count(), event, (self.clock)()).await? {
            return Ok(());
        }
        self.mail_token(mailer, order, &user).await
    }

    /// What an order is about now; `None` if the address is verified already.
    async fn still_wanted<'e>(&self, order: Order<'e>, user: &UserId) -> Result<Option<Order<'e>>, DeliveryError> {
        if order.kind == Kind::Reset {
            return Ok(Some(order));
        }
        let address = self.people.address(user).await?.filter(|address| !address.is_verified);
        let kind = |awaits_password| if awaits_password { Kind::FirstPassword } else { Kind::Verification };
        Ok(address.map(|address| Order { kind: kind(address.awaits_password), ..order }))
    }

    /// Mails somebody what was changed of their account, if they have shown that their address is theirs.
    pub(crate) async fn mail_change(&self, event: &Event, changed: &AccountChanged) -> Result<(), DeliveryError> {
        let Some(mailer) = &self.mailer else { return Ok(()) };
        let AccountChanged { user_id, change } = changed;
        let address = self.people.address(user_id).await?.filter(|address| address.is_verified);
        let Some(address) = address else { return Ok(()) };
        if !mailer.admits_of(user_id, count_of(change), event, (self.clock)()).await? {
            return Ok(());
        }
        mailer.send(&change_mail(change, event.occurred_at, &self.addresses), &address.email).await
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
            Kind::Verification | Kind::FirstPassword => self.tokens.issue_verification(&new).await,
        }
    }
}

/// With which mails one about a change is counted.
fn count_of(change: &AccountChange) -> MailCount {
    match change {
        AccountChange::PasswordChanged | AccountChange::PasswordReset { .. } | AccountChange::SessionsEnded => {
            MailCount::PasswordChanges
        }
        AccountChange::KeyCreated { .. }
        | AccountChange::KeyRevoked { .. }
        | AccountChange::KeyPaused { .. }
        | AccountChange::KeyResumed { .. }
        | AccountChange::Joined { .. }
        | AccountChange::RoleChanged { .. }
        | AccountChange::MembershipPaused { .. }
        | AccountChange::MembershipResumed { .. }
        | AccountChange::Removed { .. } => MailCount::AccountChanges,
    }
}

impl Order<'_> {
    fn mail(self, addresses: &Addresses, token: &OneTimeToken) -> Mail<'static> {
        match self.kind {
            Kind::Reset => reset(&addresses.page(Page::Reset, token), token),
            Kind::Verification => verification(&addresses.page(Page::Verify, token), token),
            Kind::FirstPassword => first_password(&addresses.page(Page::FirstPassword, token), token),
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

fn first_password(page: &str, token: &OneTimeToken) -> Mail<'static> {
    let (hours, token) = (lifetimes::ADDRESS_VERIFICATIONS.as_secs() / 3_600, token.reveal());
    let text = format!(
        "Somebody has registered with this address.\n\n\
         If it is you, choose a password on this page within {hours} hours:\n\n{page}\n\n\
         Or use this token, which works once:\n\n{token}\n\n\
         If it isn't you, do nothing. Nobody can sign in to an account without a password.\n"
    );
    Mail { subject: "Choose a password", text }
}

/// A mail about a change. It has no token.
fn change_mail(change: &AccountChange, at: Timestamp, addresses: &Addresses) -> Mail<'static> {
    let (subject, what) = changed(change);
    let (at, forgot) = (to_the_minute(at), addresses.forgot());
    let text = format!(
        "{what}\n\nThis was on {at} UTC.\n\n\
         If you know about it, there is nothing to do. If not, set a new password, which ends all sessions:\n\n{forgot}\n"
    );
    Mail { subject, text }
}

/// Such as `2026-03-02 14:05`.
fn to_the_minute(at: Timestamp) -> String {
    at.to_string().chars().take("2026-03-02T14:05".len()).collect::<String>().replace('T', " ")
}

fn changed(change: &AccountChange) -> (&'static str, String) {
    match change {
        AccountChange::PasswordChanged => (
            "Your password was changed",
            "Your password was changed by somebody who knew the old one. All other sessions have ended.".to_owned(),
        ),
        AccountChange::PasswordReset { pauses } => ("Your password was set anew", reset_text(*pauses)),
        AccountChange::SessionsEnded => (
            "You are signed out everywhere",
            "Somebody who was signed in to your account has ended all its sessions.".to_owned(),
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
            format!("Your API key {prefix}… in {} was paused, and works again.", plain_name(workspace_name)),
        ),
        AccountChange::Joined { workspace_name, role } => (
            "You have joined a workspace",
            format!("You are {} of {} now.", in_words(*role), plain_name(workspace_name)),
        ),
        AccountChange::RoleChanged { workspace_name, role } => {
            ("Your role was changed", format!("You are {} of {} now.", in_words(*role), plain_name(workspace_name)))
        }
        AccountChange::MembershipPaused { workspace_name } => (
            "Your membership is paused",
            format!(
                "Your membership of {} is paused, since its founder has set a new password. \
                 It goes on when the founder keeps it.",
                plain_name(workspace_name)
            ),
        ),
        AccountChange::MembershipResumed { workspace_name, role } => {
            ("Your membership goes on", format!("You are {} of {} again.", in_words(*role), plain_name(workspace_name)))
        }
        AccountChange::Removed { workspace_name } => (
            "You have left a workspace",
            format!(
                "You are no longer a member of {}. Your links there are somebody else's now.",
                plain_name(workspace_name)
            ),
        ),
    }
}

fn reset_text(pauses: bool) -> String {
    let mut text = "Your password was set anew with a token. All sessions have ended.".to_owned();
    if pauses {
        text.push_str(
            "\n\nUntil now, nobody had shown that this address is theirs. Somebody else may have used the account, so all that \
             could let them in again is paused: its API keys, and other people in workspaces that it has founded. Open \
             invitations are withdrawn. Sign in, look at Members and API keys, and keep or remove each.",
        );
    }
    text
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
    fn who_makes_many_keys_hides_no_new_password() {
        let key: AccountChange = serde_json::from_value(serde_json::json!({
            "change": "key_created", "prefix": "sk_live_abcdefgh", "workspace_name": "Analytical Engines",
        }))
        .unwrap();
        for change in [
            AccountChange::PasswordChanged,
            AccountChange::PasswordReset { pauses: false },
            AccountChange::SessionsEnded,
        ] {
            assert_ne!(count_of(&change), count_of(&key), "{change:?}");
        }
    }
}
