//! What somebody with bad intentions tries. Each test says what should be so.

use std::collections::HashMap;

use linklet_auth::{Oidc, OidcSecret};
use linklet_domain::{Identity, Precondition, Reach, WorkspacePatch, WorkspaceSlug};
use linklet_dynamodb::{ActiveSession, ConnectOutcome};
use linklet_oidc::Settings;
use linklet_test_support::provider::{CLIENT, FakeProvider};
use linklet_test_support::{FakeSecret, Outage};

use super::*;

fn person(sub: &str, email: &str) -> Value {
    json!({"sub": sub, "email": email, "email_verified": true})
}

fn id_of(me: &Value) -> UserId {
    UserId::parse(me["user_id"].as_str().unwrap()).unwrap()
}

impl Fixture {
    async fn rename(&self, whose: &WorkspaceId, by: &UserId, slug: &str) {
        let patch = WorkspacePatch { slug: WorkspaceSlug::parse(slug).ok(), ..WorkspacePatch::default() };
        let (users, origin) = (self.db.users(), an_origin(by));
        users.change_workspace(whose, by, &patch, &Precondition::default(), &origin).await.unwrap();
    }

    async fn mailed(&self, user: &UserId, email: &str) -> String {
        self.db.mailed_token(TokenPurpose::Reset, user, email, Timestamp::now()).await.reveal().to_owned()
    }

    /// Somebody registers this address, and has an identity connected, however they did it.
    async fn squat(&self, email: &str, subject: &str) -> Person {
        let squatted = self.register(email).await;
        self.plant(&squatted, subject).await;
        squatted
    }

    async fn plant(&self, person: &Person, subject: &str) -> ConnectOutcome {
        let identity = Identity::new(self.provider.issuer.clone(), subject, None, Timestamp::now());
        let (session, users) = (a_session(), self.db.users());
        let acting = ActiveSession { user: &person.id, session: &session };
        users.connect_identity(acting, &identity, &an_origin(&person.id)).await.unwrap()
    }

    /// The account that the session of whoever has signed in is of, if there is one.
    async fn account_after(&self, signed_in: &Answer) -> Option<Value> {
        let has_session = cookies(signed_in).iter().any(|cookie| cookie.starts_with("linklet_refresh="));
        if has_session { Some(self.me(signed_in).await["user_id"].clone()) } else { None }
    }
}

#[tokio::test]
async fn a_squatters_identity_opens_no_account_that_is_joined_by_mail() {
    let fixture = Fixture::new().await;
    let eve = person("66", "eve@example.org");
    let squatted = fixture.squat("ada@example.com", "66").await;

    let came_back = fixture.sign_in(&ada()).await;
    let token = fixture.mailed(&squatted.id, "ada@example.com").await;
    fixture.join(&came_back, &json!({"token": token})).await.expecting(204);

    let again = fixture.sign_in(&eve).await;
    assert_ne!(fixture.account_after(&again).await, Some(json!(squatted.id)), "the squatter is in Ada's account");
}

#[tokio::test]
async fn a_squatters_identity_opens_no_account_whose_password_is_reset_by_mail() {
    let fixture = Fixture::new().await;
    let eve = person("66", "eve@example.org");
    let squatted = fixture.squat("ada@example.com", "66").await;

    let token = fixture.mailed(&squatted.id, "ada@example.com").await;
    let reset = json!({"token": token, "password": "another horse battery"});
    RequestBuilder::new("POST", "/api/auth/password/reset").json(&reset).send_to(&fixture.auth).await.expecting(204);

    let again = fixture.sign_in(&eve).await;
    assert_ne!(fixture.account_after(&again).await, Some(json!(squatted.id)), "the squatter is in Ada's account");
}

#[tokio::test]
async fn whoever_had_an_address_before_keeps_no_way_into_what_the_heir_joins() {
    let fixture = Fixture::new().await;
    let first = fixture.enter(&ada()).await;
    let heir = person("2", "ada@example.com");

    let came_back = fixture.sign_in(&heir).await;
    let token = fixture.mailed(&id_of(&first), "ada@example.com").await;
    fixture.join(&came_back, &json!({"token": token})).await.expecting(204);

    let again = fixture.sign_in(&ada()).await;
    assert_ne!(fixture.account_after(&again).await, Some(first["user_id"].clone()), "two people are in one account");
}

#[tokio::test]
async fn a_remembered_break_glass_session_ends_with_its_day() {
    let fixture = Fixture::new().await;
    let (grace, _) = fixture.workspace("grace").await;
    let fixture = fixture.without_passwords();
    fixture.let_in_by_operator(&grace).await;

    let body = json!({"email": grace.email, "password": PASSWORD, "remember": true});
    let login = RequestBuilder::new("POST", "/api/auth/login").json(&body).send_to(&fixture.auth).await.expecting(200);
    let cookie = name_and_value(&cookies(&login)[0]);
    let refresh = RequestBuilder::new("POST", "/api/auth/refresh").json(&json!({})).cookie(&cookie);
    let next_day = Timestamp::now().plus(Duration::from_secs(25 * 3_600));
    assert_eq!(refresh.at(next_day).send_to(&fixture.auth).await.status, 401);
    // Nor does a token that can't be renewed.
    let late = Timestamp::now().plus(Duration::from_secs(23 * 3_600));
    let body = json!({"email": grace.email, "password": PASSWORD});
    let login = RequestBuilder::new("POST", "/api/auth/login").json(&body).at(late).send_to(&fixture.auth).await;
    assert!(at(&login.text("expires_at")) <= next_day, "{}", login.text("expires_at"));
}

#[tokio::test]
async fn sessions_by_password_are_not_renewed_once_passwords_are_off() {
    let fixture = Fixture::new().await;
    fixture.register("eve@example.com").await;
    let body = json!({"email": "eve@example.com", "password": PASSWORD, "remember": true});
    let login = RequestBuilder::new("POST", "/api/auth/login").json(&body).send_to(&fixture.auth).await.expecting(200);
    let cookie = name_and_value(&cookies(&login)[0]);
    let fixture = fixture.without_passwords();

    let refresh = RequestBuilder::new("POST", "/api/auth/refresh").json(&json!({})).cookie(&cookie);
    let later = Timestamp::now().plus(Duration::from_secs(29 * 24 * 3_600));
    assert_eq!(refresh.at(later).send_to(&fixture.auth).await.status, 401);
}

#[tokio::test]
async fn what_groups_gave_ends_although_the_identity_was_removed_meanwhile() {
    let fixture = Fixture::new().await;
    let (grace, id) = fixture.workspace("grace").await;
    let fixture = fixture.with_groups(&format!("Leads={id}:admin"));
    let token = fixture.token(&in_groups(&["Leads"])).await;
    let me = fixture.auth.me(&token).await.json();
    fixture.prove(&token, &in_groups(&["Leads"])).await;
    fixture.auth.post("/api/auth/password", &token, &json!({"new": PASSWORD})).await.expecting(204);

    // Somebody who knows that they leave the group takes the mark away with the identity, and connects it again.
    let identity = fixture.identities(&token).await["identities"][0]["id"].as_str().unwrap().to_owned();
    let own = format!("/api/me/identities/{identity}");
    fixture.delete(&own, &token, &json!({"password": PASSWORD})).await.expecting(204);
    let token = fixture.auth.log_in("ada@example.com", PASSWORD).await.text("token");
    let connect = json!({"provider": "acme", "password": PASSWORD});
    fixture.round_trip("/api/me/identities", &token, &connect, &in_groups(&[])).await;
    assert_eq!(fixture.enter(&in_groups(&[])).await["user_id"], me["user_id"]);

    assert_eq!(fixture.role_in(&grace.workspace, &me["user_id"]).await, None, "still an admin, by no group");
}

#[tokio::test]
async fn a_join_cookie_works_once_and_leaves_what_groups_gave_known() {
    let fixture = Fixture::new().await;
    let (grace, id) = fixture.workspace("grace").await;
    let fixture = fixture.with_groups(&format!("Engineering={id}:member"));
    let me = fixture.register("ada@example.com").await;
    let came_back = fixture.sign_in(&in_groups(&[])).await;
    fixture.join(&came_back, &json!({"password": PASSWORD})).await.expecting(204);
    fixture.enter(&in_groups(&["Engineering"])).await;

    // The same cookie once more, which a browser was told to forget.
    fixture.join(&came_back, &json!({"password": PASSWORD})).await;

    fixture.enter(&in_groups(&[])).await;
    assert_eq!(fixture.role_in(&grace.workspace, &json!(me.id)).await, None, "the mark of the groups is gone");
}

#[tokio::test]
async fn old_groups_in_a_join_cookie_give_no_role_again() {
    let fixture = Fixture::new().await;
    let (grace, id) = fixture.workspace("grace").await;
    let fixture = fixture.with_groups(&format!("Leads={id}:admin"));
    let me = fixture.register("ada@example.com").await;
    let came_back = fixture.sign_in(&in_groups(&["Leads"])).await;
    fixture.join(&came_back, &json!({"password": PASSWORD})).await.expecting(204);
    fixture.enter(&in_groups(&[])).await;
    assert_eq!(fixture.role_in(&grace.workspace, &json!(me.id)).await, None);

    fixture.join(&came_back, &json!({"password": PASSWORD})).await;

    assert_eq!(fixture.role_in(&grace.workspace, &json!(me.id)).await, None, "an admin again by yesterday's groups");
}

#[tokio::test]
async fn whoever_takes_a_free_slug_gets_neither_members_nor_ends_their_memberships() {
    let fixture = Fixture::new().await;
    let (grace, id) = fixture.workspace("grace").await;
    let (mallory, _) = fixture.workspace("mallory").await;
    let fixture = fixture.with_groups(&format!("Engineering={id}:member"));
    let me = fixture.enter(&in_groups(&["Engineering"])).await;
    let slug = fixture.db.users().workspace(&id).await.unwrap().unwrap().slug;
    fixture.rename(&grace.workspace, &grace.id, "grace-and-friends").await;
    fixture.rename(&mallory.workspace, &mallory.id, slug.as_str()).await;

    fixture.enter(&in_groups(&["Engineering"])).await;

    let (own, foreign) = (
        fixture.role_in(&grace.workspace, &me["user_id"]).await,
        fixture.role_in(&mallory.workspace, &me["user_id"]).await,
    );
    assert_eq!((own, foreign), (Some(Role::Member), None));
}

#[tokio::test]
async fn an_identity_opens_a_new_account_also_after_the_old_one_is_forgotten() {
    let fixture = Fixture::new().await;
    let token = fixture.token(&ada()).await;
    let old = id_of(&fixture.auth.me(&token).await.json());
    fixture.prove(&token, &ada()).await;
    RequestBuilder::new("DELETE", "/api/me").token(&token).send_to(&fixture.leave()).await.expecting(204);

    let new = fixture.enter(&ada()).await;
    assert_ne!(id_of(&new), old);
    fixture.db.users().forget_person(&old).await.unwrap();

    let again = fixture.sign_in(&ada()).await;
    assert_eq!(fixture.account_after(&again).await, Some(new["user_id"].clone()), "{again:?}");
}

#[tokio::test]
async fn sessions_end_that_an_identity_began_while_its_removal_was_under_way() {
    let fixture = Fixture::new().await;
    fixture.squat("grace@example.com", "1").await;
    let token = fixture.auth.log_in("grace@example.com", PASSWORD).await.text("token");
    let identity = fixture.identities(&token).await["identities"][0]["id"].as_str().unwrap().to_owned();
    let asked_at = Timestamp::now();
    tokio::time::sleep(Duration::from_millis(20)).await;
    // The password is being hashed while the thief signs in.
    let thief = fixture.token(&ada()).await;

    let path = format!("/api/me/identities/{identity}");
    let remove = RequestBuilder::new("DELETE", &path).token(&token).json(&json!({"password": PASSWORD}));
    remove.at(asked_at).send_to(&fixture.auth).await.expecting(204);

    assert_eq!(auth(&fixture.db).me(&thief).await.status, 401, "the session outlives the identity that began it");
}

#[tokio::test]
async fn an_identity_at_no_configured_provider_is_no_way_in() {
    let fixture = Fixture::new().await;
    let token = fixture.token(&ada()).await;
    fixture.prove(&token, &ada()).await;
    fixture.auth.post("/api/auth/password", &token, &json!({"new": PASSWORD})).await.expecting(204);
    let elsewhere = Auth { mails: mail_orders(&fixture.queues), ..auth(&fixture.db) };

    let body = json!({"password": PASSWORD});
    let removed = RequestBuilder::new("DELETE", "/api/auth/password").token(&token).json(&body);
    assert_eq!(removed.send_to(&elsewhere).await.problem_code(), (409, "last_sign_in".into()));
}

#[tokio::test]
async fn the_audit_log_says_that_joining_took_the_password_away() {
    let fixture = Fixture::new().await;
    let squatted = fixture.register("ada@example.com").await;
    let came_back = fixture.sign_in(&ada()).await;
    let token = fixture.mailed(&squatted.id, "ada@example.com").await;
    fixture.join(&came_back, &json!({"token": token})).await.expecting(204);

    assert!(fixture.actions().contains(&"account.password_removed".to_owned()), "{:?}", fixture.actions());
}

#[tokio::test]
async fn another_site_signs_nobody_out_at_the_provider() {
    let fixture = Fixture::new().await;
    let signed_in = fixture.sign_in(&ada()).await;
    let hint = cookies(&signed_in).into_iter().find(|cookie| cookie.starts_with("linklet_oidc_hint=")).unwrap();

    let out = RequestBuilder::new("GET", "/api/auth/oidc/acme/logout").cookie(&name_and_value(&hint));
    let out = out.header("sec-fetch-site", "cross-site").send_to(&fixture.auth).await.expecting(302);

    assert!(!out.header("location").contains("id_token_hint"), "{}", out.header("location"));
}

#[tokio::test]
async fn made_up_codes_are_guesses_that_have_to_wait() {
    let fixture = Fixture::new().await;
    let way = fixture.begin().await;
    let given = fixture.provider.sign_in(&way.address, &ada());
    let mut made_up: HashMap<_, _> = given.clone();
    for number in 0..60 {
        made_up.insert("code".to_owned(), number.to_string());
        if refused(&fixture.come_back(&way.cookie, &made_up).await) == "too_many" {
            return;
        }
    }
    let asked = fixture.provider.paths().iter().filter(|path| **path == "token").count();
    panic!("one cookie has made the provider judge {asked} codes");
}

#[tokio::test]
async fn an_old_sign_in_proves_nothing_even_where_the_metadata_is_silent() {
    let fixture = Fixture::new().await;
    let token = fixture.token(&ada()).await;
    let mut long_ago = ada();
    long_ago["auth_time"] = json!(Timestamp::now().unix_seconds() - 36_000);

    assert_eq!(fixture.prove(&token, &long_ago).await, "#/signed-in?refused=stale");
}

#[tokio::test]
async fn cookies_fit_into_browsers_whatever_groups_and_invitations_there_are() {
    let fixture = Fixture::new().await;
    let groups: Vec<_> = (0..20).map(|number| format!("{number}={}:viewer", WorkspaceId::generate())).collect();
    let config = groups.join(",");
    assert!(config.len() >= 900, "as many as fit into the parameter: {}", config.len());
    let fixture = fixture.with_groups(&config);
    fixture.register("ada@example.com").await;
    let all: Vec<_> = (0..20).map(|number| number.to_string()).collect();
    let came_back = fixture.sign_in(&in_groups(&all.iter().map(String::as_str).collect::<Vec<_>>())).await;
    let join = cookies(&came_back).into_iter().find(|cookie| cookie.starts_with("linklet_join=")).unwrap();
    let begin = RequestBuilder::new("GET", &format!("/api/auth/oidc/acme?invitation={}", "x".repeat(4_000)));
    let begun = begin.send_to(&fixture.auth).await.expecting(302);
    let longest = cookies(&begun).iter().map(String::len).max().unwrap_or_default();

    assert!(join.len() <= 4_096 && longest <= 4_096, "{} {longest}", join.len());
}

#[tokio::test]
async fn two_first_sign_ins_at_once_are_both_let_in() {
    let fixture = Fixture::new().await;
    for number in 0..5 {
        let somebody = person(&number.to_string(), &format!("somebody{number}@example.com"));
        let (one, other) = tokio::join!(fixture.sign_in(&somebody), fixture.sign_in(&somebody));
        for answer in [&one, &other] {
            assert_eq!(answer.header("location"), "../../../../app#/signed-in");
        }
    }
}

#[tokio::test]
async fn an_invited_newcomer_is_not_told_that_the_invitation_is_useless() {
    let fixture = Fixture::trusting("", RegistrationPolicy::Invited).await;
    let (grace, _) = fixture.workspace("grace").await;
    let token = fixture.db.invite_at(&grace, "ada@example.com", Role::Member, Timestamp::now()).await;
    let begin = RequestBuilder::new("GET", &format!("/api/auth/oidc/acme?invitation={}", token.reveal()));
    let answer = begin.send_to(&fixture.auth).await.expecting(302);
    let given = fixture.provider.sign_in(answer.header("location"), &ada());

    let came_back = fixture.come_back(&cookies(&answer).remove(0), &given).await.expecting(302);
    assert_eq!(came_back.header("location"), "../../../../app#/signed-in");
}

#[tokio::test]
async fn a_provider_moves_no_account_to_a_domain_that_registration_refuses() {
    let domains = RegistrationPolicy::parse("domains", "example.com").unwrap();
    let fixture = Fixture::trusting("", domains).await;
    fixture.enter(&ada()).await;

    let moved = fixture.enter(&person("1", "ada@elsewhere.example")).await;
    assert_eq!(moved["email"], "ada@example.com");
}

#[tokio::test]
async fn strangers_do_not_join_the_workspace_of_newcomers() {
    let mut fixture = Fixture::trusting("example.com", RegistrationPolicy::Open).await;
    let (grace, id) = fixture.workspace("grace").await;
    fixture.auth.oidc.as_mut().unwrap().join = WorkspaceRole::of_newcomers(&format!("{id}:member")).ok();

    let stranger = fixture.enter(&person("9", "stranger@mail.example")).await;
    assert_eq!(fixture.role_in(&grace.workspace, &stranger["user_id"]).await, None);
}

/// A deployment with a second provider, which is another company's.
async fn with_partner(fixture: Fixture) -> (Fixture, FakeProvider) {
    let partner = FakeProvider::start().await;
    let secret =
        FakeSecret::start(&json!({"cookie_key": "k".repeat(64), "acme": CLIENT.1, "partner": CLIENT.1}).to_string());
    let reach = Reach::PublicAndLoopback;
    let issuers = format!("{},{}", fixture.provider.issuer, partner.issuer);
    let settings =
        Settings::parse_all(&issuers, &format!("{0},{0}", CLIENT.0), "Acme,Partner", "openid email", reach).unwrap();
    let oidc = Oidc::new(settings, "", OidcSecret::new(secret.client(), "oidc"), reach).unwrap();
    (Fixture { auth: Auth { oidc: Some(oidc), ..fixture.auth }, ..fixture }, partner)
}

/// Comes back from the partner's provider, with this cookie and from this address of it.
async fn back_from_partner(
    fixture: &Fixture,
    partner: &FakeProvider,
    cookie: &str,
    address: &str,
    whom: &Value,
) -> Answer {
    let given = partner.sign_in(address, whom);
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&given).finish();
    let back = RequestBuilder::new("GET", &format!("/api/auth/oidc/partner/callback?{query}"));
    back.cookie(&name_and_value(cookie)).send_to(&fixture.auth).await.expecting(302)
}

async fn sign_in_at_partner(fixture: &Fixture, partner: &FakeProvider, whom: &Value) -> Answer {
    let begin = RequestBuilder::new("GET", "/api/auth/oidc/partner").send_to(&fixture.auth).await.expecting(302);
    back_from_partner(fixture, partner, &cookies(&begin)[0], begin.header("location"), whom).await
}

#[tokio::test]
async fn groups_of_one_provider_give_nothing_to_people_of_another() {
    let (fixture, partner) = with_partner(Fixture::new().await).await;
    let (grace, id) = fixture.workspace("grace").await;
    let fixture = fixture.with_groups(&format!("acme/Leads={id}:admin"));

    // The partner's provider has a group of this name, too.
    let mut lead = person("7", "lead@partner.example");
    lead["groups"] = json!(["Leads"]);
    let me = fixture.me(&sign_in_at_partner(&fixture, &partner, &lead).await).await;

    assert_eq!(fixture.role_in(&grace.workspace, &me["user_id"]).await, None, "an admin by a stranger's group");
}

#[tokio::test]
async fn a_second_provider_moves_no_address_that_the_first_vouches_for() {
    let (fixture, partner) = with_partner(Fixture::new().await).await;
    let token = fixture.token(&ada()).await;
    fixture.prove(&token, &ada()).await;
    let connect = json!({"provider": "partner"});
    let left = fixture.auth.post("/api/me/identities", &token, &connect).await.expecting(200);
    let there = person("9", "ada@example.com");
    back_from_partner(&fixture, &partner, &cookies(&left)[0], &left.text("url"), &there).await;

    sign_in_at_partner(&fixture, &partner, &person("9", "ada@private.example")).await;

    assert_eq!(fixture.enter(&ada()).await["email"], "ada@example.com");
}

#[tokio::test]
async fn a_group_claim_that_cannot_be_read_ends_no_membership() {
    let fixture = Fixture::new().await;
    let (grace, id) = fixture.workspace("grace").await;
    let fixture = fixture.with_groups(&format!("Engineering={id}:member"));
    let me = fixture.enter(&in_groups(&["Engineering"])).await;

    let mut objects = ada();
    objects["groups"] = json!([{"id": "1", "name": "Engineering"}]);
    fixture.enter(&objects).await;

    assert_eq!(fixture.role_in(&grace.workspace, &me["user_id"]).await, Some(Role::Member));
}

#[tokio::test]
async fn an_operators_reset_is_not_given_out_untold() {
    let fixture = Fixture::new().await;
    let (grace, _) = fixture.workspace("grace").await;
    let fixture = fixture.without_passwords();
    let mut operate = fixture::operate(&fixture.db, &fixture.queues);
    operate.people.mails = mail_orders(&fixture.queues);
    fixture.queues.fail(Outage::Everything);

    let order = json!({"operator": "test", "command": {"reset": {"email": grace.email, "reclaim": false}}});
    let answer = operate.answer(order).await;
    let answer = answer.map(|answer| serde_json::to_value(answer).unwrap().to_string()).unwrap_or_default();

    let is_told = answer.contains("not told") || answer.contains("could not be told");
    assert!(!answer.contains("#/reset?token=") || is_told, "a way in, of which no admin hears: {answer}");
}

#[tokio::test]
async fn admins_find_an_operators_reset_in_the_audit_log_of_their_workspace() {
    let fixture = Fixture::new().await;
    let (grace, _) = fixture.workspace("grace").await;
    let eve = colleague(&fixture.db, &grace, "eve", Role::Member).await;
    let operate = fixture::operate(&fixture.db, &fixture.queues);
    let order = json!({"operator": "test", "command": {"reset": {"email": eve.email, "reclaim": false}}});
    operate.answer(order).await.unwrap();

    let logs: Vec<_> = fixture
        .db
        .scan("AuditTable")
        .into_iter()
        .filter(|row| row["action"]["S"] == "account.reset_issued")
        .map(|row| row["pk"]["S"].as_str().unwrap().to_owned())
        .collect();
    let is_there = logs.iter().any(|log| log.contains(&grace.workspace.to_string()));
    assert!(is_there, "only in {logs:?}");
}

#[tokio::test]
async fn a_way_in_is_left_whatever_is_removed_at_once() {
    for _ in 0..8 {
        let fixture = Fixture::new().await;
        let token = fixture.token(&ada()).await;
        let me = id_of(&fixture.auth.me(&token).await.json());
        fixture.prove(&token, &ada()).await;
        fixture.auth.post("/api/auth/password", &token, &json!({"new": PASSWORD})).await.expecting(204);
        let connect = json!({"provider": "acme"});
        fixture.round_trip("/api/me/identities", &token, &connect, &person("2", "ada@example.com")).await;
        let listed = fixture.identities(&token).await;
        let paths: Vec<_> = listed["identities"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| format!("/api/me/identities/{}", one["id"].as_str().unwrap()))
            .chain(["/api/auth/password".to_owned()])
            .collect();
        assert_eq!(paths.len(), 3);
        let nothing = json!({});
        let answers = join_all(paths.iter().map(|path| fixture.delete(path, &token, &nothing))).await;

        let has_password = fixture.db.users().account(&me).await.unwrap().unwrap().password_hash.is_some();
        let identities = fixture.db.users().identities(&me).await.unwrap().len();
        assert!(has_password || identities > 0, "{:?}", answers.iter().map(|one| one.status).collect::<Vec<_>>());
        assert_eq!(fixture.rows("IDENTITY#"), identities);
    }
}

#[tokio::test]
async fn one_identity_is_never_of_two_accounts_whoever_connects_it_at_once() {
    for _ in 0..4 {
        let fixture = Fixture::new().await;
        let people = [fixture.register("eve@example.com").await, fixture.register("mallory@example.com").await];
        let outcomes = join_all(people.iter().map(|person| fixture.plant(person, "1"))).await;
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == ConnectOutcome::Connected).count(), 1, "{outcomes:?}");
        let own = fixture.db.scan("UsersTable").into_iter().filter(|row| {
            row["pk"]["S"].as_str().unwrap().starts_with("ACCESS#")
                && row["sk"]["S"].as_str().unwrap().starts_with("IDENTITY#")
        });
        assert_eq!((own.count(), fixture.rows("IDENTITY#")), (1, 1));
    }
}

#[tokio::test]
async fn the_last_admins_never_lose_the_role_to_groups_at_once() {
    let fixture = Fixture::new().await;
    let (grace, id) = fixture.workspace("grace").await;
    let fixture = fixture.with_groups(&format!("Leads={id}:admin,Staff={id}:viewer"));
    let people: Vec<_> = (1..4).map(|number| person(&number.to_string(), &format!("p{number}@example.com"))).collect();
    let with = |person: &Value, group: &str| {
        let mut person = person.clone();
        person["groups"] = json!([group]);
        person
    };
    for one in &people {
        fixture.enter(&with(one, "Leads")).await;
    }
    fixture.db.users().remove_member(&removal(&grace.workspace, &grace.id, &grace.id)).await.unwrap();

    let lowered: Vec<_> = people.iter().map(|one| with(one, "Staff")).collect();
    join_all(lowered.iter().map(|one| fixture.sign_in(one))).await;

    let members = fixture.db.users().members(&grace.workspace).await.unwrap();
    assert_eq!(members.iter().filter(|member| member.role == Role::Admin).count(), 1);
}

#[tokio::test]
async fn what_groups_gave_ends_as_well_when_the_last_one_is_mapped_no_more() {
    let fixture = Fixture::new().await;
    let (grace, id) = fixture.workspace("grace").await;
    let fixture = fixture.with_groups(&format!("Leads={id}:admin"));
    let me = fixture.enter(&in_groups(&["Leads"])).await;
    let fixture = fixture.with_groups("");

    fixture.enter(&in_groups(&["Leads"])).await;

    assert_eq!(fixture.role_in(&grace.workspace, &me["user_id"]).await, None);
}

#[tokio::test]
async fn logins_that_are_off_are_in_nobodys_way_who_has_a_password_for_a_day() {
    let fixture = Fixture::new().await;
    let (grace, _) = fixture.workspace("grace").await;
    let fixture = fixture.without_passwords();
    fixture.let_in_by_operator(&grace).await;

    let now = Timestamp::now().plus(Duration::from_secs(5));
    let log_in = async |email: &str, from: &str| {
        let body = json!({"email": email, "password": PASSWORD});
        let login = RequestBuilder::new("POST", "/api/auth/login").json(&body).at(now).source_ip(from);
        login.send_to(&fixture.auth).await.status
    };
    let statuses: BTreeSet<_> =
        join_all((0..64).map(|_| log_in("nobody@example.com", "198.51.100.7"))).await.into_iter().collect();
    assert_eq!(log_in(grace.email.as_str(), "203.0.113.50").await, 200, "the others were answered {statuses:?}");
}

#[tokio::test]
async fn a_private_identity_is_no_way_around_the_provider_whose_groups_gave_a_role() {
    let (fixture, partner) = with_partner(Fixture::new().await).await;
    let (grace, id) = fixture.workspace("grace").await;
    let fixture = fixture.with_groups(&format!("acme/Leads={id}:admin")).without_passwords();
    let me = fixture.enter(&in_groups(&["Leads"])).await;
    let token = fixture.token(&in_groups(&["Leads"])).await;
    fixture.prove(&token, &in_groups(&["Leads"])).await;
    let left = fixture.auth.post("/api/me/identities", &token, &json!({"provider": "partner"})).await.expecting(200);
    let mut private = person("9", "ada@private.example");
    private["groups"] = json!([]);
    back_from_partner(&fixture, &partner, &cookies(&left)[0], &left.text("url"), &private).await;

    // The company has locked them out, and they sign in elsewhere for ever.
    let again = sign_in_at_partner(&fixture, &partner, &private).await;

    let is_in = fixture.account_after(&again).await == Some(me["user_id"].clone());
    let role = fixture.role_in(&grace.workspace, &me["user_id"]).await;
    assert!(!is_in || role.is_none(), "still {role:?}, by an identity that the company knows nothing of");
}

#[tokio::test]
async fn the_last_identity_and_what_its_groups_gave_stay() {
    let fixture = Fixture::new().await;
    let (grace, id) = fixture.workspace("grace").await;
    let fixture = fixture.with_groups(&format!("Engineering={id}:member"));
    let token = fixture.token(&in_groups(&["Engineering"])).await;
    let me = fixture.auth.me(&token).await.json();
    assert_eq!(fixture.prove(&token, &in_groups(&["Engineering"])).await, "#/signed-in");
    let identity = fixture.identities(&token).await["identities"][0]["id"].as_str().unwrap().to_owned();

    let refused = fixture.delete(&format!("/api/me/identities/{identity}"), &token, &json!({})).await;

    assert_eq!(refused.problem_code(), (409, "last_sign_in".into()));
    assert_eq!(fixture.role_in(&grace.workspace, &me["user_id"]).await, Some(Role::Member));
}
