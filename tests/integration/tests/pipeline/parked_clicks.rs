//! Clicks that redirect could not store: from there through the analytics queue to the table.

use std::collections::BTreeSet;

use aws_lambda_events::sqs::SqsBatchResponse;
use aws_sdk_dynamodb::Client;
use futures_util::future::join_all;
use linklet_domain::{Click, Timestamp};
use linklet_dynamodb::{ClicksTable, Table, ThrottleTable};
use linklet_lambda::batch::Consumer;
use linklet_lambda::following::{Recorder, Spreading};
use linklet_lambda::metrics::{self, Measured, Metric};
use linklet_lambda::publisher::Publisher;
use linklet_redirect::Redirect;
use linklet_test_support::{
    FakeQueues, Fault, Faults, LinkBuilder, Outage, RequestBuilder, TestDynamoDb, click_event, link_id, message_batch,
    queue_batch,
};

use crate::fixture::{self, analytics, relay, with_link};

struct Fixture {
    db: TestDynamoDb,
    queues: FakeQueues,
}

impl Fixture {
    async fn new() -> Self {
        let (db, _) = with_link(LinkBuilder::new("launch")).await;
        Self { db, queues: FakeQueues::start() }
    }

    /// Redirect, which stores clicks in this table.
    fn redirect(&self, clicks: Client) -> Redirect {
        let clicks = ClicksTable::new(Table::new(clicks, "ClicksTable"));
        let parking = Publisher::new(self.queues.client(), self.queues.url("analytics"));
        // So that each environment limits by its own count only.
        let calls = ThrottleTable::new(TestDynamoDb::unreachable_table("ThrottleTable"));
        Redirect {
            recorder: Recorder { clicks, parking, spreading: Spreading::default() },
            calls,
            ..fixture::redirect(&self.db)
        }
    }

    /// Follows the link and says what was measured.
    async fn follow(&self, redirect: &Redirect) -> Measured {
        self.follow_at(Timestamp::now(), redirect).await
    }

    async fn follow_at(&self, at: Timestamp, redirect: &Redirect) -> Measured {
        let request = RequestBuilder::new("GET", "/launch").at(at).header("user-agent", &"ü".repeat(300));
        let request = request.header("referer", &format!("https://news.example/{}", "é".repeat(500)));
        let (answer, measured) = metrics::observe(request.send_to(redirect)).await;
        assert_eq!(answer.status, fixture::REDIRECT);
        measured
    }

    async fn store_parked(&self) -> SqsBatchResponse {
        analytics(&self.db, &self.queues).consume(queue_batch(&self.parked())).await
    }

    /// The messages with parked clicks.
    fn parked(&self) -> Vec<String> {
        let mut bodies = self.queues.bodies("analytics");
        bodies.retain(|body| body.contains("click_id"));
        bodies
    }

    async fn clicks(&self) -> Vec<Click> {
        self.db.clicks().latest(&link_id("launch"), 1_000).await.unwrap()
    }
}

fn parked_clicks(count: usize) -> Vec<Click> {
    (0..count).map(|_| Click::from_event(click_event("launch", Timestamp::now())).unwrap()).collect()
}

fn failed(response: &SqsBatchResponse) -> Vec<&str> {
    response.batch_item_failures.iter().map(|failure| failure.item_identifier.as_str()).collect()
}

/// Parked, dropped.
fn fate(measured: &Measured) -> [f64; 2] {
    [Metric::ClicksParked, Metric::ClicksDropped].map(|metric| measured.get(metric))
}

#[tokio::test]
async fn a_parked_click_is_stored_as_redirect_would_have_done() {
    let fixture = Fixture::new().await;
    fixture.follow(&fixture.redirect(fixture.db.client())).await;
    let usual = fixture.clicks().await.remove(0);

    let measured = fixture.follow(&fixture.redirect(TestDynamoDb::unreachable())).await;
    assert_eq!((fate(&measured), fixture.clicks().await.len()), ([1.0, 0.0], 1));
    let response = fixture.store_parked().await;

    assert!(failed(&response).is_empty());
    let parked = fixture.clicks().await.into_iter().find(|click| click.id != usual.id).unwrap();
    assert_eq!((parked.link, parked.workspace, parked.owner), (usual.link, usual.workspace, usual.owner));
    assert_eq!(parked.visitor, usual.visitor);
}

#[tokio::test]
async fn a_parked_click_counts_once_however_often_it_comes() {
    let fixture = Fixture::new().await;
    fixture.follow(&fixture.redirect(TestDynamoDb::unreachable())).await;

    for _ in 0..3 {
        assert!(failed(&fixture.store_parked().await).is_empty());
    }

    assert_eq!(fixture.clicks().await.len(), 1);
    relay(&fixture.db, &fixture.queues).consume(fixture.db.stream("ClicksTable")).await;
    let mut told = fixture.queues.bodies("analytics");
    told.retain(|body| body.contains("url.clicked"));
    analytics(&fixture.db, &fixture.queues).consume(queue_batch(&told)).await;
    let stats = fixture.db.stats().since(&link_id("launch"), Timestamp::now().day()).await.unwrap();
    assert_eq!((told.len(), stats.whole_life().clicks), (1, 1));
}

#[tokio::test]
async fn a_click_stored_despite_an_error_stays_one_when_parked() {
    let fixture = Fixture::new().await;
    let faults = Faults::default();
    let redirect = fixture.redirect(fixture.db.client_with(faults.clone()));
    faults.plan(Some((0, Fault::AnswerLost)));

    let measured = fixture.follow(&redirect).await;
    fixture.store_parked().await;

    assert_eq!((fate(&measured), fixture.clicks().await.len()), ([1.0, 0.0], 1));
}

#[tokio::test]
async fn a_hot_links_click_stored_despite_an_error_stays_one_when_parked() {
    let (fixture, faults, now) = (Fixture::new().await, Faults::default(), Timestamp::now());
    let redirect = fixture.redirect(fixture.db.client_with(faults.clone()));
    for _ in 0..Spreading::HOT {
        fixture.follow_at(now, &redirect).await;
    }
    let usual = fixture.db.scan("ClicksTable");
    faults.plan_all((0..20).map(|call| (call, Fault::AnswerLost)));

    for _ in 0..20 {
        assert_eq!(fate(&fixture.follow_at(now, &redirect).await), [1.0, 0.0]);
    }
    let response = fixture.store_parked().await;

    assert!(failed(&response).is_empty());
    assert_eq!(usual.len(), Spreading::HOT + 1, "the clicks and the marker");
    assert_eq!(fixture.db.scan("ClicksTable").len(), usual.len() + 20);
}

#[tokio::test]
async fn a_throttled_click_is_tried_again_before_it_is_parked() {
    let fixture = Fixture::new().await;
    let faults = Faults::default();
    let redirect = fixture.redirect(fixture.db.client_retrying(&faults, 3));

    faults.plan_all([(0, Fault::Throttled), (1, Fault::Throttled)]);
    let twice = fixture.follow(&redirect).await;
    faults.plan_all([(0, Fault::Throttled), (1, Fault::Throttled), (2, Fault::Throttled)]);
    let thrice = fixture.follow(&redirect).await;

    assert_eq!((fate(&twice), fate(&thrice)), ([0.0, 0.0], [1.0, 0.0]));
    assert_eq!((fixture.clicks().await.len(), fixture.parked().len()), (1, 1));
}

#[tokio::test]
async fn a_click_that_cannot_even_be_parked_is_counted_as_lost() {
    let fixture = Fixture::new().await;
    let redirect = fixture.redirect(TestDynamoDb::unreachable());

    for outage in [Outage::Everything, Outage::MessagesWith("launch".to_owned())] {
        fixture.queues.fail(outage);
        assert_eq!(fate(&fixture.follow(&redirect).await), [0.0, 1.0]);
    }
}

#[tokio::test]
async fn what_still_cannot_be_stored_comes_again_and_its_neighbours_do_not() {
    let (fixture, faults) = (Fixture::new().await, Faults::default());
    let mut consumer = analytics(&fixture.db, &fixture.queues);
    consumer.clicks = ClicksTable::new(fixture.db.table_with(faults.clone(), "ClicksTable"));
    let batch = message_batch(&parked_clicks(5));
    faults.plan_all([(1, Fault::Throttled), (3, Fault::NotSent)]);

    let (response, measured) = metrics::observe(consumer.consume(batch.clone())).await;

    assert_eq!((failed(&response).len(), fixture.clicks().await.len()), (2, 3));
    assert_eq!(measured.get(Metric::BatchFailures), 2.0);
    assert!(failed(&consumer.consume(batch).await).is_empty());
    assert_eq!(fixture.clicks().await.len(), 5);
}

#[tokio::test]
async fn while_the_table_is_down_few_clicks_are_tried_and_none_lost() {
    let (fixture, faults) = (Fixture::new().await, Faults::default());
    let mut consumer = analytics(&fixture.db, &fixture.queues);
    consumer.clicks = ClicksTable::new(fixture.db.table_with(faults.clone(), "ClicksTable"));
    let batch = message_batch(&parked_clicks(200));
    faults.plan_all((0..10_000).map(|call| (call, Fault::NotSent)));

    let response = consumer.consume(batch.clone()).await;

    assert_eq!(failed(&response).len(), 200);
    assert!(faults.calls() <= 24, "{}", faults.calls());
    faults.plan(None);
    assert!(failed(&consumer.consume(batch).await).is_empty());
    assert_eq!(fixture.clicks().await.len(), 200);
}

/// A viral link: many environments at once, and a table that refuses seven of ten writes.
#[tokio::test]
async fn no_click_of_a_viral_link_is_lost_though_its_table_throttles() {
    const ENVIRONMENTS: usize = 10;
    const CLICKS: usize = 50;
    let (fixture, faults) = (Fixture::new().await, Faults::default());
    let throttled = fixture.db.client_with(faults.clone());
    faults.plan_all((0..10_000).filter(|call| call % 10 < 7).map(|call| (call, Fault::Throttled)));

    let environments = (0..ENVIRONMENTS).map(async |_| {
        let redirect = fixture.redirect(throttled.clone());
        let mut fates = Vec::new();
        for _ in 0..CLICKS {
            fates.push(fate(&fixture.follow(&redirect).await));
        }
        fates
    });
    let fates = join_all(environments).await.concat();

    let sum = |index: usize| fates.iter().map(|fate| fate[index]).sum::<f64>();
    let (recorded, parked, dropped) = (fixture.clicks().await.len() as f64, sum(0), sum(1));
    assert_eq!((recorded + parked, dropped), ((ENVIRONMENTS * CLICKS) as f64, 0.0));
    assert!(recorded > 0.0 && parked > recorded, "{recorded} recorded, {parked} parked");
    let mut consumer = analytics(&fixture.db, &fixture.queues);
    consumer.clicks = ClicksTable::new(Table::new(throttled, "ClicksTable"));
    let mut waiting = fixture.parked();
    while !waiting.is_empty() {
        let response = consumer.consume(queue_batch(&waiting)).await;
        let again: BTreeSet<usize> = failed(&response).iter().map(|id| id.parse().unwrap()).collect();
        waiting = waiting.into_iter().enumerate().filter(|(at, _)| again.contains(at)).map(|(_, body)| body).collect();
    }
    assert_eq!(fixture.clicks().await.len(), ENVIRONMENTS * CLICKS);
}
