//! Identifiers of users, workspaces, invitations, sessions, jobs and events.

use std::fmt;

use serde_with::{DeserializeFromStr, SerializeDisplay};
use sha2::{Digest, Sha256};
use uuid::{NoContext, Uuid};

use crate::validated::{from_text, string_newtype};
use crate::{EmailAddress, Invalid, LinkId, Timestamp};

macro_rules! uuid_newtype {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, SerializeDisplay, DeserializeFromStr)]
        pub struct $name(Uuid);

        impl $name {
            /// Parses a UUID. As text, the id is in hyphenated lower-case form.
            ///
            /// # Errors
            /// When the text is not a UUID.
            pub fn parse(text: &str) -> Result<Self, Invalid> {
                Uuid::try_parse(text).map(Self).map_err(|_| Invalid::new(concat!($what, " must be a UUID")))
            }

            /// Generates an id that sorts by time of creation (UUID version 7, RFC 9562).
            pub fn generate() -> Self {
                Self(Uuid::now_v7())
            }

            /// The 16 bytes of the id, which take less than half of the space of its text.
            pub fn to_bytes(&self) -> [u8; 16] {
                self.0.into_bytes()
            }

            /// The id with these bytes.
            ///
            /// # Errors
            /// When there are more or fewer than 16.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, Invalid> {
                Uuid::from_slice(bytes).map(Self).map_err(|_| Invalid::new(concat!($what, " must have 16 bytes")))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }

        from_text!($name);
    };
}

uuid_newtype! {
    /// The id of a user account, a UUID.
    UserId, "user_id"
}
uuid_newtype! {
    /// The id of a workspace, a UUID.
    WorkspaceId, "workspace_id"
}

impl WorkspaceId {
    /// The id of the workspace that a person gets in place of the last one that they have left. It is the same for all logins of
    /// a minute, so of several at once one creates it (UUID version 8, RFC 9562).
    pub fn derived_from(user: &UserId, at: Timestamp) -> Self {
        let digest = Sha256::digest(format!("{user} {}", at.unix_seconds() / 60));
        Self(uuid_of(&digest))
    }
}

uuid_newtype! {
    /// The id of an invitation, a UUID.
    InvitationId, "id"
}

impl InvitationId {
    /// The id of the invitation of this address into a workspace. An address has one there, so a second invitation takes the
    /// place of the first (UUID version 8, RFC 9562).
    pub fn derived_from(workspace: &WorkspaceId, email: &EmailAddress) -> Self {
        let digest = Sha256::digest(format!("{workspace} {email}"));
        Self(uuid_of(&digest))
    }
}

uuid_newtype! {
    /// The id of a session, a UUID: of what begins with a login and ends with its token (`jti`, RFC 7519, 4.1.7).
    SessionId, "jti"
}

impl SessionId {
    /// The id of a session that begins at this time (UUID version 7, RFC 9562).
    pub fn beginning_at(time: Timestamp) -> Self {
        let (seconds, millis) = (time.unix_millis() / 1_000, time.unix_millis() % 1_000);
        let nanos = u32::try_from(millis * 1_000_000).unwrap_or_default();
        Self(Uuid::new_v7(uuid::Timestamp::from_unix(NoContext, seconds, nanos)))
    }

    /// When the session began, in the precision of a millisecond: the id has this time, and the claims of a token only seconds. An
    /// id that isn't of ours has no time; its session is as old as can be, and so over.
    pub fn began_at(&self) -> Timestamp {
        time_of(&self.0).unwrap_or(Timestamp::EPOCH)
    }
}

uuid_newtype! {
    /// The id of a job, a UUID that sorts by time of creation.
    JobId, "id"
}

uuid_newtype! {
    /// The id of an order of a mail, a UUID. It stays the same in every redelivery.
    EmailRequestId, "order_id"
}

/// The time that an id of a time has.
fn time_of(id: &Uuid) -> Option<Timestamp> {
    let (seconds, nanos) = id.get_timestamp()?.to_unix();
    Some(Timestamp::from_unix_millis(seconds * 1_000 + u64::from(nanos) / 1_000_000))
}

/// The UUID that a digest begins with (version 8, RFC 9562).
fn uuid_of(digest: &[u8]) -> Uuid {
    uuid::Builder::from_custom_bytes(std::array::from_fn(|place| digest[place])).into_uuid()
}

/// The id of an event. It stays the same in every redelivery, so consumers use it to recognise duplicates.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct EventId(String);

impl EventId {
    const MAX_LENGTH: usize = 64;

    /// Parses an id of 1–64 ASCII letters, digits, `-` and `:`.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let fits = (1..=Self::MAX_LENGTH).contains(&text.len());
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b':'));
        Invalid::unless(fits && plain, "event_id must be 1–64 letters, digits, '-' or ':'")?;
        Ok(Self(text.to_owned()))
    }

    /// Generates an id that sorts by time of creation (UUID version 7, RFC 9562).
    pub fn generate() -> Self {
        Self(Uuid::now_v7().to_string())
    }

    /// When the id was generated; `None` for an id that follows from something else.
    pub fn generated_at(&self) -> Option<Timestamp> {
        Uuid::try_parse(&self.0).ok().as_ref().and_then(time_of)
    }

    /// The id of the event that a link has reached this number of clicks, derived from both.
    pub fn milestone(LinkId { code, generation }: &LinkId, clicks: u64) -> Self {
        Self(format!("milestone:{code}:{generation}:{clicks}"))
    }

    /// The id of the event that a job is over. A job ends once.
    pub fn of_job(job: &JobId) -> Self {
        Self(format!("job:{job}"))
    }

    /// The id of the entry in the audit log that mail to a person came back, of which there is one for a time.
    pub(crate) fn undeliverable() -> Self {
        Self("undeliverable".to_owned())
    }

    /// The id of the entry in the audit log of all wrong passwords of a while, which begins at this time.
    pub(crate) fn guessed(since: Timestamp) -> Self {
        Self(format!("guessed:{}", since.unix_seconds()))
    }

    /// The id of one of the events of a change, which may have several: `kind` tells them apart.
    pub fn of_change(change: &Self, kind: &'static str) -> Self {
        Self(format!("{change}:{kind}"))
    }

    /// The id of the event that a link was followed: that of the click.
    pub(crate) fn of_click(id: String) -> Self {
        Self(id)
    }
}

string_newtype!(EventId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_parsing_and_nothing_else_does() {
        let id = UserId::generate();

        assert_eq!(UserId::parse(&id.to_string()), Ok(id));
        assert!(UserId::parse("alice").is_err());
    }

    #[test]
    fn an_id_survives_its_bytes() {
        let id = WorkspaceId::generate();

        assert_eq!(WorkspaceId::from_bytes(&id.to_bytes()), Ok(id));
        assert!(WorkspaceId::from_bytes(&[0; 15]).is_err());
    }

    #[test]
    fn an_event_id_cannot_smuggle_other_characters() {
        for refused in ["", "a b", "a\nb", "#", &"x".repeat(65)] {
            assert!(EventId::parse(refused).is_err(), "{refused:?}");
        }
    }
}
