use std::collections::BTreeMap;

use serde::de::Error as _;
use serde_json::{Error, value::RawValue};

/// A JSON text without white space, with the members of each object in alphabetical order and each name once. Numbers stand in
/// it as they were written, such as `1.10`, or `1e400`, which no number type can hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExactJson(String);

/// An object without members.
impl Default for ExactJson {
    fn default() -> Self {
        Self("{}".to_owned())
    }
}

impl ExactJson {
    /// How deeply lists and objects may be nested: as deeply as other programs that are written with serde can read.
    const LEVELS: u32 = 127;

    /// Reads a JSON text in UTF-8.
    ///
    /// # Errors
    /// When it is none, or is nested more deeply.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let mut compact = String::with_capacity(text.len());
        write(&mut compact, serde_json::from_slice(text)?, Self::LEVELS)?;
        Ok(Self(compact))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }
}

/// Writes a value, whose own parts are read one level after the other. Reading all of it at once would read numbers, too.
fn write(compact: &mut String, json: &RawValue, levels: u32) -> Result<(), Error> {
    let text = json.get();
    let inner = || levels.checked_sub(1).ok_or_else(|| Error::custom("nested too deeply"));
    match text.as_bytes().first() {
        Some(b'{') => {
            let (members, levels) = (serde_json::from_str::<BTreeMap<String, &RawValue>>(text)?, inner()?);
            compact.push('{');
            for (position, (name, value)) in members.into_iter().enumerate() {
                compact.push_str(if position == 0 { "" } else { "," });
                write_text(compact, &name)?;
                compact.push(':');
                write(compact, value, levels)?;
            }
            compact.push('}');
        }
        Some(b'[') => {
            let (elements, levels) = (serde_json::from_str::<Vec<&RawValue>>(text)?, inner()?);
            compact.push('[');
            for (position, element) in elements.into_iter().enumerate() {
                compact.push_str(if position == 0 { "" } else { "," });
                write(compact, element, levels)?;
            }
            compact.push(']');
        }
        Some(b'"') => write_text(compact, &serde_json::from_str::<String>(text)?)?,
        _ => compact.push_str(text),
    }
    Ok(())
}

fn write_text(compact: &mut String, text: &str) -> Result<(), Error> {
    compact.push_str(&serde_json::to_string(text)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn compact(text: &str) -> String {
        ExactJson::parse(text.as_bytes()).unwrap().0
    }

    #[test]
    fn numbers_stay_as_they_were_written() {
        let numbers = r#"[1.10,-0.0,1E5,1e400,12345678901234567890123,0.1000000000000000055511151231257827]"#;

        assert_eq!(compact(numbers), numbers);
        assert_eq!(compact(r#"{"a": {"b": 1.50}}"#), r#"{"a":{"b":1.50}}"#);
    }

    #[test]
    fn everything_else_has_one_form() {
        assert_eq!(compact(" {\"b\" : [ 1 , 2 ], \"a\":\"x\"}\n"), r#"{"a":"x","b":[1,2]}"#);
        assert_eq!(compact(r#"{"a":1,"\u0061":2}"#), r#"{"a":2}"#, "the last of two members counts");
        assert_eq!(compact(r#""\u00fc\/\ud83d\ude00\u0001""#), r#""ü/😀\u0001""#);
    }

    #[test]
    fn what_other_programs_cannot_read_is_refused() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));

        assert!(serde_json::from_str::<Value>(&compact(&nested(127))).is_ok());
        let too_deep = nested(128);
        for refused in ["", "{", "[1,]", "01", "1.", "1e", "NaN", r#""\ud800""#, r#"{"\udc00":1}"#, "{} x", &too_deep] {
            assert!(ExactJson::parse(refused.as_bytes()).is_err(), "{refused}");
        }
        assert!(ExactJson::parse(b"\"\xff\"").is_err(), "no UTF-8");
    }

    proptest! {
        #[test]
        fn it_is_read_as_the_original_and_is_its_own_compact_form(text in r#"[\[\]{}",:0-9eE.\\u-]{0,40}"#) {
            let original = serde_json::from_str::<Value>(&text);

            match ExactJson::parse(text.as_bytes()) {
                Ok(exact) => {
                    if let Ok(original) = original {
                        prop_assert_eq!(serde_json::from_str::<Value>(exact.as_str()).ok(), Some(original));
                    }
                    prop_assert_eq!(ExactJson::parse(exact.as_str().as_bytes()).ok(), Some(exact));
                }
                Err(_) => prop_assert!(original.is_err(), "{}", text),
            }
        }
    }
}
