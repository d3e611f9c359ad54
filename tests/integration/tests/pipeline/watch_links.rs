//! Links that watch: from the change of a link through its stream, the real relay and the queue to the target.

use std::{collections::BTreeSet, time::Duration};

use aws_lambda_events::sqs::SqsBatchResponse;
use futures_util::future::join_all;
use linklet_domain::{
    CorrelationId, EmailAddress, Event, EventDetail, EventId, Link, LinkPatch, Target, TargetId, TargetStatus,
    Timestamp, UrlCreated, UrlDeleted, UserId,
};
use linklet_dynamodb::WatchTable;
use linklet_lambda::batch::Consumer;
use linklet_test_support::{
    FakeQueues, LinkBuilder, TargetBuilder, TestDynamoDb, click_event, event_batch, queue_batch,
};
use serde_json::{Value, json};

use crate::fixture::{correlation, relay, watch_links};

const URL: &str = "https://example.com/a";

struct Fixture {
    db: TestDynamoDb,
    queues: FakeQueues,
}

impl Fixture {
    fn new() -> Self {
        Self { db: TestDynamoDb::start(), queues: FakeQueues::start() }
    }

    /// Carries all that has happened to links to their targets, what was carried before once more.
    async fn carry(&self) {
        relay(&self.db, &self.queues).consume(self.db.stream("LinksTable")).await;
        let response = self.consume(&self.queues.bodies("watch-links")).await;
        assert!(failed(&response).is_empty(), "{response:?}");
        assert!(self.queues.bodies("dlq").is_empty());
    }

    async fn consume(&self, bodies: &[String]) -> SqsBatchResponse {
        watch_links(&self.db, &self.queues).consume(queue_batch(bodies)).await
    }

    async fn target(&self, link: &Link) -> Option<Target> {
        self.db.watch().find(&target_id(link)).await.unwrap()
    }

    async fn watchers(&self, link: &Link) -> Option<u64> {
        self.target(link).await.map(|target| target.watchers)
    }

    /// Stores a watching link, whose target is known from then on.
    async fn watching(&self, link: LinkBuilder) -> Link {
        let link = link.watching().build();
        self.db.store(&link).await;
        self.carry().await;
        link
    }

    async fn delete(&self, link: &Link) {
        self.db.links().delete(link, &link.owner, Timestamp::now(), &correlation()).await.unwrap();
        self.carry().await;
    }

    async fn purge(&self, link: &Link) {
        let record = self.db.record(link.code.as_str()).await.unwrap();
        self.db.links().purge(&record, Timestamp::now(), &correlation()).await.unwrap();
        self.carry().await;
    }

    fn types(&self) -> BTreeSet<String> {
        let text = |event: &Value| event["event_type"].as_str().unwrap().to_owned();
        self.queues.events("watch-links").iter().map(text).collect()
    }
}

fn link(code: &str) -> LinkBuilder {
    LinkBuilder::new(code).to(URL)
}

fn target_id(link: &Link) -> TargetId {
    TargetId::of_url(&link.workspace, &link.target).unwrap()
}

fn failed(response: &SqsBatchResponse) -> Vec<&str> {
    response.batch_item_failures.iter().map(|failure| failure.item_identifier.as_str()).collect()
}

fn event(detail: EventDetail) -> Event {
    Event {
        event_id: EventId::generate(),
        occurred_at: Timestamp::now(),
        correlation_id: CorrelationId::generate(),
        detail,
    }
}

fn created(link: &Link) -> Event {
    event(EventDetail::UrlCreated(UrlCreated {
        short_code: link.code.clone(),
        original_url: link.target.clone(),
        workspace_id: link.workspace.clone(),
        user_id: link.owner.clone(),
        user_email: link.owner_email.clone(),
        expires_at: None,
        watch: link.watch,
    }))
}

fn deleted(link: &Link) -> Event {
    event(EventDetail::UrlDeleted(UrlDeleted {
        short_code: link.code.clone(),
        original_url: link.target.clone(),
        workspace_id: link.workspace.clone(),
        user_id: link.owner.clone(),
        deleted_by: link.owner.clone(),
        watched_target: link.watched_target(),
    }))
}

fn body(event: &Event) -> String {
    serde_json::to_string(event).unwrap()
}

#[tokio::test]
async fn a_link_that_watches_makes_a_target_of_its_creators() {
    let fixture = Fixture::new();
    let owner = UserId::generate();

    let link = fixture.watching(link("launch").owned_by(&owner)).await;

    let target = fixture.target(&link).await.unwrap();
    assert_eq!((target.url.as_str(), &target.workspace, &target.owner), (URL, &link.workspace, &owner));
    assert_eq!(target.owner_email, EmailAddress::parse("ada@example.com").unwrap());
    assert_eq!((target.registered, target.watchers, target.status), (false, 1, TargetStatus::Pending));
    let listed = fixture.db.watch().list(&link.workspace, None, 10, None).await.unwrap();
    assert_eq!(listed.items[0].id, target.id);
    let row_of =
        |table: &str, key: &str| fixture.db.scan(table).into_iter().find(|item| item["sk"]["S"] == key).unwrap();
    let of_target = row_of("WatchTable", target.id.as_str());
    assert_eq!(of_target["correlation_id"], row_of("LinksTable", "LINK")["correlation_id"]);
}

#[tokio::test]
async fn the_events_say_what_is_watched() {
    let fixture = Fixture::new();
    let link = fixture.watching(link("launch")).await;
    fixture.delete(&link).await;

    let events = fixture.queues.events("watch-links");

    let (created, deleted) = (&events[0], events.last().unwrap());
    assert_eq!((&created["event_type"], &created["watch"]), (&json!("url.created"), &json!(true)));
    assert_eq!(deleted["event_type"], "url.deleted");
    assert_eq!(deleted["watched_target"], target_id(&link).as_str());
    let told = fixture.queues.events("notify");
    assert_eq!(events.iter().filter(|event| !told.contains(event)).count(), 0, "the notifications go on");
}

#[tokio::test]
async fn a_link_that_doesnt_watch_is_no_news_here() {
    let fixture = Fixture::new();
    let plain = link("launch").build();
    let expired = link("expired").expires_at(Timestamp::now().minus(Duration::from_secs(3_700))).build();
    for link in [&plain, &expired] {
        fixture.db.store(link).await;
    }
    fixture.db.sweep_ttl();
    fixture.delete(&plain).await;
    fixture.purge(&plain).await;

    // What the relay has written itself.
    fixture.carry().await;

    assert!(fixture.queues.bodies("notify").len() > 3);
    assert!(fixture.queues.bodies("watch-links").is_empty());
    assert!(fixture.db.scan("WatchTable").is_empty());
}

#[tokio::test]
async fn the_last_of_several_links_takes_the_target_along() {
    let fixture = Fixture::new();
    let first = fixture.watching(link("first")).await;
    let second = fixture
        .watching(LinkBuilder::new("second").to("HTTPS://example.com:443/a/").in_workspace(&first.workspace))
        .await;
    let elsewhere = fixture.watching(link("third")).await;
    assert_eq!(fixture.watchers(&second).await, Some(2), "one URL, written differently");

    fixture.delete(&first).await;
    assert_eq!(fixture.watchers(&second).await, Some(1));
    fixture.purge(&second).await;

    assert_eq!(fixture.watchers(&second).await, None);
    assert_eq!(fixture.watchers(&elsewhere).await, Some(1), "another workspace's");
}

#[tokio::test]
async fn a_target_that_is_registered_too_outlives_its_links() {
    let fixture = Fixture::new();
    let link = fixture.watching(link("launch")).await;
    let registered = TargetBuilder::new(URL).in_workspace(&link.workspace).build();
    fixture.db.watch().register(&registered, None, &correlation()).await.unwrap();

    fixture.delete(&link).await;

    assert_eq!(fixture.watchers(&link).await, Some(0));
}

#[tokio::test]
async fn a_link_that_dynamodb_deletes_when_its_time_is_over_ceases_to_watch() {
    let fixture = Fixture::new();
    let link = fixture.watching(link("launch").expires_at(Timestamp::now().minus(Duration::from_secs(3_700)))).await;
    assert_eq!(fixture.watchers(&link).await, Some(1));
    fixture.db.sweep_ttl();
    // The relay buries it, and then sees the tombstone.
    fixture.carry().await;
    assert_eq!(fixture.watchers(&link).await, Some(1));

    fixture.carry().await;

    assert_eq!(fixture.watchers(&link).await, None);
    assert!(fixture.types().contains("url.expired"));
}

#[tokio::test]
async fn a_purged_link_ceases_to_watch_and_leaves_nothing_of_its_url() {
    let fixture = Fixture::new();
    let link = fixture.watching(link("launch")).await;

    fixture.purge(&link).await;

    assert_eq!(fixture.watchers(&link).await, None);
    let left = serde_json::to_string(&fixture.db.scan("LinksTable")).unwrap();
    assert!(!left.contains("example.com"), "{left}");
}

#[tokio::test]
async fn a_link_that_is_switched_off_goes_on_watching_until_it_is_deleted() {
    let fixture = Fixture::new();
    let link = fixture.watching(link("launch")).await;
    let off = LinkPatch { is_active: Some(false), ..LinkPatch::default() };
    let changed = fixture.db.links().update(&link.code, &off).await.unwrap().unwrap();
    fixture.carry().await;
    assert!(changed.watch);
    assert_eq!(fixture.watchers(&link).await, Some(1));

    fixture.delete(&changed).await;

    assert_eq!(fixture.watchers(&link).await, None);
}

#[tokio::test]
async fn purging_what_is_deleted_is_no_news_any_more() {
    let fixture = Fixture::new();
    let link = fixture.watching(link("launch")).await;
    fixture.delete(&link).await;

    fixture.purge(&link).await;

    assert_eq!(fixture.types(), ["url.created", "url.deleted"].map(str::to_owned).into());
}

#[tokio::test]
async fn in_whichever_order_and_however_often_the_news_come_a_deleted_link_watches_nothing() {
    let (launch, other) = (link("launch").watching().build(), link("other").watching().build());
    let other = Link { workspace: launch.workspace.clone(), ..other };
    let (begin, end) = (created(&launch), deleted(&launch));
    let orders = [
        vec![&begin, &end],
        vec![&end, &begin],
        vec![&begin, &end, &begin],
        vec![&end, &begin, &end, &begin],
        vec![&begin, &begin, &end, &end],
    ];

    for order in orders {
        let types: Vec<_> = order.iter().map(|event| event.event_type()).collect();
        let singly = Fixture::new();
        for event in &order {
            singly.consume(&[body(event)]).await;
        }
        let together = Fixture::new();
        let all: Vec<_> = order.iter().map(|event| body(event)).collect();
        assert!(failed(&together.consume(&all).await).is_empty(), "{types:?}");

        for fixture in [singly, together] {
            assert_eq!(fixture.watchers(&launch).await, None, "{types:?}");
            fixture.consume(&[body(&created(&other))]).await;
            assert_eq!(fixture.watchers(&other).await, Some(1), "another link isn't kept from it");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_new_links_at_once_are_ten_watchers() {
    let fixture = Fixture::new();
    let first = link("link0").watching().build();
    let links: Vec<_> = (0..10)
        .map(|number| link(&format!("link{number}")).watching().in_workspace(&first.workspace).build())
        .collect();
    let events: Vec<_> = links.iter().map(created).collect();

    // Each of three environments has them all.
    let consumers: Vec<_> = (0..3).map(|_| watch_links(&fixture.db, &fixture.queues)).collect();
    let mut pending = events.clone();
    while !pending.is_empty() {
        let batches = consumers.iter().map(|consumer| consumer.consume(event_batch(&pending)));
        let responses = join_all(batches).await;
        // As SQS does: what failed comes again.
        let again: BTreeSet<usize> = responses.iter().flat_map(failed).map(|id| id.parse().unwrap()).collect();
        pending = again.into_iter().map(|position| pending[position].clone()).collect();
    }

    assert_eq!(fixture.watchers(&first).await, Some(10));
}

#[tokio::test]
async fn what_is_no_news_is_parked_and_holds_up_nobody() {
    let fixture = Fixture::new();
    let (plain, watching) = (link("plain").build(), link("launch").watching().build());
    let too_long = link("long").to(&format!("https://example.com/{}", "ü".repeat(1_000))).watching().build();
    let bodies = [
        "{".to_owned(),
        body(&click_event("launch", Timestamp::now())),
        body(&created(&plain)),
        body(&deleted(&plain)),
        body(&created(&too_long)),
        body(&created(&watching)),
    ];

    let response = fixture.consume(&bodies).await;

    assert!(failed(&response).is_empty());
    let parked: BTreeSet<_> = fixture.queues.bodies("dlq").into_iter().collect();
    assert_eq!(parked, bodies[..5].iter().cloned().collect());
    assert_eq!(fixture.watchers(&watching).await, Some(1));
}

#[tokio::test]
async fn what_could_not_be_stored_comes_again() {
    let fixture = Fixture::new();
    let link = link("launch").watching().build();
    let mut broken = watch_links(&fixture.db, &fixture.queues);
    broken.targets = WatchTable::new(TestDynamoDb::unreachable(), "WatchTable");

    let response = broken.consume(event_batch(&[created(&link)])).await;

    assert_eq!(failed(&response), ["0"]);
    assert!(fixture.queues.bodies("dlq").is_empty());
}

#[tokio::test]
async fn the_sample_event_is_understood() {
    let fixture = Fixture::new();
    let sample = include_str!("../../../../functions/watch-links/events/created.json");

    let response = watch_links(&fixture.db, &fixture.queues).consume(serde_json::from_str(sample).unwrap()).await;

    assert!(failed(&response).is_empty());
    let rows = fixture.db.scan("WatchTable");
    assert!(rows.iter().any(|row| row["url"]["S"] == "https://example.com/"), "{rows:?}");
}
