//! Walks the routes of `template.yaml`, so that a new one can't be forgotten.

use std::sync::LazyLock;

use linklet_lambda::http::Problem;

use crate::prelude::*;

/// What opens to somebody who is in no workspace.
const WITHOUT_WORKSPACE: [&str; 21] = [
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
    "DELETE /api/auth/password",
    "POST /api/auth/proof",
    "GET /api/me/identities",
    "POST /api/me/identities",
    "DELETE /api/me/identities/{id}",
    "POST /api/invitations/accept",
    // Who may create workspaces decides.
    "POST /api/workspaces",
];

const UNKNOWN_KEY: &str = "lk_live_00000000000000000000000000000000";

fn key(route: &Route) -> String {
    format!("{} {}", route.method, route.path)
}

/// The routes that not anybody may call, by the document. What each answers to whom is in `permissions.rs`.
fn protected_routes() -> impl Iterator<Item = &'static Route> {
    static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| Contract::load().routes());
    ROUTES.iter().filter(|route| !Contract::load().is_public(route))
}

/// Whether an API key with the right scope may call a route, by the document.
fn takes_keys(route: &Route) -> bool {
    let security = &Contract::load().operation_at(&route.method, &route.path)["security"];
    security.as_array().is_some_and(|ways| ways.iter().any(|way| way.get("apiKey").is_some()))
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
        let forged = send(&db, route, request(route).token(&forged)).await;
        assert_eq!(forged.problem(), (401, "unauthorized".into()), "{} with a forged token", key(route));
        // What only people may do is refused without a look at the key.
        let refused = if takes_keys(route) { (401, "unauthorized".into()) } else { (403, "token_required".into()) };
        for bad in ["lk_live_", UNKNOWN_KEY] {
            let as_bearer = request(route).header("authorization", &format!("Bearer {bad}"));
            for sent in [request(route).api_key(bad), as_bearer] {
                assert_eq!(send(&db, route, sent).await.problem_code(), refused, "{} with {bad}", key(route));
            }
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
        let lacks_proof = answer.json()["code"] == "proof_required";
        assert_eq!(is_refused || lacks_proof, answer.status == 403, "{}: {}", key(route), answer.body);
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
        ("HEAD", "/a/b/c/d"),
        ("OPTIONS", "/a/b"),
        ("PROPFIND", "/r/launch/b"),
        ("GET", "/api/links/launch/"),
    ] {
        let function = Template::load().function_for(method, path);
        let answer = fixture::send(&db, &function, RequestBuilder::new(method, path)).await;

        assert_eq!(answer.header("x-ratelimit-limit"), "", "{method} {path} is no redirect");
        let sentence = if method == "HEAD" { "" } else { "there is nothing at this address" };
        assert_eq!(answer.problem(), (404, sentence.into()), "{method} {path}");
    }
}

/// A line of the list with which requests are compared: the document's operations, as another test says.
struct Listed {
    method: &'static str,
    path: &'static str,
    is_public: bool,
    /// The parameters, and whether each may be repeated; `None` if the query may have anything.
    parameters: Option<Vec<(&'static str, bool)>>,
}

impl Listed {
    fn all() -> Vec<Self> {
        let lines = include_str!("../../../../shared/lambda/src/http/operations.txt").lines();
        let parse = |line: &'static str| {
            let words: Vec<_> = line.split(' ').collect();
            let (&[method, path, access], names) = words.split_first_chunk().unwrap();
            let parameter = |name: &&'static str| (name.trim_end_matches('+'), name.ends_with('+'));
            // Whether it takes idempotency keys is another test's.
            let names = names.iter().filter(|name| **name != "idempotent");
            let parameters = (!line.ends_with(" ?")).then(|| names.map(parameter).collect());
            Self { method, path, is_public: access == "public", parameters }
        };
        lines.map(parse).collect()
    }

    /// What anybody may get wrong about the operation, whatever it does.
    fn slips(&self, foreign_cursor: &str) -> Vec<Slip> {
        const MADE_UP: &str = "unheard_of";
        let Some(parameters) = &self.parameters else {
            return vec![Slip { query: format!("{MADE_UP}=1&{MADE_UP}=2"), refused: None }];
        };
        let unknown = |name: &str, meant: &str| Slip {
            query: format!("{name}=1"),
            refused: Some(("unknown_parameter", name.to_owned(), format!("there is no parameter {name} here{meant}"))),
        };
        let mut slips = vec![unknown(MADE_UP, ""), Slip { query: format!("{MADE_UP}=&=1&&"), refused: None }];
        for (name, is_list) in parameters {
            slips.push(unknown(&format!("{name}z"), &format!("; did you mean {name}?")));
            let once = format!("{name} may be in the query only once");
            slips.push(Slip {
                query: format!("{name}=1&{name}=1"),
                refused: (!is_list).then(|| ("invalid_input", (*name).to_owned(), once)),
            });
            slips.push(Slip { query: format!("{name}=&{name}="), refused: None });
        }
        if parameters.contains(&("after", false)) {
            let other = "after must be the next_cursor of a page of this list, with the same filters and order";
            for cursor in [foreign_cursor, "x", "x.y"] {
                let refused = Some(("invalid_input", "after".to_owned(), other.to_owned()));
                slips.push(Slip { query: format!("after={cursor}"), refused });
            }
        }
        slips
    }
}

/// A query, and the code, field and sentence with which it is refused. If it isn't, it is at least not refused as unknown or repeated.
struct Slip {
    query: String,
    refused: Option<(&'static str, String, String)>,
}

#[tokio::test]
async fn every_operation_refuses_what_its_query_lacks_repeats_or_has_of_another() {
    let (db, ada) = with_person("ada").await;
    for code in ["launch", "second"] {
        db.store(&LinkBuilder::new(code).in_workspace(&ada.workspace).owned_by(&ada.id).tagged(&["launch"]).build())
            .await;
    }
    let token = ada.token(Role::Admin);
    let cursor_of = async |path: &str, member: &str| {
        let page = fixture::send(&db, "list", RequestBuilder::new("GET", path).token(&token)).await.expecting(200);
        page.json()[member].as_str().unwrap().to_owned()
    };
    let (of_urls, of_links) =
        (cursor_of("/api/urls?limit=1", "next_cursor").await, cursor_of("/api/links?per_page=1", "next_cursor").await);

    for listed in Listed::all() {
        let function = Template::load().function_for(listed.method, listed.path);
        let body = Contract::example(Contract::load().operation_at(listed.method, listed.path));
        for Slip { query, refused } in listed.slips(if listed.path == "/api/urls" { &of_links } else { &of_urls }) {
            // A change that isn't refused is another test's.
            if refused.is_none() && listed.method != "GET" {
                continue;
            }
            let what = format!("{} {}?{query}", listed.method, listed.path);
            let request = RequestBuilder::new(listed.method, &format!("{}?{query}", filled(listed.path)));
            let request = request.json_unless_null(body).outside_the_contract();
            let answer = fixture::send(&db, &function, request.clone().token(&token)).await;
            let Some((code, field, sentence)) = refused else {
                // What else may be wrong with it is another test's.
                let body = if answer.status == 400 { answer.body.as_str() } else { "" };
                assert!(!body.contains("unknown_parameter") && !body.contains("only once"), "{what}: {body}");
                continue;
            };
            assert_eq!(answer.problem(), (400, sentence), "{what}");
            assert_eq!((answer.problem_code().1, answer.problem_field().1), (code.to_owned(), field), "{what}");
            let nobodys = fixture::send(&db, &function, request).await.status;
            assert_eq!(nobodys, if listed.is_public { 400 } else { 401 }, "{what} without a token");
        }
    }
}

#[tokio::test]
async fn every_path_refuses_other_methods_than_it_has_before_anything_else() {
    let db = TestDynamoDb::without_streams();
    let operations = Listed::all();
    for path in operations.iter().map(|listed| listed.path).collect::<BTreeSet<_>>() {
        let has = |method: &str| {
            let method = if method == "HEAD" { "GET" } else { method };
            operations.iter().any(|listed| (listed.method, listed.path) == (method, path))
        };
        let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"];
        let allowed: BTreeSet<_> = methods.into_iter().filter(|method| has(method)).collect();
        for method in methods.into_iter().filter(|method| !has(method)) {
            let function = Template::load().function_for(method, &filled(path));
            let answer =
                fixture::send(&db, &function, RequestBuilder::new(method, &format!("{}?unheard_of=1", filled(path))))
                    .await;

            let allow = answer.header("allow");
            assert_eq!(answer.status, 405, "{method} {path}: {}", answer.body);
            assert_eq!(allow.split(", ").collect::<BTreeSet<_>>(), allowed, "{method} {path}");
            if method != "HEAD" {
                let sentence = format!("this address only supports {allow}");
                assert_eq!(answer.problem(), (405, sentence), "{method} {path}");
                assert_eq!(answer.problem_code().1, "method_not_allowed", "{method} {path}");
            }
        }
    }
}

#[tokio::test]
async fn pages_of_short_lists_have_each_item_once_in_the_same_order() {
    let (db, ada) = with_person("ada").await;
    for number in 0..5 {
        colleague(&db, &ada, &format!("colleague{number}"), Role::Member).await;
        db.invite(&ada, &format!("invited{number}@example.com"), Role::Viewer).await;
        db.store_key(&ApiKeyBuilder::new(&ApiKeySecret::generate().unwrap(), &ada).build()).await;
        fixture::renewable_session(&db, &ada).await;
        let founder = db.register(&format!("founder{number}")).await;
        db.add_member(&founder.workspace, &founder.id, &ada.as_member(Role::Viewer)).await;
        let link = LinkBuilder::new(&format!("link{number}")).in_workspace(&ada.workspace).owned_by(&ada.id);
        db.store(&link.tagged(&[&format!("tag{number}"), "all"]).build()).await;
    }
    let token = ada.token(Role::Admin);
    for (path, list, id) in [
        ("/api/workspace/members", "members", "user_id"),
        ("/api/workspace/invitations", "invitations", "id"),
        ("/api/keys", "keys", "prefix"),
        ("/api/tags", "tags", "tag"),
        ("/api/me/sessions", "sessions", "id"),
        ("/api/me/workspaces", "workspaces", "workspace_id"),
        ("/api/urls", "urls", "short_code"),
    ] {
        let function = Template::load().function_for("GET", path);
        let page = async |query: &str| {
            let request = RequestBuilder::new("GET", &format!("{path}?{query}")).token(&token);
            let page = fixture::send(&db, &function, request).await.expecting(200).json();
            let ids: Vec<_> = page[list].as_array().unwrap().iter().map(|item| item[id].to_string()).collect();
            assert_eq!(page["has_more"], !page["next_cursor"].is_null(), "{path}?{query}: {page}");
            (ids, page["next_cursor"].as_str().map(str::to_owned))
        };
        let (all, next) = page("limit=100").await;
        assert!(all.len() >= 5 && next.is_none(), "{path}: {all:?}");
        for limit in [1, 2, all.len() - 1, all.len()] {
            let (mut found, mut next) = page(&format!("limit={limit}")).await;
            assert_eq!((found.len(), next.is_some()), (limit, limit < all.len()), "{path} by {limit}");
            while let Some(cursor) = next {
                let further;
                (further, next) = page(&format!("limit={limit}&after={cursor}")).await;
                assert!((1..=limit).contains(&further.len()), "{path} by {limit}: {further:?}");
                found.extend(further);
            }
            assert_eq!(found, all, "{path} by {limit}");
        }
    }
}

/// An operation that answers a page after the other, with the names of its parameters and of what leads on.
type Paged = (&'static str, &'static [&'static str], &'static [&'static str]);

/// The lists that have others than all the others.
const PAGED_OTHERWISE: [Paged; 3] = [
    // It can be read page by page from any number, so that a page has a size.
    ("/api/links", &["after", "limit", "page", "per_page"], &["next_cursor", "has_more"]),
    // A page has what one read finds.
    ("/api/me/export", &["after"], &["next_cursor", "has_more"]),
    // As Linkwatch had it before it was part of Linklet.
    ("/v1/targets", &["limit", "page_token"], &["next_page_token"]),
];

#[test]
fn every_list_of_the_document_has_the_same_words_for_pages() {
    let contract = Contract::load();
    let lists = contract.routes().into_iter().filter(|route| {
        let id = contract.operation_at(&route.method, &route.path)["operationId"].as_str().unwrap().to_owned();
        // The days of a range are all of them.
        route.method == "GET"
            && (id.starts_with("list") || id.starts_with("export") || id == "showHistory")
            && id != "listDays"
    });
    let mut count = 0;
    for route in lists {
        count += 1;
        let (in_query, members) = PAGED_OTHERWISE
            .into_iter()
            .find(|(path, ..)| *path == route.path)
            .map_or((&["after", "limit"][..], &["next_cursor", "has_more"][..]), |(_, in_query, members)| {
                (in_query, members)
            });
        let known = contract.query_of(&route);
        let paging = ["after", "cursor", "limit", "offset", "page", "page_token", "per_page"];
        let found: Vec<_> = paging.into_iter().filter(|name| known.contains_key(name)).collect();
        assert_eq!(found, in_query, "{}", route.path);
        let body = contract.members_of_answer(&route, 200);
        let leading_on: BTreeSet<_> = body
            .iter()
            .filter(|(name, _)| name.starts_with("next") || (name.starts_with("has_") && *name != "has_password"))
            .collect();
        let expected: BTreeMap<_, _> = members.iter().map(|name| ((*name).to_owned(), true)).collect();
        assert_eq!(leading_on, expected.iter().collect(), "{}: each is required", route.path);
    }
    assert!(count >= 16, "only {count} lists were found");
}

/// Each member of the document's schemas, behind the member or schema that it stands in, such as `covers/clicks`.
fn members_in(value: &Value, within: &str, found: &mut BTreeSet<String>) {
    for value in value.as_array().into_iter().flatten() {
        members_in(value, within, found);
    }
    for (key, value) in value.as_object().into_iter().flatten() {
        let names = value.as_object().into_iter().flatten();
        match key.as_str() {
            "properties" | "schemas" => {
                for (name, schema) in names {
                    found.insert(format!("{within}/{name}"));
                    members_in(schema, name, found);
                }
            }
            "example" | "examples" => {}
            _ => members_in(value, within, found),
        }
    }
}

#[test]
fn the_document_has_one_word_for_each_thing() {
    let contract = Contract::load();
    let mut members = BTreeSet::new();
    members_in(contract.document(), "", &mut members);
    assert!(members.len() > 300, "only {} members were found", members.len());
    let named = |name: &str| {
        let of_name = members.iter().filter_map(|member| member.strip_suffix(&format!("/{name}")));
        of_name.collect::<BTreeSet<_>>()
    };

    for refused in
        ["people", "people_before", "clicks_before", "referrer", "referrers", "top_referrers", "cursor", "key_id"]
    {
        assert_eq!(named(refused), BTreeSet::new(), "{refused}");
    }
    // Those of an hour or a day, of what was looked at, and the clicks themselves. All others are `total_clicks`.
    assert_eq!(
        named("clicks"),
        BTreeSet::from([
            "ClickExport",
            "Clicks",
            "CoveredClicks",
            "CoveredLinks",
            "Overview",
            "OverviewDay",
            "PeriodPoint",
            "TimelinePoint"
        ])
    );
    for route in contract.routes() {
        for (name, _) in contract.query_of(&route) {
            let is_old = ["cursor", "referrer", "per_page", "page_token"].contains(&name);
            let is_kept = match name {
                "referrer" => route.path.starts_with("/api/stats/"),
                "per_page" => route.path == "/api/links",
                "page_token" => route.path == "/v1/targets",
                _ => false,
            };
            assert!(!is_old || is_kept, "{} {} has {name}", route.method, route.path);
        }
    }
    let filter = &contract.document()["components"]["parameters"]["OfReferrer"];
    assert_eq!((&filter["name"], &filter["deprecated"]), (&json!("referrer"), &json!(true)));
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

/// An operation as requests are compared with it: who may call it, whether it takes idempotency keys, and which parameters its query has.
fn line_of(route: &Route) -> String {
    const OF_ANY_QUERY: [&str; 5] = [
        "/api/auth/oidc/{provider}/callback",
        "/api/docs",
        "/api/docs/rapidoc.js",
        "/api/openapi.json",
        "/api/unsubscribe",
    ];
    let (Route { method, path, .. }, contract) = (route, Contract::load());
    let access = if contract.is_public(route) { "public" } else { "private" };
    let is_strict = ["/api/", "/v1/"].iter().any(|prefix| path.starts_with(prefix)) || path.ends_with("/qr");
    if !is_strict || OF_ANY_QUERY.contains(&path.as_str()) {
        return format!("{method} {path} {access} ?\n");
    }
    let names: String = contract
        .query_of(route)
        .into_iter()
        .map(|(name, is_list)| format!(" {name}{}", if is_list { "+" } else { "" }))
        .collect();
    let idempotent = if contract.takes_idempotency_keys(route) { " idempotent" } else { "" };
    let operation = contract.operation_at(method, path);
    let date = |name: &str| operation[name].as_str().unwrap();
    let ends = match operation["deprecated"].as_bool() {
        Some(true) => format!(" ends={}/{}", date("x-deprecated"), date("x-sunset")),
        _ => String::new(),
    };
    format!("{method} {path} {access}{idempotent}{ends}{names}\n")
}

/// `cargo lambda watch` has its routes in the workspace's manifest, and requests are compared with a list of operations. With `WRITE_ROUTES` they are
/// written there: `make routes`.
#[test]
fn watch_and_requests_have_the_documents_routes() {
    const TABLE: &str = "[workspace.metadata.lambda.watch.router]\n";
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (manifest, list) = (root.join("Cargo.toml"), root.join("shared/lambda/src/http/operations.txt"));
    let mut paths: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for route in Contract::load().routes_with_head() {
        let function = format!("{{ function = \"{}\", method = \"{}\" }}", route.function, route.method);
        paths.entry(route.path).or_default().insert(function);
    }
    let mut operations = Contract::load().routes();
    operations.retain(|route| route.method != "HEAD");
    // A brace comes after all letters, and so a parameter after what is spelled out.
    operations.sort_by(|one, next| one.path.cmp(&next.path));
    let listed: String = operations.iter().map(line_of).collect();
    let line = |(path, functions): (_, BTreeSet<_>)| {
        format!("\"{path}\" = [{}]\n", functions.into_iter().collect::<Vec<_>>().join(", "))
    };
    let router: String = paths.into_iter().map(line).collect();
    let text = fs::read_to_string(&manifest).unwrap();
    let (before, table) = text.split_once(TABLE).unwrap();
    let (written, after) = table.split_once("\n\n").unwrap();

    if std::env::var_os("WRITE_ROUTES").is_some() {
        fs::write(&manifest, format!("{before}{TABLE}{router}\n{after}")).unwrap();
        fs::write(&list, listed).unwrap();
        return;
    }

    assert!(format!("{written}\n") == router, "run `make routes`");
    assert!(fs::read_to_string(&list).unwrap() == listed, "run `make routes`");
}

#[tokio::test]
async fn a_link_is_named_by_its_external_id_wherever_a_caller_is_needed() {
    let (db, ada) = with_person("ada").await;
    let (token, bob) = (ada.token(Role::Admin), db.register("bob").await);
    let send = async |method: &str, path: &str, body: Value| {
        let function = Template::load().function_for(method, path);
        fixture::send(&db, &function, RequestBuilder::new(method, path).token(&token).json_unless_null(&body)).await
    };
    let new = json!({"url": "https://example.com/", "external_id": "crm-4711", "custom_code": "launch"});
    send("POST", "/api/links", new.clone()).await.expecting(201);

    let shown = send("GET", "/api/links/ext:crm-4711", Value::Null).await.expecting(200);
    assert_eq!(shown.json()["short_code"], "launch");
    send("PATCH", "/api/links/ext:crm-4711", json!({"title": "Sale"})).await.expecting(200);
    send("PUT", "/api/links/ext:crm-4711/rules", json!({"rules": [], "variants": []})).await.expecting(200);
    for path in [
        "links/ext:crm-4711/history",
        "links/ext:crm-4711/rules",
        "stats/ext:crm-4711/daily",
        "stats/ext:crm-4711/clicks",
    ] {
        send("GET", &format!("/api/{path}"), Value::Null).await.expecting(200);
    }
    let other = json!({"url": "https://example.com/b", "external_id": "crm-4711"});
    assert_eq!(
        send("POST", "/api/links", other).await.problem(),
        (409, "the link launch of the workspace has this external_id".to_owned())
    );
    for unknown in ["ext:crm-1", "ext:", "ext:a b", "ext:ä"] {
        assert_eq!(send("GET", &format!("/api/links/{unknown}"), Value::Null).await.status, 404, "{unknown}");
    }
    // Ids are a workspace's own.
    let elsewhere = RequestBuilder::new("GET", "/api/links/ext:crm-4711").token(&bob.token(Role::Admin));
    assert_eq!(fixture::send(&db, "list", elsewhere).await.status, 404);

    send("DELETE", "/api/links/ext:crm-4711", Value::Null).await.expecting(204);
    assert_eq!(send("GET", "/api/links/launch", Value::Null).await.status, 410);
    send("DELETE", "/api/links/ext:crm-4711", Value::Null).await.expecting(204);
}

#[test]
fn the_examples_of_answers_are_what_their_schemas_allow() {
    assert_eq!(Contract::load().wrong_examples(), [""; 0]);
}
