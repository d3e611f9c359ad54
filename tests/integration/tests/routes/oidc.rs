//! Signing in at an identity provider: whose account that opens, and whose it doesn't.

use std::collections::HashMap;

use linklet_auth::{ApiAddress, Oidc, OidcSecret};
use linklet_domain::Reach;
use linklet_oidc::Settings;
use linklet_test_support::FakeSecret;
use linklet_test_support::provider::{CLIENT, FakeProvider, ProviderManner};

use crate::prelude::*;

const BASE: &str = "https://go.example.com/s";
pub(crate) const PASSWORD: &str = "correct horse battery";

/// A deployment whose people sign in at Acme.
pub(crate) struct Fixture {
    pub(crate) db: TestDynamoDb,
    pub(crate) queues: FakeQueues,
    pub(crate) provider: FakeProvider,
    pub(crate) auth: Auth,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        Self::trusting("", RegistrationPolicy::Open).await
    }

    pub(crate) async fn trusting(domains: &str, registration: RegistrationPolicy) -> Self {
        let (db, queues, provider) = (TestDynamoDb::start(), FakeQueues::start(), FakeProvider::start().await);
        let secret = FakeSecret::start(&json!({"cookie_key": "k".repeat(64), "acme": CLIENT.1}).to_string());
        let reach = Reach::PublicAndLoopback;
        let settings = Settings::parse_all(&provider.issuer, CLIENT.0, "Acme", "openid email", reach).unwrap();
        let oidc = Oidc::new(settings, domains, OidcSecret::new(secret.client(), "oidc"), reach).unwrap();
        let auth = Auth {
            mails: mail_orders(&queues),
            oidc: Some(oidc),
            address: ApiAddress::new(Some(BASE)),
            registration,
            ..auth(&db)
        };
        Self { db, queues, provider, auth }
    }

    pub(crate) async fn begin(&self) -> Way {
        let answer = RequestBuilder::new("GET", "/api/auth/oidc/acme").send_to(&self.auth).await.expecting(302);
        Way { address: answer.header("location").to_owned(), cookie: cookies(&answer).remove(0) }
    }

    pub(crate) async fn come_back(&self, cookie: &str, given: &HashMap<String, String>) -> Answer {
        callback(given).cookie(&name_and_value(cookie)).send_to(&self.auth).await
    }

    /// Somebody goes to the provider, signs in there as this person, and comes back.
    pub(crate) async fn sign_in(&self, person: &Value) -> Answer {
        let way = self.begin().await;
        self.come_back(&way.cookie, &self.provider.sign_in(&way.address, person)).await.expecting(302)
    }

    /// Whose session the browser has after that.
    pub(crate) async fn me(&self, signed_in: &Answer) -> Value {
        let refresh = cookies(signed_in).into_iter().find(|cookie| cookie.starts_with("linklet_refresh=")).unwrap();
        let refresh =
            RequestBuilder::new("POST", "/api/auth/refresh").json(&json!({})).cookie(&name_and_value(&refresh));
        let refreshed = refresh.send_to(&self.auth).await.expecting(200);
        self.auth.me(refreshed.json()["token"].as_str().unwrap()).await.expecting(200).json()
    }

    pub(crate) async fn enter(&self, person: &Value) -> Value {
        let signed_in = self.sign_in(person).await;
        assert_eq!(signed_in.header("location"), "../../../../app#/signed-in", "{signed_in:?}");
        self.me(&signed_in).await
    }

    pub(crate) async fn register(&self, email: &str) -> Person {
        person_of(&self.auth.register(email, PASSWORD).await)
    }

    /// Joins the account of the address, with the cookie of who has come back.
    pub(crate) async fn join(&self, came_back: &Answer, body: &Value) -> Answer {
        let page = "../../../../app#/join?provider=Acme&email=ada%40example.com";
        assert_eq!(came_back.header("location"), page, "{came_back:?}");
        let cookie = cookies(came_back).into_iter().find(|cookie| cookie.starts_with("linklet_join=")).unwrap();
        let join = RequestBuilder::new("POST", "/api/auth/join").cookie(&name_and_value(&cookie));
        join.json(body).send_to(&self.auth).await
    }

    async fn reset_token(&self, person: &Person) -> String {
        let now = Timestamp::now();
        let token = self.db.mailed_token(TokenPurpose::Reset, &person.id, person.email.as_str(), now).await;
        token.reveal().to_owned()
    }

    pub(crate) fn mails(&self) -> Vec<Value> {
        self.queues.events("notify")
    }

    pub(crate) fn rows(&self, prefix: &str) -> usize {
        let rows = self.db.scan("UsersTable");
        rows.iter().filter(|row| row["pk"]["S"].as_str().unwrap().starts_with(prefix)).count()
    }
}

/// A browser on its way to the provider.
pub(crate) struct Way {
    pub(crate) address: String,
    pub(crate) cookie: String,
}

pub(crate) fn cookies(answer: &Answer) -> Vec<String> {
    answer.headers().filter(|(name, _)| *name == "set-cookie").map(|(_, value)| value.to_owned()).collect()
}

pub(crate) fn name_and_value(cookie: &str) -> String {
    cookie.split(';').next().unwrap_or_default().to_owned()
}

pub(crate) fn callback(given: &HashMap<String, String>) -> RequestBuilder {
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish();
    RequestBuilder::new("GET", &format!("/api/auth/oidc/acme/callback?{query}"))
}

pub(crate) fn ada() -> Value {
    json!({"sub": "1", "email": "ada@example.com", "email_verified": true, "name": "Ada"})
}

pub(crate) fn refused(answer: &Answer) -> &str {
    answer.header("location").strip_prefix("../../../../app#/sign-in?refused=").unwrap_or_default()
}

#[tokio::test]
async fn who_is_new_gets_an_account_and_later_comes_back_to_it() {
    let fixture = Fixture::new().await;

    let (first, second) = (fixture.enter(&ada()).await, fixture.enter(&ada()).await);

    assert_eq!(
        (&first["email"], &first["verified"], &first["full_name"]),
        (&json!("ada@example.com"), &json!(true), &json!("Ada"))
    );
    assert_eq!(first["role"], "admin");
    assert_eq!((&second["user_id"], &second["workspace_id"]), (&first["user_id"], &first["workspace_id"]));
    assert_eq!((fixture.rows("USER#"), fixture.rows("IDENTITY#")), (1, 1));
    // It has no password, and none opens it.
    assert_eq!(fixture.auth.log_in("ada@example.com", PASSWORD).await.status, 401);
}

#[tokio::test]
async fn an_identity_is_its_subject_and_not_its_address() {
    let fixture = Fixture::new().await;
    let first = fixture.enter(&ada()).await;

    // The address was given to a new colleague.
    let mut heir = ada();
    heir["sub"] = json!("2");
    let came_back = fixture.sign_in(&heir).await;
    assert!(came_back.header("location").starts_with("../../../../app#/join?"));

    let mut unproven = ada();
    unproven["email_verified"] = json!(false);
    unproven["email"] = json!("eve@example.com");
    let again = fixture.enter(&unproven).await;
    assert_eq!((&again["user_id"], &again["email"]), (&first["user_id"], &json!("ada@example.com")));
}

#[tokio::test]
async fn cookies_are_for_the_way_back_only_and_nobody_reads_them() {
    let fixture = Fixture::new().await;
    let (way, other) = (fixture.begin().await, fixture.begin().await);

    let (name, rest) = way.cookie.split_once('=').unwrap();
    let attributes = "; Path=/s/api/auth/oidc/acme/callback; Max-Age=600; HttpOnly; SameSite=Lax; Secure";
    assert!(name.starts_with("linklet_oidc_") && rest.ends_with(attributes), "{}", way.cookie);
    assert_ne!(name, other.cookie.split_once('=').unwrap().0, "two tabs have a cookie each");
    let sent: HashMap<_, _> = url::Url::parse(&way.address).unwrap().query_pairs().into_owned().collect();
    assert_eq!(sent["redirect_uri"], format!("{BASE}/api/auth/oidc/acme/callback"));
    assert!(!rest.contains(&sent["state"]) && !rest.contains(&sent["nonce"]));

    // Both tabs come back, in another order.
    for way in [&other, &way] {
        let given = fixture.provider.sign_in(&way.address, &ada());
        let came_back = fixture.come_back(&way.cookie, &given).await;
        let deleted =
            format!("{}=; Path=/s/api/auth/oidc/acme/callback; Max-Age=0", way.cookie.split_once('=').unwrap().0);
        assert!(cookies(&came_back).iter().any(|cookie| cookie.starts_with(&deleted)), "{:?}", cookies(&came_back));
        let refresh = "; Path=/s/api/auth; Max-Age=86400; HttpOnly; SameSite=Strict; Secure";
        assert!(cookies(&came_back)[0].ends_with(refresh), "{:?}", cookies(&came_back));
        fixture.me(&came_back).await;
    }
}

#[tokio::test]
async fn what_was_not_begun_in_this_browser_comes_to_nothing() {
    let fixture = Fixture::new().await;
    let (mine, theirs) = (fixture.begin().await, fixture.begin().await);
    let given = fixture.provider.sign_in(&theirs.address, &ada());

    // Somebody else's way back in one's own browser would sign one in as them.
    assert_eq!(refused(&fixture.come_back(&mine.cookie, &given).await), "expired");
    assert_eq!(refused(&fixture.come_back("", &given).await), "expired");
    // The state of the one, the code of the other.
    let mut swapped = fixture.provider.sign_in(&mine.address, &ada());
    swapped.insert("code".to_owned(), given["code"].clone());
    assert_eq!(refused(&fixture.come_back(&mine.cookie, &swapped).await), "expired");
    // A cookie under another one's name.
    let renamed = mine.cookie.replace(mine.cookie.split_once('=').unwrap().0, theirs.cookie.split_once('=').unwrap().0);
    assert_eq!(refused(&fixture.come_back(&renamed, &given).await), "expired");
    // Too late.
    let late = callback(&given).cookie(&name_and_value(&theirs.cookie));
    let late = late.at(Timestamp::now().plus(Duration::from_secs(601)));
    assert_eq!(refused(&late.send_to(&fixture.auth).await), "expired");
    assert_eq!(fixture.rows("USER#"), 0);

    // A stolen cookie without the code, and a code that was used.
    let given = fixture.provider.sign_in(&theirs.address, &ada());
    assert_eq!(refused(&fixture.come_back(&theirs.cookie, &HashMap::new()).await), "expired");
    fixture.me(&fixture.come_back(&theirs.cookie, &given).await).await;
    assert_eq!(refused(&fixture.come_back(&theirs.cookie, &given).await), "expired");
}

#[tokio::test]
async fn who_refuses_or_is_refused_comes_back_to_the_application() {
    let fixture = Fixture::new().await;
    let way = fixture.begin().await;
    let mut denied = fixture.provider.sign_in(&way.address, &ada());
    denied.remove("code");
    denied.insert("error".to_owned(), "access_denied".to_owned());
    denied.insert("error_description".to_owned(), "<script>".to_owned());
    assert_eq!(refused(&fixture.come_back(&way.cookie, &denied).await), "denied");
    denied.remove("state");
    assert_eq!(refused(&fixture.come_back(&way.cookie, &denied).await), "denied");

    fixture.provider.issue(|claims| linklet_test_support::provider::forged(&json!({"alg": "none"}), claims, b""));
    assert_eq!(refused(&fixture.sign_in(&ada()).await), "expired");
    assert_eq!(fixture.rows("USER#"), 0);

    let way = fixture.begin().await;
    let given = fixture.provider.sign_in(&way.address, &ada());
    fixture.provider.answer(ProviderManner::Fails(503));
    assert_eq!(refused(&fixture.come_back(&way.cookie, &given).await), "unavailable");
    let down = Fixture::new().await;
    down.provider.answer(ProviderManner::Fails(500));
    let answer = RequestBuilder::new("GET", "/api/auth/oidc/acme").send_to(&down.auth).await;
    assert_eq!((answer.status, answer.header("location")), (302, "../../../app#/sign-in?refused=unavailable"));
    assert!(cookies(&answer).is_empty());
}

#[tokio::test]
async fn an_address_is_proven_by_the_provider_or_a_trusted_domain() {
    let silent = json!({"sub": "1", "email": "ada@example.com"});
    let denied = json!({"sub": "1", "email": "ada@example.com", "email_verified": false});
    let none = json!({"sub": "1"});
    let open = Fixture::new().await;
    let trusting = Fixture::trusting("example.com", RegistrationPolicy::Invited).await;
    for fixture in [&open, &trusting] {
        fixture.provider.say_apart(json!({"sub": "1"}));
    }

    for person in [&silent, &denied, &none] {
        assert_eq!(refused(&open.sign_in(person).await), "unproven", "{person}");
    }
    assert_eq!(refused(&trusting.sign_in(&none).await), "unproven");
    let elsewhere = json!({"sub": "2", "email": "ada@mail.example.com"});
    assert_eq!(refused(&trusting.sign_in(&elsewhere).await), "unproven");
    let first = trusting.enter(&silent).await;
    assert_eq!(first["email"], "ada@example.com");
    assert_eq!(trusting.enter(&denied).await["user_id"], first["user_id"], "Okta says so of all from a directory");
}

#[tokio::test]
async fn who_may_not_register_gets_no_account_by_signing_in_elsewhere() {
    let fixture = Fixture::trusting("", RegistrationPolicy::Invited).await;

    assert_eq!(refused(&fixture.sign_in(&ada()).await), "closed");
    assert_eq!(fixture.rows("USER#"), 0);
}

#[tokio::test]
async fn an_account_is_joined_by_its_password_and_only_once() {
    let fixture = Fixture::new().await;
    let ada_there = fixture.register("ada@example.com").await;

    let came_back = fixture.sign_in(&ada()).await;
    assert!(!cookies(&came_back).iter().any(|cookie| cookie.starts_with("linklet_refresh=")), "{came_back:?}");
    let cookie = cookies(&came_back).remove(0);
    assert!(cookie.ends_with("; Path=/s/api/auth/join; Max-Age=1800; HttpOnly; SameSite=Strict; Secure"), "{cookie}");
    let wrong = fixture.join(&came_back, &json!({"password": "a wrong password"})).await;
    assert_eq!(wrong.problem_code(), (401, "invalid_credentials".into()));
    let joined = fixture.join(&came_back, &json!({"password": PASSWORD})).await.expecting(204);
    let me = fixture.me(&joined).await;
    assert_eq!((&me["user_id"], &me["verified"]), (&json!(ada_there.id), &json!(true)));
    assert_eq!(fixture.mails().last().unwrap()["change"], "identity_connected");

    assert_eq!(fixture.enter(&ada()).await["user_id"], json!(ada_there.id));
    assert_eq!(fixture.auth.log_in("ada@example.com", PASSWORD).await.status, 200, "the password works as before");
}

#[tokio::test]
async fn a_squatter_gains_nothing_when_the_owner_signs_in() {
    let fixture = Fixture::new().await;
    let squatted = fixture.register("ada@example.com").await;
    let squatter = fixture.auth.log_in("ada@example.com", PASSWORD).await.json()["token"].as_str().unwrap().to_owned();

    let came_back = fixture.sign_in(&ada()).await;
    let token = fixture.reset_token(&squatted).await;
    let joined = fixture.join(&came_back, &json!({"token": token})).await.expecting(204);

    let me = fixture.me(&joined).await;
    assert_eq!((&me["user_id"], &me["verified"]), (&json!(squatted.id), &json!(true)));
    let outside = auth(&fixture.db);
    assert_eq!(outside.me(&squatter).await.status, 401, "the squatter's session has ended");
    assert_eq!(fixture.auth.log_in("ada@example.com", PASSWORD).await.status, 401, "and the password is gone");
    let tasks = fixture.db.scan("JobsTable");
    assert!(tasks.iter().any(|row| row["pk"]["S"].as_str().unwrap().starts_with("RECLAIM#")), "{tasks:?}");
    let mail = fixture.mails().pop().unwrap();
    assert_eq!(
        (&mail["change"], &mail["pauses"], &mail["provider"]),
        (&json!("identity_connected"), &json!(true), &json!("Acme"))
    );
    let again = fixture.join(&came_back, &json!({"token": token})).await;
    assert_eq!(again.problem_code(), (404, "token_invalid".into()));
}

#[tokio::test]
async fn a_mailed_token_gives_the_identity_the_place_of_the_password() {
    let fixture = Fixture::new().await;
    let person = fixture.register("ada@example.com").await;
    fixture.db.users().verify_address(&person.id, &person.email, &an_origin(&person.id)).await.unwrap();

    let came_back = fixture.sign_in(&ada()).await;
    let token = fixture.reset_token(&person).await;
    fixture.join(&came_back, &json!({"token": token})).await.expecting(204);

    assert_eq!(fixture.auth.log_in("ada@example.com", PASSWORD).await.status, 401);
    assert!(fixture.db.scan("JobsTable").is_empty(), "nothing is paused: the address was verified");
}

#[tokio::test]
async fn nobody_joins_another_account_or_without_having_come_back() {
    let fixture = Fixture::new().await;
    let (ada_there, eve) = (fixture.register("ada@example.com").await, fixture.register("eve@example.com").await);
    let came_back = fixture.sign_in(&ada()).await;

    let other = fixture.reset_token(&eve).await;
    assert_eq!(fixture.join(&came_back, &json!({"token": other})).await.problem_code(), (404, "token_invalid".into()));
    assert_eq!(fixture.join(&came_back, &json!({})).await.status, 400);
    let token = fixture.reset_token(&ada_there).await;
    assert_eq!(fixture.join(&came_back, &json!({"token": token, "password": PASSWORD})).await.status, 400);
    for cookie in ["", "linklet_join=", "linklet_join=AAAA"] {
        let join = RequestBuilder::new("POST", "/api/auth/join").cookie(cookie).json(&json!({"password": PASSWORD}));
        assert_eq!(join.send_to(&fixture.auth).await.problem_code(), (404, "token_invalid".into()), "{cookie}");
    }
    let foreign = RequestBuilder::new("POST", "/api/auth/join").header("sec-fetch-site", "cross-site");
    let foreign = foreign.json(&json!({"password": PASSWORD})).send_to(&fixture.auth).await;
    assert_eq!(foreign.problem_code(), (403, "foreign_page".into()));
    assert_eq!(fixture.rows("IDENTITY#"), 0);
}

#[tokio::test]
async fn a_changed_address_at_the_provider_changes_ours_unless_it_is_taken() {
    let fixture = Fixture::new().await;
    let first = fixture.enter(&ada()).await;
    fixture.register("grace@example.com").await;
    let named = |email: &str, verified: bool| json!({"sub": "1", "email": email, "email_verified": verified});

    for (email, verified, has) in [
        ("ada.king@example.com", false, "ada@example.com"),
        ("grace@example.com", true, "ada@example.com"),
        ("ada@example.com", true, "ada@example.com"),
        ("ada.king@example.com", true, "ada.king@example.com"),
    ] {
        let me = fixture.enter(&named(email, verified)).await;
        assert_eq!((&me["email"], &me["user_id"]), (&json!(has), &first["user_id"]), "{email} {verified}");
    }
    let told: Vec<_> = fixture.mails().into_iter().filter(|mail| mail["mail"] == "address_changed").collect();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["old"], "ada@example.com");
}

#[tokio::test]
async fn an_account_that_was_closed_is_not_opened_by_its_identity() {
    let fixture = Fixture::new().await;
    fixture.enter(&ada()).await;
    let email = EmailAddress::parse("ada@example.com").unwrap();
    fixture.db.users().close_account(&email, Timestamp::now(), &operator()).await.unwrap();

    assert_eq!(refused(&fixture.sign_in(&ada()).await), "refused");
}

#[tokio::test]
async fn a_session_ends_after_its_hours_however_often_it_is_renewed() {
    let mut fixture = Fixture::new().await;
    fixture.auth.oidc.as_mut().unwrap().session = Duration::from_secs(2 * 3_600);
    let (signed_in, now) = (fixture.sign_in(&ada()).await, Timestamp::now());
    let mut cookie = name_and_value(&cookies(&signed_in)[0]);

    for (minutes, expected, max_age) in [(30, 200, 90), (90, 200, 30), (121, 401, 0)] {
        let refresh = RequestBuilder::new("POST", "/api/auth/refresh").json(&json!({})).cookie(&cookie);
        let answer = refresh.at(now.plus(Duration::from_secs(minutes * 60))).send_to(&fixture.auth).await;
        assert_eq!(answer.status, expected, "{minutes}");
        if expected == 200 {
            cookie = name_and_value(&cookies(&answer)[0]);
            let ends = at(&answer.text("expires_at"));
            assert!(ends <= now.plus(Duration::from_secs(2 * 3_600)), "{minutes}");
            let header = answer.header("set-cookie");
            let seconds: u64 = header.split_once("Max-Age=").unwrap().1.split(';').next().unwrap().parse().unwrap();
            assert!(seconds <= max_age * 60 && seconds + 60 > max_age * 60, "{header}");
        }
    }
}

#[tokio::test]
async fn the_audit_log_says_which_identity_has_come_and_how() {
    let fixture = Fixture::new().await;
    fixture.enter(&ada()).await;

    let entries = fixture.db.scan("AuditTable");
    let of = |action: &str| {
        let found = entries.iter().find(|row| row["action"]["S"] == action).unwrap();
        found["to"]["S"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(of("account.identity_connected"), fixture.provider.issuer);
    assert_eq!(of("session.began"), fixture.provider.issuer);
    assert!(!format!("{entries:?}").contains("ada@example.com"));
}

#[tokio::test]
async fn joining_has_its_entries_and_without_the_audit_log_it_waits() {
    let fixture = Fixture::new().await;
    fixture.register("ada@example.com").await;
    let came_back = fixture.sign_in(&ada()).await;
    fixture.db.take_away("AuditTable");
    assert_eq!(fixture.join(&came_back, &json!({"password": PASSWORD})).await.status, 503);
    assert_eq!(fixture.rows("IDENTITY#"), 0);

    fixture.db.make("AuditTable");
    fixture.join(&came_back, &json!({"password": PASSWORD})).await.expecting(204);
    let entries = fixture.db.scan("AuditTable");
    let actions: BTreeSet<_> = entries.iter().map(|row| row["action"]["S"].as_str().unwrap()).collect();
    let expected = ["account.address_verified", "account.identity_connected", "session.began"];
    assert_eq!(actions, BTreeSet::from(expected));
}

#[tokio::test]
async fn the_secret_of_a_client_may_be_added_later_and_is_needed() {
    let fixture = Fixture::new().await;
    let secret = FakeSecret::start(&json!({"cookie_key": "k".repeat(64)}).to_string());
    let reach = Reach::PublicAndLoopback;
    let settings = Settings::parse_all(&fixture.provider.issuer, CLIENT.0, "Acme", "openid", reach).unwrap();
    let oidc = Oidc::new(settings, "", OidcSecret::new(secret.client(), "oidc"), reach).unwrap();
    let fixture = Fixture { auth: Auth { oidc: Some(oidc), ..fixture.auth }, ..fixture };

    assert_eq!(refused(&fixture.sign_in(&ada()).await), "unavailable");
}

#[tokio::test]
async fn what_is_configured_is_shown_and_nothing_else_is_there() {
    let fixture = Fixture::new().await;
    let shown = fixture.auth.get_openly("/api/auth/registration").await;
    assert_eq!(shown.json()["oidc"], json!([{"id": "acme", "name": "Acme"}]));
    assert_eq!(auth(&fixture.db).get_openly("/api/auth/registration").await.json()["oidc"], json!([]));

    for path in ["/api/auth/oidc/other", "/api/auth/oidc/other/callback", "/api/auth/oidc/other/logout"] {
        assert_eq!(fixture.auth.get_openly(path).await.status, 404, "{path}");
        assert_eq!(auth(&fixture.db).get_openly(&path.replace("other", "acme")).await.status, 404, "{path}");
    }
    let left = fixture.auth.get_openly("/api/auth/oidc/acme/logout").await.expecting(302);
    let back = "post_logout_redirect_uri=https%3A%2F%2Fgo.example.com%2Fs%2Fapp";
    assert!(left.header("location").starts_with(&fixture.provider.issuer) && left.header("location").ends_with(back));
}
