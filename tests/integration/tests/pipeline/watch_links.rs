//! Links that watch: from the change of a link through its stream, with the filter of the template, to the target.

use std::{iter, time::Duration};

use aws_lambda_events::{dynamodb::EventRecord, streams::DynamoDbEventResponse};
use futures_util::future::join_all;
use linklet_domain::{Link, LinkIdentity, LinkPatch, Target, TargetId, TargetStatus, TargetUrl, Timestamp, UserId};
use linklet_dynamodb::WatchTable;
use linklet_lambda::batch::Consumer;
use linklet_test_support::{FakeQueues, Fault, Faults, LinkBuilder, Outage, TestDynamoDb};
use linklet_watch_links::WatchLinks;
use serde_json::{Value, json};

use crate::fixture::{due, per, relay, watch_links};
use crate::streams::{batch_of, is_let_through, json_of, retry_from};

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
        let news = self.news();
        relay(&self.db, &self.queues).consume(self.db.stream("LinksTable")).await;
        assert_eq!(retry_from(&self.consume(&news).await), None);
        assert!(self.queues.bodies("dlq").is_empty());
    }

    /// The records that the template's filter lets through.
    fn news(&self) -> Vec<EventRecord> {
        self.db
            .stream("LinksTable")
            .records
            .into_iter()
            .filter(|record| is_let_through("WatchLinksStream", record))
            .collect()
    }

    async fn consume(&self, records: &[EventRecord]) -> DynamoDbEventResponse {
        watch_links(&self.db, &self.queues).consume(batch_of(records)).await
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

    /// Changes a link, and carries that on.
    async fn change(&self, link: &Link, patch: LinkPatch) -> Link {
        let changed = self.db.patch(link.id(), &patch).await;
        self.carry().await;
        changed
    }

    async fn delete(&self, link: &Link) {
        self.db.delete(link).await;
        self.carry().await;
    }

    async fn purge(&self, link: &Link) {
        let record = self.db.record(link.code().as_str()).await.unwrap();
        self.db.purge(&record).await;
        self.carry().await;
    }

    /// Why the links were removed whose tombstones the filter lets through.
    fn removals(&self) -> Vec<Value> {
        let reason = |record: &EventRecord| json_of(record).pointer("/dynamodb/NewImage/tombstone/S").cloned();
        self.news().iter().filter_map(reason).collect()
    }
}

fn link(code: &str) -> LinkBuilder {
    LinkBuilder::new(code).to(URL)
}

fn target_id(link: &Link) -> TargetId {
    TargetId::of_url(&link.identity.workspace, &link.target).unwrap()
}

/// The records of these links' creation, in this order, as a stream has them.
async fn creations(links: impl IntoIterator<Item = &Link>) -> Vec<EventRecord> {
    let source = Fixture::new();
    for link in links {
        source.db.store(link).await;
    }
    source.news()
}

#[tokio::test]
async fn a_link_that_watches_makes_a_target_of_its_creators() {
    let fixture = Fixture::new();
    let owner = UserId::generate();

    let link = fixture.watching(link("launch").owned_by(&owner)).await;

    let target = fixture.target(&link).await.unwrap();
    assert_eq!((target.url.as_str(), &target.workspace, &target.owner), (URL, &link.identity.workspace, &owner));
    assert_eq!((target.registered, target.watchers, target.status), (false, 1, TargetStatus::Pending));
    let listed = fixture.db.watch().list(&link.identity.workspace, None, 10, None).await.unwrap();
    assert_eq!(listed.items[0].id, target.id);
    let row_of =
        |table: &str, key: &str| fixture.db.scan(table).into_iter().find(|item| item["sk"]["S"] == key).unwrap();
    let of_target = row_of("WatchTable", target.id.as_str());
    assert_eq!(of_target["correlation_id"], row_of("LinksTable", "LINK")["correlation_id"]);
}

#[tokio::test]
async fn a_link_that_doesnt_watch_is_no_news_here() {
    let fixture = Fixture::new();
    let plain = link("launch").build();
    let expired = link("expired").expires_at(Timestamp::now().minus(Duration::from_secs(3_700))).build();
    for link in [&plain, &expired] {
        fixture.db.store(link).await;
    }
    fixture.carry().await;
    fixture.db.sweep_ttl();
    fixture.delete(&plain).await;
    fixture.purge(&plain).await;

    // What the relay has written itself.
    fixture.carry().await;

    assert!(fixture.queues.bodies("notify").len() > 3);
    assert!(fixture.news().is_empty());
    // A redrive reads them all from the stream.
    let all = fixture.db.stream("LinksTable");
    assert_eq!(retry_from(&watch_links(&fixture.db, &fixture.queues).consume(all).await), None);
    assert!(fixture.db.scan("WatchTable").is_empty() && fixture.queues.bodies("dlq").is_empty());
}

#[tokio::test]
async fn the_last_of_several_links_takes_the_target_along() {
    let fixture = Fixture::new();
    let first = fixture.watching(link("first")).await;
    let second = fixture
        .watching(LinkBuilder::new("second").to("HTTPS://example.com:443/a/").in_workspace(&first.identity.workspace))
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
async fn a_link_stops_watching_when_it_expires_and_resumes_when_extended() {
    let fixture = Fixture::new();
    let ago = |seconds| Timestamp::now().minus(Duration::from_secs(seconds));
    let link = fixture.watching(link("launch").created_at(ago(120)).expires_at(ago(60))).await;
    assert_eq!(fixture.watchers(&link).await, Some(1));
    fixture.db.sweep_ttl();
    // The relay says on the link that it has expired, which is news.
    fixture.carry().await;
    fixture.carry().await;
    assert_eq!(fixture.watchers(&link).await, None);

    fixture.change(&link, in_an_hour()).await;

    assert_eq!(fixture.watchers(&link).await, Some(1));
    assert!(fixture.removals().is_empty());
}

#[tokio::test]
async fn a_resumed_link_watches_only_if_it_is_unexpired_by_then() {
    let fixture = Fixture::new();
    let now = Timestamp::now();
    // Each change of a link is later than its creation, so those of this one are later than its expiry.
    let link = fixture.watching(link("launch").created_at(now.plus(Duration::from_secs(1))).expires_at(now)).await;
    fixture.db.suspend(&link).await;

    fixture.db.resume(&link).await;
    fixture.carry().await;
    assert_eq!(fixture.watchers(&link).await, None, "its expiry isn't published yet");
    fixture.db.suspend(&link).await;
    fixture.db.links().publish_expiry(&fixture.db.link("launch").await).await.unwrap();
    fixture.change(&link, in_an_hour()).await;
    assert_eq!(fixture.watchers(&link).await, None, "it is suspended");
    fixture.db.resume(&link).await;
    fixture.carry().await;

    assert_eq!(fixture.watchers(&link).await, Some(1));
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
async fn a_switched_off_link_keeps_watching_until_it_is_deleted() {
    let fixture = Fixture::new();
    let link = fixture.watching(link("launch")).await;
    let changed = fixture.change(&link, LinkPatch { is_active: Some(false), ..LinkPatch::default() }).await;
    assert!(changed.watch);
    assert_eq!(fixture.watchers(&link).await, Some(1));

    fixture.delete(&changed).await;

    assert_eq!(fixture.watchers(&link).await, None);
    fixture.purge(&link).await;
    assert!(fixture.removals().is_empty(), "purging what is deleted is no news any more");
}

#[tokio::test]
async fn a_deleted_link_watches_nothing_whatever_the_order_of_its_records() {
    let (launch, other) = (link("launch").watching().build(), link("other").watching().build());
    let identity = LinkIdentity { workspace: launch.identity.workspace, ..other.identity };
    let other = Link { identity, ..other };
    let source = Fixture::new();
    source.db.store(&launch).await;
    source.delete(&launch).await;
    let news = source.news();
    let [begin, end] = news.as_slice() else { panic!("{news:?}") };
    let another = creations([&other]).await;
    let orders = [
        vec![begin, end],
        vec![end, begin],
        vec![begin, end, begin],
        vec![end, begin, end, begin],
        vec![begin, begin, end, end],
    ];

    for order in orders {
        let names: Vec<_> = order.iter().map(|record| record.event_name.as_str()).collect();
        let order: Vec<_> = order.iter().map(|record| (*record).clone()).collect();
        let singly = Fixture::new();
        for record in order.chunks(1) {
            singly.consume(record).await;
        }
        let together = Fixture::new();
        assert_eq!(retry_from(&together.consume(&order).await), None, "{names:?}");

        for fixture in [singly, together] {
            assert_eq!(fixture.watchers(&launch).await, None, "{names:?}");
            fixture.consume(&another).await;
            assert_eq!(fixture.watchers(&other).await, Some(1), "another link isn't kept from it");
        }
    }
}

#[tokio::test]
async fn unreadable_or_unmonitorable_links_are_parked_whole_and_delay_nobody() {
    let fixture = Fixture::new();
    let too_long = link("long").to(&format!("https://example.com/{}", "ü".repeat(1_000))).watching().build();
    let watching = link("launch").watching().build();
    let mut records = creations([&too_long, &watching]).await;
    let mut broken = json_of(&records[1]);
    broken["dynamodb"]["NewImage"]["created_at"] = json!({"S": "long ago"});
    records.insert(0, serde_json::from_value(broken).unwrap());

    let response = fixture.consume(&records).await;

    assert_eq!(retry_from(&response), None);
    assert_eq!(fixture.queues.events("dlq"), [json_of(&records[0]), json_of(&records[1])]);
    for message in fixture.queues.messages("dlq") {
        assert_eq!(message["MessageAttributes"]["consumer"]["StringValue"], "watch-links");
    }
    assert_eq!(fixture.watchers(&watching).await, Some(1));
}

#[tokio::test]
async fn the_last_link_to_give_up_watching_takes_its_target_along() {
    let fixture = Fixture::new();
    let (first, other) = (fixture.watching(link("first")).await, link("other"));
    let other = fixture.watching(other.in_workspace(&first.identity.workspace)).await;
    let give_up = async |link: &Link| {
        fixture.change(link, LinkPatch { watch: Some(false), ..LinkPatch::default() }).await;
    };
    assert_eq!(fixture.watchers(&first).await, Some(2));

    give_up(&first).await;
    assert_eq!(fixture.watchers(&first).await, Some(1));
    give_up(&first).await;
    assert_eq!(fixture.watchers(&first).await, Some(1), "once");
    give_up(&other).await;

    assert_eq!(fixture.watchers(&first).await, None);
    assert!(fixture.queues.events("notify").iter().all(|event| event["event_type"] == "url.created"));
}

#[tokio::test]
async fn a_link_begins_to_watch_again_but_not_after_its_expiry() {
    let fixture = Fixture::new();
    let (link, expired) = (fixture.watching(link("launch")).await, link("over").expires_at(Timestamp::now()));
    let expired = fixture.watching(expired.to("https://example.com/over")).await;
    let watch = async |link: &Link, on: bool| {
        let changed = fixture.change(link, LinkPatch { watch: Some(on), ..LinkPatch::default() }).await;
        fixture.watchers(&changed).await
    };

    assert_eq!((watch(&link, false).await, watch(&link, true).await), (None, Some(1)));
    fixture.db.links().publish_expiry(&expired).await.unwrap();
    assert_eq!((watch(&expired, false).await, watch(&expired, true).await), (None, None));
}

#[tokio::test]
async fn what_can_be_neither_read_nor_parked_comes_again() {
    let fixture = Fixture::new();
    let records = creations([&link("launch").watching().build()]).await;
    let mut broken = json_of(&records[0]);
    broken["dynamodb"]["NewImage"].as_object_mut().unwrap().remove("user_id");
    let broken: EventRecord = serde_json::from_value(broken).unwrap();
    fixture.queues.fail(Outage::Everything);

    let response = fixture.consume(&[broken]).await;

    assert_eq!(retry_from(&response), records[0].change.sequence_number);
}

#[tokio::test]
async fn a_link_without_room_for_its_target_watches_nothing_and_blocks_nobody() {
    let fixture = Fixture::new();
    let first = link("first").watching().build();
    let builder = LinkBuilder::new("second").to("https://example.com/b").in_workspace(&first.identity.workspace);
    let (second, third) = (builder.watching().build(), link("third").watching().build());
    let mut consumer = watch_links(&fixture.db, &fixture.queues);
    consumer.targets = fixture.db.watch().with_quota(per(1));
    let records = creations([&first, &second, &third]).await;

    for _ in 0..2 {
        assert_eq!(retry_from(&consumer.consume(batch_of(&records)).await), None);
    }

    let watchers = async || join_all([&first, &second, &third].map(|link| fixture.watchers(link))).await;
    assert_eq!(watchers().await, [Some(1), None, Some(1)], "the third is another workspace's");
    assert!(fixture.queues.bodies("dlq").is_empty());
    let source = Fixture::new();
    source.db.store(&second).await;
    source.delete(&second).await;
    assert_eq!(retry_from(&consumer.consume(batch_of(&source.news())).await), None);
    assert_eq!(watchers().await, [Some(1), None, Some(1)]);
    let (workspace, owner) = (&second.identity.workspace, &second.identity.owner);
    let other = consumer.targets.has_room(workspace, owner, &target_id(&second)).await.unwrap();
    assert!(!other, "the place of the first is still taken");
}

#[tokio::test]
async fn what_a_link_watches_counts_for_who_created_its_workspace() {
    let fixture = Fixture::new();
    let creator = fixture.db.register("creator").await;
    let link = LinkBuilder::new("watching").in_workspace(&creator.workspace).watching().build();
    assert_ne!(link.identity.owner, creator.id);

    let records = creations([&link]).await;
    assert_eq!(retry_from(&watch_links(&fixture.db, &fixture.queues).consume(batch_of(&records)).await), None);

    assert_eq!(due(&fixture.db.watch(), &target_id(&link)).await.workspace_creator, creator.id);
}

#[tokio::test]
async fn a_failed_record_comes_again_and_what_follows_waits_for_it() {
    let fixture = Fixture::new();
    let links = ["first", "second", "third"].map(|code| link(code).watching().build());
    let records = creations(&links).await;
    let faults = Faults::default();
    let mut consumer = watch_links(&fixture.db, &fixture.queues);
    consumer.targets = WatchTable::new(fixture.db.table_with(faults.clone(), "WatchTable"));
    // A link takes three calls.
    faults.plan(Some((3, Fault::NotSent)));

    let response = consumer.consume(batch_of(&records)).await;

    assert_eq!(retry_from(&response), records[1].change.sequence_number);
    let watchers = async || join_all(links.iter().map(|link| fixture.watchers(link))).await;
    assert_eq!(watchers().await, [Some(1), None, None]);
    assert_eq!(retry_from(&consumer.consume(batch_of(&records[1..])).await), None);
    assert_eq!(watchers().await, [Some(1); 3]);
    assert!(fixture.queues.bodies("dlq").is_empty());
}

/// As the runbook of dead-letter queues says, for records that have left their stream.
#[tokio::test]
async fn a_row_can_be_handed_in_as_a_record() {
    const EXTENDED: &str = "MODIFY of a link that was extended";
    let fixture = Fixture::new();
    let link = link("launch").watching().build();
    fixture.db.store(&link).await;
    let hand_in = async |event_name: &str| {
        let row = fixture.db.scan("LinksTable").into_iter().find(|row| row["sk"]["S"] == "LINK").unwrap();
        let mut before = row.clone();
        before["availability"]["M"].as_object_mut().unwrap().remove("deleted_at");
        if event_name == EXTENDED {
            before["expiry_is_published"] = json!({"BOOL": true});
            before["availability"]["M"]["expires_at"] = row["created_at"].clone();
        }
        let event_name = if event_name == EXTENDED { "MODIFY" } else { event_name };
        let record = json!({"eventName": event_name, "eventID": "by hand", "awsRegion": "", "dynamodb": {
            "SizeBytes": 0, "Keys": {"pk": row["pk"], "sk": row["sk"]}, "NewImage": row, "OldImage": before,
        }});
        assert_eq!(retry_from(&fixture.consume(&[serde_json::from_value(record).unwrap()]).await), None);
        fixture.watchers(&link).await
    };

    assert_eq!(hand_in(EXTENDED).await, Some(1));
    assert_eq!(hand_in("INSERT").await, Some(1));
    fixture.db.delete(&link).await;
    assert_eq!(hand_in("MODIFY").await, None);
}

/// Another expiry.
fn in_an_hour() -> LinkPatch {
    let later = Timestamp::now().plus(Duration::from_secs(3_600));
    LinkPatch { expires_at: Some(Some(later)), ..LinkPatch::default() }
}

/// A change of where a link leads.
fn to(url: &str) -> LinkPatch {
    LinkPatch { url: Some(TargetUrl::parse(url).unwrap()), ..LinkPatch::default() }
}

#[tokio::test]
async fn a_link_that_is_led_elsewhere_watches_there_and_back() {
    let fixture = Fixture::new();
    let first = fixture.watching(LinkBuilder::new("launch").to(URL)).await;

    let moved = fixture.change(&first, to("https://example.com/b")).await;
    fixture.carry().await;
    assert_eq!((fixture.watchers(&first).await, fixture.watchers(&moved).await), (None, Some(1)));

    let back = fixture.change(&first, to(URL)).await;
    fixture.carry().await;
    assert_eq!((fixture.watchers(&back).await, fixture.watchers(&moved).await), (Some(1), None));
}

#[tokio::test]
async fn a_new_destination_alone_is_watched_wherever_the_consumer_dies() {
    for last in [Fault::NotSent, Fault::AnswerLost] {
        for call in 0.. {
            let (fixture, faults) = (Fixture::new(), Faults::default());
            let first = fixture.watching(LinkBuilder::new("launch").to(URL)).await;
            let moved = fixture.db.patch(first.id(), &to("https://example.com/b")).await;
            let news = fixture.news();
            let targets = WatchTable::new(fixture.db.table_with(faults.clone(), "WatchTable"));
            let dying = WatchLinks { targets, ..watch_links(&fixture.db, &fixture.queues) };

            faults.plan_all(
                iter::once((call, last)).chain((call + 1..call + 1_000).map(|later| (later, Fault::NotSent))),
            );
            let is_alive = retry_from(&dying.consume(batch_of(&news)).await).is_none();
            assert_eq!(retry_from(&fixture.consume(&news).await), None);

            let watchers = (fixture.watchers(&first).await, fixture.watchers(&moved).await);
            assert_eq!(watchers, (None, Some(1)), "{last:?} at {call}");
            if is_alive {
                assert!(call > 1, "it made calls at which it could die");
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_new_fragment_keeps_a_link_watching_and_giving_up_ends_it() {
    let fixture = Fixture::new();
    let link = fixture.watching(LinkBuilder::new("launch").to(URL)).await;

    fixture.change(&link, to(&format!("{URL}#part"))).await;
    assert_eq!(fixture.watchers(&link).await, Some(1));

    let moved = fixture.change(&link, LinkPatch { watch: Some(false), ..to("https://example.com/b") }).await;
    assert_eq!((fixture.watchers(&link).await, moved.watch), (None, false));
    assert_eq!(fixture.watchers(&moved).await, None);
}

#[tokio::test]
async fn a_new_destination_after_the_expiry_is_not_watched() {
    let fixture = Fixture::new();
    let link = fixture.watching(LinkBuilder::new("launch").to(URL).expires_at(Timestamp::now())).await;

    let moved = fixture.change(&link, to("https://example.com/b")).await;
    fixture.db.links().publish_expiry(&moved).await.unwrap();
    fixture.carry().await;

    assert_eq!(fixture.watchers(&moved).await, None);
}
