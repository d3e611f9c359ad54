use linklet_domain::{Link, WorkspaceName, WorkspaceSettings};
use linklet_lambda::http::JsonObject;
use serde_json::Value;

const MEMBERS: [&str; 14] = [
    "url",
    "custom_code",
    "title",
    "description",
    "tags",
    "expires_at",
    "reuse",
    "is_active",
    "email",
    "password",
    "name",
    "role",
    "slug",
    "settings",
];

/// JSON bodies, and what is read from their members.
pub fn json_bodies(input: &[u8]) {
    let Ok(body) = JsonObject::parse(input) else {
        return assert!(
            !serde_json::from_slice(input).is_ok_and(|value: Value| value.is_object()),
            "an object was refused"
        );
    };
    let again = JsonObject::parse(body.canonical().as_bytes()).expect("a canonical body is a body");
    if serde_json::from_slice(input).is_ok_and(|value| is_exact(&value)) {
        assert_eq!(again.canonical(), body.canonical());
    }
    for name in MEMBERS {
        if let Ok(Some(short)) = body.short_string(name, 100) {
            assert!(short.chars().count() <= 100);
            assert_eq!(body.string(name), Ok(Some(short.as_str())));
            stays_short(&short);
        }
        if let Ok(tags) = body.strings(name).and_then(|given| Link::parse_tags(&given)) {
            let again: Vec<&str> = tags.iter().map(String::as_str).collect();
            assert_eq!(Link::parse_tags(&again), Ok(tags.clone()), "tags that were accepted change");
        }
        if let Ok(Some(members)) = body.object(name) {
            let _ = WorkspaceSettings::new(members.clone());
        }
        let is_present = [body.timestamp(name).is_ok_and(|time| time.is_some()), body.boolean(name) == Ok(Some(true))];
        assert!(body.mentions(name) || !is_present.contains(&true));
    }
}

/// Whether it has no floating-point number. The last digit of such a number may differ when its text is read again, which does no
/// harm: a request's canonical form is made once, from what was sent.
fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => !number.is_f64(),
        Value::Array(values) => values.iter().all(is_exact),
        Value::Object(members) => members.values().all(is_exact),
        _ => true,
    }
}

fn stays_short(text: &str) {
    if let Ok(name) = WorkspaceName::parse(text) {
        assert_eq!(WorkspaceName::parse(name.as_str()), Ok(name));
    }
}
