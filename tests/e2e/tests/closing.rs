//! Closing a workspace and bringing it back, and closing one's account, through the streams to the links.

use serde_json::{Value, json};

use crate::api::{Answer, Api, PASSWORD, User, eventually, send, signed_up};

async fn change(user: &User, method: &str, path: &str, body: &Value) -> Answer {
    send(user.request(method, path).json(body)).await
}

/// What a visitor of a link gets.
async fn visited(api: &Api, code: &str) -> (u16, Value) {
    let answer = api.get(&format!("/{code}")).await;
    let code = if answer.is_redirect() { Value::Null } else { answer.json()["code"].clone() };
    (answer.status, code)
}

fn suspended() -> (u16, Value) {
    (410, json!("link_suspended"))
}

#[tokio::test]
async fn links_of_a_closed_workspace_lead_nowhere_until_it_is_brought_back() {
    let (api, ada) = signed_up().await;
    let code = ada.shorten("https://example.com/back").await;
    let slug = ada.get("/api/workspace").await.json()["slug"].clone();
    let leading = visited(&api, &code).await;

    change(&ada, "DELETE", "/api/workspace", &json!({"slug": "other", "password": PASSWORD})).await.expecting(400);
    let closed =
        change(&ada, "DELETE", "/api/workspace", &json!({"slug": slug, "password": PASSWORD})).await.expecting(202);
    eventually("the link is suspended", suspended(), || visited(&api, &code)).await;

    // Whoever is in no open workspace creates one by signing in.
    let login = api.post("/api/auth/login", &json!({"email": ada.email, "password": PASSWORD})).await;
    let token = login.text("token");
    let with_token = |method: &str, path: &str| api.request(method, path).bearer_auth(&token);
    let listed = send(with_token("GET", "/api/me/workspaces")).await.json();
    let mut listed = listed["workspaces"].as_array().unwrap().iter();
    let row = listed.find(|row| row["workspace_id"] == json!(ada.workspace)).unwrap();
    assert_eq!(row["restorable_until"], closed.json()["restorable_until"]);
    let restore = format!("/api/workspaces/{}/restore", ada.workspace);
    let restored = send(with_token("POST", &restore)).await;
    assert_eq!((restored.status, &restored.json()["slug"]), (200, &slug), "{}", restored.body);
    eventually("the link leads where it led", leading, || visited(&api, &code)).await;
    assert_eq!(send(with_token("POST", &restore)).await.json()["code"], "workspace_open");
}

#[tokio::test]
async fn closing_an_account_frees_its_address_and_ends_its_links() {
    let (api, ada) = signed_up().await;
    let code = ada.shorten("https://example.com/gone").await;
    let exported = ada.get("/api/me/export").await.json();
    let kinds: Vec<_> = exported["items"].as_array().unwrap().iter().map(|item| item["kind"].clone()).collect();
    assert!(kinds.contains(&json!("account")) && kinds.contains(&json!("link")), "{exported}");

    change(&ada, "DELETE", "/api/me", &json!({"password": "not the password"})).await.expecting(401);
    change(&ada, "DELETE", "/api/me", &json!({"password": PASSWORD})).await.expecting(204);

    let credentials = json!({"email": ada.email, "password": PASSWORD});
    assert_eq!(api.post("/api/auth/login", &credentials).await.status, 401);
    eventually("the link leads nowhere", 410, async || visited(&api, &code).await.0).await;
    let registered = api.post("/api/auth/register", &credentials).await.expecting(201);
    assert_ne!(registered.json()["user_id"], json!(ada.id));
}
