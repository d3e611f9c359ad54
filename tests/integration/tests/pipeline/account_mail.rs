use std::{collections::BTreeSet, time::Duration};

use linklet_auth::Auth;
use linklet_domain::{
    AccountChange, ApiKeySecret, CorrelationId, CountryCode, EmailAddress, EmailRequest, EmailRequestId,
    RegistrationPolicy, RequestedEmail, SignInPlace, Timestamp, UserId, WorkspaceName, lifetimes,
};
use linklet_lambda::batch::Consumer;
use linklet_notify::Notify;
use linklet_test_support::{
    Answer, FakeNotifiers, FakeQueues, RequestBuilder, TestDynamoDb, an_origin, in_role_of, issuer, message_batch,
    queue_batch, tokens,
};
use serde_json::{Value, json};

use crate::fixture;

struct Fixture {
    db: TestDynamoDb,
    queues: FakeQueues,
    outside: FakeNotifiers,
}

impl Fixture {
    fn new() -> Self {
        Self { db: TestDynamoDb::start(), queues: FakeQueues::start(), outside: FakeNotifiers::start() }
    }

    /// Delivers events to notify, and returns how many have to come again.
    async fn deliver(&self, orders: &[EmailRequest]) -> usize {
        let notify = fixture::notify(&self.db, &self.queues, &self.outside, true);
        in_role_of::<Notify, _>(notify.consume(message_batch(orders))).await.batch_item_failures.len()
    }

    /// The tokens in the mails, one each.
    fn mailed(&self, prefix: &str) -> Vec<String> {
        let token = |text: String| text.lines().find(|line| line.starts_with(prefix)).unwrap().to_owned();
        self.outside.texts().into_iter().map(token).collect()
    }

    async fn post(&self, path: &str, body: &Value) -> Answer {
        RequestBuilder::new("POST", path).json(body).send_to(&self.auth()).await
    }

    fn auth(&self) -> Auth {
        let auth = Auth::new(self.db.users(), tokens(), issuer(), fixture::limits(&self.db));
        Auth { mails: fixture::mail_orders(&self.queues), ..auth }
    }

    /// Delivers all orders, one at a time.
    async fn deliver_orders(&self) {
        for body in self.queues.bodies("notify") {
            let notify = fixture::notify(&self.db, &self.queues, &self.outside, true);
            assert!(notify.consume(queue_batch(&[body])).await.batch_item_failures.is_empty());
        }
    }
}

fn order(mail: RequestedEmail) -> EmailRequest {
    let (order_id, correlation_id) = (EmailRequestId::generate(), CorrelationId::generate());
    EmailRequest { order_id, ordered_at: Timestamp::now(), correlation_id, mail }
}

fn forgotten(email: &str) -> EmailRequest {
    order(RequestedEmail::PasswordReset { email: EmailAddress::parse(email).unwrap() })
}

fn verification(email: &str) -> EmailRequest {
    order(RequestedEmail::Verification { email: EmailAddress::parse(email).unwrap() })
}

#[tokio::test]
async fn from_registering_to_a_forgotten_password_people_follow_their_mail() {
    let fixture = Fixture::new();
    let credentials = |password: &str| json!({"email": "ada@example.com", "password": password});
    assert_eq!(fixture.post("/api/auth/register", &credentials("correct horse")).await.status, 201);
    assert_eq!(fixture.post("/api/auth/password/forgot", &json!({"email": "Ada@Example.com"})).await.status, 202);

    fixture.deliver_orders().await;

    assert_eq!(fixture.outside.subjects(), ["Confirm your email address", "Set a new password"]);
    assert_eq!(fixture.outside.recipients(), ["ada@example.com"; 2]);
    let texts = fixture.outside.texts();
    let after = |text: &str, mark: &str| text.split(mark).nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let verify = after(&texts[0], "https://go.example.com/app#/verify?token=");
    let reset = after(&texts[1], "https://go.example.com/app#/reset?token=");
    let verify = json!({"token": verify, "password": "correct horse"});
    assert_eq!(fixture.post("/api/auth/verify", &verify).await.status, 204);
    let body = json!({"token": reset, "password": "a longer horse"});
    assert_eq!(fixture.post("/api/auth/password/reset", &body).await.status, 204);
    assert_eq!(fixture.post("/api/auth/login", &credentials("a longer horse")).await.status, 200);
}

#[tokio::test]
async fn a_mailed_token_is_in_text_and_fragment_and_nowhere_else() {
    let fixture = Fixture::new();
    fixture.db.register("ada").await;

    assert_eq!(fixture.deliver(&[forgotten("ada@example.com")]).await, 0);

    let token = fixture.mailed("rst_").remove(0);
    let text = fixture.outside.texts().remove(0);
    assert_eq!(text.matches(&token).count(), 2);
    assert!(text.contains(&format!("https://go.example.com/app#/reset?token={token}")), "{text}");
    assert!(text.contains("within 30 minutes"), "{text}");
    for table in ["UsersTable", "NotificationsTable"] {
        assert!(!format!("{:?}", fixture.db.scan(table)).contains(&token), "{table}");
    }
    assert!(fixture.outside.published().is_empty());
}

#[tokio::test]
async fn an_address_without_an_account_gets_no_mail() {
    let fixture = Fixture::new();

    let again = fixture.deliver(&[forgotten("nobody@example.com"), verification("nobody@example.com")]).await;

    assert_eq!(again, 0);
    assert!(fixture.outside.mails().is_empty() && fixture.queues.bodies("dlq").is_empty());
    assert!(fixture.db.scan("UsersTable").is_empty());
}

#[tokio::test]
async fn a_verified_address_gets_mail_to_reset_but_not_to_verify() {
    let fixture = Fixture::new();
    fixture.db.register_verified("ada").await;

    let again = fixture.deliver(&[verification("ada@example.com"), forgotten("ada@example.com")]).await;

    assert_eq!(again, 0);
    assert_eq!(fixture.mailed("rst_").len(), 1);
}

#[tokio::test]
async fn a_message_that_comes_twice_mails_twice_and_each_token_works() {
    let fixture = Fixture::new();
    let credentials = json!({"email": "ada@example.com", "password": "correct horse"});
    assert_eq!(fixture.post("/api/auth/register", &credentials).await.status, 201);
    let ordered = verification("ada@example.com");

    for _ in 0..2 {
        assert_eq!(fixture.deliver(std::slice::from_ref(&ordered)).await, 0);
    }

    let tokens = fixture.mailed("vrf_");
    assert_eq!(tokens.iter().collect::<BTreeSet<_>>().len(), 2);
    for token in tokens {
        let verify = json!({"token": token, "password": "correct horse"});
        assert_eq!(fixture.post("/api/auth/verify", &verify).await.status, 204);
    }
}

/// Each of these is an account of its own, which anybody may register, and all mails to them land in one mailbox.
#[tokio::test]
async fn other_spellings_of_a_mailbox_bring_it_no_more_mails() {
    let fixture = Fixture::new();
    let spellings = ["victim", "victim+1", "victim+2", "\"victim\"", "\"vic\\tim\"", "\"victim+3\""];
    let spellings = spellings.map(|local| format!("{local}@x.org"));
    for email in &spellings {
        let credentials = json!({"email": email, "password": "correct horse"});
        let registered = fixture.post("/api/auth/register", &credentials).await;
        assert_eq!(registered.status, 201, "{email}: {}", registered.body);
    }
    fixture.deliver_orders().await;
    for email in &spellings {
        assert_eq!(fixture.deliver(&[forgotten(email)]).await, 0);
    }
    fixture.post("/api/auth/register", &json!({"email": "vic.tim@x.org", "password": "correct horse"})).await;
    assert_eq!(fixture.deliver(&[forgotten("vic.tim@x.org")]).await, 0);

    let expected = ["victim@x.org", "victim@x.org", "vic.tim@x.org"];
    assert_eq!(fixture.outside.recipients(), expected, "one to verify, one to reset");
}

#[tokio::test]
async fn a_mail_that_could_not_be_sent_is_tried_again() {
    let fixture = Fixture::new();
    fixture.db.register("ada").await;
    let ordered = [forgotten("ada@example.com")];

    for (is_refused, failed) in [(true, 1), (false, 0)] {
        fixture.outside.refuse_mail(is_refused);
        assert_eq!((fixture.deliver(&ordered).await, fixture.mailed("rst_").len()), (failed, 1 - failed));
    }
}

#[tokio::test]
async fn an_order_that_waited_for_longer_than_a_token_works_is_dropped() {
    let fixture = Fixture::new();
    fixture.db.register("ada").await;
    let placed = |order: EmailRequest, age: Duration| EmailRequest { ordered_at: Timestamp::now().minus(age), ..order };
    let moment = Duration::from_secs(60);

    let late = [
        placed(forgotten("ada@example.com"), lifetimes::PASSWORD_RESETS),
        placed(verification("ada@example.com"), lifetimes::ADDRESS_VERIFICATIONS),
    ];
    assert_eq!(fixture.deliver(&late).await, 0);
    let mailed_late = fixture.outside.mails().len();
    fixture.deliver(&[placed(verification("ada@example.com"), lifetimes::ADDRESS_VERIFICATIONS - moment)]).await;

    assert_eq!((mailed_late, fixture.outside.mails().len()), (0, 1));
}

fn changed(user: &UserId, change: AccountChange) -> EmailRequest {
    order(RequestedEmail::AccountChange { user_id: *user, change })
}

#[tokio::test]
async fn whoever_has_confirmed_an_address_hears_of_each_change_of_their_account() {
    let workspace = WorkspaceName::parse("Win! https://evil.example/x").unwrap();
    let of_key = json!({"prefix": ApiKeySecret::generate().unwrap().prefix()});
    let change = |kind: &str, members: Value| -> AccountChange {
        let mut change = members;
        (change["change"], change["workspace_name"]) = (json!(kind), json!(workspace));
        serde_json::from_value(change).unwrap()
    };
    let changes = [
        (AccountChange::PasswordChanged, "Your password was changed"),
        (AccountChange::PasswordReset { pauses: false }, "Your password was reset"),
        (AccountChange::SessionsEnded, "You're signed out everywhere"),
        (change("identity_connected", json!({"provider": "Acme", "pauses": true})), "You have a new way to sign in"),
        (change("signed_in", json!({"device": null})), "Your account was used from a new place"),
        (change("key_created", of_key.clone()), "You have a new API key"),
        (change("key_revoked", of_key.clone()), "Your API key was revoked"),
        (change("key_paused", of_key.clone()), "Your API key is paused"),
        (change("key_resumed", of_key), "Your API key works again"),
        (change("joined", json!({"role": "member"})), "You joined a workspace"),
        (change("role_changed", json!({"role": "viewer"})), "Your role was changed"),
        (change("membership_paused", json!({})), "Your membership is paused"),
        (change("membership_resumed", json!({"role": "admin"})), "Your membership has resumed"),
        (change("workspace_closed", json!({"restorable_until": Timestamp::now()})), "A workspace was closed"),
        (change("workspace_closed", json!({})), "A workspace was closed"),
        (change("workspace_restored", json!({})), "A workspace was restored"),
        (change("removed", json!({})), "You left a workspace"),
    ];
    let fixture = Fixture::new();
    let (ada, bob) = (fixture.db.register_verified("ada").await, fixture.db.register("bob").await);

    for (change, _) in &changes {
        assert_eq!(fixture.deliver(&[changed(&ada.id, change.clone()), changed(&bob.id, change.clone())]).await, 0);
    }

    assert_eq!(fixture.outside.recipients(), ["ada@example.com"; 17], "and nobody who has confirmed none");
    assert_eq!(fixture.outside.subjects(), changes.map(|(_, subject)| subject));
    for text in fixture.outside.texts() {
        assert!(text.contains("https://go.example.com/app#/forgot") && !text.contains("evil.example"), "{text}");
        assert!(!text.contains("token="), "{text}");
    }
}

#[tokio::test]
async fn a_sign_in_from_a_new_place_is_mailed_except_the_first() {
    const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    let fixture = Fixture::new();
    let credentials = json!({"email": "ada@example.com", "password": "correct horse"});
    let registered = fixture.post("/api/auth/register", &credentials).await.json();
    let ada: UserId = registered["user_id"].as_str().unwrap().parse().unwrap();
    let email = EmailAddress::parse("ada@example.com").unwrap();
    fixture.db.users().verify_address(&ada, &email, &an_origin(&ada)).await.unwrap();
    let sign_in = async |address: &str, password: &str| {
        let body = json!({"email": "ada@example.com", "password": password});
        let login = RequestBuilder::new("POST", "/api/auth/login").json(&body).header("user-agent", FIREFOX);
        let status = login.source_ip(address).send_to(&fixture.auth()).await.status;
        let told = fixture.queues.bodies("notify").iter().filter(|body| body.contains("signed_in")).count();
        (status, told)
    };

    assert_eq!(sign_in("198.51.100.1", "correct horse").await, (200, 0), "the first time, each place is new");
    assert_eq!(sign_in("198.51.100.1", "correct horse").await, (200, 0), "known by now");
    assert_eq!(sign_in("198.51.100.2", "a wrong horse").await, (401, 0));
    assert_eq!(sign_in("198.51.100.2", "correct horse").await, (200, 1));
    assert_eq!(sign_in("198.51.100.2", "correct horse").await, (200, 1));
    assert_eq!(sign_in("2001:db8:1:2::1", "correct horse").await, (200, 2));
    assert_eq!(sign_in("2001:db8:1:2::ffff", "correct horse").await, (200, 2), "the same network");

    let told = fixture.queues.bodies("notify").into_iter().find(|body| body.contains("signed_in")).unwrap();
    let notify = fixture::notify(&fixture.db, &fixture.queues, &fixture.outside, true);
    assert!(notify.consume(queue_batch(&[told])).await.batch_item_failures.is_empty());
    let text = fixture.outside.texts().remove(0);
    assert!(text.contains("with Firefox on Linux. It's the first sign-in from that network in 90 days."), "{text}");
}

#[tokio::test]
async fn the_mail_about_a_sign_in_names_what_is_known_of_it() {
    let fixture = Fixture::new();
    let ada = fixture.db.register_verified("ada").await;
    let place = SignInPlace { device: Some("Safari on iOS".to_owned()), country: CountryCode::parse("nl").ok() };

    for place in [place, SignInPlace { device: None, country: None }] {
        fixture.deliver(&[changed(&ada.id, AccountChange::SignedIn(place))]).await;
    }

    let texts = fixture.outside.texts();
    assert!(texts[0].contains("with Safari on iOS in NL."), "{}", texts[0]);
    assert!(texts[1].contains("with a program."), "{}", texts[1]);
}

#[tokio::test]
async fn the_mail_about_a_first_proof_says_what_is_paused() {
    let fixture = Fixture::new();
    let ada = fixture.db.register_verified("ada").await;

    for pauses in [true, false] {
        fixture.deliver(&[changed(&ada.id, AccountChange::PasswordReset { pauses })]).await;
    }

    let texts = fixture.outside.texts();
    assert_eq!([texts[0].contains("is paused"), texts[1].contains("is paused")], [true, false]);
}

#[tokio::test]
async fn account_mails_are_limited_and_a_repeated_message_counts_once() {
    let fixture = Fixture::new();
    let ada = fixture.db.register_verified("ada").await;
    let once = changed(&ada.id, AccountChange::SessionsEnded);

    for _ in 0..2 {
        assert_eq!(fixture.deliver(std::slice::from_ref(&once)).await, 0);
    }
    for _ in 0..60 {
        assert_eq!(fixture.deliver(&[changed(&ada.id, AccountChange::SessionsEnded)]).await, 0);
    }

    assert_eq!(fixture.outside.mails().len(), 51);
}

#[tokio::test]
async fn an_account_without_a_password_is_mailed_a_page_to_choose_one() {
    let fixture = Fixture::new();
    let policy = RegistrationPolicy::parse("domains", "example.com").unwrap();
    let auth = Auth { registration: policy, ..fixture.auth() };
    let register = RequestBuilder::new("POST", "/api/auth/register").json(&json!({"email": "ada@example.com"}));
    assert_eq!(register.send_to(&auth).await.status, 201);

    assert_eq!(fixture.deliver(&[verification("ada@example.com")]).await, 0);

    assert_eq!(fixture.outside.subjects(), ["Choose a password"]);
    let text = fixture.outside.texts().remove(0);
    let page = "https://go.example.com/app#/first-password?token=";
    let token = text.split(page).nth(1).unwrap().split_whitespace().next().unwrap();
    let chosen = json!({"token": token, "password": "correct horse battery"});
    fixture.post("/api/auth/verify", &chosen).await.expecting(204);
    assert_eq!(fixture.deliver(&[verification("ada@example.com")]).await, 0);
    assert_eq!(fixture.outside.mails().len(), 1, "it is confirmed");
}
