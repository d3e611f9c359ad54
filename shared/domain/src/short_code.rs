use serde::{Deserialize, Serialize};

use crate::{Invalid, base62, validated::string_newtype};

/// Length of a generated code in characters: 62⁷ ≈ 3.5 × 10¹² possible codes.
pub const GENERATED_LENGTH: usize = 7;

/// Reserved words, which a custom code can't be: paths of the API, and files that browsers and crawlers request.
const RESERVED: [&str; 14] = [
    "admin", "apis", "assets", "auth", "favicon", "health", "index", "login", "metrics", "register", "robots",
    "shorten", "static", "stats",
];

/// A short code, the last path segment of a short link: 4–10 characters of `[0-9A-Za-z]`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ShortCode(String);

impl ShortCode {
    /// Parses a code from a path. Reserved words are accepted.
    ///
    /// # Errors
    /// When the text is not 4–10 characters of `[0-9A-Za-z]`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if (4..=10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid::new("a short code has 4–10 characters of 0-9, A-Z and a-z"))
        }
    }

    /// Parses a custom code, chosen by a user.
    ///
    /// # Errors
    /// When the text has the wrong form or is a reserved word in upper or lower case.
    pub fn custom(text: &str) -> Result<Self, Invalid> {
        let code =
            Self::parse(text).map_err(|_| Invalid::new("custom_code must have 4–10 characters of 0-9, A-Z and a-z"))?;
        if RESERVED.contains(&text.to_ascii_lowercase().as_str()) {
            return Err(Invalid::new("custom_code is a reserved word"));
        }
        Ok(code)
    }

    /// Generates a code of [`GENERATED_LENGTH`] characters with the operating system's random number generator.
    ///
    /// # Errors
    /// When the random number generator fails.
    pub fn generate() -> Result<Self, getrandom::Error> {
        base62::random(GENERATED_LENGTH).map(Self)
    }
}

string_newtype!(ShortCode);

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::ALPHABET;

    #[test]
    fn a_hundred_thousand_codes_are_unique_and_uniform() {
        const CODES: usize = 100_000;
        let mut seen = HashSet::with_capacity(CODES);
        let mut counts = [[0_u32; 256]; GENERATED_LENGTH];

        for _ in 0..CODES {
            let code = ShortCode::generate().unwrap();
            for (position, byte) in code.as_str().bytes().enumerate() {
                counts[position][usize::from(byte)] += 1;
            }
            assert!(seen.insert(code), "a code was given out twice");
        }

        // Uniqueness holds with probability 1 - 0.0014 (birthday bound 10¹⁰ / 2 / 62⁷). For each position, Pearson's
        // statistic over 62 characters has 61 degrees of freedom: it exceeds 143 with probability 1.4 × 10⁻⁸, so the
        // seven positions raise a false alarm once in ten million runs; a bias of 5 % towards 8 characters exceeds it.
        let expected = CODES as f64 / 62.0;
        for position in counts {
            let chi_squared: f64 = ALPHABET
                .iter()
                .map(|byte| (f64::from(position[usize::from(*byte)]) - expected).powi(2) / expected)
                .sum();
            assert!(chi_squared < 143.0, "χ² = {chi_squared}");
        }
    }

    #[test]
    fn the_form_is_four_to_ten_base62_characters() {
        for accepted in ["abcd", "0000", "AbCdEfGhI9"] {
            assert!(ShortCode::parse(accepted).is_ok(), "{accepted}");
        }
        for refused in ["", "abc", "abcdefghijk", "ab-cd", "ab cd", "äbcd", "abcd\n"] {
            assert!(ShortCode::parse(refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn a_custom_code_is_no_reserved_word_in_any_case() {
        for refused in ["health", "Health", "STATS"] {
            assert_eq!(ShortCode::custom(refused), Err(Invalid::new("custom_code is a reserved word")));
        }
        assert!(ShortCode::custom("healthy").is_ok());
    }
}
