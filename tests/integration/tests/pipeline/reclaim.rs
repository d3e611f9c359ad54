//! From a new password by mail, as the first proof of an address, to everything that others may have made being paused.

use futures_util::future::join_all;
use linklet_account::Account;
use linklet_auth::Auth;
use linklet_domain::{
    ApiKeySecret, Invitation, Membership, OneTimeToken, Role, Timestamp, TokenPurpose, UserId, WorkId, WorkspaceId,
};
use linklet_dynamodb::{
    AcceptOutcome, ActiveSession, CreateKeyOutcome, InviteOutcome, KeyChange, KeyOutcome, MemberChange, MemberOutcome,
    NewToken, TokenDelivery,
};
use linklet_jobs::JobRunner;
use linklet_lambda::{
    email_requests::EmailRequests, http::DeferringHandler, identity::Authenticator, passwords::Passwords,
};
use linklet_test_support::{
    Answer, ApiKeyBuilder, FakeQueues, Fault, Faults, Person, RequestBuilder, TestDynamoDb, a_session, an_origin,
    issuer, token_of, tokens,
};
use serde_json::{Value, json};
use std::time::Duration;

use crate::fixture::{colleague, guesses, jobs, limits, list, mail_orders};
use crate::streams::{JobsStream, job_step, retry_from};

const OWN_PASSWORD: &str = "a horse of her own";

/// The account of Ada's address, which somebody else has used, and Eve, whom they have made an admin of its workspace.
struct Fixture {
    db: TestDynamoDb,
    queues: FakeQueues,
    stream: JobsStream,
    ada: Person,
    eve: Person,
}

impl Fixture {
    async fn new() -> Self {
        let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
        let ada = db.register("ada").await;
        let eve = colleague(&db, &ada, "eve", Role::Admin).await;
        let stream = JobsStream::of(&db);
        Self { db, queues, stream, ada, eve }
    }

    fn mails(&self) -> EmailRequests {
        mail_orders(&self.queues)
    }

    fn auth(&self) -> Auth {
        let tokens = tokens().with_sessions(self.db.sessions());
        Auth { mails: self.mails(), ..Auth::new(self.db.users(), tokens, issuer(), limits(&self.db)) }
    }

    fn account(&self) -> Account {
        let tokens = tokens().with_sessions(self.db.sessions());
        let account = Account::new(
            tokens,
            self.db.users(),
            self.db.notifications(),
            guesses(&self.db),
            crate::fixture::sharing(&self.db),
        );
        Account { mails: self.mails(), ..account }
    }

    /// Sets a new password with a token that was mailed, or that an operator has shown.
    async fn reset(&self, delivery: TokenDelivery) {
        let token = OneTimeToken::generate(TokenPurpose::Reset).unwrap();
        let Person { id: user, email, .. } = &self.ada;
        let new = NewToken { hash: &token.hash(), user, email, issued_at: Timestamp::now() };
        self.db.one_time_tokens().issue_reset(&new, delivery).await.unwrap();
        let body = json!({"token": token.reveal(), "password": OWN_PASSWORD});
        RequestBuilder::new("POST", "/api/auth/password/reset").json(&body).send_to(&self.auth()).await.expecting(204);
    }

    /// Hands to the function what is new in the stream, also what it writes itself, and returns how many steps these were.
    async fn carry_with(&self, consumer: &JobRunner) -> usize {
        let mut steps = 0;
        loop {
            let records = self.stream.news();
            if records.is_empty() {
                return steps;
            }
            for record in &records {
                steps += 1;
                while retry_from(&job_step(consumer, record).await).is_some() {
                    steps += 1;
                    assert!(steps < 200, "it never ends");
                }
            }
        }
    }

    async fn carry(&self) {
        self.carry_with(&jobs(&self.db, &self.queues)).await;
        assert!(self.queues.bodies("dlq").is_empty());
    }

    async fn reclaim(&self) {
        self.reset(TokenDelivery::Mailed).await;
        self.carry().await;
    }

    /// Signs in to Ada's account from an address at this time, and returns the status.
    async fn sign_in(&self, address: &str, password: &str, at: Timestamp) -> u16 {
        let body = json!({"email": self.ada.email, "password": password});
        let request = RequestBuilder::new("POST", "/api/auth/login").json(&body).source_ip(address).at(at);
        request.send_to(&self.auth()).await.status
    }

    async fn key_of(&self, person: &Person) -> ApiKeySecret {
        let secret = ApiKeySecret::generate().unwrap();
        self.db.store_key(&ApiKeyBuilder::new(&secret, person).build()).await;
        secret
    }

    async fn invite(&self, inviter: &Person, email: &str) -> (InviteOutcome, OneTimeToken) {
        let token = OneTimeToken::generate(TokenPurpose::Invitation).unwrap();
        let email = email.parse().unwrap();
        let Person { id, workspace, .. } = inviter;
        let invitation = Invitation::new(workspace, email, Role::Admin, id, token.hash(), Timestamp::now());
        (self.db.users().invite(&invitation, &a_session(), None, &an_origin(id)).await.unwrap(), token)
    }

    fn token(&self, person: &Person) -> String {
        person.token(Role::Admin)
    }

    async fn opens(&self, secret: &ApiKeySecret) -> bool {
        let request = RequestBuilder::new("GET", "/api/urls").api_key(secret.reveal());
        request.send_to(&list(&self.db)).await.status == 200
    }

    async fn send(&self, method: &str, path: &str, who: &Person, body: Option<Value>) -> Answer {
        send(&self.account(), method, path, &self.token(who), body).await
    }

    /// Who of the members is paused.
    async fn paused(&self, workspace: &WorkspaceId) -> Vec<(UserId, bool)> {
        let members = self.db.users().members(workspace).await.unwrap();
        members.into_iter().map(|member| (member.user, member.active_role().is_none())).collect()
    }

    fn told(&self) -> Vec<(UserId, Value)> {
        let mut events = self.queues.events("notify");
        events.retain(|event| event["mail"] == "account_change");
        let user = |event: &Value| event["user_id"].as_str().unwrap().parse().unwrap();
        events.iter().map(|event| (user(event), event["change"].clone())).collect()
    }
}

async fn send(handler: &impl DeferringHandler, method: &str, path: &str, token: &str, body: Option<Value>) -> Answer {
    let request = RequestBuilder::new(method, path).token(token);
    let request = body.iter().fold(request, |request, body| request.json(body));
    request.send_to(handler).await
}

/// The attack: whoever has squatted an address keeps a key and an accomplice, for the time after its owner has taken it over.
#[tokio::test]
async fn the_first_proof_of_an_address_pauses_what_others_made_for_it() {
    let fixture = Fixture::new().await;
    let (own, eves) = (fixture.key_of(&fixture.ada).await, fixture.key_of(&fixture.eve).await);
    let (_, invitation) = fixture.invite(&fixture.ada, "carol@example.com").await;
    let (_, by_eve) = fixture.invite(&fixture.eve, "dave@example.com").await;
    let before = fixture.ada.token(Role::Admin);
    assert!(fixture.opens(&own).await && fixture.opens(&eves).await);

    fixture.reclaim().await;

    assert_eq!(send(&fixture.auth(), "GET", "/api/me", &before, None).await.status, 401, "sessions end");
    assert_eq!(fixture.paused(&fixture.ada.workspace).await, [(fixture.ada.id, false), (fixture.eve.id, true)]);
    assert_eq!(fixture.send("GET", "/api/workspace", &fixture.eve, None).await.status, 401);
    assert_eq!([fixture.opens(&own).await, fixture.opens(&eves).await], [false, false]);
    for (token, name) in [(&invitation, "carol"), (&by_eve, "dave")] {
        let person = fixture.db.register(name).await;
        let account = fixture.db.users().account(&person.id).await.unwrap().unwrap();
        let (users, session, origin) = (fixture.db.users(), a_session(), an_origin(&account.id));
        let accepted = users.accept_invitation(&token.hash(), &account, &session, &origin).await.unwrap();
        assert_eq!(accepted, AcceptOutcome::Invalid, "{name}");
    }
    assert!(fixture.db.task(WorkId::Reclaim(fixture.ada.id)).await.is_none(), "it is done");
}

/// The attack: from where a squatter has signed in, others' guesses are not in their way, and nobody hears of a sign-in.
#[tokio::test]
async fn reclaiming_an_account_makes_networks_of_its_squatter_strange_again() {
    const SQUATTED: &str = "a squatter's horse";
    const HOME: &str = "203.0.113.9";
    let (first, second) = ("198.51.100.1", "198.51.100.2");
    let fixture = Fixture::new().await;
    let hash = Passwords::default().hash(&SQUATTED.into()).unwrap();
    fixture.db.users().replace_password_hash(&fixture.ada.id, "none", &hash).await.unwrap();
    for address in [first, second] {
        assert_eq!(fixture.sign_in(address, SQUATTED, Timestamp::now()).await, 200);
    }
    let told = || fixture.queues.bodies("notify").iter().filter(|body| body.contains("signed_in")).count();
    let before = told();

    fixture.reclaim().await;

    let now = Timestamp::now();
    assert_eq!((fixture.sign_in(HOME, OWN_PASSWORD, now).await, told()), (200, before), "where it was reclaimed from");
    assert_eq!((fixture.sign_in(first, OWN_PASSWORD, now).await, told()), (200, before + 1));
    let guessers = (1..9).map(|host| format!("192.0.2.{host}"));
    join_all(guessers.map(async |address| fixture.sign_in(&address, "a wrong horse", now).await)).await;
    assert_eq!(fixture.sign_in(second, OWN_PASSWORD, now).await, 429, "no guess is free");
    assert_eq!(fixture.sign_in(HOME, OWN_PASSWORD, now).await, 200);
}

#[tokio::test]
async fn the_person_sees_what_is_paused_and_keeps_or_removes_each() {
    let fixture = Fixture::new().await;
    let bob = colleague(&fixture.db, &fixture.ada, "bob", Role::Member).await;
    let (own, eves) = (fixture.key_of(&fixture.ada).await, fixture.key_of(&fixture.eve).await);
    fixture.reclaim().await;
    let member = |person: &Person| format!("/api/workspace/members/{}", person.id);
    let key = |secret: &ApiKeySecret| format!("/api/keys/{}", secret.prefix().as_str());
    let keep = || Some(json!({"paused": false, "is_active": true}));

    let members = fixture.send("GET", "/api/workspace/members", &fixture.ada, None).await.json();
    let keys = fixture.send("GET", "/api/keys", &fixture.ada, None).await.json();
    let kept = [
        fixture.send("PATCH", &member(&bob), &fixture.ada, keep()).await,
        fixture.send("PATCH", &key(&own), &fixture.ada, keep()).await,
    ];
    let removed = [
        fixture.send("DELETE", &key(&eves), &fixture.ada, None).await,
        fixture.send("DELETE", &member(&fixture.eve), &fixture.ada, None).await,
    ];

    let has_paused = |list: &Value| list.as_array().unwrap().iter().filter(|one| one["paused_at"].is_string()).count();
    assert_eq!((has_paused(&members["members"]), has_paused(&keys["keys"])), (2, 2));
    for answer in kept {
        assert_eq!((answer.status, answer.json().get("paused_at")), (200, Some(&Value::Null)), "{}", answer.body);
    }
    assert_eq!(removed.map(|answer| answer.status), [204, 204]);
    assert_eq!((fixture.opens(&own).await, fixture.opens(&eves).await), (true, false));
    let bobs = bob.token(Role::Member);
    assert_eq!(send(&fixture.account(), "GET", "/api/workspace", &bobs, None).await.status, 200);
    assert_eq!(fixture.paused(&fixture.ada.workspace).await, [(fixture.ada.id, false), (bob.id, false)]);
}

#[tokio::test]
async fn only_a_mailed_reset_of_an_unproved_address_pauses_anything() {
    for (delivery, is_verified) in [(TokenDelivery::Shown, false), (TokenDelivery::Mailed, true)] {
        let fixture = Fixture::new().await;
        let key = fixture.key_of(&fixture.ada).await;
        if is_verified {
            let Person { id, email, .. } = &fixture.ada;
            fixture.db.users().verify_address(id, email, &an_origin(id)).await.unwrap();
        }

        fixture.reset(delivery).await;
        fixture.carry().await;

        assert!(fixture.opens(&key).await, "{delivery:?}");
        assert!(fixture.paused(&fixture.ada.workspace).await.iter().all(|(_, is_paused)| !is_paused), "{delivery:?}");
    }
}

#[tokio::test]
async fn in_workspaces_of_others_only_what_the_account_has_made_is_paused() {
    let fixture = Fixture::new().await;
    let grace = fixture.db.register("grace").await;
    let guest = Person { workspace: grace.workspace, ..fixture.ada.clone() };
    fixture.db.add_member(&grace.workspace, &grace.id, &guest.as_member(Role::Admin)).await;
    let (graces, guests) = (fixture.key_of(&grace).await, fixture.key_of(&guest).await);
    let (_, by_guest) = fixture.invite(&guest, "carol@example.com").await;
    let (_, by_grace) = fixture.invite(&grace, "dave@example.com").await;

    fixture.reclaim().await;

    assert!(fixture.paused(&grace.workspace).await.iter().all(|(_, is_paused)| !is_paused));
    assert_eq!((fixture.opens(&graces).await, fixture.opens(&guests).await), (true, false));
    let open = fixture.db.users().invitations(&grace.workspace, Timestamp::now()).await.unwrap();
    let tokens: Vec<_> = open.iter().map(|invitation| &invitation.token).collect();
    assert_eq!(tokens, [&by_grace.hash()]);
    assert_ne!(tokens, [&by_guest.hash()]);
}

#[tokio::test]
async fn a_demoted_creator_takes_over_no_workspace_by_resetting_a_password() {
    let fixture = Fixture::new().await;
    let (own, eves) = (fixture.key_of(&fixture.ada).await, fixture.key_of(&fixture.eve).await);
    let path = format!("/api/workspace/members/{}", fixture.ada.id);
    fixture.send("PATCH", &path, &fixture.eve, Some(json!({"role": "member"}))).await.expecting(200);

    fixture.reclaim().await;

    assert!(fixture.paused(&fixture.ada.workspace).await.iter().all(|(_, is_paused)| !is_paused));
    let members = fixture.send("GET", "/api/workspace/members", &fixture.eve, None).await.json();
    assert_eq!(members["members"][0]["role"], "member");
    assert_eq!([fixture.opens(&own).await, fixture.opens(&eves).await], [false, true]);
}

/// A turn may come late, or again from the dead-letter queue.
#[tokio::test]
async fn what_the_person_has_made_since_they_reclaimed_the_account_stays() {
    let fixture = Fixture::new().await;
    fixture.reset(TokenDelivery::Mailed).await;
    let later = Timestamp::now().plus(Duration::from_secs(60));
    let (own, eves) = (ApiKeySecret::generate().unwrap(), ApiKeySecret::generate().unwrap());
    for (secret, person) in [(&own, &fixture.ada), (&eves, &fixture.eve)] {
        fixture.db.store_key(&ApiKeyBuilder::new(secret, person).created_at(later).build()).await;
    }

    fixture.carry().await;

    assert_eq!([fixture.opens(&own).await, fixture.opens(&eves).await], [true, false]);
}

#[tokio::test]
async fn what_is_not_paused_does_not_go_on_again() {
    let fixture = Fixture::new().await;
    let key = fixture.key_of(&fixture.ada).await;
    let key_path = format!("/api/keys/{}", key.prefix());
    let member_path = format!("/api/workspace/members/{}", fixture.eve.id);

    let resumed = fixture.send("PATCH", &key_path, &fixture.ada, Some(json!({"is_active": true}))).await;
    let member = Some(json!({"role": "member", "paused": false}));
    let changed = fixture.send("PATCH", &member_path, &fixture.ada, member).await;

    assert_eq!((resumed.status, changed.status), (200, 200));
    assert_eq!(fixture.told(), [(fixture.eve.id, json!("role_changed"))]);
}

#[tokio::test]
async fn a_keys_creator_hears_once_that_it_is_paused_or_resumed() {
    let fixture = Fixture::new().await;
    let key = fixture.key_of(&fixture.eve).await;
    let path = format!("/api/keys/{}", key.prefix());
    let at_once = async |is_active: bool| {
        let change = || fixture.send("PATCH", &path, &fixture.ada, Some(json!({"is_active": is_active})));
        for answer in join_all((0..3).map(|_| change())).await {
            assert_eq!((answer.status, &answer.json()["is_active"]), (200, &json!(is_active)), "{}", answer.body);
        }
    };

    at_once(false).await;
    at_once(true).await;
    fixture.send("PATCH", &path, &fixture.ada, Some(json!({"name": "Nightly"}))).await.expecting(200);

    let eve = || fixture.eve.id;
    assert_eq!(fixture.told(), [(eve(), json!("key_paused")), (eve(), json!("key_resumed"))]);
}

/// What was under way when the sessions ended comes too late, also if its session was looked up before.
#[tokio::test]
async fn nothing_that_gives_access_is_made_in_a_session_that_has_ended() {
    let fixture = Fixture::new().await;
    let (session, users) = (a_session(), fixture.db.users());
    let paused = fixture.key_of(&fixture.ada).await;
    let secret = ApiKeySecret::generate().unwrap();
    let token = OneTimeToken::generate(TokenPurpose::Invitation).unwrap().hash();
    let email = "carol@example.com".parse().unwrap();
    let Person { id, workspace, .. } = &fixture.ada;
    let bob = fixture.db.register("bob").await;
    let (_, by_bob) = fixture.invite(&bob, fixture.ada.email.as_str()).await;
    let account = users.account(id).await.unwrap().unwrap();
    let invitation = Invitation::new(workspace, email, Role::Admin, id, token, Timestamp::now());

    fixture.reclaim().await;

    let (key, origin) = (ApiKeyBuilder::new(&secret, &fixture.ada).build(), an_origin(id));
    let made = users.create_key(&key, &session, None, &origin).await.unwrap();
    let invited = users.invite(&invitation, &session, None, &origin).await.unwrap();
    assert_eq!((made, invited), (CreateKeyOutcome::NotAllowed, InviteOutcome::CallerNotAdmin));
    let accepted = users.accept_invitation(&by_bob.hash(), &account, &session, &origin).await.unwrap();
    assert_eq!(accepted, AcceptOutcome::Invalid);
    let (caller, resumes) = (ActiveSession { user: id, session: &session }, MemberChange { role: None, resumes: true });
    let changed = users.change_member(workspace, caller, &fixture.eve.id, resumes, &origin).await.unwrap();
    assert_eq!(changed, MemberOutcome::CallerNotAdmin);
    let resume = KeyChange { is_active: Some(true), ..KeyChange::default() };
    let resumed = users.change_key(workspace, caller, &paused.prefix(), &resume, &origin).await.unwrap();
    assert_eq!(resumed, KeyOutcome::NotAllowed(*id));
    assert_eq!(users.create_key(&key, &a_session(), None, &origin).await.unwrap(), CreateKeyOutcome::Created);
    let (by_eve, _) = fixture.invite(&fixture.eve, "carol@example.com").await;
    assert_eq!(by_eve, InviteOutcome::CallerNotAdmin, "a paused admin invites nobody");
}

#[tokio::test]
async fn short_steps_and_calls_that_fail_come_to_the_same_end() {
    for (step, fault) in [(0, None), (20_000, Some(Fault::NotSent)), (0, Some(Fault::AnswerLost))] {
        let fixture = Fixture::new().await;
        for name in ["bob", "carol", "dave"] {
            colleague(&fixture.db, &fixture.ada, name, Role::Member).await;
        }
        let key = fixture.key_of(&fixture.ada).await;
        let (users, faults): (_, Faults) = fixture.db.users_through();
        let step = Duration::from_millis(step);
        let mut consumer = JobRunner { step, ..jobs(&fixture.db, &fixture.queues) };
        consumer.kinds.reclaims.users = users;
        fixture.reset(TokenDelivery::Mailed).await;
        faults.plan_all((5..400).step_by(11).filter_map(|call| Some((call, fault?))));

        let steps = fixture.carry_with(&consumer).await;

        assert!(steps > 1, "{step:?} {fault:?}");
        let paused = fixture.paused(&fixture.ada.workspace).await;
        assert_eq!(paused.iter().filter(|(_, is_paused)| *is_paused).count(), 4, "{step:?} {fault:?}");
        assert!(!fixture.opens(&key).await, "{step:?} {fault:?}");
        assert!(fixture.db.task(WorkId::Reclaim(fixture.ada.id)).await.is_none(), "{step:?} {fault:?}");
    }
}

#[tokio::test]
async fn whoever_is_concerned_hears_of_it() {
    let fixture = Fixture::new().await;

    fixture.reclaim().await;

    let (ada, eve) = (fixture.ada.id, fixture.eve.id);
    assert_eq!(fixture.told(), [(ada, json!("password_reset")), (eve, json!("membership_paused"))]);
    let reset = fixture.queues.events("notify").into_iter().find(|event| event["change"] == "password_reset").unwrap();
    assert_eq!(reset["pauses"], true);
}

#[tokio::test]
async fn a_paused_membership_is_listed_but_cannot_be_switched_to() {
    let fixture = Fixture::new().await;
    let home = fixture.db.users().memberships(&fixture.eve.id).await.unwrap();
    let own: Vec<&Membership> = home.iter().filter(|one| one.workspace != fixture.ada.workspace).collect();
    let token = token_of(&fixture.eve.id, &own[0].workspace, Role::Admin);
    fixture.reclaim().await;

    let listed = send(&fixture.account(), "GET", "/api/me/workspaces", &token, None).await.json();
    send(&fixture.auth(), "POST", "/api/auth/switch", &token, Some(json!({"workspace": "ada"}))).await.expecting(404);

    let paused: Vec<_> =
        listed["workspaces"].as_array().unwrap().iter().map(|one| one["paused_at"].is_string()).collect();
    assert_eq!(paused, [false, true]);
}

#[tokio::test]
async fn paused_is_only_ever_taken_back_by_an_admin() {
    let fixture = Fixture::new().await;
    let bob = colleague(&fixture.db, &fixture.ada, "bob", Role::Member).await;
    fixture.reclaim().await;
    let path = format!("/api/workspace/members/{}", bob.id);

    for (body, sentence) in [
        (json!({"paused": true}), "paused can only be set to false"),
        (json!({"paused": "no"}), "paused must be true or false"),
        (json!({"paused_at": null}), "paused_at cannot be changed"),
        (json!({}), "role is required"),
    ] {
        let answer = fixture.send("PATCH", &path, &fixture.ada, Some(body.clone())).await;
        assert_eq!(answer.problem(), (400, sentence.into()), "{body}");
    }
    fixture.send("PATCH", &path, &fixture.eve, Some(json!({"paused": false}))).await.expecting(401);
    // Another role alone leaves it paused.
    let role = fixture.send("PATCH", &path, &fixture.ada, Some(json!({"role": "viewer"}))).await.json();
    assert_eq!((&role["role"], role["paused_at"].is_string()), (&json!("viewer"), true));
}

#[tokio::test]
async fn a_workspace_keeps_an_admin_who_is_not_paused() {
    let fixture = Fixture::new().await;
    fixture.reclaim().await;
    let own = format!("/api/workspace/members/{}", fixture.ada.id);

    let leaves = fixture.send("DELETE", &own, &fixture.ada, None).await;
    let steps_down = fixture.send("PATCH", &own, &fixture.ada, Some(json!({"role": "member"}))).await;

    assert_eq!((leaves.problem().0, steps_down.problem().0), (409, 409));
}

/// What a function that takes keys has read of one is good for a minute.
#[tokio::test]
async fn a_paused_key_is_refused_unless_seen_within_the_minute() {
    let fixture = Fixture::new().await;
    let key = fixture.key_of(&fixture.ada).await;
    let environment =
        linklet_list::List { authenticator: Authenticator::new(tokens(), fixture.db.api_keys()), ..list(&fixture.db) };
    let at = async |seconds| {
        let time = Timestamp::now().plus(Duration::from_secs(seconds));
        RequestBuilder::new("GET", "/api/urls").api_key(key.reveal()).at(time).send_to(&environment).await.status
    };
    assert_eq!(at(0).await, 200);

    fixture.reclaim().await;

    assert_eq!(at(61).await, 401);
}
