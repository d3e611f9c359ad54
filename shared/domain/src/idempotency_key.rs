use crate::{Invalid, validated::string_newtype};

/// The value of an `Idempotency-Key` header, by which a repeated request is recognised: 1–255 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Parses a key.
    ///
    /// # Errors
    /// When the text is not 1–255 visible ASCII characters.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid::new("Idempotency-Key must have 1–255 visible ASCII characters"))
        }
    }
}

string_newtype!(IdempotencyKey);
