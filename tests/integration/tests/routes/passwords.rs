use linklet_test_support::Outage;

use crate::prelude::*;

const INVALID: &str = "this token does not exist, was used, or has expired";

struct Fixture {
    db: TestDynamoDb,
    queues: FakeQueues,
    auth: Auth,
}

impl Fixture {
    fn new() -> Self {
        let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
        let auth = Auth { mails: mail_orders(&queues), ..auth(&db) };
        Self { db, queues, auth }
    }

    /// Registers Ada by the API, so that she has a password.
    async fn ada(&self) -> Person {
        person_of(&self.auth.register("ada@example.com", "correct horse").await)
    }

    async fn reset_token(&self, ada: &Person, issued_at: Timestamp) -> OneTimeToken {
        self.db.mailed_token(TokenPurpose::Reset, &ada.id, ada.email.as_str(), issued_at).await
    }

    async fn reset(&self, token: &OneTimeToken, password: &str) -> Answer {
        self.auth.post_openly("/api/auth/password/reset", &json!({"token": token.reveal(), "password": password})).await
    }

    async fn login(&self, password: &str) -> Answer {
        self.auth.log_in("ada@example.com", password).await
    }

    fn ordered(&self) -> Vec<(String, String)> {
        let text = |order: &Value, name: &str| order[name].as_str().unwrap().to_owned();
        let orders = self.queues.events("notify");
        orders.iter().map(|order| (text(order, "mail"), text(order, "email"))).collect()
    }
}

fn order(kind: &str, email: &str) -> (String, String) {
    (kind.to_owned(), email.to_owned())
}

#[tokio::test]
async fn a_forgotten_password_gets_the_same_answer_without_an_account() {
    let (fixture, meter) = (Fixture::new(), CapacityMeter::default());
    fixture.ada().await;
    let users = users_by(fixture.db.client_with(meter.clone()));
    let tokens = tokens().with_sessions(fixture.db.sessions());
    let auth = Auth::new(users, tokens, issuer(), limits(&fixture.db));
    let (auth, before) = (Auth { mails: mail_orders(&fixture.queues), ..auth }, fixture.ordered().len());

    for path in ["/api/auth/password/forgot", "/api/auth/verification"] {
        for email in ["ada@example.com", "nobody@example.com"] {
            let answer = auth.post_openly(path, &json!({"email": email})).await;
            assert_eq!((answer.status, answer.body.as_str()), (202, ""), "{path} {email}");
        }
    }

    // Not only do they read as much: they read nothing.
    assert_eq!((meter.read_units(), meter.write_units()), (0.0, 0.0));
    let ordered = fixture.ordered().split_off(before);
    let expected = [
        order("password_reset", "ada@example.com"),
        order("password_reset", "nobody@example.com"),
        order("verification", "ada@example.com"),
        order("verification", "nobody@example.com"),
    ];
    assert_eq!(ordered, expected);
}

#[tokio::test]
async fn what_is_no_address_is_refused_and_orders_nothing() {
    let fixture = Fixture::new();

    for path in ["/api/auth/password/forgot", "/api/auth/verification"] {
        let expected = (400, "email".to_owned());
        assert_eq!(fixture.auth.post_openly(path, &json!({"email": "ada"})).await.problem_field(), expected, "{path}");
    }

    assert!(fixture.ordered().is_empty());
}

#[tokio::test]
async fn without_mail_nothing_is_ordered_and_the_answers_are_the_same() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let fixture = Fixture { auth: Auth::new(db.users(), tokens(), issuer(), limits(&db)), db, queues };

    let answer = fixture.auth.post_openly("/api/auth/password/forgot", &json!({"email": "ada@example.com"})).await;
    let registered = fixture.auth.register("ada@example.com", "correct horse").await;

    assert_eq!((answer.status, registered.status), (202, 201));
    assert!(fixture.ordered().is_empty());
}

#[tokio::test]
async fn a_failing_queue_fails_requests_for_mail_but_no_registration() {
    let fixture = Fixture::new();
    fixture.queues.fail(Outage::Everything);

    let forgotten = fixture.auth.post_openly("/api/auth/password/forgot", &json!({"email": "ada@example.com"})).await;
    fixture.auth.register("ada@example.com", "correct horse").await.expecting(201);

    assert_eq!(forgotten.problem(), (503, "service unavailable".into()));
}

#[tokio::test]
async fn registering_and_asking_with_a_token_order_mail_to_ones_own_address() {
    let fixture = Fixture::new();
    fixture.ada().await;
    let token = fixture.login("correct horse").await.text("token");

    let again = RequestBuilder::new("POST", "/api/auth/verification").token(&token);
    // Somebody else's address doesn't matter.
    let again = again.json(&json!({"email": "eve@example.com"})).send_to(&fixture.auth).await;
    let forged = RequestBuilder::new("POST", "/api/auth/verification").token("a.b.c").send_to(&fixture.auth).await;
    for (unclear, sentence) in [
        ("not JSON", "invalid request body"),
        ("[]", "invalid request body"),
        (r#"{"email": 7}"#, "email"),
        (r#"{"email": "eve"}"#, "email"),
    ] {
        let refused = RequestBuilder::new("POST", "/api/auth/verification").token(&token).body(unclear);
        let refused = refused.send_to(&fixture.auth).await;
        assert_eq!(refused.status, 400, "{unclear}");
        assert!(refused.problem().1.contains(sentence), "{unclear}: {}", refused.body);
    }

    assert_eq!((again.status, forged.status), (202, 401));
    let verification = || order("verification", "ada@example.com");
    assert_eq!(fixture.ordered(), [verification(), verification()]);
}

#[tokio::test]
async fn a_token_sets_a_new_password_once_and_ends_all_sessions() {
    let fixture = Fixture::new();
    let ada = fixture.ada().await;
    let session = fixture.login("correct horse").await.text("token");
    let token = fixture.reset_token(&ada, Timestamp::now()).await;

    let first = fixture.reset(&token, "a longer horse").await;
    let second = fixture.reset(&token, "another horse").await;

    assert_eq!((first.status, first.body.as_str()), (204, ""));
    assert_eq!(second.problem(), (404, INVALID.into()));
    let logins = [fixture.login("correct horse").await, fixture.login("another horse").await];
    assert_eq!(logins.map(|login| login.status), [401, 401]);
    assert_eq!(fixture.login("a longer horse").await.status, 200);
    assert_eq!(fixture.auth.me(&session).await.status, 401);
}

#[tokio::test]
async fn a_token_that_cannot_be_used_gets_one_answer_whatever_the_reason() {
    let fixture = Fixture::new();
    let ada = fixture.ada().await;
    let now = Timestamp::now();
    let expired = fixture.reset_token(&ada, now.minus(lifetimes::PASSWORD_RESETS)).await;
    let unknown = OneTimeToken::generate(TokenPurpose::Reset).unwrap();
    let for_an_address = OneTimeToken::generate(TokenPurpose::Verification).unwrap();

    let mut answers = Vec::new();
    for token in [expired.reveal(), unknown.reveal(), for_an_address.reveal(), "", "rst_"] {
        let reset = json!({"token": token, "password": "a longer horse"});
        answers.push(fixture.auth.post_openly("/api/auth/password/reset", &reset).await.json()["detail"].clone());
        answers.push(fixture.auth.post_openly("/api/auth/verify", &reset).await.json()["detail"].clone());
    }

    assert!(answers.iter().all(|detail| *detail == INVALID), "{answers:?}");
    assert_eq!(fixture.login("correct horse").await.status, 200);
}

#[tokio::test]
async fn a_password_that_can_be_guessed_is_refused_and_leaves_the_token() {
    let fixture = Fixture::new();
    let ada = fixture.ada().await;
    let token = fixture.reset_token(&ada, Timestamp::now()).await;

    for guessable in ["ada@example.com", "password1", "short"] {
        assert_eq!(fixture.reset(&token, guessable).await.problem_field(), (400, "password".into()), "{guessable}");
    }

    assert_eq!(fixture.reset(&token, "a longer horse").await.status, 204);
}
