//! Walks the routes of `template.yaml`, so that a new one can't be forgotten.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::LazyLock,
};

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use linklet_domain::{Role, Timestamp, UserId, WorkspaceId};
use linklet_lambda::http::Problem;
use linklet_test_support::{
    Answer, Contract, RequestBuilder, Route, TOKEN_SECRET, Template, TestDynamoDb, token_for, token_of,
    token_without_workspace,
};
use serde_json::{Value, json};

use crate::fixture::{self, with_person};

/// What opens to somebody who is in no workspace.
const WITHOUT_WORKSPACE: [&str; 16] = [
    "DELETE /api/me",
    "GET /api/me/export",
    "POST /api/workspaces/{id}/restore",
    "GET /api/me",
    "GET /api/me/audit",
    "PATCH /api/me",
    "GET /api/me/sessions",
    "DELETE /api/me/sessions/{id}",
    "GET /api/me/workspaces",
    "GET /api/me/notifications",
    "PATCH /api/me/notifications",
    "POST /api/auth/logout",
    "POST /api/auth/switch",
    "POST /api/auth/password",
    "POST /api/invitations/accept",
    // Who may create workspaces decides.
    "POST /api/workspaces",
];

const UNKNOWN_KEY: &str = "sk_live_00000000000000000000000000000000";

fn key(route: &Route) -> String {
    format!("{} {}", route.method, route.path)
}

/// The routes that not anybody may call, by the document. What each answers to whom is in `permissions.rs`.
fn protected_routes() -> impl Iterator<Item = &'static Route> {
    static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| Template::load().routes());
    ROUTES.iter().filter(|route| !Contract::load().is_public(route))
}

/// The path with something in place of each parameter.
fn filled(path: &str) -> String {
    let part = |part: &str| if part.starts_with('{') { "launch".to_owned() } else { part.to_owned() };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

fn request(route: &Route) -> RequestBuilder {
    RequestBuilder::new(&route.method, &filled(&route.path))
}

async fn send(db: &TestDynamoDb, route: &Route, request: RequestBuilder) -> Answer {
    fixture::send(db, &route.function, request).await
}

fn bad_tokens() -> Vec<(&'static str, String)> {
    let now = Timestamp::now().unix_seconds();
    let claims = |issuer: &str, expires_at: i64| {
        json!({
            "iss": issuer, "sub": UserId::generate(), "email": "ada@example.com", "ws": WorkspaceId::generate(),
            "role": "admin", "iat": now - 90_000, "exp": expires_at,
        })
    };
    let sign = |claims: &Value, secret: &str| {
        let key = EncodingKey::from_secret(secret.as_bytes());
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), claims, &key).unwrap()
    };
    let good = claims("url-shortener", now + 60);
    let unsigned = {
        let token = sign(&good, TOKEN_SECRET);
        // {"alg":"none","typ":"JWT"}
        format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{}.", token.split('.').nth(1).unwrap())
    };
    vec![
        ("another key", sign(&good, "another secret of 32 bytes or more")),
        ("algorithm none", unsigned),
        ("another issuer", sign(&claims("somebody-else", now + 60), TOKEN_SECRET)),
        ("expired", sign(&claims("url-shortener", now - 1), TOKEN_SECRET)),
    ]
}

#[tokio::test]
async fn every_protected_route_refuses_every_bad_token_and_key() {
    let db = TestDynamoDb::start();
    let mut protected = 0;

    for route in protected_routes() {
        protected += 1;
        let missing = send(&db, route, request(route)).await;
        assert_eq!(missing.problem(), (401, "unauthorized".into()), "{} without a token", key(route));
        for (what, token) in bad_tokens() {
            let answer = send(&db, route, request(route).token(&token)).await;
            assert_eq!(answer.problem(), (401, "unauthorized".into()), "{} with {what}", key(route));
        }
        for (what, api_key) in [("a malformed key", "sk_live_"), ("an unknown key", UNKNOWN_KEY)] {
            let answer = send(&db, route, request(route).api_key(api_key)).await;
            assert_eq!(answer.problem(), (401, "unauthorized".into()), "{} with {what}", key(route));
        }
    }

    assert!(protected >= 5, "the template has only {protected} protected routes");
}

#[tokio::test]
async fn without_a_workspace_only_account_and_invitation_routes_are_allowed() {
    let (db, ada) = with_person("ada").await;
    let session = token_without_workspace(&ada);

    for route in protected_routes() {
        let answer = send(&db, route, request(route).token(&session)).await;

        let is_refused = answer.json()["code"] == "no_workspace";
        assert_eq!(is_refused, !WITHOUT_WORKSPACE.contains(&key(route).as_str()), "{}: {}", key(route), answer.body);
        assert_eq!(is_refused, answer.status == 403, "{}: {}", key(route), answer.body);
    }
}

#[tokio::test]
async fn every_route_is_known_to_its_function() {
    let db = TestDynamoDb::start();
    let token = token_for(&WorkspaceId::generate(), Role::Admin);

    for route in Template::load().routes() {
        let answer = send(&db, &route, request(&route).token(&token)).await;
        assert_ne!(answer.problem().1, "there is nothing at this address", "{}", key(&route));
        assert!(answer.status < 500, "{}: {}", key(&route), answer.body);
    }
}

/// But for what differs from one answer to the next.
fn lasting_headers(answer: &Answer) -> Vec<(String, String)> {
    let differs = |name: &str| name == "x-correlation-id" || name.starts_with("x-ratelimit-");
    answer.headers().filter(|(name, _)| !differs(name)).map(|(name, value)| (name.into(), value.into())).collect()
}

#[tokio::test]
async fn head_is_answered_as_get_without_a_body_wherever_get_is() {
    let (db, ada) = with_person("ada").await;
    let token = token_of(&ada.id, &ada.workspace, Role::Admin);
    let routes = Template::load().routes_with_head();

    for get in routes.iter().filter(|route| route.method == "GET") {
        let head = Route { method: "HEAD".to_owned(), ..get.clone() };
        assert!(routes.contains(&head), "{} has no HEAD", key(get));

        let (whole, bodiless) =
            (send(&db, get, request(get).token(&token)).await, send(&db, &head, request(&head).token(&token)).await);

        assert_eq!((bodiless.status, bodiless.body.as_str()), (whole.status, ""), "{}", key(&head));
        assert_eq!(lasting_headers(&bodiless), lasting_headers(&whole), "{}", key(&head));
    }
}

#[tokio::test]
async fn an_unknown_route_answers_a_404_problem_from_the_web_function() {
    let db = TestDynamoDb::start();

    for (method, path) in [
        ("GET", "/api/nothing/here"),
        ("HEAD", "/a/b/c/d"),
        ("PUT", "/launch"),
        ("PUT", "/api/shorten"),
        ("DELETE", "/r/launch"),
        ("OPTIONS", "/a/b"),
        ("PROPFIND", "/launch"),
        ("POST", "/"),
    ] {
        let key = Template::load().route_key(method, path);
        let answer = fixture::send(&db, &Template::load().function_at(&key), RequestBuilder::new(method, path)).await;

        assert_eq!(Template::load().function_at(&key), "web", "{method} {path}");
        assert_eq!(
            answer.problem(),
            (404, if method == "HEAD" { "" } else { "there is nothing at this address" }.into()),
            "{method} {path}"
        );
    }
}

#[test]
fn the_document_describes_the_templates_routes_and_no_other() {
    let deployed: BTreeSet<_> =
        Template::load().routes().iter().map(|route| (route.method.clone(), route.plain_path().to_owned())).collect();

    assert_eq!(Contract::load().routes(), deployed);
}

#[test]
fn the_document_lists_every_problem() {
    let schema = &Contract::load().document()["components"]["schemas"]["ProblemCode"];
    let documented: BTreeSet<_> =
        schema["enum"].as_array().unwrap().iter().map(|code| code.as_str().unwrap()).collect();
    let table = schema["description"].as_str().unwrap();

    assert_eq!(documented, Problem::ALL.iter().map(|problem| problem.code()).collect());
    for problem in Problem::ALL {
        let row = format!("| `{}` | {} |", problem.code(), problem.status().as_u16());
        assert!(table.contains(&row), "{row}");
    }
}

/// `cargo lambda watch` has its routes in the workspace's manifest. With `WRITE_ROUTES` they are written there: `make routes`.
#[test]
fn the_watch_router_has_the_templates_routes() {
    const TABLE: &str = "[workspace.metadata.lambda.watch.router]\n";
    let mut paths: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for route in Template::load().routes_with_head() {
        let function = format!("{{ function = \"{}\", method = \"{}\" }}", route.function, route.method);
        paths.entry(route.plain_path().to_owned()).or_default().insert(function);
    }
    let line = |(path, functions): (_, BTreeSet<_>)| {
        format!("\"{path}\" = [{}]\n", functions.into_iter().collect::<Vec<_>>().join(", "))
    };
    let expected: String = paths.into_iter().map(line).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    let manifest = fs::read_to_string(&file).unwrap();
    let (before, table) = manifest.split_once(TABLE).unwrap();
    let (written, after) = table.split_once("\n\n").unwrap();

    if std::env::var_os("WRITE_ROUTES").is_some() {
        fs::write(&file, format!("{before}{TABLE}{expected}\n{after}")).unwrap();
        return;
    }

    assert!(format!("{written}\n") == expected, "run `make routes`");
}
