//! Passwords that people choose.

use std::fmt;

use serde::Deserialize;

use crate::{EmailAddress, Invalid};

/// The 10,000 most common passwords, of which shorter ones than a password may be are left out, one a line in lower case. They are
/// those of [zxcvbn](https://crates.io/crates/zxcvbn) 3.1.0, whose licence is beside them.
const COMMON: &str = include_str!("password/common.txt");

/// A password in plain text. Its `Debug` output doesn't contain it.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Password(String);

impl Password {
    /// Maximum length in bytes.
    pub const MAX_BYTES: usize = 1_024;

    /// Parses a password of at least 8 characters and at most 1,024 bytes.
    ///
    /// # Errors
    /// When the text is shorter or longer.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.chars().count() < 8 {
            return Err(Invalid::new("password must be at least 8 characters"));
        }
        if text.len() > Self::MAX_BYTES {
            return Err(Invalid::new("password must have at most 1,024 bytes"));
        }
        Ok(Self(text.to_owned()))
    }

    /// Refuses what is tried first against an account: its address, and common passwords, in upper or lower case. Passwords that
    /// were chosen before stay good for logins.
    ///
    /// # Errors
    /// When the password is one of these.
    pub fn refuse_guessable(&self, email: &EmailAddress) -> Result<(), Invalid> {
        let guessed = self.0.trim().to_lowercase();
        if guessed == email.as_str() || guessed == email.local_part() {
            return Err(Invalid::new("password must not be the email address"));
        }
        if COMMON.lines().any(|common| common == guessed) {
            return Err(Invalid::new("password is one of the most common ones"));
        }
        Ok(())
    }

    /// The password's bytes, for the hash function.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl TryFrom<String> for Password {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        Self::parse(&text)
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Password(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_has_8_characters_to_1024_bytes_and_is_never_printed() {
        assert!(Password::parse("1234567").is_err());
        assert!(Password::parse("äöüßäöü").is_err());
        assert!(Password::parse("äöüßäöüß").is_ok());
        assert!(Password::parse("12345678").is_ok());
        assert!(Password::parse(&"x".repeat(1_024)).is_ok());
        assert!(Password::parse(&"x".repeat(1_025)).is_err());
        assert_eq!(format!("{:?}", Password::parse("hunter2hunter2").unwrap()), "Password(…)");
    }

    #[test]
    fn what_is_tried_first_is_refused() {
        let email = EmailAddress::parse("augusta.king@example.com").unwrap();
        let refusal = |password: &str| {
            let refused = Password::parse(password).unwrap().refuse_guessable(&email).unwrap_err();
            refused.to_string()
        };

        for password in ["augusta.king@example.com", " Augusta.King@Example.com", "AUGUSTA.KING"] {
            assert_eq!(refusal(password), "password must not be the email address", "{password}");
        }
        for password in ["password1", "12345678", "Iloveyou1", "QWERTYUIOP"] {
            assert_eq!(refusal(password), "password is one of the most common ones", "{password}");
        }
        for password in ["correct horse", "password1 and more", "augusta.king and more"] {
            assert_eq!(Password::parse(password).unwrap().refuse_guessable(&email), Ok(()), "{password}");
        }
    }

    #[test]
    fn the_common_ones_are_as_they_are_compared() {
        assert!(COMMON.lines().count() > 3_000);
        assert!(COMMON.lines().all(|common| common.trim().to_lowercase() == common && Password::parse(common).is_ok()));
    }
}
