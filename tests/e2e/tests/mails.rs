//! Mails with tokens, and what they confirm.

use serde_json::{Value, json};

use crate::api::{Answer, Api, PASSWORD, User, eventually, send, signed_up};
use crate::mailbox::{mail_to, token_mailed_to};

/// Confirms somebody's address, as its owner does with the mail that registering brings. `None` without an emulator.
async fn confirm(api: &Api, user: &User) -> Option<String> {
    let token = token_mailed_to(&user.email, "vrf_").await?;
    api.post("/api/auth/verify", &json!({"token": token, "password": PASSWORD})).await.expecting(204);
    Some(token)
}

async fn log_in(api: &Api, email: &str, password: &str) -> Answer {
    api.post("/api/auth/login", &json!({"email": email, "password": password})).await
}

/// The squatter of an address has made a key and let an accomplice in. Its owner takes the account over.
#[tokio::test]
async fn a_reset_as_first_proof_pauses_what_a_squatter_left() {
    const NEW: &str = "a horse of her own";
    let api = Api::new();
    let (squatted, accomplice) = (User::new(&api).await, User::new(&api).await);
    let invite = json!({"email": accomplice.email, "role": "admin"});
    let invited = send(squatted.request("POST", "/api/workspace/invitations").json(&invite)).await.json();
    let accept = accomplice.request("POST", "/api/invitations/accept").json(&json!({"token": invited["token"]}));
    let slug = send(accept).await.text("slug");
    let key = send(squatted.request("POST", "/api/keys").json(&json!({"name": "CI", "scopes": ["links:read"]}))).await;
    let key = key.json();
    let with_key = || api.request("GET", "/api/urls").header("x-api-key", key["key"].as_str().unwrap());
    let as_accomplice = json!({"email": accomplice.email, "password": PASSWORD, "workspace": slug});
    assert_eq!(api.post("/api/auth/login", &as_accomplice).await.status, 200);
    api.post("/api/auth/password/forgot", &json!({"email": squatted.email})).await;
    let Some(token) = token_mailed_to(&squatted.email, "rst_").await else { return };

    api.post("/api/auth/password/reset", &json!({"token": token, "password": NEW})).await.expecting(204);

    eventually("the accomplice is out", 401, async || api.post("/api/auth/login", &as_accomplice).await.status).await;
    eventually("the key is out", 401, async || send(with_key()).await.status).await;
    let session = log_in(&api, &squatted.email, NEW).await.json();
    let owner = |method: &str, path: &str| api.request(method, path).bearer_auth(session["token"].as_str().unwrap());
    let members = send(owner("GET", "/api/workspace/members")).await.json();
    assert!(members["members"][1]["paused_at"].is_string(), "{members}");
    let path = format!("/api/keys/{}", key["prefix"].as_str().unwrap());
    let kept = send(owner("PATCH", &path).json(&json!({"is_active": true}))).await;
    assert_eq!((kept.status, kept.json().get("paused_at")), (200, Some(&Value::Null)), "{}", kept.body);
    assert_eq!(send(with_key()).await.status, 200);
    let path = format!("/api/workspace/members/{}", accomplice.id);
    assert_eq!(send(owner("DELETE", &path)).await.status, 204);
    mail_to(&squatted.email, "is paused: its API keys").await;
}

#[tokio::test]
async fn a_forgotten_password_is_replaced_once_and_ends_all_sessions() {
    const NEW: &str = "wrong horse battery";
    let (api, ada) = signed_up().await;
    for email in [&ada.email, "nobody@example.com"] {
        assert_eq!(api.post("/api/auth/password/forgot", &json!({"email": email})).await.status, 202, "{email}");
    }
    let Some(token) = token_mailed_to(&ada.email, "rst_").await else { return };
    let reset = async |password: &str| {
        api.post("/api/auth/password/reset", &json!({"token": token, "password": password})).await.status
    };

    let statuses = [reset(&ada.email).await, reset(NEW).await, reset(NEW).await, reset(PASSWORD).await];

    assert_eq!(statuses, [400, 204, 404, 404], "a guessable password leaves the token, another one uses it up");
    let rename = ada.request("PATCH", "/api/workspace").json(&json!({"name": "Mine"}));
    assert_eq!(send(rename).await.status, 401, "the session of before");
    assert_eq!(log_in(&api, &ada.email, PASSWORD).await.status, 401);
    assert_eq!(log_in(&api, &ada.email, NEW).await.status, 200);
}

#[tokio::test]
async fn a_milestone_is_mailed_until_its_reader_unsubscribes_by_link() {
    let (api, ada) = signed_up().await;
    if confirm(&api, &ada).await.is_none() {
        return;
    }
    let code = ada.shorten("https://example.com/milestone").await;
    for _ in 0..10 {
        api.get(&format!("/{code}")).await;
    }
    let Some(text) = mail_to(&ada.email, "has reached 10 clicks").await else { return };

    assert!(text.contains(&format!("/{code} has reached 10 clicks")) && !text.contains("milestone"), "{text}");
    let token = text.split("#/unsubscribe?token=").nth(1).unwrap().trim();
    let path = format!("/api/unsubscribe?token={token}");
    let page = api.get(&path).await;
    assert_eq!((page.status, page.header("location")), (303, format!("../app#/unsubscribe?token={token}").as_str()));
    assert_eq!(ada.get("/api/me/notifications").await.json(), json!({"mail": "important"}), "looking changes nothing");
    let one_click = api.request("POST", &path).header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(send(one_click.body("List-Unsubscribe=One-Click")).await.status, 204);
    assert_eq!(ada.get("/api/me/notifications").await.json(), json!({"mail": "none"}));
}
