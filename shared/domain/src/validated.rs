//! The validation error, and a macro for string newtypes that are validated on deserialisation.

use std::{borrow::Cow, fmt, marker::PhantomData};

use icu_normalizer::ComposingNormalizerBorrowed;
use icu_properties::{CodePointSetData, props::DefaultIgnorableCodePoint};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, IntoDeserializer as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A validation error. Its text is a sentence for the client that sent the value, and safe to show. For a type that is read
/// under several names, the sentence begins with `must` and the reader of the body puts the name in front.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct Invalid {
    sentence: String,
    field: Option<String>,
}

impl Invalid {
    /// A validation error with this sentence.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), field: None }
    }

    /// Refuses what must not be.
    ///
    /// # Errors
    /// If it is so.
    pub fn when(is_so: bool, sentence: &str) -> Result<(), Self> {
        if is_so { Err(Self::new(sentence)) } else { Ok(()) }
    }

    /// Refuses what isn't as it must be.
    ///
    /// # Errors
    /// If it isn't so.
    pub fn unless(is_so: bool, sentence: &str) -> Result<(), Self> {
        Self::when(!is_so, sentence)
    }

    /// Refuses the value of a field when this is so.
    ///
    /// # Errors
    /// When it is so.
    pub fn field_when(field: &str, is_so: bool, sentence: &str) -> Result<(), Self> {
        Self::when(is_so, sentence).map_err(|refused| refused.in_field(field))
    }

    /// This error with the input to blame: a member of a body, a parameter or a header.
    #[must_use]
    pub fn in_field(self, field: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..self }
    }

    /// The input to blame, if it is known.
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }
}

/// Refuses what breaks a rule, of which a member's name is the subject.
pub(crate) fn refuse(is_so: bool, rule: &'static str) -> Result<(), &'static str> {
    if is_so { Err(rule) } else { Ok(()) }
}

/// Lets [`str::parse`], and serde with it, read a type as its own `parse` does.
macro_rules! from_text {
    ($name:ident) => {
        impl std::str::FromStr for $name {
            type Err = $crate::Invalid;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }
    };
}

pub(crate) use from_text;

/// Implements the string conversions of a `struct Name(String)` that has `parse(&str) -> Result<Self, Invalid>`, so that
/// deserialisation runs the same validation as parsing a request.
macro_rules! string_newtype {
    ($name:ident) => {
        impl $name {
            /// The value as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        $crate::validated::from_text!($name);
    };
}
pub(crate) use string_newtype;

/// A secret text, which `Debug` doesn't show.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Hidden(pub String);

impl fmt::Debug for Hidden {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("…")
    }
}

/// A SHA-256 as 64 lower-case hexadecimal digits, if the text is one.
pub(crate) fn digest_in_hex(text: &str) -> Option<String> {
    let is_digest = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_digest.then(|| text.to_owned())
}

/// Where a text of people's may stand, which decides what it may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A line by itself, such as a name.
    Line,
    /// A text that may have several lines and tabs.
    Lines,
}

/// A text of people's as it is kept: without white space around it, in Unicode's normal form C
/// ([UAX 15](https://www.unicode.org/reports/tr15/)), in which equal texts have equal characters. What could make it look like
/// another text is refused, with a sentence that begins with `must`.
pub(crate) fn readable(text: &str, shape: Shape) -> Result<String, &'static str> {
    let text = normalized(text.trim());
    let may_control = |character| shape == Shape::Lines && matches!(character, '\n' | '\r' | '\t');
    let is_refused = |character: char| character.is_control() && !may_control(character);
    refuse(text.contains(is_refused), "must not contain control characters")?;
    refuse(text.contains(changes_direction), "must not contain characters that change the direction of text")?;
    refuse(!text.is_empty() && text.chars().all(is_invisible), "must have a character that can be seen")?;
    Ok(text.into_owned())
}

/// A text in Unicode's normal form C.
pub(crate) fn normalized(text: &str) -> Cow<'_, str> {
    ComposingNormalizerBorrowed::new_nfc().normalize(text)
}

/// Whether a character makes a line look like another one: a control character, or one that changes the direction of what
/// follows.
pub fn disguises_a_line(character: char) -> bool {
    character.is_control() || changes_direction(character)
}

/// Whether a character changes the direction of what follows, which makes a line look like another one: Unicode's
/// [explicit directional formatting](https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters). Scripts that are
/// written from right to left need none.
fn changes_direction(character: char) -> bool {
    matches!(character, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character changes the direction of what is around it: one of Unicode's
/// [`Bidi_Control`](https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters). A name in Hebrew or Arabic may need a
/// mark, and no URL does.
pub(crate) fn is_bidi_control(character: char) -> bool {
    changes_direction(character) || matches!(character, '\u{61C}' | '\u{200E}' | '\u{200F}')
}

/// Whether a character by itself shows nothing. Between others it may have a meaning, as the joiners in an emoji have.
fn is_invisible(character: char) -> bool {
    // A pattern of braille without a dot is a symbol to Unicode.
    const BRAILLE_BLANK: char = '\u{2800}';
    let ignorable = CodePointSetData::new::<DefaultIgnorableCodePoint>();
    character.is_whitespace() || character == BRAILLE_BLANK || ignorable.contains(character)
}

/// Defines a text of limited length, in characters, that only people read. The arguments are the type's name, the name of its
/// member in requests, the limit, and its shape.
macro_rules! bounded_text {
    ($(#[$attribute:meta])* $name:ident, $member:literal, $longest:literal, $shape:ident) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq, Eq, serde_with::SerializeDisplay, serde_with::DeserializeFromStr)]
        pub struct $name(String);

        impl $name {
            /// Maximum length in characters.
            pub const MAX_LENGTH: usize = $longest;

            #[doc = concat!("Accepts at most ", $longest, " characters, none of which disguises the others.")]
            ///
            /// # Errors
            /// When the text is anything else.
            pub fn parse(text: &str) -> Result<Self, $crate::Invalid> {
                let text = $crate::validated::readable(text, $crate::validated::Shape::$shape)
                    .map_err(|rule| $crate::Invalid::new(format!("{} {rule}", $member)))?;
                let sentence = concat!($member, " must have at most ", $longest, " characters");
                $crate::Invalid::when(text.chars().count() > $longest, sentence)?;
                Ok(Self(text))
            }
        }

        $crate::validated::string_newtype!($name);

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }
    };
}
pub(crate) use bounded_text;

/// Maximum length of a name in characters.
pub(crate) const LONGEST_NAME: usize = 255;

/// The name of a thing of people's: a line of 1–255 characters. The rule that it breaks begins with `must`.
pub(crate) fn name(text: &str) -> Result<String, &'static str> {
    let name = readable(text, Shape::Line)?;
    if (1..=LONGEST_NAME).contains(&name.chars().count()) { Ok(name) } else { Err("must have 1–255 characters") }
}

/// Reads an optional member, for which `null` and an empty string mean the same as its absence: a form sends an empty string for
/// what nobody filled in. For use with `#[serde(default, deserialize_with = "optional")]`.
///
/// # Errors
/// When the member is neither `null` nor empty nor a `T`.
pub fn optional<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    deserializer.deserialize_any(Optional(PhantomData))
}

/// Hands whatever it gets on to `T`, but for what means the absence of a value.
struct Optional<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Optional<T> {
    type Value = Option<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value or null")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        optional(deserializer)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        if text.is_empty() { Ok(None) } else { T::deserialize(text.into_deserializer()).map(Some) }
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        T::deserialize(value.into_deserializer()).map(Some)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        T::deserialize(value.into_deserializer()).map(Some)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        T::deserialize(value.into_deserializer()).map(Some)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        T::deserialize(value.into_deserializer()).map(Some)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<Self::Value, A::Error> {
        T::deserialize(SeqAccessDeserializer::new(elements)).map(Some)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(Some)
    }
}

/// Reads a member of a patch that can be taken away: `None` if it is absent, `Some(None)` if it is `null` or empty. For use with
/// `#[serde(default, deserialize_with = "patched")]`.
///
/// # Errors
/// When the member is neither `null` nor a `T`.
pub fn patched<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<T>>, D::Error> {
    optional(deserializer).map(Some)
}

/// Like [`optional`], for a text of which nothing may be left when it is trimmed: then it is absent, too.
pub(crate) fn optional_text<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de> + AsRef<str>,
    D: Deserializer<'de>,
{
    optional(deserializer).map(|given| given.filter(|text: &T| !text.as_ref().is_empty()))
}

/// Like [`patched`], for such a text.
pub(crate) fn patched_text<'de, T, D>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    T: Deserialize<'de> + AsRef<str>,
    D: Deserializer<'de>,
{
    optional_text(deserializer).map(Some)
}

/// Reads a member for which `null` and an empty string mean the same as its absence. For use with
/// `#[serde(default, deserialize_with = "null_as_default")]`.
pub(crate) fn null_as_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    optional(deserializer).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_trimmed_and_in_normal_form() {
        assert_eq!(name(" cafe\u{301}\u{a0}").as_deref(), Ok("caf\u{e9}"));
        assert_eq!(name(&"ü".repeat(255)).map(|name| name.len()), Ok(510));
        // Too long as it is written, and not as it is kept.
        assert!(name(&"u\u{308}".repeat(255)).is_ok());
        for refused in ["", "  ", &"x".repeat(256)] {
            assert_eq!(name(refused), Err("must have 1–255 characters"), "{refused:?}");
        }
    }

    #[test]
    fn each_refusal_of_a_text_names_its_rule() {
        let sentence = |text: &str| readable(text, Shape::Line).unwrap_err();
        for control in ["a\u{0}b", "a\u{1b}[31m", "a\u{85}b", "two\nlines", "a\tb", "a\u{7f}"] {
            assert_eq!(sentence(control), "must not contain control characters", "{control:?}");
        }
        for turned in ["in\u{202E}voice", "a\u{2066}b", "\u{202A}", "a\u{2069}"] {
            assert_eq!(sentence(turned), "must not contain characters that change the direction of text", "{turned:?}");
        }
        for invisible in [
            "\u{200B}",
            "\u{AD}",
            "\u{3164}",
            "\u{2800}",
            "\u{2060} \u{FEFF}",
            "\u{200D}",
            "\u{FE0F}",
            "\u{115F}",
            "\u{E0020}",
        ] {
            assert_eq!(sentence(invisible), "must have a character that can be seen", "{invisible:?}");
        }
        assert_eq!(readable("two\r\nlines\tand a tab", Shape::Lines).as_deref(), Ok("two\r\nlines\tand a tab"));
        assert!(readable("a\u{0}b", Shape::Lines).is_err() && readable("\u{3164}\n\u{200B}", Shape::Lines).is_err());
    }

    #[test]
    fn every_script_and_emoji_may_be_in_a_text() {
        for plain in [
            "Frühling 🌱",
            "שלום\u{200F}",
            "تخفيضات",
            "👩\u{200D}💻",
            "❤\u{FE0F}",
            "می\u{200C}خواهم",
            "한국어",
            "क्\u{200D}ष",
        ] {
            assert_eq!(readable(plain, Shape::Line).as_deref(), Ok(&*normalized(plain)), "{plain}");
        }
    }
}
