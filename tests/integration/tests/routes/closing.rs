//! Closing a workspace or one's own account, and bringing a workspace back.

mod operators;

use std::cell::Cell;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::future::join;
use linklet_domain::{Changer, MailChoice, SignInPlace};
use linklet_dynamodb::SignIn;
use linklet_leave::Leave;

use crate::fixture::{self, jobs, leave};
use crate::prelude::*;
use crate::streams::{JobsStream, delete_due_marks};

const PASSWORD: &str = "correct horse battery";

/// What is kept of somebody whose account is closed, as `docs/security.md` says.
const KEPT: [&str; 4] = ["AuditTable USER/", "AuditTable WS/", "LinksTable LINK/", "UsersTable ACCESS/SESSIONS"];

/// Somebody who has registered with a password, and a token of theirs.
struct User {
    id: UserId,
    email: String,
    workspace: WorkspaceId,
    token: String,
}

impl User {
    /// As somebody of this workspace.
    fn at(&self, workspace: WorkspaceId) -> Person {
        Person { id: self.id, email: self.email.parse().unwrap(), workspace }
    }
}

struct Fixture {
    db: TestDynamoDb,
    queues: FakeQueues,
    auth: Auth,
    leave: Leave,
    jobs: JobsStream,
    /// How far the clock of jobs is ahead.
    ahead: Cell<Duration>,
}

impl Fixture {
    fn new() -> Self {
        let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
        let auth = Auth::new(db.users(), tokens().with_sessions(db.sessions()), issuer(), limits(&db));
        Self { auth, leave: leave(&db), jobs: JobsStream::of(&db), db, queues, ahead: Cell::default() }
    }

    async fn user(&self, name: &str) -> User {
        let email = format!("{name}@example.com");
        let body = json!({"email": email, "password": PASSWORD, "full_name": format!("{name} Lovelace")});
        let registered = self.auth.post_openly("/api/auth/register", &body).await.json();
        let id = |member: &str| registered[member].as_str().unwrap_or_else(|| panic!("{registered}")).to_owned();
        let (user, workspace) = (id("user_id").parse().unwrap(), id("workspace_id").parse().unwrap());
        User { id: user, token: self.login(&email, None).await, email, workspace }
    }

    async fn login(&self, email: &str, workspace: Option<&str>) -> String {
        let login = self.auth.log_in(email, PASSWORD).await;
        let token = login.json()["token"].as_str().unwrap_or_else(|| panic!("{}", login.body)).to_owned();
        let Some(workspace) = workspace else { return token };
        self.switch(&token, workspace).await.text("token")
    }

    async fn switch(&self, token: &str, workspace: &str) -> Answer {
        self.auth.post("/api/auth/switch", token, &json!({"workspace": workspace})).await
    }

    async fn me(&self, token: &str) -> Answer {
        self.auth.me(token).await
    }

    /// Has somebody create a workspace.
    async fn found(&self, token: &str) -> Answer {
        let request = RequestBuilder::new("POST", "/api/workspaces").token(token).json(&json!({"name": "Second"}));
        fixture::send(&self.db, "account", request).await
    }

    /// The mails that were ordered for somebody.
    fn told(&self, user: &User) -> Vec<Value> {
        let mut orders = self.queues.events("notify");
        orders.retain(|order| order["user_id"] == json!(user.id));
        orders
    }

    /// Has somebody join a workspace, and gives them a token for it.
    async fn join(&self, admin: &User, user: &User, role: Role) -> String {
        let token = self.db.invite(&admin.at(admin.workspace), &user.email, role).await;
        let users = self.db.users();
        let account = users.account(&user.id).await.unwrap().unwrap();
        users.accept_invitation(&token, &account, &a_session(), &an_origin(&user.id)).await.unwrap();
        self.login(&user.email, Some(&self.slug(&admin.workspace).await)).await
    }

    /// Ada, who is also an admin of the workspace of Bob, with her link `own` in hers and `common` in his.
    async fn ada_with_links_at_bobs(&self) -> (User, User) {
        let (ada, bob) = (self.user("ada").await, self.user("bob").await);
        self.join(&bob, &ada, Role::Admin).await;
        for (code, workspace) in [("own", &ada.workspace), ("common", &bob.workspace)] {
            self.db.store(&LinkBuilder::new(code).in_workspace(workspace).owned_by(&ada.id).build()).await;
        }
        (ada, bob)
    }

    async fn slug(&self, workspace: &WorkspaceId) -> String {
        self.db.users().workspace(workspace).await.unwrap().unwrap().slug.to_string()
    }

    async fn close(&self, token: &str, slug: &str, password: &str) -> Answer {
        let body = json!({"slug": slug, "password": password});
        RequestBuilder::new("DELETE", "/api/workspace").token(token).json(&body).send_to(&self.leave).await
    }

    async fn restore(&self, token: &str, workspace: &WorkspaceId) -> Answer {
        let path = format!("/api/workspaces/{workspace}/restore");
        RequestBuilder::new("POST", &path).token(token).send_to(&self.leave).await
    }

    async fn leave(&self, token: &str) -> Answer {
        leave_by(&self.leave, token).await
    }

    /// All pages of what is stored about somebody.
    async fn export(&self, token: &str) -> Vec<Value> {
        let (mut items, mut after) = (Vec::new(), String::new());
        loop {
            let page = self.leave.get(&format!("/api/me/export{after}"), token).await.expecting(200);
            let page = page.json();
            assert!(page["items"].as_array().unwrap().len() <= 220);
            items.extend(page["items"].as_array().unwrap().clone());
            let Some(next) = page["next_cursor"].as_str() else { return items };
            after = format!("?after={next}");
        }
    }

    async fn workspaces(&self, token: &str) -> Vec<Value> {
        let request = RequestBuilder::new("GET", "/api/me/workspaces").token(token);
        let listed = fixture::send(&self.db, "account", request).await.json();
        listed["workspaces"].as_array().unwrap().clone()
    }

    /// Takes all steps that there are.
    async fn carry(&self) {
        let (mut runner, ahead) = (jobs(&self.db, &self.queues), self.ahead.get());
        runner.clock = Box::new(move || Timestamp::now().plus(ahead));
        self.jobs.carry(&runner).await;
        assert!(self.queues.bodies("dlq").is_empty(), "{:?}", self.queues.bodies("dlq"));
    }

    /// Takes all steps, and those that come when environments hold nothing any more that is out of date.
    async fn finish(&self) {
        self.carry().await;
        self.ahead.set(self.ahead.get() + Duration::from_secs(182));
        delete_due_marks(&self.db, Timestamp::now().plus(self.ahead.get())).await;
        self.carry().await;
    }

    /// The items that have one of these texts anywhere, by table and the beginnings of their keys.
    fn traces(&self, texts: &[&str]) -> Vec<String> {
        let kind = |key: &Value| key["S"].as_str().unwrap().split('#').next().unwrap_or_default().to_owned();
        let mut traces = Vec::new();
        for table in Template::load().tables().keys() {
            for item in self.db.scan(table) {
                if texts.iter().any(|text| item.to_string().contains(text)) {
                    traces.push(format!("{table} {}/{}", kind(&item["pk"]), kind(&item["sk"])));
                }
            }
        }
        traces.sort();
        traces.dedup();
        traces
    }

    /// What is stored of a person.
    fn traces_of(&self, user: &User) -> Vec<String> {
        self.traces(&[&user.id.to_string(), &user.email, "ada Lovelace"])
    }
}

async fn with_two() -> (Fixture, User, User) {
    let fixture = Fixture::new();
    let (ada, bob) = (fixture.user("ada").await, fixture.user("bob").await);
    (fixture, ada, bob)
}

async fn leave_by(leave: &Leave, token: &str) -> Answer {
    RequestBuilder::new("DELETE", "/api/me").token(token).json(&json!({"password": PASSWORD})).send_to(leave).await
}

#[tokio::test]
async fn closing_takes_slug_and_password_and_any_admin_may_restore_the_workspace() {
    let (fixture, ada, bob) = with_two().await;
    let bobs = fixture.join(&ada, &bob, Role::Admin).await;
    let slug = fixture.slug(&ada.workspace).await;

    assert_eq!(fixture.close(&ada.token, "another", PASSWORD).await.problem_field(), (400, "slug".into()));
    let guessed = fixture.close(&ada.token, &slug, "wrong horse battery").await;
    assert_eq!(guessed.problem_code(), (401, "invalid_credentials".into()));
    assert_eq!(fixture.restore(&bobs, &ada.workspace).await.json()["code"], "workspace_open");

    let closed = fixture.close(&ada.token, &slug, PASSWORD).await.expecting(202);
    let elsewhere = fixture.me(&fixture.login(&ada.email, None).await).await.json();
    assert_ne!(elsewhere["workspace_id"], json!(ada.workspace), "before any turn of the job: {elsewhere}");
    fixture.carry().await;
    let listed = fixture.workspaces(&bob.token).await;
    let row = listed.iter().find(|row| row["workspace_id"] == ada.workspace.to_string()).unwrap();
    for member in ["closed_at", "restorable_until"] {
        assert_eq!(row[member], closed.json()[member], "{member}");
    }
    assert_eq!(fixture.switch(&bob.token, &slug).await.json()["code"], "workspace_not_found");
    assert_eq!(fixture.close(&bobs, &slug, PASSWORD).await.status, 401, "it is closed");

    // With a token of his own workspace.
    let restored = fixture.restore(&bob.token, &ada.workspace).await;
    assert_eq!((restored.status, &restored.json()["slug"]), (200, &json!(slug)), "{}", restored.body);
    assert_eq!(fixture.switch(&bob.token, &slug).await.status, 200);
    let entries: Vec<_> = fixture.db.scan("AuditTable").iter().map(|entry| entry["action"]["S"].clone()).collect();
    for action in ["workspace.closed", "workspace.restored"] {
        assert!(entries.contains(&json!(action)), "{action}: {entries:?}");
    }
}

#[tokio::test]
async fn a_last_admin_with_members_cannot_leave_and_keeps_their_account() {
    let (fixture, ada, bob) = with_two().await;
    fixture.join(&ada, &bob, Role::Member).await;
    let before = fixture.db.scan("UsersTable");

    let refused = fixture.leave(&ada.token).await;

    assert_eq!(refused.problem_code(), (409, "last_admin".into()));
    assert_eq!(refused.json()["workspace_id"], ada.workspace.to_string());
    assert!(refused.json()["workspace"].is_string());
    let text = |items: &[Value]| {
        let mut texts: Vec<_> = items.iter().map(Value::to_string).collect();
        texts.sort();
        texts
    };
    assert_eq!(text(&fixture.db.scan("UsersTable")), text(&before));
    assert_eq!(fixture.found(&ada.token).await.status, 201);
}

#[tokio::test]
async fn closing_an_account_transfers_links_and_deletes_personal_data() {
    let fixture = Fixture::new();
    let (ada, bob) = fixture.ada_with_links_at_bobs().await;
    let secret = linklet_domain::ApiKeySecret::generate().unwrap();
    fixture.db.store_key(&ApiKeyBuilder::new(&secret, &ada.at(bob.workspace)).build()).await;

    fixture.leave(&ada.token).await.expecting(204);
    fixture.finish().await;

    assert_eq!(fixture.db.link("common").await.identity.owner, bob.id);
    assert_eq!(fixture.db.api_keys().find(&secret.hash()).await.unwrap(), None);
    assert_eq!(fixture.me(&ada.token).await.status, 401);
    let traces = fixture.traces_of(&ada);
    let unexpected: Vec<_> = traces.iter().filter(|trace| !KEPT.iter().any(|kept| trace.starts_with(kept))).collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
    let bobs = limits(&fixture.db).guesses.account_hash("bob@example.com");
    let networks = fixture.db.scan("ThrottleTable").into_iter();
    let mut networks = networks.filter(|item| item["sk"]["S"].as_str().unwrap().starts_with("FROM#"));
    assert!(networks.all(|item| item.to_string().contains(bobs.as_str())));

    let again = fixture.user("ada").await;
    assert_ne!(again.id, ada.id, "the address is free");
}

#[tokio::test]
async fn closing_an_account_deletes_the_closed_workspace_of_its_only_admin() {
    let (fixture, ada, bob) = with_two().await;
    let bobs = fixture.join(&ada, &bob, Role::Member).await;
    fixture.db.store(&LinkBuilder::new("own").in_workspace(&ada.workspace).owned_by(&bob.id).build()).await;
    let slug = fixture.slug(&ada.workspace).await;

    // No turn has marked anything yet.
    assert_eq!(fixture.close(&ada.token, &slug, PASSWORD).await.status, 202);
    assert_eq!(fixture.leave(&ada.token).await.status, 204);
    fixture.carry().await;
    fixture.me(&bobs).await.expecting(401);
    fixture.finish().await;

    assert_eq!(fixture.db.users().workspace(&ada.workspace).await.unwrap(), None);
    assert!(fixture.db.links().find(&"own".parse().unwrap()).await.unwrap().unwrap().is_purged());
    let told = fixture.told(&bob);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((&told[0]["change"], &told[0]["restorable_until"]), (&json!("workspace_closed"), &Value::Null));
}

#[tokio::test]
async fn members_are_told_when_a_workspace_can_no_longer_be_restored() {
    let mut fixture = Fixture::new();
    fixture.leave.mails = fixture::mail_orders(&fixture.queues);
    let (ada, bob) = (fixture.user("ada").await, fixture.user("bob").await);
    fixture.join(&ada, &bob, Role::Viewer).await;
    let slug = fixture.slug(&ada.workspace).await;
    assert_eq!(fixture.close(&ada.token, &slug, PASSWORD).await.status, 202);
    fixture.finish().await;

    assert_eq!(fixture.leave(&ada.token).await.status, 204);

    let told = fixture.told(&bob);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0]["restorable_until"].is_string() && told[1]["restorable_until"].is_null(), "{told:?}");
}

/// Each call of the request fails, and all after it, from the first one on; then whoever asked asks again.
#[tokio::test]
async fn closing_an_account_goes_on_where_an_earlier_request_died() {
    let (mut call, mut was_hit) = (0, true);
    while was_hit {
        was_hit = false;
        for fault in [Fault::NotSent, Fault::AnswerLost] {
            let fixture = Fixture::new();
            let (ada, bob) = fixture.ada_with_links_at_bobs().await;
            let faults = Faults::default();
            let client = fixture.db.client_with(faults.clone());
            let cut_off = Leave { users: users_by(client), ..leave(&fixture.db) };

            faults.plan_all((call..call + 100).map(|call| (call, fault)));
            let died = leave_by(&cut_off, &ada.token).await;
            if faults.calls() > call {
                was_hit = true;
                assert_eq!(died.status, 503, "{call} {fault:?}: {}", died.body);
                let is_there = fixture.db.users().account(&ada.id).await.unwrap().is_some();
                let again = fixture.leave(&ada.token).await;
                assert_eq!(again.status, if is_there { 204 } else { 401 }, "{call} {fault:?}: {}", again.body);
            }
            fixture.finish().await;

            assert_eq!(fixture.db.link("common").await.identity.owner, bob.id, "{call} {fault:?}");
            let traces = fixture.traces_of(&ada);
            assert!(traces.iter().all(|one| KEPT.iter().any(|kept| one.starts_with(kept))), "{call}: {traces:?}");
            assert_ne!(fixture.user("ada").await.id, ada.id, "the address is free");
        }
        call += 1;
    }
    assert!(call > 10, "{call}");
}

/// Where leaving has failed at the last step, they sign in without a workspace, since they found none.
#[tokio::test]
async fn whoever_has_left_all_signs_in_and_closes_their_account() {
    let fixture = Fixture::new();
    let ada = fixture.user("ada").await;
    let users = fixture.db.users();
    users.begin_leaving(&ada.id, Timestamp::now()).await.unwrap();
    let workspace = users.workspace(&ada.workspace).await.unwrap().unwrap();
    let work = linklet_domain::JobWork::Workspace(linklet_domain::WorkspaceJob::CloseWorkspace);
    let asked = (Timestamp::now(), fixture::correlation());
    let job = linklet_domain::Job::new(ada.workspace, work, (Changer::in_person(&ada.id), Role::Admin), asked, None);
    assert!(users.abandon(&job, &workspace, &ada.id, &an_origin(&ada.id)).await.unwrap());

    let token = fixture.login(&ada.email, None).await;

    let me = fixture.me(&token).await;
    assert_eq!((me.status, &me.json()["workspace_id"]), (200, &Value::Null));
    assert_eq!(fixture.leave(&token).await.status, 204);
}

#[tokio::test]
async fn two_admins_leaving_at_once_never_leave_a_workspace_without_one() {
    for _ in 0..4 {
        let fixture = Fixture::new();
        let (ada, bob, carol) = (fixture.user("ada").await, fixture.user("bob").await, fixture.user("carol").await);
        fixture.join(&ada, &bob, Role::Admin).await;
        fixture.join(&ada, &carol, Role::Member).await;

        let (one, other) = join(fixture.leave(&ada.token), fixture.leave(&bob.token)).await;

        let mut statuses = [one.status, other.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [204, 409], "{} {}", one.body, other.body);
        let members = fixture.db.users().members(&ada.workspace).await.unwrap();
        assert_eq!(members.iter().filter(|member| member.active_role() == Some(Role::Admin)).count(), 1);
        let (stayed, refused) = if one.status == 409 { (&ada, &one) } else { (&bob, &other) };
        assert_eq!(refused.json()["code"], "last_admin");
        assert!(!fixture.db.users().is_leaving(&stayed.id).await.unwrap());
    }
}

#[tokio::test]
async fn whoever_closes_their_account_joins_and_founds_nothing_meanwhile() {
    let (fixture, ada, bob) = with_two().await;
    fixture.db.users().begin_leaving(&ada.id, Timestamp::now()).await.unwrap();

    let created = fixture.found(&ada.token).await;
    let token = fixture.db.invite(&bob.at(bob.workspace), &ada.email, Role::Member).await;
    let users = fixture.db.users();
    let account = users.account(&ada.id).await.unwrap().unwrap();
    let accepted = users.accept_invitation(&token, &account, &a_session(), &an_origin(&ada.id)).await.unwrap();

    assert_eq!(created.problem_code(), (409, "account_closing".into()));
    assert_eq!(accepted, linklet_dynamodb::AcceptOutcome::AccountChanged);
    assert_eq!(fixture.leave(&ada.token).await.status, 204, "it is gone on with");
}

#[tokio::test]
async fn whoever_stays_after_all_joins_and_founds_again() {
    let (fixture, ada, bob) = with_two().await;
    fixture.join(&ada, &bob, Role::Member).await;
    let users = fixture.db.users();

    // Somebody has joined after a request that got no further.
    users.begin_leaving(&ada.id, Timestamp::now()).await.unwrap();
    assert_eq!(fixture.leave(&ada.token).await.problem_code(), (409, "last_admin".into()));
    assert_eq!(fixture.found(&ada.token).await.status, 201);

    // A request that got no further was not repeated.
    users.begin_leaving(&bob.id, Timestamp::now().minus(Duration::from_secs(3_601))).await.unwrap();
    assert_eq!(fixture.found(&bob.token).await.status, 201);
}

#[tokio::test]
async fn people_take_along_what_is_stored_about_them_and_nothing_of_others() {
    let (fixture, ada, bob) = with_two().await;
    fixture.join(&bob, &ada, Role::Admin).await;
    for number in 0..250 {
        let owner = if number < 120 { &ada.id } else { &bob.id };
        let link = LinkBuilder::new(&format!("code{number}")).in_workspace(&bob.workspace).owned_by(owner).build();
        fixture.db.store(&link).await;
    }
    let secret = linklet_domain::ApiKeySecret::generate().unwrap();
    let person = ada.at(bob.workspace);
    fixture.db.store_key(&ApiKeyBuilder::new(&secret, &person).build()).await;
    fixture.db.invite(&person, "erin@example.com", Role::Viewer).await;
    let target = linklet_test_support::TargetBuilder::new("https://example.com/seen").in_workspace(&ada.workspace);
    fixture.db.store_target(&target.owned_by(&ada.id).build()).await;
    let work = serde_json::from_value(json!({"kind": "archive", "filter": {"all": true}})).unwrap();
    let asked = (Timestamp::now(), fixture::correlation());
    let job = linklet_domain::Job::new(ada.workspace, work, (Changer::in_person(&ada.id), Role::Admin), asked, None);
    fixture.db.jobs().create(&job, None).await.unwrap().unwrap();

    fixture.db.users().choose_mail(&ada.id, MailChoice::None, &an_origin(&ada.id)).await.unwrap();
    let email = ada.email.parse().unwrap();
    fixture.db.recipients().mark_undeliverable(&ada.id, &email, Timestamp::now()).await.unwrap();

    let items = fixture.export(&ada.token).await;

    let count = |kind: &str| items.iter().filter(|item| item["kind"] == kind).count();
    let kinds = ["account", "membership", "session", "key", "invitation", "link", "target", "job"].map(count);
    assert_eq!(kinds, [1, 2, 2, 1, 1, 120, 1, 1], "{items:?}");
    assert!(count("audit") >= 2);
    let account = items.iter().find(|item| item["kind"] == "account").unwrap();
    assert_eq!(account["mail"], "none");
    assert!(account["undeliverable_at"].is_string() && account["pending_until"].is_null(), "{account}");
    let written = serde_json::to_string(&items).unwrap();
    for secret in ["argon2", &secret.hash().to_string(), secret.reveal(), "password_hash", "token_hash", "bob@"] {
        assert!(!written.contains(secret), "{secret}");
    }
    // A workspace that was left since, whose id comes before all others.
    let place = json!({"kind": "links", "workspace": "00000000-0000-4000-8000-000000000000", "after": null});
    let first = fixture.leave.get("/api/me/export", &ada.token).await.json();
    let (_, list) = first["next_cursor"].as_str().unwrap().rsplit_once('.').unwrap();
    let left = format!("/api/me/export?after={}.{list}", URL_SAFE_NO_PAD.encode(place.to_string()));
    let rest = fixture.leave.get(&left, &ada.token).await.json();
    let rest = rest["items"].as_array().unwrap();
    for (kind, workspace) in [("target", &ada.workspace), ("key", &bob.workspace)] {
        let is_there = |item: &Value| item["kind"] == kind && item["workspace_id"] == json!(workspace);
        assert!(rest.iter().any(is_there), "{kind}: {rest:?}");
    }

    assert_eq!(fixture.leave.get("/api/me/export?after=nothing", &ada.token).await.status, 400);
}

#[tokio::test]
async fn an_export_has_each_session_once_however_many_there_are() {
    let fixture = Fixture::new();
    let ada = fixture.user("ada").await;
    let began_at = Timestamp::now();
    for number in 0..230 {
        let session = SessionId::beginning_at(began_at.plus(Duration::from_millis(number)));
        let place = SignInPlace { device: None, country: None };
        let sign_in = SignIn { place, address: IpHash::of("203.0.113.9", &salt()), first_token: None, until: None };
        fixture.db.users().begin_session(&ada.id, &session, sign_in).await.unwrap();
    }

    let items = fixture.export(&ada.token).await;

    let ids = items.iter().filter(|item| item["kind"] == "session").map(|item| item["id"].as_str().unwrap());
    let ids: Vec<_> = ids.collect();
    assert_eq!((ids.len(), BTreeSet::from_iter(&ids).len()), (231, 231));
}
