//! Links with a password.

use linklet_unlock::Unlock;

use crate::fixture::{self, unlock, update};
use crate::prelude::*;

const TARGET: &str = "https://example.com/secret";

/// A link whose password is `open sesame`.
async fn protected(options: &Value) -> (TestDynamoDb, Link) {
    let db = TestDynamoDb::start();
    let mut link = LinkBuilder::new("launch").to(TARGET).with_options(options).build();
    link.availability.is_protected = true;
    let hash = linklet_lambda::passwords::Passwords::default().hash(&"open sesame".into()).unwrap();
    db.store_protected(&link, &hash).await;
    (db, link)
}

fn form(password: &str) -> RequestBuilder {
    let body = format!("password={}", password.replace(' ', "+"));
    RequestBuilder::new("POST", "/launch").header("accept", "text/html").form(&body)
}

/// Always the same, since the second says which counters somebody's hashes have in common with others'.
fn a_second() -> Timestamp {
    Timestamp::parse("2026-03-02T12:00:00Z").unwrap()
}

async fn send_form(unlock: &Unlock, password: &str) -> Answer {
    form(password).send_to(unlock).await
}

fn browser(path: &str) -> RequestBuilder {
    RequestBuilder::new("GET", path).header("accept", "text/html,application/xhtml+xml")
}

/// With so many hashes a second.
fn limited(db: &TestDynamoDb, hashes: u32) -> Unlock {
    let hashing = linklet_lambda::hashing::LinkHashing::within(fixture::limits_with(db.calls(), hashes));
    Unlock { hashing, ..unlock(db) }
}

async fn clicks(db: &TestDynamoDb, link: &Link) -> usize {
    db.clicks().latest(link.id(), 10).await.unwrap().len()
}

#[tokio::test]
async fn a_protected_link_shows_a_form_and_nothing_of_its_target() {
    let (db, link) = protected(&json!({"preview": {"title": "Our plans"}})).await;

    for path in ["/launch", "/r/launch"] {
        let page = browser(path).send_to(&redirect(&db)).await;
        assert_eq!((page.status, page.header("cache-control")), (403, "no-store"), "{path}");
        for part in [r#"<form method="post">"#, r#"name="password""#] {
            assert!(page.body.contains(part), "{}", page.body);
        }
        assert!(page.header("content-security-policy").contains("form-action 'self' http: https:"));
        assert!(!page.body.contains("secret") && !page.body.contains("Our plans") && !page.body.contains("<script"));
    }
    for agent in ["Twitterbot/1.0", "curl/8.7.1"] {
        let answer = RequestBuilder::new("GET", "/launch").header("user-agent", agent).send_to(&redirect(&db)).await;
        assert_eq!(answer.problem(), (403, "this link needs a password".to_owned()), "{agent}");
    }
    assert_eq!(clicks(&db, &link).await, 0);
}

#[tokio::test]
async fn the_right_password_leads_on_once_and_is_a_click() {
    let (db, link) = protected(&json!({})).await;

    let led = send_form(&unlock(&db), "open sesame").await;

    assert_eq!((led.status, led.header("location"), led.header("cache-control")), (303, TARGET, "no-store"));
    for path in ["/r/launch", "/r/launch/"] {
        assert_eq!(unlock(&db).post_openly(path, &json!({"password": "open sesame"})).await.status, 303, "{path}");
    }
    assert_eq!(clicks(&db, &link).await, 3);
}

#[tokio::test]
async fn a_wrong_password_shows_the_form_again_and_uses_nothing_up() {
    let (db, link) = protected(&json!({"max_clicks": 1})).await;
    let unlock = unlock(&db);

    for wrong in ["open sesam", "Open sesame", "", "open sesame "] {
        let page = form(wrong).source_ip("198.51.100.7").send_to(&unlock).await;
        assert_eq!(page.status, 403, "{wrong:?}");
        assert!(page.body.contains("Wrong password."), "{}", page.body);
        assert!(!page.body.contains("secret"));
    }
    let expected = (403, "this is not the link's password".to_owned());
    assert_eq!(unlock.post_openly("/launch", &json!({"password": "wrong"})).await.problem(), expected);
    assert_eq!(db.links().uses(&[link.id()]).await.unwrap()[link.id()].used, 0);

    assert_eq!(send_form(&unlock, "open sesame").await.status, 303);
    assert_eq!(send_form(&unlock, "open sesame").await.status, 410);
    assert_eq!((clicks(&db, &link).await, db.links().uses(&[link.id()]).await.unwrap()[link.id()].used), (1, 1));
}

#[tokio::test]
async fn who_guesses_waits_and_nobody_else_does() {
    let (db, _link) = protected(&json!({})).await;
    let unlock = unlock(&db);
    let mut refused = 0;
    for _ in 0..12 {
        let answer = form("wrong").source_ip("203.0.113.1").send_to(&unlock).await;
        refused += usize::from(answer.status == 429);
        if answer.status == 429 {
            assert!(answer.header("retry-after").parse::<u64>().unwrap() >= 1);
        }
    }

    assert!(refused > 3, "{refused}");
    // Also the right password has to wait there.
    assert_eq!(form("open sesame").source_ip("203.0.113.1").send_to(&unlock).await.status, 429);
    assert_eq!(form("open sesame").source_ip("198.51.100.7").send_to(&unlock).await.status, 303);
}

/// The attack: a custom code is found in any case, and each spelling would have free guesses of its own.
#[tokio::test]
async fn another_spelling_of_a_code_brings_no_more_guesses() {
    let (db, ada) = with_person("ada").await;
    let token = ada.token(Role::Member);
    let body = json!({"url": TARGET, "custom_code": "launch", "password": "open sesame"});
    send(&db, "shorten", RequestBuilder::new("POST", "/api/shorten").token(&token).json(&body)).await.expecting(201);
    let (unlock, now) = (unlock(&db), Timestamp::now());
    let guess = async |code: &str| {
        let guess = RequestBuilder::new("POST", &format!("/r/{code}")).form("password=wrong").at(now);
        guess.send_to(&unlock).await.status
    };

    let mut judged = 0;
    for code in ["launch", "LAUNCH", "Launch", "launcH"].iter().cycle().take(24) {
        judged += usize::from(guess(code).await == 403);
    }

    assert_eq!(judged, 5);
}

/// The attack: right passwords of one link are no guesses, and would hold the budget of all links from four addresses.
#[tokio::test]
async fn right_passwords_of_one_link_keep_nobody_from_another_tenants() {
    let (db, _link) = protected(&json!({})).await;
    let mut other = LinkBuilder::new("other").to(TARGET).build();
    other.availability.is_protected = true;
    let hash = linklet_lambda::passwords::Passwords::default().hash(&"open sesame".into()).unwrap();
    db.store_protected(&other, &hash).await;
    let unlock = limited(&db, 20);
    let opened = async |code: &str, address: &str, at: Timestamp| {
        let request = RequestBuilder::new("POST", &format!("/{code}")).form("password=open+sesame");
        request.source_ip(address).at(at).send_to(&unlock).await.status
    };

    for second in 0..5 {
        let now = a_second().plus(Duration::from_secs(second));
        for number in 0..24 {
            opened("launch", &format!("203.0.{}.1", number % 4), now).await;
        }
        for visitor in 0..4 {
            let address = format!("198.51.{}.7", second * 4 + visitor);
            assert_eq!(opened("other", &address, now).await, 303, "visitor {visitor} in second {second}");
        }
    }
}

#[tokio::test]
async fn state_and_window_are_judged_before_the_password() {
    let (db, link) = protected(&json!({})).await;
    db.patch(link.id(), &LinkPatch { is_active: Some(false), ..LinkPatch::default() }).await;

    assert_eq!(send_form(&unlock(&db), "wrong").await.status, 410);
    assert_eq!(browser("/launch").send_to(&redirect(&db)).await.status, 410);
}

#[tokio::test]
async fn a_password_is_given_changed_and_taken_away() {
    let (db, ada) = with_person("ada").await;
    let token = ada.token(Role::Member);
    let body = json!({"url": TARGET, "custom_code": "launch", "password": "open sesame"});
    let made = send(&db, "shorten", RequestBuilder::new("POST", "/api/shorten").token(&token).json(&body)).await;
    assert_eq!((made.status, made.json()["is_protected"].clone()), (201, json!(true)));
    assert!(!made.body.contains("sesame"));
    let update = linklet_update::Update { authenticator: authenticator(), ..update(&db) };
    let patch = async |body: Value| update.patch("/api/links/launch", &token, &body).await.json();

    assert_eq!(send_form(&unlock(&db), "open sesame").await.status, 303);
    assert_eq!(patch(json!({"password": "another one"})).await["is_protected"], json!(true));
    assert_eq!(send_form(&unlock(&db), "open sesame").await.status, 403);
    assert_eq!(send_form(&unlock(&db), "another one").await.status, 303);
    assert_eq!(patch(json!({"password": null})).await["is_protected"], json!(false));

    // Who had the form open is led to the link.
    let led = send_form(&unlock(&db), "another one").await;
    assert_eq!((led.status, led.header("location")), (303, "https://api.example.com/r/launch"));
    assert_eq!(browser("/launch").send_to(&redirect(&db)).await.status, 301);
    let rows = db.scan("LinksTable").into_iter().filter(|item| item["sk"]["S"] == "LOCK");
    assert_eq!(rows.count(), 0);
}

#[tokio::test]
async fn the_hash_is_nowhere_but_in_the_lock() {
    let (db, link) = protected(&json!({})).await;

    let holders = || {
        let items = db.scan("LinksTable").into_iter().filter(|item| item.to_string().contains("argon2"));
        items.map(|item| item["pk"]["S"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };

    assert_eq!(holders(), [format!("LOCK#{}", link.id())]);
    let record = db.record("launch").await.unwrap();
    db.purge(&record).await;
    assert!(holders().is_empty());
}

#[tokio::test]
async fn what_is_no_password_is_refused_as_such() {
    let (db, _) = protected(&json!({})).await;
    let unlock = unlock(&db);

    let post = |code: &str| RequestBuilder::new("POST", &format!("/{code}"));
    for (request, status) in [
        (post("launch").body("password=x"), 400),
        (post("launch").json(&json!({"password": 5})), 400),
        (post("unknown").json(&json!({"password": "x"})), 404),
        (form(&"x".repeat(100_000)), 413),
    ] {
        assert_eq!(request.send_to(&unlock).await.status, status);
    }
}

#[tokio::test]
async fn a_link_without_a_password_is_followed_at_its_own_address() {
    let (db, link) = with_link(LinkBuilder::new("launch").to(TARGET).with_options(&json!({"max_clicks": 1}))).await;

    for (query, kept) in
        [("a=b", "a=b"), ("sig=abc==&q=caf%E9", "sig=abc==&q=caf%E9"), ("q=ü|100%", "q=%C3%BC%7C100%25")]
    {
        let path = format!("/r/launch?{query}");
        let led = RequestBuilder::new("POST", &path).form("password=x").send_to(&unlock(&db)).await;
        assert_eq!((led.status, led.header("location")), (303, &*format!("https://api.example.com/r/launch?{kept}")));
    }
    let sent = unlock(&db).post_openly("/launch", &json!({"note": "x"})).await;
    let sentence = "password is required: a link without one is followed by a GET request";
    assert_eq!(sent.problem(), (400, sentence.to_owned()));

    assert_eq!((clicks(&db, &link).await, db.links().uses(&[link.id()]).await.unwrap()[link.id()].used), (0, 0));
}

#[tokio::test]
async fn who_tries_codes_waits_as_who_tries_passwords() {
    let db = TestDynamoDb::start();
    let unlock = unlock(&db);
    let mut answers = Vec::new();
    for number in 0..20 {
        let request = RequestBuilder::new("POST", &format!("/code{number}")).form("password=x");
        answers.push(request.send_to(&unlock).await.status);
    }

    assert!(answers.iter().filter(|status| **status == 404).count() <= 11, "{answers:?}");
    assert!(answers.ends_with(&[429]), "{answers:?}");
}

#[tokio::test]
async fn hashes_of_links_leave_those_of_logins_to_the_same_address() {
    let (db, _link) = protected(&json!({})).await;
    let now = Timestamp::now();
    let unlock = limited(&db, 12);
    let opened = async || form("open sesame").at(now).send_to(&unlock).await.status;
    assert_eq!((opened().await, opened().await, opened().await), (303, 303, 429));

    let limits = fixture::limits_with(db.calls(), 12);
    let auth =
        linklet_auth::Auth::new(db.users(), linklet_test_support::tokens(), linklet_test_support::issuer(), limits);
    let login = json!({"email": "nobody@example.com", "password": "wrong horse"});
    let request = RequestBuilder::new("POST", "/api/auth/login").json(&login).at(now);
    assert_eq!(request.send_to(&auth).await.status, 401);
}
