//! The codes with which providers refuse (RFC 6749, 4.1.2.1 and 5.2).

use std::fmt;

/// An error code of a provider, as far as it can be one, so that a log has no other text of strangers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorCode(String);

impl ErrorCode {
    /// Longer than any that is registered.
    const MAX_LENGTH: usize = 64;

    /// What a code can be of this text.
    pub fn of(text: &str) -> Self {
        let letters = text.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_');
        Self(letters.take(Self::MAX_LENGTH).collect())
    }

    /// The code as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "without an error code" } else { &self.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_no_text_of_strangers() {
        assert_eq!(ErrorCode::of("invalid_client").to_string(), "invalid_client");
        assert_eq!(ErrorCode::of("a\u{1b}[31m b\n").to_string(), "a31mb");
        assert_eq!(ErrorCode::of(&"x".repeat(100)).as_str().len(), 64);
        assert_eq!(ErrorCode::of("<>").to_string(), "without an error code");
    }
}
