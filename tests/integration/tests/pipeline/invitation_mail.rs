//! Invitations that are mailed, from the admin's request to the answer to it.

use linklet_account::Account;
use linklet_auth::Auth;
use linklet_domain::{MailLimit, Role, Timestamp, lifetimes};
use linklet_lambda::batch::Consumer;
use linklet_test_support::{
    Answer, FakeNotifiers, FakeQueues, Outage, Person, RequestBuilder, TestDynamoDb, issuer, queue_batch, tokens,
};
use serde_json::{Value, json};

use crate::fixture;

const PASSWORD: &str = "correct horse battery";
const BOB: &str = "bob@example.com";
const PAGE: &str = "https://go.example.com/app#/invitation?token=";

/// Ada, who has confirmed her address and invites people, and the functions between her and them.
struct Post {
    db: TestDynamoDb,
    queues: FakeQueues,
    outside: FakeNotifiers,
    account: Account,
    auth: Auth,
    ada: Person,
}

impl Post {
    async fn new() -> Self {
        let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
        let account = Account { mails: fixture::mail_orders(&queues), ..fixture::account(&db) };
        let auth = Auth::new(db.users(), tokens(), issuer(), fixture::limits(&db));
        let ada = db.register_verified("ada").await;
        Self { db, queues, outside: FakeNotifiers::start(), account, auth, ada }
    }

    async fn send(&self, person: &Person, method: &str, path: &str, body: &Value) -> Answer {
        let token = person.token(Role::Admin);
        RequestBuilder::new(method, path).token(&token).json(body).send_to(&self.account).await
    }

    async fn invite_by(&self, admin: &Person, email: &str) -> Value {
        self.send(admin, "POST", "/api/workspace/invitations", &json!({"email": email})).await.expecting(201).json()
    }

    async fn invite(&self, email: &str) -> Value {
        self.invite_by(&self.ada, email).await
    }

    /// The latest invitation of a workspace.
    async fn listed(&self, admin: &Person) -> Value {
        let request = RequestBuilder::new("GET", "/api/workspace/invitations");
        let listed = request.token(&admin.token(Role::Admin)).send_to(&self.account).await.json();
        listed["invitations"][0].clone()
    }

    async fn accept(&self, person: &Person, token: &str) -> u16 {
        self.send(person, "POST", "/api/invitations/accept", &json!({"token": token})).await.status
    }

    async fn register(&self, email: &str, token: &str) -> Answer {
        let body = json!({"email": email, "password": PASSWORD, "invitation": token});
        RequestBuilder::new("POST", "/api/auth/register").json(&body).send_to(&self.auth).await
    }

    /// Delivers the latest order to notify, and says whether it is done with.
    async fn deliver_at(&self, now: Timestamp) -> bool {
        let mut notify = fixture::notify(&self.db, &self.queues, &self.outside, true);
        notify.clock = Box::new(move || now);
        let latest = self.queues.bodies("notify").pop().unwrap();
        notify.consume(queue_batch(&[latest])).await.batch_item_failures.is_empty()
    }

    async fn deliver(&self) -> bool {
        self.deliver_at(Timestamp::now()).await
    }

    /// The token in the only mail.
    fn mailed_token(&self) -> String {
        let texts = self.outside.texts();
        assert_eq!(texts.len(), 1, "{texts:?}");
        texts[0].lines().find(|line| line.starts_with("inv_")).unwrap().to_owned()
    }

    async fn is_verified(&self, registered: &Answer) -> bool {
        let user = registered.parsed("user_id");
        self.db.users().verified_at(&user).await.unwrap().is_some()
    }
}

#[tokio::test]
async fn who_invites_sees_whether_a_mail_was_sent() {
    let post = Post::new().await;
    let listed = async || post.listed(&post.ada).await["mailed_at"].clone();
    post.invite(BOB).await;
    assert_eq!(listed().await, Value::Null);

    post.outside.refuse_mail(true);
    assert!(!post.deliver().await);
    assert_eq!(listed().await, Value::Null, "SES has refused it");
    post.outside.refuse_mail(false);
    let sent_at = Timestamp::now();
    assert!(post.deliver_at(sent_at).await);

    assert_eq!(listed().await, json!(sent_at));
    // Invited again, somebody hasn't been mailed yet.
    post.invite(BOB).await;
    assert_eq!(listed().await, Value::Null);
}

#[tokio::test]
async fn an_invitation_is_mailed_with_its_own_token_that_confirms_the_address() {
    let post = Post::new().await;
    let shown = post.invite(BOB).await["token"].as_str().unwrap().to_owned();
    assert!(post.deliver().await);

    let (mail, token) = (post.outside.mails().remove(0), post.mailed_token());
    let registered = post.register(BOB, &token).await.expecting(201);
    let again = post.register("bob@example.com", &shown).await;

    assert_eq!(mail["Destination"]["ToAddresses"], json!([BOB]));
    assert_eq!(mail["Content"]["Simple"]["Subject"]["Data"], "You're invited to a workspace");
    let text = post.outside.texts().remove(0);
    assert!(text.contains(&format!("{PAGE}{token}\n")) && text.contains("ada@example.com invited you"), "{text}");
    assert_ne!(token, shown);
    assert_eq!(registered.json()["workspace_id"], json!(post.ada.workspace));
    assert!(post.is_verified(&registered).await);
    assert_eq!(again.status, 404, "an invitation is accepted once, whichever token is used");
}

#[tokio::test]
async fn a_mail_order_names_the_invitation_but_neither_token_nor_recipient() {
    let post = Post::new().await;

    let invitation = post.invite(BOB).await;

    let order = post.queues.events("notify").pop().unwrap();
    let keys: Vec<_> = order.as_object().unwrap().keys().cloned().collect();
    let expected =
        ["correlation_id", "invitation_id", "mail", "order_id", "ordered_at", "workspace_id", "workspace_name"];
    assert_eq!(keys, expected);
    assert_eq!((&order["mail"], &order["invitation_id"]), (&json!("invitation"), &invitation["id"]));
}

#[tokio::test]
async fn the_mailed_token_is_in_no_table_and_no_queue() {
    let post = Post::new().await;
    post.invite(BOB).await;
    post.deliver().await;

    let token = post.mailed_token();

    for table in ["UsersTable", "NotificationsTable", "ThrottleTable"] {
        assert!(!format!("{:?}", post.db.scan(table)).contains(&token), "{table}");
    }
    assert!(!format!("{:?}", post.queues.bodies("notify")).contains(&token));
    assert!(post.outside.published().is_empty() && post.db.scan("NotificationsTable").is_empty());
}

#[tokio::test]
async fn a_workspaces_name_puts_no_address_of_anything_into_a_mail() {
    let post = Post::new().await;
    let name = "Claim your prize at https://evil.example/win or call +49 900 123456";
    post.send(&post.ada, "PATCH", "/api/workspace", &json!({"name": name})).await.expecting(200);
    post.invite(BOB).await;

    post.deliver().await;

    let text = post.outside.texts().remove(0);
    assert!(text.contains("the workspace “Claim your prize at https evil example w” in Linklet"), "{text}");
    assert!(!text.contains("evil.example") && !text.contains("123456"), "{text}");
    assert_eq!(text.matches("://").count(), 1, "{text}");
}

#[tokio::test]
async fn an_invitation_that_is_not_open_any_more_is_not_mailed() {
    let post = Post::new().await;
    let bob = post.db.register("bob").await;

    let withdrawn = post.invite("carol@example.com").await;
    let path = format!("/api/workspace/invitations/{}", withdrawn["id"].as_str().unwrap());
    let token = post.ada.token(Role::Admin);
    assert_eq!(RequestBuilder::new("DELETE", &path).token(&token).send_to(&post.account).await.status, 204);
    assert!(post.deliver().await);
    let used = post.invite(BOB).await;
    assert_eq!(post.accept(&bob, used["token"].as_str().unwrap()).await, 200);
    assert!(post.deliver().await);
    post.invite("dan@example.com").await;
    assert!(post.deliver_at(Timestamp::now().plus(lifetimes::INVITATIONS)).await);

    assert_eq!(post.outside.texts(), Vec::<String>::new());
    assert!(post.queues.bodies("dlq").is_empty());
}

#[tokio::test]
async fn who_has_not_confirmed_an_address_has_nobody_mailed_but_can_invite() {
    let post = Post::new().await;
    let mallory = post.db.register("mallory").await;

    let invited = post.invite_by(&mallory, BOB).await;
    assert_eq!(post.listed(&mallory).await["not_mailed"], Value::Null, "it may be yet");
    assert!(post.deliver().await);
    assert_eq!(post.listed(&mallory).await["not_mailed"], "inviter_unverified");
    let registered = post.register(BOB, invited["token"].as_str().unwrap()).await;

    assert_eq!((post.outside.texts().len(), registered.status), (0, 201));
}

#[tokio::test]
async fn an_address_gets_one_invitation_a_minute_whoever_invites_and_however_often() {
    let post = Post::new().await;
    let eve = post.db.register_verified("eve").await;

    for admin in [&post.ada, &eve, &post.ada] {
        post.invite_by(admin, BOB).await;
        assert!(post.deliver().await);
    }
    assert_eq!(post.listed(&eve).await["not_mailed"], "mailed_recently");
    for spelling in ["bob+1@example.com", "bob+2@example.com", "\"bob\"@example.com", "\"b\\ob\"@example.com"] {
        post.invite(spelling).await;
        assert!(post.deliver().await);
    }

    assert_eq!(post.outside.texts().len(), 1);
}

#[tokio::test]
async fn nobody_has_more_invitations_mailed_than_a_team_takes() {
    let post = Post::new().await;
    let most = usize::try_from(MailLimit::OF_A_SENDER.mails).unwrap();

    for number in 0..=most {
        post.invite(&format!("guest-{number}@example.com")).await;
        assert!(post.deliver().await);
    }

    assert_eq!(post.outside.texts().len(), most);
    assert_eq!(post.listed(&post.ada).await["not_mailed"], "limit_reached");
}

#[tokio::test]
async fn a_queue_that_refuses_orders_fails_no_invitation() {
    let post = Post::new().await;
    post.queues.fail(Outage::Everything);

    let invited = post.invite(BOB).await;
    post.register(BOB, invited["token"].as_str().unwrap()).await.expecting(201);
}

#[tokio::test]
async fn without_mail_nothing_is_ordered() {
    let post = Post::new().await;
    let account = fixture::account(&post.db);
    let post = Post { account, ..post };

    post.invite(BOB).await;

    assert!(post.queues.bodies("notify").is_empty());
    assert_eq!(post.listed(&post.ada).await["not_mailed"], "mail_off");
}
