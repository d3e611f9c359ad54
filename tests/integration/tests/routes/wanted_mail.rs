//! Choosing which notifications one gets by mail, and unsubscribing from all of them.

use linklet_domain::{MailChoice, UnsubscribeToken};

use crate::prelude::*;

const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

struct Fixture {
    db: TestDynamoDb,
    account: Account,
    ada: Person,
}

impl Fixture {
    async fn new() -> Self {
        let db = TestDynamoDb::start();
        let (account, ada) = (fixture::account(&db), db.register_verified("ada").await);
        Self { db, account, ada }
    }

    async fn show(&self) -> Value {
        self.account.get("/api/me/notifications", &token_without_workspace(&self.ada)).await.json()
    }

    async fn choose(&self, body: &str) -> Answer {
        let request = RequestBuilder::new("PATCH", "/api/me/notifications").token(&token_without_workspace(&self.ada));
        request.body(body).send_to(&self.account).await
    }

    /// Unsubscribes as a mail program does.
    async fn unsubscribe(&self, token: &str) -> u16 {
        one_click(token).send_to(&self.account).await.status
    }

    async fn choice(&self) -> MailChoice {
        self.db.users().mail_choice(&self.ada.id).await.unwrap().unwrap()
    }

    fn token(&self, at: Timestamp) -> String {
        UnsubscribeToken::of(&self.ada.id, at, &salt()).reveal().to_owned()
    }
}

fn one_click(token: &str) -> RequestBuilder {
    RequestBuilder::new("POST", &format!("/api/unsubscribe?token={token}")).form("List-Unsubscribe=One-Click")
}

#[tokio::test]
async fn the_choice_is_what_was_chosen_last_and_important_before_that() {
    let fixture = Fixture::new().await;
    assert_eq!(fixture.show().await, json!({"mail": "important"}));

    for choice in ["all", "none", "important"] {
        let answer = fixture.choose(&json!({"mail": choice}).to_string()).await;
        assert_eq!((answer.status, answer.json()), (200, json!({"mail": choice})));
        assert_eq!(fixture.show().await, json!({"mail": choice}));
    }
}

#[tokio::test]
async fn what_is_no_choice_changes_nothing_and_says_why() {
    let fixture = Fixture::new().await;
    fixture.choose(r#"{"mail": "all"}"#).await;
    for (body, sentence) in [
        (r#"{"mail": "some"}"#, "mail must be none, important or all"),
        (r#"{"mail": null}"#, "mail is required"),
        (r#"{"mail": true}"#, "mail must be a string"),
        ("{}", "mail is required"),
        ("[]", "invalid request body: it is no JSON object"),
    ] {
        let answer = fixture.choose(body).await;
        assert_eq!((answer.status, answer.json()["detail"].as_str()), (400, Some(sentence)), "{body}");
        assert_eq!(fixture.choice().await, MailChoice::All, "{body}");
    }
}

#[tokio::test]
async fn an_unsubscribe_token_works_repeatedly_and_with_any_body() {
    let fixture = Fixture::new().await;
    let token = fixture.token(Timestamp::now());
    let path = format!("/api/unsubscribe?token={token}");
    let post = || RequestBuilder::new("POST", &path);
    for request in [
        one_click(&token),
        post(),
        post().json(&json!({"anything": 1})),
        post().header("content-type", "multipart/form-data; boundary=x").bytes(b"--x\r\n\xff"),
    ] {
        fixture.choose(r#"{"mail": "all"}"#).await;
        let answer = request.send_to(&fixture.account).await;
        assert_eq!((answer.status, answer.body.as_str()), (204, ""));
        assert_eq!(fixture.choice().await, MailChoice::None);
    }
    assert_eq!(fixture.unsubscribe(&token).await, 204);
}

#[tokio::test]
async fn following_the_link_leads_to_the_page_that_asks_and_changes_nothing() {
    let fixture = Fixture::new().await;
    let token = fixture.token(Timestamp::now());
    for (path, location) in [
        (format!("/api/unsubscribe?token={token}"), format!("../app#/unsubscribe?token={token}")),
        ("/api/unsubscribe".to_owned(), "../app#/unsubscribe?token=".to_owned()),
        ("/api/unsubscribe?token=a%26b%0D%0Ax".to_owned(), "../app#/unsubscribe?token=a%26b%0D%0Ax".to_owned()),
    ] {
        let answer = fixture.account.get_openly(&path).await;
        assert_eq!((answer.status, answer.header("location")), (303, location.as_str()));
    }
    assert_eq!(fixture.choice().await, MailChoice::Important);
}

#[tokio::test]
async fn a_token_of_an_earlier_month_works_until_it_has_expired() {
    let fixture = Fixture::new().await;
    let now = Timestamp::now();

    assert_eq!(fixture.unsubscribe(&fixture.token(now.minus(A_DAY * 32))).await, 204);
    fixture.choose(r#"{"mail": "all"}"#).await;
    assert_eq!(fixture.unsubscribe(&fixture.token(now.minus(A_DAY * 100))).await, 404);
    assert_eq!(fixture.choice().await, MailChoice::All);
}

#[tokio::test]
async fn no_other_token_ends_anybodys_mails() {
    let fixture = Fixture::new().await;
    let own = fixture.token(Timestamp::now());
    let bob = fixture.db.register_verified("bob").await;
    let bobs = UnsubscribeToken::of(&bob.id, Timestamp::now(), &salt());
    // The person of one and the MAC of the other.
    let mixed = format!("{}{}", &own[..28], &bobs.reveal()[28..]);
    for token in ["", "uns_", "vrf_00000000000000000000000000000000", &own[..own.len() - 1], &mixed] {
        assert_eq!(fixture.unsubscribe(token).await, 404, "{token}");
    }
    assert_eq!(fixture.unsubscribe(bobs.reveal()).await, 204);
    assert_eq!(fixture.choice().await, MailChoice::Important);
}

#[tokio::test]
async fn a_closed_account_has_nothing_to_unsubscribe_from() {
    let fixture = Fixture::new().await;
    let token = fixture.token(Timestamp::now());
    fixture.db.users().close_account(&fixture.ada.email, Timestamp::now(), &operator()).await.unwrap();
    let closed = fixture.db.scan("UsersTable");

    assert_eq!(fixture.unsubscribe(&token).await, 404);
    assert_eq!(fixture.db.scan("UsersTable"), closed);
}

#[tokio::test]
async fn only_wrong_unsubscribe_tokens_count_as_guesses_and_must_wait() {
    let fixture = Fixture::new().await;
    let token = fixture.token(Timestamp::now());
    for _ in 0..30 {
        assert_eq!(fixture.unsubscribe(&token).await, 204);
    }
    let mut statuses = Vec::new();
    for _ in 0..12 {
        statuses.push(fixture.unsubscribe("uns_wrong").await);
    }

    assert_eq!(statuses[..10], [404; 10]);
    assert_eq!(statuses[10..], [429; 2]);
    assert_eq!(fixture.unsubscribe(&token).await, 204, "a mail provider brings those of many people");
}
