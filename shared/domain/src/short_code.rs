use std::{collections::BTreeSet, ops::RangeInclusive, str::FromStr};

use percent_encoding::percent_decode_str;
use serde::Serialize;
use serde_with::{DeserializeFromStr, SerializeDisplay};

use crate::{Invalid, base62, validated::string_newtype};

/// Length of a generated code in characters. Of the 62⁷ ≈ 3.5 × 10¹² texts of this length, the 23.8 % that
/// [have the form](ShortCode::has_generated_form) of generated codes are 8.4 × 10¹¹ possible codes.
pub const GENERATED_LENGTH: usize = 7;

/// Reserved words, which no new code can be, in whatever case. A link at such a path, under the company's own domain, is believed
/// to be the company's own page, as `/security` or `/login`, so it would be good for phishing. Others are paths of the API, now
/// or later, and files that browsers and crawlers request. API Gateway answers `ping` and `sping` itself.
pub fn reserved_words() -> impl Iterator<Item = &'static str> {
    include_str!("short_code/reserved.txt").lines()
}

/// First segments of routes that could be codes otherwise, beside [reserved](reserved_words) ones. No code is one of them.
pub const ROUTES: [&str; 4] = ["api", "app", "r", "v1"];

/// A short code, the last path segment of a short link: 1–64 characters of `[0-9A-Za-z_-]`, and no first segment of a route.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct ShortCode(String);

impl ShortCode {
    /// Maximum length in characters.
    pub const MAX_LENGTH: usize = 64;
    /// How many characters a code has that somebody chooses.
    pub const CUSTOM_LENGTH: RangeInclusive<usize> = 4..=20;

    /// Parses a code from a path. Reserved words are accepted, but no first segment of a route.
    ///
    /// # Errors
    /// When the text is no code.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let is_code = (1..=Self::MAX_LENGTH).contains(&text.len()) && text.bytes().all(is_part);
        let is_free = !ROUTES.contains(&text);
        Invalid::unless(is_code && is_free, "a short code has 1–64 characters of 0-9, A-Z, a-z, - and _")?;
        Ok(Self(text.to_owned()))
    }

    /// Parses a code that a visitor follows. Chat programs take a full stop, a bracket or an invisible character behind an address for
    /// its part, so such characters behind a code are left out.
    ///
    /// # Errors
    /// When the text is no code either way.
    pub fn followed(text: &str) -> Result<Self, Invalid> {
        Self::parse(text).or_else(|refused| {
            let (code, behind) = text.split_at(text.bytes().take_while(|&byte| is_part(byte)).count());
            let behind = percent_decode_str(behind).decode_utf8_lossy();
            let is_no_punctuation =
                |character: char| character.is_alphanumeric() || character.is_control() || character == '/';
            if behind.contains(is_no_punctuation) { Err(refused) } else { Self::parse(code) }
        })
    }

    /// Parses a custom code, chosen by a user.
    ///
    /// # Errors
    /// When the text has the wrong form or is reserved.
    pub fn custom(text: &str, reserved: &ReservedCodes) -> Result<Self, Invalid> {
        Self::candidate(text, reserved).map_err(|reason| match reason {
            Unavailable::Reserved => Invalid::new("custom_code is a reserved word"),
            Unavailable::Generated => Invalid::new(
                "custom_code must not look like a generated one: seven letters and digits, with digits in two separate places",
            ),
            _ => Invalid::new(
                "custom_code must have 4–20 characters of 0-9, A-Z, a-z, - and _, with a letter or digit at both ends",
            ),
        })
    }

    /// Parses a code that somebody thinks of choosing, as [`Self::custom`] does.
    ///
    /// # Errors
    /// Why no link can have it, whoever has taken it.
    pub fn candidate(text: &str, reserved: &ReservedCodes) -> Result<Self, Unavailable> {
        let code = Self::parse(text).map_err(|_| Unavailable::Invalid)?;
        match code {
            _ if reserved.contains(&code) => Err(Unavailable::Reserved),
            _ if !code.can_be_custom() => Err(Unavailable::Invalid),
            _ if code.has_generated_form() => Err(Unavailable::Generated),
            code => Ok(code),
        }
    }

    /// Parses the code that a link has in another system, where it may be shorter or longer than a custom one. `may_look_generated`
    /// says whether it may have the form of generated codes: where anybody may register, somebody could take what others mistype.
    ///
    /// # Errors
    /// Why no link can have it, whoever has taken it.
    pub fn imported(text: &str, reserved: &ReservedCodes, may_look_generated: bool) -> Result<Self, Unavailable> {
        // A first segment of a route, in whatever case, and the path of QR codes.
        let is_word = |code: &Self| reserved.contains(code) || code.folded() == "qr";
        match Self::parse(text) {
            _ if ROUTES.contains(&text) => Err(Unavailable::Reserved),
            Err(_) => Err(Unavailable::Invalid),
            Ok(code) if is_word(&code) => Err(Unavailable::Reserved),
            Ok(code) if code.has_generated_form() && !may_look_generated => Err(Unavailable::Generated),
            Ok(code) => Ok(code),
        }
    }

    /// Whether somebody may choose it: 4–20 characters with a letter or digit at both ends.
    fn can_be_custom(&self) -> bool {
        let is_letter_or_digit = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
        let mut ends = self.0.bytes();
        Self::CUSTOM_LENGTH.contains(&self.0.len())
            && is_letter_or_digit(ends.next())
            && is_letter_or_digit(ends.next_back())
    }

    /// Whether it could be a generated code in some case: [`GENERATED_LENGTH`] letters and digits, with a letter between two digits.
    ///
    /// No custom code has this form. A generated code is found in its own case alone, so otherwise another workspace could choose the
    /// code in lower case, and would get whoever mistypes the case.
    pub fn has_generated_form(&self) -> bool {
        let is_plain = self.0.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let places = self.0.split(|character: char| !character.is_ascii_digit()).filter(|digits| !digits.is_empty());
        self.0.len() == GENERATED_LENGTH && is_plain && places.count() >= 2
    }

    /// The code in lower case. Two codes that people have chosen never have the same, since they are typed from paper.
    pub fn folded(&self) -> String {
        self.0.to_ascii_lowercase()
    }

    /// Generates a code with the operating system's random number generator, which is asked until the code
    /// [has the form](Self::has_generated_form) that no custom code has: some four times.
    ///
    /// # Errors
    /// When the random number generator fails.
    pub fn generate() -> Result<Self, getrandom::Error> {
        loop {
            let code = Self(base62::random(GENERATED_LENGTH)?);
            if code.has_generated_form() {
                return Ok(code);
            }
        }
    }
}

/// Whether codes have such characters.
fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
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
    /// It has the form of a generated code.
    Generated,
    /// It is the code of a link, or was.
    Taken,
}

/// What a new code can't be: a [reserved word](reserved_words), and the words that the operator adds. Links that exist keep their codes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReservedCodes {
    /// In lower case.
    further: BTreeSet<String>,
}

impl ReservedCodes {
    /// Whether a code is one of them, in whatever case.
    pub fn contains(&self, code: &ShortCode) -> bool {
        let word = code.folded();
        reserved_words().any(|reserved| reserved == word)
            || ROUTES.contains(&word.as_str())
            || self.further.contains(&word)
    }
}

impl FromStr for ReservedCodes {
    type Err = Invalid;

    /// Reads the words that the operator adds, separated by commas.
    fn from_str(words: &str) -> Result<Self, Invalid> {
        let words = words.split(',').map(str::trim).filter(|word| !word.is_empty());
        let read = |word| match ShortCode::candidate(word, &Self::default()) {
            Ok(code) => Ok(code.folded()),
            Err(Unavailable::Reserved) => Ok(word.to_ascii_lowercase()),
            Err(_) => Err(Invalid::new(format!("{word:?} could be no custom code"))),
        };
        Ok(Self { further: words.map(read).collect::<Result<_, _>>()? })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::ALPHABET;

    /// How many of the texts of this length have digits in one place at most.
    fn without_the_form() -> f64 {
        let one_run = |digits: usize| {
            let (places, letters) = (GENERATED_LENGTH - digits + 1, GENERATED_LENGTH - digits);
            places as f64 * 10_f64.powi(digits as i32) * 52_f64.powi(letters as i32)
        };
        52_f64.powi(GENERATED_LENGTH as i32) + (1..=GENERATED_LENGTH).map(one_run).sum::<f64>()
    }

    #[test]
    fn what_chat_programs_put_behind_a_code_is_left_out() {
        for behind in
            ["", ".", "...", ",", "!", ")", "].", "\"", "'", "’", "»", "%E2%80%8B", "%EF%BB%BF", "\u{200b}", "%20"]
        {
            assert_eq!(ShortCode::followed(&format!("launch{behind}")).unwrap().as_str(), "launch", "{behind:?}");
        }
        for other in
            ["", ".", "lau.nch", ".launch", "launchü", "api.", "launch%2F", "%6caunch", "launch%00", "launch%0a"]
        {
            assert!(ShortCode::followed(other).is_err(), "{other}");
        }
        assert_eq!(ShortCode::followed("launch-").unwrap().as_str(), "launch-");
    }

    #[test]
    fn a_hundred_thousand_codes_are_as_good_as_unique_and_uniform() {
        const CODES: usize = 100_000;
        let mut seen = HashSet::with_capacity(CODES);
        let mut counts = [[0_u32; 256]; GENERATED_LENGTH];

        for _ in 0..CODES {
            let code = ShortCode::generate().unwrap();
            assert!(code.has_generated_form(), "{code}");
            for (position, byte) in code.as_str().bytes().enumerate() {
                counts[position][usize::from(byte)] += 1;
            }
            seen.insert(code);
        }

        // One code of a hundred thousand comes twice with probability 0.006 (birthday bound 10¹⁰ / 2 / 8.4 × 10¹¹), so one run
        // in 170 sees that with a good generator; three repeats come once in 28 million runs.
        let repeated = CODES - seen.len();
        assert!(repeated < 3, "{repeated} codes were given out before");

        // Digits are more frequent than letters in codes of this form, but each digit is as frequent as any other, and each
        // letter. For each position, Pearson's statistics over 10 and over 52 characters have 9 and 51 degrees of freedom:
        // they exceed 56 and 130 with probability 10⁻⁸ each, so they raise a false alarm once in several million runs.
        for position in counts {
            for (kind, limit) in [(&ALPHABET[..10], 56.0), (&ALPHABET[10..], 130.0)] {
                let counts = kind.iter().map(|byte| f64::from(position[usize::from(*byte)]));
                let expected = counts.clone().sum::<f64>() / kind.len() as f64;
                let chi_squared: f64 = counts.map(|count| (count - expected).powi(2) / expected).sum();
                assert!(chi_squared < limit, "χ² = {chi_squared}");
            }
        }
    }

    #[test]
    fn a_quarter_of_all_texts_can_be_generated() {
        let share = 1.0 - without_the_form() / 62_f64.powi(GENERATED_LENGTH as i32);

        assert!((0.237..0.239).contains(&share), "{share}");
    }

    #[test]
    fn nobody_chooses_what_could_be_generated_in_any_case() {
        let candidate = |text: &str| ShortCode::candidate(text, &ReservedCodes::default());
        for refused in ["4gHdvR0", "4ghdvr0", "4GHDVR0", "a1b2cde", "1abcde2", "12a3456", "1a1a1a1"] {
            assert_eq!(candidate(refused), Err(Unavailable::Generated), "{refused}");
            let sentence = ShortCode::custom(refused, &ReservedCodes::default()).unwrap_err().to_string();
            assert!(sentence.starts_with("custom_code must not look like a generated one"), "{sentence}");
        }
        for accepted in ["launch7", "2026abc", "sale24x", "1234567", "rockets", "a1-b2cd", "a1b2cd", "a1b2cdef"] {
            assert!(candidate(accepted).is_ok(), "{accepted}");
        }
    }

    #[test]
    fn a_code_has_up_to_64_characters_and_is_no_route() {
        for accepted in ["a", "0000", "AbCdEfGhI9", "-_", "API", "R", &"x".repeat(64)] {
            assert!(ShortCode::parse(accepted).is_ok(), "{accepted}");
        }
        for refused in ["", "ab cd", "äbcd", "abcd\n", "a.b", "r", "api", "app", "v1", &"x".repeat(65)] {
            assert!(ShortCode::parse(refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn a_custom_code_has_4_to_20_characters_and_alphanumeric_ends() {
        let custom = |text: &str| ShortCode::custom(text, &ReservedCodes::default());
        for accepted in ["abcd", "spring-sale_2026", "a--b", &"x".repeat(20)] {
            assert!(custom(accepted).is_ok(), "{accepted}");
        }
        for refused in ["abc", "-abcd", "abcd_", "ab cd", "äbcd", &"x".repeat(21)] {
            let sentence = custom(refused).unwrap_err().to_string();
            assert!(sentence.starts_with("custom_code must have 4–20 characters"), "{refused}: {sentence}");
        }
    }

    #[test]
    fn an_imported_code_has_1_to_64_characters_and_is_no_reserved_word() {
        let imported = |text: &str| ShortCode::imported(text, &ReservedCodes::default(), false).map(|_| ());
        for accepted in ["a", "-a_", "abc", &"x".repeat(64)] {
            assert_eq!(imported(accepted), Ok(()), "{accepted}");
        }
        for refused in ["", "a/b", "a.b", "ü", &"x".repeat(65)] {
            assert_eq!(imported(refused), Err(Unavailable::Invalid), "{refused}");
        }
        for refused in ["r", "V1", "api", "App", "qr", "QR", "login", "Security"] {
            assert_eq!(imported(refused), Err(Unavailable::Reserved), "{refused}");
        }
        assert_eq!(imported("4gHdvR0"), Err(Unavailable::Generated));
        assert!(ShortCode::imported("4gHdvR0", &ReservedCodes::default(), true).is_ok());
    }

    #[test]
    fn codes_that_differ_by_case_alone_are_folded_alike() {
        let folded = |text: &str| ShortCode::parse(text).unwrap().folded();

        let expected = ("spring-sale".to_owned(), "spring-sale".to_owned());
        assert_eq!((folded("Spring-Sale"), folded("SPRING-sale")), expected);
        assert_ne!(folded("Spring_Sale"), folded("Spring-Sale"));
    }

    #[test]
    fn a_custom_code_is_no_reserved_word_in_any_case() {
        let custom = |text: &str| ShortCode::custom(text, &ReservedCodes::default());
        for refused in
            ["health", "Health", "STATS", "security", "Security", "SECURITY", "logIn", "PostMaster", "ping", "SPing"]
        {
            assert_eq!(custom(refused), Err(Invalid::new("custom_code is a reserved word")), "{refused}");
        }
        for accepted in ["healthy", "launch", "security1", "status24"] {
            assert!(custom(accepted).is_ok(), "{accepted}");
        }
    }

    #[test]
    fn reserved_words_are_sorted_unique_and_possible_custom_codes() {
        for word in reserved_words() {
            let code = ShortCode::parse(word).unwrap();
            assert!(code.can_be_custom() && word == code.folded(), "{word}");
        }
        assert!(reserved_words().is_sorted_by(|one, next| one < next));
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
            [("acme,go", "go"), ("-acme", "-acme"), ("acme;rockets", "acme;rockets"), ("acme rockets", "acme rockets")]
        {
            let refused = words.parse::<ReservedCodes>().unwrap_err().to_string();
            assert_eq!(refused, format!("{wrong:?} could be no custom code"));
        }
    }
}
