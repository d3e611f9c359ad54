//! Who may see the statistics of a link.

use std::str::FromStr;

use serde_with::{DeserializeFromStr, SerializeDisplay};

use crate::Invalid;

/// Who may see the statistics of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, SerializeDisplay, DeserializeFromStr, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Visibility {
    /// Anybody who knows the short code.
    Public,
    /// The members of its workspace.
    Private,
}

impl Visibility {
    /// What a system is set to: `on` if statistics are public.
    ///
    /// # Errors
    /// When the text is neither `on` nor `off`.
    pub fn of_switch(text: &str) -> Result<Self, Invalid> {
        match text {
            "on" => Ok(Self::Public),
            "off" => Ok(Self::Private),
            _ => Err(Invalid::new("must be on or off")),
        }
    }
}

impl FromStr for Visibility {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text {
            "public" => Ok(Self::Public),
            "private" => Ok(Self::Private),
            _ => Err(Invalid::new("statistics must be 'public' or 'private'")),
        }
    }
}
