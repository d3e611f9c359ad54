use serde_with::{DeserializeFromStr, SerializeDisplay};
use uuid::Uuid;

use crate::{Invalid, validated::string_newtype};

/// A correlation id: it links a request to its log lines, the items it wrote, their events and the consumers' log lines.
#[derive(Debug, Clone, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct CorrelationId(String);

impl CorrelationId {
    const MAX_LENGTH: usize = 128;

    /// Parses an id of 1–128 visible ASCII characters, which are safe in a header and in a log line.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let fits = (1..=Self::MAX_LENGTH).contains(&text.len());
        let is_valid = fits && text.bytes().all(|byte| byte.is_ascii_graphic());
        Invalid::unless(is_valid, "a correlation id has 1–128 visible ASCII characters")?;
        Ok(Self(text.to_owned()))
    }

    /// Generates a random id (UUID version 4).
    pub fn generate() -> Self {
        Self(Uuid::new_v4().to_string())
    }

    /// The id that the caller sent, if it is valid, or else a generated one.
    pub fn accept(offered: Option<&str>) -> Self {
        offered.and_then(|text| Self::parse(text).ok()).unwrap_or_else(Self::generate)
    }
}

string_newtype!(CorrelationId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sane_id_is_kept() {
        assert_eq!(CorrelationId::accept(Some("req-42")).as_str(), "req-42");
    }

    #[test]
    fn anything_else_is_replaced() {
        for offered in [None, Some(""), Some("two words"), Some("line\nbreak"), Some("ümlaut"), Some(&*"x".repeat(129))]
        {
            let accepted = CorrelationId::accept(offered);

            assert_ne!(Some(accepted.as_str()), offered);
            assert_eq!(accepted.as_str().len(), 36);
        }
    }
}
