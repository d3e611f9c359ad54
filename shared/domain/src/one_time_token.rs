//! Tokens that work once, with which people prove that they were invited, or that they read an address's mail.

use serde_with::{DeserializeFromStr, SerializeDisplay};
use sha2::{Digest, Sha256};

use crate::validated::{Hidden, digest_in_hex, string_newtype};
use crate::{Invalid, base62};

/// What a one-time token is for. A token for one purpose is no token for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenPurpose {
    /// Joining a workspace, or registering where only invited people may.
    Invitation,
    /// Setting a new password without the old one.
    Reset,
    /// Showing that an address is one's own.
    Verification,
    /// Keeping one's address, when somebody has asked for another one instead.
    Keep,
}

impl TokenPurpose {
    fn prefix(self) -> &'static str {
        match self {
            Self::Invitation => "inv_",
            Self::Reset => "rst_",
            Self::Verification => "vrf_",
            Self::Keep => "kep_",
        }
    }

    fn refusal(self) -> Invalid {
        Invalid::new(match self {
            Self::Invitation => "an invitation's token is inv_ and 32 characters of 0-9, A-Z and a-z",
            Self::Reset => "a token for a new password is rst_ and 32 characters of 0-9, A-Z and a-z",
            Self::Verification => "a token for an address is vrf_ and 32 characters of 0-9, A-Z and a-z",
            Self::Keep => "a token to keep an address is kep_ and 32 characters of 0-9, A-Z and a-z",
        })
    }
}

/// A one-time token in plain text: a prefix that says what it is for, and 32 base62 characters, 190 random bits.
///
/// It is shown or mailed once, and never logged or stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneTimeToken(Hidden);

impl OneTimeToken {
    const RANDOM_CHARACTERS: usize = 32;
    /// Length in characters.
    pub const LENGTH: usize = 4 + Self::RANDOM_CHARACTERS;

    /// Parses text that has the form of a token for this purpose. Whether the token exists is not checked.
    ///
    /// # Errors
    /// When the text has another form. The error doesn't contain the text.
    pub fn parse(purpose: TokenPurpose, text: &str) -> Result<Self, Invalid> {
        let is_token = text.strip_prefix(purpose.prefix()).is_some_and(|rest| {
            rest.len() == Self::RANDOM_CHARACTERS && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        if is_token { Ok(Self(Hidden(text.to_owned()))) } else { Err(purpose.refusal()) }
    }

    /// Generates a token with the operating system's random number generator.
    ///
    /// # Errors
    /// When the random number generator fails.
    pub fn generate(purpose: TokenPurpose) -> Result<Self, getrandom::Error> {
        Ok(Self(Hidden(format!("{}{}", purpose.prefix(), base62::random(Self::RANDOM_CHARACTERS)?))))
    }

    /// The token's hash, which is stored instead of the token. A single SHA-256 is enough, since a token has 190 random bits.
    pub fn hash(&self) -> TokenHash {
        TokenHash(hex::encode(Sha256::digest(&self.0.0)))
    }

    /// The token in plain text, for the one answer or mail that has it.
    pub fn reveal(&self) -> &str {
        &self.0.0
    }
}

/// The SHA-256 of a one-time token as 64 lower-case hexadecimal digits, by which the token is looked up.
#[derive(Debug, Clone, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct TokenHash(String);

impl TokenHash {
    /// Parses 64 lower-case hexadecimal digits.
    ///
    /// # Errors
    /// When the text is anything else, such as a token in plain text.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let refused = || Invalid::new("the hash of a token must be 64 hexadecimal digits");
        digest_in_hex(text).map(Self).ok_or_else(refused)
    }
}

string_newtype!(TokenHash);

#[cfg(test)]
mod tests {
    use super::*;

    const PURPOSES: [TokenPurpose; 4] =
        [TokenPurpose::Invitation, TokenPurpose::Reset, TokenPurpose::Verification, TokenPurpose::Keep];

    #[test]
    fn a_token_is_read_for_its_own_purpose_only() {
        for purpose in PURPOSES {
            let token = OneTimeToken::generate(purpose).unwrap();
            for other in PURPOSES {
                let expected = other == purpose;
                assert_eq!(OneTimeToken::parse(other, token.reveal()).is_ok(), expected, "{purpose:?} {other:?}");
            }
        }
    }

    #[test]
    fn tokens_differ_and_so_do_their_hashes() {
        let [one, other] = [(), ()].map(|()| OneTimeToken::generate(TokenPurpose::Reset).unwrap());

        assert_ne!(one.reveal(), other.reveal());
        assert_ne!(one.hash(), other.hash());
        assert_eq!(TokenHash::parse(one.hash().as_str()), Ok(one.hash()));
    }

    #[test]
    fn neither_a_log_line_nor_an_error_contains_the_token() {
        let token = OneTimeToken::generate(TokenPurpose::Reset).unwrap();

        assert_eq!(format!("{token:?}"), "OneTimeToken(…)");
        let refused = OneTimeToken::parse(TokenPurpose::Invitation, token.reveal()).unwrap_err().to_string();
        assert!(!refused.contains(token.reveal()), "{refused}");
    }

    #[test]
    fn anything_else_is_refused() {
        for refused in ["", "rst_", "rst_short", &format!("rst_{}", "é".repeat(16)), &format!("rst_{}", "a".repeat(33))]
        {
            assert!(OneTimeToken::parse(TokenPurpose::Reset, refused).is_err(), "{refused}");
        }
    }
}
