use serde::Deserialize;

use crate::{Invalid, TypedPassword};

/// What visitors of a link have to know: 4–128 characters.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "TypedPassword")]
pub struct LinkPassword(TypedPassword);

impl LinkPassword {
    /// Maximum length in characters.
    pub const MAX_LENGTH: usize = 128;
    const MIN_LENGTH: usize = 4;

    /// The password as it is hashed.
    pub fn typed(&self) -> &TypedPassword {
        &self.0
    }
}

impl TryFrom<TypedPassword> for LinkPassword {
    type Error = Invalid;

    /// Accepts 4–128 characters.
    fn try_from(typed: TypedPassword) -> Result<Self, Invalid> {
        let is_valid = (Self::MIN_LENGTH..=Self::MAX_LENGTH).contains(&typed.characters());
        Invalid::unless(is_valid, "password must have 4–128 characters")?;
        Ok(Self(typed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_has_4_to_128_characters_in_normal_form() {
        let is_accepted = |text: &str| LinkPassword::try_from(TypedPassword::from(text)).is_ok();
        assert!(is_accepted("ünïx") && is_accepted(&"u\u{308}".repeat(128)));
        assert!(!is_accepted("u\u{308}nx") && !is_accepted(&"u\u{308}".repeat(129)));
    }
}
