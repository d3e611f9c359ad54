//! Limits on guessing passwords: whoever guesses waits, and nobody else does.

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::{StreamExt, stream};
use linklet_lambda::metrics::{self};

use crate::{fixture::limits_with, prelude::*};

const SECOND: Duration = Duration::from_secs(1);
const HOME: &str = "198.51.100.1";
const PASSWORD: &str = "correct horse battery";

fn noon() -> Timestamp {
    // Not in the past, since a token expires.
    Timestamp::now()
}

/// Always the same, since the second says which counters somebody's hashes have in common with others'.
fn a_second() -> Timestamp {
    Timestamp::parse("2026-03-02T12:00:00Z").unwrap()
}

fn auth(db: &TestDynamoDb) -> Auth {
    Auth::new(db.users(), tokens(), issuer(), limits(db))
}

fn attempt(email: &str, password: &str, address: &str, now: Timestamp) -> RequestBuilder {
    let login = json!({"email": email, "password": password});
    RequestBuilder::new("POST", "/api/auth/login").json(&login).source_ip(address).at(now)
}

fn registration(email: &str, address: &str, now: Timestamp) -> RequestBuilder {
    let account = json!({"email": email, "password": PASSWORD});
    RequestBuilder::new("POST", "/api/auth/register").json(&account).source_ip(address).at(now)
}

/// An environment of auth in which Ada has registered at home.
struct Fixture {
    db: TestDynamoDb,
    auth: Auth,
    now: Timestamp,
}

const ADA: &str = "ada@example.com";

impl Fixture {
    async fn new() -> Self {
        let (db, now) = (TestDynamoDb::start(), noon());
        let auth = auth(&db);
        assert_eq!(registration(ADA, HOME, now).send_to(&auth).await.status, 201);
        Self { db, auth, now }
    }

    async fn login(&self, email: &str, password: &str, address: &str, now: Timestamp) -> Answer {
        attempt(email, password, address, now).send_to(&self.auth).await
    }

    /// Sets a new password with a token that was mailed, or that an operator has shown.
    async fn reset(&self, address: &str, password: &str, delivery: TokenDelivery) -> Answer {
        let email = ADA.parse().unwrap();
        let user = self.db.users().find_by_email(&email).await.unwrap().unwrap().0.id;
        let token = OneTimeToken::generate(TokenPurpose::Reset).unwrap();
        let new = NewToken { hash: &token.hash(), user: &user, email: &email, issued_at: self.now };
        self.db.one_time_tokens().issue_reset(&new, delivery).await.unwrap();
        let body = json!({"token": token.reveal(), "password": password});
        let request = RequestBuilder::new("POST", "/api/auth/password/reset").json(&body);
        request.source_ip(address).at(self.now).send_to(&self.auth).await
    }

    /// The statuses of so many wrong passwords in a row at one moment.
    async fn wrong(&self, email: &str, address: &str, times: usize, now: Timestamp) -> Vec<u16> {
        let mut statuses = Vec::new();
        for _ in 0..times {
            statuses.push(self.login(email, "wrong horse", address, now).await.status);
        }
        statuses
    }

    /// Guesses at the account from elsewhere until it has to be waited.
    async fn under_attack() -> Self {
        let fixture = Self::new().await;
        for host in 1..=8 {
            fixture.wrong(ADA, &format!("203.0.113.{host}"), 1, fixture.now).await;
        }
        fixture
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_wrong_passwords_from_one_address_stop_nobody_elsewhere() {
    let fixture = Fixture::new().await;
    // Not more at once, since each hash holds up all of them here. In Lambda, each has a processor of its own.
    let wrong = stream::iter(0..500).map(|number| {
        let email = format!("user{}@example.com", number % 50);
        attempt(&email, "wrong horse", "203.0.113.9", fixture.now).send_to(&fixture.auth)
    });
    let wrong = wrong.buffer_unordered(8).collect::<Vec<Answer>>();
    let started = Instant::now();
    let others = async {
        let known = fixture.login(ADA, PASSWORD, HOME, fixture.now).await;
        let stranger = fixture.login(ADA, PASSWORD, "198.51.100.2", fixture.now).await;
        (known.status, stranger.status, started.elapsed())
    };

    let (flood, (known, stranger, took)) = tokio::join!(wrong, others);

    let with = |status| flood.iter().filter(|answer| answer.status == status).count();
    assert_eq!((with(401), with(429)), (10, 490));
    assert_eq!((known, stranger), (200, 200));
    assert!(took < SECOND * 30, "{took:?}");
}

#[tokio::test]
async fn during_a_wait_a_right_password_is_refused_like_a_wrong_one() {
    let fixture = Fixture::under_attack().await;
    let address = "198.51.100.2";

    let right = fixture.login(ADA, PASSWORD, address, fixture.now).await;
    let wrong = fixture.login(ADA, "wrong horse", address, fixture.now).await;

    assert_eq!(right.problem(), (429, "too many attempts; try again later".into()));
    assert_eq!(right.problem(), wrong.problem());
    assert_eq!((right.header("retry-after"), wrong.header("retry-after")), ("1", "1"));
    assert_eq!(right.header("x-ratelimit-limit"), "");
    assert_eq!(fixture.login(ADA, PASSWORD, address, fixture.now.plus(SECOND)).await.status, 200, "a second later");
    let again = fixture.login(ADA, PASSWORD, address, fixture.now.plus(SECOND)).await;
    assert_eq!(again.status, 200, "and known from now on");
}

#[tokio::test]
async fn an_account_that_does_not_exist_is_limited_like_one_that_does() {
    let fixture = Fixture::new().await;
    let mut told = Vec::new();
    for (email, address) in [(ADA, "203.0.113.1"), ("nobody@example.com", "203.0.113.2"), ("no address", "203.0.113.3")]
    {
        let mut now = fixture.now;
        let mut answers = Vec::new();
        for pause in [0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 3, 1] {
            now = now.plus(SECOND * pause);
            let answer = fixture.login(email, "wrong horse", address, now).await;
            answers.push((answer.status, answer.header("retry-after").to_owned()));
        }
        told.push(answers);
    }

    let waits = ["", "", "", "", "", "1", "", "2", "", "4", "1", ""];
    let expected = waits.map(|wait| (if wait.is_empty() { 401 } else { 429 }, wait.to_owned()));
    assert_eq!(told, [expected.clone(), expected.clone(), expected]);
}

#[tokio::test]
async fn right_passwords_are_not_limited() {
    let fixture = Fixture::new().await;
    for number in 0..15 {
        assert_eq!(fixture.login(ADA, PASSWORD, HOME, fixture.now).await.status, 200, "{number}");
    }
}

#[tokio::test]
async fn mistypes_in_an_office_stop_no_colleague() {
    let fixture = Fixture::new().await;
    let office = "203.0.113.1";
    for number in 0..9 {
        let email = format!("colleague{number}@example.com");
        assert_eq!(fixture.wrong(&email, office, 1, fixture.now).await, [401]);
    }

    assert_eq!(fixture.login(ADA, PASSWORD, office, fixture.now).await.status, 200);

    for number in 0..10 {
        fixture.wrong(&format!("guess{number}@example.com"), office, 1, fixture.now).await;
    }
    assert_eq!(fixture.login(ADA, PASSWORD, office, fixture.now).await.status, 200, "known there by now");
    assert_eq!(fixture.login("bob@example.com", PASSWORD, office, fixture.now).await.status, 429, "a stranger there");
}

#[tokio::test]
async fn somebody_who_can_sign_in_can_not_have_wrong_guesses_forgotten() {
    let fixture = Fixture::new().await;
    let address = "203.0.113.1";
    for number in 0..9 {
        fixture.wrong(&format!("victim{number}@example.com"), address, 1, fixture.now).await;
        assert_eq!(fixture.login(ADA, PASSWORD, address, fixture.now).await.status, 200);
    }

    assert_eq!(fixture.wrong("victim9@example.com", address, 2, fixture.now).await, [401, 429]);
}

#[tokio::test]
async fn the_old_password_can_not_be_guessed_with_a_stolen_token() {
    let fixture = Fixture::new().await;
    let token = fixture.login(ADA, PASSWORD, HOME, fixture.now).await.text("token");
    let change = async |current: &str, address: &str| {
        let body = json!({"current": current, "new": "another horse battery"});
        let request = RequestBuilder::new("POST", "/api/auth/password").token(&token).json(&body);
        request.source_ip(address).at(fixture.now).send_to(&fixture.auth).await.status
    };

    for _ in 0..5 {
        assert_eq!(change("wrong horse", "203.0.113.1").await, 401);
    }

    assert_eq!(change(PASSWORD, "203.0.113.1").await, 429);
    assert_eq!(change(PASSWORD, HOME).await, 204, "Ada herself");
}

#[tokio::test]
async fn an_ip_address_may_try_to_register_fifty_times() {
    let fixture = Fixture::new().await;
    let address = "203.0.113.1";
    let register = async |email: &str, address: &str| {
        registration(email, address, fixture.now).send_to(&fixture.auth).await.status
    };

    for number in 0..10 {
        assert_eq!(register(&format!("new{number}@example.com"), address).await, 201);
    }
    for _ in 0..40 {
        assert_eq!(register(ADA, address).await, 409);
    }

    assert_eq!(register(ADA, address).await, 429);
    assert_eq!(register("grace@example.com", address).await, 429);
    assert_eq!(register("grace@example.com", "203.0.113.2").await, 201, "from elsewhere");
}

#[tokio::test]
async fn an_invalid_registration_does_not_count() {
    let fixture = Fixture::new().await;
    for _ in 0..60 {
        let invalid = RequestBuilder::new("POST", "/api/auth/register").json(&json!({"email": ADA})).at(fixture.now);
        assert_eq!(invalid.send_to(&fixture.auth).await.status, 400);
    }

    assert_eq!(registration("grace@example.com", "203.0.113.9", fixture.now).send_to(&fixture.auth).await.status, 201);
}

/// The attack: right passwords are no guesses, and would hold the hashes of all who are known from four addresses.
#[tokio::test]
async fn right_passwords_of_one_account_keep_nobody_else_from_signing_in() {
    let fixture = Fixture::new().await;
    let auth = Auth::new(fixture.db.users(), tokens(), issuer(), limits_with(fixture.db.calls(), 20));
    let login =
        async |email: &str, address: &str, now| attempt(email, PASSWORD, address, now).send_to(&auth).await.status;
    let person = |number: u64| (format!("user{number}@example.com"), format!("198.51.{number}.7"));
    for (email, address) in (0..20).map(person).chain([("eve@example.com".to_owned(), "192.0.2.1".to_owned())]) {
        assert_eq!(registration(&email, &address, fixture.now).send_to(&fixture.auth).await.status, 201);
    }
    let hers = [0, 1, 2, 3].map(|number| format!("203.0.{number}.1"));
    for address in &hers {
        assert_eq!(fixture.login("eve@example.com", PASSWORD, address, fixture.now).await.status, 200);
    }

    for second in 0..5 {
        let now = a_second().plus(Duration::from_secs(second));
        for number in 0..24 {
            login("eve@example.com", &hers[number % 4], now).await;
        }
        for (email, address) in (second * 4..second * 4 + 4).map(person) {
            assert_eq!(login(&email, &address, now).await, 200, "{email} in second {second}");
        }
    }
}

#[tokio::test]
async fn a_flood_of_strangers_leaves_hashes_for_those_who_are_known() {
    let fixture = Fixture::new().await;
    let auth = Auth::new(fixture.db.users(), tokens(), issuer(), limits_with(fixture.db.calls(), 3));
    let now = a_second();
    let login =
        async |email: &str, password: &str, address: &str| attempt(email, password, address, now).send_to(&auth).await;
    for number in 0..3 {
        login(&format!("user{number}@example.com"), "wrong horse", &format!("203.0.{number}.1")).await.expecting(401);
    }

    let (refused, measured) = metrics::observe(login("grace@example.com", PASSWORD, "203.0.113.9")).await;

    assert_eq!(refused.problem(), (429, "too many attempts; try again later".into()));
    assert_eq!(measured.get(Metric::HashesRefused), 1.0);
    let seconds: u32 = refused.header("retry-after").parse().unwrap();
    assert!((1..=3).contains(&seconds), "{seconds}");
    assert_eq!(login(ADA, PASSWORD, HOME).await.status, 200);
    for _ in 0..50 {
        assert_eq!(login("grace@example.com", PASSWORD, "203.0.113.9").await.header("retry-after").len(), 1);
    }
    let later = attempt("grace@example.com", "wrong horse", "203.0.113.9", now.plus(SECOND));
    assert_eq!(later.send_to(&auth).await.status, 401, "what was refused didn't count as a guess");
}

#[tokio::test]
async fn without_the_table_people_log_in() {
    let fixture = Fixture::new().await;
    let unreachable = ThrottleTable::new(TestDynamoDb::unreachable_table("ThrottleTable"));
    let auth = Auth::new(fixture.db.users(), tokens(), issuer(), limits_with(unreachable, 10));

    let login = attempt(ADA, PASSWORD, HOME, fixture.now).send_to(&auth);
    let (answer, measured) = metrics::observe(login).await;

    assert_eq!(answer.status, 200);
    assert!(measured.get(Metric::ThrottleUnavailable) >= 1.0);
}

/// The attack: whoever guesses on keeps the owner off, who has no address from which they have signed in.
#[tokio::test]
async fn a_mailed_reset_lets_the_owner_in_despite_ongoing_guesses() {
    for (delivery, status) in [(TokenDelivery::Mailed, 200), (TokenDelivery::Shown, 429)] {
        let fixture = Fixture::new().await;
        let (owners, new) = ("192.0.2.7", "a new horse of her own");
        let guess_on = async || {
            for host in 1..=10 {
                fixture.wrong(ADA, &format!("203.0.113.{host}"), 2, fixture.now).await;
            }
        };
        guess_on().await;
        assert_eq!(fixture.login(ADA, PASSWORD, owners, fixture.now).await.status, 429, "the owner is held off");

        fixture.reset(owners, new, delivery).await.expecting(204);
        guess_on().await;

        assert_eq!(fixture.login(ADA, new, owners, fixture.now).await.status, status, "{delivery:?}");
    }
}

#[tokio::test]
async fn a_first_password_lets_the_owner_in_while_somebody_guesses() {
    let fixture = Fixture::new().await;
    let user = fixture.db.users().find_by_email(&ADA.parse().unwrap()).await.unwrap().unwrap().0.id;
    let token = fixture.db.mailed_token(TokenPurpose::Verification, &user, ADA, fixture.now).await;
    // As if registered where domains are: without a password.
    let key = |name: &str, value: &str| (name.to_owned(), AttributeValue::S(value.to_owned()));
    let forget = fixture.db.client().update_item().table_name("UsersTable");
    let forget = forget.set_key(Some([key("pk", &format!("USER#{user}")), key("sk", "USER")].into()));
    forget.update_expression("REMOVE password_hash").send().await.unwrap();

    let body = json!({"token": token.reveal(), "password": PASSWORD});
    let chosen = RequestBuilder::new("POST", "/api/auth/verify").json(&body).source_ip("192.0.2.7").at(fixture.now);
    assert_eq!(chosen.send_to(&fixture.auth).await.status, 204);
    for host in 1..=10 {
        fixture.wrong(ADA, &format!("203.0.113.{host}"), 2, fixture.now).await;
    }

    assert_eq!(fixture.login(ADA, PASSWORD, "192.0.2.7", fixture.now).await.status, 200);
    assert_eq!(fixture.login(ADA, PASSWORD, "192.0.2.8", fixture.now).await.status, 429);
}
