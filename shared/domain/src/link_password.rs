use std::fmt;

use serde::Deserialize;

use crate::Invalid;

/// What visitors of a link have to know: 4–128 characters. Its `Debug` output doesn't contain it.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct LinkPassword(String);

impl LinkPassword {
    /// Maximum length in characters.
    pub const MAX_LENGTH: usize = 128;
    const MIN_LENGTH: usize = 4;

    /// Accepts 4–128 characters, exactly as they are.
    ///
    /// # Errors
    /// When the text is shorter or longer.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if (Self::MIN_LENGTH..=Self::MAX_LENGTH).contains(&text.chars().count()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid::new("password must have 4–128 characters"))
        }
    }

    /// The password's bytes, for the hash function.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl TryFrom<String> for LinkPassword {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        Self::parse(&text)
    }
}

impl fmt::Debug for LinkPassword {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("LinkPassword(…)")
    }
}
