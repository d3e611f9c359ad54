use serde_with::{DeserializeFromStr, SerializeDisplay};

use crate::Invalid;
use crate::validated::{Shape, readable, string_newtype};

/// What statistics call a destination of a link with several: 1–30 characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct DestinationName(String);

impl DestinationName {
    /// Maximum length in characters.
    pub const MAX_LENGTH: usize = 30;

    /// What the target of a link with rules or variants is called.
    pub fn of_target() -> Self {
        Self("target".to_owned())
    }

    /// What the rule at this position is called, if nobody has named it.
    pub(super) fn of_rule(position: usize) -> Self {
        Self(format!("rule {}", position + 1))
    }

    /// What the variant at this position is called, if nobody has named it.
    pub(super) fn of_variant(position: usize) -> Self {
        Self(format!("variant {}", position + 1))
    }

    /// Accepts a line of 1–30 characters.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let name = readable(text, Shape::Line).map_err(|rule| Invalid::new(format!("name {rule}")))?;
        Invalid::unless((1..=Self::MAX_LENGTH).contains(&name.chars().count()), "name must have 1–30 characters")?;
        Ok(Self(name))
    }
}

string_newtype!(DestinationName);
