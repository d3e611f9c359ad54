use std::{collections::HashSet, time::Duration};

use aws_lambda_events::dynamodb::{Event as StreamEvent, EventRecord};
use linklet_domain::{Click, ClickId, Link, Part, Record, Spread, TargetUrl, Timestamp, UserId};
use linklet_dynamodb::{CreateOutcome, Creation};
use linklet_lambda::batch::Consumer;
use linklet_test_support::{FakeQueues, LinkBuilder, Outage, TestDynamoDb, click_event};
use serde_json::{Value, json};

use crate::fixture::{correlation, relay, visitor};
use crate::streams::{batch_of, is_let_through, json_of, retry_from};

async fn create_link(db: &TestDynamoDb, link: &Link) -> CreateOutcome {
    let creation = Creation::of(link);
    db.links().create(&creation).await.unwrap()
}

async fn create(db: &TestDynamoDb, code: &str) {
    create_link(db, &LinkBuilder::new(code).build()).await;
}

async fn click(db: &TestDynamoDb, code: &str) {
    let record = db.links().redirect_target(&code.parse().unwrap()).await.unwrap();
    let Some(Record::Link(link)) = record else { panic!("{record:?}") };
    let visitor = visitor().with_headers(Some("curl"), Some("https://news.example/"));
    let click = Click::on(&link, Timestamp::now(), visitor, correlation());
    db.clicks().record(&click, Spread::Narrow).await.unwrap();
}

#[tokio::test]
async fn creating_and_deleting_a_link_publish_an_event_each() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let mut link = LinkBuilder::new("launch").watching().build();
    link.last_write.correlation_id = correlation();
    let deleter = UserId::generate();
    create_link(&db, &link).await;
    db.delete_as(&deleter, &link, Timestamp::now()).await;

    for _ in 0..2 {
        let response = relay(&db, &queues).consume(db.stream("LinksTable")).await;
        assert_eq!(retry_from(&response), None);
    }

    let events = queues.events("notify");
    let [created, deleted, again @ ..] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(again, &events[..2], "what comes again is the same events");
    let of = |event: &Value, names: [&str; 5]| json!(names.map(|name| event[name].clone()));
    let members = of(created, ["event_type", "short_code", "correlation_id", "occurred_at", "watch"]);
    assert_eq!(members, json!(["url.created", "launch", "req-42", link.created_at, true]));
    assert_eq!(created.get("user_email"), None, "no event has an address");
    let members = of(deleted, ["event_type", "short_code", "user_id", "deleted_by", "watched_target"]);
    let target = link.watched_target().unwrap();
    assert_eq!(members, json!(["url.deleted", "launch", link.identity.owner, deleter, target]));
    assert_ne!(created["event_id"], deleted["event_id"]);
    assert!(queues.bodies("analytics").is_empty());
}

#[tokio::test]
async fn a_click_publishes_its_event_without_the_owners_address() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    create(&db, "launch").await;
    click(&db, "launch").await;

    relay(&db, &queues).consume(db.stream("ClicksTable")).await;

    let events = queues.events("analytics");
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["event_type"], "url.clicked");
    assert_eq!(events[0]["referer"], "https://news.example/");
    assert_eq!(events[0]["correlation_id"], "req-42");
    assert!(!events[0].to_string().contains("ada@example.com"));
    assert!(queues.bodies("notify").is_empty());
}

#[tokio::test]
async fn a_click_from_the_future_is_dated_to_its_arrival_every_time() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    // The records of DynamoDB Local have whole minutes, those of AWS whole seconds.
    let before = Timestamp::now().minus(Duration::from_mins(1));
    let ahead = click_event("launch", before.plus(Duration::from_hours(1)));
    db.clicks().record(&Click::from_event(ahead).unwrap(), Spread::Narrow).await.unwrap();

    for _ in 0..2 {
        relay(&db, &queues).consume(db.stream("ClicksTable")).await;
    }

    let events = queues.events("analytics");
    assert_eq!(events[0]["event_id"], events[1]["event_id"]);
    let occurred_at = Timestamp::parse(events[0]["occurred_at"].as_str().unwrap()).unwrap();
    assert!((before..=Timestamp::now()).contains(&occurred_at), "{occurred_at}");
}

#[tokio::test]
async fn clicks_of_a_hot_link_publish_their_events_and_its_marker_none() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let clicks: Vec<Click> =
        (0..20).map(|_| Click::from_event(click_event("launch", Timestamp::now())).unwrap()).collect();
    db.clicks().widen(&clicks[0].link, Timestamp::now()).await.unwrap();
    for click in &clicks {
        db.clicks().record(click, Spread::Wide).await.unwrap();
    }

    let response = relay(&db, &queues).consume(db.stream("ClicksTable")).await;

    assert_eq!((retry_from(&response), queues.bodies("dlq").len()), (None, 0));
    let told: HashSet<String> =
        queues.events("analytics").iter().map(|event| event["event_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(told, clicks.iter().map(|click| click.id.to_string()).collect());
}

#[tokio::test]
async fn clicks_share_messages_with_those_that_are_counted_with_them() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    for code in ["launch", "other"] {
        create(&db, code).await;
    }
    for number in 0..200 {
        click(&db, if number % 3 == 0 { "other" } else { "launch" }).await;
    }

    let response = relay(&db, &queues).consume(db.stream("ClicksTable")).await;

    assert_eq!(retry_from(&response), None);
    let bodies = queues.bodies("analytics");
    assert!(bodies.len() <= 3 && bodies.iter().all(|body| body.len() <= 64 * 1_024), "{}", bodies.len());
    let events = queues.events("analytics");
    assert_eq!(events.len(), 200);
    let counted_with = |event: &Value| {
        let part = Part::of(&ClickId::parse(event["event_id"].as_str().unwrap()).unwrap());
        format!("{} {part}", event["short_code"])
    };
    let mut order: Vec<String> = events.iter().map(counted_with).collect();
    order.dedup();
    let groups = order.len();
    order.sort();
    order.dedup();
    assert_eq!(order.len(), groups, "no group is torn apart");
}

#[tokio::test]
async fn the_stream_is_read_again_from_the_first_unsent_click() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    for code in ["launch", "other"] {
        create(&db, code).await;
    }
    for _ in 0..300 {
        click(&db, "launch").await;
    }
    click(&db, "other").await;
    click(&db, "launch").await;
    let batch = db.stream("ClicksTable");
    // The last message: it has the click on the other link, and the last ones on the first.
    queues.fail(Outage::MessagesWith("other".into()));

    let response = relay(&db, &queues).consume(batch.clone()).await;

    let from = retry_from(&response).expect("one is not sent");
    let first = batch.records.iter().position(|record| record.change.sequence_number.as_ref() == Some(&from)).unwrap();
    let sent: HashSet<String> = queues.events("analytics").iter().map(|event| event["event_id"].to_string()).collect();
    assert!(!sent.is_empty() && sent.len() < 300);
    let id = |record: &EventRecord| json_of(record)["dynamodb"]["Keys"]["sk"]["S"].to_string();
    let unsent: Vec<usize> =
        (0..batch.records.len()).filter(|position| !sent.contains(&id(&batch.records[*position]))).collect();
    assert_eq!(unsent[0], first);
}

#[tokio::test]
async fn while_a_queue_is_unreachable_the_stream_keeps_the_events() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    for number in 0..15 {
        create(&db, &format!("code{number:02}")).await;
    }
    let batch = db.stream("LinksTable");
    queues.fail(Outage::Everything);

    let during = relay(&db, &queues).consume(batch.clone()).await;
    queues.fail(Outage::None);
    let after = relay(&db, &queues).consume(batch.clone()).await;

    assert_eq!(retry_from(&during), batch.records[0].change.sequence_number);
    assert_eq!(retry_from(&after), None);
    assert_eq!(queues.events("notify").len(), 15);
}

#[tokio::test]
async fn a_failure_inside_a_successful_answer_is_retried_from_there() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    for number in 0..25 {
        create(&db, &format!("code{number:02}")).await;
    }
    let batch = db.stream("LinksTable");
    queues.fail(Outage::MessagesWith("code17".into()));

    let response = relay(&db, &queues).consume(batch.clone()).await;

    assert_eq!(retry_from(&response), batch.records[17].change.sequence_number);
    queues.fail(Outage::None);
    let rest = batch_of(&batch.records[17..]);
    assert_eq!(retry_from(&relay(&db, &queues).consume(rest).await), None);
    let mut codes: Vec<_> = queues.events("notify").iter().map(|event| event["short_code"].to_string()).collect();
    codes.sort();
    codes.dedup();
    assert_eq!(codes.len(), 25);
}

#[tokio::test]
async fn an_event_that_its_queue_never_takes_is_parked_and_blocks_nobody() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    for number in 0..5 {
        create(&db, &format!("code{number:02}")).await;
    }
    queues.fail(Outage::NeverMessagesWith("code03".into()));

    let response = relay(&db, &queues).consume(db.stream("LinksTable")).await;

    assert_eq!(retry_from(&response), None);
    assert_eq!(queues.events("notify").len(), 4);
    assert_eq!(queues.events("dlq")[0]["short_code"], "code03");
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_parked_whole_and_blocks_nobody() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    create(&db, "before").await;
    create(&db, "after").await;
    let mut batch = db.stream("LinksTable");
    let mut broken = serde_json::to_value(&batch.records[0]).unwrap();
    broken["dynamodb"]["NewImage"]["created_at"] = json!({"S": "long ago"});
    batch.records.insert(1, serde_json::from_value(broken).unwrap());

    let response = relay(&db, &queues).consume(batch).await;

    assert_eq!(retry_from(&response), None);
    assert_eq!(queues.events("notify").len(), 2);
    let parked = queues.events("dlq");
    assert_eq!(parked.len(), 1);
    assert_eq!(parked[0]["dynamodb"]["NewImage"]["short_code"]["S"], "before");
}

#[tokio::test]
async fn a_record_that_can_be_neither_read_nor_parked_is_retried() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    create(&db, "launch").await;
    let mut batch = db.stream("LinksTable");
    let mut broken = serde_json::to_value(&batch.records[0]).unwrap();
    broken["dynamodb"]["NewImage"].as_object_mut().unwrap().remove("user_id");
    batch.records = vec![serde_json::from_value(broken).unwrap()];
    queues.fail(Outage::Everything);

    let response = relay(&db, &queues).consume(batch.clone()).await;

    assert_eq!(retry_from(&response), batch.records[0].change.sequence_number);
}

/// SQS refuses a batch of more than 262,144 bytes in all where it has not been told otherwise.
#[tokio::test]
async fn links_with_all_members_at_their_maxima_fit_into_one_batch() {
    const MOST: usize = 262_144;
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let base = "https://example.com/";
    // Encoded, each is nine bytes long.
    let url = format!("{base}{}", "漢".repeat((TargetUrl::MAX_LOCATION - base.len()) / 9));
    for number in 0..10 {
        let link =
            LinkBuilder::new(&format!("launch{number}")).to(&url).watching().expires_at(Timestamp::now()).build();
        create_link(&db, &link).await;
    }

    let response = relay(&db, &queues).consume(db.stream("LinksTable")).await;

    assert_eq!(retry_from(&response), None);
    let bodies = queues.bodies("notify");
    let bytes: usize = bodies.iter().map(String::len).sum();
    assert_eq!(bodies.len(), 10);
    assert!(bytes > 10 * url.len() && bytes < MOST, "{bytes}");
}

/// Each change of a link, and whether the relay is called for it.
#[tokio::test]
async fn a_links_change_that_nobody_hears_of_costs_no_call_or_message() {
    let db = TestDynamoDb::start();
    let (links, now, by) = (db.links(), Timestamp::now(), correlation());
    let link = LinkBuilder::new("launch").watching().build();
    let patched = async |members: Value| db.patch(link.id(), &serde_json::from_value(members).unwrap()).await;
    create_link(&db, &link).await;
    patched(json!({"title": "T", "tags": ["a"]})).await;
    patched(json!({"is_active": false})).await;
    db.suspend(&link).await;
    db.resume(&link).await;
    links.hand_over(link.code(), &link.identity.owner, &UserId::generate(), &by).await.unwrap();
    let expiring = patched(json!({"expires_at": now})).await;
    links.publish_expiry(&expiring).await.unwrap();
    patched(json!({"expires_at": now.plus(Duration::from_secs(60))})).await;
    let unwatched = patched(json!({"watch": false})).await;
    db.suspend(&unwatched).await;
    db.resume(&link).await;
    db.delete(&unwatched).await;
    db.remove_expired(&db.link("launch").await).await;
    db.purge(&db.record("launch").await.unwrap()).await;
    let mut changes = db.stream("LinksTable").records;
    changes.retain(|record| json_of(record)["dynamodb"]["Keys"]["pk"]["S"] == "LINK#launch");

    let mut called = Vec::new();
    for change in changes.drain(..) {
        let (queues, markers) = (FakeQueues::start(), markers(&db));
        let is_called = is_let_through("LinksStream", &change);
        let is_watched = is_let_through("WatchLinksStream", &change);
        let mut batch = StreamEvent::default();
        batch.records.push(change);
        relay(&db, &queues).consume(batch).await;
        let is_heard = !queues.bodies("notify").is_empty() || !queues.bodies("analytics").is_empty();
        assert!(is_called || !(is_heard || is_watched || self::markers(&db) != markers), "{called:?}");
        called.push(is_called);
    }

    let [created, updated, switched_off, handed_over] = [true, false, false, false];
    // Who watches it hears of it.
    let [suspended, resumed] = [true; 2];
    let [expires, expired, extended, unwatched] = [true; 4];
    let [suspended_unwatched, resumed_unwatched] = [false; 2];
    let [deleted, removed, purged] = [true, false, true];
    #[rustfmt::skip]
    let expected = [
        created, updated, switched_off, suspended, resumed, handed_over, expires, expired, extended, unwatched,
        suspended_unwatched, resumed_unwatched, deleted, removed, purged,
    ];
    assert_eq!(called, expected);
}

fn markers(db: &TestDynamoDb) -> Vec<Value> {
    db.scan("LinksTable").into_iter().filter(|item| item["sk"]["S"] == "EXPIRY").collect()
}
