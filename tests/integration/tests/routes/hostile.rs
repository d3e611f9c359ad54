//! What somebody can try who knows the code: other identities, other methods and paths, values that would forge headers.

use crate::prelude::*;

/// A database with the link `launch`, and its owner's token.
async fn with_link(link: &Link) -> (TestDynamoDb, String) {
    let db = TestDynamoDb::start();
    db.store(link).await;
    (db, token_of(&link.identity.owner, &link.identity.workspace, Role::Member))
}

fn request(route: &Route) -> RequestBuilder {
    RequestBuilder::new(&route.method, &route.path.replace("{code}", "launch").replace("{user_id}", "somebody"))
}

/// Says in every way that somebody might believe: this is an admin of that workspace.
fn claiming(request: RequestBuilder, workspace: &WorkspaceId, user: &UserId) -> RequestBuilder {
    let claims =
        json!({"sub": user, "ws": workspace, "email": "eve@example.com", "role": "admin", "iss": "url-shortener"});
    let (user_id, workspace_id) = (user.to_string(), workspace.to_string());
    let named = [
        ("x-user-id", user_id.as_str()),
        ("x-user-role", "admin"),
        ("x-workspace-id", workspace_id.as_str()),
        ("x-amzn-oidc-identity", user_id.as_str()),
        ("x-apigateway-event", "{}"),
        ("x-forwarded-for", "198.51.100.1, 127.0.0.1"),
        ("x-forwarded-host", "evil.example"),
        ("x-forwarded-proto", "javascript"),
        ("x-forwarded-user", user_id.as_str()),
        ("x-real-ip", "127.0.0.1"),
        ("x-original-url", "/api/admin/cleanup/stats"),
        ("forwarded", "for=127.0.0.1;host=evil.example;proto=http"),
        ("cloudfront-viewer-address", "198.51.100.1:1"),
        ("cookie", "role=admin"),
    ];
    let request = named.into_iter().fold(request, |request, (name, value)| request.header(name, value));
    request.authorized_as(&claims)
}

/// The answer but for what is different each time.
fn essence(answer: &Answer) -> (u16, Value) {
    let mut body = answer.json();
    if let Some(members) = body.as_object_mut() {
        members.remove("correlation_id");
        members.remove("as_of");
    }
    (answer.status, body)
}

#[tokio::test]
async fn no_header_and_no_authorizer_makes_anybody_somebody_else() {
    let link = LinkBuilder::new("launch").build();
    let ((plain, token), (hostile, _)) = (with_link(&link).await, with_link(&link).await);
    let stranger = token_of(&UserId::generate(), &WorkspaceId::generate(), Role::Viewer);

    for route in Contract::load().routes().iter().filter(|route| route.method == "GET") {
        for token in [None, Some(&token), Some(&stranger)] {
            let request = || token.iter().fold(request(route), |request, token| request.token(token));
            let expected = send(&plain, &route.function, request()).await;
            let claimed = claiming(request(), &link.identity.workspace, &link.identity.owner);
            let answer = send(&hostile, &route.function, claimed).await;

            if answer.header("location").is_empty() && !answer.body.contains("short_url") {
                assert_eq!(essence(&answer), essence(&expected), "{} {}", route.method, route.path);
            }
            assert_eq!(answer.status, expected.status, "{} {}", route.method, route.path);
            assert_eq!(answer.header("location"), expected.header("location"));
            let is_echoed = ["evil.example", "javascript"].iter().any(|claimed| answer.body.contains(claimed));
            assert!(answer.body == expected.body || !is_echoed, "{} {}", route.method, route.path);
        }
    }
}

#[tokio::test]
async fn no_header_and_no_authorizer_lets_anybody_change_something() {
    let link = LinkBuilder::new("launch").build();
    let (db, _) = with_link(&link).await;
    let eve = UserId::generate();
    let stranger = token_of(&eve, &WorkspaceId::generate(), Role::Viewer);
    let body = json!({
        "url": "https://example.com/", "is_active": false, "name": "Eve", "email": "eve@example.com", "role": "admin",
        "workspace_id": link.identity.workspace, "user_id": link.identity.owner, "sub": link.identity.owner, "ws": link.identity.workspace,
        "token": "inv_00000000000000000000000000000000", "seen_at": Timestamp::now(), "mail": "none",
    });
    let before: Vec<_> = ["LinksTable", "UsersTable"].iter().map(|table| db.scan(table)).collect();

    let routes = Contract::load().routes();
    for route in
        routes.iter().filter(|route| !["GET", "HEAD"].contains(&route.method.as_str()) && route.function != "auth")
    {
        // What one has seen oneself, one may say; and a report that one doesn't get is none any more.
        let own = ["/api/notifications/seen", "/api/workspace/reports/{report_id}"];
        let others = if own.contains(&&*route.path) { 204..=204 } else { 401..=404 };
        // Nor does looking at an invitation change anything.
        let unknown = if Contract::load().is_public(route) { 404..=404 } else { 401..=401 };
        // Nor does knowing no password.
        let (unknown, others) = if route.function == "unlock" { (400..=400, 400..=400) } else { (unknown, others) };
        let mut body = body.clone();
        if route.function == "leave" {
            body["password"] = json!("a guess");
        }
        let strangers = [(request(route), unknown), (request(route).token(&stranger), others)];
        for (request, refused) in strangers {
            let request = claiming(request, &link.identity.workspace, &link.identity.owner).json(&body);
            let answer = send(&db, &route.function, request).await;
            assert!(refused.contains(&answer.status), "{} {}: {}", route.method, route.path, answer.status);
        }
    }

    let after: Vec<_> = ["LinksTable", "UsersTable"].iter().map(|table| db.scan(table)).collect();
    assert_eq!(after, before);
    let seen = db.scan("NotificationsTable");
    assert_eq!(seen.iter().map(|row| &row["pk"]["S"]).collect::<Vec<_>>(), [&json!(format!("USER#{eve}"))]);
}

#[tokio::test]
async fn what_is_stored_belongs_to_the_token_whatever_else_is_claimed() {
    let link = LinkBuilder::new("launch").build();
    let (db, token) = with_link(&link).await;
    let (workspace, user) = (WorkspaceId::generate(), UserId::generate());
    let body = json!({
        "url": "https://example.com/mine", "custom_code": "mine1", "workspace_id": workspace, "user_id": user,
        "owner": user, "user_email": "eve@example.com",
    });

    let create = async |path: &str| {
        let creating = claiming(RequestBuilder::new("POST", path).token(&token), &workspace, &user).json(&body);
        send(&db, "shorten", creating).await
    };
    let claimed = create(&format!("/api/shorten?workspace_id={workspace}&user_id={user}&role=admin")).await;
    let created = create("/api/shorten").await;
    send(&db, "redirect", claiming(RequestBuilder::new("GET", "/r/launch"), &workspace, &user)).await;

    assert_eq!(claimed.problem_code(), (400, "unknown_parameter".into()));
    assert_eq!((created.status, &created.json()["short_url"]), (201, &json!("https://api.example.com/r/mine1")));
    let stored = db.link("mine1").await;
    assert_eq!((stored.identity.workspace, stored.identity.owner), (link.identity.workspace, link.identity.owner));
    let visitor = db.clicks().latest(&link_id("launch"), 1).await.unwrap().remove(0).visitor;
    assert_eq!(visitor.ip_hash, IpHash::of("203.0.113.9", &salt()));
    assert_eq!((visitor.city, visitor.country), (None, None));
}

#[tokio::test]
async fn no_header_or_parameter_makes_another_method_of_a_request() {
    let (db, token) = with_link(&LinkBuilder::new("launch").build()).await;

    for function in ["list", "delete", "update"] {
        let request = |query: &str| {
            RequestBuilder::new("GET", &format!("/api/links/launch{query}"))
                .token(&token)
                .header("x-http-method-override", "DELETE")
                .header("x-http-method", "DELETE")
                .header("x-method-override", "DELETE")
                .json(&json!({"_method": "DELETE", "is_active": false}))
        };
        for (query, answered) in [("", 200), ("?_method=DELETE&method=DELETE", 400)] {
            let status = send(&db, function, request(query)).await.status;
            assert_eq!(status, if function == "list" { answered } else { 404 }, "{function} {query}");
        }
    }

    assert_eq!(db.link("launch").await.availability.state, LinkBuilder::new("launch").build().availability.state);
}

#[tokio::test]
async fn a_path_that_only_resembles_a_route_leads_nowhere() {
    let (db, token) = with_link(&LinkBuilder::new("launch").build()).await;
    let functions: BTreeSet<String> = Contract::load().routes().into_iter().map(|route| route.function).collect();
    let paths = [
        "//launch",
        "/r//launch",
        "/r/launch/..",
        "/r/../launch",
        "/./launch",
        "/r/%2e%2e/launch",
        "/r/%6caunch",
        "/r/launch%00",
        "/r/launch%0d%0aset-cookie:a=b",
        "/R/launch",
        "/r/launch\u{0}",
        "/r/launch\r\nx: y",
        "/r/launch;a=b",
        "/launch/r",
        "/api/links/launch/../launch",
        "/api/links/%2e%2e/links/launch",
        "/api//links/launch",
        "/api/links/launch/",
        "/api/stats/launch/clicks/",
        "/api/stats/launch/../launch/clicks",
        "/api/stats/launch%2Fclicks",
        "/api/admin/../admin/cleanup/stats",
        "/API/links",
        "/api/me/",
        "/api/workspace/members/../members",
        "",
        "*",
    ];

    for function in &functions {
        for path in paths {
            for method in ["GET", "POST", "DELETE", "PATCH", "TRACE", "CONNECT"] {
                let answer =
                    send(&db, function, RequestBuilder::new(method, path).outside_the_contract().token(&token)).await;
                assert!((400..500).contains(&answer.status), "{function}: {method} {path:?} is {}", answer.status);
            }
        }
    }

    assert!(db.scan("ClicksTable").is_empty());
    assert_eq!(db.scan("LinksTable").len(), 1);
}

#[tokio::test]
async fn an_encoded_body_is_refused_with_a_sentence_of_its_own() {
    let (db, token) = with_link(&LinkBuilder::new("launch").build()).await;
    let post =
        || RequestBuilder::new("POST", "/api/shorten").token(&token).json(&json!({"url": "https://example.com/"}));

    for coding in ["gzip", "br", "GZIP, identity", "x", "é"] {
        let answer = send(&db, "shorten", post().header("content-encoding", coding)).await;
        assert_eq!(answer.problem(), (415, "the request body must not be compressed or encoded".into()), "{coding}");
        assert_eq!(answer.json()["field"], "Content-Encoding");
        assert_eq!(answer.header("accept-encoding"), "identity");
    }
    for coding in ["", "identity", "Identity"] {
        assert!(send(&db, "shorten", post().header("content-encoding", coding)).await.status < 300);
    }
    for (bytes, sentence) in [
        (&b"\x1f\x8b\x08"[..], "the request body is compressed with gzip; send it without compression"),
        (b"\xef\xbb\xbf{}", "the request body must be UTF-8 without a byte order mark"),
        (b"{\"url\": \"\xff\"}", "invalid request body: line 1 column 10 is no JSON"),
    ] {
        let answer = send(&db, "shorten", post().bytes(bytes)).await;
        assert_eq!((answer.problem(), &answer.json()["code"]), ((400, sentence.into()), &json!("invalid_body")));
    }
}

#[tokio::test]
async fn no_value_splits_an_answer() {
    let (db, token) = with_link(&LinkBuilder::new("launch").build()).await;
    let splitting = "x%0d%0aset-cookie: a=b\u{85}\u{2028}\u{2029}";

    let mut answers = vec![
        send(&db, "redirect", RequestBuilder::new("GET", &format!("/r/launch?{splitting}"))).await,
        send(&db, "redirect", RequestBuilder::new("GET", &format!("/r/{splitting}"))).await,
        send(&db, "redirect", RequestBuilder::new("GET", "/r/launch").header("x-correlation-id", splitting)).await,
    ];
    for url in ["https://example.com/\r\nset-cookie: a=b", "https://example.com/\u{85}", "javascript:alert(1)//\r\n"] {
        let request = RequestBuilder::new("POST", "/api/shorten").token(&token).json(&json!({"url": url}));
        let answer = send(&db, "shorten", request).await;
        assert_eq!(answer.status, 400, "{url:?}");
        answers.push(answer);
    }
    let encoded = json!({"url": "https://example.com/x%0d%0aset-cookie: a=b\u{2028}c", "custom_code": "split"});
    send(&db, "shorten", RequestBuilder::new("POST", "/api/shorten").token(&token).json(&encoded)).await;
    answers.push(send(&db, "redirect", RequestBuilder::new("GET", "/split")).await);

    assert_eq!(answers.last().unwrap().status, REDIRECT);
    for answer in answers {
        assert_eq!(answer.header("set-cookie"), "");
        assert!(answer.headers().all(|(_, value)| value.bytes().all(|byte| matches!(byte, b' '..=b'~'))), "{answer:?}");
    }
}
