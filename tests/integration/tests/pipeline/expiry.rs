//! From the end of a link's time to its tombstone: DynamoDB's own deletion of markers, real stream records, the real relay.

use std::{cell::Cell, time::Duration};

use aws_lambda_events::{dynamodb::Event as StreamEvent, streams::DynamoDbEventResponse};
use linklet_domain::{Link, LinkPatch, Record, RemovalReason, Role, Timestamp, UserId, WorkspaceId};
use linklet_dynamodb::{ClicksTable, LinksTable, StatsTable, WatchTable};
use linklet_lambda::batch::Consumer;
use linklet_list::List;
use linklet_stats::Stats;
use linklet_test_support::{
    Answer, FakeQueues, LinkBuilder, RequestBuilder, TestDynamoDb, WriteCounter, authenticator, token_for,
};
use serde_json::{Value, json};

use crate::fixture::{REDIRECT, redirect, redirect_with, relay, shorten, stats};

const KEPT_FOR: Duration = Duration::from_secs(3_600);

fn ago(seconds: u64) -> Timestamp {
    Timestamp::now().minus(Duration::from_secs(seconds))
}

/// A link that has just expired.
fn expired(code: &str) -> Link {
    LinkBuilder::new(code).expires_at(ago(60)).build()
}

/// A link that has expired so long ago that it is to be removed.
fn over(code: &str) -> Link {
    LinkBuilder::new(code).expires_at(ago(3_700)).build()
}

fn expiring_at(at: Timestamp) -> LinkPatch {
    LinkPatch { expires_at: Some(Some(at)), ..LinkPatch::default() }
}

/// The TTL of a marker that is due at this time: not before it.
fn due(at: Timestamp) -> i64 {
    at.plus(Duration::from_millis(999)).unix_seconds()
}

/// Tables and queues with a relay between them, which keeps expired links for an hour.
struct Fixture {
    db: TestDynamoDb,
    queues: FakeQueues,
    /// How many records of the stream the relay has had.
    carried: Cell<usize>,
}

impl Fixture {
    async fn with(links: &[&Link]) -> Self {
        let fixture = Self { db: TestDynamoDb::start(), queues: FakeQueues::start(), carried: Cell::new(0) };
        for link in links {
            fixture.db.store(link).await;
        }
        fixture.carry().await;
        fixture
    }

    async fn consume(&self, batch: StreamEvent) -> DynamoDbEventResponse {
        let mut relay = relay(&self.db, &self.queues);
        relay.keep_expired = KEPT_FOR;
        relay.consume(batch).await
    }

    /// The records that the relay has not had yet.
    fn news(&self) -> StreamEvent {
        let mut batch = self.db.stream("LinksTable");
        batch.records.drain(..self.carried.get());
        batch
    }

    /// Hands the relay what is new, also what it writes itself.
    async fn carry(&self) {
        loop {
            let news = self.news();
            if news.records.is_empty() {
                return;
            }
            self.carried.set(self.carried.get() + news.records.len());
            let answer = self.consume(news).await;
            assert!(answer.batch_item_failures.is_empty(), "{answer:?}");
        }
    }

    /// Lets DynamoDB delete the markers whose time is over, and the relay see it.
    async fn pass_time(&self) {
        self.db.sweep_ttl();
        self.carry().await;
    }

    fn events(&self, event_type: &str) -> Vec<Value> {
        self.queues.events("notify").into_iter().filter(|event| event["event_type"] == event_type).collect()
    }

    fn markers(&self) -> Vec<i64> {
        let rows = self.db.scan("LinksTable").into_iter().filter(|item| item["sk"]["S"] == "EXPIRY");
        rows.map(|row| row["ttl"]["N"].as_str().unwrap().parse().unwrap()).collect()
    }

    async fn follow(&self, code: &str) -> Answer {
        RequestBuilder::new("GET", &format!("/r/{code}")).send_to(&redirect(&self.db)).await
    }

    async fn cleanup(&self, workspace: &WorkspaceId) -> Value {
        let token = token_for(workspace, Role::Admin);
        let request = RequestBuilder::new("GET", "/api/admin/cleanup/stats").token(&token);
        request.send_to(&stats(&self.db)).await.json()
    }
}

#[tokio::test]
async fn an_expired_link_answers_410_and_stays_until_its_tombstone_replaces_it() {
    let link = expired("launch");
    let gone = (410, "this link has expired".to_owned());
    let fixture = Fixture::with(&[&link]).await;
    assert_eq!(fixture.follow("launch").await.problem(), gone);

    fixture.pass_time().await;
    assert_eq!(fixture.follow("launch").await.problem(), gone);
    assert!(fixture.db.link("launch").await.expiry_is_published);
    assert_eq!(fixture.markers(), [due(link.availability.expires_at.unwrap().plus(KEPT_FOR))]);

    // An hour later.
    fixture.db.patch(link.id(), &expiring_at(ago(3_700))).await;
    fixture.carry().await;
    fixture.pass_time().await;
    fixture.pass_time().await;

    let Some(Record::Tombstone(tombstone)) = fixture.db.record("launch").await else { panic!("there is no tombstone") };
    assert_eq!(tombstone.reason, RemovalReason::Expired);
    assert_eq!(fixture.follow("launch").await.problem(), gone);
    // Its statistics stay, so nobody else may ever have the code.
    let row = fixture.db.scan("LinksTable").into_iter().find(|item| item["sk"]["S"] == "LINK").unwrap();
    assert_eq!((row.get("ttl"), fixture.markers()), (None, vec![]));
}

#[tokio::test]
async fn the_row_of_a_link_is_never_deleted_by_its_age() {
    let link = over("launch");
    let fixture = Fixture::with(&[&link]).await;

    // The relay is down.
    fixture.db.sweep_ttl();

    assert_eq!(fixture.db.link("launch").await, link);
}

#[tokio::test]
async fn an_expiry_is_published_once_however_often_its_record_is_delivered() {
    let link = expired("launch");
    let fixture = Fixture::with(&[&link]).await;
    fixture.db.sweep_ttl();
    let deletion = fixture.news();

    for _ in 0..3 {
        fixture.consume(deletion.clone()).await;
    }
    fixture.carry().await;

    let [event] = fixture.events("url.expired").try_into().unwrap();
    assert_eq!(event["user_id"], link.identity.owner.to_string());
    assert_eq!(event["occurred_at"], link.availability.expires_at.unwrap().to_string());
    let expected = (&json!("launch"), &json!(link.identity.id.generation.as_str()));
    assert_eq!((&event["short_code"], &event["generation"]), expected);
}

#[tokio::test]
async fn an_extended_link_redirects_again_and_expires_again() {
    let link = expired("launch");
    let fixture = Fixture::with(&[&link]).await;
    fixture.pass_time().await;

    let later = Timestamp::now().plus(Duration::from_secs(600));
    fixture.db.patch(link.id(), &expiring_at(later)).await;
    fixture.carry().await;
    assert_eq!(fixture.follow("launch").await.status, REDIRECT);
    assert_eq!(fixture.markers(), [due(later)]);
    fixture.db.patch(link.id(), &expiring_at(ago(30))).await;
    fixture.carry().await;
    fixture.pass_time().await;

    assert_eq!(fixture.events("url.expired").len(), 2);
    assert!(fixture.db.link("launch").await.expiry_is_published);
}

#[tokio::test]
async fn a_link_that_lost_its_expiry_is_left_alone() {
    let link = over("launch");
    let fixture = Fixture::with(&[&link]).await;

    fixture.db.patch(link.id(), &LinkPatch { expires_at: Some(None), ..LinkPatch::default() }).await;
    fixture.carry().await;
    fixture.pass_time().await;

    assert_eq!(fixture.follow("launch").await.status, REDIRECT);
    assert!(fixture.events("url.expired").is_empty());
}

#[tokio::test]
async fn a_marker_that_ends_too_early_is_written_again() {
    let later = Timestamp::now().plus(Duration::from_secs(600));
    let link = LinkBuilder::new("launch").expires_at(later).build();
    let fixture = Fixture::with(&[&link]).await;
    let marker = fixture.db.scan("LinksTable").into_iter().find(|item| item["sk"]["S"] == "EXPIRY").unwrap();

    // Somebody deletes it by hand.
    fixture.db.remove("LinksTable", &marker);
    assert!(fixture.markers().is_empty());
    fixture.carry().await;

    assert_eq!(fixture.markers(), [due(later)]);
    assert!(!fixture.db.link("launch").await.expiry_is_published);
}

#[tokio::test]
async fn an_old_record_that_is_delivered_again_puts_no_expiry_off() {
    let (later, earlier) = (Duration::from_secs(600), Duration::from_secs(300));
    let link = LinkBuilder::new("launch").expires_at(Timestamp::now().plus(later)).build();
    let fixture = Fixture::with(&[&link]).await;
    let creation = fixture.db.stream("LinksTable");
    let expiry = Timestamp::now().plus(earlier);
    fixture.db.patch(link.id(), &expiring_at(expiry)).await;
    fixture.carry().await;
    assert_eq!(fixture.markers(), [due(expiry)]);

    fixture.consume(creation).await;

    assert_eq!(fixture.markers(), [due(expiry)]);
}

#[tokio::test]
async fn a_purged_links_marker_leaves_the_next_link_of_its_code_alone() {
    let old = over("launch");
    let fixture = Fixture::with(&[&old]).await;
    let record = fixture.db.record("launch").await.unwrap();
    fixture.db.purge(&record).await;
    let new = LinkBuilder::new("launch").in_workspace(&old.identity.workspace).of_another_generation().build();
    fixture.db.store(&new).await;

    fixture.carry().await;
    fixture.pass_time().await;

    assert_eq!(fixture.db.link("launch").await, new);
    assert!(fixture.events("url.expired").is_empty());
}

#[tokio::test]
async fn the_code_stays_reserved_and_the_url_is_free() {
    let fixture = Fixture::with(&[]).await;
    let shorten = shorten(&fixture.db);
    let token = token_for(&WorkspaceId::generate(), Role::Member);
    let post = async |body: Value| {
        RequestBuilder::new("POST", "/api/shorten").token(&token).json(&body).send_to(&shorten).await
    };
    let first = post(json!({"url": "https://example.com", "custom_code": "launch"})).await;
    let code = first.text("short_code");
    // Its expiry is set later, and passes.
    let link = fixture.db.link(&code).await;
    fixture.db.patch(link.id(), &expiring_at(ago(7_200))).await;
    let entries = || fixture.db.scan("LinksTable").iter().filter(|item| item["sk"]["S"] == "URL").count();
    assert_eq!(entries(), 0);

    fixture.carry().await;
    fixture.pass_time().await;
    fixture.pass_time().await;

    assert_eq!(entries(), 0);
    let same_code = post(json!({"url": "https://example.com/other", "custom_code": code})).await;
    assert_eq!(same_code.problem(), (409, "short code already taken".into()));
    assert_eq!(post(json!({"url": "https://example.com"})).await.status, 201);
}

#[tokio::test]
async fn the_tombstones_of_a_workspace_are_one_run_of_its_cleanup() {
    let (ours, theirs) = (WorkspaceId::generate(), WorkspaceId::generate());
    let in_workspace = |code: &str, workspace| LinkBuilder::new(code).expires_at(ago(3_700)).in_workspace(workspace);
    let ours_all: Vec<_> = (0..7).map(|number| in_workspace(&format!("code{number}"), &ours).build()).collect();
    let their = in_workspace("other", &theirs).build();
    let fixture = Fixture::with(&ours_all.iter().chain([&their]).collect::<Vec<_>>()).await;
    let expected = json!({
        "last_cleanup_time": null, "total_cleaned": 0, "last_batch_size": 0, "successful_runs": 0, "failed_runs": 0,
        "average_cleanup_ms": 0.0, "is_running": false,
    });
    assert_eq!(fixture.cleanup(&ours).await, expected);

    fixture.pass_time().await;
    fixture.db.sweep_ttl();
    let deletions = fixture.news();
    for _ in 0..2 {
        fixture.consume(deletions.clone()).await;
    }

    let stats = fixture.cleanup(&ours).await;
    assert_eq!((&stats["total_cleaned"], &stats["last_batch_size"]), (&json!(7), &json!(7)));
    assert_eq!((&stats["successful_runs"], &stats["failed_runs"]), (&json!(1), &json!(0)));
    assert_eq!(stats["is_running"], false);
    assert!(stats["average_cleanup_ms"].as_f64().unwrap() > 0.0, "{stats}");
    assert!(Timestamp::parse(stats["last_cleanup_time"].as_str().unwrap()).is_ok());
    assert_eq!(fixture.cleanup(&theirs).await["total_cleaned"], 1);
}

#[tokio::test]
async fn a_marker_or_step_that_cannot_be_written_is_retried() {
    let fixture = Fixture { db: TestDynamoDb::start(), queues: FakeQueues::start(), carried: Cell::new(0) };
    fixture.db.store(&expired("launch")).await;
    let mut without_table = relay(&fixture.db, &fixture.queues);
    without_table.links = LinksTable(TestDynamoDb::unreachable_table("LinksTable"));

    for _step in ["the marker", "the link's expiry"] {
        let batch = fixture.news();
        let during = without_table.consume(batch.clone()).await;
        assert_eq!(during.batch_item_failures[0].item_identifier, batch.records[0].change.sequence_number);
        assert!(!fixture.db.link("launch").await.expiry_is_published);
        assert!(fixture.consume(batch).await.batch_item_failures.is_empty());
        fixture.db.sweep_ttl();
    }

    assert!(fixture.db.link("launch").await.expiry_is_published);
}

#[tokio::test]
async fn a_link_that_was_deleted_before_its_time_keeps_saying_so() {
    let link = over("launch");
    let fixture = Fixture::with(&[&link]).await;
    fixture.db.delete_as(&UserId::generate(), &link, Timestamp::now()).await;
    fixture.carry().await;

    fixture.pass_time().await;

    assert!(matches!(fixture.db.record("launch").await, Some(Record::Tombstone(_))));
    assert_eq!(fixture.follow("launch").await.problem(), (410, "this link was deleted".into()));
    assert!(fixture.events("url.expired").is_empty());
}

#[tokio::test]
async fn reading_an_expired_link_in_every_way_writes_nothing() {
    let db = TestDynamoDb::start();
    let link = expired("launch");
    db.store(&link).await;
    let writes = WriteCounter::default();
    let table = |name: &str| db.table_with(writes.clone(), name);
    let (links, stats) = (LinksTable(table("LinksTable")), StatsTable::new(table("StatsTable")));
    let clicks = ClicksTable::new(table("ClicksTable"));
    let redirect = redirect_with(links.clone(), clicks.clone(), db.calls());
    let list = List {
        authenticator: authenticator(),
        links: links.clone(),
        stats: stats.clone(),
        targets: WatchTable::new(table("WatchTable")),
        ..crate::fixture::list(&db)
    };
    let statistics = Stats { authenticator: authenticator(), stats, clicks, links, ..crate::fixture::stats(&db) };
    let token = token_for(&link.identity.workspace, Role::Viewer);
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
