//! WatchTable: one target per URL, one result per tick, one event per change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use aws_sdk_dynamodb::config::interceptors::FinalizerInterceptorContextMut;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_sdk_dynamodb::operation::scan::ScanOutput;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::future::join_all;
use linklet_domain::{
    CheckError, CheckOutcome, CheckResult, Concurrency, CorrelationId, Event, EventDetail, Generation, Host, HostShard,
    IdempotencyKey, LinkId, PageToken, PlannedTick, Target, TargetHealth, TargetId, TargetStatus, Timestamp, UserId,
    WatcherState, WorkspaceId, lifetimes,
};
use linklet_dynamodb::{
    CheckedTarget, DeleteTargetOutcome, DueTarget, PartitionNotes, RegisteredTarget, RepositoryError, ResultsCursor,
    ShardRange, Table, TargetQuota, TargetRegistration, WatchOutcome, WatchTable, stream::change_of,
};
use linklet_test_support::{CapacityMeter, Fault, Faults, Rendezvous, TargetBuilder, TestDynamoDb, link_id};
use proptest::prelude::*;
use serde_json::Value;

use crate::fixture::{check, correlation, damage, due, noon, per, record, tick_at};

const GOOD: CheckOutcome = CheckOutcome::Answered(200);
const FAILED: CheckOutcome = CheckOutcome::Answered(503);
const INTERVAL: Duration = Duration::from_secs(15);

fn target_at(workspace: &WorkspaceId, url: &str, created_at: Timestamp) -> Target {
    TargetBuilder::new(url).in_workspace(workspace).created_at(created_at).build()
}

fn target(url: &str) -> Target {
    target_at(&WorkspaceId::generate(), url, noon())
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

/// A table, a target in it, and the ticks that check it.
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

    /// The target, as a tick reads it.
    async fn due(&self) -> DueTarget {
        due(&self.db.watch(), &self.target.id).await
    }

    /// The result of the tick with this number, checked a second after its slot, of the target as it was read. Returns its status
    /// if that has changed.
    async fn tick(&self, number: u32, target: &DueTarget, outcome: CheckOutcome) -> Option<TargetStatus> {
        let checked = checked(target, number, outcome);
        record(&self.db.watch(), slot(number), &checked).await.unwrap()
    }

    /// The result of the tick with this number, of the target as it is.
    async fn next_tick(&self, number: u32, outcome: CheckOutcome) -> Option<TargetStatus> {
        self.tick(number, &self.due().await, outcome).await
    }

    async fn results(&self) -> Vec<CheckResult> {
        self.db.watch().results(&self.now().await, (None, None), 100, noon().plus(INTERVAL * 1_000)).await.unwrap().0
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

fn checked(target: &DueTarget, number: u32, outcome: CheckOutcome) -> CheckedTarget {
    let checked_at = slot(number).plus(Duration::from_secs(1));
    CheckedTarget { target: target.clone(), result: CheckResult { checked_at, outcome, latency_ms: number.into() } }
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
async fn a_url_has_one_target_as_it_was_first_registered() {
    let db = TestDynamoDb::start();
    let wanted = target("https://EXAMPLE.com:443/ä/?b=c#d");
    let again = target_at(&wanted.workspace, "https://example.com/ä?b=c", noon().plus(INTERVAL));

    let registered = done(db.watch().register(&wanted, None, &correlation()).await);
    let found = done(db.watch().register(&again, None, &correlation()).await);

    assert!(registered.is_new && !found.is_new);
    assert_eq!(registered.target, Target { registered: true, ..wanted.clone() });
    assert_eq!(found.target, registered.target, "the first URL and time stay");
    assert_eq!((db.watch().find(&wanted.id).await.unwrap(), count(&db, "TARGET#")), (Some(registered.target), 1));
    assert_eq!(db.watch().find(&TargetId::parse("t_0000000000000000000007").unwrap()).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_registrations_of_one_url_at_once_make_one_target() {
    let db = TestDynamoDb::start();
    let (table, workspace, ids) = (db.watch(), WorkspaceId::generate(), correlation());
    let wanted: Vec<_> = (0..50).map(|_| target_at(&workspace, "https://example.com/a", noon())).collect();
    let keys: Vec<_> = (0..50).map(|number| (number % 2 == 0).then(|| key(&format!("key-{number}")))).collect();

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
    let of_new = done(table.register(&first, Some(&key("new")), &correlation()).await);
    let of_known = done(table.register(&monitored.target, Some(&key("known")), &correlation()).await);
    for id in [&first.id, &monitored.target.id] {
        check(&monitored.db, id, slot(1), GOOD).await;
    }

    let later = |target: &Target| Target { created_at: noon().plus(INTERVAL * 9), ..target.clone() };
    let again = table.register(&later(&first), Some(&key("new")), &correlation()).await;
    let known_again = table.register(&later(&monitored.target), Some(&key("known")), &correlation()).await;

    assert_eq!([&of_new, &of_known].map(|answer| answer.is_new), [true, false]);
    for (again, first) in [(done(again), of_new), (done(known_again), of_known)] {
        let now = table.find(&first.target.id).await.unwrap().unwrap();
        assert_eq!(now.status, TargetStatus::Up);
        assert_eq!(again, RegisteredTarget { target: now, is_new: false, is_repeated: true });
    }
}

#[tokio::test]
async fn a_key_leads_to_its_target_for_a_day_whatever_the_url() {
    let db = TestDynamoDb::start();
    let (first, table) = (target("https://example.com/a"), db.watch());
    done(table.register(&first, Some(&key("k")), &correlation()).await);
    let registered = async |url: &str, hours: u64| {
        let wanted = target_at(&first.workspace, url, noon().plus(Duration::from_secs(hours * 3_600)));
        done(table.register(&wanted, Some(&key("k")), &correlation()).await)
    };

    let looked_up = table.first_registration(&first.workspace, &key("k"), noon().plus(INTERVAL)).await.unwrap();
    let again = registered("https://example.com/b", 23).await;
    assert_eq!((looked_up.as_ref(), &again.target.id), (Some(&again), &first.id));
    assert_eq!(count(&db, "TARGET#"), 1, "the other URL is not registered");
    let second = registered("https://example.com/b", 24).await;
    assert!(second.is_new, "the row of the key remains");
    assert_eq!(registered("https://example.com/c", 25).await.target.id, second.target.id);
}

#[tokio::test]
async fn a_key_registered_with_a_known_url_is_remembered() {
    let (first, table) = (target("https://example.com/a"), TestDynamoDb::start().watch());
    done(table.register(&first, None, &correlation()).await);
    let key = key("k");
    let first_answer = async || table.first_registration(&first.workspace, &key, noon()).await.unwrap();
    assert_eq!(first_answer().await, None);

    let registered = done(table.register(&first, Some(&key), &correlation()).await);

    let repeated = RegisteredTarget { is_repeated: true, ..registered };
    assert_eq!(first_answer().await, Some(repeated), "it was not new then either");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_bodies_with_one_key_at_once_one_is_registered() {
    let (db, workspace) = (TestDynamoDb::start(), WorkspaceId::generate());
    let wanted = ["https://example.com/a", "https://example.com/b"].map(|url| target_at(&workspace, url, noon()));

    let [one, other] = at_once(&db, wanted, Some(key("k"))).await;

    assert_eq!(one.target.url, other.target.url);
    assert_eq!((count(&db, "TARGET#"), count(&db, "IDEM#")), (1, 1));
}

#[tokio::test]
async fn a_key_whose_target_was_deleted_serves_for_the_next_one() {
    let (first, table) = (target("https://example.com/a"), TestDynamoDb::start().watch());
    done(table.register(&first, Some(&key("k")), &correlation()).await);
    table.delete(&first).await.unwrap();
    let other = target_at(&first.workspace, "https://example.com/b", noon());

    let registered = done(table.register(&other, Some(&key("k")), &correlation()).await);

    assert_eq!((registered.is_new, &registered.target.id), (true, &other.id));
    let replayed = done(table.register(&first, Some(&key("k")), &correlation()).await);
    assert_eq!((replayed.is_new, &replayed.target.id), (false, &other.id));
}

#[tokio::test]
async fn a_key_does_not_answer_with_a_later_target_of_its_url() {
    for comes_back_by_a_link in [false, true] {
        let (first, table) = (target("https://example.com/a"), TestDynamoDb::start().watch());
        done(table.register(&first, Some(&key("k")), &correlation()).await);
        table.delete(&first).await.unwrap();
        let later = Target { created_at: slot(1), status_since: slot(1), ..first.clone() };
        if comes_back_by_a_link {
            table.watch(&later, &link_id("launch"), noon(), &correlation()).await.unwrap();
        } else {
            done(table.register(&later, None, &correlation()).await);
        }

        let again = done(table.register(&later, Some(&key("k")), &correlation()).await);

        assert_eq!((again.is_new, again.target.created_at), (false, slot(1)), "{comes_back_by_a_link}");
        assert!(table.find(&first.id).await.unwrap().unwrap().registered, "{comes_back_by_a_link}");
    }
}

#[tokio::test]
async fn workspaces_share_neither_targets_nor_keys() {
    let db = TestDynamoDb::start();
    let (ours, theirs) = (target("https://example.com/a"), target("https://example.com/a"));

    for wanted in [&ours, &theirs] {
        assert!(done(db.watch().register(wanted, Some(&key("k")), &correlation()).await).is_new);
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
    let ((table, faults), wanted) = (retrying(&db), target("https://example.com/a"));
    // Calls: the key, the target, the transaction.
    faults.plan(Some((2, Fault::AnswerLost)));

    let registered = done(table.register(&wanted, Some(&key("k")), &correlation()).await);

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

    let target = db.watch().find(&first.items[0].id).await.unwrap().unwrap();
    db.watch().delete(&target).await.unwrap();

    let rest = db.watch().list(&workspace, None, 5, first.next.as_ref()).await.unwrap();
    let urls: Vec<_> = rest.items.iter().map(|listed| listed.url.as_str()).collect();
    assert_eq!(urls, ["https://example.com/1", "https://example.com/2"]);
}

#[tokio::test]
async fn a_host_has_exactly_its_targets_on_all_ports_and_schemes() {
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

    done(db.watch().register(&wanted, Some(&key(&"k".repeat(255))), &correlation()).await);

    let host = Host::parse(&host).unwrap();
    assert_eq!(walk(&db, &wanted.workspace, Some(&host), 10).await, [wanted.id]);
}

// ----------------------------------------------------------------------------------------------------------------- Due

/// The targets of some ranges, so many in a page.
async fn all_due(db: &TestDynamoDb, ranges: impl IntoIterator<Item = ShardRange>, limit: usize) -> Vec<DueTarget> {
    let mut found = Vec::new();
    for range in ranges {
        let mut next = Some(range);
        while let Some(range) = next {
            let page = db.watch().due(&range, limit).await.unwrap();
            assert!(page.targets.len() <= limit && page.unreadable.is_empty());
            found.extend(page.targets);
            next = page.rest;
        }
    }
    found
}

#[tokio::test]
async fn the_shards_have_each_target_once_wherever_they_are_split() {
    let db = TestDynamoDb::start();
    let mut expected = BTreeMap::new();
    for number in 0..60 {
        let url = format!("https://{number}.example/a");
        let wanted = Target { workspace_creator: UserId::generate(), ..target(&url) };
        done(db.watch().register(&wanted, None, &correlation()).await);
        expected.insert(wanted.id.clone(), wanted);
    }
    let whole: fn(HostShard) -> Vec<ShardRange> = |shard| vec![ShardRange::all(shard)];
    let split: fn(HostShard) -> Vec<ShardRange> = |shard| ShardRange::split_at(shard, 1 << 119).into();

    for ranges in [whole, split] {
        let mut found = BTreeMap::new();
        for shard in HostShard::all() {
            for due in all_due(&db, ranges(shard), 7).await {
                assert_eq!((due.id.shard_digit(), HostShard::of(&due.host)), (shard.to_string().as_str(), shard));
                assert!(found.insert(due.id.clone(), due).is_none(), "a target was found twice");
            }
        }
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (id, due) in found {
            let target = &expected[&id];
            let expected = (target.workspace, target.workspace_creator, &target.url);
            assert_eq!((due.workspace, due.workspace_creator, &due.url), expected);
            assert_eq!((due.host, due.created_at), (target.canonical_url.host(), target.created_at));
            assert_eq!(due.health, TargetHealth { status: TargetStatus::Pending, failed_slot: None });
        }
    }
}

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
        let table = WatchTable::new(db.table_with(EmptyFirstPage::default(), "WatchTable"));
        table.has_targets().await.unwrap()
    };
    assert!(!looked().await);

    for number in 0..2 {
        db.store_target(&target(&format!("https://example.com/{number}"))).await;
    }

    assert!(looked().await, "the second page has one");
}

/// So many targets of one host shard, in the order of their ids.
async fn register_in_one_shard(db: &TestDynamoDb, count: usize) -> (HostShard, Vec<TargetId>) {
    let workspace = WorkspaceId::generate();
    let mut ids = Vec::new();
    for number in 0..count {
        let wanted = target_at(&workspace, &format!("https://one.example/{number}"), noon());
        done(db.watch().register(&wanted, None, &correlation()).await);
        ids.push(wanted.id);
    }
    ids.sort();
    (HostShard::of(&Host::parse("one.example").unwrap()), ids)
}

#[tokio::test]
async fn a_shard_that_is_split_begins_there_and_goes_round() {
    let db = TestDynamoDb::start();
    let (shard, ids) = register_in_one_shard(&db, 20).await;
    let split = TargetId::in_shard(shard, 1 << 119);
    let (lower, upper): (Vec<_>, Vec<_>) = ids.into_iter().partition(|id| *id < split);

    for limit in [1, 2, 99] {
        let due = all_due(&db, ShardRange::split_at(shard, 1 << 119), limit).await;
        let due: Vec<_> = due.into_iter().map(|due| due.id).collect();
        assert_eq!(due, [upper.clone(), lower.clone()].concat(), "{limit} in a page");
    }
}

#[tokio::test]
async fn an_unreadable_row_is_reported_and_its_neighbours_are_due() {
    let db = TestDynamoDb::start();
    let (shard, ids) = register_in_one_shard(&db, 3).await;
    damage(&db, &ids[1]);

    let page = db.watch().due(&ShardRange::all(shard), 99).await.unwrap();

    assert_eq!(page.targets.into_iter().map(|due| due.id).collect::<Vec<_>>(), [ids[0].clone(), ids[2].clone()]);
    assert_eq!(page.unreadable.into_iter().map(|row| row.id).collect::<Vec<_>>(), [ids[1].as_str()]);
}

// ---------------------------------------------------------------------------------------------------------------- Partitions

#[tokio::test(flavor = "multi_thread")]
async fn of_workers_taking_a_partition_at_once_one_gets_it_per_tick() {
    let (table, tick) = (TestDynamoDb::start().watch(), tick_at(noon(), 15));
    let take = async |tick: &PlannedTick| table.take_partition(tick, &CorrelationId::generate()).await.unwrap();

    let taken = join_all((0..20).map(|_| take(&tick))).await;

    assert_eq!(taken.into_iter().filter(|is_taken| *is_taken).count(), 1);
    let next = tick_at(slot(1), 15);
    assert!(take(&next).await);
    assert!(!take(&tick).await && !take(&next).await, "each once");
}

#[tokio::test]
async fn a_partition_that_was_taken_with_a_lost_answer_is_taken() {
    let db = TestDynamoDb::start();
    let (table, faults) = retrying(&db);
    faults.plan(Some((0, Fault::AnswerLost)));

    assert!(table.take_partition(&tick_at(noon(), 15), &correlation()).await.unwrap());
    assert!(!db.watch().take_partition(&tick_at(noon(), 15), &CorrelationId::generate()).await.unwrap());
}

#[tokio::test]
async fn only_partitions_without_a_common_host_shard_are_taken_independently() {
    let (table, tick) = (TestDynamoDb::start().watch(), tick_at(noon(), 15));
    let partition = |places, number| Concurrency::try_from(places).unwrap().in_partitions().nth(number).unwrap();
    let take = async |partition| {
        table.take_partition(&PlannedTick { partition, ..tick.clone() }, &CorrelationId::generate()).await
    };

    assert!(take(partition(16, 1)).await.unwrap());
    assert!(take(partition(16, 0)).await.unwrap());
    assert!(!take(partition(100, 5)).await.unwrap(), "its shard is in the second of two");
    assert!(!take(partition(8, 0)).await.unwrap());
}

#[tokio::test]
async fn a_partition_has_notes_only_if_something_was_noted() {
    let db = TestDynamoDb::start();
    let (table, tick) = (db.watch(), tick_at(noon(), 15));
    assert_eq!(table.notes(tick.partition).await.unwrap(), PartitionNotes::default());
    let notes = PartitionNotes { first: vec![target("https://example.com/a").id], is_cut: true };

    table.note(&tick, &notes).await.unwrap();

    assert_eq!(table.notes(tick.partition).await.unwrap(), notes);
    let row = db.scan("WatchTable").pop().unwrap();
    assert_eq!(row["ttl"]["N"], noon().plus(lifetimes::PARTITION_NOTES).unix_seconds().to_string());
    table.note(&tick, &PartitionNotes::default()).await.unwrap();
    assert_eq!(table.notes(tick.partition).await.unwrap(), PartitionNotes::default());
}

// --------------------------------------------------------------------------------------------------------------- Ticks

#[tokio::test]
async fn the_events_say_what_happened_to_what_and_when() {
    let monitored = Monitored::new().await;
    monitored.next_tick(0, GOOD).await;
    monitored.next_tick(1, FAILED).await;
    monitored.next_tick(2, CheckOutcome::Failed(CheckError::Timeout)).await;
    monitored.next_tick(3, GOOD).await;
    monitored.next_tick(4, FAILED).await;
    monitored.next_tick(5, FAILED).await;

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
    assert_eq!(monitored.now().await.status_since, at(5));
}

#[tokio::test]
async fn a_part_of_a_tick_is_stored_once() {
    let monitored = Monitored::new().await;
    monitored.next_tick(0, GOOD).await;
    let read = monitored.due().await;

    let first = monitored.tick(1, &read, FAILED).await;
    let again = monitored.tick(1, &read, FAILED).await;
    let other = monitored.tick(1, &read, GOOD).await;

    assert_eq!([first, again, other], [None; 3]);
    assert_eq!(monitored.due().await.health.failed_slot, Some(slot(1)), "the other result counts for nothing");
    assert_eq!(monitored.status().await, TargetStatus::Up, "a failed tick and itself are not two in a row");
    assert_eq!(monitored.results().await[0].outcome, FAILED, "the first result stays");
    assert_eq!(monitored.results().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn ticks_at_once_make_one_change() {
    for (before, outcome, status, events) in [
        (GOOD, FAILED, TargetStatus::Down, &["target.down"][..]),
        (FAILED, GOOD, TargetStatus::Up, &["target.down", "target.up"]),
    ] {
        let monitored = Monitored::new().await;
        monitored.next_tick(0, before).await;
        monitored.next_tick(1, FAILED).await;
        let read = monitored.due().await;

        let changed = join_all((0..12).map(|number| monitored.tick(2 + number % 3, &read, outcome))).await;

        assert_eq!(changed.iter().filter(|change| **change == Some(status)).count(), 1, "{changed:?}");
        assert_eq!((monitored.status().await, monitored.event_types()), (status, events.to_vec()));
        assert_eq!(monitored.results().await.len(), 5);
    }
}

/// Reads are eventually consistent, and a tick may begin before all that follows from the one before is written.
#[tokio::test]
async fn a_tick_with_an_outdated_standing_keeps_a_right_status() {
    let monitored = Monitored::new().await;
    monitored.next_tick(0, GOOD).await;
    let up = monitored.due().await;
    monitored.next_tick(1, FAILED).await;

    // The first failure was not seen.
    assert_eq!(monitored.tick(2, &up, FAILED).await, Some(TargetStatus::Down));
    // It is down by now, and was seen up.
    assert_eq!(monitored.tick(3, &up, FAILED).await, None);
    let down = monitored.due().await;
    assert_eq!(monitored.tick(4, &down, GOOD).await, Some(TargetStatus::Up));
    // It is up by now, and was seen down.
    assert_eq!(monitored.tick(5, &down, GOOD).await, None);
    assert_eq!(monitored.event_types(), ["target.down", "target.up"]);
    assert_eq!(monitored.results().await.len(), 6);
}

#[tokio::test]
async fn statuses_follow_from_results_even_if_a_success_was_not_noted() {
    const TICKS: u32 = 6;
    let db = TestDynamoDb::start();
    let table = db.watch();
    let mut changes = Vec::new();
    for history in 0..1_u32 << TICKS {
        let has_failed = |number: u32| history >> number & 1 == 1;
        for notes_successes in [true, false] {
            let target = target(&format!("https://{history}.example/"));
            done(table.register(&target, None, &correlation()).await);
            let mut status = TargetStatus::Pending;
            for number in 0..TICKS {
                let outcome = if has_failed(number) { FAILED } else { GOOD };
                let checked = checked(&due(&table, &target.id).await, number, outcome);
                let expected = match (outcome, number > 0 && has_failed(number - 1)) {
                    (GOOD, _) => TargetStatus::Up,
                    (_, true) => TargetStatus::Down,
                    (_, false) => status,
                };
                if outcome == GOOD && status == TargetStatus::Up && !notes_successes {
                    let stored = table.store_results(&tick_at(slot(number), 15), 0, &[checked]).await.unwrap();
                    assert!(stored);
                } else {
                    let changed = record(&table, slot(number), &checked).await.unwrap();
                    assert_eq!(changed, (expected != status).then_some(expected), "{history:06b}, tick {number}");
                }
                let found = table.find(&target.id).await.unwrap().unwrap();
                assert_eq!(found.status, expected, "{history:06b}, the first tick last");
                if status != expected {
                    assert_eq!(found.status_since, slot(number).plus(Duration::from_secs(1)));
                    changes.push((status, expected));
                }
                status = expected;
            }
        }
    }
    // A first success is no news.
    changes.retain(|change| *change != (TargetStatus::Pending, TargetStatus::Up));
    assert_eq!(events(&db).len(), changes.len());
}

#[tokio::test]
async fn a_result_that_comes_late_changes_nothing_that_is_newer() {
    let monitored = Monitored::new().await;
    let read = monitored.due().await;
    monitored.next_tick(1, FAILED).await;
    monitored.next_tick(3, FAILED).await;

    let late = monitored.tick(2, &read, GOOD).await;

    assert_eq!((late, monitored.status().await), (None, TargetStatus::Down));
    monitored.next_tick(5, GOOD).await;
    assert_eq!(monitored.tick(4, &read, FAILED).await, None);
    assert_eq!(monitored.next_tick(6, FAILED).await, None, "the first failure since");
    assert_eq!(monitored.next_tick(7, FAILED).await, Some(TargetStatus::Down));
    assert_eq!(monitored.event_types(), ["target.down", "target.up", "target.down"]);
}

#[tokio::test]
async fn a_deleted_targets_last_ticks_bring_nothing_back() {
    let monitored = Monitored::new().await;
    monitored.next_tick(0, FAILED).await;
    let read = monitored.due().await;
    monitored.db.watch().delete(&monitored.target).await.unwrap();

    monitored.tick(1, &read, FAILED).await;
    monitored.tick(2, &read, GOOD).await;

    assert_eq!(monitored.db.watch().find(&monitored.target.id).await.unwrap(), None);
    assert_eq!(count(&monitored.db, "TARGET#"), 0);
    assert!(monitored.events().is_empty());
}

#[tokio::test]
async fn results_of_a_deleted_target_do_not_count_for_its_successor() {
    let monitored = Monitored::new().await;
    monitored.next_tick(0, FAILED).await;
    let read = monitored.due().await;
    monitored.db.watch().delete(&monitored.target).await.unwrap();
    let successor = Target { created_at: slot(1), status_since: slot(1), ..monitored.target.clone() };
    done(monitored.db.watch().register(&successor, None, &correlation()).await);

    assert_eq!(monitored.tick(1, &read, FAILED).await, None, "of the target before");
    assert!(monitored.results().await.is_empty());
    assert_eq!(monitored.next_tick(2, FAILED).await, None, "its first failure");
    assert_eq!(monitored.next_tick(3, FAILED).await, Some(TargetStatus::Down), "its second");
    assert_eq!(monitored.results().await.len(), 2);
}

#[tokio::test]
async fn results_whose_answer_was_lost_are_stored_once_and_count() {
    let monitored = Monitored::new().await;
    monitored.next_tick(0, FAILED).await;
    let (table, faults) = retrying(&monitored.db);

    // Calls: the results, which are there when they are put again; what was found since the failure; the change.
    for (lost, number) in [(0, 1), (2, 2)] {
        faults.plan(Some((lost, Fault::AnswerLost)));
        let checked = checked(&monitored.due().await, number, if number == 1 { FAILED } else { GOOD });
        record(&table, slot(number), &checked).await.unwrap();
    }

    assert_eq!(monitored.results().await.len(), 3);
    assert_eq!(monitored.event_types(), ["target.down", "target.up"]);
}

/// What the chart of access patterns says.
#[tokio::test]
async fn a_changed_standing_costs_one_write_unit_and_an_unchanged_one_none() {
    let monitored = Monitored::new().await;
    let (table, meter): (_, CapacityMeter) = monitored.db.through(WatchTable::new, "WatchTable");
    let cost = async |number, outcome| {
        let checked = checked(&monitored.due().await, number, outcome);
        assert!(table.store_results(&tick_at(slot(number), 15), 0, std::slice::from_ref(&checked)).await.unwrap());
        meter.reset();
        table.conclude(slot(number), &checked).await.unwrap();
        (meter.calls(), meter.read_units(), meter.write_units())
    };

    assert_eq!(cost(0, GOOD).await, (1, 0.0, 1.0), "up for the first time");
    assert_eq!(cost(1, GOOD).await, (0, 0.0, 0.0), "still up");
    assert_eq!(cost(2, FAILED).await, (1, 0.0, 1.0), "a first failure");
    assert_eq!(cost(3, GOOD).await, (1, 0.0, 1.0), "which was one");
    assert_eq!(cost(4, FAILED).await, (1, 0.0, 1.0));
    assert_eq!(cost(5, FAILED).await, (2, 1.0, 1.0), "down");
    assert_eq!(cost(6, FAILED).await, (0, 0.0, 0.0), "still down");
    assert_eq!(cost(7, GOOD).await, (1, 0.0, 1.0), "up again");
}

#[tokio::test]
async fn sixty_four_results_are_one_write_unit_and_are_read_back() {
    let db = TestDynamoDb::start();
    let (table, meter): (_, CapacityMeter) = db.through(WatchTable::new, "WatchTable");
    let workspace = WorkspaceId::generate();
    let mut results = Vec::new();
    for number in 0..64 {
        let target = db.store_target(&target_at(&workspace, &format!("https://{number}.example/"), noon())).await;
        results.push(checked(&due(&db.watch(), &target.id).await, 4, CheckOutcome::Answered(200 + number)));
    }

    assert!(table.store_results(&tick_at(slot(4), 60), 10, &results).await.unwrap());

    assert_eq!((meter.calls(), meter.write_units()), (1, 1.0));
    meter.reset();
    let page = table.list(&workspace, None, 100, None).await.unwrap();
    meter.reset();
    let health = table.healths(&workspace, &page.items, slot(5)).await.unwrap();
    for checked in &results {
        assert_eq!(health[&checked.target.id].latest, Some(checked.result.clone()));
    }
    assert!(meter.read_units() < 35.0, "half a unit for each target, and their results together");
}

/// What the chart of access patterns says.
#[tokio::test]
async fn registering_listing_and_watching_cost_what_the_chart_says() {
    let db = TestDynamoDb::start();
    let (table, meter): (_, CapacityMeter) = db.through(WatchTable::new, "WatchTable");
    let (ids, link, now) = (correlation(), link_id("launch"), noon().plus(INTERVAL * 10));
    let wanted = target("https://example.com/a");
    let watched = target_at(&wanted.workspace, "https://example.com/b", noon());

    done(table.register(&wanted, None, &ids).await);
    assert_eq!(meter.spent(), (1.0, 8.0), "a new one");
    done(table.register(&wanted, None, &ids).await);
    assert_eq!(meter.spent(), (1.0, 0.0), "the same again");
    done(table.register(&wanted, Some(&key("k")), &ids).await);
    assert_eq!(meter.spent(), (2.0, 2.0), "with a new key");
    done(table.register(&wanted, Some(&key("k")), &ids).await);
    assert_eq!(meter.spent(), (2.0, 0.0), "with a known key");
    table.list(&wanted.workspace, None, 20, None).await.unwrap();
    assert_eq!(meter.spent(), (0.5, 0.0), "a list");
    table.results(&wanted, (None, None), 20, now).await.unwrap();
    assert_eq!(meter.spent(), (0.5, 0.0), "results");
    table.health(&wanted.id, now).await.unwrap();
    assert_eq!(meter.spent(), (1.5, 0.0), "health");
    let page = table.list(&wanted.workspace, None, 20, None).await.unwrap();
    meter.spent();
    table.healths(&wanted.workspace, &page.items, now).await.unwrap();
    assert_eq!(meter.spent(), (1.0, 0.0), "health of those of a list");
    table.watch(&watched, &link, noon(), &ids).await.unwrap();
    assert_eq!(meter.spent(), (2.0, 10.0), "a link watches a new one");
    table.watch(&watched, &link_id("second"), noon(), &ids).await.unwrap();
    assert_eq!(meter.spent(), (2.0, 4.0), "another link watches it");
    table.unwatch(&watched.id, &link, noon()).await.unwrap();
    assert_eq!(meter.spent(), (2.0, 4.0), "one of them ceases to");
    table.unwatch(&watched.id, &link_id("second"), noon()).await.unwrap();
    assert_eq!(meter.spent(), (2.0, 10.0), "the other as well, and takes it along");
    table.delete(&wanted).await.unwrap();
    assert_eq!(meter.spent(), (0.0, 8.0), "deleting");
}

// --------------------------------------------------------------------------------------------------------------- Quota

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_registrations_at_once_fill_a_quota_of_ten_exactly() {
    let db = TestDynamoDb::start();
    let (table, workspace, ids) = (db.watch().with_quota(per(10)), WorkspaceId::generate(), correlation());
    let wanted: Vec<_> =
        (0..100).map(|page| target_at(&workspace, &format!("https://example.com/{page}"), noon())).collect();

    let registered = join_all(wanted.iter().map(|wanted| table.register(wanted, None, &ids))).await;

    let full = registered.iter().filter(|registered| *registered.as_ref().unwrap() == TargetRegistration::Full).count();
    assert_eq!((full, count(&db, "TARGET#"), counted(&db, &workspace)), (90, 10, 10));
}

#[tokio::test]
async fn a_deleted_target_makes_room_and_a_known_url_needs_none() {
    let db = TestDynamoDb::start();
    let table = db.watch().with_quota(per(1));
    let first = target("https://example.com/a");
    let second = target_at(&first.workspace, "https://example.com/b", noon());
    done(table.register(&first, None, &correlation()).await);

    let refused = table.register(&second, Some(&key("k")), &correlation()).await.unwrap();
    let known = done(table.register(&first, None, &correlation()).await);
    let elsewhere = done(table.register(&target("https://example.com/b"), None, &correlation()).await);
    table.delete(&first).await.unwrap();
    table.delete(&first).await.unwrap();

    assert_eq!((refused, known.is_new, elsewhere.is_new), (TargetRegistration::Full, false, true));
    assert_eq!(counted(&db, &first.workspace), 0, "deleting it again frees nothing");
    assert!(table.list(&first.workspace, None, 10, None).await.unwrap().items.is_empty());
    assert!(done(table.register(&second, Some(&key("k")), &correlation()).await).is_new, "the key is unused");
    let of_none = db.watch().with_quota(per(0)).register(&target("https://example.com/a"), None, &correlation()).await;
    assert_eq!(of_none.unwrap(), TargetRegistration::Full);
}

/// In how many workspaces whatever somebody has created.
#[tokio::test(flavor = "multi_thread")]
async fn all_workspaces_of_a_creator_share_the_creators_quota_of_targets() {
    let db = TestDynamoDb::start();
    let quota = TargetQuota { per_workspace: 5, per_creator: 12 };
    let (table, creator, ids) = (db.watch().with_quota(quota), UserId::generate(), correlation());
    let workspaces: Vec<_> = (0..4).map(|_| WorkspaceId::generate()).collect();
    let of = |workspace: &WorkspaceId, number| Target {
        workspace_creator: creator,
        ..target_at(workspace, &format!("https://{number}.example/"), noon())
    };
    let wanted: Vec<_> =
        (0..8).flat_map(|number| workspaces.iter().map(move |workspace| (workspace, number))).collect();
    let wanted: Vec<_> = wanted.into_iter().map(|(workspace, number)| of(workspace, number)).collect();

    let registered = join_all(wanted.iter().map(|wanted| table.register(wanted, None, &ids))).await;

    let (full, new): (Vec<_>, Vec<_>) =
        registered.into_iter().map(Result::unwrap).partition(|one| *one == TargetRegistration::Full);
    assert_eq!((full.len(), new.len()), (20, 12));
    let mut counts: Vec<_> = workspaces.iter().map(|workspace| counted(&db, workspace)).collect();
    assert!(counts.iter().all(|count| *count <= 5), "{counts:?}");
    let link = link_id("launch");
    assert_eq!(table.watch(&of(&workspaces[0], 99), &link, noon(), &ids).await.unwrap(), WatchOutcome::NoRoom);
    let elsewhere = target("https://example.com/");
    assert!(done(table.register(&elsewhere, None, &ids).await).is_new, "another creator");

    let TargetRegistration::Done(first) = &new[0] else { panic!("{new:?}") };
    table.delete(&first.target).await.unwrap();
    counts.sort_unstable();
    let emptiest = workspaces.iter().find(|workspace| counted(&db, workspace) < 5).unwrap();
    assert!(table.has_room(emptiest, &creator, &of(emptiest, 100).id).await.unwrap());
    assert!(done(table.register(&of(emptiest, 100), None, &ids).await).is_new);
    assert!(!table.has_room(emptiest, &creator, &of(emptiest, 101).id).await.unwrap());
}

#[tokio::test]
async fn what_links_watch_counts_until_the_last_of_them_is_gone() {
    let db = TestDynamoDb::start();
    let (table, ids) = (db.watch().with_quota(per(1)), correlation());
    let watched = target("https://example.com/a");
    let other = target_at(&watched.workspace, "https://example.com/b", noon());
    let has_room =
        async |target: &Target| table.has_room(&target.workspace, &target.workspace_creator, &target.id).await.unwrap();
    assert!(has_room(&watched).await && has_room(&other).await);

    for link in ["first", "second"] {
        let outcome = table.watch(&watched, &link_id(link), noon(), &ids).await.unwrap();
        assert_eq!(outcome, WatchOutcome::Done, "one target, for two links");
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
async fn a_link_without_room_frees_no_place_and_watches_when_it_begins_again() {
    let db = TestDynamoDb::start();
    let (table, ids, link, deleted) =
        (db.watch().with_quota(per(1)), correlation(), link_id("launch"), link_id("gone"));
    let wanted = target("https://example.com/a");
    let other = target_at(&wanted.workspace, "https://example.com/b", noon());
    done(table.register(&other, None, &ids).await);

    for link in [&link, &deleted] {
        assert_eq!(table.watch(&wanted, link, slot(1), &ids).await.unwrap(), WatchOutcome::NoRoom);
    }
    table.unwatch(&wanted.id, &deleted, slot(2)).await.unwrap();
    assert_eq!((counted(&db, &wanted.workspace), count(&db, "TARGET#")), (1, 1));
    assert_eq!(watcher(&db, &deleted)["link_state"]["S"], "ended");
    table.delete(&other).await.unwrap();
    assert_eq!(table.watch(&wanted, &link, slot(1), &ids).await.unwrap(), WatchOutcome::Done);
    assert_eq!(table.find(&wanted.id).await.unwrap(), None, "a repeated message changes nothing");
    table.watch(&wanted, &link, slot(2), &ids).await.unwrap();
    assert_eq!(table.find(&wanted.id).await.unwrap().unwrap().watchers, 1);
}

// -------------------------------------------------------------------------------------------------------------- Results

#[tokio::test]
async fn results_come_newest_first_and_within_their_limits() {
    let monitored = Monitored::new().await;
    for number in 0..6 {
        monitored.next_tick(number, if number == 2 { FAILED } else { GOOD }).await;
    }
    let table = monitored.db.watch();
    let results = async |since, limit, now| {
        let (found, _) = table.results(&monitored.target, (since, None), limit, now).await.unwrap();
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
async fn results_are_read_page_by_page_as_far_as_they_go() {
    let monitored = Monitored::new().await;
    for number in 0..5 {
        monitored.next_tick(number, GOOD).await;
    }
    let (table, now, mut after, mut pages) = (monitored.db.watch(), slot(10), None, Vec::new());
    loop {
        let (found, rest) = table.results(&monitored.target, (None, after.as_ref()), 2, now).await.unwrap();
        pages.push(found.iter().map(|result| result.latency_ms).collect::<Vec<_>>());
        let Some(rest) = rest else { break };
        after = Some(ResultsCursor::decode(&rest.encode()).unwrap());
    }

    assert_eq!(pages, [vec![4, 3], vec![2, 1], vec![0]]);
    let forged = |key: &str| ResultsCursor::decode(&URL_SAFE_NO_PAD.encode(key));
    let long = format!("{}#{}", noon(), "x".repeat(64));
    assert!(["1970", "", &long].iter().all(|key| forged(key).is_err()));
    let beyond = forged("1970-01-01T00:00:00.000Z#0#0").unwrap();
    let found = table.results(&monitored.target, (None, Some(&beyond)), 2, now).await.unwrap();
    assert_eq!(found, (Vec::new(), None), "a cursor of what has expired");
}

#[tokio::test]
async fn a_result_is_read_as_recorded_and_expires_after_its_time() {
    let monitored = Monitored::new().await;
    let timeout = CheckOutcome::Failed(CheckError::Timeout);

    monitored.next_tick(3, timeout).await;

    let checked_at = slot(3).plus(Duration::from_secs(1));
    assert_eq!(monitored.results().await, [CheckResult { checked_at, outcome: timeout, latency_ms: 3 }]);
    let stored = monitored.db.scan("WatchTable").into_iter().find(|item| item.get("results").is_some()).unwrap();
    assert_eq!(stored["ttl"]["N"], slot(3).plus(lifetimes::CHECK_RESULTS).unix_seconds().to_string());
}

// ------------------------------------------------------------------------------------------------- Deleting and watching

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
        check(&db, &ada.id, slot(number), FAILED).await;
    }
    let events = events(&db);
    let [told] = events.as_slice() else { panic!("watching publishes nothing: {events:?}") };
    let EventDetail::TargetDown(detail) = &told.detail else { panic!("{told:?}") };
    assert_eq!(detail.user_id, bobs.owner);
    assert_eq!(told.correlation_id, correlation());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_simultaneous_registrations_of_a_watched_url_one_is_told() {
    let db = TestDynamoDb::start();
    let first = target("https://example.com/a");
    db.watch().watch(&first, &link_id("launch"), noon(), &correlation()).await.unwrap();
    let wanted = [(); 2].map(|()| target_at(&first.workspace, "https://example.com/a", noon()));

    let [one, other] = at_once(&db, wanted, None).await.map(|registered| registered.target.owner);

    assert_eq!((&one, &one), (&other, &db.watch().find(&first.id).await.unwrap().unwrap().owner));
    assert_ne!(one, first.owner);
}

#[tokio::test]
async fn a_watcher_is_kept_as_long_as_its_link_watches() {
    let db = TestDynamoDb::start();
    let (table, wanted, link) = (db.watch(), target("https://example.com/a"), link_id("launch"));
    let expires = |link: &LinkId| watcher(&db, link).get("ttl").map(|ttl| ttl["N"].as_str().unwrap().to_owned());
    let kept_until = |number| Some(slot(number).plus(lifetimes::ENDED_WATCHES).unix_seconds().to_string());
    table.watch(&wanted, &link, slot(1), &correlation()).await.unwrap();

    table.pause(&wanted.id, &link, slot(2)).await.unwrap();
    assert_eq!(expires(&link), kept_until(2));
    table.watch(&wanted, &link, slot(3), &correlation()).await.unwrap();
    assert_eq!(expires(&link), None);

    table.unwatch(&wanted.id, &link_id("unknown"), slot(4)).await.unwrap();
    assert_eq!(expires(&link_id("unknown")), kept_until(4));
}

#[tokio::test]
async fn messages_about_a_former_link_spare_its_codes_current_one() {
    let (table, former) = (TestDynamoDb::start().watch(), link_id("launch"));
    let now = LinkId { generation: Generation::generate().unwrap(), ..former.clone() };
    let wanted = target("https://example.com/a");
    table.unwatch(&wanted.id, &former, slot(2)).await.unwrap();

    table.watch(&wanted, &now, slot(1), &correlation()).await.unwrap();
    table.unwatch(&wanted.id, &former, slot(3)).await.unwrap();

    assert_eq!(table.find(&wanted.id).await.unwrap().unwrap().watchers, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn twelve_links_at_once_are_twelve_watchers() {
    let (table, wanted, ids) = (TestDynamoDb::start().watch(), target("https://example.com/a"), correlation());
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
async fn watching_ending_it_and_deleting_bear_a_lost_answer() {
    let db = TestDynamoDb::start();
    let ((table, faults), wanted) = (retrying(&db), target("https://example.com/a"));
    table.watch(&wanted, &link_id("first"), noon(), &correlation()).await.unwrap();
    let watchers = async || table.find(&wanted.id).await.unwrap().unwrap().watchers;

    // Calls: the watcher, the target, the transaction.
    faults.plan(Some((2, Fault::AnswerLost)));
    table.watch(&wanted, &link_id("second"), noon(), &correlation()).await.unwrap();
    assert_eq!(watchers().await, 2);
    faults.plan(Some((2, Fault::AnswerLost)));
    table.unwatch(&wanted.id, &link_id("second"), noon()).await.unwrap();
    assert_eq!(watchers().await, 1);

    let other = target("https://example.com/b");
    done(table.register(&other, None, &correlation()).await);
    faults.plan(Some((0, Fault::AnswerLost)));
    assert_eq!(table.delete(&other).await.unwrap(), DeleteTargetOutcome::Deleted);
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

/// Carries these steps out, and checks the target after each. Says whose it is at the end, whether it is registered, and how
/// many links watch it.
async fn carried_out(steps: &[Step]) -> Option<(usize, bool, u64)> {
    let db = TestDynamoDb::start();
    let (table, workspace, ids) = (db.watch(), WorkspaceId::generate(), CorrelationId::generate());
    // The same target, as each of three people wants it.
    let wanted = [(); 3].map(|()| target_at(&workspace, "https://example.com/a", noon()));
    let (id, links) = (&wanted[0].id, ["link0", "link1", "link2"].map(link_id));
    let (mut messages, mut registered) = ([const { Vec::new() }; 3], false);
    let (mut owner, mut expected) = (None, None);
    for step in steps {
        match *step {
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
                let outcome = table.delete(&wanted[0]).await.unwrap();
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
        expected = owner.map(|owner| (owner, registered, watchers as u64));
        let found = found.map(|target| (target.owner, target.registered, target.watchers));
        assert_eq!(found, expected.map(|(owner, registered, watchers)| (wanted[owner].owner, registered, watchers)));
    }
    expected
}

#[tokio::test]
async fn links_and_people_make_a_target_and_take_it_along() {
    use Step::{Delete, Message, Register};
    use WatcherState::{Ended, Paused, Watching};
    let cases: [(&str, &[Step], _); 8] = [
        ("a link makes a target", &[Message(0, Watching, 1)], Some((0, false, 1))),
        ("and takes it along", &[Message(0, Watching, 1), Message(0, Ended, 1)], None),
        (
            "what was registered outlives its link",
            &[Message(0, Watching, 0), Register(0), Delete, Message(0, Ended, 0)],
            Some((0, true, 0)),
        ),
        (
            "the owner of the first link stays",
            &[Message(0, Watching, 0), Message(1, Watching, 0), Message(0, Ended, 0)],
            Some((0, false, 1)),
        ),
        ("a link is gone before it is known", &[Message(0, Ended, 0), Message(0, Watching, 0)], None),
        (
            "a removed link never resumes",
            &[Message(0, Watching, 3), Message(0, Ended, 1), Message(0, Watching, 4)],
            None,
        ),
        ("an expired link stops watching", &[Message(0, Watching, 1), Message(0, Paused, 2)], None),
        (
            "an extended link resumes",
            &[Message(0, Watching, 1), Message(0, Paused, 2), Message(0, Watching, 3)],
            Some((0, false, 1)),
        ),
    ];
    for (what, steps, expected) in cases {
        assert_eq!(carried_out(steps).await, expected, "{what}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// However often and in whichever order the messages come: a link watches from its latest beginning, unless it is known to
    /// have expired later or to be removed, and a target is there as long as somebody wants it. It belongs to who registered it
    /// first, or else to who brought it about.
    #[test]
    fn a_target_is_there_as_long_as_somebody_wants_it(steps in prop::collection::vec(any_step(), 1..25)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(carried_out(&steps));
    }
}

/// What two registrations get that have read the table before either has written.
async fn at_once(db: &TestDynamoDb, wanted: [Target; 2], key: Option<IdempotencyKey>) -> [RegisteredTarget; 2] {
    let both = WatchTable::new(db.table_with(Rendezvous::of(2), "WatchTable"));
    let [one, other] = wanted.map(|wanted| {
        let (table, key) = (both.clone(), key.clone());
        tokio::spawn(async move { done(table.register(&wanted, key.as_ref(), &correlation()).await) })
    });
    [one.await.unwrap(), other.await.unwrap()]
}

/// A table whose calls can fail and are repeated, as in a function.
fn retrying(db: &TestDynamoDb) -> (WatchTable, Faults) {
    let faults = Faults::default();
    (WatchTable::new(Table::new(db.client_retrying(&faults, 3), "WatchTable")), faults)
}
