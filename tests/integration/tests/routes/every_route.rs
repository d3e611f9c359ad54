//! Walks the routes of `template.yaml`, so that a new one can't be forgotten.

use std::sync::LazyLock;

use linklet_lambda::http::Problem;

use crate::prelude::*;

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
    static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| Contract::load().routes());
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

#[tokio::test]
async fn every_protected_route_refuses_every_bad_token_and_key() {
    let db = TestDynamoDb::start();
    let (user, workspace) = (UserId::generate(), WorkspaceId::generate());
    // Signed by somebody else; what else may be wrong with a token is tested with the function that issues them.
    let mut forged = token_of(&user, &workspace, Role::Admin);
    forged.replace_range(forged.rfind('.').unwrap().., ".c29tZWJvZHkgZWxzZSBoYXMgc2lnbmVkIHRoaXM");
    let mut protected = 0;

    for route in protected_routes() {
        protected += 1;
        let missing = send(&db, route, request(route)).await;
        assert_eq!(missing.problem(), (401, "unauthorized".into()), "{} without a token", key(route));
        for bad in
            [request(route).token(&forged), request(route).api_key("sk_live_"), request(route).api_key(UNKNOWN_KEY)]
        {
            let answer = send(&db, route, bad.clone()).await;
            assert_eq!(answer.problem(), (401, "unauthorized".into()), "{}: {bad:?}", key(route));
        }
    }

    assert!(protected >= 5, "the template has only {protected} protected routes");
}

#[tokio::test]
async fn without_a_workspace_only_account_and_invitation_routes_are_allowed() {
    let (db, ada) = with_person("ada").await;

    for route in protected_routes() {
        let answer = send(&db, route, request(route).token(&token_without_workspace(&ada))).await;

        let is_refused = answer.json()["code"] == "no_workspace";
        assert_eq!(is_refused, !WITHOUT_WORKSPACE.contains(&key(route).as_str()), "{}: {}", key(route), answer.body);
        assert_eq!(is_refused, answer.status == 403, "{}: {}", key(route), answer.body);
    }
}

#[tokio::test]
async fn every_route_is_known_to_its_function() {
    let db = TestDynamoDb::start();
    let token = token_for(&WorkspaceId::generate(), Role::Admin);

    for route in Contract::load().routes() {
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
    let token = ada.token(Role::Admin);
    let routes = Contract::load().routes_with_head();

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
async fn whatever_has_no_route_is_a_404_problem() {
    let db = TestDynamoDb::start();

    for (method, path) in [
        ("GET", "/api/nothing/here"),
        ("GET", "/api/auth/nothing"),
        ("PUT", "/api/links/launch/history"),
        ("GET", "/api/tags/launch"),
        ("HEAD", "/a/b/c/d"),
        ("PUT", "/launch"),
        ("PUT", "/api/shorten"),
        ("DELETE", "/r/launch"),
        ("OPTIONS", "/a/b"),
        ("PROPFIND", "/launch"),
        ("POST", "/"),
    ] {
        let function = Template::load().function_for(method, path);
        let answer = fixture::send(&db, &function, RequestBuilder::new(method, path)).await;

        assert_eq!(answer.header("x-ratelimit-limit"), "", "{method} {path} is no redirect");
        let sentence = if method == "HEAD" { "" } else { "there is nothing at this address" };
        assert_eq!(answer.problem(), (404, sentence.into()), "{method} {path}");
    }
}

#[test]
fn every_route_of_the_template_serves_an_operation() {
    let routes = Contract::load().routes_with_head();
    let serving: BTreeSet<_> =
        routes.iter().map(|route| Template::load().route_key(&route.method, &route.path)).collect();

    for key in Template::load().route_keys() {
        assert!(serving.contains(key), "{key}");
    }
}

/// AWS says that the most specific route and method wins, and not which of the two comes first.
#[test]
fn it_makes_no_difference_whether_method_or_path_finds_the_route() {
    let template = Template::load();
    let greedy: BTreeSet<_> =
        template.route_keys().filter_map(|key| key.split_once(' ')?.1.strip_suffix("{proxy+}")).collect();
    // Nor does it say which of two greedy routes wins. In this order, one would follow those that it lies within.
    assert!(greedy.iter().zip(greedy.iter().skip(1)).all(|(one, next)| !next.starts_with(one)), "{greedy:?}");
    let mut paths: BTreeSet<_> =
        greedy.iter().flat_map(|prefix| ["", "a", "a/b"].map(|rest| format!("{prefix}{rest}"))).collect();
    paths.extend(Contract::load().routes().into_iter().map(|route| route.path));

    for path in &paths {
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            let method_first = template
                .route_keys_for(method, path)
                .min_by_key(|key| (key.starts_with("ANY "), key.contains("+}"), key.matches('{').count()));
            assert_eq!(method_first.unwrap_or("$default"), template.route_key(method, path), "{method} {path}");
        }
    }
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

/// `cargo lambda watch` has its routes in the workspace's manifest, and log lines find theirs in a list. With `WRITE_ROUTES` they are
/// written there: `make routes`.
#[test]
fn watch_and_log_lines_have_the_documents_routes() {
    const TABLE: &str = "[workspace.metadata.lambda.watch.router]\n";
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (manifest, paths_file) = (root.join("Cargo.toml"), root.join("shared/lambda/src/http/paths.txt"));
    let mut paths: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for route in Contract::load().routes_with_head() {
        let function = format!("{{ function = \"{}\", method = \"{}\" }}", route.function, route.method);
        paths.entry(route.path).or_default().insert(function);
    }
    // A brace comes after all letters, and so a parameter after what is spelled out.
    let listed: String = paths.keys().map(|path| format!("{path}\n")).collect();
    let line = |(path, functions): (_, BTreeSet<_>)| {
        format!("\"{path}\" = [{}]\n", functions.into_iter().collect::<Vec<_>>().join(", "))
    };
    let router: String = paths.into_iter().map(line).collect();
    let text = fs::read_to_string(&manifest).unwrap();
    let (before, table) = text.split_once(TABLE).unwrap();
    let (written, after) = table.split_once("\n\n").unwrap();

    if std::env::var_os("WRITE_ROUTES").is_some() {
        fs::write(&manifest, format!("{before}{TABLE}{router}\n{after}")).unwrap();
        fs::write(&paths_file, listed).unwrap();
        return;
    }

    assert!(format!("{written}\n") == router, "run `make routes`");
    assert!(fs::read_to_string(&paths_file).unwrap() == listed, "run `make routes`");
}
