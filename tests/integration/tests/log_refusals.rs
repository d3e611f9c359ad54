//! What is logged when somebody is refused: one warning, with whoever asked and why, and no secret.

use linklet_account::Account;
use linklet_domain::{
    ApiKeySecret, Membership, Role, SessionId, ShortCode, Timestamp, UnsubscribeToken, UserId, WorkspaceId,
};
use linklet_lambda::link_writer::LinkWriter;
use linklet_shorten::Shorten;
use linklet_test_support::{
    ApiKeyBuilder, CapturedLogs, LinkBuilder, Person, RequestBuilder, TargetBuilder, TestDynamoDb, issuer, token_for,
    token_of, tokens,
};
use serde_json::{Value, json};

use crate::fixture::{salt, send, with_link, with_person};

/// The only warning so far.
fn warning(logs: &CapturedLogs) -> Value {
    let mut warnings = logs.lines();
    warnings.retain(|line| line["level"] == "WARN");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    warnings.remove(0)
}

/// An API key of this person that can do everything, and its prefix.
async fn key_of(db: &TestDynamoDb, person: &Person, expires_at: Option<Timestamp>) -> (String, String) {
    let secret = ApiKeySecret::generate().unwrap();
    let mut key = ApiKeyBuilder::new(&secret, person).with_scopes(&["links:read", "links:write", "analytics:read"]);
    if let Some(expires_at) = expires_at {
        key = key.expires_at(expires_at);
    }
    db.store_key(&key.build()).await;
    (secret.reveal().to_owned(), secret.prefix().to_string())
}

#[tokio::test]
async fn access_to_somebody_elses_link_is_one_warning_that_names_who_asked() {
    let (db, link) = with_link(LinkBuilder::new("launch")).await;
    let (user, workspace) = (UserId::generate(), WorkspaceId::generate());
    let strangers = token_of(&user, &workspace, Role::Admin);
    let colleagues = token_of(&user, &link.identity.workspace, Role::Member);

    for (token, workspace, function, route) in [
        (&strangers, &workspace, "list", "GET /api/links/{code}"),
        (&strangers, &workspace, "update", "PATCH /api/links/{code}"),
        (&strangers, &workspace, "delete", "DELETE /api/urls/{code}"),
        (&strangers, &workspace, "delete", "DELETE /api/links/{code}"),
        (&strangers, &workspace, "stats", "GET /api/stats/{code}/daily"),
        (&strangers, &workspace, "stats", "GET /api/stats/{code}/clicks"),
        (&colleagues, &link.identity.workspace, "update", "PATCH /api/links/{code}"),
        (&colleagues, &link.identity.workspace, "delete", "DELETE /api/links/{code}"),
    ] {
        let logs = CapturedLogs::start();
        let (method, path) = route.split_once(' ').unwrap();
        let request = RequestBuilder::new(method, &path.replace("{code}", "launch")).token(token).json(&json!({}));
        assert_eq!(send(&db, function, request).await.status, 403, "{route}");

        let line = warning(&logs);
        let expected = json!({
            "level": "WARN", "message": "access was refused", "problem": "forbidden", "route": route,
            "short_code": "launch", "user_id": user, "workspace_id": workspace, "service": "test",
            "time": line["time"], "correlation_id": line["correlation_id"],
        });
        assert_eq!(line, expected);
    }
}

#[tokio::test]
async fn an_api_key_that_reaches_another_workspace_is_logged_by_prefix() {
    let (db, _) = with_link(LinkBuilder::new("launch")).await;
    let ada = db.register("ada").await;
    let (key, prefix) = key_of(&db, &ada, None).await;
    let logs = CapturedLogs::start();

    let request = RequestBuilder::new("GET", "/api/links/launch").api_key(&key);
    assert_eq!(send(&db, "list", request).await.status, 403);

    let line = warning(&logs);
    assert_eq!((&line["key_prefix"], &line["workspace_id"]), (&json!(prefix), &json!(ada.workspace)));
    assert!(!logs.text().contains(&key));
}

#[tokio::test]
async fn a_refused_access_to_a_target_is_one_warning_with_its_problem() {
    let db = TestDynamoDb::start();
    let target = db.store_target(&TargetBuilder::new("https://example.com/").build()).await;
    let user = UserId::generate();
    let path = format!("/v1/targets/{}", target.id);

    for (workspace, role, method, problem) in [
        (WorkspaceId::generate(), Role::Admin, "GET", "forbidden"),
        (WorkspaceId::generate(), Role::Admin, "DELETE", "forbidden"),
        (target.workspace, Role::Member, "DELETE", "forbidden"),
        (target.workspace, Role::Viewer, "DELETE", "role_too_low"),
    ] {
        let logs = CapturedLogs::start();
        let request = RequestBuilder::new(method, &path).token(&token_of(&user, &workspace, role));
        assert_eq!(send(&db, "watch", request).await.status, 403);

        let line = warning(&logs);
        assert_eq!((&line["problem"], &line["user_id"]), (&json!(problem), &json!(user)));
        assert_eq!((&line["route"], line.get("short_code")), (&json!(format!("{method} /v1/targets/{{id}}")), None));
    }
}

#[tokio::test]
async fn a_refused_token_is_one_warning_with_reason_and_proven_subject() {
    let (db, ada) = with_person("ada").await;
    let long_ago = Timestamp::parse("2020-01-01T00:00:00Z").unwrap();
    let membership = Membership::new(ada.workspace, Role::Admin, long_ago);
    let (expired, _) = issuer()
        .issue(&SessionId::beginning_at(long_ago), &ada.id, &ada.email, Some(&membership), long_ago)
        .await
        .unwrap();
    let good = ada.token(Role::Admin);
    let forged = format!("{}.{}", good.rsplit_once('.').unwrap().0, "A".repeat(43));

    for (authorization, reason, subject) in [
        (format!("Bearer {expired}"), "expired token", json!([ada.id, ada.workspace])),
        (format!("Bearer {forged}"), "invalid signature", json!([null, null])),
        ("Bearer hunter2".to_owned(), "malformed token", json!([null, null])),
        ("Basic aHVudGVyMg==".to_owned(), "no bearer token", json!([null, null])),
    ] {
        let logs = CapturedLogs::start();
        let request = RequestBuilder::new("GET", "/api/urls").header("authorization", &authorization);
        assert_eq!(send(&db, "list", request).await.status, 401, "{reason}");

        let line = warning(&logs);
        assert_eq!((&line["message"], &line["reason"]), (&json!("a token was refused"), &json!(reason)));
        assert_eq!(json!([line["user_id"], line["workspace_id"]]), subject, "{reason}");
        let (_, credential) = authorization.split_once(' ').unwrap();
        assert!(!logs.text().contains(credential) && !logs.text().contains('@'), "{}", logs.text());
    }
}

#[tokio::test]
async fn a_refused_api_key_is_one_warning_with_its_reason_and_prefix() {
    let (db, ada) = with_person("ada").await;
    let (expired, expired_prefix) = key_of(&db, &ada, Some(Timestamp::parse("2020-01-01T00:00:00Z").unwrap())).await;
    let unknown = ApiKeySecret::generate().unwrap();
    let (valid, valid_prefix) = key_of(&db, &ada, None).await;

    for (key, path, reason, named) in [
        (expired.as_str(), "/api/urls", "expired key", json!([expired_prefix, ada.id, ada.workspace])),
        (unknown.reveal(), "/api/urls", "unknown key", json!([unknown.prefix(), null, null])),
        ("lk_live_hunter2", "/api/urls", "malformed key", json!([null, null, null])),
        (valid.as_str(), "/api/keys", "the route takes no keys", json!([valid_prefix, null, null])),
    ] {
        let logs = CapturedLogs::start();
        let request = RequestBuilder::new("GET", path).api_key(key);
        let answer = match path {
            "/api/keys" => {
                request
                    .send_to(&Account::new(
                        tokens(),
                        db.users(),
                        db.notifications(),
                        crate::fixture::guesses(&db),
                        crate::fixture::sharing(&db),
                    ))
                    .await
            }
            _ => send(&db, "list", request).await,
        };
        assert_eq!(answer.status, if path == "/api/keys" { 403 } else { 401 }, "{reason}");

        let line = warning(&logs);
        assert_eq!((&line["message"], &line["reason"]), (&json!("an API key was refused"), &json!(reason)));
        assert_eq!(json!([line["key_prefix"], line["user_id"], line["workspace_id"]]), named, "{reason}");
        assert!(!logs.text().contains(key), "{}", logs.text());
    }
}

#[tokio::test]
async fn a_request_without_credentials_is_no_warning() {
    let (db, logs) = (TestDynamoDb::start(), CapturedLogs::start());

    assert_eq!(send(&db, "list", RequestBuilder::new("GET", "/api/urls")).await.status, 401);

    assert_eq!(logs.messages("WARN"), [""; 0]);
}

#[tokio::test]
async fn five_generated_codes_that_are_taken_are_a_warning() {
    let db = TestDynamoDb::start();
    db.store(&LinkBuilder::new("taken77").build()).await;
    let generate_code = || Ok(ShortCode::parse("taken77").unwrap());
    let writer = LinkWriter { generate_code, ..crate::fixture::writer(&db) };
    let shorten = Shorten { writer, ..crate::fixture::shorten(&db) };
    let request = RequestBuilder::new("POST", "/api/shorten").token(&token_for(&WorkspaceId::generate(), Role::Admin));
    let logs = CapturedLogs::start();

    let answer = request.json(&json!({"url": "https://example.com"})).send_to(&shorten).await;

    assert_eq!((answer.status, warning(&logs)["tries"].as_u64()), (503, Some(5)));
}

#[tokio::test]
async fn secrets_in_a_path_or_a_user_agent_are_not_logged() {
    let (db, _) = with_link(LinkBuilder::new("launch")).await;
    let key = ApiKeySecret::generate().unwrap();
    let secret = key.reveal();
    let token = token_for(&WorkspaceId::generate(), Role::Admin);
    let logs = CapturedLogs::start();

    for (function, method, path) in [
        ("account", "DELETE", format!("/api/keys/{secret}")),
        ("account", "DELETE", format!("/api/workspace/members/{secret}")),
        ("list", "GET", format!("/api/links/{secret}")),
        ("stats", "GET", format!("/api/stats/{secret}")),
        ("redirect", "GET", format!("/r/{secret}/{}", "x".repeat(8_000))),
        ("redirect", "GET", format!("/{secret}")),
        ("watch", "GET", format!("/v1/targets/{secret}/results")),
    ] {
        let request = RequestBuilder::new(method, &path).token(&token).header("user-agent", secret);
        let status = if method == "DELETE" { 204 } else { 404 };
        assert_eq!(send(&db, function, request.header("accept", "*/*")).await.status, status, "{path}");
    }
    let follow = RequestBuilder::new("GET", "/r/launch").header("user-agent", secret);
    assert_eq!(send(&db, "redirect", follow).await.status, crate::fixture::REDIRECT);

    assert!(!logs.text().contains(&secret[8..]), "{}", logs.text());
    let routes: Vec<Value> =
        logs.lines().iter().filter(|line| line["level"] == "INFO").map(|line| line["route"].clone()).collect();
    assert_eq!(routes[0], "DELETE /api/keys/{prefix}");
    assert_eq!(routes[4], "unknown");
    let followed = logs.lines().pop().unwrap();
    assert_eq!((&followed["route"], &followed["short_code"]), (&json!("GET /r/{code}"), &json!("launch")));
    assert!(logs.text().lines().all(|line| line.len() < 600), "no line is as long as a client likes");
}

/// It is in the query of the address that mail programs call.
#[tokio::test]
async fn the_token_with_which_somebody_unsubscribes_is_in_no_line() {
    let (db, ada) = with_person("ada").await;
    let token = UnsubscribeToken::of(&ada.id, Timestamp::now(), &salt()).reveal().to_owned();
    let logs = CapturedLogs::start();

    for (method, offered, status) in
        [("GET", token.clone(), 303), ("POST", token.clone(), 204), ("POST", format!("{token}A"), 404)]
    {
        let request = RequestBuilder::new(method, &format!("/api/unsubscribe?token={offered}"));
        assert_eq!(send(&db, "account", request).await.status, status, "{method}");
    }

    let text = logs.text();
    assert_eq!(text.matches("request answered").count(), 3, "{text}");
    assert!(!text.contains(&token) && !text.contains("token="), "{text}");
}
