//! How people sign in to their account, and what that lets them do: identities, proofs, passwords that are off, groups and invitations.

mod attacks;

use linklet_domain::{Member, PasswordLogin, WorkspaceRole};
use linklet_jobs_api::JobsApi;
use linklet_leave::Leave;

use crate::oidc::{Fixture, PASSWORD, ada, cookies, name_and_value, refused};
use crate::prelude::*;

impl Fixture {
    /// A deployment in which groups have these roles.
    fn with_groups(mut self, roles: &str) -> Self {
        let oidc = self.auth.oidc.take().unwrap();
        let groups = oidc.parse_groups(roles).unwrap();
        self.auth.oidc = Some(oidc.with_groups(groups, "groups"));
        self
    }

    /// A deployment without passwords.
    fn without_passwords(mut self) -> Self {
        self.auth.password_login = PasswordLogin::Off;
        self
    }

    /// The token of the session of whoever signs in at the provider.
    async fn token(&self, person: &Value) -> String {
        let signed_in = self.sign_in(person).await;
        assert_eq!(signed_in.header("location"), "../../../../app#/signed-in", "{signed_in:?}");
        let refresh = cookies(&signed_in).into_iter().find(|cookie| cookie.starts_with("linklet_refresh=")).unwrap();
        let refresh =
            RequestBuilder::new("POST", "/api/auth/refresh").json(&json!({})).cookie(&name_and_value(&refresh));
        refresh.send_to(&self.auth).await.expecting(200).text("token")
    }

    /// Goes to the provider from a session, and comes back as this person; the page that the browser is led to.
    async fn round_trip(&self, path: &str, token: &str, body: &Value, person: &Value) -> String {
        let left = self.auth.post(path, token, body).await.expecting(200);
        let given = self.provider.sign_in(&left.text("url"), person);
        let came_back = self.come_back(&cookies(&left).remove(0), &given).await.expecting(302);
        assert!(!cookies(&came_back).iter().any(|cookie| cookie.starts_with("linklet_refresh=")), "{came_back:?}");
        came_back.header("location").trim_start_matches("../../../../app").to_owned()
    }

    async fn prove(&self, token: &str, person: &Value) -> String {
        self.round_trip("/api/auth/proof", token, &json!({"provider": "acme"}), person).await
    }

    /// Somebody else, and their workspace.
    async fn workspace(&self, name: &str) -> (Person, WorkspaceId) {
        let admin = self.db.register(name).await;
        let workspace = admin.workspace;
        (admin, workspace)
    }

    async fn role_in(&self, workspace: &WorkspaceId, user: &Value) -> Option<Role> {
        let members = self.db.users().members(workspace).await.unwrap();
        members.iter().find(|member| json!(member.user) == *user).map(|member| member.role)
    }

    fn leave(&self) -> Leave {
        Leave { password_login: self.auth.password_login, ..fixture::leave(&self.db) }
    }

    async fn delete(&self, path: &str, token: &str, body: &Value) -> Answer {
        RequestBuilder::new("DELETE", path).token(token).json(body).send_to(&self.auth).await
    }

    async fn identities(&self, token: &str) -> Value {
        self.auth.get("/api/me/identities", token).await.expecting(200).json()
    }

    /// An operator has somebody set this password, and admins told.
    async fn let_in_by_operator(&self, person: &Person) {
        let mut operate = fixture::operate(&self.db, &self.queues);
        operate.people.mails = mail_orders(&self.queues);
        let order = json!({"operator": "test", "command": {"reset": {"email": person.email, "reclaim": false}}});
        let answer = serde_json::to_value(operate.answer(order).await.unwrap()).unwrap().to_string();
        let token = answer.split("#/reset?token=").nth(1).unwrap().split(['\\', '"', '\n', ' ']).next().unwrap();
        let reset = json!({"token": token, "password": PASSWORD});
        RequestBuilder::new("POST", "/api/auth/password/reset").json(&reset).send_to(&self.auth).await.expecting(204);
    }

    fn actions(&self) -> Vec<String> {
        let rows = self.db.scan("AuditTable");
        rows.iter().map(|row| row["action"]["S"].as_str().unwrap().to_owned()).collect()
    }
}

fn in_groups(groups: &[&str]) -> Value {
    let mut person = ada();
    person["groups"] = json!(groups);
    person
}

#[tokio::test]
async fn who_is_new_joins_the_workspace_that_is_configured() {
    let mut fixture = Fixture::trusting("example.com", RegistrationPolicy::Open).await;
    let (admin, id) = fixture.workspace("grace").await;
    let join = |workspace: &WorkspaceId| WorkspaceRole::of_newcomers(&format!("{workspace}:viewer")).ok();
    fixture.auth.oidc.as_mut().unwrap().join = join(&id);

    let me = fixture.enter(&ada()).await;
    assert_eq!((&me["workspace_id"], &me["role"]), (&json!(admin.workspace), &json!("viewer")));
    assert!(fixture.actions().contains(&"member.joined".to_owned()));

    // Who has left it is not let in again.
    let user = UserId::parse(me["user_id"].as_str().unwrap()).unwrap();
    fixture.db.users().remove_member(&removal(&admin.workspace, &admin.id, &user)).await.unwrap();
    assert_eq!(fixture.enter(&ada()).await["role"], "admin", "of a workspace of their own");

    fixture.auth.oidc.as_mut().unwrap().join = join(&WorkspaceId::generate());
    let bob = json!({"sub": "2", "email": "bob@example.com", "email_verified": true});
    assert_eq!(fixture.enter(&bob).await["role"], "admin");
}

#[tokio::test]
async fn groups_give_roles_change_them_and_take_them() {
    let fixture = Fixture::new().await;
    let (grace, id) = fixture.workspace("grace").await;
    let fixture = fixture.with_groups(&format!("Staff={id}:viewer,Engineering={id}:member"));
    let me = fixture.enter(&in_groups(&["Other"])).await;
    let role = async || fixture.role_in(&grace.workspace, &me["user_id"]).await;
    assert_eq!(role().await, None);

    fixture.enter(&in_groups(&["Staff", "Engineering"])).await;
    assert_eq!(role().await, Some(Role::Member));
    let user = UserId::parse(me["user_id"].as_str().unwrap()).unwrap();
    let as_member = Person { id: user, email: grace.email.clone(), workspace: grace.workspace };
    let key = ApiKeyBuilder::new(&ApiKeySecret::generate().unwrap(), &as_member).build();
    fixture.db.store_key(&key).await;
    fixture.enter(&in_groups(&["Staff"])).await;
    assert_eq!(role().await, Some(Role::Viewer));
    assert_eq!(fixture.db.users().keys(&grace.workspace, Timestamp::now()).await.unwrap(), [], "viewers have no keys");

    fixture.enter(&in_groups(&[])).await;
    assert_eq!(role().await, None);
    assert!(fixture.db.handover(&grace.workspace, &user).await.is_some());
    let told: Vec<_> = fixture.mails().iter().map(|mail| mail["change"].as_str().unwrap().to_owned()).collect();
    assert_eq!(told, ["joined", "role_changed", "removed"]);
    let actions = fixture.actions();
    for action in ["member.joined", "member.role_changed", "member.removed"] {
        assert_eq!(actions.iter().filter(|one| *one == action).count(), 1, "{action}: {actions:?}");
    }
}

#[tokio::test]
async fn groups_leave_alone_what_they_did_not_give() {
    let fixture = Fixture::new().await;
    let (grace, id) = fixture.workspace("grace").await;
    let fixture = fixture.with_groups(&format!("Engineering={id}:member,Owners={id}:admin"));
    let me = fixture.enter(&in_groups(&[])).await;
    let user = UserId::parse(me["user_id"].as_str().unwrap()).unwrap();
    let account = fixture.db.users().account(&user).await.unwrap().unwrap();
    let by_hand = Member::of(&account, Role::Viewer, Timestamp::now());
    fixture.db.add_member(&grace.workspace, &grace.id, &by_hand).await;
    let role = async || fixture.role_in(&grace.workspace, &me["user_id"]).await;

    fixture.enter(&in_groups(&["Other"])).await;
    assert_eq!(role().await, Some(Role::Viewer), "an admin has let them in");
    fixture.enter(&in_groups(&["Owners"])).await;
    assert_eq!(role().await, Some(Role::Admin));

    // The last admin stays.
    fixture.db.users().remove_member(&removal(&grace.workspace, &grace.id, &grace.id)).await.unwrap();
    for groups in [&["Engineering"] as &[_], &[]] {
        fixture.enter(&in_groups(groups)).await;
        assert_eq!(role().await, Some(Role::Admin), "{groups:?}");
    }
}

#[tokio::test]
async fn memberships_stay_while_the_groups_are_not_known() {
    let fixture = Fixture::new().await;
    let (grace, id) = fixture.workspace("grace").await;
    let fixture = fixture.with_groups(&format!("Engineering={id}:member"));
    let me = fixture.enter(&in_groups(&["Engineering"])).await;
    let role = async || fixture.role_in(&grace.workspace, &me["user_id"]).await;

    let mut too_many = ada();
    too_many["_claim_names"] = json!({"groups": "src1"});
    fixture.enter(&too_many).await;
    assert_eq!(role().await, Some(Role::Member));
    fixture.enter(&in_groups(&["Other"])).await;
    assert_eq!(role().await, None);
}

#[tokio::test]
async fn groups_count_as_well_for_who_joins_an_account() {
    let fixture = Fixture::new().await;
    let (grace, id) = fixture.workspace("grace").await;
    let fixture = fixture.with_groups(&format!("Engineering={id}:member"));
    let person = fixture.register("ada@example.com").await;

    let came_back = fixture.sign_in(&in_groups(&["Engineering"])).await;
    fixture.join(&came_back, &json!({"password": PASSWORD})).await.expecting(204);

    assert_eq!(fixture.role_in(&grace.workspace, &json!(person.id)).await, Some(Role::Member));
}

#[tokio::test]
async fn what_cannot_be_undone_takes_a_proof_at_the_provider() {
    let fixture = Fixture::new().await;
    let token = fixture.token(&ada()).await;
    let leave = fixture.leave();
    let slug = fixture
        .db
        .users()
        .workspaces_of(&UserId::parse(fixture.auth.me(&token).await.json()["user_id"].as_str().unwrap()).unwrap())
        .await
        .unwrap()
        .remove(0)
        .1
        .slug;
    let closing = async |at: Timestamp| {
        let close = RequestBuilder::new("DELETE", "/api/workspace").token(&token).json(&json!({"slug": slug}));
        close.at(at).send_to(&leave).await
    };
    let now = Timestamp::now();
    let asked = closing(now).await;
    assert_eq!(asked.problem_code(), (403, "proof_required".into()));
    let guessed = RequestBuilder::new("DELETE", "/api/me").token(&token).json(&json!({"password": PASSWORD}));
    assert_eq!(guessed.send_to(&leave).await.problem_code(), (401, "invalid_credentials".into()));

    let other = json!({"sub": "2", "email": "bob@example.com", "email_verified": true});
    assert_eq!(fixture.prove(&token, &other).await, "#/signed-in?refused=other");
    assert_eq!(closing(now).await.status, 403);
    assert_eq!(fixture.prove(&token, &ada()).await, "#/signed-in");
    let late = Timestamp::now().plus(Duration::from_secs(600));
    assert_eq!(closing(late).await.problem_code(), (403, "proof_required".into()));
    closing(Timestamp::now()).await.expecting(202);
    let gone = RequestBuilder::new("DELETE", "/api/me").token(&token).send_to(&leave).await;
    gone.expecting(204);
}

#[tokio::test]
async fn a_proof_is_of_one_session_and_may_be_the_password() {
    let fixture = Fixture::new().await;
    fixture.register("ada@example.com").await;
    let log_in = async || fixture.auth.log_in("ada@example.com", PASSWORD).await.text("token");
    let (one, other) = (log_in().await, log_in().await);
    let wrong = fixture.auth.post("/api/auth/proof", &one, &json!({"password": "wrong one"})).await;
    assert_eq!(wrong.problem_code(), (401, "invalid_credentials".into()));
    for body in [json!({}), json!({"password": PASSWORD, "provider": "acme"}), json!({"provider": "other"})] {
        assert_eq!(fixture.auth.post("/api/auth/proof", &one, &body).await.status, 400, "{body}");
    }

    fixture.auth.post("/api/auth/proof", &one, &json!({"password": PASSWORD})).await.expecting(204);

    let rename = async |token: &str| {
        let patch = RequestBuilder::new("PATCH", "/api/me").token(token).json(&json!({"email": "ada@example.org"}));
        patch.send_to(&fixture.auth).await
    };
    assert_eq!(rename(&other).await.problem_code(), (403, "proof_required".into()));
    rename(&one).await.expecting(200);
}

#[tokio::test]
async fn purging_all_takes_a_proof_of_people_and_none_of_keys() {
    let fixture = Fixture::new().await;
    let person = fixture.register("ada@example.com").await;
    let token = fixture.auth.log_in("ada@example.com", PASSWORD).await.text("token");
    let authenticator = Authenticator::new(tokens().with_sessions(fixture.db.sessions()), fixture.db.api_keys());
    let jobs = JobsApi { authenticator, ..fixture::jobs_api(&fixture.db) };
    let order = |kind: &str| json!({"kind": kind, "filter": {"all": true}});
    jobs.post("/api/jobs", &token, &order("archive")).await.expecting(202);
    let asked = jobs.post("/api/jobs", &token, &order("purge")).await;
    assert_eq!(asked.problem_code(), (403, "proof_required".into()));

    fixture.auth.post("/api/auth/proof", &token, &json!({"password": PASSWORD})).await.expecting(204);
    jobs.post("/api/jobs", &token, &order("purge")).await.expecting(202);

    let secret = ApiKeySecret::generate().unwrap();
    fixture.db.store_key(&ApiKeyBuilder::new(&secret, &person).build()).await;
    let by_key = RequestBuilder::new("POST", "/api/jobs").header("x-api-key", secret.reveal()).json(&order("purge"));
    by_key.send_to(&jobs).await.expecting(202);
}

#[tokio::test]
async fn a_proof_is_recent_where_the_provider_says_when() {
    let fixture = Fixture::new().await;
    fixture.provider.change_metadata("claims_supported", json!(["auth_time"]));
    let token = fixture.token(&ada()).await;
    let signed_in = |seconds_ago: i64| {
        let mut person = ada();
        person["auth_time"] = json!(Timestamp::now().unix_seconds() - seconds_ago);
        person
    };

    assert_eq!(fixture.prove(&token, &signed_in(3_600)).await, "#/signed-in?refused=stale");
    assert_eq!(fixture.prove(&token, &signed_in(0)).await, "#/signed-in");
}

#[tokio::test]
async fn an_identity_is_connected_from_a_session_and_removed_again() {
    let fixture = Fixture::new().await;
    fixture.register("ada@example.com").await;
    let token = fixture.auth.log_in("ada@example.com", PASSWORD).await.text("token");
    let other = fixture.auth.log_in("ada@example.com", PASSWORD).await.text("token");
    let connect = json!({"provider": "acme", "password": PASSWORD});
    let asked = fixture.auth.post("/api/me/identities", &token, &json!({"provider": "acme"})).await;
    assert_eq!(asked.problem_code(), (403, "proof_required".into()));
    let none = fixture.identities(&token).await;
    assert_eq!((&none["has_password"], &none["identities"]), (&json!(true), &json!([])));

    // It must confirm the address of the account.
    let private = json!({"sub": "9", "email": "ada@private.example", "email_verified": true});
    let elsewhere = fixture.round_trip("/api/me/identities", &token, &connect, &private).await;
    assert_eq!(elsewhere, "#/signed-in?refused=address");
    assert_eq!(fixture.round_trip("/api/me/identities", &token, &connect, &ada()).await, "#/signed-in");
    let listed = fixture.identities(&token).await;
    let identity = &listed["identities"][0];
    assert_eq!(
        (&identity["provider"], &identity["email"]),
        (&json!({"id": "acme", "name": "Acme"}), &json!("ada@example.com"))
    );
    assert_eq!(fixture.mails().pop().unwrap()["change"], "identity_connected");
    let me = fixture.auth.me(&token).await.json();
    assert_eq!(fixture.enter(&ada()).await["user_id"], me["user_id"]);

    // Another account can't have it as well.
    fixture.register("eve@example.com").await;
    let eve = fixture.auth.log_in("eve@example.com", PASSWORD).await.text("token");
    let taken = fixture.round_trip("/api/me/identities", &eve, &connect, &ada()).await;
    assert_eq!(taken, "#/signed-in?refused=taken");

    let path = format!("/api/me/identities/{}", identity["id"].as_str().unwrap());
    assert_eq!(fixture.delete(&path, &token, &json!({})).await.problem_code(), (403, "proof_required".into()));
    fixture.delete(&path, &eve, &json!({"password": PASSWORD})).await.expecting(204);
    assert_eq!(fixture.identities(&token).await, listed, "it isn't theirs to remove");
    fixture.delete(&path, &token, &json!({"password": PASSWORD})).await.expecting(204);
    assert_eq!(fixture.rows("IDENTITY#"), 0);
    assert_eq!((fixture.auth.me(&token).await.status, auth(&fixture.db).me(&other).await.status), (200, 401));
    let removed = fixture.mails().pop().unwrap();
    assert_eq!((&removed["change"], &removed["provider"]), (&json!("identity_removed"), &json!("Acme")));
    assert!(fixture.actions().contains(&"account.identity_removed".to_owned()));
    let joins = fixture.sign_in(&ada()).await;
    assert!(joins.header("location").contains("#/join?"), "it opens that account no more: {joins:?}");
}

#[tokio::test]
async fn nobody_connects_anything_after_their_session_has_ended() {
    let fixture = Fixture::new().await;
    fixture.register("ada@example.com").await;
    let token = fixture.auth.log_in("ada@example.com", PASSWORD).await.text("token");
    let connect = json!({"provider": "acme", "password": PASSWORD});
    let left = fixture.auth.post("/api/me/identities", &token, &connect).await.expecting(200);

    fixture.auth.post("/api/auth/logout", &token, &json!({})).await.expecting(204);
    let given = fixture.provider.sign_in(&left.text("url"), &ada());
    let came_back = fixture.come_back(&cookies(&left).remove(0), &given).await.expecting(302);

    assert_eq!(came_back.header("location"), "../../../../app#/signed-in?refused=expired");
    assert_eq!(fixture.rows("IDENTITY#"), 0);
}

#[tokio::test]
async fn a_password_is_made_and_removed_and_a_way_in_stays() {
    let fixture = Fixture::new().await;
    let token = fixture.token(&ada()).await;
    let identity = fixture.identities(&token).await["identities"][0]["id"].as_str().unwrap().to_owned();
    let (own, new) = (format!("/api/me/identities/{identity}"), json!({"new": PASSWORD}));
    let make = async || fixture.auth.post("/api/auth/password", &token, &new).await;
    assert_eq!(make().await.problem_code(), (403, "proof_required".into()));
    fixture.prove(&token, &ada()).await;
    assert_eq!(fixture.delete(&own, &token, &json!({})).await.problem_code(), (409, "last_sign_in".into()));
    fixture.delete("/api/auth/password", &token, &json!({})).await.expecting(204);

    make().await.expecting(204);
    assert_eq!(fixture.auth.log_in("ada@example.com", PASSWORD).await.status, 200);
    assert_eq!(fixture.identities(&token).await["has_password"], true);
    fixture.delete("/api/auth/password", &token, &json!({"password": PASSWORD})).await.expecting(204);
    assert_eq!(fixture.auth.log_in("ada@example.com", PASSWORD).await.status, 401);
    assert_eq!(fixture.mails().pop().unwrap()["change"], "password_removed");
    assert!(fixture.actions().contains(&"account.password_removed".to_owned()));

    fixture.register("eve@example.com").await;
    let eve = fixture.auth.log_in("eve@example.com", PASSWORD).await.text("token");
    let last = fixture.delete("/api/auth/password", &eve, &json!({"password": PASSWORD})).await;
    assert_eq!(last.problem_code(), (409, "last_sign_in".into()));
}

#[tokio::test]
async fn no_password_works_where_passwords_are_off() {
    let fixture = Fixture::new().await;
    let person = fixture.register("eve@example.com").await;
    let token = fixture.auth.log_in("eve@example.com", PASSWORD).await.text("token");
    fixture.register("ada@example.com").await;
    let fixture = fixture.without_passwords();
    let off = (403, "password_login_off".into());

    for email in ["eve@example.com", "nobody@example.com"] {
        assert_eq!(fixture.auth.log_in(email, PASSWORD).await.problem_code(), off, "{email}");
    }
    assert_eq!(fixture.auth.register("new@example.com", PASSWORD).await.problem_code(), off);
    let mailed = fixture.db.mailed_token(TokenPurpose::Reset, &person.id, "eve@example.com", Timestamp::now()).await;
    let reset = json!({"token": mailed.reveal(), "password": "a longer one than before"});
    let reset = RequestBuilder::new("POST", "/api/auth/password/reset").json(&reset).send_to(&fixture.auth).await;
    assert_eq!(reset.problem_code(), off);
    for (path, body) in [
        ("/api/auth/password", json!({"current": PASSWORD, "new": "a longer one than before"})),
        ("/api/auth/proof", json!({"password": PASSWORD})),
        ("/api/me/identities", json!({"password": PASSWORD, "provider": "acme"})),
    ] {
        assert_eq!(fixture.auth.post(path, &token, &body).await.problem_code(), off, "{path}");
    }
    let close = RequestBuilder::new("DELETE", "/api/me").token(&token).json(&json!({"password": PASSWORD}));
    assert_eq!(close.send_to(&fixture.leave()).await.problem_code(), off);
    let came_back = fixture.sign_in(&ada()).await;
    assert_eq!(fixture.join(&came_back, &json!({"password": PASSWORD})).await.problem_code(), off);
    let rules = fixture.auth.get_openly("/api/auth/registration").await.json();
    assert_eq!((&rules["password_login"], &rules["takes_password"]), (&json!(false), &json!(false)));

    // The mailed token joins an account, whose identity is the only way in then.
    let ada_there = fixture.db.users().find_by_email(&EmailAddress::parse("ada@example.com").unwrap()).await.unwrap();
    let mailed = fixture
        .db
        .mailed_token(TokenPurpose::Reset, &ada_there.unwrap().0.id, "ada@example.com", Timestamp::now())
        .await;
    fixture.join(&came_back, &json!({"token": mailed.reveal()})).await.expecting(204);
    let token = fixture.token(&ada()).await;
    fixture.prove(&token, &ada()).await;
    let identity = fixture.identities(&token).await["identities"][0]["id"].as_str().unwrap().to_owned();
    let last = fixture.delete(&format!("/api/me/identities/{identity}"), &token, &json!({})).await;
    assert_eq!(last.problem_code(), (409, "last_sign_in".into()));
}

#[tokio::test]
async fn an_operator_lets_somebody_in_for_a_day_where_passwords_are_off() {
    let fixture = Fixture::new().await;
    let (grace, _) = fixture.workspace("grace").await;
    let eve = colleague(&fixture.db, &grace, "eve", Role::Member).await;
    let fixture = fixture.without_passwords();

    fixture.let_in_by_operator(&eve).await;
    let told: BTreeSet<_> = fixture.mails().iter().map(|mail| mail["user_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(told, BTreeSet::from([grace.id.to_string(), eve.id.to_string()]));
    let changes: BTreeSet<_> = fixture.mails().iter().map(|mail| mail["change"].as_str().unwrap().to_owned()).collect();
    assert_eq!(changes, ["password_reset", "reset_issued"].map(str::to_owned).into());
    assert!(fixture.actions().contains(&"account.reset_issued".to_owned()));

    let log_in = async |at: Timestamp| {
        let body = json!({"email": eve.email, "password": PASSWORD});
        RequestBuilder::new("POST", "/api/auth/login").json(&body).at(at).send_to(&fixture.auth).await
    };
    log_in(Timestamp::now()).await.expecting(200);
    let next_day = Timestamp::now().plus(Duration::from_secs(24 * 3_600 + 1));
    assert_eq!(log_in(next_day).await.problem_code(), (403, "password_login_off".into()));
}

#[tokio::test]
async fn an_invitation_is_accepted_by_signing_in() {
    let fixture = Fixture::trusting("", RegistrationPolicy::Invited).await;
    let (grace, _) = fixture.workspace("grace").await;
    let by_invitation = async |token: &str, person: &Value| {
        let begin = RequestBuilder::new("GET", &format!("/api/auth/oidc/acme?invitation={token}"));
        let answer = begin.send_to(&fixture.auth).await.expecting(302);
        let given = fixture.provider.sign_in(answer.header("location"), person);
        fixture.come_back(&cookies(&answer).remove(0), &given).await.expecting(302)
    };
    let invite =
        async |email: &str, role| fixture.db.invite_at(&grace, email, role, Timestamp::now()).await.reveal().to_owned();
    let token = invite("ada@example.com", Role::Member).await;

    // It is for this address only.
    let bob = json!({"sub": "2", "email": "bob@example.com", "email_verified": true});
    assert_eq!(refused(&by_invitation(&token, &bob).await), "invitation");
    let me = fixture.me(&by_invitation(&token, &ada()).await).await;
    assert_eq!((&me["workspace_id"], &me["role"]), (&json!(grace.workspace), &json!("member")));
    assert_eq!(fixture.rows("INVITATIONS#"), 0);

    // Once more they are in, and hear that it is of no use.
    let again = by_invitation(&token, &ada()).await;
    assert!(again.header("location").ends_with("#/signed-in?refused=invitation"), "{again:?}");
    let nonsense = RequestBuilder::new("GET", "/api/auth/oidc/acme?invitation=nonsense").send_to(&fixture.auth).await;
    assert!(nonsense.header("location").ends_with("#/sign-in?refused=invitation"), "{nonsense:?}");
    // Who has an account joins as well, and the right to register makes one.
    let (bobs, _) = fixture.workspace("henry").await;
    let token = fixture.db.invite_at(&bobs, "ada@example.com", Role::Viewer, Timestamp::now()).await;
    fixture.me(&by_invitation(token.reveal(), &ada()).await).await;
    assert_eq!(fixture.role_in(&bobs.workspace, &me["user_id"]).await, Some(Role::Viewer));
    let right = fixture.db.invite_to_register(&EmailAddress::parse("bob@example.com").unwrap()).await;
    assert_eq!(fixture.me(&by_invitation(right.reveal(), &bob).await).await["email"], "bob@example.com");
    assert_eq!(fixture.rows("INVITATION#"), 2, "of both invitations, which lead nowhere");
}

#[tokio::test]
async fn another_site_signs_nobody_in_without_a_click() {
    let fixture = Fixture::new().await;
    for (site, page) in [("cross-site", true), ("same-site", true), ("same-origin", false), ("none", false)] {
        let begin = RequestBuilder::new("GET", "/api/auth/oidc/acme").header("sec-fetch-site", site);
        let answer = begin.send_to(&fixture.auth).await.expecting(302);
        assert_eq!(answer.header("location") == "../../../app#/sign-in", page, "{site}");
        assert_eq!(cookies(&answer).is_empty(), page, "{site}");
    }
}

#[tokio::test]
async fn the_provider_hears_whom_it_signs_out() {
    let fixture = Fixture::new().await;
    let signed_in = fixture.sign_in(&ada()).await;
    let hint = cookies(&signed_in).into_iter().find(|cookie| cookie.starts_with("linklet_oidc_hint=")).unwrap();
    assert!(hint.contains("; Path=/s/api/auth/oidc/acme/logout; Max-Age=86400; HttpOnly"), "{hint}");

    let out = RequestBuilder::new("GET", "/api/auth/oidc/acme/logout").cookie(&name_and_value(&hint));
    let out = out.send_to(&fixture.auth).await.expecting(302);

    let query = url::Url::parse(out.header("location")).unwrap();
    let token = query.query_pairs().find(|(name, _)| name == "id_token_hint").unwrap().1.into_owned();
    assert_eq!(token.split('.').count(), 3);
}

#[tokio::test]
async fn admins_see_how_members_sign_in_and_nothing_of_others() {
    let fixture = Fixture::trusting("example.com", RegistrationPolicy::Open).await;
    let (grace, id) = fixture.workspace("grace").await;
    let other = WorkspaceId::generate();
    let mut fixture = fixture.with_groups(&format!("Engineering={id}:member,Owners={other}:admin"));
    fixture.auth.oidc.as_mut().unwrap().join = WorkspaceRole::of_newcomers(&format!("{other}:viewer")).ok();
    fixture.enter(&in_groups(&["Engineering"])).await;
    let bob = colleague(&fixture.db, &grace, "bob", Role::Member).await;

    let shown = fixture
        .auth
        .get("/api/workspace/security", &token_of(&grace.id, &grace.workspace, Role::Admin))
        .await
        .expecting(200)
        .json();

    assert_eq!(shown["groups"], json!([{"group": "Engineering", "role": "member"}]));
    assert_eq!((&shown["join"], &shown["groups_claim"]), (&Value::Null, &json!("groups")));
    assert_eq!(shown["providers"], json!([{"id": "acme", "name": "Acme", "issuer": fixture.provider.issuer}]));
    assert_eq!((&shown["trusted_domains"], &shown["session_hours"]), (&json!(["example.com"]), &json!(24)));
    let ways: BTreeMap<_, _> = shown["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|member| {
            let way = json!([member["has_password"], member["providers"], member["by_groups_of"]]);
            (member["email"].as_str().unwrap().to_owned(), way)
        })
        .collect();
    assert_eq!(ways["ada@example.com"], json!([false, ["Acme"], "Acme"]));
    assert_eq!(ways["grace@example.com"], json!([true, [], null]));
    let page = fixture
        .auth
        .get("/api/workspace/security?limit=1", &token_of(&grace.id, &grace.workspace, Role::Admin))
        .await
        .json();
    assert_eq!((page["members"].as_array().unwrap().len(), &page["has_more"]), (1, &json!(true)));
    let lower = fixture.auth.get("/api/workspace/security", &token_of(&bob.id, &grace.workspace, Role::Member)).await;
    assert_eq!(lower.problem_code(), (403, "role_too_low".into()));
    let elsewhere = auth(&fixture.db)
        .get("/api/workspace/security", &token_of(&grace.id, &grace.workspace, Role::Admin))
        .await
        .expecting(200)
        .json();
    assert_eq!((&elsewhere["providers"], &elsewhere["groups"]), (&json!([]), &json!([])));
}

#[tokio::test]
async fn an_export_has_the_identities_of_the_person() {
    let fixture = Fixture::new().await;
    let token = fixture.token(&ada()).await;

    let page = fixture.leave().get("/api/me/export", &token).await.expecting(200).json();

    let items = page["items"].as_array().unwrap();
    let identity = items.iter().find(|item| item["kind"] == "identity").unwrap();
    assert_eq!((&identity["issuer"], &identity["email"]), (&json!(fixture.provider.issuer), &json!("ada@example.com")));
}
