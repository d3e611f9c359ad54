//! Request bodies: JSON objects that are read into typed structs, one for each route.
//!
//! A struct of a body has a field per member, of a domain type where there is one, so a body that was read obeys the rules of
//! its members. Unknown members are ignored, and `null` stands for an absent member.

use linklet_domain::Invalid;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Problem;

/// A request body: a JSON object, parsed once.
#[derive(Debug)]
pub struct JsonObject(Value);

impl JsonObject {
    /// Parses a JSON object.
    ///
    /// # Errors
    /// When the text is anything else.
    pub(super) fn parse(body: &[u8]) -> Result<Self, Problem> {
        match serde_json::from_slice(body) {
            Ok(object @ Value::Object(_)) => Ok(Self(object)),
            _ => Err(Problem::InvalidBody),
        }
    }

    /// Reads the members that the struct has. Others are ignored.
    ///
    /// # Errors
    /// When a member breaks a rule; the sentence names the member.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Invalid> {
        serde_path_to_error::deserialize(&self.0).map_err(|error| refusal(&error))
    }

    /// Whether the object has a member, whatever is in it.
    #[must_use]
    pub fn has(&self, member: &str) -> bool {
        self.0.get(member).is_some()
    }

    /// The text of the object with its members in alphabetical order and without white space: two bodies with equal texts are
    /// the same request.
    #[must_use]
    pub fn canonical(&self) -> String {
        self.0.to_string()
    }

    /// A digest of [`Self::canonical`], which tells requests with one idempotency key apart.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        hex::encode(Sha256::digest(self.canonical()))
    }
}

/// The member that was refused, with the sentence of its domain type, or with what serde says about a wrong JSON type, in words.
fn refusal(error: &serde_path_to_error::Error<serde_json::Error>) -> Invalid {
    let (path, reason) = (error.path().to_string(), error.inner().to_string());
    let member = match reason.strip_prefix("missing field `") {
        Some(missing) => missing.trim_end_matches('`'),
        None => path.split(['[', '.']).next().unwrap_or_default(),
    };
    Invalid::new(sentence(member, &path, reason.clone())).in_field(member)
}

fn sentence(member: &str, path: &str, reason: String) -> String {
    if reason.starts_with("missing field") || reason.starts_with("invalid type: null") {
        return format!("{member} is required");
    }
    match reason.rsplit_once(", expected ") {
        Some((_, expected)) if reason.starts_with("invalid ") => {
            // An element that is no string makes its member no list of strings, and there are no other lists.
            let expected = if path.contains('[') { "a sequence" } else { expected };
            format!("{member} must be {}", in_words(expected))
        }
        _ if reason.starts_with("must ") => format!("{member} {reason}"),
        _ => reason,
    }
}

/// How a JSON type that serde expected is called in a sentence.
fn in_words(expected: &str) -> &str {
    match expected {
        "a boolean" => "true or false",
        "a sequence" => "a list of strings",
        "a map" => "an object",
        expected => expected,
    }
}

#[cfg(test)]
mod tests {
    use linklet_domain::{Timestamp, WorkspaceName, optional, patched};
    use serde_json::Map;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Body {
        name: WorkspaceName,
        #[serde(default, deserialize_with = "optional")]
        is_active: Option<bool>,
        #[serde(default, deserialize_with = "optional")]
        tags: Option<Vec<String>>,
        #[serde(default, deserialize_with = "optional")]
        settings: Option<Map<String, Value>>,
        #[serde(default, deserialize_with = "optional")]
        expires_at: Option<Timestamp>,
        #[serde(default, deserialize_with = "patched")]
        title: Option<Option<String>>,
    }

    fn read_body(text: &str) -> Result<Body, Invalid> {
        JsonObject::parse(text.as_bytes()).unwrap().read()
    }

    fn refused(member: &str, sentence: &str) -> Result<Body, Invalid> {
        Err(Invalid::new(sentence).in_field(member))
    }

    fn with(member: &str) -> Result<Body, Invalid> {
        read_body(&format!(r#"{{"name": "x", {member}}}"#))
    }

    #[test]
    fn only_an_object_is_a_body() {
        for refused in ["", "null", "[]", "\"text\"", "{", "{} trailing", r#"["x"]"#] {
            assert_eq!(JsonObject::parse(refused.as_bytes()).err(), Some(Problem::InvalidBody), "{refused}");
        }
    }

    #[test]
    fn a_refusal_names_the_member_and_its_rule() {
        for (member, sentence) in [
            (r#""is_active": "yes""#, "is_active must be true or false"),
            (r#""tags": "a""#, "tags must be a list of strings"),
            (r#""tags": ["a", 1]"#, "tags must be a list of strings"),
            (r#""settings": []"#, "settings must be an object"),
            (r#""expires_at": "tomorrow""#, "expires_at must be RFC3339 format"),
            (r#""expires_at": "a, expected b""#, "expires_at must be RFC3339 format"),
            (r#""title": 5"#, "title must be a string"),
        ] {
            let name = sentence.split(' ').next().unwrap();
            assert_eq!(with(member), refused(name, sentence), "{member}");
        }
        assert_eq!(read_body(r#"{"name": 5}"#), refused("name", "name must be a string"));
        assert_eq!(read_body(r#"{"name": " "}"#), refused("name", "name must have 1–100 characters"));
    }

    #[test]
    fn a_required_member_is_neither_absent_nor_null() {
        for body in ["{}", r#"{"name": null}"#] {
            assert_eq!(read_body(body), refused("name", "name is required"), "{body}");
        }
    }

    #[test]
    fn null_and_absent_are_the_same_but_for_a_patch() {
        let body = with(r#""tags": null, "title": null, "unknown": 5"#).unwrap();

        assert_eq!((body.tags, body.title), (None, Some(None)));
        assert_eq!(with(r#""tags": []"#).unwrap().title, None);
    }

    #[test]
    fn an_empty_string_is_an_absent_member_if_the_member_is_optional() {
        let body = with(r#""tags": "", "title": "", "is_active": "", "settings": "", "expires_at": """#).unwrap();

        assert_eq!(body, Body { title: Some(None), ..read_body(r#"{"name": "x"}"#).unwrap() });
        assert!(read_body(r#"{"name": ""}"#).is_err());
    }

    #[test]
    fn order_and_white_space_make_no_other_request() {
        let canonical = |text: &str| JsonObject::parse(text.as_bytes()).unwrap().canonical();

        assert_eq!(canonical(r#"{"b": [1, 2], "a": "x"}"#), canonical(r#"{"a":"x","b":[1,2]}"#));
        assert_ne!(canonical(r#"{"a": [1, 2]}"#), canonical(r#"{"a": [2, 1]}"#));
    }
}
