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
        let is_valid = (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        Invalid::unless(is_valid, "Idempotency-Key must have 1–255 visible ASCII characters")?;
        Ok(Self(text.to_owned()))
    }
}

string_newtype!(IdempotencyKey);

/// What an answer is kept under: the idempotency key of its request, and if that is about many links, which of them the answer is
/// about. So a request about many never gets the answer of one about a single link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerKey {
    /// The request's key.
    pub key: IdempotencyKey,
    /// The position of the link in the request, counted from 0.
    pub index: Option<usize>,
}
