//! The validation error, and a macro for string newtypes that are validated on deserialisation.

use serde::{Deserialize, Deserializer};

/// A validation error. Its text is a sentence for the client that sent the value, and safe to show. For a type that is read
/// under several names, the sentence begins with `must` and the reader of the body puts the name in front.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

impl Invalid {
    /// A validation error with this sentence.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
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

/// Defines a text of limited length, in characters, that only people read. The arguments are the type's name, the name of its
/// member in requests, and the limit.
macro_rules! bounded_text {
    ($(#[$attribute:meta])* $name:ident, $member:literal, $longest:literal) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            #[doc = concat!("Accepts at most ", $longest, " characters.")]
            ///
            /// # Errors
            /// When the text is longer.
            pub fn parse(text: &str) -> Result<Self, $crate::Invalid> {
                if text.chars().count() <= $longest {
                    Ok(Self(text.to_owned()))
                } else {
                    Err($crate::Invalid::new(concat!($member, " must have at most ", $longest, " characters")))
                }
            }
        }

        $crate::validated::string_newtype!($name);
    };
}
pub(crate) use bounded_text;

/// Reads a member of a patch that can be taken away: `None` if it is absent, `Some(None)` if it is `null`. For use with
/// `#[serde(default, deserialize_with = "patched")]`.
///
/// # Errors
/// When the member is neither `null` nor a `T`.
pub fn patched<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Reads a member for which `null` means the same as its absence. For use with
/// `#[serde(default, deserialize_with = "null_as_default")]`.
pub(crate) fn null_as_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
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
