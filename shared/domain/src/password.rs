//! Passwords that people choose.

use serde::Deserialize;

use crate::validated::{Hidden, normalized};
use crate::{EmailAddress, Invalid};

/// The 10,000 most common passwords, of which shorter ones than a password may be are left out, one a line in lower case. They are
/// those of [zxcvbn](https://crates.io/crates/zxcvbn) 3.1.0, whose licence is beside them.
const COMMON: &str = include_str!("password/common.txt");

/// A password as somebody has typed it, of any length, in Unicode's normal form C: keyboards send the same letter as one character or
/// as several. Nothing else is changed. It is all that is hashed and verified. Its `Debug` output doesn't contain it.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "String")]
pub struct TypedPassword(Hidden);

impl TypedPassword {
    /// The password's bytes, for the hash function.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.0.as_bytes()
    }

    /// Its length in characters.
    pub(crate) fn characters(&self) -> usize {
        self.0.0.chars().count()
    }
}

impl From<&str> for TypedPassword {
    fn from(text: &str) -> Self {
        Self(Hidden(normalized(text).into_owned()))
    }
}

impl From<String> for TypedPassword {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

/// The password of an account, which people choose.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "TypedPassword")]
pub struct Password(TypedPassword);

impl Password {
    /// Maximum length in bytes.
    pub const MAX_BYTES: usize = 1_024;

    /// Refuses what is tried first against an account: its address, and common passwords, in upper or lower case. Passwords that
    /// were chosen before stay good for logins.
    ///
    /// # Errors
    /// When the password is one of these.
    pub fn refuse_guessable(&self, email: &EmailAddress) -> Result<(), Invalid> {
        let Self(TypedPassword(Hidden(typed))) = self;
        let guessed = typed.trim().to_lowercase();
        let is_address = guessed == email.as_str() || guessed == email.local_part();
        Invalid::when(is_address, "password must not be the email address")?;
        Invalid::when(COMMON.lines().any(|common| common == guessed), "password is one of the most common ones")
    }

    /// The password as it is hashed.
    pub fn typed(&self) -> &TypedPassword {
        &self.0
    }
}

impl TryFrom<TypedPassword> for Password {
    type Error = Invalid;

    /// Accepts at least 8 characters and at most 1,024 bytes.
    fn try_from(typed: TypedPassword) -> Result<Self, Invalid> {
        Invalid::when(typed.characters() < 8, "password must be at least 8 characters")?;
        Invalid::when(typed.as_bytes().len() > Self::MAX_BYTES, "password must have at most 1,024 bytes")?;
        Ok(Self(typed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(text: &str) -> Result<Password, Invalid> {
        Password::try_from(TypedPassword::from(text))
    }

    #[test]
    fn a_password_has_8_characters_to_1024_bytes_and_is_never_printed() {
        assert!(chosen("1234567").is_err());
        assert!(chosen("äöüßäöü").is_err());
        assert!(chosen("äöüßäöüß").is_ok());
        assert!(chosen("12345678").is_ok());
        assert!(chosen(&"x".repeat(1_024)).is_ok());
        assert!(chosen(&"x".repeat(1_025)).is_err());
        assert_eq!(format!("{:?}", chosen("hunter2hunter2").unwrap()), "Password(TypedPassword(…))");
    }

    #[test]
    fn a_password_is_brought_into_normal_form_and_changed_no_further() {
        let bytes = |text: &str| TypedPassword::from(text).as_bytes().to_vec();
        assert_eq!(bytes("Cafe\u{301} "), "Caf\u{e9} ".as_bytes());
        for other in ["Caf\u{e9}", "caf\u{e9} ", "Cafe "] {
            assert_ne!(bytes(other), bytes("Caf\u{e9} "), "{other:?}");
        }
        // Eight characters as they are written, and seven as they are kept.
        assert!(chosen("passwo\u{301}r").is_err());
        // Too long as it is written, and not as it is kept.
        assert!(chosen(&"u\u{308}".repeat(512)).is_ok());
    }

    #[test]
    fn what_is_tried_first_is_refused() {
        let email = EmailAddress::parse("augusta.king@example.com").unwrap();
        let refusal = |password: &str| {
            let refused = chosen(password).unwrap().refuse_guessable(&email).unwrap_err();
            refused.to_string()
        };

        for password in ["augusta.king@example.com", " Augusta.King@Example.com", "AUGUSTA.KING"] {
            assert_eq!(refusal(password), "password must not be the email address", "{password}");
        }
        for password in ["password1", "12345678", "Iloveyou1", "QWERTYUIOP"] {
            assert_eq!(refusal(password), "password is one of the most common ones", "{password}");
        }
        for password in ["correct horse", "password1 and more", "augusta.king and more"] {
            assert_eq!(chosen(password).unwrap().refuse_guessable(&email), Ok(()), "{password}");
        }
    }

    #[test]
    fn the_common_ones_are_as_they_are_compared() {
        assert!(COMMON.lines().count() > 3_000);
        assert!(COMMON.lines().all(|common| common.trim().to_lowercase() == common && chosen(common).is_ok()));
    }
}
