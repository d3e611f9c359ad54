//! Mails with tokens. Needs `AWS_ENDPOINT_URL`, where the emulator keeps the mails that it is to send.

use std::{env, time::Duration};

use serde_json::{Value, json};

use crate::api::{Answer, Api, PASSWORD, User, send};

const TOKEN_CHARACTERS: usize = "rst_".len() + 32;

/// The token of this kind in the mail that an address gets, or `None` without an emulator.
async fn token_mailed_to(email: &str, kind: &str) -> Option<String> {
    let Ok(endpoint) = env::var("AWS_ENDPOINT_URL") else {
        eprintln!("skipped: AWS_ENDPOINT_URL is not set, so mails can't be read");
        return None;
    };
    for _ in 0..240 {
        let kept: Value =
            reqwest::get(format!("{endpoint}/_ministack/ses/messages")).await.unwrap().json().await.unwrap();
        let mails = kept["messages"].as_object().unwrap().values().flat_map(|mails| mails.as_array().unwrap());
        let mut texts =
            mails.filter(|mail| mail["To"] == json!([email])).map(|mail| mail["BodyText"].as_str().unwrap());
        if let Some((at, text)) = texts.find_map(|text| text.find(kind).map(|at| (at, text))) {
            return Some(text[at..at + TOKEN_CHARACTERS].to_owned());
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    panic!("{email} gets no mail with a token that begins with {kind}");
}

/// Confirms somebody's address, as its owner does with the mail that registering brings. `None` without an emulator.
async fn confirm(api: &Api, user: &User) -> Option<String> {
    let token = token_mailed_to(&user.email, "vrf_").await?;
    let confirmed = api.post("/api/auth/verify", &json!({"token": token})).await;
    assert_eq!(confirmed.status, 204, "{}", confirmed.body);
    Some(token)
}

async fn log_in(api: &Api, email: &str, password: &str) -> Answer {
    api.post("/api/auth/login", &json!({"email": email, "password": password})).await
}

async fn me(api: &Api, email: &str) -> Value {
    let session = log_in(api, email, PASSWORD).await.json();
    send(api.request("GET", "/api/me").bearer_auth(session["token"].as_str().unwrap())).await.json()
}

#[tokio::test]
async fn an_address_is_confirmed_once() {
    let api = Api::new();
    let ada = User::new(&api).await;
    assert_eq!(me(&api, &ada.email).await["verified"], false);

    let Some(token) = confirm(&api, &ada).await else { return };

    assert_eq!(me(&api, &ada.email).await["verified"], true);
    assert_eq!(api.post("/api/auth/verify", &json!({"token": token})).await.status, 404);
}

#[tokio::test]
async fn a_forgotten_password_is_replaced_once_and_ends_all_sessions() {
    const NEW: &str = "wrong horse battery";
    let api = Api::new();
    let ada = User::new(&api).await;
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
async fn a_mailed_invitation_lets_in_once_and_confirms_the_address() {
    let api = Api::new();
    let ada = User::new(&api).await;
    let guest = format!("guest-of-{}", ada.email);
    if confirm(&api, &ada).await.is_none() {
        return;
    }
    let invited = send(ada.request("POST", "/api/workspace/invitations").json(&json!({"email": guest}))).await;
    assert_eq!(invited.status, 201, "{}", invited.body);
    let Some(mailed) = token_mailed_to(&guest, "inv_").await else { return };
    let register = async |email: &str, token: &str| {
        let wanted = json!({"email": email, "password": PASSWORD, "invitation": token});
        api.post("/api/auth/register", &wanted).await
    };

    assert_eq!(register("squatter@example.com", &mailed).await.status, 404, "it is for another address");
    let registered = register(&guest, &mailed).await;
    assert_eq!(registered.status, 201, "{}", registered.body);
    let shown = invited.json()["token"].as_str().unwrap().to_owned();
    assert_ne!(shown, mailed);
    assert_eq!(register(&format!("second-{guest}"), &shown).await.status, 404, "both are one invitation");

    let guest = me(&api, &guest).await;
    assert_eq!((&guest["workspace_id"], &guest["verified"]), (&json!(ada.workspace), &json!(true)));
}
