//! Which link a click belongs to: a code can belong to several links, one after another.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_with::{DeserializeFromStr, SerializeDisplay};

use crate::{Invalid, ShortCode, base62, validated::string_newtype};

/// Distinguishes the links that have had the same code, one after another: 6 random characters of base 62.
///
/// A link's clicks and statistics are stored under its code and generation. So a code that is used again starts from zero, and
/// deleting a purged link's clicks can't touch those of its successor.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct Generation(String);

impl Generation {
    /// 62⁶ ≈ 5.7 × 10¹⁰ generations; a code hardly ever has more than two.
    const LENGTH: usize = 6;

    /// Parses a generation.
    ///
    /// # Errors
    /// When the text is not 6 characters of `[0-9A-Za-z]`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let is_valid = text.len() == Self::LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        Invalid::unless(is_valid, "a generation has 6 characters of 0-9, A-Z and a-z")?;
        Ok(Self(text.to_owned()))
    }

    /// Generates one with the operating system's random number generator.
    ///
    /// # Errors
    /// When the random number generator fails.
    pub fn generate() -> Result<Self, getrandom::Error> {
        base62::random(Self::LENGTH).map(Self)
    }
}

string_newtype!(Generation);

/// One of the links that have had a code. Its text is `<code>.<generation>`, which is part of keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LinkId {
    /// The link's code.
    #[serde(rename = "short_code")]
    pub code: ShortCode,
    /// Which of the links with this code.
    pub generation: Generation,
}

impl LinkId {
    /// Reads what [`Display`](fmt::Display) writes.
    ///
    /// # Errors
    /// When the text has another form.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let (code, generation) =
            text.split_once('.').ok_or_else(|| Invalid::new("a link has a code and a generation"))?;
        Ok(Self { code: ShortCode::parse(code)?, generation: Generation::parse(generation)? })
    }
}

impl fmt::Display for LinkId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.code, self.generation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_survives_its_text_and_nothing_else_is_one() {
        let link = LinkId { code: ShortCode::parse("launch").unwrap(), generation: Generation::generate().unwrap() };

        assert_eq!(LinkId::parse(&link.to_string()), Ok(link));
        for refused in ["launch", "launch.", "launch.x7Kf2", "launch.x7Kf2a.b", ".x7Kf2a", "launch.x7Kf2-"] {
            assert!(LinkId::parse(refused).is_err(), "{refused}");
        }
    }
}
