//! Each change of who may do what has its entry in the audit log, in the same transaction.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use linklet_domain::{AuditFilter, AuditLog, KeyPrefix, UnsubscribeToken};
use linklet_lambda::passwords::Passwords;
use serde::Deserialize;

use crate::fixture::{self, leave, refresh_cookie};
use crate::prelude::*;

const PASSWORD: &str = "correct horse battery";

/// What the document says of the audit log at an operation.
#[derive(Debug, Clone, Deserialize)]
struct Audited {
    /// The actions of its entries.
    audit: Option<Vec<String>>,
    /// Whether the change is made also if the entry can't be written. Otherwise both are in one transaction.
    #[serde(default)]
    best_effort: bool,
    /// Where else the entry is made and tested.
    audited_elsewhere: Option<String>,
    /// Why there is no entry.
    unaudited: Option<String>,
}

/// Each operation that isn't a GET.
fn operations() -> Vec<(String, Audited)> {
    let contract = Contract::load();
    let is_read = |method: &str| ["GET", "HEAD"].contains(&method);
    let routes = contract.routes().into_iter().filter(|route| !is_read(&route.method));
    let audited = routes.map(|Route { method, path, .. }| {
        let operation = &contract.document()["paths"][&path][method.to_lowercase()];
        let audited = serde_json::from_value(operation["x-linklet"].clone());
        (format!("{method} {path}"), audited.unwrap_or_else(|error| panic!("{method} {path}, x-linklet: {error}")))
    });
    audited.collect()
}

/// Ada, who leads a workspace with Bob in it, and has confirmed her address.
struct Office {
    db: TestDynamoDb,
    ada: Person,
    bob: Person,
    session: String,
}

impl Office {
    async fn new() -> Self {
        let (db, ada) = with_person("ada").await;
        let hash = Passwords::default().hash(&PASSWORD.into()).unwrap();
        db.users().replace_password_hash(&ada.id, "none", &hash).await.unwrap();
        let bob = colleague(&db, &ada, "bob", Role::Member).await;
        let session = ada.token(Role::Admin);
        Self { db, ada, bob, session }
    }

    /// Does what has to be done before, and returns the request of an operation. It is sent with an address that must not be stored.
    async fn request(&self, operation: &str) -> RequestBuilder {
        let (method, path) = operation.split_once(' ').unwrap();
        let send = |path: &str| {
            RequestBuilder::new(method, path)
                .header("user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0")
        };
        let as_ada = |path: &str| send(path).token(&self.session);
        let (users, now) = (self.db.users(), Timestamp::now());
        let (ada, email) = (&self.ada.id, &self.ada.email);
        let logo = json!({"png": STANDARD.encode(fixture::png(16, 16))});
        match operation {
            "POST /api/auth/register" => send(path).json(&json!({"email": "new@example.com", "password": PASSWORD})),
            "POST /api/auth/login" => send(path).json(&json!({"email": email, "password": PASSWORD})),
            "POST /api/auth/refresh" => {
                // The second time that the cookie comes after its successor, somebody else has it.
                let cookie = refresh_cookie(&self.db, &self.ada).await;
                let renew = |cookie: &str, at| own_page(send(path)).json(&json!({})).cookie(cookie).at(at);
                let successor = renew(&cookie, now).send_to(&self.auth()).await;
                let successor = successor.header("set-cookie").split(';').next().unwrap().to_owned();
                let minutes = |number: u64| now.plus(Duration::from_secs(60 * number));
                renew(&successor, minutes(10)).send_to(&self.auth()).await;
                renew(&cookie, minutes(20))
            }
            "POST /api/auth/logout" => as_ada(path),
            "POST /api/auth/password" => {
                as_ada(path).json(&json!({"current": PASSWORD, "new": "another horse battery"}))
            }
            "POST /api/auth/password/reset" => {
                let token = self.db.mailed_token(TokenPurpose::Reset, ada, email.as_str(), now).await;
                send(path).json(&json!({"token": token.reveal(), "password": "another horse battery"}))
            }
            "POST /api/auth/verify" => {
                let token = self.db.mailed_token(TokenPurpose::Verification, ada, email.as_str(), now).await;
                as_ada(path).json(&json!({"token": token.reveal()}))
            }
            "POST /api/auth/address/keep" => {
                let other = EmailAddress::parse("ada@example.org").unwrap();
                let until = now.plus(Duration::from_secs(3_600));
                let change = PersonChange { full_name: None, address: AddressStep::Await(other.clone(), until) };
                users.change_person(ada, &change, &an_origin(ada)).await.unwrap();
                let token = self.db.mailed_token(TokenPurpose::Keep, ada, other.as_str(), now).await;
                send(path).json(&json!({"token": token.reveal()}))
            }
            "PATCH /api/me" => as_ada(path).json(&json!({"full_name": "Ada Lovelace"})),
            "DELETE /api/me" => {
                let bob = format!("/api/workspace/members/{}", self.bob.id);
                let removal = RequestBuilder::new(method, &bob).token(&self.session);
                assert_eq!(self.send("DELETE /api/workspace/members/{user_id}", removal).await.status, 204);
                as_ada(path).json(&json!({"password": PASSWORD}))
            }
            "DELETE /api/me/sessions/{id}" => {
                let body = json!({"email": email, "password": PASSWORD});
                assert_eq!(self.auth().post_openly("/api/auth/login", &body).await.status, 200);
                let lasting = users.sessions(ada, None, now).await.unwrap().sessions;
                as_ada(&path.replace("{id}", &lasting[0].id.to_string()))
            }
            "PATCH /api/me/notifications" => as_ada(path).json(&json!({"mail": "all"})),
            "POST /api/unsubscribe" => {
                send(&format!("{path}?token={}", UnsubscribeToken::of(ada, now, &salt()).reveal()))
            }
            "POST /api/workspaces" => as_ada(path).json(&json!({"name": "Second"})),
            "PATCH /api/workspace" => as_ada(path).json(&json!({"name": "Looms", "settings": {"secret": "plans"}})),
            "PUT /api/workspace/logo" => as_ada(path).json(&logo),
            "DELETE /api/workspace/logo" => {
                let given = RequestBuilder::new("PUT", path).token(&self.session).json(&logo);
                assert_eq!(self.send("PUT /api/workspace/logo", given).await.status, 200);
                as_ada(path)
            }
            "DELETE /api/workspace" => as_ada(path).json(&self.closing().await),
            "POST /api/workspaces/{id}/restore" => {
                let close = RequestBuilder::new("DELETE", "/api/workspace").token(&self.session);
                close.json(&self.closing().await).send_to(&leave(&self.db)).await.expecting(202);
                // Nothing is granted to a token of the workspace any more.
                send(&path.replace("{id}", &self.ada.workspace.to_string())).token(&token_without_workspace(&self.ada))
            }
            "PATCH /api/workspace/members/{user_id}" => {
                as_ada(&path.replace("{user_id}", &self.bob.id.to_string())).json(&json!({"role": "viewer"}))
            }
            "DELETE /api/workspace/members/{user_id}" => as_ada(&path.replace("{user_id}", &self.bob.id.to_string())),
            "POST /api/workspace/invitations" => as_ada(path).json(&json!({"email": "eve@example.com"})),
            "DELETE /api/workspace/invitations/{invitation_id}" => {
                let (_, id) = self.invitation("eve@example.com").await;
                as_ada(&path.replace("{invitation_id}", &id))
            }
            "POST /api/invitations/accept" => {
                let eve = self.db.register("eve").await;
                let (token, _) = self.invitation("eve@example.com").await;
                let session = eve.token(Role::Admin);
                send(path).token(&session).json(&json!({"token": token}))
            }
            "POST /api/keys" => as_ada(path).json(&json!({"name": "CI"})),
            "PATCH /api/keys/{prefix}" => {
                let prefix = self.key().await;
                as_ada(&path.replace("{prefix}", prefix.as_str())).json(&json!({"name": "CD", "is_active": false}))
            }
            "POST /api/keys/{prefix}/rotate" => as_ada(&path.replace("{prefix}", self.key().await.as_str())),
            "DELETE /api/keys/{prefix}" => as_ada(&path.replace("{prefix}", self.key().await.as_str())),
            "POST /api/workspace/reports" => as_ada(path).json(&json!({"every": "week"})),
            "DELETE /api/workspace/reports/{report_id}" => {
                let body = json!({"every": "week"});
                let wanted = fixture::account(&self.db).post("/api/workspace/reports", &self.session, &body).await;
                as_ada(&path.replace("{report_id}", &wanted.text("id")))
            }
            "POST /api/links/{code}/share" | "POST /api/tags/{tag}/share" => {
                as_ada(&self.shared(path).await).json(&json!({}))
            }
            "DELETE /api/links/{code}/share/{id}" | "DELETE /api/tags/{tag}/share/{id}" => {
                let shares = self.shared(path.trim_end_matches("/{id}")).await;
                let created = fixture::account(&self.db).post(&shares, &self.session, &json!({})).await;
                as_ada(&format!("{shares}/{}", created.text("id")))
            }
            unknown => panic!("this test doesn't know how to call {unknown}"),
        }
    }

    /// Where a link and its tag are shared.
    async fn shared(&self, path: &str) -> String {
        let link = LinkBuilder::new("launch").in_workspace(&self.ada.workspace).owned_by(&self.ada.id).build();
        self.db.store(&link).await;
        path.replace("{code}", "launch").replace("{tag}", "spring")
    }

    /// The body with which the workspace is closed.
    async fn closing(&self) -> Value {
        let workspace = self.db.users().workspace(&self.ada.workspace).await.unwrap().unwrap();
        json!({"slug": workspace.slug, "password": PASSWORD})
    }

    async fn invitation(&self, email: &str) -> (String, String) {
        let (token, email) =
            (OneTimeToken::generate(TokenPurpose::Invitation).unwrap(), EmailAddress::parse(email).unwrap());
        let (workspace, ada, now) = (&self.ada.workspace, &self.ada.id, Timestamp::now());
        let invitation = Invitation::new(workspace, email, Role::Member, ada, token.hash(), now);
        self.db.users().invite(&invitation, &a_session(), None, &an_origin(ada)).await.unwrap();
        (token.reveal().to_owned(), invitation.id.to_string())
    }

    async fn key(&self) -> KeyPrefix {
        let key = ApiKeyBuilder::new(&ApiKeySecret::generate().unwrap(), &self.ada).build();
        self.db.store_key(&key).await;
        key.prefix
    }

    fn auth(&self) -> linklet_auth::Auth {
        linklet_auth::Auth::new(self.db.users(), tokens(), issuer(), limits(&self.db))
    }

    /// Sends a request to the function whose it is.
    async fn send(&self, operation: &str, request: RequestBuilder) -> Answer {
        let path = operation.split_once(' ').unwrap().1;
        if ["DELETE /api/me", "DELETE /api/workspace", "POST /api/workspaces/{id}/restore"].contains(&operation) {
            return request.send_to(&leave(&self.db)).await;
        }
        if path.starts_with("/api/auth/") || path == "/api/me" || path.starts_with("/api/me/sessions") {
            return request.send_to(&self.auth()).await;
        }
        let account = fixture::account(&self.db);
        request.send_to(&account).await
    }

    /// The actions that all audit logs have, each with the item of its entry.
    fn entries(&self) -> Vec<(String, Value)> {
        let entry = |item: Value| (item["action"]["S"].as_str().unwrap().to_owned(), item);
        self.db.scan("AuditTable").into_iter().map(entry).collect()
    }

    /// All that is stored but that somebody has begun to close their account, which is written before anything is changed.
    fn rows(&self) -> BTreeSet<String> {
        let mut rows = self.db.scan("UsersTable");
        for row in &mut rows {
            row.as_object_mut().unwrap().remove("closing_at");
        }
        rows.iter().map(Value::to_string).collect()
    }
}

/// With what a browser says about requests of a page to its own host.
fn own_page(request: RequestBuilder) -> RequestBuilder {
    request.header("sec-fetch-site", "same-origin").header("origin", "https://api.example.com")
}

#[test]
fn every_operation_says_what_the_audit_log_has_of_it() {
    for (operation, Audited { audit, audited_elsewhere, unaudited, .. }) in operations() {
        let said = [audit.map(|actions| actions.concat()), audited_elsewhere, unaudited];
        let said: Vec<_> = said.into_iter().flatten().collect();
        assert!(said.len() == 1 && said[0].len() > 10, "{operation}: {said:?}");
    }
}

#[tokio::test]
async fn every_change_of_access_is_in_the_audit_log_with_its_origin() {
    for (operation, Audited { audit, .. }) in &operations() {
        let Some(expected) = audit else { continue };
        let office = Office::new().await;
        let request = office.request(operation).await.header("x-correlation-id", "req-trail");
        let before: BTreeSet<_> = office.entries().into_iter().map(|(_, item)| item["sk"].to_string()).collect();

        let answer = office.send(operation, request).await;

        let is_refused = operation == "POST /api/auth/refresh";
        assert!(is_refused || answer.status < 300, "{operation}: {} {}", answer.status, answer.body);
        let new = office.entries().into_iter().filter(|(_, item)| !before.contains(&item["sk"].to_string()));
        let mut new: Vec<_> = new.collect();
        new.sort_by_key(|(action, _)| expected.iter().position(|known| known == action));
        assert_eq!(new.iter().map(|(action, _)| action.clone()).collect::<Vec<_>>(), *expected, "{operation}");
        for (_, item) in &new {
            assert_eq!(item["correlation_id"]["S"], "req-trail", "{operation}");
            assert_eq!(item["address_hash"]["S"].as_str().map(str::len), Some(64), "{operation}");
            assert!(item["actor"]["S"].is_string() && item["subject"]["S"].is_string(), "{operation}");
            let text = item.to_string();
            for secret in [PASSWORD, "another horse", "@", "Lovelace", "203.0.113", "plans", "rst_", "inv_", "vrf_"] {
                assert!(!text.contains(secret), "{operation} has {secret}: {text}");
            }
        }
    }
}

#[tokio::test]
async fn without_the_audit_log_nobody_changes_who_may_do_what() {
    for (operation, audited) in &operations() {
        if audited.audit.is_none() || audited.best_effort {
            continue;
        }
        let office = Office::new().await;
        let request = office.request(operation).await;
        let rows = office.rows();
        office.db.take_away("AuditTable");

        let answer = office.send(operation, request.clone()).await;

        assert_eq!(answer.status, 503, "{operation}: {}", answer.body);
        assert_eq!(office.rows(), rows, "{operation} has changed something");
        office.db.make("AuditTable");
        let repeated = office.send(operation, request).await;
        let is_refused = operation == "POST /api/auth/refresh";
        assert!(is_refused || repeated.status < 300, "{operation} is lost: {} {}", repeated.status, repeated.body);
    }
}

#[tokio::test]
async fn without_the_audit_log_people_sign_in_all_the_same() {
    let office = Office::new().await;
    let request = office.request("POST /api/auth/login").await;
    office.db.take_away("AuditTable");

    assert_eq!(office.send("POST /api/auth/login", request).await.status, 200);
    let begun = office.db.users().sessions(&office.ada.id, None, Timestamp::now()).await.unwrap();
    assert_eq!(begun.sessions.len(), 1);
}

#[tokio::test]
async fn the_fifth_wrong_password_is_in_the_audit_log_everywhere() {
    let wrong = "wrong horse battery";
    for (operation, body, entries) in [
        ("DELETE /api/me", json!({"password": wrong}), [0, 0, 0, 0, 1]),
        ("DELETE /api/workspace", json!({"slug": "ada", "password": wrong}), [0, 0, 0, 0, 1]),
        ("PATCH /api/me", json!({"email": "ada@example.org", "password": wrong}), [0, 0, 0, 0, 1]),
        ("POST /api/auth/password", json!({"current": wrong, "new": "another horse battery"}), [0, 0, 0, 0, 1]),
        ("POST /api/auth/login", json!({"email": "ada@example.com", "password": wrong}), [0, 0, 0, 0, 1]),
        ("POST /api/auth/login", json!({"email": "nobody@example.com", "password": wrong}), [0; 5]),
    ] {
        let (office, now, mut counts) = (Office::new().await, Timestamp::now(), Vec::new());
        let (method, path) = operation.split_once(' ').unwrap();
        for seconds in 0..5 {
            let guess = RequestBuilder::new(method, path).token(&office.session).json(&body);
            let guess = guess.source_ip("198.51.100.7").at(now.plus(Duration::from_secs(seconds)));
            let refused = office.send(operation, guess).await;
            assert_eq!(refused.problem_code(), (401, "invalid_credentials".into()), "{operation}");
            counts.push(office.entries().iter().filter(|(action, _)| action == "session.guessed").count());
        }

        assert_eq!(counts, entries, "{operation} {body}");
    }
}

/// What an admin reads of the workspace.
async fn read(office: &Office, token: &str, path: &str) -> Answer {
    let account = fixture::account(&office.db);
    account.get(path, token).await
}

#[tokio::test]
async fn an_admin_reads_who_has_done_what_by_name_and_filter() {
    let office = Office::new().await;
    for operation in
        ["PATCH /api/me", "PATCH /api/workspace/members/{user_id}", "POST /api/keys", "PATCH /api/workspace"]
    {
        let request = office.request(operation).await;
        assert!(office.send(operation, request).await.status < 300, "{operation}");
    }
    let actions = async |path: &str| {
        let answer = read(&office, &office.session, path).await.expecting(200);
        let entries = answer.json()["entries"].as_array().unwrap().clone();
        entries.iter().map(|entry| entry["action"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };

    let all = read(&office, &office.session, "/api/workspace/audit").await.json();
    let entry = |action: &str| {
        all["entries"].as_array().unwrap().iter().find(|entry| entry["action"] == action).cloned().unwrap()
    };
    let changed = entry("member.role_changed");
    assert_eq!(
        changed["actor"],
        json!({"kind": "person", "user_id": office.ada.id, "name": "Ada Lovelace", "key_prefix": null})
    );
    assert_eq!(changed["subject"], json!({"kind": "member", "id": office.bob.id, "name": null}));
    assert_eq!((&changed["from"], &changed["to"]), (&json!("member"), &json!("viewer")));
    let renamed = entry("workspace.changed");
    assert_eq!((&renamed["from"], &renamed["to"]), (&json!("name: ada, settings"), &json!("name: Looms, settings")));
    assert_eq!(entry("key.created")["to"], "links:read links:write");
    assert_eq!(all["next_cursor"], Value::Null);

    assert_eq!(actions("/api/workspace/audit?action=member").await, ["member.role_changed", "member.joined"]);
    assert_eq!(actions("/api/workspace/audit?action=key.created").await, ["key.created"]);
    assert_eq!(actions(&format!("/api/workspace/audit?actor={}", office.bob.id)).await, ["member.joined"]);
    assert_eq!(actions("/api/workspace/audit?to=2026-01-01").await, [""; 0]);
    let first = read(&office, &office.session, "/api/workspace/audit?limit=2").await.json();
    assert_eq!(first["entries"].as_array().unwrap().len(), 2);
    let rest = format!("/api/workspace/audit?after={}", first["next_cursor"].as_str().unwrap());
    assert_eq!(actions(&rest).await.len(), all["entries"].as_array().unwrap().len() - 2);
    for refused in ["action=members", "actor=ada", "from=yesterday", "after=x", "format=xml", "limit=0", "actors=x"] {
        let answer = read(&office, &office.session, &format!("/api/workspace/audit?{refused}")).await;
        assert_eq!((answer.status, &answer.json()["field"]), (400, &json!(refused.split('=').next())), "{refused}");
    }
}

#[tokio::test]
async fn the_audit_log_is_a_table_for_a_spreadsheet_too() {
    let office = Office::new().await;
    let request = office.request("PATCH /api/workspace/members/{user_id}").await;
    office.send("PATCH /api/workspace/members/{user_id}", request).await;

    let table = read(&office, &office.session, "/api/workspace/audit?action=member.role_changed&format=csv").await;

    assert_eq!((table.status, table.header("content-type")), (200, "text/csv; charset=utf-8"));
    let lines: Vec<_> = table.body.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with("at,action,actor_kind,actor_id,actor_name,subject_kind,subject_id"), "{}", lines[0]);
    let (ada, bob) = (office.ada.id, office.bob.id);
    let row = format!(",member.role_changed,person,{ada},,member,{bob},,member,viewer,,,");
    assert!(lines[1].contains(&row), "{}", lines[1]);
    assert_eq!(table.header("link"), "");
    let first = read(&office, &office.session, "/api/workspace/audit?format=csv&limit=1").await;
    assert_eq!((first.body.lines().count(), first.header("link").contains("limit=1&after=")), (2, true));
}

#[tokio::test]
async fn people_read_their_own_audit_log_only() {
    let office = Office::new().await;
    let login = office.request("POST /api/auth/login").await;
    office.send("POST /api/auth/login", login).await;

    let own = read(&office, &office.session, "/api/me/audit?action=session").await.json();
    let bobs = office.bob.token(Role::Member);
    let others = read(&office, &bobs, "/api/me/audit?action=session").await.json();

    let entry = &own["entries"][0];
    assert_eq!((&entry["action"], &entry["device"]), (&json!("session.began"), &json!("Firefox on Linux")));
    assert_eq!((&entry["subject"]["kind"], entry.get("country")), (&json!("session"), Some(&Value::Null)));
    assert_eq!(others["entries"], json!([]));
    assert_eq!(read(&office, &bobs, "/api/me/audit?actor=linklet").await.status, 400);
}

#[tokio::test]
async fn names_that_cant_be_read_are_left_out_of_audit_logs() {
    let office = Office::new().await;
    let audit_log = AuditLog::Workspace(office.ada.workspace);
    assert!(!office.db.audit_log().list(&audit_log, &AuditFilter::default(), 1, None).await.unwrap().items.is_empty());
    let faults = Faults::default();
    faults.plan(Some((0, Fault::NotSent)));
    let users = UsersTable::new(office.db.table_with(faults, "UsersTable"), office.db.audit_log(), office.db.jobs());
    let account = linklet_account::Account::new(
        tokens(),
        users,
        office.db.notifications(),
        guesses(&office.db),
        crate::fixture::sharing(&office.db),
    );

    let answer = account.get("/api/workspace/audit", &office.session).await.expecting(200);

    assert_eq!(answer.json()["entries"][0]["actor"]["name"], Value::Null);
}
