//! An API key from its making to its end.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::api::{Answer, Api, User, send};

async fn with_key(api: &Api, key: &str, method: &str, path: &str, body: Option<&Value>) -> Answer {
    let request = api.request(method, path).header("x-api-key", key);
    send(match body {
        Some(body) => request.json(body),
        None => request,
    })
    .await
}

#[tokio::test]
async fn a_key_is_used_shown_and_revoked() {
    let api = Api::new();
    let ada = User::new(&api).await;
    let scopes = json!(["links:read", "links:write", "analytics:read"]);
    let made = send(ada.request("POST", "/api/keys").json(&json!({"name": "CI", "scopes": scopes}))).await;
    assert_eq!(made.status, 201, "{}", made.body);
    let (key, prefix) = (made.json()["key"].clone(), made.json()["prefix"].clone());
    let (key, prefix) = (key.as_str().unwrap(), prefix.as_str().unwrap());

    // Each of these is another function, with a role of its own.
    let link = with_key(&api, key, "POST", "/api/shorten", Some(&json!({"url": "https://example.com/key"}))).await;
    assert_eq!(link.status, 201, "{}", link.body);
    let code = link.json()["short_code"].as_str().unwrap().to_owned();
    let listed = with_key(&api, key, "GET", "/api/urls", None).await;
    assert_eq!((listed.status, &listed.json()["urls"][0]["short_code"]), (200, &json!(code)), "{}", listed.body);
    let one = format!("/api/links/{code}");
    let changed = with_key(&api, key, "PATCH", &one, Some(&json!({"title": "New"}))).await;
    assert_eq!((changed.status, &changed.json()["title"]), (200, &json!("New")), "{}", changed.body);
    let days = with_key(&api, key, "GET", &format!("/api/stats/{code}/daily"), None).await;
    assert_eq!((days.status, &days.json()["days"]), (200, &json!([])), "{}", days.body);
    assert_eq!(with_key(&api, key, "DELETE", &format!("/api/urls/{code}"), None).await.status, 204);
    assert_eq!(with_key(&api, key, "GET", "/api/workspace", None).await.problem(), (401, "unauthorized".into()));

    // That the use is noted shows that a function's role lets it write where it may.
    let keys = ada.get("/api/keys").await.json();
    assert_eq!((&keys["keys"][0]["prefix"], &keys["keys"][0]["created_by"]), (&json!(prefix), &json!(ada.id)));
    assert!(keys["keys"][0]["last_used_at"].is_string(), "{keys}");
    assert!(!keys.to_string().contains(key), "{keys}");

    assert_eq!(ada.delete(&format!("/api/keys/{prefix}")).await.status, 204);
    let revoked = Instant::now();
    // Each environment forgets it by itself, so a refusal says nothing of the next answer.
    let refused = loop {
        let answer = with_key(&api, key, "GET", "/api/urls", None).await;
        if answer.status != 200 {
            break answer;
        }
        // A minute, and what a slow call takes.
        assert!(revoked.elapsed() < Duration::from_secs(75), "the key still works");
        tokio::time::sleep(Duration::from_secs(1)).await;
    };
    assert_eq!(refused.problem(), (401, "unauthorized".into()));
    assert_eq!(ada.get("/api/keys").await.json(), json!({"keys": []}));
}
