//! Who gets in, with each kind of registration: the system is deployed again with other parameters, as an operator would.
//!
//! `LINKLET_PYTHON` runs the program that deploys: `infra.local`, which sets it for the system that `make e2e` starts.
//! Another system can't be tested so; then the test says it and passes. It is among the last ones, since the system has other
//! parameters afterwards.

use std::{env, process::Command};

use serde_json::{Value, json};

use crate::api::{Answer, Api, PASSWORD, User, send, send_once};
use crate::mailbox::token_mailed_to;

/// Deploys the system that `make e2e` has started with these parameters. `false` if there is no such system.
fn deploy(parameters: &[&str]) -> bool {
    let Some(python) = env::var_os("LINKLET_PYTHON") else {
        eprintln!("skipped: LINKLET_PYTHON is not set, so nothing can be deployed again");
        return false;
    };
    let mut command = Command::new(python);
    command.args(["-m", "infra.local", "redeploy"]).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    assert!(command.args(parameters).status().unwrap().success());
    true
}

/// Somebody whose only workspace is that of an admin.
struct Guest<'a> {
    api: &'a Api,
    email: String,
    id: String,
}

impl<'a> Guest<'a> {
    async fn of(api: &'a Api, admin: &User) -> Self {
        let email = format!("guest-{}@example.com", uuid::Uuid::new_v4());
        let invite = admin.request("POST", "/api/workspace/invitations").json(&json!({"email": email}));
        let token = send(invite).await.json()["token"].clone();
        let body = json!({"email": email, "password": PASSWORD, "invitation": token});
        let registered = api.post("/api/auth/register", &body).await.expecting(201);
        Self { api, email, id: registered.text("user_id") }
    }

    async fn log_in(&self) -> String {
        let body = json!({"email": self.email, "password": PASSWORD});
        self.api.post("/api/auth/login", &body).await.expecting(200).text("token")
    }

    async fn send(&self, token: &str, method: &str, path: &str, body: Value) -> Answer {
        send(self.api.request(method, path).bearer_auth(token).json(&body)).await
    }
}

/// Somebody who was removed from their only workspace can see to their account, accept an invitation, and do nothing else.
async fn is_outside(guest: &Guest<'_>, admin: &User) {
    let token = guest.log_in().await;

    let me = guest.send(&token, "GET", "/api/me", json!({})).await.json();
    let shorten = guest.send(&token, "POST", "/api/shorten", json!({"url": "https://evil.example/"})).await;
    let found = guest.send(&token, "POST", "/api/workspaces", json!({"name": "Mine"})).await;

    assert_eq!((&me["workspace_id"], &me["role"]), (&Value::Null, &Value::Null));
    assert_eq!((shorten.status, &shorten.json()["code"]), (403, &json!("no_workspace")), "{}", shorten.body);
    assert_eq!((found.status, &found.json()["code"]), (403, &json!("creation_closed")), "{}", found.body);
    let invite = admin.request("POST", "/api/workspace/invitations").json(&json!({"email": guest.email}));
    let invitation = send(invite).await.json()["token"].clone();
    guest.send(&token, "POST", "/api/invitations/accept", json!({"token": invitation})).await.expecting(200);
}

/// With two links a minute by person.
async fn a_person_has_one_limit_wherever_they_are() {
    let ada = User::new(&Api::new()).await;
    let shorten = async |number: u8| {
        // Each is a client with an address of its own.
        let order = Api::new().request("POST", "/api/shorten").bearer_auth(&ada.token);
        let answer = send_once(order.json(&json!({"url": format!("https://example.com/{number}")}))).await;
        (answer.status, answer.header("x-ratelimit-limit").to_owned())
    };

    assert_eq!(shorten(1).await, (201, "2".to_owned()));
    assert_eq!(shorten(2).await, (201, "2".to_owned()));
    assert_eq!(shorten(3).await, (429, "2".to_owned()));
}

async fn registration(api: &Api) -> Value {
    api.get("/api/auth/registration").await.json()["registration"].clone()
}

#[tokio::test]
async fn nobody_gets_in_who_should_not_with_any_kind_of_registration() {
    let api = Api::new();

    if !deploy(&["Registration=open", "WhoCreatesWorkspaces=operators", "ShortenPerMinute=2"]) {
        return;
    }
    a_person_has_one_limit_wherever_they_are().await;
    let (admin, other) = (User::new(&api).await, User::new(&api).await);
    let guest = Guest::of(&api, &admin).await;
    assert_eq!(registration(&api).await, "open");
    assert_eq!(admin.delete(&format!("/api/workspace/members/{}", guest.id)).await.status, 204);
    is_outside(&guest, &admin).await;

    assert!(deploy(&["Registration=invited"]));
    assert_eq!(registration(&api).await, "invited");
    let uninvited = api.post("/api/auth/register", &json!({"email": "eve@example.com", "password": PASSWORD})).await;
    assert_eq!((uninvited.status, &uninvited.json()["code"]), (403, &json!("registration_closed")));
    assert_eq!(admin.delete(&format!("/api/workspace/members/{}", guest.id)).await.status, 204);
    is_outside(&guest, &other).await;

    assert!(deploy(&["Registration=domains", "RegistrationDomains=example.com"]));
    assert_eq!(registration(&api).await, "domains");
    let outside = api.post("/api/auth/register", &json!({"email": "eve@evil.example", "password": PASSWORD})).await;
    assert_eq!((outside.status, &outside.json()["code"]), (403, &json!("registration_closed")));
    the_password_is_chosen_by_whoever_reads_the_mail(&api).await;
}

async fn the_password_is_chosen_by_whoever_reads_the_mail(api: &Api) {
    const SQUATTERS: &str = "the squatter's horse";
    let email = format!("ceo-{}@example.com", uuid::Uuid::new_v4());
    let log_in = async |password: &str| {
        let answer = api.post("/api/auth/login", &json!({"email": email, "password": password})).await;
        answer.status
    };

    let registered = api.post("/api/auth/register", &json!({"email": email, "password": SQUATTERS})).await;
    assert_eq!((registered.status, &registered.json()["ignored"]), (201, &json!(["password"])), "{}", registered.body);
    let token = token_mailed_to(&email, "vrf_").await.unwrap();
    let opened = api.post("/api/auth/verify", &json!({"token": token})).await;
    assert_eq!((opened.status, log_in(SQUATTERS).await), (400, 401));
    api.post("/api/auth/verify", &json!({"token": token, "password": PASSWORD})).await.expecting(204);

    assert_eq!((log_in(PASSWORD).await, log_in(SQUATTERS).await), (200, 401));
}
