//! The whole way from a followed link to its statistics, through the real handlers and streams, with SQS played by hand.

use linklet_lambda::batch::Consumer;
use linklet_test_support::{FakeQueues, LinkBuilder, RequestBuilder, TestDynamoDb, queue_batch};

use crate::fixture::{REDIRECT, analytics, redirect, relay, stats};

#[tokio::test]
async fn a_click_whose_link_was_deleted_meanwhile_still_counts() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let link = LinkBuilder::new("launch").build();
    db.store(&link).await;

    let followed = RequestBuilder::new("GET", "/r/launch").send_to(&redirect(&db)).await;
    db.delete(&link).await;
    relay(&db, &queues).consume(db.stream("ClicksTable")).await;
    analytics(&db, &queues).consume(queue_batch(&queues.bodies("analytics"))).await;

    assert_eq!(followed.status, REDIRECT);
    let summary = RequestBuilder::new("GET", "/api/stats/launch").send_to(&stats(&db)).await;
    assert_eq!(summary.json()["total_clicks"], 1);
    assert_eq!(RequestBuilder::new("GET", "/r/launch").send_to(&redirect(&db)).await.status, 410);
}
