//! Identifiers of users, workspaces and events.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Invalid, Timestamp, validated::string_newtype};

macro_rules! uuid_newtype {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Parses a UUID; the result is in hyphenated lower-case form.
            ///
            /// # Errors
            /// When the text is not a UUID.
            pub fn parse(text: &str) -> Result<Self, Invalid> {
                let uuid = Uuid::try_parse(text).map_err(|_| Invalid::new(concat!($what, " must be a UUID")))?;
                Ok(Self(uuid.to_string()))
            }

            /// Generates an id that sorts by time of creation (UUID version 7, RFC 9562).
            #[must_use]
            pub fn generate() -> Self {
                Self(Uuid::now_v7().to_string())
            }
        }

        string_newtype!($name);
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

/// The id of an event. It stays the same in every redelivery, so consumers use it to recognise duplicates.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
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
        if fits && plain {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid::new("event_id must be 1–64 letters, digits, '-' or ':'"))
        }
    }

    /// Generates an id that sorts by time of creation (UUID version 7, RFC 9562).
    #[must_use]
    pub fn generate() -> Self {
        Self(Uuid::now_v7().to_string())
    }

    /// The lowest id that [`Self::generate`] can return at this time: a lower bound for range queries.
    #[must_use]
    pub fn first_at(time: Timestamp) -> Self {
        let millis = time.unix_millis();
        Self(format!("{:08x}-{:04x}-7000-8000-000000000000", millis >> 16, millis & 0xffff))
    }

    /// The id of the event that a link has reached this number of clicks, derived from both.
    #[must_use]
    pub fn milestone(code: &crate::ShortCode, clicks: u64) -> Self {
        Self(format!("milestone:{code}:{clicks}"))
    }
}

string_newtype!(EventId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_parsing_and_nothing_else_does() {
        let id = UserId::generate();

        assert_eq!(UserId::parse(id.as_str()), Ok(id));
        assert!(UserId::parse("alice").is_err());
    }

    #[test]
    fn ids_sort_by_the_time_they_were_made() {
        let now = Timestamp::now();
        let id = EventId::generate();

        assert!(EventId::first_at(now) <= id);
        assert!(id < EventId::first_at(now.plus(std::time::Duration::from_millis(100))));
    }

    #[test]
    fn an_event_id_cannot_smuggle_other_characters() {
        for refused in ["", "a b", "a\nb", "#", &"x".repeat(65)] {
            assert!(EventId::parse(refused).is_err(), "{refused:?}");
        }
    }
}
