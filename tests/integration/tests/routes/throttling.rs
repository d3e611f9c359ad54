//! Limits per client: by person, counted in the table, and by address, counted in the environment.

use linklet_lambda::limiter::{Limiter, Strangers};
use linklet_lambda::metrics;

use crate::prelude::*;

const MINUTE: Duration = RateLimit::WINDOW;

fn noon() -> Timestamp {
    Timestamp::parse("2026-03-02T12:00:00Z").unwrap()
}

/// The limit, what remains, and how long to wait, as the headers tell it.
fn told(answer: &Answer) -> [&str; 3] {
    ["x-ratelimit-limit", "x-ratelimit-remaining", "retry-after"].map(|name| answer.header(name))
}

fn unreachable_table() -> ThrottleTable {
    ThrottleTable::new(TestDynamoDb::unreachable_table("ThrottleTable"))
}

// ------------------------------------------------------------------------------------------------------------ new links

/// With ten links a minute by address, as the design document has it, whoever calls.
fn shorten(db: &TestDynamoDb) -> Shorten {
    fixture::shorten_limited(db, 60, 10)
}

/// A request for a link of its own.
fn order() -> RequestBuilder {
    let token = token_for(&WorkspaceId::generate(), Role::Member);
    RequestBuilder::new("POST", "/api/shorten").token(&token).json(&json!({"url": "https://example.com/"})).at(noon())
}

#[tokio::test]
async fn every_answer_tells_how_many_links_are_left() {
    let db = TestDynamoDb::start();
    let shorten = shorten(&db);

    let created = order().send_to(&shorten).await;
    let refused = order().json(&json!({})).send_to(&shorten).await;

    assert_eq!((created.status, told(&created)), (201, ["10", "9", ""]));
    assert_eq!((refused.status, told(&refused)), (400, ["10", "8", ""]));
    assert_eq!(refused.header("x-ratelimit-reset"), "60");
}

#[tokio::test]
async fn the_eleventh_link_of_an_address_in_a_minute_is_refused() {
    let db = TestDynamoDb::start();
    let shorten = shorten(&db);
    for _ in 0..10 {
        assert_eq!(order().send_to(&shorten).await.status, 201);
    }
    let before = db.scan("LinksTable").len();

    let refused = order().at(noon().plus(Duration::from_millis(10_500))).send_to(&shorten).await;

    assert_eq!(refused.problem(), (429, "rate limit exceeded".into()));
    assert_eq!(refused.header("content-type"), "application/problem+json");
    assert_eq!(told(&refused), ["10", "0", "50"]);
    assert_eq!(db.scan("LinksTable").len(), before);
    assert_eq!(order().source_ip("203.0.113.10").send_to(&shorten).await.status, 201, "somebody else");
    assert_eq!(order().at(noon().plus(MINUTE)).send_to(&shorten).await.status, 201, "a minute later");
}

#[tokio::test]
async fn a_stranger_uses_up_nobodys_links() {
    let db = TestDynamoDb::start();

    let answer = RequestBuilder::new("POST", "/api/shorten").send_to(&shorten(&db)).await;

    assert_eq!((answer.status, told(&answer)), (401, ["", "", ""]));
    assert!(db.scan("ThrottleTable").is_empty());
}

#[tokio::test]
async fn without_the_table_links_are_created() {
    let (db, faults) = (TestDynamoDb::start(), Faults::default());
    faults.plan(Some((0, Fault::NotSent)));
    let table = ThrottleTable::new(db.table_with(faults.clone(), "ThrottleTable"));
    let shorten = fixture::shorten_with(db.links(), fixture::room(&db, 100), fixture::throttle(table, 60, 300));

    let (answer, measured) = metrics::observe(order().send_to(&shorten)).await;

    assert_eq!((answer.status, told(&answer)), (201, ["", "", ""]));
    assert_eq!(faults.calls(), 1, "no second limit is asked for");
    assert_eq!((measured.get(Metric::ThrottleUnavailable), measured.get(Metric::Throttles)), (1.0, 0.0));
}

#[tokio::test]
async fn a_person_has_one_limit_for_all_tokens_keys_and_addresses() {
    let (db, [ada, bob]) = with_people(["ada", "bob"]).await;
    let keys = [ApiKeySecret::generate().unwrap(), ApiKeySecret::generate().unwrap()];
    for key in &keys {
        db.store_key(&ApiKeyBuilder::new(key, &ada).build()).await;
    }
    let shorten = fixture::shorten_limited(&db, 3, 300);
    let send = async |order: RequestBuilder, host: u8| {
        let order = order.source_ip(&format!("203.0.113.{host}")).at(noon());
        metrics::observe(order.json(&json!({"url": "https://example.com/"})).send_to(&shorten)).await
    };
    let order = || RequestBuilder::new("POST", "/api/shorten");
    let token = |person: &Person| order().token(&person.token(Role::Admin));
    let credentials = [order().api_key(keys[0].reveal()), order().api_key(keys[1].reveal()), token(&ada)];
    for (host, credential) in (0..).zip(credentials) {
        let (answer, _) = send(credential, host).await;
        assert_eq!(told(&answer), ["3", &(2 - host).to_string(), ""], "{}", answer.body);
    }

    let (refused, measured) = send(order().api_key(keys[0].reveal()), 9).await;

    assert_eq!((refused.status, told(&refused)), (429, ["3", "0", "60"]));
    assert_eq!(measured.get(Metric::Throttles), 1.0);
    let (other, _) = send(token(&bob), 9).await;
    assert_eq!((other.status, told(&other)), (201, ["3", "2", ""]), "somebody else");
}

#[tokio::test]
async fn the_nearer_limit_is_told_and_a_refusal_counts_for_neither() {
    let db = TestDynamoDb::start();
    let shorten = fixture::shorten_limited(&db, 2, 3);
    let [ada, bob] = [0, 1].map(|_| token_for(&WorkspaceId::generate(), Role::Member));
    let order = async |token: &str, address: &str| {
        let answer = order().token(token).source_ip(address).send_to(&shorten).await;
        (answer.status < 300, told(&answer).map(str::to_owned))
    };
    let headers = |headers: [&str; 3]| headers.map(str::to_owned);
    let (office, elsewhere) = ("203.0.113.9", "203.0.113.10");

    assert_eq!(order(&ada, office).await, (true, headers(["2", "1", ""])), "Ada has one left, and the office two");
    assert_eq!(order(&ada, office).await, (true, headers(["2", "0", ""])));
    for _ in 0..3 {
        assert_eq!(order(&ada, office).await, (false, headers(["2", "0", "60"])), "Ada has none left");
    }
    assert_eq!(order(&bob, office).await, (true, headers(["3", "0", ""])), "the office had one left, and Bob has one");
    for _ in 0..3 {
        assert_eq!(order(&bob, office).await, (false, headers(["3", "0", "60"])), "the office has none left");
    }
    assert_eq!(order(&bob, elsewhere).await, (true, headers(["2", "0", ""])), "Bob still had one");
}

// ------------------------------------------------------------------------------------------------------------ redirects

/// An environment of redirect, and what calls ThrottleTable gets from it.
struct Environment {
    redirect: Redirect,
    merges: Faults,
}

impl Environment {
    fn of(db: &TestDynamoDb) -> Self {
        let (calls, merges): (_, Faults) = db.through(ThrottleTable::new, "ThrottleTable");
        Self { redirect: fixture::redirect_with(db.links(), db.clicks(), calls), merges }
    }

    async fn send(&self, method: &str, path: &str, at: Timestamp) -> Answer {
        RequestBuilder::new(method, path).at(at).send_to(&self.redirect).await
    }

    /// Some requests without a click, and the last answer.
    async fn look(&self, times: usize, at: Timestamp) -> Answer {
        for _ in 1..times {
            self.send("HEAD", "/launch", at).await;
        }
        self.send("HEAD", "/launch", at).await
    }
}

#[tokio::test]
async fn every_answer_of_redirect_counts_and_tells_how_many_are_left() {
    let db = with_link(LinkBuilder::new("launch")).await.0;
    db.store(&LinkBuilder::new("over").expires_at(noon()).build()).await;
    let environment = Environment::of(&db);
    let cases = [
        ("GET", "/launch", fixture::REDIRECT),
        ("HEAD", "/r/launch", fixture::REDIRECT),
        ("GET", "/unknown", 404),
        ("GET", "/!", 404),
        ("GET", "/over", 410),
    ];

    for (number, (method, path, status)) in cases.into_iter().enumerate() {
        let answer = environment.send(method, path, noon()).await;
        let remaining = (299 - number).to_string();
        assert_eq!((answer.status, told(&answer)), (status, ["300", &remaining, ""]), "{method} {path}");
    }
    let page = RequestBuilder::new("GET", "/unknown").header("accept", "text/html").at(noon());
    assert_eq!(told(&page.send_to(&environment.redirect).await), ["300", "294", ""]);
}

#[tokio::test]
async fn the_301st_redirect_in_a_minute_is_refused_without_read_or_click() {
    let (db, reads) = (with_link(LinkBuilder::new("launch")).await.0, Faults::default());
    let links = LinksTable(db.table_with(reads.clone(), "LinksTable"));
    let redirect = fixture::redirect_with(links, db.clicks(), db.calls());
    let follow = |address| RequestBuilder::new("GET", "/launch").source_ip(address).at(noon()).send_to(&redirect);
    for _ in 0..300 {
        let head = RequestBuilder::new("HEAD", "/unknown").source_ip("203.0.113.9").at(noon());
        assert_eq!(head.send_to(&redirect).await.status, 404);
    }
    reads.plan(None);

    let refused = follow("203.0.113.9").await;

    assert_eq!(refused.problem(), (429, "rate limit exceeded".into()));
    assert_eq!(told(&refused), ["300", "0", "60"]);
    assert_eq!((reads.calls(), db.scan("ClicksTable").len()), (0, 0));
    assert_eq!(follow("203.0.113.10").await.status, fixture::REDIRECT, "somebody else");
}

#[tokio::test]
async fn an_ordinary_visitor_costs_no_write_to_the_throttle_table() {
    let environment = Environment::of(&with_link(LinkBuilder::new("launch")).await.0);

    environment.look(29, noon()).await;
    assert_eq!(environment.merges.calls(), 0);

    environment.look(1, noon()).await;
    assert_eq!(environment.merges.calls(), 1, "a tenth of the limit: a window begins");
    environment.look(20, noon().plus(Duration::from_millis(4_999))).await;
    assert_eq!(environment.merges.calls(), 1);
    environment.look(1, noon().plus(Duration::from_secs(5))).await;
    assert_eq!(environment.merges.calls(), 2);
}

#[tokio::test]
async fn environments_learn_of_each_others_calls_by_merging() {
    let db = with_link(LinkBuilder::new("launch")).await.0;
    let (first, second) = (Environment::of(&db), Environment::of(&db));
    first.look(200, noon()).await;
    first.look(1, noon().plus(Duration::from_secs(5))).await;

    let later = noon().plus(Duration::from_secs(20));
    assert_eq!(told(&second.look(30, later).await), ["300", "270", ""], "not before the answer");

    assert_eq!(told(&second.look(1, later).await), ["300", "68", ""], "300 - 201 - 31");
    let refused = second.look(69, later).await;
    assert_eq!((refused.status, told(&refused)), (429, ["300", "0", "40"]), "the first one's window");
    assert_eq!(refused.header("x-ratelimit-reset"), "40");
}

#[tokio::test]
async fn without_the_throttle_table_redirects_are_limited_and_clicks_stored() {
    let db = with_link(LinkBuilder::new("launch")).await.0;
    let limiter = Limiter::new(RateLimit::per_minute(2).unwrap());
    let redirect = Redirect { limiter, ..fixture::redirect_with(db.links(), db.clicks(), unreachable_table()) };

    for status in [fixture::REDIRECT, fixture::REDIRECT, 429] {
        assert_eq!(RequestBuilder::new("GET", "/launch").at(noon()).send_to(&redirect).await.status, status);
    }
    assert_eq!(db.scan("ClicksTable").len(), 2);
}

// ----------------------------------------------------------------------------------------------------------- statistics

#[tokio::test]
async fn a_stranger_cannot_count_off_codes_by_their_statistics() {
    let db = with_link(LinkBuilder::new("launch")).await.0;
    let stats = fixture::stats(&db);
    let read = async |path: &str, address: &str| {
        RequestBuilder::new("GET", path).source_ip(address).at(noon()).send_to(&stats).await
    };

    for number in 0..299 {
        assert_eq!(read(&format!("/api/stats/code{number}"), "203.0.113.9").await.status, 404);
    }
    assert_eq!(read("/api/stats/launch/timeline", "203.0.113.9").await.status, 200);

    let refused = read("/api/stats/launch", "203.0.113.9").await;
    assert_eq!((refused.status, told(&refused)), (429, ["300", "0", "60"]));
    assert_eq!(read("/api/stats/launch/timeline", "203.0.113.9").await.status, 429);
    assert_eq!(read("/api/stats/launch", "203.0.113.10").await.status, 200, "another address");
}

#[tokio::test]
async fn credentials_that_are_good_for_nothing_count_as_none() {
    let db = with_link(LinkBuilder::new("launch")).await.0;
    let limiter = Limiter::new(RateLimit::per_minute(1).unwrap());
    let strangers = Strangers { limiter, ..fixture::strangers(&db) };
    let stats = Stats { authenticator: authenticator(), strangers, ..fixture::stats(&db) };
    let read = || RequestBuilder::new("GET", "/api/stats/launch").at(noon());

    assert_eq!(read().token("e30.e30.e30").send_to(&stats).await.status, 200);
    assert_eq!(read().token("e30.e30.e30").send_to(&stats).await.status, 429);
    let token = |workspace: &WorkspaceId| token_for(workspace, Role::Viewer);
    let other = read().token(&token(&WorkspaceId::generate())).send_to(&stats).await;
    assert_eq!(other.status, 429, "a member of another workspace");
    let own = db.link("launch").await.identity.workspace;
    assert_eq!(read().token(&token(&own)).send_to(&stats).await.status, 200);
}

#[tokio::test]
async fn environments_learn_of_a_stranger_whom_one_of_them_refuses() {
    let db = with_link(LinkBuilder::new("launch")).await.0;
    let environment = || {
        let limiter = Limiter::new(RateLimit::per_minute(10).unwrap());
        Stats { strangers: Strangers { limiter, ..fixture::strangers(&db) }, ..fixture::stats(&db) }
    };
    let (first, second) = (environment(), environment());
    let read = async |stats: &Stats, seconds: u64| {
        let at = noon().plus(Duration::from_secs(seconds));
        RequestBuilder::new("GET", "/api/stats/launch").at(at).send_to(stats).await.status
    };

    for _ in 0..10 {
        assert_eq!(read(&first, 0).await, 200);
    }
    assert_eq!(read(&first, 5).await, 429);

    assert_eq!([read(&second, 6).await, read(&second, 6).await], [200, 429]);
}
