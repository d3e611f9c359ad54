//! A workspace of several people.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::api::{Answer, Api, PASSWORD, User, send};

const INVITATIONS: &str = "/api/workspace/invitations";

async fn change(user: &User, method: &str, path: &str, body: &Value) -> Answer {
    send(user.request(method, path).json(body)).await
}

/// Lets an admin invite somebody, who accepts.
async fn join(admin: &User, guest: &User, role: &str) {
    let invited = change(admin, "POST", INVITATIONS, &json!({"email": guest.email, "role": role})).await.expecting(201);
    let accepted = accept(guest, &invited).await;
    assert_eq!((accepted.status, &accepted.json()["role"]), (200, &json!(role)), "{}", accepted.body);
}

async fn accept(guest: &User, invited: &Answer) -> Answer {
    change(guest, "POST", "/api/invitations/accept", &json!({"token": invited.json()["token"]})).await
}

#[tokio::test]
async fn a_removed_admin_purges_nothing_and_is_a_stranger_within_a_minute() {
    let api = Api::new();
    let (ada, bob) = (User::new(&api).await, User::new(&api).await);
    let slug = format!("team-{}", ada.id);
    assert_eq!(change(&ada, "PATCH", "/api/workspace", &json!({"slug": slug})).await.status, 200);
    let code = ada.shorten("https://example.com/keep").await;
    join(&ada, &bob, "admin").await;
    let login = json!({"email": bob.email, "password": PASSWORD, "workspace": slug});
    let token = api.post("/api/auth/login", &login).await.text("token");
    let as_bob = async |method: &str, path: &str| send(api.request(method, path).bearer_auth(&token)).await.status;
    assert_eq!(as_bob("GET", "/api/urls").await, 200);
    assert_eq!(as_bob("DELETE", "/api/urls/nolink0").await, 404);
    let post = async |path: &str, body: Value| {
        send(api.request("POST", path).bearer_auth(&token).json(&body)).await.expecting(201).json()
    };
    let key = post("/api/keys", json!({"name": "CI", "scopes": ["links:read", "links:write"]})).await["key"].clone();
    let key = key.as_str().unwrap();
    let with_key =
        async |method: &str, path: &str| send(api.request(method, path).header("x-api-key", key)).await.status;
    assert_eq!(with_key("GET", "/api/urls").await, 200);
    assert_eq!(with_key("DELETE", "/api/urls/nolink0").await, 404);
    let own = post("/api/shorten", json!({"url": "https://example.com/bobs"})).await["short_code"].clone();
    let own = own.as_str().unwrap();

    assert_eq!(ada.delete(&format!("/api/workspace/members/{}", bob.id)).await.status, 204);
    let removed = Instant::now();

    for code in [&code, own] {
        assert_eq!(as_bob("DELETE", &format!("/api/links/{code}")).await, 401);
        assert_eq!(with_key("DELETE", &format!("/api/links/{code}")).await, 401);
    }
    assert_eq!(as_bob("DELETE", &format!("/api/urls/{code}")).await, 401);
    assert_eq!(ada.get("/api/keys").await.json(), json!({"keys": [], "next_cursor": null, "has_more": false}));
    while ada.get(&format!("/api/links?created_by={}", ada.id)).await.json()["total"] != 2 {
        assert!(removed.elapsed() < Duration::from_secs(60), "Bob's link is not Ada's");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    tokio::time::sleep(Duration::from_secs(60).saturating_sub(removed.elapsed())).await;
    assert_eq!((as_bob("GET", "/api/urls").await, with_key("GET", "/api/urls").await), (401, 401));
    assert!(api.get(&format!("/{code}")).await.is_redirect() && api.get(&format!("/{own}")).await.is_redirect());
}
