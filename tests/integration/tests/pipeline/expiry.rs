//! From the end of a link's time to its tombstone: DynamoDB's own deletion, the real stream record, the real relay.

use std::time::Duration;

use aws_lambda_events::dynamodb::Event as StreamEvent;
use linklet_domain::{Generation, Link, LinkStatus, Record, Role, Timestamp, UserId, WorkspaceId};
use linklet_dynamodb::{ClicksTable, LinksTable, StatsTable, WatchTable};
use linklet_lambda::{batch::Consumer, http::ShortUrls};
use linklet_list::List;
use linklet_stats::Stats;
use linklet_test_support::{
    Answer, FakeQueues, LinkBuilder, RequestBuilder, TestDynamoDb, WriteCounter, authenticator, token_for,
};
use serde_json::{Value, json};

use crate::fixture::{REDIRECT, correlation, redirect, redirect_with, relay, shorten, stats};

/// A link whose time to live, an hour after its expiry, is over.
fn expired(code: &str) -> Link {
    LinkBuilder::new(code).expires_at(Timestamp::now().minus(Duration::from_secs(3_700))).build()
}

/// What the relay gets after the creation: the deletions, then whatever it has written itself.
fn stream_from(db: &TestDynamoDb, position: usize) -> StreamEvent {
    let mut batch = db.stream("LinksTable");
    batch.records.drain(..position);
    batch
}

async fn follow(db: &TestDynamoDb, code: &str) -> Answer {
    RequestBuilder::new("GET", &format!("/r/{code}")).send_to(&redirect(db)).await
}

async fn cleanup(db: &TestDynamoDb) -> Value {
    let token = token_for(&WorkspaceId::generate(), Role::Admin);
    RequestBuilder::new("GET", "/api/admin/cleanup/stats").token(&token).send_to(&stats(db)).await.json()
}

#[tokio::test]
async fn an_expired_link_answers_410_before_and_after_dynamodb_deletes_it() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    db.store(&expired("launch")).await;
    let gone = (410, "this link has expired".to_owned());

    assert_eq!(follow(&db, "launch").await.problem(), gone);
    db.sweep_ttl();
    assert_eq!(db.record("launch").await, None, "the time to live was not over");
    relay(&db, &queues).consume(stream_from(&db, 1)).await;
    assert_eq!(follow(&db, "launch").await.problem(), gone);

    let Some(Record::Tombstone(tombstone)) = db.record("launch").await else { panic!("there is no tombstone") };
    assert_eq!(tombstone.reason, LinkStatus::Expired);
    // Its statistics stay, so nobody else may ever have the code.
    let row = db.scan("LinksTable").into_iter().find(|item| item["sk"]["S"] == "LINK").unwrap();
    assert_eq!(row.get("ttl"), None);
}

#[tokio::test]
async fn reading_an_expired_link_in_every_way_writes_nothing() {
    let db = TestDynamoDb::start();
    let link = expired("launch");
    db.store(&link).await;
    let writes = WriteCounter::default();
    let client = db.client_with(writes.clone());
    let (links, stats) = (LinksTable::new(client.clone(), "LinksTable"), StatsTable::new(client.clone(), "StatsTable"));
    let clicks = ClicksTable::new(client.clone(), "ClicksTable");
    let redirect = redirect_with(links.clone(), clicks.clone(), db.calls());
    let list = List {
        authenticator: authenticator(),
        links: links.clone(),
        stats: stats.clone(),
        targets: WatchTable::new(client.clone(), "WatchTable"),
        short_urls: ShortUrls::new(None),
    };
    let statistics = Stats { authenticator: authenticator(), stats, clicks, links };
    let token = token_for(&link.workspace, Role::Viewer);
    let get = |path: &str| RequestBuilder::new("GET", path).token(&token);

    assert_eq!(get("/launch").send_to(&redirect).await.status, 410);
    for path in ["/api/urls", "/api/links", "/api/links?sort=clicks", "/api/links/launch"] {
        assert_eq!(get(path).send_to(&list).await.status, 200, "{path}");
    }
    for path in
        ["/api/stats/launch", "/api/stats/launch/timeline", "/api/stats/launch/daily", "/api/stats/launch/clicks"]
    {
        assert_eq!(get(path).send_to(&statistics).await.status, 200, "{path}");
    }

    assert_eq!(writes.count(), 0);
    // The counter counts: a link that works is followed with a write, its click.
    db.store(&LinkBuilder::new("working").build()).await;
    assert_eq!(get("/working").send_to(&redirect).await.status, REDIRECT);
    assert_eq!(writes.count(), 1);
}

#[tokio::test]
async fn an_expired_link_has_one_event_however_often_its_record_is_delivered() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let link = expired("launch");
    db.store(&link).await;
    db.sweep_ttl();

    for _ in 0..3 {
        relay(&db, &queues).consume(stream_from(&db, 1)).await;
    }
    let event = &queues.events("notify")[0];

    assert_eq!(event["event_type"], "url.expired");
    assert_eq!(event["user_id"], link.owner.as_str());
    let ids: std::collections::BTreeSet<_> =
        queues.events("notify").iter().map(|event| event["event_id"].to_string()).collect();
    assert_eq!(ids.len(), 1);
    let cleanup = cleanup(&db).await;
    for member in ["total_cleaned", "last_batch_size", "successful_runs"] {
        assert_eq!(cleanup[member], 1, "{member}");
    }
    assert_eq!(cleanup["is_running"], false);
}

#[tokio::test]
async fn the_code_stays_reserved_and_the_url_is_free() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let shorten = shorten(&db);
    let token = token_for(&WorkspaceId::generate(), Role::Member);
    let post = async |body: Value| {
        RequestBuilder::new("POST", "/api/shorten").token(&token).json(&body).send_to(&shorten).await
    };
    let first = post(json!({"url": "https://example.com"})).await;
    let code = first.json()["short_code"].as_str().unwrap().to_owned();
    // Its expiry is set later, and passes.
    let long_ago = Timestamp::now().minus(Duration::from_secs(7_200));
    let patch = linklet_domain::LinkPatch { expires_at: Some(Some(long_ago)), ..Default::default() };
    db.links().update(&code.parse().unwrap(), &patch).await.unwrap();
    let entries = || db.scan("LinksTable").iter().filter(|item| item["sk"]["S"] == "URL").count();
    assert_eq!(entries(), 1);

    db.sweep_ttl();
    relay(&db, &queues).consume(db.stream("LinksTable")).await;

    assert_eq!(entries(), 0);
    let same_code = post(json!({"url": "https://example.com/other", "custom_code": code})).await;
    assert_eq!(same_code.problem(), (409, "short code already taken".into()));
    assert_eq!(post(json!({"url": "https://example.com"})).await.status, 201);
}

#[tokio::test]
async fn a_batch_is_one_run_of_the_cleanup() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    for number in 0..7 {
        db.store(&expired(&format!("code{number}"))).await;
    }
    assert_eq!(
        cleanup(&db).await,
        json!({
            "last_cleanup_time": null, "total_cleaned": 0, "last_batch_size": 0, "successful_runs": 0, "failed_runs": 0,
            "average_cleanup_ms": 0.0, "is_running": false,
        })
    );
    db.sweep_ttl();

    relay(&db, &queues).consume(stream_from(&db, 7)).await;

    let stats = cleanup(&db).await;
    assert_eq!(stats["total_cleaned"], 7);
    assert_eq!(stats["last_batch_size"], 7);
    assert_eq!((&stats["successful_runs"], &stats["failed_runs"]), (&json!(1), &json!(0)));
    assert_eq!(stats["is_running"], false);
    assert!(stats["average_cleanup_ms"].as_f64().unwrap() > 0.0, "{stats}");
    assert!(Timestamp::parse(stats["last_cleanup_time"].as_str().unwrap()).is_ok());
}

#[tokio::test]
async fn a_tombstone_that_cannot_be_written_is_retried() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    db.store(&expired("launch")).await;
    db.sweep_ttl();
    let batch = stream_from(&db, 1);
    let mut without_table = relay(&db, &queues);
    without_table.links = LinksTable::new(TestDynamoDb::unreachable(), "LinksTable");

    let during = without_table.consume(batch.clone()).await;
    let after = relay(&db, &queues).consume(batch.clone()).await;

    assert_eq!(during.batch_item_failures[0].item_identifier, batch.records[0].change.sequence_number);
    assert!(after.batch_item_failures.is_empty());
    assert!(matches!(db.record("launch").await, Some(Record::Tombstone(_))));
}

#[tokio::test]
async fn a_link_that_was_deleted_before_its_time_keeps_saying_so() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let link = expired("launch");
    db.store(&link).await;
    db.links().delete(&link, &UserId::generate(), Timestamp::now(), &correlation()).await.unwrap();
    db.sweep_ttl();

    for _ in 0..2 {
        relay(&db, &queues).consume(stream_from(&db, 2)).await;
    }

    assert_eq!(follow(&db, "launch").await.problem(), (410, "this link was deleted".into()));
    assert!(queues.events("notify").is_empty());
}

#[tokio::test]
async fn a_code_that_is_taken_before_there_is_a_tombstone_stays_with_its_new_link() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let old = expired("launch");
    db.store(&old).await;
    db.sweep_ttl();
    let new = LinkBuilder::new("launch").to("https://new.example/").build();
    db.store(&new).await;

    for _ in 0..2 {
        relay(&db, &queues).consume(stream_from(&db, 1)).await;
    }

    assert_eq!(db.link("launch").await, new);
    let mut expiries = queues.events("notify");
    expiries.retain(|event| event["event_type"] == "url.expired");
    assert_eq!(expiries.len(), 2, "once per delivery");
    assert_eq!(expiries[0]["event_id"], expiries[1]["event_id"]);
    assert_eq!(expiries[0]["user_id"], old.owner.as_str());
}

#[tokio::test]
async fn the_expiry_of_a_link_whose_code_is_taken_at_once_names_its_own_generation() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let old = Link { watch: true, ..expired("launch") };
    db.store(&old).await;
    db.sweep_ttl();
    let new = LinkBuilder::new("launch").in_workspace(&old.workspace).watching().build();
    db.store(&Link { generation: Generation::generate().unwrap(), ..new }).await;

    relay(&db, &queues).consume(stream_from(&db, 1)).await;

    let events = queues.events("notify");
    let expiry = events.iter().find(|event| event["event_type"] == "url.expired").unwrap();
    assert_eq!(expiry["generation"], old.generation.as_str());
    assert_eq!(expiry["watched_target"], old.watched_target().unwrap().as_str());
}

#[tokio::test]
async fn only_dynamodbs_own_deletion_is_an_expiry() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    db.store(&expired("launch")).await;
    db.sweep_ttl();
    let mut batch = stream_from(&db, 1);
    // Somebody who repairs the table by hand.
    batch.records[0].user_identity = None;

    relay(&db, &queues).consume(batch).await;

    assert_eq!(db.record("launch").await, None);
}

#[tokio::test]
async fn the_ttl_deletion_of_a_tombstone_leaves_no_tombstone() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    db.store(&expired("launch")).await;
    db.sweep_ttl();
    relay(&db, &queues).consume(stream_from(&db, 1)).await;
    let mut batch = stream_from(&db, 1);
    let position = batch
        .records
        .iter()
        .position(|record| record.event_name == "INSERT" && record.change.new_image.inner().contains_key("tombstone"))
        .unwrap();
    let mut record = batch.records.swap_remove(position);
    record.event_name = "REMOVE".into();
    record.change.old_image = std::mem::take(&mut record.change.new_image);
    record.user_identity = batch.records[0].user_identity.clone();
    assert!(record.user_identity.is_some());
    batch.records = vec![record];

    relay(&db, &queues).consume(batch).await;

    assert_eq!(cleanup(&db).await["total_cleaned"], 1);
}

#[tokio::test]
async fn the_cleanups_statistics_are_for_admins() {
    let db = TestDynamoDb::start();
    let token = token_for(&WorkspaceId::generate(), Role::Member);

    let answer = RequestBuilder::new("GET", "/api/admin/cleanup/stats").token(&token).send_to(&stats(&db)).await;

    assert_eq!(answer.problem(), (403, "your role does not allow this".into()));
}
