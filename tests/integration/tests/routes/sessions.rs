//! Sessions: how they end, and whom a token lets in after its person has left or has another role.

use linklet_domain::{
    AuditAction, AuditFilter, AuditLog, Credential, Membership, RefreshToken, SignInPlace, WorkspaceName,
};
use linklet_dynamodb::{
    Consistency, CreateWorkspaceOutcome, MemberOutcome, NewWorkspace, PasswordChange, Session, SessionStatus, Sessions,
    SignIn,
};
use linklet_lambda::{guesses::Guesses, hashing::Limits, http::Edge};

use crate::fixture::{self, change_role};
use crate::prelude::*;

/// Grace's workspace, of which Ada is a member, and a link of Grace's.
struct Fixture {
    db: TestDynamoDb,
    auth: Auth,
    delete: Delete,
    grace: Person,
    ada: Person,
    link: Link,
}

impl Fixture {
    async fn new() -> Self {
        let (db, [grace, ada]) = with_people(["grace", "ada"]).await;
        db.add_member(&grace.workspace, &grace.id, &ada.as_member(Role::Admin)).await;
        let link = LinkBuilder::new("launch").in_workspace(&grace.workspace).owned_by(&grace.id).build();
        db.store(&link).await;
        let verifier = tokens().with_sessions(db.sessions());
        let (auth, delete) = (auth(&db), fixture::delete(&db, Authenticator::new(verifier, db.api_keys())));
        Self { db, auth, delete, grace, ada, link }
    }

    fn account(&self) -> Account {
        let (verifier, users) = (tokens().with_sessions(self.db.sessions()), self.db.users());
        Account::new(verifier, users, self.db.notifications(), guesses(&self.db), crate::fixture::sharing(&self.db))
    }

    /// Ends a session of Ada's at this time, elsewhere.
    async fn end(&self, session: &SessionId, at: Timestamp) {
        self.db.users().end_session(&self.ada.id, session, &an_origin_at(&self.ada.id, at)).await.unwrap();
    }

    async fn end_all(&self, at: Timestamp) {
        self.db.users().end_sessions(&self.ada.id, None, &an_origin_at(&self.ada.id, at)).await.unwrap();
    }

    /// A token of Ada's for Grace's workspace.
    fn token(&self) -> String {
        token_of(&self.ada.id, &self.grace.workspace, Role::Admin)
    }

    async fn me_after(&self, token: &str, time: Duration) -> Answer {
        me_after(&self.auth, token, time).await
    }

    async fn log_out(&self, token: &str, body: Option<Value>) -> Answer {
        let request = RequestBuilder::new("POST", "/api/auth/logout").token(token);
        request.json_unless_null(&body.unwrap_or_default()).send_to(&self.auth).await
    }

    async fn send(&self, method: &str, path: &str, token: &str) -> Answer {
        RequestBuilder::new(method, path).token(token).send_to(&self.delete).await
    }

    async fn remove_ada(&self) {
        let removed =
            self.db.users().remove_member(&removal(&self.grace.workspace, &self.grace.id, &self.ada.id)).await;
        assert!(matches!(removed.unwrap(), MemberOutcome::Done(_)));
    }
}

const A_MINUTE: Duration = Duration::from_secs(60);

async fn me_after(auth: &Auth, token: &str, time: Duration) -> Answer {
    let request = RequestBuilder::new("GET", "/api/me").token(token);
    request.at(Timestamp::now().plus(time)).send_to(auth).await
}

#[tokio::test]
async fn who_logs_out_ends_this_session_and_no_other() {
    let fixture = Fixture::new().await;
    let (here, elsewhere) = (fixture.token(), fixture.token());
    assert_eq!(fixture.auth.me(&here).await.status, 200);

    fixture.log_out(&here, None).await.expecting(204);

    assert_eq!(fixture.auth.me(&here).await.problem(), (401, "unauthorized".into()));
    assert_eq!(fixture.me_after(&elsewhere, A_MINUTE).await.status, 200);
    // An environment that has not seen the session before refuses it at once.
    assert_eq!(me_after(&auth(&fixture.db), &here, Duration::ZERO).await.status, 401);
}

#[tokio::test]
async fn who_logs_out_everywhere_ends_all_sessions_that_have_begun() {
    let fixture = Fixture::new().await;
    let (here, elsewhere) = (fixture.token(), fixture.token());

    fixture.log_out(&here, Some(json!({"everywhere": true}))).await.expecting(204);
    tokio::time::sleep(Duration::from_millis(2)).await;
    let later = fixture.token();

    for ended in [&here, &elsewhere] {
        assert_eq!(fixture.me_after(ended, A_MINUTE).await.status, 401);
    }
    assert_eq!(fixture.auth.me(&later).await.status, 200, "a login in the same second");
    assert_eq!(fixture.auth.me(&fixture.grace.token(Role::Admin)).await.status, 200);
}

#[tokio::test]
async fn a_session_that_was_ended_elsewhere_ends_once_and_not_the_others() {
    let fixture = Fixture::new().await;
    let (here, elsewhere) = (fixture.token(), fixture.token());
    assert_eq!(fixture.auth.me(&here).await.status, 200, "it is held from here on");
    let log_out = RequestBuilder::new("POST", "/api/auth/logout").token(&here);
    assert_eq!(log_out.send_to(&auth(&fixture.db)).await.status, 204);

    let everywhere = fixture.log_out(&here, Some(json!({"everywhere": true}))).await;
    let again = fixture.log_out(&here, None).await;

    assert_eq!((everywhere.status, again.status), (401, 401));
    assert_eq!(fixture.me_after(&elsewhere, A_MINUTE).await.status, 200);
}

#[tokio::test]
async fn ending_a_session_twice_is_one_entry() {
    let fixture = Fixture::new().await;
    let session = SessionId::generate();
    for _ in 0..2 {
        fixture.end(&session, Timestamp::now()).await;
    }

    let audit_log = AuditLog::Person(fixture.ada.id);
    let audit_log = fixture.db.audit_log().list(&audit_log, &AuditFilter::default(), 100, None).await.unwrap().items;
    assert_eq!(audit_log.iter().filter(|entry| entry.action == AuditAction::SessionEnded).count(), 1);
}

#[tokio::test]
async fn a_logout_with_a_wrong_body_ends_nothing() {
    let fixture = Fixture::new().await;
    let token = fixture.token();

    let wrong = fixture.log_out(&token, Some(json!({"everywhere": "yes"}))).await;

    assert_eq!(wrong.problem(), (400, "everywhere must be true or false".into()));
    assert_eq!(fixture.me_after(&token, A_MINUTE).await.status, 200);
    for body in [json!({}), json!({"everywhere": false}), json!({"everywhere": null})] {
        let token = fixture.token();
        assert_eq!(fixture.log_out(&token, Some(body.clone())).await.status, 204, "{body}");
        assert_eq!(fixture.me_after(&token, A_MINUTE).await.status, 401, "{body}");
    }
}

#[tokio::test]
async fn ending_all_sessions_again_does_not_bring_one_back() {
    let fixture = Fixture::new().await;
    let token = fixture.token();
    let now = Timestamp::now().plus(Duration::from_secs(1));

    fixture.end_all(now).await;
    fixture.end_all(now.minus(A_MINUTE)).await;

    assert_eq!(fixture.auth.me(&token).await.status, 401);
}

#[tokio::test]
async fn a_demoted_admin_has_the_new_role_whatever_the_token_says() {
    let fixture = Fixture::new().await;
    let token = fixture.token();
    assert_eq!(fixture.send("DELETE", "/api/urls/nolink0", &token).await.status, 404);
    let (users, grace) = (fixture.db.users(), &fixture.grace);
    change_role(&users, &grace.workspace, &grace.id, &fixture.ada.id, Role::Member).await.unwrap();

    let answers = [
        fixture.send("DELETE", "/api/urls/launch", &token).await,
        fixture.send("DELETE", "/api/links/launch", &token).await,
    ];

    assert!(answers.iter().all(|answer| answer.status == 403), "{answers:?}");
    assert_eq!(fixture.me_after(&token, A_MINUTE).await.json()["role"], "member");
    assert_eq!(fixture.db.link("launch").await, fixture.link);
}

#[tokio::test]
async fn a_revoked_key_purges_nothing_also_within_the_minute() {
    let fixture = Fixture::new().await;
    let secret = ApiKeySecret::generate().unwrap();
    let key = ApiKeyBuilder::new(&secret, &fixture.grace).build();
    fixture.db.store_key(&key).await;
    let send = async |method: &str, path: &str| {
        RequestBuilder::new(method, path).api_key(secret.reveal()).send_to(&fixture.delete).await.status
    };
    assert_eq!(send("DELETE", "/api/urls/nolink0").await, 404);

    let Person { id, workspace, .. } = &fixture.grace;
    fixture.db.users().revoke_key(workspace, id, &key.prefix, &an_origin(id)).await.unwrap();

    assert_eq!(send("DELETE", "/api/urls/nolink0").await, 404, "it is still known here");
    assert_eq!(send("DELETE", "/api/links/launch").await, 401);
}

#[tokio::test]
async fn who_has_just_joined_is_let_in_at_once() {
    let fixture = Fixture::new().await;
    fixture.remove_ada().await;
    let token = fixture.token();
    assert_eq!(fixture.auth.me(&token).await.status, 401);
    let Person { id, workspace, .. } = &fixture.grace;

    fixture.db.add_member(workspace, id, &fixture.ada.as_member(Role::Viewer)).await;

    assert_eq!(fixture.auth.me(&token).await.json()["role"], "viewer");
}

#[tokio::test]
async fn a_token_costs_one_and_a_half_read_units_a_minute() {
    let fixture = Fixture::new().await;
    let (sessions, meter): (_, CapacityMeter) = fixture.db.through(Sessions, "UsersTable");
    let auth = Auth::new(fixture.db.users(), tokens().with_sessions(sessions), issuer(), limits(&fixture.db));
    let now = Timestamp::now();
    // Many workspaces and sessions make it no dearer.
    for _ in 0..60 {
        fixture.end(&SessionId::generate(), now).await;
    }
    let (users, ada) = (fixture.db.users(), &fixture.ada.id);
    let account = users.account(ada).await.unwrap().unwrap();
    for number in users.memberships(ada).await.unwrap().len()..Membership::MOST {
        let name = WorkspaceName::parse(&format!("Engines {number}")).unwrap();
        let workspace = NewWorkspace::of(&account, WorkspaceId::generate(), name, now);
        let outcome = users.create_workspace(&workspace, None, &an_origin(ada)).await.unwrap();
        assert_eq!(outcome, CreateWorkspaceOutcome::Created);
    }
    let token = fixture.token();

    for second in 0..50 {
        assert_eq!(me_after(&auth, &token, Duration::from_secs(second)).await.status, 200);
    }
    assert_eq!((meter.calls(), meter.read_units()), (1, 1.5));
    me_after(&auth, &token, A_MINUTE).await;
    let refused = fixture.account().post("/api/workspaces", &token, &json!({"name": "Engines"})).await;

    assert_eq!(meter.calls(), 2);
    assert_eq!(refused.problem(), (409, "you are a member of 20 workspaces; leave one first".into()));
}

#[tokio::test]
async fn without_the_table_a_token_that_was_not_seen_before_is_unavailable() {
    let fixture = Fixture::new().await;
    let sessions = Sessions(TestDynamoDb::unreachable_table("UsersTable"));
    let auth = Auth::new(fixture.db.users(), tokens().with_sessions(sessions), issuer(), limits(&fixture.db));

    assert_eq!(auth.me(&fixture.token()).await.problem(), (503, "service unavailable".into()));
}

#[tokio::test]
async fn a_changed_password_ends_all_other_sessions() {
    let fixture = Fixture::new().await;
    let eve = |password: &str| json!({"email": "eve@example.com", "password": password});
    fixture.auth.post_openly("/api/auth/register", &eve("correct horse")).await;
    let login = async |password: &str| {
        fixture.auth.post_openly("/api/auth/login", &eve(password)).await.json()["token"].as_str().map(str::to_owned)
    };
    let (here, elsewhere) = (login("correct horse").await.unwrap(), login("correct horse").await.unwrap());

    let wrong = fixture
        .auth
        .post("/api/auth/password", &here, &json!({"current": "wrong horse", "new": "battery staple"}))
        .await;
    let short =
        fixture.auth.post("/api/auth/password", &here, &json!({"current": "correct horse", "new": "short"})).await;
    assert_eq!(wrong.problem(), (401, "invalid credentials".into()));
    assert_eq!(short.problem(), (400, "password must be at least 8 characters".into()));
    assert_eq!(short.json()["field"], "new");
    for (guessable, sentence) in [
        ("Password1", "password is one of the most common ones"),
        ("eve@example.com", "password must not be the email address"),
    ] {
        let change = json!({"current": "correct horse", "new": guessable});
        let refused = fixture.auth.post("/api/auth/password", &here, &change).await;
        assert_eq!((refused.problem(), &refused.json()["field"]), ((400, sentence.into()), &json!("new")));
    }
    assert_eq!(fixture.me_after(&elsewhere, A_MINUTE).await.status, 200);
    fixture
        .auth
        .post("/api/auth/password", &here, &json!({"current": "correct horse", "new": "battery staple"}))
        .await
        .expecting(204);

    assert_eq!(fixture.me_after(&here, 2 * A_MINUTE).await.status, 200);
    assert_eq!(fixture.me_after(&elsewhere, 2 * A_MINUTE).await.status, 401);
    assert_eq!(login("correct horse").await, None);
    assert!(login("battery staple").await.is_some());
}

#[tokio::test]
async fn two_changes_of_a_password_at_once_are_one() {
    let fixture = Fixture::new().await;
    let (users, ada) = (fixture.db.users(), &fixture.ada.id);
    let origin = an_origin(ada);
    let at = Timestamp::now();
    let change = |new_hash| PasswordChange {
        user: ada,
        old_hash: Some("none"),
        new: Credential::Password(new_hash),
        at,
        but: None,
        origin: &origin,
    };

    let (one, other) = (change("first"), change("second"));
    let changed = tokio::join!(users.change_password(&one), users.change_password(&other));

    assert_ne!(changed.0.unwrap(), changed.1.unwrap());
}

#[tokio::test]
async fn a_password_change_restores_no_session_that_was_ended_meanwhile() {
    let fixture = Fixture::new().await;
    let (users, ada, at) = (fixture.db.users(), &fixture.ada.id, Timestamp::now());
    let mallory = SessionId::beginning_at(at);
    let origin = an_origin(ada);
    let change = PasswordChange {
        user: ada,
        old_hash: Some("none"),
        new: Credential::Password("new"),
        at,
        but: Some(&mallory),
        origin: &origin,
    };

    fixture.end_all(at.plus(Duration::from_millis(5))).await;
    let changed = users.change_password(&change).await.unwrap();

    let session = Session { id: mallory, user: *ada, workspace: Some(fixture.grace.workspace) };
    let status = fixture.db.sessions().status(&session, Consistency::Strong).await.unwrap();
    assert_eq!((changed, status), (false, SessionStatus::Ended));
    assert_eq!(users.account(ada).await.unwrap().unwrap().password_hash.as_deref(), Some("none"));
}

#[tokio::test]
async fn people_switch_between_their_workspaces_and_found_others() {
    let fixture = Fixture::new().await;
    let (account, token) = (fixture.account(), fixture.token());
    let found = json!({"name": "Difference Engines"});

    let created = account.post("/api/workspaces", &token, &found).await.expecting(201);
    let mine = account.get("/api/me/workspaces", &token).await.json();
    let slug = created.text("slug");
    let switched = fixture.auth.post("/api/auth/switch", &token, &json!({"workspace": &slug})).await;

    let listed: Vec<_> =
        mine["workspaces"].as_array().unwrap().iter().map(|one| (&one["slug"], &one["role"])).collect();
    let admin = json!("admin");
    assert_eq!(listed, [(&json!("ada"), &admin), (&json!("grace"), &admin), (&json!(slug), &admin)]);
    let other = switched.text("token");
    assert_eq!(fixture.auth.me(&other).await.json()["workspace_id"], created.json()["workspace_id"]);
    assert_eq!(fixture.auth.me(&token).await.json()["workspace_id"], fixture.grace.workspace.to_string());
    fixture.db.register("eve").await;
    for foreign in ["eve", "nowhere", "No Slug"] {
        let refused = fixture.auth.post("/api/auth/switch", &token, &json!({"workspace": foreign})).await.problem();
        assert_eq!(refused, (404, "this workspace does not exist".into()), "{foreign}");
    }
    // Both tokens are of one session.
    fixture.log_out(&token, None).await;
    assert_eq!((fixture.auth.me(&token).await.status, fixture.auth.me(&other).await.status), (401, 401));
}

#[tokio::test]
async fn a_token_can_be_exchanged_but_not_renewed() {
    let fixture = Fixture::new().await;
    let session = SessionId::beginning_at(Timestamp::now().minus(Duration::from_secs(80_000)));
    let claims = json!({
        "iss": "url-shortener", "sub": fixture.ada.id, "email": fixture.ada.email, "ws": fixture.grace.workspace,
        "role": "admin", "iat": session.began_at().unix_seconds(), "jti": session,
        "exp": session.began_at().unix_seconds() + 86_400,
    });
    let key = jsonwebtoken::EncodingKey::from_secret(TOKEN_SECRET.as_bytes());
    let token = jsonwebtoken::encode(&jsonwebtoken::Header::default(), &claims, &key).unwrap();

    let switched = fixture.auth.post("/api/auth/switch", &token, &json!({"workspace": "ada"})).await;
    // Another environment ends it, while this one still holds it.
    fixture.end(&session, Timestamp::now()).await;

    let expiry = session.began_at().plus(Duration::from_secs(86_400)).unix_seconds();
    let expires_at = Timestamp::parse(switched.json()["expires_at"].as_str().unwrap()).unwrap();
    assert_eq!(expires_at.unix_seconds(), expiry);
    assert_eq!(fixture.auth.post("/api/auth/switch", &token, &json!({"workspace": "ada"})).await.status, 401);
}

#[tokio::test]
async fn any_number_of_sign_outs_leaves_other_sessions_alone() {
    let fixture = Fixture::new().await;
    let now = Timestamp::now();
    let session = |seconds| SessionId::beginning_at(now.minus(Duration::from_secs(seconds)));
    let ended: Vec<_> = (1..=51).map(|age| session(age * 10)).collect();
    let status = async |id: SessionId| {
        let session = Session { id, user: fixture.ada.id, workspace: Some(fixture.grace.workspace) };
        fixture.db.sessions().status(&session, Consistency::Strong).await.unwrap()
    };

    for one in &ended {
        fixture.end(one, now).await;
    }

    for one in &ended {
        assert_eq!(status(*one).await, SessionStatus::Ended);
    }
    for other in [5, 505, 515, 80_000] {
        assert_eq!(status(session(other)).await, SessionStatus::Member(Role::Admin), "{other} s old");
    }
}

const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0";

/// Eve, who can log in.
struct SignedIn {
    fixture: Fixture,
    auth: Auth,
}

impl SignedIn {
    async fn new() -> Self {
        let fixture = Fixture::new().await;
        let db = &fixture.db;
        let guesses = Guesses { edge: Edge::CloudFront, ..guesses(db) };
        let limits = Limits { guesses, ..limits(db) };
        let auth = Auth::new(db.users(), tokens().with_sessions(db.sessions()), issuer(), limits);
        let eve = json!({"email": "eve@example.com", "password": "correct horse"});
        assert_eq!(auth.post_openly("/api/auth/register", &eve).await.status, 201);
        Self { fixture, auth }
    }

    /// A token of a new session.
    async fn log_in(&self, user_agent: &str, remember: bool, at: Timestamp) -> String {
        let eve = json!({"email": "eve@example.com", "password": "correct horse", "remember": remember});
        let request = RequestBuilder::new("POST", "/api/auth/login").json(&eve).at(at);
        let request = request.header("user-agent", user_agent).header("cloudfront-viewer-country", "NL");
        request.send_to(&self.auth).await.expecting(200).text("token")
    }

    async fn listed(&self, token: &str, at: Timestamp) -> Value {
        RequestBuilder::new("GET", "/api/me/sessions")
            .token(token)
            .at(at)
            .send_to(&self.auth)
            .await
            .expecting(200)
            .json()
    }

    async fn sessions(&self, token: &str, at: Timestamp) -> Vec<Value> {
        self.listed(token, at).await["sessions"].as_array().unwrap().clone()
    }

    /// Stores that so many sessions have begun, a millisecond after another.
    async fn store(&self, user: &UserId, count: u64, first: Timestamp) -> Vec<SessionId> {
        let begin = async |number| {
            let session = SessionId::beginning_at(first.plus(Duration::from_millis(number)));
            let place = SignInPlace { device: None, country: None };
            let address = IpHash::of("203.0.113.9", &salt());
            let sign_in = SignIn { place, address, first_token: None, until: None };
            self.fixture.db.users().begin_session(user, &session, sign_in).await.unwrap();
            session
        };
        join_all((0..count).map(begin)).await
    }

    async fn end(&self, token: &str, id: &str) -> Answer {
        self.auth.delete(&format!("/api/me/sessions/{id}"), token).await
    }

    async fn me_id(&self, token: &str) -> UserId {
        let me = me_after(&self.auth, token, Duration::ZERO).await.json();
        me["user_id"].as_str().unwrap().parse().unwrap()
    }

    async fn me(&self, token: &str) -> u16 {
        me_after(&self.auth, token, Duration::ZERO).await.status
    }
}

fn id_of(session: &Value) -> &str {
    session["id"].as_str().unwrap()
}

#[tokio::test]
async fn every_session_that_lasts_is_listed_with_where_it_began() {
    let signed_in = SignedIn::new().await;
    let now = Timestamp::now();
    signed_in.log_in("curl/8.5.0", false, now.minus(Duration::from_secs(60))).await;
    let token = signed_in.log_in(FIREFOX, true, now).await;

    let sessions = signed_in.sessions(&token, now).await;

    assert_eq!(sessions.len(), 2, "{sessions:?}");
    let firefox = &sessions[0];
    let expected = json!({
        "id": firefox["id"], "began_at": now, "renewed_at": now, "expires_at": firefox["expires_at"],
        "device": "Firefox on Linux", "country": "NL", "is_current": true, "remembered": true,
    });
    assert_eq!(*firefox, expected);
    let program = ["device", "is_current", "remembered", "renewed_at"].map(|member| sessions[1][member].clone());
    assert_eq!(program, [Value::Null, json!(false), json!(false), Value::Null]);
    let rows = format!("{:?}", signed_in.fixture.db.scan("UsersTable"));
    assert!(!rows.contains("Mozilla") && !rows.contains("203.0.113"), "words only, and a hash of the address");
}

#[tokio::test]
async fn sessions_that_are_over_are_not_listed() {
    let signed_in = SignedIn::new().await;
    let now = Timestamp::now();
    let (day, month) = (Duration::from_secs(24 * 60 * 60), Duration::from_secs(30 * 24 * 60 * 60));
    signed_in.log_in(FIREFOX, false, now.minus(day)).await;
    signed_in.log_in(FIREFOX, true, now.minus(month)).await;
    let ended = signed_in.log_in(FIREFOX, false, now.minus(Duration::from_secs(2))).await;
    let token = signed_in.log_in(FIREFOX, false, now).await;
    let log_out = RequestBuilder::new("POST", "/api/auth/logout").token(&ended);
    assert_eq!(log_out.send_to(&signed_in.auth).await.status, 204);

    let sessions = signed_in.sessions(&token, now).await;

    assert_eq!(sessions.len(), 1, "{sessions:?}");
    assert_eq!(sessions[0]["is_current"], true);
}

#[tokio::test]
async fn a_session_that_lasts_is_found_behind_any_number_that_are_over() {
    let signed_in = SignedIn::new().await;
    let now = Timestamp::now();
    let hours = |hours: u64| now.minus(Duration::from_secs(hours * 60 * 60));
    signed_in.log_in(FIREFOX, true, hours(48)).await;
    let token = signed_in.log_in(FIREFOX, false, now).await;
    let user = signed_in.me_id(&token).await;
    signed_in.store(&user, 250, hours(30)).await;

    let listed = signed_in.listed(&token, now).await;

    let remembered: Vec<_> = listed["sessions"].as_array().unwrap().iter().map(|one| &one["remembered"]).collect();
    assert_eq!(remembered, [false, true]);
    assert_eq!(listed["has_more"], false);
}

#[tokio::test]
async fn the_latest_hundred_sessions_and_ones_own_are_listed_with_has_more() {
    let signed_in = SignedIn::new().await;
    let now = Timestamp::now();
    let token = signed_in.log_in(FIREFOX, true, now.minus(Duration::from_secs(600))).await;
    let user = signed_in.me_id(&token).await;
    for (count, length, has_more) in [(99, 100, false), (1, 101, true)] {
        signed_in.store(&user, count, now.minus(Duration::from_secs(length))).await;

        let listed = signed_in.listed(&token, now).await;

        let sessions = listed["sessions"].as_array().unwrap();
        assert_eq!((sessions.len() as u64, &listed["has_more"]), (length, &json!(has_more)));
        assert_eq!(sessions.last().unwrap()["is_current"], true);
    }
}

#[tokio::test]
async fn one_session_is_ended_from_another_and_all_others_go_on() {
    let signed_in = SignedIn::new().await;
    let now = Timestamp::now();
    let [lost, other, own] = [3, 2, 1].map(|seconds| now.minus(Duration::from_secs(seconds)));
    let lost = signed_in.log_in(FIREFOX, true, lost).await;
    let other = signed_in.log_in(FIREFOX, false, other).await;
    let own = signed_in.log_in(FIREFOX, false, own).await;
    assert_eq!(signed_in.me(&lost).await, 200, "it is held from here on");
    let sessions = signed_in.sessions(&own, now).await;
    let id = id_of(&sessions[2]);

    assert_eq!(signed_in.end(&own, id).await.status, 204);

    let worth = [signed_in.me(&lost).await, signed_in.me(&other).await, signed_in.me(&own).await];
    assert_eq!(worth, [401, 200, 200]);
    assert_eq!(signed_in.sessions(&own, now).await.len(), 2);
    for absent in [id, "0198c0de-0000-7000-8000-000000000001", "none", "..", &"a".repeat(2_000)] {
        assert_eq!(signed_in.end(&own, absent).await.status, 204, "{absent}");
    }
    let ada = signed_in.fixture.token();
    assert_eq!(signed_in.end(&ada, id_of(&sessions[1])).await.status, 204, "it is somebody else's");
    assert_eq!(signed_in.sessions(&own, now).await.len(), 2);
    assert_eq!(signed_in.end(&own, id_of(&sessions[0])).await.status, 204, "one's own may be the one");
    assert_eq!(signed_in.me(&own).await, 401);
}

#[tokio::test]
async fn a_session_costs_one_write_unit_when_it_begins() {
    let signed_in = SignedIn::new().await;
    let (users, meter): (_, CapacityMeter) = signed_in.fixture.db.users_through();
    let user = signed_in.fixture.ada.id;
    let session = SessionId::beginning_at(Timestamp::now());
    let place = SignInPlace { device: Some("Samsung Internet on Android".to_owned()), country: None };
    let address = IpHash::of("203.0.113.9", &salt());
    let sign_in = SignIn { place, address, first_token: Some(RefreshToken::first_of(user, session)), until: None };

    users.begin_session(&user, &session, sign_in).await.unwrap();

    assert_eq!((meter.calls(), meter.write_units()), (1, 1.0));
}
