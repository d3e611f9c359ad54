//! Request bodies: JSON objects that are read into typed structs, one for each route.
//!
//! A struct of a body has a field per member, of a domain type where there is one, so a body that was read obeys the rules of
//! its members. Members that it doesn't have do nothing, and the answer [names](super::unread) them. `null` stands for an absent
//! member.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use linklet_domain::{ExactJson, Invalid};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use sha2::{Digest, Sha256};

use super::error::suggested;
use super::members::{meant, members_of};
use super::unread::{Unread, shown};

/// Why a body is not read, whatever a route expects in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBody {
    /// It is no JSON object.
    #[error("invalid request body{}", place(*.at))]
    NoObject {
        /// The line and column up to which it is JSON; `None` if all of it is.
        at: Option<(usize, usize)>,
    },
    /// It begins as gzip does, and no header says so.
    #[error("the request body is compressed with gzip; send it without compression")]
    Compressed,
    /// It begins with a byte order mark, which JSON doesn't have (RFC 8259, 8.1).
    #[error("the request body must be UTF-8 without a byte order mark")]
    ByteOrderMark,
}

fn place(at: Option<(usize, usize)>) -> String {
    at.map_or_else(
        || ": it is no JSON object".to_owned(),
        |(line, column)| format!(": line {line} column {column} is no JSON"),
    )
}

/// What a `PATCH` of a resource can't change.
#[derive(Debug, Clone, Copy)]
pub struct Immutable {
    /// The members that name it, as answers show it or as it was given when the resource was made.
    pub members: &'static [&'static str],
    /// What a client is told; `None` for the name of the member and `cannot be changed`.
    pub sentence: Option<&'static str>,
}

/// A request body: a JSON object, whose numbers are still as they were written.
#[derive(Debug, Default)]
pub struct JsonObject {
    json: ExactJson,
    members: BTreeSet<String>,
    /// Those of the members that aren't absent, as `null` and an empty text are.
    given: BTreeSet<String>,
    unread: Arc<Unread>,
}

impl JsonObject {
    /// Parses a JSON object.
    ///
    /// # Errors
    /// When the text is anything else.
    pub(super) fn parse(body: &[u8], unread: Arc<Unread>) -> Result<Self, InvalidBody> {
        match body {
            // API Gateway takes a JSON body for text, and puts U+FFFD in place of the second byte, which is no UTF-8.
            [0x1f, 0x8b, ..] | [0x1f, 0xef, 0xbf, 0xbd, ..] => return Err(InvalidBody::Compressed),
            [0xef, 0xbb, 0xbf, ..] | [0xfe, 0xff, ..] | [0xff, 0xfe, ..] => return Err(InvalidBody::ByteOrderMark),
            _ => {}
        }
        let refused = |_| InvalidBody::NoObject {
            at: serde_json::from_slice::<Value>(body).err().map(|error| (error.line(), error.column())),
        };
        let json = ExactJson::parse(body).map_err(refused)?;
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(json.as_str()).map_err(refused)?;
        let is_given = |value: &RawValue| !matches!(value.get(), "null" | r#""""#);
        let given = members.iter().filter(|(_, value)| is_given(value)).map(|(name, _)| name.clone()).collect();
        Ok(Self { given, members: members.into_keys().collect(), json, unread })
    }

    /// The object of a value that this function has made.
    ///
    /// # Errors
    /// When the value is no object.
    pub fn of(value: &Value) -> Result<Self, InvalidBody> {
        Self::parse(value.to_string().as_bytes(), Arc::default())
    }

    /// Reads the members that the struct has. The answer names others, unless another struct that is read has them.
    ///
    /// # Errors
    /// When a member breaks a rule, or is one of the struct's by another name; the sentence names the member.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Invalid> {
        self.refuse_other_names(members_of::<T>())?;
        let mut text = serde_json::Deserializer::from_str(self.json.as_str());
        let mut left = BTreeSet::new();
        let mut note = |path: serde_ignored::Path<'_>| {
            left.extend(self.given.get(&path.to_string()).cloned());
        };
        let read = serde_path_to_error::deserialize(serde_ignored::Deserializer::new(&mut text, &mut note));
        self.unread.note(left);
        read.map_err(|error| refusal(&error))
    }

    /// Notes that nothing but these members is read, for a route that takes a body apart itself. The answer names the others.
    ///
    /// # Errors
    /// When one of these is there by another name.
    pub fn has_only(&self, members: &[&'static str]) -> Result<(), Invalid> {
        self.unread.note(self.given.iter().filter(|name| !members.contains(&name.as_str())).cloned().collect());
        self.refuse_other_names(members)
    }

    fn refuse_other_names(&self, members: &[&'static str]) -> Result<(), Invalid> {
        // Nobody means something by more of them.
        const MOST: usize = 200;
        let renamed = self.given.iter().take(MOST).find_map(|name| Some((name, meant(name, members)?)));
        renamed.map_or(Ok(()), |(name, meant)| {
            let name = shown(name);
            Err(Invalid::new(format!("there is no member {name}{}", suggested(Some(meant)))).in_field(name))
        })
    }

    /// The objects in a list, for a route whose body is about several things; `None` if there is no such list. Each
    /// knows its own [members that do nothing](Self::ignored).
    ///
    /// # Errors
    /// When the member is anything else than a list of objects.
    pub fn objects(&self, member: &'static str) -> Result<Option<Vec<Self>>, Invalid> {
        let Some(list) = self.value(member) else { return Ok(None) };
        let refused = || Invalid::new(format!("{member} must be a list of objects")).in_field(member);
        let objects: Vec<&RawValue> = serde_json::from_str(list).map_err(|_| refused())?;
        let objects = objects.into_iter().map(|object| Self::parse(object.get().as_bytes(), Arc::default()));
        objects.collect::<Result<_, _>>().map(Some).map_err(|_| refused())
    }

    /// A member that is an object itself; `None` if it is absent.
    ///
    /// # Errors
    /// When the member is anything else.
    pub fn object(&self, member: &'static str) -> Result<Option<Self>, Invalid> {
        let refused = |_| Invalid::new(format!("{member} must be an object")).in_field(member);
        let object = self.value(member).map(|object| Self::parse(object.as_bytes(), Arc::default()));
        object.transpose().map_err(refused)
    }

    /// The names of the members that do nothing, for an answer that is made of a text which is kept. They are handed out once.
    pub fn ignored(&self) -> Vec<String> {
        self.unread.take()
    }

    /// The text of a member that isn't absent.
    pub fn value(&self, member: &str) -> Option<&str> {
        self.values().get(member).filter(|_| self.given.contains(member)).map(|value| value.get())
    }

    /// The texts of the members.
    fn values(&self) -> BTreeMap<Cow<'_, str>, &RawValue> {
        // An object, as it was when it was parsed.
        serde_json::from_str(self.canonical()).unwrap_or_default()
    }

    /// Refuses a body with one of these members, whose effect somebody would rely on.
    ///
    /// # Errors
    /// When one of them is given; the sentence names it.
    pub fn refuse(&self, members: &[&str]) -> Result<(), Invalid> {
        match members.iter().find(|member| self.given.contains(**member)) {
            Some(member) => Err(Invalid::new(format!("{member} is not supported")).in_field(*member)),
            None => Ok(()),
        }
    }

    /// The object without a member that names what the rest is about, and that [`Self::read_patch`] would take for a change.
    #[must_use]
    pub fn named_by(mut self, member: &str) -> Self {
        self.members.remove(member);
        self
    }

    /// Reads the members that the struct has from a `PATCH`. Those that name something immutable are refused: a client that sends
    /// one, with whatever value, expects a change that will never be made.
    ///
    /// # Errors
    /// When a member names something immutable or breaks a rule; the sentence names the member.
    pub fn read_patch<'a, T: Deserialize<'a>>(&'a self, immutable: &[Immutable]) -> Result<T, Invalid> {
        for Immutable { members, sentence } in immutable {
            if let Some(member) = members.iter().find(|member| self.members.contains(**member)) {
                let sentence = sentence.map_or_else(|| format!("{member} cannot be changed"), str::to_owned);
                return Err(Invalid::new(sentence).in_field(*member));
            }
        }
        self.read()
    }

    /// The text of the object with its members in alphabetical order and without white space: two bodies with equal texts are
    /// the same request.
    pub fn canonical(&self) -> &str {
        self.json.as_str()
    }

    /// A digest of [`Self::canonical`], which tells requests with one idempotency key apart. It is stored, so it says only whether
    /// there is a password: a digest that is quick to compute would make it easy to guess.
    pub fn fingerprint(&self) -> String {
        const SECRET: &str = "password";
        let digest = |text: &str| hex::encode(Sha256::digest(text));
        let mut members = self.values();
        match members.remove(SECRET) {
            Some(_) => digest(&format!("{} and a {SECRET}", serde_json::to_string(&members).unwrap_or_default())),
            None => digest(self.canonical()),
        }
    }
}

/// The member that was refused, with the sentence of its domain type, or with what serde says about a wrong JSON type, in words.
fn refusal(error: &serde_path_to_error::Error<serde_json::Error>) -> Invalid {
    let (path, reason) = (error.path().to_string(), without_position(error.inner()));
    let named = reason.split_once(" field `").filter(|(what, _)| ["missing", "duplicate"].contains(what));
    let member = match named {
        // What is missing in an entry of a list is said of the list.
        Some((_, name)) if !path.contains('[') => name.trim_end_matches('`'),
        _ => path.split(['[', '.']).next().unwrap_or_default(),
    };
    Invalid::new(sentence(member, &path, reason.clone())).in_field(member)
}

/// What serde says about an error, without its place in our form of the body, which the client doesn't know.
fn without_position(error: &serde_json::Error) -> String {
    let reason = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    reason.strip_suffix(&position).map_or(reason.clone(), str::to_owned)
}

fn sentence(member: &str, path: &str, reason: String) -> String {
    if reason == "number out of range" {
        return format!("{member} has a number that is out of range");
    }
    if reason.starts_with("duplicate field") {
        return format!("{member} is there by two names");
    }
    if let Some(missing) = reason.strip_prefix("missing field `").filter(|_| path.contains('[')) {
        return format!("{path} must have {}", missing.trim_end_matches('`'));
    }
    // A member of a member, such as those of `metadata`.
    if path.contains('.') && !path.contains('[') && reason.starts_with("invalid type") {
        return match reason.rsplit_once(", expected ") {
            Some((_, expected)) if expected != "a string" => format!("{path} must be {}", in_words(expected)),
            _ => format!("{member} must have texts only"),
        };
    }
    if reason.starts_with("missing field") || reason.starts_with("invalid type: null") {
        return format!("{member} is required");
    }
    match reason.rsplit_once(", expected ") {
        Some((_, expected)) if reason.starts_with("invalid ") => {
            if path.contains('[') && path.contains('.') {
                return format!("{path} must be {}", in_words(expected));
            }
            // An element that is no string makes its member no list of strings, and lists of objects name the object.
            let expected = if path.contains('[') && expected == "a string" { "a sequence" } else { expected };
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
        "i64" | "u8" => "a whole number",
        expected => expected,
    }
}

#[cfg(test)]
mod tests {
    use linklet_domain::{Timestamp, WorkspaceName, optional, patched};
    use serde_json::{Map, Value};

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
        JsonObject::parse(text.as_bytes(), Arc::default()).unwrap().read()
    }

    fn refused(member: &str, sentence: &str) -> Result<Body, Invalid> {
        Err(Invalid::new(sentence).in_field(member))
    }

    fn with(member: &str) -> Result<Body, Invalid> {
        read_body(&format!(r#"{{"name": "x", {member}}}"#))
    }

    #[test]
    fn a_fingerprint_tells_bodies_apart_and_gives_no_password_away() {
        let of = |text: &str| JsonObject::parse(text.as_bytes(), Arc::default()).unwrap().fingerprint();

        assert_eq!(of(r#"{"a": 1, "b": [2]}"#), of(r#"{"b":[2],"a":1}"#));
        assert_ne!(of(r#"{"a": 1}"#), of(r#"{"a": 2}"#));
        assert_eq!(of(r#"{"a": 1, "password": "one"}"#), of(r#"{"password": "two", "a": 1}"#));
        assert_ne!(of(r#"{"a": 1, "password": "one"}"#), of(r#"{"a": 1}"#));
        assert_ne!(of(r#"{"a": 1, "password": "one"}"#), of(r#"{"a": 2, "password": "one"}"#));
    }

    #[test]
    fn only_an_object_is_a_body() {
        for (refused, at) in [
            ("", Some((1, 0))),
            ("null", None),
            ("[]", None),
            ("\"text\"", None),
            ("{\n  \"url\": }", Some((2, 10))),
            ("{} trailing", Some((1, 4))),
            (r#"["x"]"#, None),
        ] {
            let expected = Some(InvalidBody::NoObject { at });
            assert_eq!(JsonObject::parse(refused.as_bytes(), Arc::default()).err(), expected, "{refused}");
        }
        let sentence = |at| InvalidBody::NoObject { at }.to_string();
        assert_eq!(sentence(Some((2, 10))), "invalid request body: line 2 column 10 is no JSON");
        assert_eq!(sentence(None), "invalid request body: it is no JSON object");
    }

    #[test]
    fn a_body_in_another_encoding_is_told_so() {
        for (body, expected) in [
            (&b"\x1f\x8b\x08\x00"[..], InvalidBody::Compressed),
            (b"\xef\xbb\xbf{}", InvalidBody::ByteOrderMark),
            (b"\xff\xfe{\0}\0", InvalidBody::ByteOrderMark),
            (b"\xfe\xff\0{\0}", InvalidBody::ByteOrderMark),
            (b"\x1f", InvalidBody::NoObject { at: Some((1, 1)) }),
        ] {
            assert_eq!(JsonObject::parse(body, Arc::default()).err(), Some(expected), "{body:?}");
        }
    }

    #[test]
    fn a_number_out_of_range_is_refused_only_where_it_is_read() {
        for member in [r#""is_active": 1e400"#, r#""tags": ["a", 1e400]"#, r#""title": -1e400"#] {
            let name = member.split('"').nth(1).unwrap();
            assert_eq!(with(member), refused(name, &format!("{name} has a number that is out of range")));
        }
        assert_eq!(with(r#""unknown": [1e400]"#), with(r#""unknown": 5"#));
    }

    #[test]
    fn a_member_that_no_struct_has_is_named_unless_it_is_absent() {
        let unread = Arc::new(Unread::default());
        let text = r#"{"name": "x", "settings": {"b": 1}, "other": 1, "a.b": {}, "nothing": null, "empty": ""}"#;
        let object = JsonObject::parse(text.as_bytes(), Arc::clone(&unread)).unwrap();

        object.read::<Body>().unwrap();
        assert_eq!(unread.take(), ["a.b", "other"]);
        assert_eq!(object.refuse(&["nothing", "empty", "else"]), Ok(()));
        assert_eq!(object.refuse(&["other"]), Err(Invalid::new("other is not supported").in_field("other")));
    }

    #[test]
    fn a_member_by_another_name_is_refused_with_its_own() {
        assert_eq!(
            with(r#""isActive": true"#),
            refused("isActive", "there is no member isActive; did you mean is_active?")
        );
        assert_eq!(
            with(r#""valid_until": "x""#),
            refused("valid_until", "there is no member valid_until; did you mean expires_at?")
        );
        assert_eq!(
            with(r#""isActive": null, "ExpiresAt": "", "x": 1"#),
            read_body(r#"{"name": "x"}"#),
            "nothing is meant"
        );
    }

    #[test]
    fn a_patch_refuses_immutable_members_and_ignores_unknown_ones() {
        const IMMUTABLE: [Immutable; 2] = [
            Immutable { members: &["url"], sentence: Some("the destination never changes") },
            Immutable { members: &["id", "created_at"], sentence: None },
        ];
        let patched =
            |text: &str| JsonObject::parse(text.as_bytes(), Arc::default()).unwrap().read_patch::<Body>(&IMMUTABLE);

        assert_eq!(patched(r#"{"name": "x", "unknown": 5}"#), read_body(r#"{"name": "x"}"#));
        assert_eq!(patched(r#"{"name": "x", "url": null}"#), refused("url", "the destination never changes"));
        assert_eq!(patched(r#"{"created_at": "x"}"#), refused("created_at", "created_at cannot be changed"));
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
        assert_eq!(read_body(r#"{"name": " "}"#), refused("name", "name must have 1–255 characters"));
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
        let canonical = |text: &str| JsonObject::parse(text.as_bytes(), Arc::default()).unwrap().canonical().to_owned();

        assert_eq!(canonical(r#"{"b": [1, 2], "a": "x"}"#), canonical(r#"{"a":"x","b":[1,2]}"#));
        assert_ne!(canonical(r#"{"a": [1, 2]}"#), canonical(r#"{"a": [2, 1]}"#));
    }
}
