//! The functions, wired to a test's tables and queues.

use std::time::Duration;

use linklet_analytics::Analytics;
use linklet_domain::{CorrelationId, IpHash, Salt};
use linklet_lambda::{batch::DeadLetterQueue, publisher::Publisher};
use linklet_redirect::Redirect;
use linklet_relay::Relay;
use linklet_stats::Stats;
use linklet_test_support::{FakeQueues, TestDynamoDb, authenticator};

pub fn salt() -> Salt {
    Salt::parse(&"salt".repeat(8)).unwrap()
}

pub fn ip_hash() -> IpHash {
    IpHash::of("203.0.113.9", &salt())
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
    Redirect { links: db.links(), clicks: db.clicks(), salt: salt() }
}

pub fn stats(db: &TestDynamoDb) -> Stats {
    Stats { authenticator: authenticator(), stats: db.stats(), links: db.links() }
}
