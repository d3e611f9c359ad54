//! Who may do what: every route of `template.yaml`, called by everybody, on everybody's things.

use linklet_domain::{
    Changer, InvitationId, Job, Logo, Precondition, ReportEvery, ReportId, ReportSubscription, ShareToken,
};

use crate::prelude::*;

/// Who calls. The columns of the table are in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    Nobody,
    Token(Role),
    Key(&'static [&'static str]),
}

const CALLERS: [Who; 8] = [
    Who::Nobody,
    Who::Token(Role::Viewer),
    Who::Token(Role::Member),
    Who::Token(Role::Admin),
    Who::Key(&["links:read"]),
    Who::Key(&["links:write"]),
    Who::Key(&["analytics:read"]),
    Who::Key(&["links:read", "links:write", "analytics:read"]),
];

/// Whose the thing is that the path names. The rows of a route with a parameter are in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// The caller's; of a key, its creator's.
    Own,
    /// Somebody else's in the workspace.
    Colleagues,
    /// Of another workspace.
    Strangers,
    /// There is no such thing.
    Absent,
}

const OWNERS: [Whose; 4] = [Whose::Own, Whose::Colleagues, Whose::Strangers, Whose::Absent];

type Statuses = [u16; CALLERS.len()];

/// It names a link by an external id.
const PUT_LINK: &str = "PUT /api/links/{code}";

/// What an operation answers when it is allowed, where the example of its body doesn't do what the operation is for: it names
/// nothing that there is, or somebody else's password.
const DONE: [(&str, u16); 27] = [
    ("GET /app/{version}/{file}", 404),
    ("POST /api/auth/login", 401),
    ("POST /api/auth/refresh", 401),
    ("POST /api/auth/join", 404),
    ("POST /api/auth/proof", 400),
    ("DELETE /api/auth/password", 401),
    ("POST /api/me/identities", 401),
    ("DELETE /api/me/identities/{id}", 401),
    ("POST /api/auth/switch", 404),
    ("POST /api/auth/password", 401),
    ("POST /api/auth/password/reset", 404),
    ("POST /api/auth/verify", 404),
    ("POST /api/auth/address/keep", 404),
    ("DELETE /api/me", 401),
    ("POST /api/unsubscribe", 404),
    ("DELETE /api/workspace", 400),
    ("POST /api/invitations/look", 404),
    ("POST /api/invitations/accept", 404),
    // The codes are a parameter.
    ("DELETE /api/links/bulk", 400),
    // There is a job to be shown.
    ("DELETE /api/jobs/{id}", 200),
    // There is a link to be changed.
    (PUT_LINK, 200),
    ("GET /r/{code}", fixture::REDIRECT),
    ("HEAD /r/{code}", fixture::REDIRECT),
    ("GET /r/{code}/", fixture::REDIRECT),
    ("HEAD /r/{code}/", fixture::REDIRECT),
    ("GET /{code}", fixture::REDIRECT),
    ("HEAD /{code}", fixture::REDIRECT),
];

/// What a request about a route sends: the document's example, unless that needs more than there is.
fn body_of(name: &str, operation: &Value) -> Value {
    match name {
        "PATCH /api/me" => json!({"full_name": "Somebody"}),
        "PUT /api/links/{code}/rules" => json!({}),
        PUT_LINK => json!({"url": "https://example.com/landing"}),
        _ => Contract::example(operation).clone(),
    }
}

/// What each caller gets of an operation that answers this if it is allowed: as the document says who may call it.
fn answers(security: &[Value], done: u16) -> Statuses {
    let way = |scheme: &str| {
        let needed = security.iter().find_map(|way| way[scheme].as_array())?;
        assert_eq!(needed.len(), 1, "this test knows one role or scope of a way");
        needed[0].as_str()
    };
    let is_public = security.is_empty() || security.contains(&json!({}));
    let done_if = |is_allowed: bool| if is_allowed { done } else { 403 };
    CALLERS.map(|who| match (who, way("token"), way("apiKey")) {
        _ if is_public => done,
        (Who::Nobody, ..) | (Who::Token(_), None, _) => 401,
        // No key is looked at here.
        (Who::Key(_), _, None) => 403,
        (Who::Token(role), Some(least), _) => done_if(role >= least.parse().unwrap()),
        (Who::Key(scopes), _, Some(scope)) => done_if(scopes.contains(&scope)),
    })
}

/// What a route answers: one row for all, or a row for each of [`OWNERS`].
fn rows_of(name: &str, route: &Route, operation: &Value) -> Vec<Statuses> {
    let done = DONE
        .into_iter()
        .find(|(known, _)| *known == name)
        .map_or_else(|| Contract::success(operation), |known| known.1);
    let security = operation["security"].as_array().unwrap();
    let own = answers(security, done);
    // A repeated deletion has done what it is for. A code or tag that nothing has may be a slip.
    let is_repeatable = route.method == "DELETE" && !["/api/urls/{code}", "/api/tags/{tag}"].contains(&&*route.path);
    let absent = answers(security, if is_repeatable { 204 } else { 404 });
    let changes_it = route.method != "GET" && !route.path.ends_with("/test");
    // A key is a member at most, whatever its creator is.
    let by_admins = |(who, status)| if matches!(who, Who::Token(Role::Admin)) || status == 401 { status } else { 403 };
    let colleagues = if changes_it { rows_by(own, by_admins) } else { own };
    let strangers = match parameter(&route.path) {
        // Each list has its own workspace's.
        _ if route.path.ends_with("/share/{id}") => return vec![own, colleagues, own, own],
        // Any member may share, also a tag that no link has.
        "{tag}" if route.path.ends_with("/share") => return vec![own; 4],
        "{code}" if route.path.ends_with("/share") => return vec![own, own, answers(security, 403), absent],
        "" => return vec![own],
        "{version}" => return vec![own; 4],
        // There is none.
        "{provider}" => return vec![answers(security, 404); 4],
        // The links are changed as far as the caller may, one by one.
        "{tag}" => {
            let by_admins =
                |(who, status)| if matches!(who, Who::Token(Role::Admin)) || status != 202 { status } else { 404 };
            return vec![own, rows_by(own, by_admins), absent, absent];
        }
        "{code}" if name.starts_with("GET /api/codes/") || name.ends_with("/qr") => return vec![own; 4],
        "{id}" if name == "GET /api/logos/{id}" => return vec![own, own, own, absent],
        "{code}" if Contract::load().is_public(route) => return vec![own, own, own, absent],
        // Each list has its own workspace's.
        _ if ["/api/jobs", "/api/keys", "/api/workspace/"].iter().any(|things| route.path.starts_with(things)) => {
            absent
        }
        _ => answers(security, 403),
    };
    match name {
        // Members may leave.
        "DELETE /api/workspace/members/{user_id}" => {
            vec![own, colleagues, rows_by(absent, by_admins), rows_by(absent, by_admins)]
        }
        // Whoever rotates a key sees the new one, which acts for its creator.
        "POST /api/keys/{prefix}/rotate" => {
            let refused = |(_, status)| if status == 401 { status } else { 403 };
            vec![own, rows_by(own, refused), strangers, absent]
        }
        // The password is wrong, whoever has the identity.
        "DELETE /api/me/identities/{id}" => vec![own; 4],
        // Another workspace's id says nothing about this one.
        PUT_LINK => {
            let new = answers(security, 201);
            vec![own, colleagues, new, new]
        }
        // A session or a report is its person's alone.
        "DELETE /api/me/sessions/{id}" | "DELETE /api/workspace/reports/{report_id}" => {
            vec![own, absent, absent, absent]
        }
        // Nothing is closed here.
        "POST /api/workspaces/{id}/restore" => {
            let ours = rows_by(absent, |(who, status)| if who == Who::Token(Role::Admin) { 409 } else { status });
            vec![ours, ours, absent, absent]
        }
        _ => vec![own, colleagues, strangers, absent],
    }
}

fn rows_by(row: Statuses, change: impl Fn((Who, u16)) -> u16) -> Statuses {
    let mut answers = CALLERS.into_iter().zip(row).map(change);
    row.map(|_| answers.next().unwrap())
}

/// A workspace with its creator, the caller and a colleague, and a stranger with another workspace. Each request gets one of
/// its own, so that none changes what the next one finds.
struct Scene<'d> {
    db: &'d TestDynamoDb,
    creator: Person,
    caller: Person,
    colleague: Person,
    stranger: Person,
}

impl<'d> Scene<'d> {
    async fn new(db: &'d TestDynamoDb, number: usize, who: Who) -> Self {
        let name = |what: &str| format!("{what}-{number}");
        let creator = db.register(&name("creator")).await;
        let caller = match who {
            // Only a member can create a key.
            Who::Key(_) => creator.clone(),
            Who::Token(role) => fixture::colleague(db, &creator, &name("caller"), role).await,
            Who::Nobody => db.register(&name("caller")).await,
        };
        let colleague = fixture::colleague(db, &creator, &name("colleague"), Role::Admin).await;
        Self { db, creator, caller, colleague, stranger: db.register(&name("stranger")).await }
    }

    fn owner(&self, whose: Whose) -> &Person {
        match whose {
            Whose::Own | Whose::Absent => &self.caller,
            Whose::Colleagues => &self.colleague,
            Whose::Strangers => &self.stranger,
        }
    }

    /// What the path names in place of its parameter.
    async fn thing(&self, path: &str, whose: Whose, number: usize) -> String {
        let owner = self.owner(whose);
        match parameter(path) {
            "{id}" if path.starts_with("/api/jobs/") => {
                let job = job_of(owner);
                if whose != Whose::Absent {
                    self.db.jobs().create(&job, None).await.unwrap().unwrap();
                }
                job.id.to_string()
            }
            "{id}" if path.starts_with("/api/logos/") => {
                let logo = Logo::parse(fixture::png(16, 16)).unwrap();
                if whose != Whose::Absent {
                    let is_in_ours = owner.workspace == self.creator.workspace;
                    let admin = if is_in_ours { &self.creator } else { owner };
                    let (users, origin) = (self.db.users(), an_origin(&admin.id));
                    users
                        .change_logo(&owner.workspace, &admin.id, Some(&logo), &Precondition::None, &origin)
                        .await
                        .unwrap();
                }
                logo.id_in(&owner.workspace).to_string()
            }
            "{id}" if path.starts_with("/api/me/sessions/") => {
                let somebody = if whose == Whose::Absent { &self.creator } else { owner };
                fixture::renewable_session(self.db, somebody).await.session.to_string()
            }
            "{id}" if path.starts_with("/api/workspaces/") && whose == Whose::Absent => {
                WorkspaceId::generate().to_string()
            }
            "{id}" if path.starts_with("/api/workspaces/") => owner.workspace.to_string(),
            "{tag}" => {
                if whose != Whose::Absent {
                    let link = LinkBuilder::new(&format!("code{number}")).in_workspace(&owner.workspace);
                    self.db.store(&link.owned_by(&owner.id).tagged(&["launch"]).build()).await;
                }
                "launch".to_owned()
            }
            "" => String::new(),
            "{code}" if whose == Whose::Absent => "absent".to_owned(),
            "{code}" => {
                let code = format!("code{number}");
                let mut link = LinkBuilder::new(&code).in_workspace(&owner.workspace).owned_by(&owner.id).build();
                link.metadata.external_id = Some(ExternalId::parse(&code).unwrap());
                self.db.store(&link).await;
                code
            }
            "{user_id}" if whose == Whose::Absent => UserId::generate().to_string(),
            "{user_id}" => owner.id.to_string(),
            "{invitation_id}" => {
                let inviter = if whose == Whose::Strangers { owner } else { &self.creator };
                let email = format!("invited-{number}@example.com");
                if whose != Whose::Absent {
                    self.db.invite(inviter, &email, Role::Viewer).await;
                }
                InvitationId::derived_from(&inviter.workspace, &email.parse().unwrap()).to_string()
            }
            "{report_id}" => {
                let id = ReportId::new(ReportEvery::Week, owner.workspace, None);
                if whose != Whose::Absent {
                    let report = ReportSubscription::new(&id, owner.id, None, Timestamp::now());
                    self.db.users().want_report(report, &an_origin(&owner.id)).await.unwrap();
                }
                id.to_string()
            }
            "{prefix}" => {
                let secret = ApiKeySecret::generate().unwrap();
                if whose != Whose::Absent {
                    self.store_key(&secret, owner, &["links:read"]).await;
                }
                secret.prefix().to_string()
            }
            "{id}" => {
                let url = format!("https://example.com/{number}");
                let target = TargetBuilder::new(&url).in_workspace(&owner.workspace).owned_by(&owner.id).build();
                if whose != Whose::Absent {
                    self.db.store_target(&target).await;
                }
                target.id.to_string()
            }
            "{version}" | "{provider}" => "nothing".to_owned(),
            unknown => panic!("this test doesn't know what to put in place of {unknown}"),
        }
    }

    /// A share of what a path names, whatever the role of its creator is.
    fn share(&self, path: &str, whose: Whose, thing: &str) -> String {
        let (owner, id) = (self.owner(whose), ShareToken::generate(self.creator.workspace).unwrap().id);
        let (code, generation) = (json!({"S": thing}), json!({"S": "x7Kf2a"}));
        let shared = match path.starts_with("/api/links/") {
            true => json!({"link": {"M": {"short_code": code, "generation": generation}}}),
            false => json!({"tag": {"S": thing}}),
        };
        if whose != Whose::Absent {
            let (pk, at) = (format!("SHARES#{}", owner.workspace), Timestamp::now());
            self.db.put("StatsTable", &json!({
                "pk": {"S": pk}, "sk": {"S": id}, "id": {"S": id}, "workspace_id": {"S": owner.workspace},
                "shared": {"M": shared}, "token_hash": {"S": "0".repeat(64)}, "created_by": {"S": owner.id}, "created_at": {"S": at}
            }));
        }
        id.to_string()
    }

    /// A key of this person, or of the creator if they may not create one.
    async fn store_key(&self, secret: &ApiKeySecret, owner: &Person, scopes: &[&str]) {
        let members = self.db.users().members(&owner.workspace).await.unwrap();
        let may = members.iter().any(|member| member.user == owner.id && member.role >= Role::Member);
        let creator = if may { owner } else { &self.creator };
        self.db.store_key(&ApiKeyBuilder::new(secret, creator).with_scopes(scopes).build()).await;
    }

    async fn request(&self, who: Who, route: &Route, path: &str, body: &str) -> RequestBuilder {
        let mut request = RequestBuilder::new(&route.method, path);
        if !body.is_empty() {
            request = request.body(body);
        }
        match who {
            Who::Nobody => request,
            Who::Token(role) => request.token(&self.caller.token(role)),
            Who::Key(scopes) => {
                let secret = ApiKeySecret::generate().unwrap();
                self.store_key(&secret, &self.caller, scopes).await;
                request.api_key(secret.reveal())
            }
        }
    }
}

/// A job of this person.
fn job_of(person: &Person) -> Job {
    let work = json!({"kind": "archive", "filter": {"all": true}});
    let work = serde_json::from_value(work).unwrap();
    Job::new(
        person.workspace,
        work,
        (Changer::in_person(&person.id), Role::Member),
        (Timestamp::now(), fixture::correlation()),
        None,
    )
}

fn parameter(path: &str) -> &str {
    path.split(['/', '?']).find(|part| part.starts_with('{')).unwrap_or_default()
}

/// The template's routes by method and path.
fn routes() -> BTreeMap<String, Route> {
    let routes = Contract::load().routes().into_iter();
    routes.map(|route| (format!("{} {}", route.method, route.path), route)).collect()
}

/// A request of somebody about something, for which all is stored that it needs.
async fn request_of(
    db: &TestDynamoDb,
    number: usize,
    (who, whose): (Who, Whose),
    route: &Route,
    body: &Value,
) -> RequestBuilder {
    let (scene, parameter) = (Scene::new(db, number, who).await, parameter(&route.path));
    let thing = scene.thing(&route.path, whose, number).await;
    let is_put = route.method == "PUT" && route.path == "/api/links/{code}";
    let thing = if is_put { format!("ext:{thing}") } else { thing };
    // Each is about an account of its own, since too many tries for one are refused.
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let body = body.replace("ada@example.com", &format!("new-{number}@example.com"));
    let path = if parameter.is_empty() { route.path.clone() } else { route.path.replace(parameter, &thing) };
    let path = match path.contains("/share/{id}") {
        true => path.replace("{id}", &scene.share(&path, whose, &thing)),
        false => path,
    };
    // Each has an address of its own, since who tries many codes has to wait.
    let address = format!("198.51.{}.{}", number / 250, number % 250);
    scene.request(who, route, &path, &body).await.source_ip(&address)
}

/// Why somebody is refused, who may call an operation in general if the thing is to blame.
fn reason_of(operation: &Value, who: Who, whose: Option<Whose>) -> String {
    let ways = operation["security"].as_array().unwrap();
    let needed = |scheme: &str| ways.iter().find_map(|way| way[scheme][0].as_str());
    match (who, whose) {
        (Who::Key(_), _) if needed("apiKey").is_none() => {
            "this doesn't take API keys; sign in and send the token instead".to_owned()
        }
        (_, Some(Whose::Strangers)) => "this belongs to another workspace".to_owned(),
        (Who::Key(_), Some(_)) => {
            "this belongs to someone else, and an API key can only change what its creator has created".to_owned()
        }
        (_, Some(_)) if operation["operationId"] == "rotateApiKey" => {
            "this acts for someone else, so only they can do it".to_owned()
        }
        (_, Some(_)) => "this belongs to someone else; only they or an admin can do it".to_owned(),
        (Who::Key(_), None) => format!("the API key lacks the scope {}", needed("apiKey").unwrap()),
        // Only an admin removes others.
        _ if operation["operationId"] == "removeMember" => ROLE_TOO_LOW.to_owned(),
        _ => ROLE_TOO_LOW.replace("admin", needed("token").unwrap()),
    }
}

const ROLE_TOO_LOW: &str = "this needs the role admin, which you don't have in this workspace";

#[tokio::test]
async fn every_route_answers_everybody_about_everybodys_things() {
    let (mut number, routes) = (0, routes());
    for (name, done) in DONE {
        let Route { method, .. } = &routes[name];
        let success = Contract::success(Contract::load().operation_at(method, &routes[name].path));
        assert_ne!(done, success, "{name} needs no row in this list");
    }
    for (name, route) in &routes {
        let db = TestDynamoDb::without_streams();
        let operation = Contract::load().operation_at(&route.method, &route.path);
        let (parameter, rows, body) =
            (parameter(&route.path), rows_of(name, route, operation), body_of(name, operation));
        for (whose, statuses) in OWNERS.into_iter().zip(&rows) {
            for (column, (who, status)) in CALLERS.into_iter().zip(statuses).enumerate() {
                number += 1;
                let what = format!("{name} by {who:?}, {whose:?}");
                let request = request_of(&db, number, (who, whose), route, &body).await;
                let before = stored(&db);
                let answer = fixture::send(&db, &route.function, request).await;

                assert_eq!(answer.status, *status, "{what}: {}", answer.body);
                if answer.status >= 400 {
                    assert_eq!(stored(&db), before, "{what} changed something");
                    assert_eq!(answer.header("content-type"), "application/problem+json", "{what}");
                }
                if answer.status == 403 {
                    // Members may leave, and only the role decides whom else they remove.
                    let is_allowed = rows[0][column] != 403 && parameter != "{user_id}";
                    assert_eq!(answer.problem().1, reason_of(operation, who, is_allowed.then_some(whose)), "{what}");
                }
            }
        }
    }
}

/// What is answered without a table: pages, images, where others' short URLs lead, who may register, tokens that can't be any, and many
/// links, each of which has a result of its own.
const NEED_NO_TABLE: [&str; 27] = [
    "GET /",
    "GET /app",
    "GET /app/{version}/{file}",
    "GET /api/openapi.json",
    "GET /api/docs",
    "GET /api/docs/rapidoc.js",
    "GET /health",
    "GET /{code}/qr",
    "GET /api/auth/registration",
    "POST /api/auth/refresh",
    "POST /api/auth/join",
    // The example names an identity provider that there is not.
    "POST /api/auth/proof",
    "GET /api/auth/oidc/{provider}",
    "GET /api/auth/oidc/{provider}/callback",
    "GET /api/auth/oidc/{provider}/logout",
    "POST /api/auth/password/forgot",
    "GET /api/unsubscribe",
    "POST /api/unsubscribe",
    "POST /api/resolve",
    "POST /api/links/bulk",
    "PATCH /api/links/bulk",
    "DELETE /api/links/bulk",
    "POST /api/auth/password/reset",
    "POST /api/auth/verify",
    "POST /api/auth/address/keep",
    "POST /api/invitations/look",
    "POST /api/invitations/accept",
];

#[tokio::test]
async fn without_tables_every_route_that_needs_one_answers_503_without_internals() {
    let (routes, mut others) = (routes(), BTreeSet::new());
    for (number, (name, route)) in routes.iter().enumerate() {
        let db = TestDynamoDb::without_streams();
        let mut body = body_of(name, Contract::load().operation_at(&route.method, &route.path));
        if let Some(token) = body.get_mut("token") {
            *token = json!("short");
        }
        let request = request_of(&db, number, (Who::Token(Role::Admin), Whose::Own), route, &body).await;
        for table in Template::load().tables().keys() {
            db.take_away(table);
        }

        let answer = fixture::send(&db, &route.function, request).await;

        let sentence = if route.method == "HEAD" { "" } else { "service unavailable" };
        if answer.problem() == (503, sentence.to_owned()) {
            assert!(!answer.body.contains("Table"), "{name}: {}", answer.body);
        } else {
            others.insert(name.as_str());
        }
    }
    assert_eq!(others, BTreeSet::from(NEED_NO_TABLE));
}

/// A misspelt `dry_run` or `keep_keys` would do more than somebody has meant.
#[tokio::test]
async fn a_misspelt_parameter_is_refused_before_anything_is_written() {
    let takes_any = |route: &&Route| route.path.starts_with("/api/") && route.path != "/api/unsubscribe";
    for (number, route) in routes().values().filter(takes_any).filter(|route| route.method != "GET").enumerate() {
        let db = TestDynamoDb::without_streams();
        let body = body_of("", Contract::load().operation_at(&route.method, &route.path));
        // Also without a value, as flags are written elsewhere.
        let query = if number % 2 == 0 { "dryrun=true" } else { "dryrun" };
        let misspelt = Route { path: format!("{}?{query}", route.path), ..route.clone() };
        let request = request_of(&db, number, (Who::Token(Role::Admin), Whose::Own), &misspelt, &body).await;
        let before = stored(&db);

        let answer = fixture::send(&db, &route.function, request).await;

        let meant =
            if route.path == "/api/links/{code}" && route.method == "DELETE" { "; did you mean dry_run?" } else { "" };
        let sentence = format!("there is no parameter dryrun here{meant}");
        assert_eq!(answer.problem(), (400, sentence), "{} {}", route.method, route.path);
        assert_eq!(stored(&db), before, "{} {} changed something", route.method, route.path);
    }
}

/// All that a refused request must not change. When a key was used is noted whatever it opens.
fn stored(db: &TestDynamoDb) -> Vec<String> {
    let rows = ["LinksTable", "UsersTable", "WatchTable", "JobsTable"].into_iter().flat_map(|table| db.scan(table));
    let mut rows: Vec<_> = rows
        .map(|mut row| {
            row.as_object_mut().unwrap().remove("last_used_at");
            row.to_string()
        })
        .collect();
    rows.sort();
    rows
}
