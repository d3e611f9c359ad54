//! Staying signed in: a cookie renews a session, once for each refresh token.

use jsonwebtoken::{DecodingKey, Validation};
use linklet_auth::ApiAddress;
use linklet_dynamodb::MemberOutcome;
use linklet_lambda::identity::{TokenIssuer, TokenSecret, TokenVerifier};

use crate::{fixture::change_role, prelude::*};

const EMAIL: &str = "ada@example.com";
const PASSWORD: &str = "correct horse battery";
const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(86_400);
const HOME: &str = "198.51.100.1";

/// Ada, who has registered at home, and stays signed in.
struct Fixture {
    db: TestDynamoDb,
    auth: Auth,
    ada: Person,
    now: Timestamp,
}

impl Fixture {
    async fn new() -> Self {
        let db = TestDynamoDb::start();
        let account = json!({"email": EMAIL, "password": PASSWORD});
        let registration = RequestBuilder::new("POST", "/api/auth/register").json(&account).source_ip(HOME);
        let (auth, now) = (auth(&db), Timestamp::now());
        Self { ada: person_of(&registration.send_to(&auth).await), db, auth, now }
    }

    fn login(remember: &Value) -> RequestBuilder {
        let body = json!({"email": EMAIL, "password": PASSWORD, "remember": remember});
        RequestBuilder::new("POST", "/api/auth/login").json(&body).source_ip(HOME)
    }

    async fn sign_in(&self) -> Answer {
        Self::login(&json!(true)).at(self.now).send_to(&self.auth).await.expecting(200)
    }

    fn refresh(cookie: &str) -> RequestBuilder {
        RequestBuilder::new("POST", "/api/auth/refresh").json(&json!({})).cookie(cookie).source_ip(HOME)
    }

    async fn refresh_after(&self, cookie: &str, time: Duration) -> Answer {
        Self::refresh(cookie).at(self.now.plus(time)).send_to(&self.auth).await
    }

    /// What the token opens in an environment that knows nothing yet.
    async fn me(&self, token: &str) -> Answer {
        auth(&self.db).me(token).await
    }

    async fn join_grace(&self) -> Person {
        let grace = self.db.register("grace").await;
        self.db.add_member(&grace.workspace, &grace.id, &self.ada.as_member(Role::Admin)).await;
        grace
    }
}

fn token(answer: &Answer) -> String {
    answer.json()["token"].as_str().unwrap_or_default().to_owned()
}

/// The cookie as a browser sends it back.
fn cookie(answer: &Answer) -> String {
    answer.header("set-cookie").split(';').next().unwrap_or_default().to_owned()
}

fn claims(token: &str) -> Value {
    let validation = Validation { validate_exp: false, ..Validation::default() };
    let key = DecodingKey::from_secret(TOKEN_SECRET.as_bytes());
    jsonwebtoken::decode::<Value>(token, &key, &validation).unwrap().claims
}

#[tokio::test]
async fn who_stays_signed_in_gets_a_cookie_that_renews_the_session() {
    let fixture = Fixture::new().await;

    let signed_in = fixture.sign_in().await;
    let renewed = fixture.refresh_after(&cookie(&signed_in), 3_000 * SECOND).await;

    let (before, after) = (claims(&token(&signed_in)), claims(&token(&renewed)));
    assert_eq!((renewed.status, &after["jti"]), (200, &before["jti"]), "{renewed:?}");
    assert_eq!(before["exp"].as_i64().unwrap() - before["iat"].as_i64().unwrap(), 3_600);
    assert_eq!(after["exp"].as_i64().unwrap() - before["exp"].as_i64().unwrap(), 3_000);
    assert_eq!(fixture.me(&token(&renewed)).await.json()["role"], "admin");
    assert_ne!(cookie(&renewed), cookie(&signed_in));
    let attributes = "; Path=/api/auth; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure";
    for answer in [&signed_in, &renewed] {
        assert!(answer.header("set-cookie").ends_with(attributes), "{}", answer.header("set-cookie"));
        assert!(!answer.body.contains(cookie(answer).split_once('=').unwrap().1));
    }
}

#[tokio::test]
async fn without_remember_a_session_lasts_a_day_and_sets_no_cookie() {
    let fixture = Fixture::new().await;

    for remember in [json!(false), json!(null)] {
        let answer = Fixture::login(&remember).send_to(&fixture.auth).await;
        let claims = claims(&token(&answer));
        assert_eq!(answer.header("set-cookie"), "", "{remember}");
        assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 86_400);
    }
    let wrong = Fixture::login(&json!("yes")).send_to(&fixture.auth).await;
    assert_eq!(wrong.problem(), (400, "remember must be true or false".into()));
    let rows = fixture.db.scan("UsersTable");
    let sessions: Vec<_> = rows.iter().filter(|row| row["sk"]["S"].as_str().unwrap().starts_with("SESSION#")).collect();
    assert_eq!(sessions.len(), 2);
    assert!(sessions.iter().all(|session| session.get("generation").is_none()), "{sessions:?}");
}

#[tokio::test]
async fn tabs_that_renew_at_once_get_the_same_cookie() {
    let fixture = Fixture::new().await;
    let mut cookie_now = cookie(&fixture.sign_in().await);

    for _ in 0..5 {
        let tabs = (0..4).map(|_| fixture.refresh_after(&cookie_now, SECOND));
        let answers = futures_util::future::join_all(tabs).await;

        assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
        assert!(answers.iter().all(|answer| cookie(answer) == cookie(&answers[0])), "{answers:?}");
        assert_ne!(cookie(&answers[0]), cookie_now);
        cookie_now = cookie(&answers[0]);
    }
}

#[tokio::test]
async fn a_repeat_within_half_a_minute_is_answered_with_the_same_successor() {
    let fixture = Fixture::new().await;
    let first = cookie(&fixture.sign_in().await);
    let answered = fixture.refresh_after(&first, 100 * SECOND).await;

    let repeated = fixture.refresh_after(&first, 129 * SECOND).await;
    assert_eq!((repeated.status, cookie(&repeated)), (200, cookie(&answered)));
    // Whichever of the two answers a browser has kept, it goes on with.
    let next = fixture.refresh_after(&cookie(&repeated), 130 * SECOND).await;
    let once_more = fixture.refresh_after(&cookie(&answered), 131 * SECOND).await;
    assert_eq!((next.status, once_more.status, cookie(&next)), (200, 200, cookie(&once_more)));
}

#[tokio::test]
async fn a_session_and_its_row_last_thirty_days_after_the_last_renewal() {
    let fixture = Fixture::new().await;
    let mut latest = cookie(&fixture.sign_in().await);

    for month in 1..=3 {
        let answer = fixture.refresh_after(&latest, month * 29 * DAY).await;
        assert_eq!(answer.status, 200, "{month}");
        latest = cookie(&answer);
        let ends_at = fixture.now.plus((month * 29 + 30) * DAY).unix_seconds().to_string();
        assert!(fixture.db.scan("UsersTable").iter().any(|row| row["ttl"]["N"] == ends_at), "{month}");
    }

    assert_eq!(fixture.refresh_after(&latest, (3 * 29 + 30) * DAY).await.status, 401);
}

#[tokio::test]
async fn a_copy_that_is_used_later_ends_the_session_for_both() {
    for (uses, what) in [(1, "the one before"), (3, "an older one")] {
        let fixture = Fixture::new().await;
        let signed_in = fixture.sign_in().await;
        let stolen = cookie(&signed_in);
        let mut latest = signed_in;
        for minute in 1..=uses {
            latest = fixture.refresh_after(&cookie(&latest), 60 * minute * SECOND).await;
        }
        assert_eq!(fixture.me(&token(&latest)).await.status, 200);

        let thief = fixture.refresh_after(&stolen, 60 * uses * SECOND + 30 * SECOND).await;

        assert_eq!(thief.problem(), (401, "unauthorized".into()), "{what}");
        let owner = fixture.refresh_after(&cookie(&latest), 60 * uses * SECOND + 31 * SECOND).await;
        assert_eq!(owner.status, 401, "{what}");
        assert_eq!(fixture.me(&token(&latest)).await.status, 401, "{what}");
    }
}

#[tokio::test]
async fn who_logs_out_ends_this_session_and_its_cookie_and_no_other() {
    let fixture = Fixture::new().await;
    let (here, elsewhere) = (fixture.sign_in().await, fixture.sign_in().await);

    let answer = fixture.auth.post("/api/auth/logout", &token(&here), &json!({})).await.expecting(204);

    let forgotten = "linklet_refresh=; Path=/api/auth; Max-Age=0; HttpOnly; SameSite=Strict; Secure";
    assert_eq!(answer.header("set-cookie"), forgotten);
    assert_eq!(fixture.refresh_after(&cookie(&here), SECOND).await.status, 401);
    assert_eq!(fixture.me(&token(&here)).await.status, 401);
    assert_eq!(fixture.refresh_after(&cookie(&elsewhere), SECOND).await.status, 200);
}

#[tokio::test]
async fn ending_all_sessions_also_ends_those_renewable_for_a_month() {
    let password = json!({"current": PASSWORD, "new": "battery staple horse"});
    for (what, path, body) in [
        ("everywhere", "/api/auth/logout", json!({"everywhere": true})),
        ("a new password", "/api/auth/password", password),
    ] {
        let fixture = Fixture::new().await;
        let (elsewhere, here) = (fixture.sign_in().await, fixture.sign_in().await);

        let answer = fixture.auth.post(path, &token(&here), &body).await;

        assert_eq!(answer.status, 204, "{what}: {answer:?}");
        assert_eq!(fixture.refresh_after(&cookie(&elsewhere), SECOND).await.status, 401, "{what}");
        // By then, DynamoDB has deleted what says so, and the session can't be renewed for its age.
        assert_eq!(fixture.refresh_after(&cookie(&elsewhere), 30 * DAY).await.status, 401, "{what}");
        let stays = if what == "a new password" { 200 } else { 401 };
        assert_eq!(fixture.refresh_after(&cookie(&here), SECOND).await.status, stays, "{what}");
        let rows = fixture.db.scan("UsersTable");
        let ended = rows.iter().find(|row| row["sk"]["S"] == "SESSIONS").unwrap();
        let ttl: i64 = ended["ttl"]["N"].as_str().unwrap().parse().unwrap();
        let month = i64::try_from((30 * DAY).as_secs()).unwrap();
        assert!(ttl - fixture.now.unix_seconds() >= month, "{what}");
    }
}

#[tokio::test]
async fn a_closed_account_renews_nothing() {
    let fixture = Fixture::new().await;
    let signed_in = fixture.sign_in().await;

    fixture.db.users().close_account(&fixture.ada.email, Timestamp::now(), &operator()).await.unwrap().unwrap();

    assert_eq!(fixture.refresh_after(&cookie(&signed_in), SECOND).await.status, 401);
}

#[tokio::test]
async fn a_token_is_renewed_for_the_named_workspace_in_the_current_role() {
    let fixture = Fixture::new().await;
    let grace = fixture.join_grace().await;
    let refresh = async |cookie: &str, body: Value| {
        let request = RequestBuilder::new("POST", "/api/auth/refresh").json(&body).cookie(cookie);
        request.send_to(&fixture.auth).await
    };
    let role_there = async |answer: &Answer| {
        let me = fixture.me(&token(answer)).await.json();
        (me["workspace_id"].clone(), me["role"].clone())
    };
    let (own, graces) = (json!(fixture.ada.workspace), json!(grace.workspace));

    let first = refresh(&cookie(&fixture.sign_in().await), json!({})).await;
    let there = refresh(&cookie(&first), json!({"workspace": "grace"})).await;
    change_role(&fixture.db.users(), &grace.workspace, &grace.id, &fixture.ada.id, Role::Viewer).await.unwrap();
    let demoted = refresh(&cookie(&there), json!({"workspace": "grace"})).await;
    let removal = removal(&grace.workspace, &grace.id, &fixture.ada.id);
    let removed = fixture.db.users().remove_member(&removal).await.unwrap();
    assert!(matches!(removed, MemberOutcome::Done(_)));
    let elsewhere = refresh(&cookie(&demoted), json!({"workspace": "grace"})).await;

    assert_eq!(role_there(&first).await, (own.clone(), json!("admin")));
    assert_eq!(claims(&token(&there))["ws"], graces);
    assert_eq!(claims(&token(&demoted))["role"], "viewer");
    assert_eq!(role_there(&elsewhere).await, (own, json!("admin")));
    assert_eq!(refresh(&cookie(&elsewhere), json!({"workspace": 5})).await.status, 400);
}

#[tokio::test]
async fn who_has_no_workspace_left_stays_signed_in_without_one() {
    let fixture = Fixture::new().await;
    let signed_in = fixture.sign_in().await;
    let grace = fixture.db.register("grace").await;
    fixture.db.add_member(&fixture.ada.workspace, &fixture.ada.id, &grace.as_member(Role::Admin)).await;
    let own = &fixture.ada.workspace;
    fixture.db.users().remove_member(&removal(own, &grace.id, &fixture.ada.id)).await.unwrap();

    let renewed = fixture.refresh_after(&cookie(&signed_in), SECOND).await;

    assert_eq!(fixture.me(&token(&renewed)).await.json()["workspace_id"], Value::Null, "{renewed:?}");
}

#[tokio::test]
async fn pages_of_other_sites_neither_renew_a_session_nor_begin_one() {
    let fixture = Fixture::new().await;
    let first = cookie(&fixture.sign_in().await);
    let rows = fixture.db.scan("UsersTable").len();

    for (name, value) in [
        ("origin", "https://blog.example.com"),
        ("origin", "null"),
        ("sec-fetch-site", "same-site"),
        ("sec-fetch-site", "cross-site"),
    ] {
        for request in [Fixture::refresh(&first), Fixture::login(&json!(true))] {
            let answer = request.header(name, value).send_to(&fixture.auth).await;
            assert_eq!((answer.status, answer.json()["code"].clone()), (403, json!("foreign_page")), "{value}");
            assert_eq!(answer.header("set-cookie"), "");
        }
    }
    for request in [Fixture::refresh(&first), Fixture::login(&json!(true))] {
        let answer = request.header("content-type", "text/plain").send_to(&fixture.auth).await;
        assert_eq!((answer.status, answer.json()["code"].clone()), (415, json!("json_required")));
    }

    assert_eq!(fixture.db.scan("UsersTable").len(), rows);
    // None of them has used the cookie up.
    assert_eq!(fixture.refresh_after(&first, 60 * SECOND).await.status, 200);
    let own = Fixture::login(&json!(true)).header("origin", "https://api.example.com");
    assert_eq!(own.send_to(&fixture.auth).await.status, 200);
}

#[tokio::test]
async fn a_cookie_opens_nothing_else_and_a_token_renews_nothing() {
    let fixture = Fixture::new().await;
    let signed_in = fixture.sign_in().await;
    let (_, refresh_token) = cookie(&signed_in).split_once('=').map(|(_, value)| ((), value.to_owned())).unwrap();

    let by_cookie = RequestBuilder::new("GET", "/api/me").cookie(&cookie(&signed_in)).send_to(&fixture.auth).await;
    let as_token = fixture.me(&refresh_token).await;

    assert_eq!((by_cookie.status, as_token.status), (401, 401));
    for wrong in [token(&signed_in), "x".to_owned(), String::new(), refresh_token.replace('.', "")] {
        let answer = fixture.refresh_after(&format!("linklet_refresh={wrong}"), SECOND).await;
        assert_eq!(answer.problem(), (401, "unauthorized".into()), "{wrong}");
    }
    assert_eq!(fixture.auth.post_openly("/api/auth/refresh", &json!({})).await.status, 401);
    assert_eq!(fixture.refresh_after(&cookie(&signed_in), SECOND).await.status, 200);
}

#[tokio::test]
async fn a_rotated_secret_still_verifies_what_its_previous_version_has_signed() {
    let fixture = Fixture::new().await;
    let first = cookie(&fixture.sign_in().await);
    let secret = |text: &str| TokenSecret::parse(text).unwrap();
    let (new, old) = (secret("another secret of 32 bytes or more"), secret(TOKEN_SECRET));
    let after = |known: &[TokenSecret]| {
        let verifier = TokenVerifier::new(known).with_sessions(fixture.db.sessions());
        Auth::new(fixture.db.users(), verifier, TokenIssuer::new(&known[0]), limits(&fixture.db))
    };

    let renewed = Fixture::refresh(&first).send_to(&after(&[secret("another secret of 32 bytes or more"), old])).await;
    let later = Fixture::refresh(&cookie(&renewed)).send_to(&after(&[new])).await;
    let too_late = Fixture::refresh(&first).send_to(&after(&[secret("another secret of 32 bytes or more")])).await;

    assert_eq!((renewed.status, later.status, too_late.status), (200, 200, 401));
}

#[tokio::test]
async fn an_address_from_which_a_session_is_renewed_becomes_familiar() {
    const CAFE: &str = "198.51.100.77";
    let fixture = Fixture::new().await;
    let wrong = json!({"email": EMAIL, "password": "wrong horse"});
    let first = cookie(&fixture.sign_in().await);
    let after = |seconds: u32| fixture.now.plus(seconds * SECOND);
    let attempts = fixture.db.scan("ThrottleTable").len();

    let at_home = Fixture::refresh(&first).at(after(60)).send_to(&fixture.auth).await;
    let unchanged = fixture.db.scan("ThrottleTable").len();
    let elsewhere = Fixture::refresh(&cookie(&at_home)).source_ip(CAFE).at(after(120)).send_to(&fixture.auth).await;

    assert_eq!((elsewhere.status, unchanged), (200, attempts), "at home nothing is remembered again");
    // Strangers use up what an account is allowed, and its owner is not in their way at the café.
    for number in 0..8 {
        let stranger = RequestBuilder::new("POST", "/api/auth/login").json(&wrong);
        stranger.source_ip(&format!("203.0.113.{number}")).at(after(121)).send_to(&fixture.auth).await;
    }
    let login = json!({"email": EMAIL, "password": PASSWORD});
    let from = async |address: &str| {
        let request = RequestBuilder::new("POST", "/api/auth/login").json(&login).source_ip(address).at(after(121));
        request.send_to(&fixture.auth).await.status
    };
    assert_eq!((from("203.0.113.200").await, from(CAFE).await), (429, 200));
}

#[tokio::test]
async fn a_refresh_is_no_guess_and_costs_no_hash() {
    let fixture = Fixture::new().await;
    let meter = CapacityMeter::default();
    let first = cookie(&fixture.sign_in().await);
    let guesses = linklet_dynamodb::ThrottleTable::new(fixture.db.table_with(meter.clone(), "ThrottleTable"));
    let limits = crate::fixture::limits_with(guesses, 2);
    let auth = Auth::new(fixture.db.users(), tokens().with_sessions(fixture.db.sessions()), issuer(), limits);

    for _ in 0..30 {
        assert_eq!(Fixture::refresh("linklet_refresh=wrong").send_to(&auth).await.status, 401);
    }
    assert_eq!((Fixture::refresh(&first).send_to(&auth).await.status, meter.calls()), (200, 0));
}

#[tokio::test]
async fn while_the_table_cannot_be_read_nothing_is_used_up() {
    let fixture = Fixture::new().await;
    let first = cookie(&fixture.sign_in().await);
    let verifier = tokens().with_sessions(fixture.db.sessions());
    let users = users_by(TestDynamoDb::unreachable());
    let without = Auth::new(users, verifier, issuer(), limits(&fixture.db));

    let refused = Fixture::refresh(&first).at(fixture.now.plus(SECOND)).send_to(&without).await;

    assert_eq!((refused.status, refused.header("set-cookie")), (503, ""));
    assert_eq!(fixture.refresh_after(&first, DAY).await.status, 200);
}

#[tokio::test]
async fn behind_an_emulator_the_cookie_is_for_this_api_only() {
    let fixture = Fixture::new().await;
    let address = ApiAddress::new(Some("http://127.0.0.1:4566/_aws/execute-api/c0ffee00"));
    let auth = Auth { address, ..auth(&fixture.db) };
    let login = Fixture::login(&json!(true)).header("host", "127.0.0.1:4566").header("x-forwarded-proto", "http");

    let answer = login.send_to(&auth).await;

    let attributes = "; Path=/_aws/execute-api/c0ffee00/api/auth; Max-Age=2592000; HttpOnly; SameSite=Strict";
    assert!(answer.header("set-cookie").ends_with(attributes), "{}", answer.header("set-cookie"));
}
