use std::{collections::BTreeSet, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{Invalid, base62, validated::string_newtype};

/// Length of a generated code in characters: 62⁷ ≈ 3.5 × 10¹² possible codes.
pub const GENERATED_LENGTH: usize = 7;

/// Reserved words, which no new code can be, in whatever case. A link at such a path, under the company's own domain, is believed
/// to be the company's own page, as `/security` or `/login`, so it would be good for phishing. Others are paths of the API, now
/// or later, and files that browsers and crawlers request.
pub const RESERVED: [&str; 68] = [
    "about",
    "abuse",
    "account",
    "accounts",
    "admin",
    "apis",
    "assets",
    "auth",
    "billing",
    "contact",
    "cookies",
    "copyright",
    "dashboard",
    "disclaimer",
    "docs",
    "favicon",
    "fraud",
    "gdpr",
    "health",
    "help",
    "helpdesk",
    "home",
    "hostmaster",
    "impressum",
    "imprint",
    "index",
    "info",
    "legal",
    "login",
    "logoff",
    "logon",
    "logout",
    "mail",
    "metrics",
    "noreply",
    "oauth",
    "openapi",
    "password",
    "payment",
    "phishing",
    "policy",
    "postmaster",
    "privacy",
    "profile",
    "recovery",
    "register",
    "report",
    "reset",
    "robots",
    "root",
    "security",
    "settings",
    "shorten",
    "signin",
    "signon",
    "signout",
    "signup",
    "sitemap",
    "static",
    "stats",
    "status",
    "support",
    "terms",
    "trust",
    "verify",
    "webmail",
    "webmaster",
    "wellknown",
];

/// A short code, the last path segment of a short link: 4–10 characters of `[0-9A-Za-z]`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ShortCode(String);

impl ShortCode {
    /// Maximum length in characters.
    pub const MAX_LENGTH: usize = 10;

    /// Parses a code from a path. Reserved words are accepted.
    ///
    /// # Errors
    /// When the text is not 4–10 characters of `[0-9A-Za-z]`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if (4..=Self::MAX_LENGTH).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid::new("a short code has 4–10 characters of 0-9, A-Z and a-z"))
        }
    }

    /// Parses a custom code, chosen by a user.
    ///
    /// # Errors
    /// When the text has the wrong form or is reserved.
    pub fn custom(text: &str, reserved: &ReservedCodes) -> Result<Self, Invalid> {
        Self::candidate(text, reserved).map_err(|reason| match reason {
            Unavailable::Reserved => Invalid::new("custom_code is a reserved word"),
            _ => Invalid::new("custom_code must have 4–10 characters of 0-9, A-Z and a-z"),
        })
    }

    /// Parses a code that somebody thinks of choosing, as [`Self::custom`] does.
    ///
    /// # Errors
    /// Why no link can have it, whoever has taken it.
    pub fn candidate(text: &str, reserved: &ReservedCodes) -> Result<Self, Unavailable> {
        let code = Self::parse(text).map_err(|_| Unavailable::Invalid)?;
        if reserved.contains(&code) { Err(Unavailable::Reserved) } else { Ok(code) }
    }

    /// Generates a code of [`GENERATED_LENGTH`] characters with the operating system's random number generator. It may happen to
    /// be reserved.
    ///
    /// # Errors
    /// When the random number generator fails.
    pub fn generate() -> Result<Self, getrandom::Error> {
        base62::random(GENERATED_LENGTH).map(Self)
    }
}

string_newtype!(ShortCode);

/// Why a new link can't have a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unavailable {
    /// It is none.
    Invalid,
    /// It is a reserved word.
    Reserved,
    /// It is the code of a link, or was.
    Taken,
}

/// What a new code can't be: [`RESERVED`], and the words that the operator adds. Links that exist keep their codes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReservedCodes {
    /// In lower case.
    further: BTreeSet<String>,
}

impl ReservedCodes {
    /// Whether a code is one of them, in whatever case.
    #[must_use]
    pub fn contains(&self, code: &ShortCode) -> bool {
        let word = code.as_str().to_ascii_lowercase();
        RESERVED.contains(&word.as_str()) || self.further.contains(&word)
    }
}

impl FromStr for ReservedCodes {
    type Err = Invalid;

    /// Reads the words that the operator adds, separated by commas.
    fn from_str(words: &str) -> Result<Self, Invalid> {
        let words = words.split(',').map(str::trim).filter(|word| !word.is_empty());
        let read = |word| match ShortCode::parse(word) {
            Ok(code) => Ok(code.as_str().to_ascii_lowercase()),
            Err(refused) => Err(Invalid::new(format!("{word:?} is no code: {refused}"))),
        };
        Ok(Self { further: words.map(read).collect::<Result<_, _>>()? })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::ALPHABET;

    #[test]
    fn a_hundred_thousand_codes_are_as_good_as_unique_and_uniform() {
        const CODES: usize = 100_000;
        let mut seen = HashSet::with_capacity(CODES);
        let mut counts = [[0_u32; 256]; GENERATED_LENGTH];

        for _ in 0..CODES {
            let code = ShortCode::generate().unwrap();
            for (position, byte) in code.as_str().bytes().enumerate() {
                counts[position][usize::from(byte)] += 1;
            }
            seen.insert(code);
        }

        // One code of a hundred thousand comes twice with probability 0.0014 (birthday bound 10¹⁰ / 2 / 62⁷), so one run in
        // 700 sees that with a good generator; three repeats come once in two billion runs.
        let repeated = CODES - seen.len();
        assert!(repeated < 3, "{repeated} codes were given out before");

        // For each position, Pearson's statistic over 62 characters has 61 degrees of freedom: it exceeds 143 with
        // probability 1.4 × 10⁻⁸, so the seven positions raise a false alarm once in ten million runs; a bias of 5 %
        // towards 8 characters exceeds it.
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
        let custom = |text: &str| ShortCode::custom(text, &ReservedCodes::default());
        for refused in ["health", "Health", "STATS", "security", "Security", "SECURITY", "logIn", "PostMaster"] {
            assert_eq!(custom(refused), Err(Invalid::new("custom_code is a reserved word")), "{refused}");
        }
        for accepted in ["healthy", "launch", "security1", "status24"] {
            assert!(custom(accepted).is_ok(), "{accepted}");
        }
    }

    #[test]
    fn each_reserved_word_could_be_a_code_and_stands_there_once_in_its_place() {
        for word in RESERVED {
            assert!(ShortCode::parse(word).is_ok() && word == word.to_ascii_lowercase(), "{word}");
        }
        assert!(RESERVED.is_sorted_by(|one, next| one < next));
    }

    #[test]
    fn the_operator_reserves_further_words() {
        let reserved: ReservedCodes = " Acme,rockets , ".parse().unwrap();
        let is_refused = |text: &str| ShortCode::custom(text, &reserved).is_err();

        for refused in ["acme", "ACME", "Rockets", "security"] {
            assert!(is_refused(refused), "{refused}");
        }
        assert!(!is_refused("acme24"));
        assert_eq!(["", " ", ","].map(|none| none.parse()), [(); 3].map(|()| Ok(ReservedCodes::default())));
    }

    #[test]
    fn what_could_be_no_code_is_no_word_to_reserve() {
        for (words, wrong) in
            [("acme,go", "go"), ("a-b-c", "a-b-c"), ("acme;rockets", "acme;rockets"), ("acme rockets", "acme rockets")]
        {
            let refused = words.parse::<ReservedCodes>().unwrap_err().to_string();
            assert_eq!(refused, format!("{wrong:?} is no code: a short code has 4–10 characters of 0-9, A-Z and a-z"));
        }
    }
}
