//! Limits on mails.

use std::time::Duration;

use crate::{EmailAddress, Salt, Timestamp, UserId};

/// Whose mails are counted: SHA-256 of a mailbox or a person and the salt, in hex. It is another type than that of an account at
/// which somebody guesses, since that is counted by its exact address: who has registered another spelling of a mailbox isn't the
/// one whose mailbox it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Correspondent(String);

impl Correspondent {
    /// Who reads mails to an address, in whatever spelling of its [mailbox](EmailAddress::mailbox). Otherwise each `+tag` would
    /// have mails of its own, all of which one person gets.
    pub fn reader(address: &EmailAddress, salt: &Salt) -> Self {
        Self(salt.hash(&address.mailbox()))
    }

    /// A person, whatever their address is.
    pub fn person(user: &UserId, salt: &Salt) -> Self {
        Self(salt.hash(&user.to_string()))
    }

    /// The hash's hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What of mails is counted, each by itself: who has just confirmed an address can have a token for a new password mailed at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "kebab-case")]
pub enum MailCount {
    /// Tokens for new passwords that a mailbox gets.
    Resets,
    /// Tokens that a mailbox gets to show whose it is.
    Verifications,
    /// What a mailbox gets because somebody wants its address for their account. Whoever uses this up stops no mail that its person
    /// asks for.
    WantedAddresses,
    /// Invitations that a mailbox gets, from whomever.
    Invitations,
    /// Invitations that a person has mailed, to whomever.
    InvitationsBySender,
    /// What a person hears about the password of their account.
    PasswordChanges,
    /// What a person hears of another address for their account, in which whoever reads their mail may stop it.
    AddressChanges,
    /// What else a person hears about their account. Whoever uses this up by API keys or sign-ins hides no new password.
    AccountChanges,
    /// Notifications that a person gets by mail as well.
    Notifications,
}

impl MailCount {
    /// How many there may be.
    pub fn limit(self) -> MailLimit {
        match self {
            Self::Resets | Self::Verifications | Self::WantedAddresses | Self::Invitations => MailLimit::OF_A_MAILBOX,
            Self::InvitationsBySender | Self::PasswordChanges | Self::AddressChanges | Self::AccountChanges => {
                MailLimit::OF_A_SENDER
            }
            Self::Notifications => MailLimit::OF_NOTIFICATIONS,
        }
    }
}

/// How many mails are sent. A window begins with a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailLimit {
    /// The number of mails in a window.
    pub mails: u32,
    /// The shortest time between two mails, if there is one.
    pub pause: Option<Duration>,
}

impl MailLimit {
    /// Length of a window.
    pub const WINDOW: Duration = Duration::from_secs(60 * 60);
    /// What one mailbox gets of a kind: more would only annoy its person.
    pub const OF_A_MAILBOX: Self = Self { mails: 5, pause: Some(Duration::from_secs(60)) };
    /// What one person has mailed to others, or hears about their own account: a team may be invited at a time, and no list of
    /// strangers.
    pub const OF_A_SENDER: Self = Self { mails: 50, pause: None };

    /// What one person gets of notifications. Who has more to hear looks into the application.
    pub const OF_NOTIFICATIONS: Self = Self { mails: 20, pause: None };

    /// When the window of a mail ends that is sent now, if it begins with it.
    pub fn window_ends(now: Timestamp) -> Timestamp {
        now.plus(Self::WINDOW)
    }

    /// When the next mail may be sent after one now, if it has to wait.
    pub fn next(self, now: Timestamp) -> Option<Timestamp> {
        self.pause.map(|pause| now.plus(pause))
    }
}
