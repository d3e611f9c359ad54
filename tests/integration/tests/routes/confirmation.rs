//! Confirming an address: the mailed token is one proof, a session or the password of the account the other.

use crate::prelude::*;

const POLICIES: [(&str, &str); 3] = [("open", ""), ("domains", "example.com"), ("invited", "")];
const CEO: &str = "ceo@example.com";
const PASSWORD: &str = "correct horse battery";
const INVALID: &str = "this token does not exist, was used, or has expired";

struct Fixture {
    db: TestDynamoDb,
    queues: FakeQueues,
    auth: Auth,
}

impl Fixture {
    fn new(policy: &str, domains: &str) -> Self {
        let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
        let policy = RegistrationPolicy::parse(policy, domains).unwrap();
        let auth = Auth { mails: mail_orders(&queues), registration: policy, ..auth(&db) };
        Self { db, queues, auth }
    }

    /// Registers an address by what the policy asks for: by an operator's invitation, if it takes one.
    async fn register(&self, email: &str, password: &str) -> UserId {
        let mut body = json!({"email": email, "password": password});
        let mut answer = self.auth.post_openly("/api/auth/register", &body).await;
        if answer.json()["code"] == "registration_closed" {
            let token = self.db.invite_to_register(&email.parse().unwrap()).await;
            body["invitation"] = json!(token.reveal());
            answer = self.auth.post_openly("/api/auth/register", &body).await;
        }
        answer.expecting(201).parsed("user_id")
    }

    async fn confirm(&self, token: &OneTimeToken, password: Option<&str>) -> Answer {
        self.auth.post_openly("/api/auth/verify", &json!({"token": token.reveal(), "password": password})).await
    }

    async fn confirm_as(&self, session: &str, token: &OneTimeToken) -> Answer {
        self.auth.post("/api/auth/verify", session, &json!({"token": token.reveal()})).await
    }

    async fn is_verified(&self, user: &UserId) -> bool {
        self.db.users().verified_at(user).await.unwrap().is_some()
    }
}

/// The token of a mail that goes to the address of an account.
async fn mailed(db: &TestDynamoDb, user: &UserId, email: &str) -> OneTimeToken {
    db.mailed_token(TokenPurpose::Verification, user, email, Timestamp::now()).await
}

/// The attack: somebody registers the address of somebody else, who opens the mail that follows, or whose mail scanner does.
#[tokio::test]
async fn whoever_only_opens_the_mailed_page_wakes_nobody_elses_password() {
    for (policy, domains) in POLICIES {
        let fixture = Fixture::new(policy, domains);
        let squatted = fixture.register(CEO, "the squatter's horse").await;
        let token = mailed(&fixture.db, &squatted, CEO).await;

        assert_eq!(fixture.confirm(&token, None).await.problem_field(), (400, "password".into()), "{policy}");
        assert!(!fixture.is_verified(&squatted).await, "{policy}");
        if policy == "domains" {
            assert_eq!(fixture.auth.log_in(CEO, "the squatter's horse").await.status, 401, "no password was taken");
        }
    }
}

#[tokio::test]
async fn the_owner_of_a_squatted_address_cannot_be_made_to_confirm_it() {
    for (policy, domains) in [("open", ""), ("invited", "")] {
        let fixture = Fixture::new(policy, domains);
        let squatted = fixture.register(CEO, "the squatter's horse").await;
        let own = fixture.register("eve@example.com", PASSWORD).await;
        let token = mailed(&fixture.db, &squatted, CEO).await;
        let session = fixture.auth.session("eve@example.com", PASSWORD).await;

        let guessed = fixture.confirm(&token, Some(PASSWORD)).await;
        let by_another_account = fixture.confirm_as(&session, &token).await;
        let forged = fixture.confirm_as("a.b.c", &token).await;

        assert_eq!(guessed.problem(), (401, "invalid credentials".into()), "{policy}");
        assert_eq!((by_another_account.status, forged.status), (403, 401), "{policy}");
        assert_eq!((fixture.is_verified(&squatted).await, fixture.is_verified(&own).await), (false, false));
        let confirmed = fixture.confirm(&token, Some("the squatter's horse")).await;
        assert_eq!(confirmed.status, 204, "the token was left as it is");
    }
}

#[tokio::test]
async fn a_mailed_token_confirms_an_address_once_by_session_or_password() {
    for by_session in [true, false] {
        let fixture = Fixture::new("open", "");
        let ada = fixture.register("ada@example.com", PASSWORD).await;
        let token = mailed(&fixture.db, &ada, "ada@example.com").await;
        let session = fixture.auth.session("ada@example.com", PASSWORD).await;
        let confirm = async || match by_session {
            true => fixture.confirm_as(&session, &token).await,
            false => fixture.confirm(&token, Some(PASSWORD)).await,
        };

        let (first, second) = (confirm().await, confirm().await);

        assert_eq!((first.status, second.problem()), (204, (404, INVALID.into())), "by a session: {by_session}");
        assert!(fixture.is_verified(&ada).await);
        assert_eq!(fixture.auth.log_in("ada@example.com", PASSWORD).await.status, 200);
    }
}

#[tokio::test]
async fn passwords_beside_a_mailed_token_are_guesses_at_the_account() {
    let fixture = Fixture::new("open", "");
    let ada = fixture.register("ada@example.com", PASSWORD).await;
    let token = mailed(&fixture.db, &ada, "ada@example.com").await;

    let mut statuses = Vec::new();
    for _ in 0..7 {
        statuses.push(fixture.confirm(&token, Some("wrong horse")).await.status);
    }

    assert_eq!(statuses.iter().filter(|status| **status == 401).count(), 5, "{statuses:?}");
    assert_eq!(statuses.last(), Some(&429));
}

#[tokio::test]
async fn an_ended_session_confirms_nothing() {
    let fixture = Fixture::new("open", "");
    let ada = fixture.register("ada@example.com", PASSWORD).await;
    let (token, session) =
        (mailed(&fixture.db, &ada, "ada@example.com").await, fixture.auth.session("ada@example.com", PASSWORD).await);
    fixture.db.users().end_sessions(&ada, None, &an_origin(&ada)).await.unwrap();

    assert_eq!(fixture.confirm_as(&session, &token).await.status, 401);
    assert!(!fixture.is_verified(&ada).await);
}

#[tokio::test]
async fn where_domains_register_the_password_is_chosen_with_the_mailed_token() {
    let fixture = Fixture::new("domains", "example.com");
    let body = json!({"email": CEO, "password": "the squatter's horse", "full_name": "C. E. O."});
    let registered = fixture.auth.post_openly("/api/auth/register", &body).await;
    assert_eq!((registered.status, &registered.json()["ignored"]), (201, &json!(["password"])));
    let (ordered, ceo) = (fixture.queues.events("notify"), registered.parsed("user_id"));
    assert_eq!(json!([ordered[0]["mail"], ordered[0]["email"]]), json!(["verification", CEO]));
    let (token, later) = (mailed(&fixture.db, &ceo, CEO).await, mailed(&fixture.db, &ceo, CEO).await);

    let before = [fixture.auth.log_in(CEO, "the squatter's horse").await, fixture.auth.log_in(CEO, PASSWORD).await];
    let guessable = fixture.confirm(&token, Some("password1")).await;
    fixture.confirm(&token, Some(PASSWORD)).await.expecting(204);

    assert_eq!(before.map(|answer| answer.status), [401, 401]);
    assert_eq!(guessable.problem_field(), (400, "password".into()));
    assert_eq!(fixture.auth.log_in(CEO, PASSWORD).await.status, 200);
    assert_eq!(fixture.auth.log_in(CEO, "the squatter's horse").await.status, 401);
    // Another mail of before is no way to choose another one.
    assert_eq!(fixture.confirm(&later, Some("another horse altogether")).await.status, 401);
    assert_eq!(fixture.auth.log_in(CEO, PASSWORD).await.status, 200);
}

#[tokio::test]
async fn a_password_that_is_not_taken_is_named_as_ignored() {
    for (password, ignored) in
        [(json!("short"), true), (json!(12), true), (json!(["x"]), true), (json!(""), false), (Value::Null, false)]
    {
        let fixture = Fixture::new("domains", "example.com");
        // The document says what a password has to be where one is taken.
        let request = RequestBuilder::new("POST", "/api/auth/register").outside_the_contract();
        let answer = request.json(&json!({"email": CEO, "password": password})).send_to(&fixture.auth).await;

        assert_eq!(answer.status, 201, "{password}: {}", answer.body);
        assert_eq!(answer.json().get("ignored").is_some(), ignored, "{password}");
    }
}

#[tokio::test]
async fn elsewhere_and_with_an_invitation_a_password_is_required() {
    for (policy, domains) in [("open", ""), ("domains", "example.com")] {
        let fixture = Fixture::new(policy, domains);
        let token = fixture.db.invite_to_register(&CEO.parse().unwrap()).await;

        let answer =
            fixture.auth.post_openly("/api/auth/register", &json!({"email": CEO, "invitation": token.reveal()})).await;

        assert_eq!(answer.problem(), (400, "password is required".into()), "{policy}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_first_passwords_at_once_one_is_chosen() {
    let fixture = Fixture::new("domains", "example.com");
    let ceo = fixture.register(CEO, PASSWORD).await;
    let (one, other) = (mailed(&fixture.db, &ceo, CEO).await, mailed(&fixture.db, &ceo, CEO).await);

    let answers = tokio::join!(
        fixture.confirm(&one, Some("one first horse")),
        fixture.confirm(&other, Some("another first horse"))
    );

    let statuses = [answers.0.status, answers.1.status];
    assert_eq!(statuses.iter().filter(|status| **status == 204).count(), 1, "{statuses:?}");
    let chosen = if statuses[0] == 204 { "one first horse" } else { "another first horse" };
    assert_eq!(fixture.auth.log_in(CEO, chosen).await.status, 200);
}

#[tokio::test]
async fn the_sign_up_page_learns_how_people_register() {
    for (policy, domains, listed, takes_password) in [
        ("open", "", Value::Null, true),
        ("domains", "example.org, example.com", json!(["example.com", "example.org"]), false),
        ("invited", "", Value::Null, true),
    ] {
        let fixture = Fixture::new(policy, domains);

        let answer = fixture.auth.get_openly("/api/auth/registration").await;

        let expected = json!({
            "registration": policy, "domains": listed, "takes_password": takes_password, "password_login": true,
            "sends_mail": true, "oidc": [],
        });
        assert_eq!((answer.status, answer.json()), (200, expected));
    }
}
