//! How long a route's body may be: as long as it gets when each of its members is as long as it may be, in any script, and each
//! character is written as an escape. So nobody is refused for how their client writes JSON.

/// The longest body that a route reads. It is made of the members that the route knows, each with its longest value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyLimit(usize);

impl BodyLimit {
    /// Braces, and room for white space and for members that the route doesn't know.
    pub const EMPTY: Self = Self(KIBIBYTE);

    /// A limit of so many bytes, for a route about several things that needn't all be as long as they may be.
    #[must_use]
    pub const fn of_bytes(bytes: usize) -> Self {
        Self(bytes)
    }

    /// With a text of so many characters. One beyond the Basic Multilingual Plane is two escapes, such as `\ud83c\udf31`.
    #[must_use]
    pub const fn text(self, name: &str, characters: usize) -> Self {
        self.member(name, TWO_ESCAPES * characters)
    }

    /// With a text of so many bytes in UTF-8. Each byte takes an escape at most.
    #[must_use]
    pub const fn bytes(self, name: &str, bytes: usize) -> Self {
        self.member(name, ESCAPE * bytes)
    }

    /// With a list of so many texts of so many characters.
    #[must_use]
    pub const fn list(self, name: &str, texts: usize, characters: usize) -> Self {
        self.member(name, texts * (TWO_ESCAPES * characters + PUNCTUATION))
    }

    /// With an object of so many texts, which have so many bytes in UTF-8 together with their keys.
    #[must_use]
    pub const fn map(self, name: &str, texts: usize, bytes: usize) -> Self {
        self.member(name, ESCAPE * bytes + PUNCTUATION * texts)
    }

    /// With a time, also one with white space in front and more digits than anybody needs.
    #[must_use]
    pub const fn time(self, name: &str) -> Self {
        self.bytes(name, 64)
    }

    /// With something short: `true`, `false`, or one of a few words.
    #[must_use]
    pub const fn word(self, name: &str) -> Self {
        self.bytes(name, 32)
    }

    /// With the members of another body.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 + other.0 - Self::EMPTY.0)
    }

    const fn member(self, name: &str, value: usize) -> Self {
        Self(self.0 + ESCAPE * name.len() + value + PUNCTUATION)
    }

    /// The limit in bytes, in whole kibibytes.
    #[must_use]
    pub const fn in_bytes(self) -> usize {
        self.0.next_multiple_of(KIBIBYTE)
    }
}

const KIBIBYTE: usize = 1_024;
/// Such as `\u00e4`.
const ESCAPE: usize = 6;
const TWO_ESCAPES: usize = 2 * ESCAPE;
/// Quotes, a colon, a comma, and an indented line.
const PUNCTUATION: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_of_the_longest_members_fits_however_it_is_written() {
        let limit = BodyLimit::EMPTY.text("title", 500).list("tags", 20, 50).bytes("password", 1_024).word("reuse");
        let (seedling, umlaut) = (r"\ud83c\udf31", r"\u00fc");
        let tags = vec![format!("        \"{}\"", seedling.repeat(50)); 20].join(",\n");
        let (title, password) = (seedling.repeat(500), umlaut.repeat(512));
        let body = format!(
            "{{\n    \"title\": \"{title}\",\n    \"tags\": [\n{tags}\n    ],\n    \"password\": \"{password}\"\n}}"
        );

        assert!(body.len() <= limit.in_bytes(), "{} > {limit:?}", body.len());
        assert_eq!(limit.in_bytes() % 1_024, 0);
    }
}
