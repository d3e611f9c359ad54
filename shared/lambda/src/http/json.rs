use linklet_domain::{Invalid, Timestamp};
use serde_json::{Map, Value};

use super::ApiError;

/// A request body, read member by member so that each refusal names the member. Unknown members are ignored; `null` counts
/// as absent.
#[derive(Debug)]
pub struct JsonObject(Map<String, Value>);

impl JsonObject {
    /// Reads a JSON object.
    ///
    /// # Errors
    /// 400 when the text is anything else.
    pub fn parse(body: &[u8]) -> Result<Self, ApiError> {
        match serde_json::from_slice(body) {
            Ok(Value::Object(members)) => Ok(Self(members)),
            _ => Err(Invalid::new("the request body must be a JSON object").into()),
        }
    }

    /// A text, or `None` if it is absent.
    ///
    /// # Errors
    /// 400 when it is something else.
    pub fn string(&self, name: &str) -> Result<Option<&str>, Invalid> {
        match self.member(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Invalid(format!("{name} must be a string"))),
        }
    }

    /// A text of at most `longest` characters, or `None` if it is absent.
    ///
    /// # Errors
    /// 400 when it is longer or something else.
    pub fn short_string(&self, name: &str, longest: usize) -> Result<Option<String>, Invalid> {
        match self.string(name)? {
            Some(text) if text.chars().count() > longest => {
                Err(Invalid(format!("{name} must have at most {longest} characters")))
            }
            text => Ok(text.map(str::to_owned)),
        }
    }

    /// A list of texts, empty if it is absent.
    ///
    /// # Errors
    /// 400 when it is something else.
    pub fn strings(&self, name: &str) -> Result<Vec<&str>, Invalid> {
        let refused = || Invalid(format!("{name} must be a list of strings"));
        match self.member(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(values)) => values.iter().map(|value| value.as_str().ok_or_else(refused)).collect(),
            Some(_) => Err(refused()),
        }
    }

    /// A time, or `None` if it is absent.
    ///
    /// # Errors
    /// 400 when it is no RFC 3339 date-time.
    pub fn timestamp(&self, name: &str) -> Result<Option<Timestamp>, Invalid> {
        let parse = |text| Timestamp::parse(text).map_err(|_| Invalid(format!("{name} must be an RFC 3339 date-time")));
        self.string(name)?.map(parse).transpose()
    }

    /// A truth value, or `None` if it is absent.
    ///
    /// # Errors
    /// 400 when it is something else.
    pub fn boolean(&self, name: &str) -> Result<Option<bool>, Invalid> {
        match self.member(name) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(*value)),
            Some(_) => Err(Invalid(format!("{name} must be true or false"))),
        }
    }

    /// An object, or `None` if it is absent.
    ///
    /// # Errors
    /// 400 when it is something else.
    pub fn object(&self, name: &str) -> Result<Option<&Map<String, Value>>, Invalid> {
        match self.member(name) {
            None => Ok(None),
            Some(Value::Object(members)) => Ok(Some(members)),
            Some(_) => Err(Invalid(format!("{name} must be an object"))),
        }
    }

    /// Whether a member is there, be it `null`: in a patch, `null` takes a value away.
    #[must_use]
    pub fn mentions(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The same object whatever its member order and white space: two requests with equal texts are the same request.
    #[must_use]
    pub fn canonical(&self) -> String {
        Value::Object(self.0.clone()).to_string()
    }

    fn member(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> JsonObject {
        JsonObject::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn only_an_object_is_a_body() {
        for refused in ["", "null", "[]", "\"text\"", "{", "{} trailing"] {
            assert!(JsonObject::parse(refused.as_bytes()).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_wrong_type_is_named() {
        let body = object(r#"{"url": 5, "tags": ["a", 1], "expires_at": "tomorrow", "settings": []}"#);

        assert_eq!(body.string("url").unwrap_err().to_string(), "url must be a string");
        assert_eq!(body.strings("tags").unwrap_err().to_string(), "tags must be a list of strings");
        assert_eq!(body.timestamp("expires_at").unwrap_err().to_string(), "expires_at must be an RFC 3339 date-time");
        assert_eq!(body.object("settings").unwrap_err().to_string(), "settings must be an object");
    }

    #[test]
    fn order_and_white_space_make_no_other_request() {
        assert_eq!(object(r#"{"b": [1, 2], "a": "x"}"#).canonical(), object(r#"{"a":"x","b":[1,2]}"#).canonical());
        assert_ne!(object(r#"{"a": [1, 2]}"#).canonical(), object(r#"{"a": [2, 1]}"#).canonical());
    }

    #[test]
    fn null_and_absent_are_the_same() {
        let body = object(r#"{"url": null}"#);

        assert_eq!(body.string("url"), Ok(None));
        assert_eq!(body.strings("tags"), Ok(vec![]));
    }

    #[test]
    fn lengths_count_characters() {
        let body = object(r#"{"title": "üü"}"#);

        assert_eq!(body.short_string("title", 2), Ok(Some("üü".to_owned())));
        assert!(body.short_string("title", 1).is_err());
    }
}
