//! Where the short URLs of others lead.

use linklet_domain::{OwnAddress, Reach};
use linklet_fetch::Fetcher;
use linklet_resolve::{PURPOSE, Resolve};
use linklet_test_support::internet::{Internet, OTHER, PUBLIC, Server, Web, read_head, redirect, server};
use linklet_test_support::some_roots;
use tokio::io::AsyncWriteExt as _;

use crate::fixture::{resolve, resolve_on};
use crate::prelude::*;

fn noon() -> Timestamp {
    Timestamp::parse("2026-03-02T12:00:00Z").unwrap()
}

fn ask(url: &str) -> RequestBuilder {
    let token = token_for(&WorkspaceId::generate(), Role::Member);
    RequestBuilder::new("POST", "/api/resolve").token(&token).json(&json!({ "url": url }))
}

/// A page with this status.
fn page(status: u16) -> Server {
    Web::new([format!("HTTP/1.1 {status} Whatever\r\ncontent-length: 0\r\n\r\n").as_str()]).server()
}

/// An internet in which `t.example` redirects to this, and `page.example` is this server.
fn with_redirect(location: &str, page: Server) -> Internet {
    Internet::default()
        .name("t.example", &[PUBLIC])
        .server(PUBLIC, Web::new([redirect(location).as_str()]).server())
        .name("page.example", &[OTHER])
        .server(OTHER, page)
}

fn on(db: &TestDynamoDb, internet: &Internet) -> Resolve<Internet> {
    let patience = Duration::from_millis(500);
    let fetcher = Fetcher::on((internet.clone(), some_roots()), PURPOSE, Reach::Public, patience).unwrap();
    resolve_on(db, fetcher.excluding(vec![OwnAddress::parse("https://go.example.com").unwrap()]))
}

#[tokio::test]
async fn a_short_url_is_answered_with_where_it_leads() {
    let answer = ask("https://bit.ly/3rust").send_to(&resolve(&TestDynamoDb::start())).await;

    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.json(), json!({"url": "https://doc.rust-lang.org/std/", "hops": 1, "status": 200}));
}

#[tokio::test]
async fn a_dead_end_is_told_by_its_status() {
    let db = TestDynamoDb::start();
    for status in [404, 410, 503] {
        let internet = with_redirect("http://page.example/gone", page(status));

        let answer = ask("http://t.example/x").send_to(&on(&db, &internet)).await;

        assert_eq!(answer.json(), json!({"url": "http://page.example/gone", "hops": 1, "status": status}));
    }
}

#[tokio::test]
async fn a_way_that_cannot_be_followed_is_refused_with_the_host_at_its_end() {
    let db = TestDynamoDb::start();
    let silent = server(|mut stream| async move { while read_head(&mut stream).await.is_some() {} });
    let rubbish = server(|mut stream| async move {
        read_head(&mut stream).await;
    });
    let unencrypted = server(|mut stream| async move {
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    });
    let long = format!("http://page.example/{}", "x".repeat(2_048));
    for (location, page, reason) in [
        ("http://nowhere.example/", page(200), "nowhere.example couldn't be found"),
        ("http://10.0.0.1/", page(200), "10.0.0.1 has no public address"),
        ("http://page.example:25/", page(200), "t.example leads to a port that isn't allowed"),
        ("http://8.8.0.1/", page(200), "8.8.0.1 couldn't be reached"),
        ("https://page.example/", unencrypted, "page.example couldn't be reached securely"),
        ("http://page.example/?secret", silent, "page.example took too long to answer"),
        ("http://page.example/?secret", rubbish, "page.example gave no valid answer"),
        ("http://t.example/", page(200), "t.example redirects too many times"),
        ("mailto:ada@example.com", page(200), "t.example redirects to where no link can lead"),
        ("https://go.example.com/launch", page(200), "t.example redirects to where no link can lead"),
        (&long, page(200), "it leads to a URL that no link can have: url must have at most 2,048 characters"),
        ("http://api.example.com/r/launch", page(200), "api.example.com couldn't be found"),
    ] {
        let internet = with_redirect(location, page);

        let refused = ask("http://t.example/x").send_to(&on(&db, &internet)).await;

        assert_eq!(refused.problem(), (422, format!("this URL couldn't be followed: {reason}")));
        assert_eq!(refused.problem_code().1, "url_unreachable");
        assert_eq!(refused.problem_field().1, "url");
    }
}

#[tokio::test]
async fn a_url_that_no_link_can_have_is_refused_before_anybody_is_asked() {
    let db = TestDynamoDb::start();
    let internet = with_redirect("http://page.example/", page(200));
    let resolve = on(&db, &internet);

    for url in ["", "t.example/x", "ftp://t.example/", "javascript:alert(1)", "http://me:secret@t.example/"] {
        assert_eq!(ask(url).send_to(&resolve).await.problem_field(), (400, "url".into()), "{url}");
    }
    let own = ask("https://api.example.com/r/launch").send_to(&resolve).await;
    assert_eq!(own.problem(), (400, "you can't shorten a Linklet link".into()));
    assert_eq!((internet.resolved(), db.scan("ThrottleTable").len()), (vec![], 0));
}

#[tokio::test]
async fn servers_learn_who_asks_and_nothing_of_the_caller() {
    let web = Web::new(["HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"]);
    let internet = with_redirect("http://page.example/", web.server());

    ask("http://t.example/x").cookie("session=secret").send_to(&on(&TestDynamoDb::start(), &internet)).await;

    let version = env!("CARGO_PKG_VERSION");
    let agent = format!("user-agent: LinkletBot/{version} (link resolving)");
    let head = format!("HEAD / HTTP/1.1\r\n{agent}\r\naccept: */*\r\nhost: page.example\r\n\r\n");
    assert_eq!(web.requests(), [head]);
}

#[tokio::test]
async fn a_person_may_ask_ten_times_a_minute_wherever_they_are() {
    let db = TestDynamoDb::start();
    let resolve = resolve(&db);
    let (ada, bob, workspace) = (UserId::generate(), UserId::generate(), WorkspaceId::generate());
    let ask = |person: &UserId, address: u8| {
        let token = token_of(person, &workspace, Role::Member);
        ask("https://bit.ly/3rust").token(&token).source_ip(&format!("203.0.113.{address}")).at(noon())
    };
    for address in 0..10 {
        let answer = ask(&ada, address).send_to(&resolve).await;
        let left = (9 - address).to_string();
        assert_eq!((answer.status, answer.header("x-ratelimit-remaining")), (200, left.as_str()));
    }

    let refused = ask(&ada, 10).send_to(&resolve).await;

    assert_eq!((refused.problem_code(), refused.header("retry-after")), ((429, "rate_limited".into()), "60"));
    assert_eq!(ask(&bob, 0).send_to(&resolve).await.status, 200);
    assert_eq!(ask(&ada, 0).at(noon().plus(RateLimit::WINDOW)).send_to(&resolve).await.status, 200);
}

#[tokio::test]
async fn urls_are_resolved_while_calls_cannot_be_counted() {
    let db = TestDynamoDb::start();
    let calls = ThrottleTable::new(TestDynamoDb::unreachable_table("ThrottleTable"));

    let answer = ask("https://bit.ly/3rust").send_to(&Resolve { calls, ..resolve(&db) }).await;

    assert_eq!(answer.status, 200);
}
