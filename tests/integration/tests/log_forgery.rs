//! What the functions log of what hostile clients send: whole lines, and nothing of it that is private.

use std::collections::BTreeMap;

use linklet_domain::Role;
use linklet_integration::fixture::send;
use linklet_test_support::{CapturedLogs, LinkBuilder, RequestBuilder, TestDynamoDb, token_of};
use serde_json::{Deserializer, Value, json};
use serde_with::rust::maps_duplicate_key_is_error;

#[tokio::test]
async fn nothing_from_outside_forges_a_line_or_tells_a_secret() {
    let (db, link) = (TestDynamoDb::start(), LinkBuilder::new("launch").build());
    db.store(&link).await;
    let token = token_of(&link.identity.owner, &link.identity.workspace, Role::Member);
    let forging = "x\"}\n{\"level\":\"ERROR\",\"message\":\"forged\",\"status\":0}\r\u{9b}31m\u{7f}\u{2028}";
    let secret = "hunter2hunter2";
    let log = CapturedLogs::start();

    let harmless = |request: RequestBuilder| {
        request
            .header("user-agent", "\"},{\"level\":\"ERROR\" hunter2hunter2")
            .header("referer", "https://x/?hunter2hunter2")
    };
    let wanted = json!({
        "url": format!("https://example.com/?{secret}"), "title": forging, "description": secret, "tags": [secret],
        "custom_code": "forged",
    });
    let account = json!({"email": "hunter2hunter2@example.com", "password": secret, "full_name": forging});
    for (function, request) in [
        ("shorten", RequestBuilder::new("POST", "/api/shorten").token(&token).json(&wanted)),
        ("shorten", RequestBuilder::new("POST", "/api/shorten").token(&token).body(&format!("{forging}{secret}"))),
        ("shorten", RequestBuilder::new("POST", "/api/shorten").token(&format!("{token}{secret}")).json(&wanted)),
        ("redirect", RequestBuilder::new("GET", &format!("/r/launch?q={secret}{forging}"))),
        ("redirect", RequestBuilder::new("GET", &format!("/r/{forging}"))),
        ("redirect", RequestBuilder::new("GET", "/r/launch").header("x-correlation-id", "a\",\"level\":\"ERROR")),
        (
            "redirect",
            RequestBuilder::new("GET", "/r/launch").header("x-correlation-id", forging.lines().next().unwrap()),
        ),
        (
            "resolve",
            RequestBuilder::new("POST", "/api/resolve")
                .token(&token)
                .json(&json!({"url": format!("https://example.com/{secret}?{secret}")})),
        ),
        ("list", RequestBuilder::new("GET", &format!("/api/links?search={secret}&tag={secret}")).token(&token)),
        ("list", RequestBuilder::new("GET", &format!("/api/urls?after={secret}")).token(&token)),
        ("auth", RequestBuilder::new("POST", "/api/auth/register").json(&account)),
        ("auth", RequestBuilder::new("POST", "/api/auth/register").json(&account)),
        ("auth", RequestBuilder::new("POST", "/api/auth/login").json(&account)),
        (
            "auth",
            RequestBuilder::new("POST", "/api/auth/login").json(&json!({"email": "a@b.example", "password": secret})),
        ),
    ] {
        send(&db, function, harmless(request)).await;
    }

    let text = log.text();
    let lines: Vec<&str> = text.split_terminator('\n').collect();
    assert!(lines.iter().filter(|line| line.contains("request answered")).count() == 14, "{text}");
    for line in lines {
        assert!(!line.chars().any(char::is_control), "{line:?}");
        let mut json = Deserializer::from_str(line);
        let known: BTreeMap<String, Value> =
            maps_duplicate_key_is_error::deserialize(&mut json).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_ne!(known["level"], "ERROR", "{line}");
        json.end().unwrap_or_else(|error| panic!("{error}: {line}"));
        for private in [secret, token.as_str(), "@example.com", "203.0.113.9"] {
            assert!(!line.contains(private), "{line}");
        }
    }
}
