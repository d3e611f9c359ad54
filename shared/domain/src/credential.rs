//! What an account proves itself with. Each kind is another way into it.

use serde::{Deserialize, Serialize};
use serde_with::{DeserializeFromStr, SerializeDisplay};
use sha2::{Digest, Sha256};

use crate::validated::{digest_in_hex, string_newtype};
use crate::{EmailAddress, Invalid, Timestamp, WorkspaceId};

/// What an account proves itself with from now on.
#[derive(Debug, Clone, Copy)]
pub enum Credential<'a> {
    /// A password, as its hash.
    Password(&'a str),
    /// Who somebody is at an identity provider.
    Identity(&'a Identity),
}

/// The SHA-256 of an issuer and a subject there, as 64 lower-case hexadecimal digits, by which an identity is looked up.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, SerializeDisplay, DeserializeFromStr)]
pub struct IdentityHash(String);

impl IdentityHash {
    /// The hash of a subject at an issuer, neither of which has the character between them.
    pub fn of(issuer: &str, subject: &str) -> Self {
        Self(hex::encode(Sha256::digest(format!("{issuer}\0{subject}"))))
    }

    /// Parses 64 lower-case hexadecimal digits.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let refused = || Invalid::new("the hash of an identity must be 64 hexadecimal digits");
        digest_in_hex(text).map(Self).ok_or_else(refused)
    }
}

string_newtype!(IdentityHash);

/// Who somebody is at an identity provider, as far as their account has to know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Which identity it is.
    #[serde(rename = "identity")]
    pub hash: IdentityHash,
    /// The issuer of the provider.
    pub issuer: String,
    /// The address that the provider has vouched for last.
    pub email: Option<EmailAddress>,
    /// Since when the account has it.
    pub connected_at: Timestamp,
    /// The workspaces in which groups there have given the person the role.
    #[serde(default, skip_serializing)]
    pub workspaces: Vec<WorkspaceId>,
}

impl Identity {
    /// An identity that an account gets now.
    pub fn new(issuer: String, subject: &str, email: Option<EmailAddress>, connected_at: Timestamp) -> Self {
        Self { hash: IdentityHash::of(&issuer, subject), issuer, email, connected_at, workspaces: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_one_subject_of_one_issuer() {
        let hash = IdentityHash::of("https://a.example", "1");

        assert_eq!(IdentityHash::parse(hash.as_str()), Ok(hash.clone()));
        assert!(IdentityHash::parse("https://a.example").is_err());
        for (issuer, subject) in [("https://a.example", "2"), ("https://b.example", "1"), ("https://a.example1", "")] {
            assert_ne!(IdentityHash::of(issuer, subject), hash, "{issuer} {subject}");
        }
    }
}
