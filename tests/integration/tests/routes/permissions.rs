//! Who may do what: every route of `template.yaml`, called by everybody, on everybody's things.

use std::collections::{BTreeMap, BTreeSet};

use linklet_domain::{
    ApiKeySecret, Changer, EmailAddress, Invitation, Job, Member, OneTimeToken, Role, Timestamp, TokenPurpose, UserId,
    WorkspaceId,
};
use linklet_dynamodb::InviteOutcome;
use linklet_test_support::{
    ApiKeyBuilder, Contract, LinkBuilder, Person, RequestBuilder, Route, TargetBuilder, Template, TestDynamoDb,
    a_session, an_origin, token_of,
};
use serde_json::{Value, json};

use crate::fixture;

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

/// Whoever calls, it is the same.
const fn anybody(status: u16) -> Statuses {
    [status; CALLERS.len()]
}

/// A key opens nothing here, as if nobody had called.
const fn people(viewer: u16, member: u16, admin: u16) -> Statuses {
    [401, viewer, member, admin, 401, 401, 401, 401]
}

/// Neither who may do it elsewhere, nor who may do nothing at all, may do it here.
const NOT_OURS: Statuses = [401, 403, 403, 403, 403, 403, 403, 403];

/// What each route answers: one row for all, or a row for each of [`OWNERS`].
fn table() -> Vec<(&'static str, Value, Vec<Statuses>)> {
    let (followed, led_on) = (anybody(fixture::REDIRECT), anybody(303));
    let follow = || vec![followed, followed, followed, anybody(404)];
    let look_up = || vec![anybody(200), anybody(200), anybody(200), anybody(404)];
    let read = [401, 200, 200, 200, 200, 403, 403, 200];
    let look_at = || vec![read, read, NOT_OURS, [401, 404, 404, 404, 404, 403, 403, 404]];
    let analyze = [401, 200, 200, 200, 403, 403, 200, 200];
    let details = || vec![analyze, analyze, NOT_OURS, [401, 404, 404, 404, 403, 403, 404, 404]];
    let write = |done: u16, absent: u16| {
        let own = [401, 403, done, done, 403, done, 403, done];
        // A key is a member at most, whatever its creator is.
        let colleagues = [401, 403, 403, done, 403, 403, 403, 403];
        vec![own, colleagues, NOT_OURS, [401, 403, absent, absent, 403, absent, 403, absent]]
    };
    let write_some = |done: u16| [401, 403, done, done, 403, done, 403, done];
    let begin = write_some(202);
    let manage = |done: u16| {
        let (ours, not_ours) = (people(403, 403, done), people(403, 403, 404));
        vec![ours, ours, not_ours, not_ours]
    };
    let none = || Value::Null;
    let stranger = json!({"email": "NEW", "password": "wrong horse battery"});
    let new_key = json!({"name": "CI", "scopes": ["links:read"]});
    vec![
        ("GET /", none(), vec![anybody(302)]),
        ("GET /app", none(), vec![anybody(200)]),
        ("GET /app/{proxy+}", none(), vec![anybody(404); 4]),
        ("GET /api/openapi.json", none(), vec![anybody(200)]),
        ("GET /api/docs", none(), vec![anybody(200)]),
        ("GET /api/docs/rapidoc.js", none(), vec![anybody(200)]),
        ("GET /health", none(), vec![anybody(200)]),
        ("GET /{code}/qr", none(), vec![anybody(200), anybody(200), anybody(200), anybody(200)]),
        ("GET /api/auth/registration", none(), vec![anybody(200)]),
        ("POST /api/auth/register", json!({"email": "NEW", "password": "correct horse"}), vec![anybody(201)]),
        ("POST /api/auth/login", stranger, vec![anybody(401)]),
        ("POST /api/auth/refresh", json!({"workspace": "ada"}), vec![anybody(401)]),
        ("POST /api/auth/logout", none(), vec![people(204, 204, 204)]),
        ("POST /api/auth/switch", json!({"workspace": "nowhere"}), vec![people(404, 404, 404)]),
        ("POST /api/auth/password", json!({"current": "wrong horse", "new": "correct horse"}), vec![anybody(401)]),
        ("POST /api/auth/password/forgot", json!({"email": "nobody@example.com"}), vec![anybody(202)]),
        ("POST /api/auth/password/reset", json!({"token": "rst_", "password": "correct horse"}), vec![anybody(404)]),
        ("POST /api/auth/verify", json!({"token": "vrf_", "password": "correct horse"}), vec![anybody(404)]),
        ("POST /api/auth/verification", json!({"email": "nobody@example.com"}), vec![anybody(202)]),
        ("POST /api/auth/address/keep", json!({"token": "kep_"}), vec![anybody(404)]),
        ("GET /api/me", none(), vec![people(200, 200, 200)]),
        ("PATCH /api/me", json!({"full_name": "Somebody"}), vec![people(200, 200, 200)]),
        ("GET /api/me/sessions", none(), vec![people(200, 200, 200)]),
        ("DELETE /api/me/sessions/{id}", none(), {
            let others = people(404, 404, 404);
            vec![people(204, 204, 204), others, others, others]
        }),
        ("GET /api/me/export", none(), vec![people(200, 200, 200)]),
        ("DELETE /api/me", json!({"password": "wrong horse"}), vec![anybody(401)]),
        ("GET /api/me/audit", none(), vec![people(200, 200, 200)]),
        ("GET /api/workspace/audit", none(), vec![people(403, 403, 200)]),
        ("GET /api/me/workspaces", none(), vec![people(200, 200, 200)]),
        ("GET /api/me/notifications", none(), vec![people(200, 200, 200)]),
        ("PATCH /api/me/notifications", json!({"mail": "all"}), vec![people(200, 200, 200)]),
        ("GET /api/unsubscribe", none(), vec![anybody(303)]),
        ("POST /api/unsubscribe", none(), vec![anybody(404)]),
        ("POST /api/workspaces", json!({"name": "Second"}), vec![people(201, 201, 201)]),
        ("POST /api/shorten", json!({"url": "https://example.com/"}), vec![write_some(201)]),
        ("POST /api/links/bulk", json!({"links": [{"url": "https://example.com/"}]}), vec![write_some(200)]),
        ("PATCH /api/links/bulk", json!({"codes": ["absent"], "add_tags": ["new"]}), vec![write_some(200)]),
        // The codes are a parameter.
        ("DELETE /api/links/bulk", none(), vec![write_some(400)]),
        ("GET /api/codes/{code}", none(), vec![[401, 403, 200, 200, 403, 200, 403, 200]; 4]),
        ("GET /r/{code}", none(), follow()),
        ("HEAD /r/{code}", none(), follow()),
        ("GET /r/{path+}", none(), follow()),
        ("HEAD /r/{path+}", none(), follow()),
        ("GET /{code}", none(), follow()),
        ("HEAD /{code}", none(), follow()),
        ("POST /r/{code}", json!({"password": "none"}), vec![led_on, led_on, led_on, anybody(404)]),
        ("POST /{code}", json!({"password": "none"}), vec![led_on, led_on, led_on, anybody(404)]),
        ("GET /api/overview", none(), vec![read]),
        ("GET /api/overview/breakdowns", none(), vec![analyze]),
        ("GET /api/tags", none(), vec![read]),
        ("PATCH /api/tags/{tag}", json!({"name": "new"}), vec![begin; 4]),
        ("DELETE /api/tags/{tag}", none(), vec![begin; 4]),
        ("GET /api/jobs", none(), vec![read]),
        ("POST /api/jobs", json!({"kind": "archive", "filter": {"all": true}}), vec![begin]),
        ("GET /api/jobs/{id}", none(), {
            let [own, colleagues, _, absent] = <[Statuses; 4]>::try_from(look_at()).unwrap();
            vec![own, colleagues, absent, absent]
        }),
        ("DELETE /api/jobs/{id}", none(), {
            let [own, colleagues, _, absent] = <[Statuses; 4]>::try_from(write(200, 404)).unwrap();
            vec![own, colleagues, absent, absent]
        }),
        ("GET /api/urls", none(), vec![read]),
        ("GET /api/links", none(), vec![read]),
        ("GET /api/links/{code}", none(), look_at()),
        ("GET /api/links/{code}/rules", none(), look_at()),
        ("POST /api/links/{code}/rules/test", json!({}), look_at()),
        ("GET /api/links/{code}/history", none(), look_at()),
        ("PUT /api/links/{code}/rules", json!({}), write(200, 404)),
        ("PATCH /api/links/{code}", json!({"title": "New"}), write(200, 404)),
        ("DELETE /api/urls/{code}", none(), write(204, 404)),
        ("DELETE /api/links/{code}", none(), write(204, 204)),
        ("GET /api/stats/{code}", none(), look_up()),
        ("GET /api/stats/{code}/timeline", none(), look_up()),
        ("GET /api/stats/{code}/daily", none(), details()),
        ("GET /api/stats/{code}/clicks", none(), details()),
        ("GET /api/admin/cleanup/stats", none(), vec![people(403, 403, 200)]),
        ("GET /api/notifications", none(), vec![people(200, 200, 200)]),
        ("POST /api/notifications/seen", json!({"seen_at": "2026-03-02T14:05:09Z"}), vec![people(204, 204, 204)]),
        ("GET /api/workspace", none(), vec![people(200, 200, 200)]),
        ("PATCH /api/workspace", json!({"name": "New"}), vec![people(403, 403, 200)]),
        ("DELETE /api/workspace", json!({"slug": "another", "password": "wrong"}), vec![people(403, 403, 400)]),
        ("POST /api/workspaces/{id}/restore", none(), {
            // Nothing is closed here.
            let (own, others) = (people(404, 404, 409), people(404, 404, 404));
            vec![own, own, others, others]
        }),
        ("GET /api/workspace/members", none(), vec![people(200, 200, 200)]),
        ("PATCH /api/workspace/members/{user_id}", json!({"role": "viewer"}), manage(200)),
        ("DELETE /api/workspace/members/{user_id}", none(), {
            let mut rows = manage(204);
            rows[0] = people(204, 204, 204);
            rows
        }),
        ("POST /api/workspace/invitations", json!({"email": "STRANGER"}), vec![people(403, 403, 201)]),
        ("GET /api/workspace/invitations", none(), vec![people(403, 403, 200)]),
        ("DELETE /api/workspace/invitations/{invitation_id}", none(), manage(204)),
        ("POST /api/invitations/look", json!({"token": "inv_"}), vec![anybody(404)]),
        ("POST /api/invitations/accept", json!({"token": "inv_"}), vec![people(404, 404, 404)]),
        ("POST /v1/targets", json!({"url": "https://example.com/"}), vec![[401, 403, 201, 201, 403, 201, 403, 201]]),
        ("GET /v1/targets", none(), vec![read]),
        ("GET /v1/targets/{id}", none(), look_at()),
        ("GET /v1/targets/{id}/results", none(), look_at()),
        ("DELETE /v1/targets/{id}", none(), write(204, 404)),
        ("POST /api/keys", new_key, vec![people(403, 403, 201)]),
        ("GET /api/keys", none(), vec![people(403, 403, 200)]),
        ("PATCH /api/keys/{prefix}", json!({"is_active": true}), manage(200)),
        ("DELETE /api/keys/{prefix}", none(), manage(204)),
    ]
}

/// A workspace with its founder, the caller and a colleague, and a stranger with another workspace. Each request gets one of
/// its own, so that none changes what the next one finds.
struct Scene<'d> {
    db: &'d TestDynamoDb,
    founder: Person,
    caller: Person,
    colleague: Person,
    stranger: Person,
}

impl<'d> Scene<'d> {
    async fn new(db: &'d TestDynamoDb, number: usize, who: Who) -> Self {
        let name = |what: &str| format!("{what}-{number}");
        let founder = db.register(&name("founder")).await;
        let caller = match who {
            // Only an admin can create a key.
            Who::Key(_) => founder.clone(),
            Who::Token(role) => join(db, &founder, &name("caller"), role).await,
            Who::Nobody => db.register(&name("caller")).await,
        };
        // An admin too, so that they may have created a key.
        let colleague = join(db, &founder, &name("colleague"), Role::Admin).await;
        Self { db, founder, caller, colleague, stranger: db.register(&name("stranger")).await }
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
                    self.db.jobs().create(&job).await.unwrap();
                }
                job.id.to_string()
            }
            "{id}" if path.starts_with("/api/me/sessions/") => {
                let somebody = if whose == Whose::Absent { &self.founder } else { owner };
                fixture::renewable_session(self.db, somebody).await.session.to_string()
            }
            "{id}" if path.starts_with("/api/workspaces/") && whose == Whose::Absent => {
                WorkspaceId::generate().to_string()
            }
            "{id}" if path.starts_with("/api/workspaces/") => owner.workspace.to_string(),
            "{tag}" => "launch".to_owned(),
            "" => String::new(),
            "{code}" | "{path+}" if whose == Whose::Absent => "absent".to_owned(),
            "{code}" | "{path+}" => {
                let code = format!("code{number}");
                let link = LinkBuilder::new(&code).in_workspace(&owner.workspace).owned_by(&owner.id).build();
                self.db.store(&link).await;
                code
            }
            "{user_id}" if whose == Whose::Absent => UserId::generate().to_string(),
            "{user_id}" => owner.id.to_string(),
            "{invitation_id}" => {
                let workspace = if whose == Whose::Strangers { &owner.workspace } else { &self.founder.workspace };
                let inviter = if whose == Whose::Strangers { owner } else { &self.founder };
                let email = EmailAddress::parse(&format!("invited-{number}@example.com")).unwrap();
                let token = OneTimeToken::generate(TokenPurpose::Invitation).unwrap().hash();
                let invitation = Invitation::new(workspace, email, Role::Viewer, &inviter.id, token, Timestamp::now());
                if whose != Whose::Absent {
                    assert_eq!(
                        self.db
                            .users()
                            .invite(&invitation, &a_session(), &an_origin(&invitation.invited_by))
                            .await
                            .unwrap(),
                        InviteOutcome::Invited
                    );
                }
                invitation.id.to_string()
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
            "{proxy+}" => "nothing".to_owned(),
            unknown => panic!("this test doesn't know what to put in place of {unknown}"),
        }
    }

    /// A key of this person, or of the founder if they may not create one.
    async fn store_key(&self, secret: &ApiKeySecret, owner: &Person, scopes: &[&str]) {
        let members = self.db.users().members(&owner.workspace).await.unwrap();
        let is_admin = members.iter().any(|member| member.user == owner.id && member.role == Role::Admin);
        let creator = if is_admin { owner } else { &self.founder };
        self.db.store_key(&ApiKeyBuilder::new(secret, creator).with_scopes(scopes).build()).await;
    }

    async fn request(&self, who: Who, route: &Route, path: &str, body: &str) -> RequestBuilder {
        let mut request = RequestBuilder::new(&route.method, path);
        if !body.is_empty() {
            request = request.body(body);
        }
        match who {
            Who::Nobody => request,
            Who::Token(role) => request.token(&token_of(&self.caller.id, &self.caller.workspace, role)),
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

/// Somebody new in the founder's workspace.
async fn join(db: &TestDynamoDb, founder: &Person, name: &str, role: Role) -> Person {
    let person = db.register(name).await;
    let member = Member {
        user: person.id,
        email: person.email.clone(),
        full_name: None,
        role,
        joined_at: Timestamp::now(),
        paused_at: None,
    };
    db.add_member(&founder.workspace, &founder.id, &member).await;
    Person { workspace: founder.workspace, ..person }
}

fn parameter(path: &str) -> &str {
    path.split('/').find(|part| part.starts_with('{')).unwrap_or_default()
}

/// The template's routes by method and path.
fn routes() -> BTreeMap<String, Route> {
    let routes = Template::load().routes().into_iter();
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
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let body =
        body.replace("NEW", &format!("new-{number}@example.com")).replace("STRANGER", scene.stranger.email.as_str());
    let path = if parameter.is_empty() { route.path.clone() } else { route.path.replace(parameter, &thing) };
    // Each has an address of its own, since who tries many codes has to wait.
    let address = format!("198.51.{}.{}", number / 250, number % 250);
    scene.request(who, route, &path, &body).await.source_ip(&address)
}

#[tokio::test]
async fn every_route_answers_everybody_about_everybodys_things() {
    let routes = routes();
    let table = table();
    let listed: BTreeSet<_> = table.iter().map(|(route, ..)| (*route).to_owned()).collect();
    assert_eq!(listed, routes.keys().cloned().collect(), "this test has a row for each route of the template");

    let mut number = 0;
    for (name, body, rows) in &table {
        let (db, route) = (TestDynamoDb::without_streams(), &routes[*name]);
        let parameter = parameter(&route.path);
        assert_eq!(rows.len(), if parameter.is_empty() { 1 } else { OWNERS.len() }, "{name}");
        let is_for_anybody = rows.iter().all(|statuses| *statuses == anybody(statuses[0]));
        assert!(is_for_anybody || !Contract::load().is_public(route), "{name} isn't for anybody, as the document says");
        for (whose, statuses) in OWNERS.into_iter().zip(rows) {
            for (column, (who, status)) in CALLERS.into_iter().zip(statuses).enumerate() {
                number += 1;
                let what = format!("{name} by {who:?}, {whose:?}");
                let request = request_of(&db, number, (who, whose), route, body).await;
                let before = stored(&db);
                let answer = fixture::send(&db, &route.function, request).await;

                assert_eq!(answer.status, *status, "{what}: {}", answer.body);
                if answer.status >= 400 {
                    assert_eq!(stored(&db), before, "{what} changed something");
                    assert_eq!(answer.header("content-type"), "application/problem+json", "{what}");
                }
                if answer.status == 403 {
                    let reason = match who {
                        // Members may leave, and only the role decides whom else they remove.
                        _ if rows[0][column] != 403 && parameter != "{user_id}" => "forbidden",
                        Who::Key(_) => "the API key lacks the scope for this",
                        _ => "your role does not allow this",
                    };
                    assert_eq!(answer.problem().1, reason, "{what}");
                }
            }
        }
    }
}

/// What is answered without a table: pages, images, who may register, tokens that can't be any, and many links, each of which has a
/// result of its own.
const NEED_NO_TABLE: [&str; 21] = [
    "GET /",
    "GET /app",
    "GET /app/{proxy+}",
    "GET /api/openapi.json",
    "GET /api/docs",
    "GET /api/docs/rapidoc.js",
    "GET /health",
    "GET /{code}/qr",
    "GET /api/auth/registration",
    "POST /api/auth/refresh",
    "POST /api/auth/password/forgot",
    "POST /api/auth/password/reset",
    "POST /api/auth/verify",
    "POST /api/auth/address/keep",
    "GET /api/unsubscribe",
    "POST /api/unsubscribe",
    "POST /api/links/bulk",
    "PATCH /api/links/bulk",
    "DELETE /api/links/bulk",
    "POST /api/invitations/look",
    "POST /api/invitations/accept",
];

#[tokio::test]
async fn without_tables_every_route_that_needs_one_answers_503_without_internals() {
    let (routes, mut others) = (routes(), Vec::new());
    for (number, (name, body, _)) in table().into_iter().enumerate() {
        let (db, route) = (TestDynamoDb::without_streams(), &routes[name]);
        let request = request_of(&db, number, (Who::Token(Role::Admin), Whose::Own), route, &body).await;
        for table in Template::load().tables().keys() {
            db.take_away(table);
        }

        let answer = fixture::send(&db, &route.function, request).await;

        let sentence = if route.method == "HEAD" { "" } else { "service unavailable" };
        if answer.problem() == (503, sentence.to_owned()) {
            assert!(!answer.body.contains("Table"), "{name}: {}", answer.body);
        } else {
            others.push(name);
        }
    }
    assert_eq!(others, NEED_NO_TABLE);
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
