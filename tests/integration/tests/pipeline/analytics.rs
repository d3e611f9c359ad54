use std::{collections::BTreeSet, time::Duration};

use aws_lambda_events::{dynamodb::EventRecord, sqs::SqsBatchResponse};
use linklet_domain::{Event, EventDetail, LinkStats, MilestoneReached, Timestamp};
use linklet_dynamodb::{StatsTable, stream::change_of};
use linklet_lambda::batch::Consumer;
use linklet_lambda::metrics::{self, Metric};
use linklet_test_support::{
    FakeQueues, Fault, Faults, Outage, TestDynamoDb, click_event, event_batch, item_bytes, link_id, queue_batch,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::fixture::{analytics, redeliver};

fn clicks(code: &str, count: usize) -> Vec<Event> {
    let now = Timestamp::now();
    (0..count).map(|index| click_event(code, now.plus(Duration::from_millis(index as u64)))).collect()
}

fn failed(response: &SqsBatchResponse) -> BTreeSet<String> {
    response.batch_item_failures.iter().map(|failure| failure.item_identifier.clone()).collect()
}

async fn counted(db: &TestDynamoDb, code: &str) -> LinkStats {
    db.stats().since(&link_id(code), Timestamp::EPOCH.day()).await.unwrap()
}

fn events_of(record: &EventRecord) -> Vec<Event> {
    change_of(record).unwrap().into_events()
}

/// The milestones of a link in the order in which the stream publishes them.
fn milestones(db: &TestDynamoDb) -> Vec<String> {
    let reached = |event: Event| match event.detail {
        EventDetail::MilestoneReached(reached) => format!("{} {}", reached.link.code, reached.milestone),
        other => panic!("{other:?}"),
    };
    db.stream("StatsTable").records.iter().flat_map(events_of).map(reached).collect()
}

#[tokio::test]
async fn what_was_counted_and_what_came_again_is_measured() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let analytics = analytics(&db, &queues);
    let events = clicks("launch", 3);
    analytics.consume(event_batch(&events[..1])).await;
    let mut batch = event_batch(&[&events[..], &events[2..]].concat());
    batch.records[1].body = Some("no event".to_owned());

    let (_, measured) = metrics::observe(analytics.consume(batch)).await;

    let of = |metric| measured.get(metric);
    assert_eq!(of(Metric::BatchFailures), 0.0);
    // The first was known, the second can't be read, the third came twice.
    assert_eq!((of(Metric::ClicksCounted), of(Metric::DedupeHits)), (1.0, 2.0));
    assert_eq!(counted(&db, "launch").await.whole_life().clicks, 2);
}

#[tokio::test]
async fn a_burst_over_several_thresholds_fires_each_milestone_once_and_in_order() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let analytics = analytics(&db, &queues);
    let events = clicks("launch", 1_050);

    for batch in events.chunks(500).chain(events.chunks(300)) {
        assert!(failed(&analytics.consume(event_batch(batch)).await).is_empty());
    }

    assert_eq!(counted(&db, "launch").await.whole_life().clicks, 1_050);
    assert_eq!(milestones(&db), ["launch 10", "launch 100", "launch 1000"]);
}

#[tokio::test]
async fn nobody_is_told_of_a_milestone_that_imported_clicks_reach() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let mut imported = clicks("launch", 12);
    for event in &mut imported {
        let EventDetail::UrlClicked(click) = &mut event.detail else { unreachable!() };
        click.visitor.imported = true;
    }
    let later = clicks("launch", 88);

    for batch in [imported, later] {
        analytics(&db, &queues).consume(event_batch(&batch)).await;
    }

    assert_eq!(milestones(&db), ["launch 100"]);
}

#[tokio::test]
async fn a_milestone_belongs_to_the_click_that_reached_it() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let events = clicks("launch", 12);

    analytics(&db, &queues).consume(event_batch(&events)).await;

    let milestone = db.stream("StatsTable").records.iter().flat_map(events_of).next().unwrap();
    assert_eq!(milestone.occurred_at, events[9].occurred_at);
    assert_eq!(milestone.correlation_id, events[9].correlation_id);
    assert_eq!(milestone.event_id.as_str(), "milestone:launch:x7Kf2a:10");
    let EventDetail::MilestoneReached(reached) = milestone.detail else { panic!("{milestone:?}") };
    assert_eq!((reached.milestone, reached.total_clicks), (10, 12), "the batch took the link past the milestone");
}

#[tokio::test]
async fn no_referrer_that_a_visitor_sends_keeps_clicks_from_counting() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let mut events = clicks("launch", 8);
    let referers = ["?", "#x", "?x", " ", "\u{0}", "\u{ffff}", "https://news.example/\u{feff}", &"ü".repeat(500)];
    for (event, referer) in events.iter_mut().zip(referers) {
        let EventDetail::UrlClicked(click) = &mut event.detail else { unreachable!() };
        click.visitor.referer = Some(referer.to_owned());
    }

    let response = analytics(&db, &queues).consume(event_batch(&events)).await;

    assert!(failed(&response).is_empty());
    assert_eq!(counted(&db, "launch").await.whole_life().clicks, 8);
}

#[tokio::test]
async fn a_batch_that_spreads_over_months_counts_on_each_of_its_days() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let start = Timestamp::parse("2026-01-01T12:00:00Z").unwrap();
    let events: Vec<_> =
        (0..200).map(|day| click_event("launch", start.plus(Duration::from_secs(day * 86_400)))).collect();

    redeliver(&analytics(&db, &queues), event_batch(&events)).await;

    let stats = counted(&db, "launch").await;
    assert_eq!((stats.whole_life().clicks, stats.days.len()), (200, 200));
}

fn packed(events: &[impl Serialize]) -> String {
    json!({"events": events}).to_string()
}

#[tokio::test]
async fn events_packed_or_not_count_each_and_what_is_no_click_is_parked() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let mut events: Vec<Value> =
        clicks("launch", 3).iter().chain(&clicks("other", 2)).map(|click| json!(click)).collect();
    events[1]["short_code"] = json!("../../etc/passwd");
    let EventDetail::UrlClicked(click) = clicks("launch", 1).remove(0).detail else { unreachable!() };
    let reached = MilestoneReached { link: click.link, user_id: click.user_id, milestone: 10, total_clicks: 10 };
    let milestone = json!(Event { detail: EventDetail::MilestoneReached(reached), ..clicks("launch", 1).remove(0) });
    let mut bodies = vec![packed(&events), packed(&events[2..]), packed(&[0; 0]), events[0].to_string()];
    bodies.extend(["not json".to_owned(), "{}".to_owned(), milestone.to_string(), events[3].to_string()]);

    let response = analytics(&db, &queues).consume(queue_batch(&bodies)).await;

    assert!(failed(&response).is_empty());
    assert_eq!(counted(&db, "launch").await.whole_life().clicks, 2);
    assert_eq!(counted(&db, "other").await.whole_life().clicks, 2);
    let read = |body: String| serde_json::from_str(&body).unwrap_or(Value::String(body)).to_string();
    let parked: BTreeSet<_> = queues.bodies("dlq").into_iter().map(read).collect();
    let expected = [json!("not json"), json!({}), milestone, events.swap_remove(1)];
    assert_eq!(parked, expected.map(|one| one.to_string()).into());
}

#[tokio::test]
async fn a_packed_message_with_an_uncounted_click_returns_and_parks_nothing_twice() {
    let (db, queues, faults) = (TestDynamoDb::start(), FakeQueues::start(), Faults::default());
    let mut analytics = analytics(&db, &queues);
    analytics.stats = StatsTable::new(db.table_with(faults.clone(), "StatsTable"));
    let events: Vec<Event> = [clicks("launch", 2), clicks("other", 2)].concat();
    let bodies = [json!({"events": [events[0], events[2], "no event"]}).to_string(), packed(&events[1..2])];
    // After the read, the write of the day of the second link; both links are in the first message.
    faults.plan(Some((2, Fault::NotSent)));

    let first = failed(&analytics.consume(queue_batch(&bodies)).await);
    let parked_at_first = queues.bodies("dlq").len();
    faults.plan(None);
    let second = failed(&analytics.consume(queue_batch(&bodies[..1])).await);

    assert_eq!((first, parked_at_first), (["0".to_owned()].into(), 0));
    assert!(second.is_empty());
    assert_eq!(queues.bodies("dlq"), ["\"no event\""]);
    assert_eq!(counted(&db, "launch").await.whole_life().clicks, 2);
    assert_eq!(counted(&db, "other").await.whole_life().clicks, 1);
}

#[tokio::test]
async fn a_flood_on_one_link_is_counted_in_parts() {
    let (db, queues) = (TestDynamoDb::without_streams(), FakeQueues::start());
    let analytics = analytics(&db, &queues);
    let events = clicks("launch", 6_000);
    let bodies: Vec<String> = events.chunks(100).map(packed).collect();

    for some in bodies.chunks(30) {
        assert!(failed(&analytics.consume(queue_batch(some)).await).is_empty());
    }
    assert!(failed(&analytics.consume(queue_batch(&bodies)).await).is_empty(), "all again");

    let stats = counted(&db, "launch").await;
    assert_eq!(stats.whole_life().clicks, 6_000);
    let rows = db.scan("StatsTable");
    let parts = rows.iter().filter(|row| row["pk"]["S"] == format!("STATS#{}#a", link_id("launch")));
    assert_eq!(parts.count(), stats.days.len());
    assert!(rows.iter().all(|row| item_bytes(row) < 60_000));
}

#[tokio::test]
async fn a_malformed_message_that_cannot_be_parked_comes_again() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    queues.fail(Outage::Everything);
    let bodies = [serde_json::to_string(&clicks("launch", 1)[0]).unwrap(), "not json".into()];

    let response = analytics(&db, &queues).consume(queue_batch(&bodies)).await;

    assert_eq!(failed(&response), BTreeSet::from(["1".to_owned()]));
    assert_eq!(counted(&db, "launch").await.whole_life().clicks, 1);
}

#[tokio::test]
async fn without_its_table_every_message_comes_again() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let mut analytics = analytics(&db, &queues);
    analytics.stats = StatsTable::new(TestDynamoDb::unreachable_table("StatsTable"));
    let mut events = clicks("launch", 3);
    // The fourth message repeats the first: it too has to come again, or a retry could lose the only copy.
    events.push(events[0].clone());

    let response = analytics.consume(event_batch(&events)).await;

    assert_eq!(failed(&response), ["0", "1", "2", "3"].map(str::to_owned).into());
    assert!(queues.bodies("dlq").is_empty());
}
