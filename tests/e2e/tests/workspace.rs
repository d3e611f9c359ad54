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
    let invited = change(admin, "POST", INVITATIONS, &json!({"email": guest.email, "role": role})).await;
    assert_eq!(invited.status, 201, "{}", invited.body);
    let accepted = accept(guest, &invited).await;
    assert_eq!((accepted.status, &accepted.json()["role"]), (200, &json!(role)), "{}", accepted.body);
}

async fn accept(guest: &User, invited: &Answer) -> Answer {
    change(guest, "POST", "/api/invitations/accept", &json!({"token": invited.json()["token"]})).await
}

/// Who the caller is after a login at this workspace: its id, and the role there.
async fn logged_in_at(api: &Api, user: &User, slug: &str) -> (String, String) {
    let login = json!({"email": user.email, "password": PASSWORD, "workspace": slug});
    let answer = api.post("/api/auth/login", &login).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let token = answer.json()["token"].as_str().unwrap().to_owned();
    let me = send(api.request("GET", "/api/me").bearer_auth(token)).await.json();
    (me["workspace_id"].as_str().unwrap().to_owned(), me["role"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_workspace_is_renamed_and_shared() {
    let api = Api::new();
    let (ada, bob) = (User::new(&api).await, User::new(&api).await);
    let slug = format!("office-{}", ada.id);
    let (members, bobs) = ("/api/workspace/members", format!("/api/workspace/members/{}", bob.id));

    let settings = json!({"theme": "dark"});
    let patch = json!({"name": "Office", "slug": slug, "settings": settings});
    let changed = change(&ada, "PATCH", "/api/workspace", &patch).await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    assert_eq!(ada.get("/api/workspace").await.json(), changed.json());
    assert_eq!((&changed.json()["slug"], &changed.json()["settings"]), (&json!(slug), &settings));
    let taken = change(&bob, "PATCH", "/api/workspace", &json!({"slug": slug})).await;
    assert_eq!(taken.problem(), (409, "slug is already taken".into()));

    join(&ada, &bob, "viewer").await;
    assert_eq!(logged_in_at(&api, &bob, &slug).await, (ada.workspace.clone(), "viewer".to_owned()));
    assert_eq!(change(&ada, "PATCH", &bobs, &json!({"role": "admin"})).await.status, 200);
    assert_eq!(logged_in_at(&api, &bob, &slug).await, (ada.workspace.clone(), "admin".to_owned()));
    let listed = ada.get(members).await.json();
    assert_eq!((&listed["members"][0]["user_id"], &listed["members"][1]["user_id"]), (&json!(ada.id), &json!(bob.id)));

    assert_eq!(ada.delete(&bobs).await.status, 204);
    assert_eq!(ada.delete(&bobs).await.status, 404);
    let last = ada.delete(&format!("/api/workspace/members/{}", ada.id)).await;
    assert_eq!(last.problem(), (409, "the workspace needs at least one admin".into()));
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
    let token = api.post("/api/auth/login", &login).await.json()["token"].as_str().unwrap().to_owned();
    let as_bob = async |method: &str, path: &str| send(api.request(method, path).bearer_auth(&token)).await.status;
    assert_eq!(as_bob("GET", "/api/urls").await, 200);
    assert_eq!(as_bob("DELETE", "/api/urls/nolink0").await, 404);
    let post = async |path: &str, body: Value| {
        let answer = send(api.request("POST", path).bearer_auth(&token).json(&body)).await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        answer.json()
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
    assert_eq!(ada.get("/api/keys").await.json(), json!({"keys": []}));
    while ada.get(&format!("/api/links?created_by={}", ada.id)).await.json()["total"] != 2 {
        assert!(removed.elapsed() < Duration::from_secs(60), "Bob's link is not Ada's");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    tokio::time::sleep(Duration::from_secs(60).saturating_sub(removed.elapsed())).await;
    assert_eq!((as_bob("GET", "/api/urls").await, with_key("GET", "/api/urls").await), (401, 401));
    assert!(api.get(&format!("/{code}")).await.is_redirect() && api.get(&format!("/{own}")).await.is_redirect());
}

#[tokio::test]
async fn who_registers_by_an_invitation_joins_that_workspace_once() {
    let api = Api::new();
    let ada = User::new(&api).await;
    let email = format!("guest-of-{}@example.com", ada.id);
    let invited = change(&ada, "POST", INVITATIONS, &json!({"email": email})).await;
    let guest = json!({"email": email, "password": PASSWORD, "invitation": invited.json()["token"]});

    let registered = api.post("/api/auth/register", &guest).await;
    let again = api.post("/api/auth/register", &guest).await;

    assert_eq!(registered.status, 201, "{}", registered.body);
    assert_eq!(registered.json()["workspace_id"], json!(ada.workspace));
    assert_eq!(again.status, 404, "{}", again.body);
}

#[tokio::test]
async fn who_logs_out_is_a_stranger_and_may_log_in_again() {
    let api = Api::new();
    let ada = User::new(&api).await;
    let credentials = json!({"email": ada.email, "password": PASSWORD});

    let out = send(ada.request("POST", "/api/auth/logout").json(&json!({"everywhere": true}))).await;
    let again = api.post("/api/auth/login", &credentials).await.json()["token"].as_str().unwrap().to_owned();

    assert_eq!(out.status, 204, "{}", out.body);
    assert_eq!(ada.get("/api/workspace").await.status, 401);
    assert_eq!(send(api.request("GET", "/api/workspace").bearer_auth(again)).await.status, 200);
}
