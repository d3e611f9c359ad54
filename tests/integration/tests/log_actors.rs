//! Who is logged to have done something: an account, an API key or an operator, and never an address.

use linklet_auth::Auth;
use linklet_domain::{ApiKeySecret, IpHash, Role};
use linklet_test_support::{
    ApiKeyBuilder, CapturedLogs, FakeQueues, RequestBuilder, TestDynamoDb, issuer, token_without_workspace, tokens,
};
use serde_json::{Value, json};

use crate::fixture::{leave, limits, operate, salt, send, with_person};

const PASSWORD: &str = "correct horse battery";

#[tokio::test]
async fn the_line_of_a_request_names_the_account_or_key_let_in() {
    let (db, ada) = with_person("ada").await;
    let secret = ApiKeySecret::generate().unwrap();
    db.store_key(&ApiKeyBuilder::new(&secret, &ada).build()).await;
    let get = |path: &str| RequestBuilder::new("GET", path);
    let session = ada.token(Role::Admin);

    for (function, request_of, user, key) in [
        ("list", get("/api/urls").token(&session), json!(ada.id), Value::Null),
        ("list", get("/api/urls").api_key(secret.reveal()), Value::Null, json!(secret.prefix().as_str())),
        ("auth", get("/api/me").token(&token_without_workspace(&ada)), json!(ada.id), Value::Null),
        ("redirect", get("/r/nolink0"), Value::Null, Value::Null),
        ("list", get("/api/urls").token("a.b.c"), Value::Null, Value::Null),
    ] {
        let logs = CapturedLogs::start();
        send(&db, function, request_of).await;

        let line = logs.only("request answered");
        assert_eq!((&line["user_id"], &line["key_prefix"]), (&user, &key), "{line}");
        assert!(!line.to_string().contains("example.com"), "{line}");
    }
}

#[tokio::test]
async fn a_login_logs_its_account_hashed_address_and_reason_of_refusal() {
    let db = TestDynamoDb::start();
    let auth = Auth::new(db.users(), tokens(), issuer(), limits(&db));
    let post = async |path: &str, body: Value| {
        RequestBuilder::new("POST", path).json(&body).source_ip("198.51.100.77").send_to(&auth).await
    };
    let registered = post("/api/auth/register", json!({"email": "ada@example.com", "password": PASSWORD})).await.json();
    let hash = IpHash::of("198.51.100.77", &salt());

    for (body, message, reason, user) in [
        (json!({"email": "ada@example.com", "password": PASSWORD}), "signed in", Value::Null, &registered["user_id"]),
        (
            json!({"email": "ada@example.com", "password": "wrong horse"}),
            "a login was refused",
            json!("wrong password"),
            &registered["user_id"],
        ),
        (
            json!({"email": "ada@example.com", "password": PASSWORD, "workspace": "nowhere"}),
            "a login was refused",
            json!("unknown workspace"),
            &registered["user_id"],
        ),
        (
            json!({"email": "bob@example.com", "password": PASSWORD}),
            "a login was refused",
            json!("unknown address"),
            &Value::Null,
        ),
    ] {
        let logs = CapturedLogs::start();
        post("/api/auth/login", body).await;

        let line = logs.only(message);
        assert_eq!((&line["reason"], &line["user_id"]), (&reason, user));
        assert_eq!(line["address_hash"], hash.as_str());
        let all = format!("{:?}", logs.lines());
        assert!(!all.contains("198.51.100.77") && !all.contains("@example.com") && !all.contains("horse"), "{all}");
    }
}

#[tokio::test]
async fn a_guess_that_has_to_wait_is_logged_with_the_hashed_address() {
    let db = TestDynamoDb::start();
    let auth = Auth::new(db.users(), tokens(), issuer(), limits(&db));
    let body = json!({"email": "ada@example.com", "password": "wrong horse"});
    let login = RequestBuilder::new("POST", "/api/auth/login").json(&body).source_ip("198.51.100.77");
    let guess = async || login.clone().send_to(&auth).await.status;
    let logs = CapturedLogs::start();

    while guess().await != 429 {}

    let line = logs.only("a guess has to wait");
    assert_eq!(line["address_hash"], IpHash::of("198.51.100.77", &salt()).as_str());
    assert_eq!(line["kind"], "passwords");
    let all = format!("{:?}", logs.lines());
    assert!(!all.contains("198.51.100.77") && !all.contains("@example.com") && !all.contains("horse"), "{all}");
}

#[tokio::test]
async fn a_refused_one_time_token_logs_the_hashed_address_but_not_itself() {
    let db = TestDynamoDb::start();
    let auth = Auth::new(db.users(), tokens(), issuer(), limits(&db));
    let logs = CapturedLogs::start();
    let token = format!("rst_{}", "0".repeat(32));
    let body = json!({"token": token, "password": PASSWORD});

    let reset = RequestBuilder::new("POST", "/api/auth/password/reset").json(&body).source_ip("198.51.100.77");
    assert_eq!(reset.send_to(&auth).await.status, 404);

    let line = logs.only("a one-time token was refused");
    assert_eq!(line["address_hash"], IpHash::of("198.51.100.77", &salt()).as_str());
    assert!(!format!("{:?}", logs.lines()).contains(&token));
}

const OPERATOR: &str = "arn:aws:sts::123456789012:assumed-role/operator/grace";

#[tokio::test]
async fn what_an_operator_does_for_people_names_the_operator_and_neither_address_nor_token() {
    let (db, ada) = with_person("ada").await;
    let operate = operate(&db, &FakeQueues::start());

    for (command, message, user) in [
        (json!({"invite": {"email": "bob@example.com"}}), "a token to register was made", Value::Null),
        (
            json!({"reset": {"email": ada.email, "reclaim": false}}),
            "a token for a new password was made",
            json!(ada.id),
        ),
        (json!({"close-account": {"email": ada.email}}), "an account was closed", json!(ada.id)),
    ] {
        let logs = CapturedLogs::start();
        operate.answer(json!({"operator": OPERATOR, "command": command})).await.unwrap();

        let line = logs.only(message);
        assert_eq!((&line["operator"], &line["user_id"]), (&json!(OPERATOR), &user), "{line}");
        let all = format!("{:?}", logs.lines());
        assert!(!["@example.com", "inv_", "rst_"].into_iter().any(|secret| all.contains(secret)), "{all}");
    }
}

#[tokio::test]
async fn an_export_and_an_end_by_an_operator_are_logged_without_the_address() {
    let (db, ada) = with_person("ada").await;
    let leave = leave(&db);

    for (command, message) in [
        (json!({"export": {"email": ada.email, "after": null}}), Some("what is stored about a person was exported")),
        (json!({"forget": {"email": ada.email}}), Some("an account was ended")),
        (json!({"forget": {"email": ada.email}}), None),
        (json!({"forget": {"email": "hunter2"}}), None),
    ] {
        let logs = CapturedLogs::start();
        leave.carry_out(json!({"operator": OPERATOR, "command": command})).await.unwrap();

        if let Some(message) = message {
            let line = logs.only(message);
            assert_eq!((&line["operator"], &line["user_id"]), (&json!(OPERATOR), &json!(ada.id)), "{line}");
            let entries = db.scan("AuditTable");
            assert!(entries.iter().any(|entry| entry["correlation_id"]["S"] == line["correlation_id"]), "{line}");
        }
        let all = format!("{:?}", logs.lines());
        assert!(!["@example.com", "hunter2"].into_iter().any(|secret| all.contains(secret)), "{all}");
    }
}
