//! The whole way from a followed link to its statistics, through the real handlers and streams, with SQS played by hand.

use linklet_analytics::Analytics;
use linklet_domain::{CorrelationId, Salt, Timestamp};
use linklet_lambda::batch::{Consumer, DeadLetterQueue};
use linklet_redirect::Redirect;
use linklet_relay::{Publisher, Relay};
use linklet_stats::Stats;
use linklet_test_support::{FakeQueues, LinkBuilder, RequestBuilder, TestDynamoDb, queue_batch};

#[tokio::test]
async fn a_click_whose_link_was_deleted_meanwhile_still_counts() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let link = LinkBuilder::new("launch").build();
    db.links().create(&link, &CorrelationId::generate()).await.unwrap();
    let salt = Salt::parse(&"salt".repeat(8)).unwrap();
    let redirect = Redirect { links: db.links(), clicks: db.clicks(), salt };
    let dead_letters = DeadLetterQueue::new(queues.client(), queues.url("dlq"));
    let relay = Relay {
        analytics: Publisher::new(queues.client(), queues.url("analytics")),
        notify: Publisher::new(queues.client(), queues.url("notify")),
        dead_letters: dead_letters.clone(),
    };

    let followed = RequestBuilder::new("GET", "/r/launch").send_to(&redirect).await;
    db.links().delete(&link.code, &link.owner, Timestamp::now(), &CorrelationId::generate()).await.unwrap();
    relay.consume(db.stream("ClicksTable")).await;
    let analytics = Analytics { stats: db.stats(), dead_letters };
    analytics.consume(queue_batch(&queues.bodies("analytics"))).await;

    assert_eq!(followed.status, 301);
    let stats = Stats { stats: db.stats(), links: db.links() };
    let summary = RequestBuilder::new("GET", "/api/stats/launch").send_to(&stats).await;
    assert_eq!(summary.json()["total_clicks"], 1);
    assert_eq!(RequestBuilder::new("GET", "/r/launch").send_to(&redirect).await.status, 410);
}
