//! WatchTable: one target per URL, one result per round, one event per change.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use aws_sdk_dynamodb::{
    Client,
    config::{
        ConfigBag, Intercept, RuntimeComponents, interceptors::FinalizerInterceptorContextMut, retry::RetryConfig,
    },
    error::BoxError,
    operation::scan::ScanOutput,
};
use futures_util::future::join_all;
use linklet_domain::{
    CheckError, CheckOutcome, CheckResult, CorrelationId, Event, EventDetail, Generation, Host, IdempotencyKey, LinkId,
    PageToken, Phase, Shard, Target, TargetId, TargetStatus, Timestamp, WatcherState, WorkspaceId, lifetimes,
};
use linklet_dynamodb::{
    DeleteTargetOutcome, DueTarget, RegisteredTarget, RepositoryError, RequestKey, RoundOutcome, RoundRecord,
    ShardRange, TargetRegistration, WatchOutcome, WatchTable, stream::change_of,
};
use linklet_test_support::{CapacityMeter, Fault, Faults, Rendezvous, TargetBuilder, TestDynamoDb, link_id};
use proptest::prelude::*;
use serde_json::Value;

use crate::fixture::{correlation, damage};

const GOOD: CheckOutcome = CheckOutcome::Answered(200);
const FAILED: CheckOutcome = CheckOutcome::Answered(503);
const INTERVAL: Duration = Duration::from_secs(15);

fn noon() -> Timestamp {
    Timestamp::parse("2026-03-02T12:00:00Z").unwrap()
}

fn target_at(workspace: &WorkspaceId, url: &str, created_at: Timestamp) -> Target {
    TargetBuilder::new(url).in_workspace(workspace).created_at(created_at).build()
}

fn target(url: &str) -> Target {
    target_at(&WorkspaceId::generate(), url, noon())
}

/// The key with the one body that requests have unless a test says otherwise.
fn with(key: &IdempotencyKey) -> RequestKey<'_> {
    RequestKey { key, fingerprint: "body" }
}

fn done(registration: Result<TargetRegistration, RepositoryError>) -> RegisteredTarget {
    match registration.unwrap() {
        TargetRegistration::Done(registered) => registered,
        other => panic!("{other:?}"),
    }
}

fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).unwrap()
}

/// A table, a target in it, and the rounds that check it.
struct Monitored {
    db: TestDynamoDb,
    target: Target,
}

impl Monitored {
    async fn new() -> Self {
        let db = TestDynamoDb::start();
        let wanted = target("https://example.com/a");
        let target = done(db.watch().register(&wanted, None, &correlation()).await).target;
        Self { db, target }
    }

    async fn now(&self) -> Target {
        self.db.watch().find(&self.target.id).await.unwrap().unwrap()
    }

    async fn status(&self) -> TargetStatus {
        self.now().await.status
    }

    /// The result of the round with this number, checked a second after its slot.
    async fn round(&self, number: u32, known_status: TargetStatus, outcome: CheckOutcome) -> RoundOutcome {
        record(&self.db.watch(), &self.target.id, number, known_status, outcome).await.unwrap()
    }

    /// The result of the round with this number, planned with the status that the target has.
    async fn next_round(&self, number: u32, outcome: CheckOutcome) -> RoundOutcome {
        self.round(number, self.status().await, outcome).await
    }

    async fn results(&self) -> Vec<CheckResult> {
        self.db.watch().results(&self.now().await, None, 100, noon().plus(INTERVAL * 1_000)).await.unwrap()
    }

    /// What the table's stream publishes.
    fn events(&self) -> Vec<Event> {
        events(&self.db)
    }

    fn event_types(&self) -> Vec<&'static str> {
        self.events().iter().map(Event::event_type).collect()
    }
}

fn events(db: &TestDynamoDb) -> Vec<Event> {
    let records = db.stream("WatchTable").records;
    records.iter().flat_map(|record| change_of(record).unwrap().into_events()).collect()
}

fn slot(number: u32) -> Timestamp {
    noon().plus(INTERVAL * number)
}

async fn record(
    table: &WatchTable,
    id: &TargetId,
    number: u32,
    known_status: TargetStatus,
    outcome: CheckOutcome,
) -> Result<RoundOutcome, RepositoryError> {
    let checked_at = slot(number).plus(Duration::from_secs(1));
    let result = CheckResult { checked_at, outcome, latency_ms: u64::from(number) };
    table.record(RoundRecord { target: id, slot: slot(number), known_status, result: &result }).await
}

/// How many targets the workspace has by its own count.
fn counted(db: &TestDynamoDb, workspace: &WorkspaceId) -> usize {
    let rows = db.scan("WatchTable");
    let row = rows.iter().find(|row| row["pk"]["S"] == format!("WS#{workspace}") && row["sk"]["S"] == "TARGETS");
    row.map_or(0, |row| row["targets"]["N"].as_str().unwrap().parse().unwrap())
}

fn watcher(db: &TestDynamoDb, link: &LinkId) -> Value {
    db.scan("WatchTable").into_iter().find(|row| row["sk"]["S"] == format!("LINK#{link}")).unwrap()
}

/// The number of the table's items whose partition begins so.
fn count(db: &TestDynamoDb, partition: &str) -> usize {
    db.scan("WatchTable").iter().filter(|item| item["pk"]["S"].as_str().unwrap().starts_with(partition)).count()
}

// ---------------------------------------------------------------------------------------------------------- Registering

#[tokio::test]
async fn a_target_is_read_as_it_was_registered() {
    let db = TestDynamoDb::start();
    let wanted = target("https://EXAMPLE.com:443/ä/?b=c#d");

    let registered = done(db.watch().register(&wanted, None, &correlation()).await);

    assert!(registered.is_new);
    assert_eq!(registered.target, Target { registered: true, ..wanted.clone() });
    assert_eq!(db.watch().find(&wanted.id).await.unwrap(), Some(registered.target));
    assert_eq!(db.watch().find(&TargetId::from_number(7)).await.unwrap(), None);
}

#[tokio::test]
async fn a_url_has_one_target_however_it_is_written() {
    let db = TestDynamoDb::start();
    let first = target("https://example.com/a");
    let again = target_at(&first.workspace, "HTTPS://Example.com:443/a/#b", noon().plus(INTERVAL));

    let registered = done(db.watch().register(&first, None, &correlation()).await);
    let found = done(db.watch().register(&again, None, &correlation()).await);

    assert!(registered.is_new && !found.is_new);
    assert_eq!(found.target, registered.target, "the first URL and time stay");
    assert_eq!(count(&db, "TARGET#"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_registrations_of_one_url_at_once_make_one_target() {
    let db = TestDynamoDb::start();
    let (table, workspace, ids) = (db.watch(), WorkspaceId::generate(), correlation());
    let wanted: Vec<_> = (0..50).map(|_| target_at(&workspace, "https://example.com/a", noon())).collect();
    let keys: Vec<_> = (0..50).map(|number| (number % 2 == 0).then(|| key(&format!("key-{number}")))).collect();

    let keys: Vec<_> = keys.iter().map(|key| key.as_ref().map(with)).collect();

    let registering = wanted.iter().zip(&keys).map(|(wanted, key)| table.register(wanted, key.as_ref(), &ids));
    let registered: Vec<_> = join_all(registering).await.into_iter().map(done).collect();

    assert_eq!(registered.iter().filter(|registered| registered.is_new).count(), 1);
    assert_eq!(registered.iter().map(|registered| &registered.target.owner).collect::<BTreeSet<_>>().len(), 1);
    assert_eq!((count(&db, "TARGET#"), count(&db, "IDEM#")), (1, 25));
}

#[tokio::test]
async fn a_known_key_gets_its_target_as_it_is_now() {
    let monitored = Monitored::new().await;
    let (table, first) =
        (monitored.db.watch(), target_at(&monitored.target.workspace, "https://example.com/b", noon()));
    let of_new = done(table.register(&first, Some(&with(&key("new"))), &correlation()).await);
    let of_known = done(table.register(&monitored.target, Some(&with(&key("known"))), &correlation()).await);
    for id in [&first.id, &monitored.target.id] {
        record(&table, id, 1, TargetStatus::Pending, GOOD).await.unwrap();
    }

    let later = |target: &Target| Target { created_at: noon().plus(INTERVAL * 9), ..target.clone() };
    let again = table.register(&later(&first), Some(&with(&key("new"))), &correlation()).await;
    let known_again = table.register(&later(&monitored.target), Some(&with(&key("known"))), &correlation()).await;

    assert_eq!([&of_new, &of_known].map(|answer| answer.is_new), [true, false]);
    for (again, first) in [(done(again), of_new), (done(known_again), of_known)] {
        let now = table.find(&first.target.id).await.unwrap().unwrap();
        assert_eq!(now.status, TargetStatus::Up);
        assert_eq!(again, RegisteredTarget { target: now, is_new: false });
    }
}

#[tokio::test]
async fn a_key_of_another_request_is_refused_and_registers_nothing() {
    let db = TestDynamoDb::start();
    let (first, table) = (target("https://example.com/a"), db.watch());
    let other = target_at(&first.workspace, "https://example.com/b", noon().plus(INTERVAL));
    done(table.register(&first, Some(&with(&key("k"))), &correlation()).await);
    let key = key("k");
    let another = RequestKey { key: &key, fingerprint: "another body" };

    let looked_up = table.first_registration(&first.workspace, &another, noon().plus(INTERVAL)).await.unwrap();
    let registered = table.register(&other, Some(&another), &correlation()).await.unwrap();

    assert_eq!([looked_up, Some(registered)], [const { Some(TargetRegistration::KeyReused) }; 2]);
    assert_eq!(count(&db, "TARGET#"), 1, "the other URL is not registered");
}

#[tokio::test]
async fn a_key_that_came_with_a_known_url_is_known_from_then_on() {
    let db = TestDynamoDb::start();
    let (first, table) = (target("https://example.com/a"), db.watch());
    done(table.register(&first, None, &correlation()).await);
    let key = key("k");
    let first_answer = async || table.first_registration(&first.workspace, &with(&key), noon()).await.unwrap();
    assert_eq!(first_answer().await, None);

    let registered = table.register(&first, Some(&with(&key)), &correlation()).await.unwrap();

    assert_eq!(first_answer().await, Some(registered), "it was not new then either");
}

#[tokio::test]
async fn a_key_is_forgotten_after_a_day_even_if_its_row_is_still_there() {
    let db = TestDynamoDb::start();
    let (first, table) = (target("https://example.com/a"), db.watch());
    done(table.register(&first, Some(&with(&key("k"))), &correlation()).await);
    let registered = async |url: &str, hours: u64, fingerprint: &str| {
        let wanted = target_at(&first.workspace, url, noon().plus(Duration::from_secs(hours * 3_600)));
        let key = key("k");
        table.register(&wanted, Some(&RequestKey { key: &key, fingerprint }), &correlation()).await.unwrap()
    };

    assert_eq!(registered("https://example.com/b", 23, "b").await, TargetRegistration::KeyReused);
    assert!(done(Ok(registered("https://example.com/b", 24, "b").await)).is_new);
    assert_eq!(registered("https://example.com/c", 25, "c").await, TargetRegistration::KeyReused);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_bodies_with_one_key_at_once_one_is_registered() {
    let db = TestDynamoDb::start();
    let workspace = WorkspaceId::generate();
    let client = db.client_with(Rendezvous::of(2));

    let registering = ["https://example.com/a", "https://example.com/b"].map(|url| {
        let (table, wanted) = (WatchTable::new(client.clone(), "WatchTable"), target_at(&workspace, url, noon()));
        tokio::spawn(async move {
            let key = key("k");
            table.register(&wanted, Some(&RequestKey { key: &key, fingerprint: url }), &correlation()).await.unwrap()
        })
    });

    let registered = join_all(registering).await.into_iter().map(Result::unwrap);
    assert_eq!(registered.filter(|registration| *registration == TargetRegistration::KeyReused).count(), 1);
    assert_eq!((count(&db, "TARGET#"), count(&db, "IDEM#")), (1, 1));
}

#[tokio::test]
async fn a_key_whose_target_was_deleted_serves_for_the_next_one() {
    let db = TestDynamoDb::start();
    let (first, table) = (target("https://example.com/a"), db.watch());
    done(table.register(&first, Some(&with(&key("k"))), &correlation()).await);
    table.delete(&first.workspace, &first.id).await.unwrap();
    let other = target_at(&first.workspace, "https://example.com/b", noon());
    let key = key("k");
    let another = RequestKey { key: &key, fingerprint: "another body" };

    let registered = done(table.register(&other, Some(&another), &correlation()).await);

    assert_eq!((registered.is_new, &registered.target.id), (true, &other.id));
    let replayed = table.register(&first, Some(&with(&key)), &correlation()).await.unwrap();
    assert_eq!(replayed, TargetRegistration::KeyReused);
}

#[tokio::test]
async fn a_key_does_not_answer_with_a_later_target_of_the_same_url() {
    let db = TestDynamoDb::start();
    let (first, table) = (target("https://example.com/a"), db.watch());
    done(table.register(&first, Some(&with(&key("k"))), &correlation()).await);
    table.delete(&first.workspace, &first.id).await.unwrap();
    let later = Target { created_at: noon().plus(INTERVAL), status_since: noon().plus(INTERVAL), ..first.clone() };
    done(table.register(&later, None, &correlation()).await);

    let again = done(table.register(&later, Some(&with(&key("k"))), &correlation()).await);

    assert_eq!((again.is_new, again.target.created_at), (false, later.created_at));
}

#[tokio::test]
async fn a_key_whose_target_came_back_by_a_link_registers_it_anew() {
    let db = TestDynamoDb::start();
    let (wanted, table) = (target("https://example.com/a"), db.watch());
    done(table.register(&wanted, Some(&with(&key("k"))), &correlation()).await);
    table.delete(&wanted.workspace, &wanted.id).await.unwrap();
    table.watch(&wanted, &link_id("launch"), noon(), &correlation()).await.unwrap();

    let registered = done(table.register(&wanted, Some(&with(&key("k"))), &correlation()).await);

    assert!(!registered.is_new);
    assert!(table.find(&wanted.id).await.unwrap().unwrap().registered);
}

#[tokio::test]
async fn workspaces_share_neither_targets_nor_keys() {
    let db = TestDynamoDb::start();
    let (ours, theirs) = (target("https://example.com/a"), target("https://example.com/a"));

    for wanted in [&ours, &theirs] {
        assert!(done(db.watch().register(wanted, Some(&with(&key("k"))), &correlation()).await).is_new);
    }

    assert_ne!(ours.id, theirs.id);
    for wanted in [&ours, &theirs] {
        let host = wanted.canonical_url.host();
        for host in [None, Some(&host)] {
            let page = db.watch().list(&wanted.workspace, host, 100, None).await.unwrap();
            assert_eq!(page.items.iter().map(|listed| &listed.id).collect::<Vec<_>>(), [&wanted.id]);
        }
    }
}

#[tokio::test]
async fn registering_again_after_a_lost_answer_is_still_the_first_time() {
    let db = TestDynamoDb::start();
    let faults = Faults::default();
    let table = WatchTable::new(retrying(&db, &faults), "WatchTable");
    let wanted = target("https://example.com/a");
    // Calls: the key, the target, the transaction.
    faults.plan(Some((2, Fault::AnswerLost)));

    let registered = done(table.register(&wanted, Some(&with(&key("k"))), &correlation()).await);

    assert!(registered.is_new);
    assert_eq!((count(&db, "TARGET#"), count(&db, "IDEM#")), (1, 1));
}

// -------------------------------------------------------------------------------------------------------------- Listing

/// All pages of a list.
async fn walk(db: &TestDynamoDb, workspace: &WorkspaceId, host: Option<&Host>, limit: usize) -> Vec<TargetId> {
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = db.watch().list(workspace, host, limit, after.as_ref()).await.unwrap();
        assert!(page.items.len() <= limit);
        seen.extend(page.items.into_iter().map(|listed| listed.id));
        // As a client carries it.
        after = page.next.map(|token| PageToken::decode(&token.encode()).unwrap());
        if after.is_none() {
            return seen;
        }
    }
}

#[tokio::test]
async fn pages_neither_skip_nor_repeat_targets_of_one_moment() {
    let db = TestDynamoDb::start();
    let workspace = WorkspaceId::generate();
    let mut expected = Vec::new();
    for number in 0..30_u64 {
        let moment = noon().plus(Duration::from_secs(number / 12));
        let wanted = target_at(&workspace, &format!("https://example.com/{number}"), moment);
        done(db.watch().register(&wanted, None, &correlation()).await);
        expected.push((wanted.created_at, wanted.id));
    }
    expected.sort();
    let expected: Vec<_> = expected.into_iter().map(|(_, id)| id).collect();

    for limit in [1, 7, 10, 29, 30, 31] {
        assert_eq!(walk(&db, &workspace, None, limit).await, expected, "pages of {limit}");
    }
}

#[tokio::test]
async fn the_row_behind_a_token_may_be_gone() {
    let db = TestDynamoDb::start();
    let workspace = WorkspaceId::generate();
    for number in 0..3 {
        let moment = noon().plus(INTERVAL * number);
        let wanted = target_at(&workspace, &format!("https://example.com/{number}"), moment);
        done(db.watch().register(&wanted, None, &correlation()).await);
    }
    let first = db.watch().list(&workspace, None, 1, None).await.unwrap();

    db.watch().delete(&workspace, &first.items[0].id).await.unwrap();

    let rest = db.watch().list(&workspace, None, 5, first.next.as_ref()).await.unwrap();
    let urls: Vec<_> = rest.items.iter().map(|listed| listed.url.as_str()).collect();
    assert_eq!(urls, ["https://example.com/1", "https://example.com/2"]);
}

#[tokio::test]
async fn a_host_has_its_targets_on_all_ports_and_schemes_and_no_others() {
    let db = TestDynamoDb::start();
    let workspace = WorkspaceId::generate();
    let urls = [
        "https://münchen.de/a",
        "http://xn--mnchen-3ya.de:8080/b",
        "https://www.münchen.de/a",
        "https://example.com/münchen.de",
    ];
    for url in urls {
        done(db.watch().register(&target_at(&workspace, url, noon()), None, &correlation()).await);
    }

    let host = Host::parse("MÜNCHEN.de").unwrap();
    let found = walk(&db, &workspace, Some(&host), 1).await;

    let expected: BTreeSet<_> = urls[..2].iter().map(|url| target_at(&workspace, url, noon()).id).collect();
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
}

#[tokio::test]
async fn a_target_with_the_longest_url_and_host_fits_every_key() {
    let db = TestDynamoDb::start();
    let host = format!("{0}.{0}.{0}.{1}.com", "a".repeat(63), "b".repeat(57));
    let wanted = target(&format!("https://{host}/{}", "x".repeat(2_048 - 9 - 253)));

    done(db.watch().register(&wanted, Some(&with(&key(&"k".repeat(255)))), &correlation()).await);

    let host = Host::parse(&host).unwrap();
    assert_eq!(walk(&db, &wanted.workspace, Some(&host), 10).await, [wanted.id]);
}

// ------------------------------------------------------------------------------------------------------------- Dispatch

/// A shard's targets in the order in which a walk from a place comes by, so many in a page.
async fn all_due(db: &TestDynamoDb, shard: Shard, from: &TargetId, limit: usize) -> Vec<DueTarget> {
    let mut found = Vec::new();
    for stretch in ShardRange::split_at(shard, from) {
        let mut next = Some(stretch);
        while let Some(stretch) = next {
            let page = db.watch().due(&stretch, limit).await.unwrap();
            assert!(page.targets.len() <= limit && page.unreadable.is_empty());
            found.extend(page.targets);
            next = page.rest;
        }
    }
    found
}

#[tokio::test]
async fn a_walk_through_the_shards_finds_each_target_once_wherever_it_starts() {
    let db = TestDynamoDb::start();
    let mut expected = BTreeMap::new();
    for number in 0..60 {
        let wanted = target(&format!("https://{number}.example/a"));
        done(db.watch().register(&wanted, None, &correlation()).await);
        expected.insert(wanted.id.clone(), wanted);
    }

    for start in [0, u128::MAX / 3, u128::MAX] {
        let mut found = BTreeMap::new();
        for shard in Phase::all().flat_map(Phase::shards) {
            for due in all_due(&db, shard, &TargetId::from_number(start), 7).await {
                assert_eq!(due.id.shard(), shard);
                assert!(found.insert(due.id.clone(), due).is_none(), "a target was found twice");
            }
        }
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (id, due) in found {
            let target = &expected[&id];
            assert_eq!((&due.workspace, &due.url, due.status), (&target.workspace, &target.url, TargetStatus::Pending));
            assert_eq!(due.host, target.canonical_url.host());
        }
    }
}

/// So many targets of one shard, in the order of their ids.
/// Empties the first page of a scan, as DynamoDB may at the end of a partition.
#[derive(Debug, Default)]
struct EmptyFirstPage(AtomicUsize);

impl Intercept for EmptyFirstPage {
    fn name(&self) -> &'static str {
        "EmptyFirstPage"
    }

    fn modify_before_attempt_completion(
        &self,
        context: &mut FinalizerInterceptorContextMut<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(Ok(output)) = context.output_or_error_mut()
            && let Some(page) = output.downcast_mut::<ScanOutput>()
            && self.0.fetch_add(1, Ordering::SeqCst) == 0
        {
            (page.items, page.count) = (Some(Vec::new()), 0);
        }
        Ok(())
    }
}

#[tokio::test]
async fn an_empty_page_does_not_mean_that_there_are_no_targets() {
    let db = TestDynamoDb::start();
    let looked = async || {
        let client = db.client_with(EmptyFirstPage::default());
        WatchTable::new(client, "WatchTable").has_targets().await.unwrap()
    };
    assert!(!looked().await);

    for number in 0..2 {
        db.store_target(&target(&format!("https://example.com/{number}"))).await;
    }

    assert!(looked().await, "the second page has one");
}

async fn register_in_one_shard(db: &TestDynamoDb, count: usize) -> (Shard, Vec<TargetId>) {
    let shard = Shard::all().next().unwrap();
    let workspace = WorkspaceId::generate();
    let of_shard = (0..).map(|number| target_at(&workspace, &format!("https://{number}.example/a"), noon()));
    let mut ids = Vec::new();
    for wanted in of_shard.filter(|target| target.id.shard() == shard).take(count) {
        done(db.watch().register(&wanted, None, &correlation()).await);
        ids.push(wanted.id);
    }
    ids.sort();
    (shard, ids)
}

#[tokio::test]
async fn a_walk_starts_where_it_is_told_and_goes_round() {
    let db = TestDynamoDb::start();
    let (shard, ids) = register_in_one_shard(&db, 5).await;

    for limit in [1, 2, 99] {
        let due: Vec<_> = all_due(&db, shard, &ids[3], limit).await.into_iter().map(|due| due.id).collect();
        assert_eq!(due, [&ids[3..], &ids[..3]].concat(), "{limit} in a page");
    }
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_reported_and_its_neighbours_are_due() {
    let db = TestDynamoDb::start();
    let (shard, ids) = register_in_one_shard(&db, 3).await;
    damage(&db, &ids[1]).await;

    let [on, _] = ShardRange::split_at(shard, &ids[0]);
    let page = db.watch().due(&on, 99).await.unwrap();

    assert_eq!(page.targets.into_iter().map(|due| due.id).collect::<Vec<_>>(), [ids[0].clone(), ids[2].clone()]);
    assert_eq!(page.unreadable.into_iter().map(|row| row.id).collect::<Vec<_>>(), [ids[1].as_str()]);
}

// --------------------------------------------------------------------------------------------------------------- Rounds

#[tokio::test]
async fn a_first_good_round_means_up_and_is_no_news() {
    let monitored = Monitored::new().await;
    assert_eq!(monitored.status().await, TargetStatus::Pending);

    let outcome = monitored.next_round(0, GOOD).await;

    assert_eq!(outcome, RoundOutcome::Changed(TargetStatus::Up));
    let target = monitored.now().await;
    assert_eq!((target.status, target.status_since), (TargetStatus::Up, slot(0).plus(Duration::from_secs(1))));
    assert!(monitored.events().is_empty());
}

#[tokio::test]
async fn two_failed_rounds_in_a_row_mean_down_and_one_does_not() {
    let monitored = Monitored::new().await;
    monitored.next_round(0, GOOD).await;

    assert_eq!(monitored.next_round(1, FAILED).await, RoundOutcome::Recorded);
    assert_eq!(monitored.next_round(2, GOOD).await, RoundOutcome::Recorded);
    assert_eq!(monitored.next_round(3, FAILED).await, RoundOutcome::Recorded);
    assert_eq!(monitored.status().await, TargetStatus::Up);
    assert_eq!(monitored.next_round(4, FAILED).await, RoundOutcome::Changed(TargetStatus::Down));
    assert_eq!(monitored.next_round(5, FAILED).await, RoundOutcome::Recorded);

    assert_eq!(monitored.event_types(), ["target.down"]);
    assert_eq!(monitored.now().await.status_since, slot(4).plus(Duration::from_secs(1)));
}

#[tokio::test]
async fn a_target_that_never_answered_goes_down_as_well() {
    let monitored = Monitored::new().await;

    monitored.next_round(0, FAILED).await;
    assert_eq!(monitored.status().await, TargetStatus::Pending);
    monitored.next_round(1, FAILED).await;

    assert_eq!(monitored.event_types(), ["target.down"]);
}

#[tokio::test]
async fn the_events_say_what_happened_to_what_and_when() {
    let monitored = Monitored::new().await;
    monitored.next_round(0, GOOD).await;
    monitored.next_round(1, FAILED).await;
    monitored.next_round(2, CheckOutcome::Failed(CheckError::Timeout)).await;
    monitored.next_round(3, GOOD).await;
    monitored.next_round(4, FAILED).await;
    monitored.next_round(5, FAILED).await;

    let events = monitored.events();

    let [down, up, again] = events.as_slice() else { panic!("{events:?}") };
    let at = |number| slot(number).plus(Duration::from_secs(1));
    assert_eq!([down.occurred_at, up.occurred_at, again.occurred_at], [at(2), at(3), at(5)]);
    assert!([down, up, again].iter().all(|event| event.correlation_id == correlation()));
    assert_eq!(events.iter().map(|event| &event.event_id).collect::<BTreeSet<_>>().len(), 3);
    let target = &monitored.target;
    let EventDetail::TargetDown(detail) = &down.detail else { panic!("{down:?}") };
    assert_eq!((&detail.target_id, &detail.url, &down.workspace_id), (&target.id, &target.url, &target.workspace));
    assert_eq!(&detail.user_id, &target.owner);
    assert_eq!((detail.status_code, detail.error), (None, Some(CheckError::Timeout)));
    let EventDetail::TargetUp(detail) = &up.detail else { panic!("{up:?}") };
    assert_eq!((&detail.target_id, detail.down_since), (&target.id, at(2)));
    let EventDetail::TargetDown(detail) = &again.detail else { panic!("{again:?}") };
    assert_eq!((detail.status_code, detail.error), (Some(503), None), "the timeout is over");
}

#[tokio::test]
async fn a_round_counts_once_however_often_its_message_comes() {
    let monitored = Monitored::new().await;
    monitored.next_round(0, GOOD).await;

    let first = monitored.round(1, TargetStatus::Up, FAILED).await;
    let again = monitored.round(1, TargetStatus::Up, FAILED).await;
    let other = monitored.round(1, TargetStatus::Up, GOOD).await;

    assert_eq!(
        [first, again, other],
        [RoundOutcome::Recorded, RoundOutcome::AlreadyRecorded, RoundOutcome::AlreadyRecorded]
    );
    assert_eq!(monitored.status().await, TargetStatus::Up, "a failed round and itself are not two in a row");
    assert_eq!(monitored.results().await[0].outcome, FAILED, "the first result stays");
    monitored.round(2, TargetStatus::Up, FAILED).await;
    for _ in 0..3 {
        assert_eq!(monitored.round(2, TargetStatus::Up, FAILED).await, RoundOutcome::AlreadyRecorded);
        assert_eq!(monitored.round(2, TargetStatus::Up, GOOD).await, RoundOutcome::AlreadyRecorded);
    }
    assert_eq!((monitored.status().await, monitored.event_types()), (TargetStatus::Down, vec!["target.down"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_rounds_at_once_make_one_change() {
    let monitored = Monitored::new().await;
    monitored.next_round(0, GOOD).await;
    monitored.next_round(1, FAILED).await;

    // Three rounds that were all planned while the target was up, each delivered four times.
    let rounds = (0..12).map(|delivery| monitored.round(2 + delivery % 3, TargetStatus::Up, FAILED));
    let outcomes = join_all(rounds).await;

    let how_many = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    assert_eq!(how_many(RoundOutcome::Changed(TargetStatus::Down)), 1, "{outcomes:?}");
    assert_eq!(how_many(RoundOutcome::AlreadyRecorded), 9, "{outcomes:?}");
    assert_eq!(monitored.event_types(), ["target.down"]);
    assert_eq!(monitored.results().await.len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn good_rounds_at_once_make_one_change() {
    let monitored = Monitored::new().await;
    monitored.next_round(0, FAILED).await;
    monitored.next_round(1, FAILED).await;

    let rounds = (0..12).map(|delivery| monitored.round(2 + delivery % 3, TargetStatus::Down, GOOD));
    let outcomes = join_all(rounds).await;

    let changed = outcomes.iter().filter(|outcome| **outcome == RoundOutcome::Changed(TargetStatus::Up)).count();
    assert_eq!((changed, monitored.status().await), (1, TargetStatus::Up), "{outcomes:?}");
    assert_eq!(monitored.event_types(), ["target.down", "target.up"]);
}

/// A round that times out lasts longer than an interval: the next one is planned before the target is down.
#[tokio::test]
async fn an_answer_means_up_though_the_round_was_planned_before_the_target_went_down() {
    let monitored = Monitored::new().await;
    monitored.next_round(0, GOOD).await;

    for first in [1, 4] {
        monitored.round(first, TargetStatus::Up, FAILED).await;
        let second = monitored.round(first + 1, TargetStatus::Up, FAILED).await;
        let good = monitored.round(first + 2, TargetStatus::Up, GOOD).await;

        assert_eq!(
            (second, good),
            (RoundOutcome::Changed(TargetStatus::Down), RoundOutcome::Changed(TargetStatus::Up))
        );
        assert_eq!(monitored.now().await.status_since, slot(first + 2).plus(Duration::from_secs(1)));
    }

    assert_eq!(monitored.event_types(), ["target.down", "target.up", "target.down", "target.up"]);
    assert_eq!(monitored.results().await.len(), 7);
}

#[tokio::test]
async fn a_round_that_was_planned_with_an_outdated_status_changes_nothing_that_is_right() {
    let monitored = Monitored::new().await;
    monitored.next_round(0, FAILED).await;
    monitored.next_round(1, FAILED).await;

    // It is down by now, and the message still says up.
    assert_eq!(monitored.round(2, TargetStatus::Up, FAILED).await, RoundOutcome::Recorded);
    assert_eq!(monitored.round(3, TargetStatus::Down, GOOD).await, RoundOutcome::Changed(TargetStatus::Up));
    // It is up by now, and the message still says down.
    assert_eq!(monitored.round(4, TargetStatus::Down, GOOD).await, RoundOutcome::Recorded);
    assert_eq!(monitored.round(5, TargetStatus::Down, FAILED).await, RoundOutcome::Recorded);
    assert_eq!(monitored.round(6, TargetStatus::Up, FAILED).await, RoundOutcome::Changed(TargetStatus::Down));

    assert_eq!(monitored.event_types(), ["target.down", "target.up", "target.down"]);
    assert_eq!(monitored.results().await.len(), 7);
}

/// Every history of five rounds. Changes of the status are what is told.
#[tokio::test]
async fn messages_that_are_a_round_old_lead_to_the_same_changes_as_fresh_ones() {
    const ROUNDS: usize = 5;
    let (db, workspace) = (TestDynamoDb::start(), WorkspaceId::generate());
    let table = db.watch();
    for history in 0..1_u32 << ROUNDS {
        let mut changes = Vec::new();
        for age in [1, 2] {
            let target = target_at(&workspace, &format!("https://example.com/{history}/{age}"), noon());
            done(table.register(&target, None, &correlation()).await);
            let mut statuses = vec![TargetStatus::Pending; age];
            for number in 0..ROUNDS {
                let outcome = if history >> number & 1 == 1 { FAILED } else { GOOD };
                record(&table, &target.id, number as u32, statuses[number], outcome).await.unwrap();
                statuses.push(table.find(&target.id).await.unwrap().unwrap().status);
            }
            changes.push(statuses.split_off(age));
        }
        assert_eq!(changes[0], changes[1], "{history:05b}, the first round last");
    }
}

#[tokio::test]
async fn a_result_that_comes_late_changes_nothing_that_is_newer() {
    let monitored = Monitored::new().await;
    monitored.round(1, TargetStatus::Pending, FAILED).await;
    monitored.round(3, TargetStatus::Pending, FAILED).await;

    let late = monitored.round(2, TargetStatus::Pending, GOOD).await;

    assert_eq!((late, monitored.status().await), (RoundOutcome::Recorded, TargetStatus::Down));
    assert_eq!(monitored.event_types(), ["target.down"]);
}

#[tokio::test]
async fn a_deleted_targets_last_rounds_bring_nothing_back() {
    let monitored = Monitored::new().await;
    monitored.next_round(0, FAILED).await;
    monitored.db.watch().delete(&monitored.target.workspace, &monitored.target.id).await.unwrap();

    monitored.round(1, TargetStatus::Pending, FAILED).await;
    monitored.round(2, TargetStatus::Pending, GOOD).await;

    assert_eq!(monitored.db.watch().find(&monitored.target.id).await.unwrap(), None);
    assert_eq!(count(&monitored.db, "TARGET#"), 0);
    assert!(monitored.events().is_empty());
}

#[tokio::test]
async fn what_was_found_about_a_deleted_target_does_not_count_for_its_successor() {
    let monitored = Monitored::new().await;
    monitored.next_round(0, FAILED).await;
    monitored.db.watch().delete(&monitored.target.workspace, &monitored.target.id).await.unwrap();
    let successor = Target { created_at: slot(1), status_since: slot(1), ..monitored.target.clone() };
    done(monitored.db.watch().register(&successor, None, &correlation()).await);

    assert!(monitored.results().await.is_empty());
    assert_eq!(monitored.next_round(1, FAILED).await, RoundOutcome::Recorded, "its first failure");
    assert_eq!(monitored.next_round(2, FAILED).await, RoundOutcome::Changed(TargetStatus::Down), "its second");
    assert_eq!(monitored.results().await.len(), 2);
}

#[tokio::test]
async fn a_round_whose_answer_was_lost_is_recorded_once() {
    let monitored = Monitored::new().await;
    monitored.next_round(0, FAILED).await;
    let faults = Faults::default();
    let table = WatchTable::new(retrying(&monitored.db, &faults), "WatchTable");
    let id = &monitored.target.id;

    // Calls: the previous result, the transaction, which the SDK repeats under its token.
    faults.plan(Some((1, Fault::AnswerLost)));
    let down = record(&table, id, 1, TargetStatus::Pending, FAILED).await.unwrap();
    // One call: the result, which is found to be there when it is repeated.
    faults.plan(Some((0, Fault::AnswerLost)));
    let still_down = record(&table, id, 2, TargetStatus::Down, FAILED).await.unwrap();

    assert_eq!(down, RoundOutcome::Changed(TargetStatus::Down));
    assert_eq!(still_down, RoundOutcome::AlreadyRecorded);
    assert_eq!((monitored.results().await.len(), monitored.event_types()), (3, vec!["target.down"]));
}

#[tokio::test]
async fn a_round_that_failed_half_way_is_whole_when_its_message_comes_again() {
    for (call, fault) in [(0, Fault::NotSent), (1, Fault::NotSent), (1, Fault::AnswerLost), (1, Fault::Throttled)] {
        let monitored = Monitored::new().await;
        monitored.next_round(0, FAILED).await;
        let faults = Faults::default();
        let table = WatchTable::new(monitored.db.client_with(faults.clone()), "WatchTable");
        faults.plan(Some((call, fault)));

        let first = record(&table, &monitored.target.id, 1, TargetStatus::Pending, FAILED).await;
        let again = record(&table, &monitored.target.id, 1, TargetStatus::Pending, FAILED).await;

        assert!(first.is_err() && again.is_ok(), "{fault:?} at {call}");
        assert_eq!(monitored.event_types(), ["target.down"], "{fault:?} at {call}");
        assert_eq!(monitored.results().await.len(), 2, "{fault:?} at {call}");
    }
}

#[tokio::test]
async fn a_good_round_of_a_target_that_is_up_is_a_read_and_a_write_unit_and_a_change_spares_the_lists() {
    let monitored = Monitored::new().await;
    let meter = CapacityMeter::default();
    let table = WatchTable::new(monitored.db.client_with(meter.clone()), "WatchTable");
    let cost = async |number, known, outcome| {
        meter.reset();
        record(&table, &monitored.target.id, number, known, outcome).await.unwrap();
        (meter.calls(), meter.read_units(), meter.write_units())
    };

    // Two units for each row of a transaction, and none for an index.
    assert_eq!(cost(0, TargetStatus::Pending, GOOD).await, (1, 0.0, 4.0));
    assert_eq!(cost(1, TargetStatus::Up, GOOD).await, (2, 1.0, 1.0));
    assert_eq!(cost(2, TargetStatus::Up, FAILED).await, (2, 1.0, 1.0));
    assert_eq!(cost(3, TargetStatus::Up, FAILED).await, (2, 1.0, 4.0));
    assert_eq!(cost(4, TargetStatus::Down, FAILED).await, (1, 0.0, 1.0));
    assert_eq!(cost(5, TargetStatus::Down, GOOD).await, (1, 0.0, 4.0));
}

/// What the chart of access patterns says.
#[tokio::test]
async fn registering_listing_and_watching_cost_what_the_chart_says() {
    let db = TestDynamoDb::start();
    let meter = CapacityMeter::default();
    let table = WatchTable::new(db.client_with(meter.clone()), "WatchTable");
    let (ids, link, now) = (correlation(), link_id("launch"), noon().plus(INTERVAL * 10));
    let wanted = target("https://example.com/a");
    let watched = target_at(&wanted.workspace, "https://example.com/b", noon());
    let spent = || {
        let units = (meter.read_units(), meter.write_units());
        meter.reset();
        units
    };

    done(table.register(&wanted, None, &ids).await);
    assert_eq!(spent(), (1.0, 6.0), "a new one");
    done(table.register(&wanted, None, &ids).await);
    assert_eq!(spent(), (1.0, 0.0), "the same again");
    done(table.register(&wanted, Some(&with(&key("k"))), &ids).await);
    assert_eq!(spent(), (2.0, 2.0), "with a new key");
    done(table.register(&wanted, Some(&with(&key("k"))), &ids).await);
    assert_eq!(spent(), (2.0, 0.0), "with a known key");
    table.list(&wanted.workspace, None, 20, None).await.unwrap();
    assert_eq!(spent(), (0.5, 0.0), "a list");
    table.results(&wanted, None, 20, now).await.unwrap();
    assert_eq!(spent(), (0.5, 0.0), "results");
    table.health(&wanted.id, now).await.unwrap();
    assert_eq!(spent(), (1.5, 0.0), "health");
    let page = table.list(&wanted.workspace, None, 20, None).await.unwrap();
    spent();
    table.healths(&page.items, now).await.unwrap();
    assert_eq!(spent(), (1.0, 0.0), "health of those of a list");
    table.watch(&watched, &link, noon(), &ids).await.unwrap();
    assert_eq!(spent(), (2.0, 8.0), "a link watches a new one");
    table.watch(&watched, &link_id("second"), noon(), &ids).await.unwrap();
    assert_eq!(spent(), (2.0, 4.0), "another link watches it");
    table.unwatch(&watched.id, &link, noon()).await.unwrap();
    assert_eq!(spent(), (2.0, 4.0), "one of them ceases to");
    table.unwatch(&watched.id, &link_id("second"), noon()).await.unwrap();
    assert_eq!(spent(), (2.0, 8.0), "the other as well, and takes it along");
    table.delete(&wanted.workspace, &wanted.id).await.unwrap();
    assert_eq!(spent(), (0.0, 6.0), "deleting");
}

// --------------------------------------------------------------------------------------------------------------- Quota

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_registrations_at_once_fill_a_quota_of_ten_and_no_more() {
    let db = TestDynamoDb::start();
    let (table, workspace, ids) = (db.watch().with_quota(10), WorkspaceId::generate(), correlation());
    let wanted: Vec<_> =
        (0..100).map(|page| target_at(&workspace, &format!("https://example.com/{page}"), noon())).collect();

    let registered = join_all(wanted.iter().map(|wanted| table.register(wanted, None, &ids))).await;

    let full = registered.iter().filter(|registered| *registered.as_ref().unwrap() == TargetRegistration::Full).count();
    assert_eq!((full, count(&db, "TARGET#"), counted(&db, &workspace)), (90, 10, 10));
}

#[tokio::test]
async fn a_deleted_target_makes_room_and_a_known_url_needs_none() {
    let db = TestDynamoDb::start();
    let table = db.watch().with_quota(1);
    let first = target("https://example.com/a");
    let second = target_at(&first.workspace, "https://example.com/b", noon());
    done(table.register(&first, None, &correlation()).await);

    let refused = table.register(&second, Some(&with(&key("k"))), &correlation()).await.unwrap();
    let known = done(table.register(&first, None, &correlation()).await);
    let elsewhere = done(table.register(&target("https://example.com/b"), None, &correlation()).await);
    table.delete(&first.workspace, &first.id).await.unwrap();
    table.delete(&first.workspace, &first.id).await.unwrap();

    assert_eq!((refused, known.is_new, elsewhere.is_new), (TargetRegistration::Full, false, true));
    assert_eq!(counted(&db, &first.workspace), 0, "deleting it again frees nothing");
    assert!(done(table.register(&second, Some(&with(&key("k"))), &correlation()).await).is_new, "the key is unused");
}

#[tokio::test]
async fn a_quota_of_none_lets_nobody_begin() {
    let db = TestDynamoDb::start();
    let table = db.watch().with_quota(0);

    let refused = table.register(&target("https://example.com/a"), None, &correlation()).await.unwrap();

    assert_eq!(refused, TargetRegistration::Full);
}

#[tokio::test]
async fn what_links_watch_counts_until_the_last_of_them_is_gone() {
    let db = TestDynamoDb::start();
    let (table, ids) = (db.watch().with_quota(1), correlation());
    let watched = target("https://example.com/a");
    let other = target_at(&watched.workspace, "https://example.com/b", noon());
    let has_room = async |target: &Target| table.has_room(&target.workspace, &target.id).await.unwrap();
    assert!(has_room(&watched).await && has_room(&other).await);

    for link in ["first", "second"] {
        let outcome = table.watch(&watched, &link_id(link), noon(), &ids).await.unwrap();
        assert_eq!(outcome, WatchOutcome::Settled, "one target, for two links");
    }

    assert_eq!(counted(&db, &watched.workspace), 1);
    assert_eq!([has_room(&watched).await, has_room(&other).await], [true, false]);
    assert_eq!(table.register(&other, None, &ids).await.unwrap(), TargetRegistration::Full);
    for link in ["first", "second"] {
        table.unwatch(&watched.id, &link_id(link), noon()).await.unwrap();
    }
    assert_eq!(counted(&db, &watched.workspace), 0);
    assert!(done(table.register(&other, None, &ids).await).is_new);
}

#[tokio::test]
async fn a_link_without_room_does_not_watch_until_it_begins_again_later() {
    let db = TestDynamoDb::start();
    let (table, ids, link) = (db.watch().with_quota(1), correlation(), link_id("launch"));
    let wanted = target("https://example.com/a");
    let other = target_at(&wanted.workspace, "https://example.com/b", noon());
    done(table.register(&other, None, &ids).await);

    let refused = table.watch(&wanted, &link, slot(1), &ids).await.unwrap();
    table.delete(&other.workspace, &other.id).await.unwrap();
    let repeated = table.watch(&wanted, &link, slot(1), &ids).await.unwrap();

    assert_eq!((refused, repeated), (WatchOutcome::NoRoom, WatchOutcome::Settled));
    assert_eq!(table.find(&wanted.id).await.unwrap(), None, "a repeated message changes nothing");
    table.watch(&wanted, &link, slot(2), &ids).await.unwrap();
    assert_eq!(table.find(&wanted.id).await.unwrap().unwrap().watchers, 1);
}

#[tokio::test]
async fn a_link_that_was_refused_is_deleted_without_freeing_a_place() {
    let db = TestDynamoDb::start();
    let (table, ids, link) = (db.watch().with_quota(1), correlation(), link_id("launch"));
    let wanted = target("https://example.com/a");
    let other = target_at(&wanted.workspace, "https://example.com/b", noon());
    done(table.register(&other, None, &ids).await);
    table.watch(&wanted, &link, slot(1), &ids).await.unwrap();

    table.unwatch(&wanted.id, &link, slot(2)).await.unwrap();

    assert_eq!((counted(&db, &wanted.workspace), count(&db, "TARGET#")), (1, 1));
    assert_eq!(watcher(&db, &link)["link_state"]["S"], "ended");
}

// -------------------------------------------------------------------------------------------------------------- Results

#[tokio::test]
async fn results_come_newest_first_and_within_their_limits() {
    let monitored = Monitored::new().await;
    for number in 0..6 {
        monitored.round(number, TargetStatus::Up, if number == 2 { FAILED } else { GOOD }).await;
    }
    let table = monitored.db.watch();
    let results = async |since, limit, now| {
        let found = table.results(&monitored.target, since, limit, now).await.unwrap();
        found.iter().map(|result| result.latency_ms).collect::<Vec<_>>()
    };
    let (now, checked) = (slot(10), |number| slot(number).plus(Duration::from_secs(1)));

    assert_eq!(results(None, 100, now).await, [5, 4, 3, 2, 1, 0]);
    assert_eq!(results(None, 2, now).await, [5, 4]);
    assert_eq!(results(Some(checked(3)), 100, now).await, [5, 4, 3], "since is included");
    assert_eq!(results(Some(checked(3).plus(Duration::from_millis(1))), 100, now).await, [5, 4]);
    assert_eq!(results(Some(slot(6)), 100, now).await, Vec::<u64>::new());
    assert_eq!(results(Some(checked(3)), 2, now).await, [5, 4]);
    let much_later = checked(4).plus(lifetimes::CHECK_RESULTS);
    assert_eq!(results(None, 100, much_later).await, [5, 4], "older ones wait for their deletion");
}

#[tokio::test]
async fn a_result_is_read_as_it_was_recorded_and_goes_after_its_time() {
    let monitored = Monitored::new().await;
    let timeout = CheckOutcome::Failed(CheckError::Timeout);

    monitored.next_round(3, timeout).await;

    let checked_at = slot(3).plus(Duration::from_secs(1));
    assert_eq!(monitored.results().await, [CheckResult { checked_at, outcome: timeout, latency_ms: 3 }]);
    let stored = monitored.db.scan("WatchTable").into_iter().find(|item| item.get("latency_ms").is_some()).unwrap();
    assert_eq!(stored["ttl"]["N"], checked_at.plus(lifetimes::CHECK_RESULTS).unix_seconds().to_string());
}

// ------------------------------------------------------------------------------------------------- Deleting and watching

#[tokio::test]
async fn a_deleted_target_leaves_the_lists_and_may_be_deleted_again() {
    let db = TestDynamoDb::start();
    let wanted = target("https://example.com/a");
    done(db.watch().register(&wanted, None, &correlation()).await);

    for _ in 0..2 {
        assert_eq!(db.watch().delete(&wanted.workspace, &wanted.id).await.unwrap(), DeleteTargetOutcome::Deleted);
    }

    assert_eq!(db.watch().find(&wanted.id).await.unwrap(), None);
    assert!(db.watch().list(&wanted.workspace, None, 10, None).await.unwrap().items.is_empty());
}

#[tokio::test]
async fn a_link_makes_a_target_and_takes_it_along() {
    let db = TestDynamoDb::start();
    let wanted = target("https://example.com/a");

    db.watch().watch(&wanted, &link_id("launch"), noon(), &correlation()).await.unwrap();
    let watched = db.watch().find(&wanted.id).await.unwrap().unwrap();
    db.watch().unwatch(&wanted.id, &link_id("launch"), noon()).await.unwrap();

    assert_eq!(watched, Target { watchers: 1, registered: false, ..wanted.clone() });
    assert_eq!(db.watch().find(&wanted.id).await.unwrap(), None);
}

#[tokio::test]
async fn a_target_that_was_registered_by_itself_outlives_its_links() {
    let db = TestDynamoDb::start();
    let (table, wanted) = (db.watch(), target("https://example.com/a"));
    table.watch(&wanted, &link_id("launch"), noon(), &correlation()).await.unwrap();

    let registered = done(table.register(&wanted, None, &correlation()).await);

    assert!(!registered.is_new && registered.target.registered);
    assert_eq!(table.delete(&wanted.workspace, &wanted.id).await.unwrap(), DeleteTargetOutcome::Watched);
    assert!(table.find(&wanted.id).await.unwrap().unwrap().registered, "a refused deletion changes nothing");
    table.unwatch(&wanted.id, &link_id("launch"), noon()).await.unwrap();
    assert_eq!(table.find(&wanted.id).await.unwrap().unwrap().watchers, 0);
    assert_eq!(table.delete(&wanted.workspace, &wanted.id).await.unwrap(), DeleteTargetOutcome::Deleted);
}

#[tokio::test]
async fn whoever_registers_what_a_link_watches_is_told_from_then_on() {
    let db = TestDynamoDb::start();
    let table = db.watch();
    let ada = target("https://example.com/a");
    let bob = target_at(&ada.workspace, "https://example.com/a", noon().plus(INTERVAL));
    let carol = target_at(&ada.workspace, "https://example.com/a", noon().plus(INTERVAL * 2));
    table.watch(&ada, &link_id("launch"), noon(), &CorrelationId::generate()).await.unwrap();

    let registered = done(table.register(&bob, None, &correlation()).await).target;
    let again = done(table.register(&carol, None, &CorrelationId::generate()).await).target;

    let bobs = Target { registered: true, watchers: 1, owner: bob.owner, ..ada.clone() };
    assert_eq!([&registered, &again], [&bobs; 2], "who registers it later changes nothing");
    assert_eq!(table.find(&ada.id).await.unwrap(), Some(bobs.clone()));
    table.unwatch(&ada.id, &link_id("launch"), noon()).await.unwrap();
    assert_eq!(table.find(&ada.id).await.unwrap(), Some(Target { watchers: 0, ..bobs.clone() }));
    for number in 0..2 {
        record(&table, &ada.id, number, TargetStatus::Pending, FAILED).await.unwrap();
    }
    let told = events(&db).pop().unwrap();
    let EventDetail::TargetDown(detail) = told.detail else { panic!("{told:?}") };
    assert_eq!(detail.user_id, bobs.owner);
    assert_eq!(told.correlation_id, correlation());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_who_register_at_once_what_a_link_watches_one_is_told() {
    let db = TestDynamoDb::start();
    let first = target("https://example.com/a");
    db.watch().watch(&first, &link_id("launch"), noon(), &correlation()).await.unwrap();
    let wanted = [(); 2].map(|()| target_at(&first.workspace, "https://example.com/a", noon()));

    let [one, other] = at_once(&db, wanted).await.map(|registered| registered.target.owner);

    assert_eq!((&one, &one), (&other, &db.watch().find(&first.id).await.unwrap().unwrap().owner));
    assert_ne!(one, first.owner);
}

#[tokio::test]
async fn who_created_the_first_of_the_links_is_told_also_after_that_link() {
    let db = TestDynamoDb::start();
    let table = db.watch();
    let ada = target("https://example.com/a");
    let bob = target_at(&ada.workspace, "https://example.com/a", noon().plus(INTERVAL));
    table.watch(&ada, &link_id("first"), noon(), &correlation()).await.unwrap();
    table.watch(&bob, &link_id("second"), noon(), &correlation()).await.unwrap();

    table.unwatch(&ada.id, &link_id("first"), noon()).await.unwrap();

    assert_eq!(table.find(&ada.id).await.unwrap().unwrap().owner, ada.owner);
}

#[tokio::test]
async fn a_link_that_is_gone_before_it_is_known_never_watches() {
    let db = TestDynamoDb::start();
    let (table, wanted) = (db.watch(), target("https://example.com/a"));

    table.unwatch(&wanted.id, &link_id("launch"), noon()).await.unwrap();
    table.watch(&wanted, &link_id("launch"), noon(), &correlation()).await.unwrap();

    assert_eq!(table.find(&wanted.id).await.unwrap(), None);
    let mark = db.scan("WatchTable").pop().unwrap();
    assert_eq!(mark["ttl"]["N"], noon().plus(lifetimes::ENDED_WATCHES).unix_seconds().to_string());
}

#[tokio::test]
async fn an_expired_link_stops_watching_and_resumes_when_its_time_is_extended() {
    let db = TestDynamoDb::start();
    let (table, link) = (db.watch(), link_id("launch"));
    let wanted = target("https://example.com/a");
    table.watch(&wanted, &link, slot(1), &correlation()).await.unwrap();

    table.pause(&wanted.id, &link, slot(2)).await.unwrap();

    assert_eq!(table.find(&wanted.id).await.unwrap(), None);
    let row = watcher(&db, &link);
    assert_eq!(row["ttl"]["N"], slot(2).plus(lifetimes::ENDED_WATCHES).unix_seconds().to_string());
    table.watch(&wanted, &link, slot(3), &correlation()).await.unwrap();
    assert_eq!(table.find(&wanted.id).await.unwrap().unwrap().watchers, 1);
    assert_eq!(watcher(&db, &link).get("ttl"), None, "it is kept as long as the link watches");
}

#[tokio::test]
async fn a_link_that_was_removed_never_resumes_whatever_the_times_say() {
    let db = TestDynamoDb::start();
    let (table, link) = (db.watch(), link_id("launch"));
    let wanted = target("https://example.com/a");
    table.watch(&wanted, &link, slot(3), &correlation()).await.unwrap();

    table.unwatch(&wanted.id, &link, slot(1)).await.unwrap();
    table.watch(&wanted, &link, slot(4), &correlation()).await.unwrap();

    assert_eq!(table.find(&wanted.id).await.unwrap(), None);
}

#[tokio::test]
async fn messages_about_a_former_link_do_not_touch_the_one_that_has_its_code_now() {
    let db = TestDynamoDb::start();
    let (table, former) = (db.watch(), link_id("launch"));
    let now = LinkId { generation: Generation::generate().unwrap(), ..former.clone() };
    let wanted = target("https://example.com/a");
    table.unwatch(&wanted.id, &former, slot(2)).await.unwrap();

    table.watch(&wanted, &now, slot(1), &correlation()).await.unwrap();
    table.unwatch(&wanted.id, &former, slot(3)).await.unwrap();

    assert_eq!(table.find(&wanted.id).await.unwrap().unwrap().watchers, 1);
}

#[tokio::test]
async fn watching_publishes_nothing() {
    let db = TestDynamoDb::start();
    let (table, wanted) = (db.watch(), target("https://example.com/a"));

    for link in ["launch", "second"] {
        table.watch(&wanted, &link_id(link), noon(), &correlation()).await.unwrap();
    }
    done(table.register(&wanted, None, &correlation()).await);
    table.unwatch(&wanted.id, &link_id("launch"), noon()).await.unwrap();

    assert!(events(&db).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn twelve_links_at_once_are_twelve_watchers() {
    let db = TestDynamoDb::start();
    let (table, wanted, ids) = (db.watch(), target("https://example.com/a"), correlation());
    let links: Vec<_> = (0..12).map(|number| link_id(&format!("code{number:02}"))).collect();

    // In waves, as the consumer's batches do: who meets whom is up to the machine.
    for wave in links.chunks(4) {
        let watching = wave.iter().chain(wave).map(|link| table.watch(&wanted, link, noon(), &ids));
        assert!(join_all(watching).await.iter().all(Result::is_ok));
    }

    assert_eq!(table.find(&wanted.id).await.unwrap().unwrap().watchers, 12);
    for wave in links.chunks(4) {
        let ending = wave.iter().chain(wave).map(|link| table.unwatch(&wanted.id, link, noon()));
        join_all(ending).await.into_iter().for_each(Result::unwrap);
    }
    assert_eq!(table.find(&wanted.id).await.unwrap(), None);
}

#[tokio::test]
async fn watching_and_ending_it_bear_a_lost_answer() {
    let db = TestDynamoDb::start();
    let faults = Faults::default();
    let table = WatchTable::new(retrying(&db, &faults), "WatchTable");
    let wanted = target("https://example.com/a");
    table.watch(&wanted, &link_id("first"), noon(), &correlation()).await.unwrap();

    // Calls: the watcher, the target, the transaction.
    faults.plan(Some((2, Fault::AnswerLost)));
    table.watch(&wanted, &link_id("second"), noon(), &correlation()).await.unwrap();
    let watched = table.find(&wanted.id).await.unwrap().unwrap();
    // Calls: the watcher, the target, the transaction.
    faults.plan(Some((2, Fault::AnswerLost)));
    table.unwatch(&wanted.id, &link_id("second"), noon()).await.unwrap();

    assert_eq!(watched.watchers, 2);
    assert_eq!(table.find(&wanted.id).await.unwrap().unwrap().watchers, 1);
}

#[tokio::test]
async fn deleting_bears_a_lost_answer() {
    let db = TestDynamoDb::start();
    let faults = Faults::default();
    let table = WatchTable::new(retrying(&db, &faults), "WatchTable");
    let wanted = target("https://example.com/a");
    done(table.register(&wanted, None, &correlation()).await);
    faults.plan(Some((0, Fault::AnswerLost)));

    assert_eq!(table.delete(&wanted.workspace, &wanted.id).await.unwrap(), DeleteTargetOutcome::Deleted);
}

/// What can happen to a target whose links come and go.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// A message about the link with this number, which belongs to the person with the same number: what happened, and in
    /// which second.
    Message(usize, WatcherState, u32),
    /// The person with this number.
    Register(usize),
    Delete,
}

fn any_step() -> impl Strategy<Value = Step> {
    let message = |state| (0..3_usize, 0..5_u32).prop_map(move |(link, second)| Step::Message(link, state, second));
    prop_oneof![
        5 => message(WatcherState::Watching),
        3 => message(WatcherState::Paused),
        2 => message(WatcherState::Ended),
        1 => (0..3_usize).prop_map(Step::Register),
        1 => Just(Step::Delete),
    ]
}

/// Whether a link watches, by all messages about it: none says that it was removed, and of the latest none says that it has
/// expired.
fn watches(messages: &[(WatcherState, u32)]) -> bool {
    let latest = messages.iter().map(|(_, second)| second).max();
    let of_latest = |wanted| messages.iter().any(|(state, second)| *state == wanted && Some(second) == latest);
    messages.iter().all(|(state, _)| *state != WatcherState::Ended)
        && of_latest(WatcherState::Watching)
        && !of_latest(WatcherState::Paused)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// However often and in whichever order the messages come: a link watches from its latest beginning, unless it is known to
    /// have expired later or to be removed, and a target is there as long as somebody wants it. It belongs to who registered it
    /// first, or else to who brought it about.
    #[test]
    fn a_target_is_there_as_long_as_somebody_wants_it(steps in prop::collection::vec(any_step(), 1..25)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let db = TestDynamoDb::start();
            let (table, workspace, ids) = (db.watch(), WorkspaceId::generate(), CorrelationId::generate());
            // The same target, as each of three people wants it.
            let wanted = [(); 3].map(|()| target_at(&workspace, "https://example.com/a", noon()));
            let (id, links) = (&wanted[0].id, ["link0", "link1", "link2"].map(link_id));
            let (mut messages, mut registered) = ([const { Vec::new() }; 3], false);
            let mut owner = None;
            for step in steps {
                match step {
                    Step::Message(link, state, second) => {
                        let at = noon().plus(Duration::from_secs(second.into()));
                        match state {
                            WatcherState::Watching => {
 table.watch(&wanted[link], &links[link], at, &ids).await.unwrap();
 }
                            WatcherState::Paused => table.pause(id, &links[link], at).await.unwrap(),
                            WatcherState::Ended => table.unwatch(id, &links[link], at).await.unwrap(),
                        }
                        messages[link].push((state, second));
                        owner = owner.or(watches(&messages[link]).then_some(link));
                    }
                    Step::Register(person) => {
                        let is_new = done(table.register(&wanted[person], None, &ids).await).is_new;
                        assert_eq!(is_new, owner.is_none());
                        owner = owner.filter(|_| registered).or(Some(person));
                        registered = true;
                    }
                    Step::Delete => {
                        let is_watched = messages.iter().any(|messages| watches(messages));
                        let outcome = table.delete(&workspace, id).await.unwrap();
                        assert_eq!(outcome == DeleteTargetOutcome::Watched, is_watched);
                        registered &= is_watched;
                    }
                }
                let watchers = messages.iter().filter(|messages| watches(messages)).count();
                if watchers == 0 && !registered {
                    owner = None;
                }
                let found = table.find(id).await.unwrap();
                assert_eq!(counted(&db, &workspace), usize::from(found.is_some()));
                let expected = owner.map(|owner| (&wanted[owner].owner, registered, watchers as u64));
                assert_eq!(found.as_ref().map(|target| (&target.owner, target.registered, target.watchers)), expected);
            }
        });
    }
}

/// What two registrations get that have read the table before either has written.
async fn at_once(db: &TestDynamoDb, wanted: [Target; 2]) -> [RegisteredTarget; 2] {
    let client = db.client_with(Rendezvous::of(2));
    let registering = wanted.map(|wanted| {
        let table = WatchTable::new(client.clone(), "WatchTable");
        tokio::spawn(async move { done(table.register(&wanted, None, &correlation()).await) })
    });
    let [one, other] = registering;
    [one.await.unwrap(), other.await.unwrap()]
}

/// A client whose calls can fail and are repeated, as in a function.
fn retrying(db: &TestDynamoDb, faults: &Faults) -> Client {
    let retry = RetryConfig::standard().with_initial_backoff(Duration::from_millis(1));
    Client::from_conf(db.client_with(faults.clone()).config().to_builder().retry_config(retry).build())
}
