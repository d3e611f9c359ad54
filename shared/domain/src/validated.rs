//! The validation error, and a macro for string newtypes that are validated on deserialisation.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{
        Error, IntoDeserializer as _, MapAccess, SeqAccess, Visitor,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
};

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

    /// The same, naming the input to blame: a member of a body, a parameter or a header.
    #[must_use]
    pub fn in_field(self, field: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..self }
    }

    /// The input to blame, if it is known.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }
}

/// Implements the string conversions of a `struct Name(String)` that has `parse(&str) -> Result<Self, Invalid>`, so that
/// deserialisation runs the same validation as parsing a request.
macro_rules! string_newtype {
    ($name:ident) => {
        impl $name {
            /// The value as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::Invalid;

            fn try_from(value: String) -> Result<Self, Self::Error> {
                Self::parse(&value)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::Invalid;

            fn from_str(value: &str) -> Result<Self, Self::Err> {
                Self::parse(value)
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.0
            }
        }
    };
}
pub(crate) use string_newtype;

/// Whether a character makes a line look like another one: a control character, or one that changes the direction of what
/// follows (Unicode's
/// [explicit directional formatting](https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters)).
#[must_use]
pub fn disguises_a_line(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// The same in a text that may have several lines and tabs.
pub(crate) fn disguises_a_text(character: char) -> bool {
    disguises_a_line(character) && !matches!(character, '\n' | '\r' | '\t')
}

/// Defines a text of limited length, in characters, that only people read. The arguments are the type's name, the name of its
/// member in requests, the limit, and the function that tells which characters it must not have.
macro_rules! bounded_text {
    ($(#[$attribute:meta])* $name:ident, $member:literal, $longest:literal, $disguises:path) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            #[doc = concat!("Accepts at most ", $longest, " characters, none of which disguises the others.")]
            ///
            /// # Errors
            /// When the text is anything else.
            pub fn parse(text: &str) -> Result<Self, $crate::Invalid> {
                if text.chars().count() > $longest {
                    return Err($crate::Invalid::new(concat!($member, " must have at most ", $longest, " characters")));
                }
                if text.contains($disguises) {
                    return Err($crate::Invalid::new(concat!($member, " must not contain control characters")));
                }
                Ok(Self(text.to_owned()))
            }
        }

        $crate::validated::string_newtype!($name);
    };
}
pub(crate) use bounded_text;

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

/// Reads a member for which `null` and an empty string mean the same as its absence. For use with
/// `#[serde(default, deserialize_with = "null_as_default")]`.
pub(crate) fn null_as_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    optional(deserializer).map(Option::unwrap_or_default)
}

/// Gives an enum with `parse(&str)` and `as_str()` the conversions by which serde reads and writes its name.
macro_rules! named_enum {
    ($name:ident) => {
        impl TryFrom<String> for $name {
            type Error = $crate::Invalid;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.as_str().to_owned()
            }
        }
    };
}
pub(crate) use named_enum;
