use crate::{Invalid, validated::string_newtype};

/// A client's name for a request, by which a repetition is recognised: 1–255 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Checks a key.
    ///
    /// # Errors
    /// When it has another form.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid::new("Idempotency-Key must have 1–255 visible ASCII characters"))
        }
    }
}

string_newtype!(IdempotencyKey);
