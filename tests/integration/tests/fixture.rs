//! The functions, wired to a test's tables and queues.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use linklet_analytics::{Analytics, Clients};
use linklet_domain::{Client, CorrelationId, CountedClick, Device, IpHash, LinkStats, Salt, Timestamp, Visitor};
use linklet_lambda::{
    batch::DeadLetterQueue,
    http::{Edge, ShortUrls},
    publisher::Publisher,
};
use linklet_redirect::Redirect;
use linklet_relay::Relay;
use linklet_stats::Stats;
use linklet_test_support::{Answer, FakeQueues, RequestBuilder, TestDynamoDb, issuer, tokens};
use linklet_user_agents::Classifier;
use linklet_watch::Watch;

pub fn salt() -> Salt {
    Salt::parse(&"salt".repeat(8)).unwrap()
}

pub fn visitor() -> Visitor {
    Visitor::new(IpHash::of("203.0.113.9", &salt()))
}

/// Counts a click by somebody with a phone who comes from the news.
pub fn add_click(stats: &mut LinkStats, clicked_at: Timestamp) {
    let visitor = visitor().with_headers(None, Some("https://news.example/"));
    let client = Client { device: Device::Mobile, browser: "Safari".into(), version: String::new(), os: "iOS".into() };
    stats.count(&CountedClick { clicked_at, visitor: &visitor, client: &client });
}

/// One for all tests: compiling its rules takes a while.
pub fn clients() -> Arc<Clients> {
    static CLIENTS: LazyLock<Arc<Clients>> = LazyLock::new(|| Arc::new(Clients::new(Classifier::load().unwrap())));
    CLIENTS.clone()
}

pub fn correlation() -> CorrelationId {
    CorrelationId::parse("req-42").unwrap()
}

fn dead_letters(queues: &FakeQueues) -> DeadLetterQueue {
    DeadLetterQueue::new(queues.client(), queues.url("dlq"))
}

pub fn analytics(db: &TestDynamoDb, queues: &FakeQueues) -> Analytics {
    Analytics {
        stats: db.stats(),
        clicks: db.clicks(),
        clients: clients(),
        queue: Publisher::new(queues.client(), queues.url("analytics")),
        dead_letters: dead_letters(queues),
        purge_turn: Duration::from_secs(15),
    }
}

pub fn relay(db: &TestDynamoDb, queues: &FakeQueues) -> Relay {
    Relay {
        links: db.links(),
        analytics: Publisher::new(queues.client(), queues.url("analytics")),
        notify: Publisher::new(queues.client(), queues.url("notify")),
        dead_letters: dead_letters(queues),
    }
}

pub fn redirect(db: &TestDynamoDb) -> Redirect {
    Redirect { links: db.links(), clicks: db.clicks(), salt: salt(), edge: Edge::None }
}

pub fn stats(db: &TestDynamoDb) -> Stats {
    Stats { authenticator: db.authenticator(), stats: db.stats(), clicks: db.clicks(), links: db.links() }
}

pub fn watch(db: &TestDynamoDb) -> Watch {
    Watch { authenticator: db.authenticator(), targets: db.watch(), short_urls: ShortUrls::new(None) }
}

/// Hands a request to a function of the template, by its folder's name, in a new execution environment.
pub async fn send(db: &TestDynamoDb, function: &str, request: RequestBuilder) -> Answer {
    let (authenticator, short_urls) = (db.authenticator(), ShortUrls::new(None));
    let (links, stats_table) = (db.links(), db.stats());
    match function {
        "health" => request.send_to(&linklet_health::Health).await,
        "auth" => {
            let auth = linklet_auth::Auth { users: db.users(), tokens: tokens(), issuer: issuer() };
            request.send_to(&auth).await
        }
        "shorten" => request.send_to(&linklet_shorten::Shorten::new(links, authenticator, short_urls)).await,
        "redirect" => request.send_to(&redirect(db)).await,
        "list" => request.send_to(&linklet_list::List { authenticator, links, stats: stats_table, short_urls }).await,
        "delete" => request.send_to(&linklet_delete::Delete { authenticator, links }).await,
        "update" => {
            request.send_to(&linklet_update::Update { authenticator, links, stats: stats_table, short_urls }).await
        }
        "stats" => request.send_to(&stats(db)).await,
        "notifications" => {
            let notifications = db.notifications();
            request.send_to(&linklet_notifications::Notifications { tokens: tokens(), notifications }).await
        }
        "account" => request.send_to(&linklet_account::Account::new(tokens(), db.users())).await,
        "watch" => request.send_to(&watch(db)).await,
        unknown => panic!("template.yaml has a function that this test doesn't know: {unknown}"),
    }
}
