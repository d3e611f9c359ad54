//! From the scheduler's call to the result of a check.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::{join, join_all};
use linklet_clock::ClockError;
use linklet_domain::{
    CheckError, CheckInterval, CheckOutcome, CheckResult, Concurrency, PlannedTick, Reach, Target, TargetStatus,
    Timestamp, UserId, WorkId, WorkspaceId,
};
use linklet_dynamodb::{JobMark, JobsTable, Table, WatchTable};
use linklet_lambda::batch::Consumer;
use linklet_lambda::metrics::{self, Measured, Metric};
use linklet_lambda::schedule::{Call, Job};
use linklet_test_support::{
    BrokenDynamoDb, FakeQueues, Fault, Faults, Manner, OpenRequests, Outage, Site, TargetBuilder, TestDynamoDb,
    link_id, queue_batch,
};
use linklet_watch_check::Checker;
use tokio::time::{sleep, timeout};

use crate::fixture::{checker, clock, correlation, damage, relay, tick_at};

const MINUTE: Duration = Duration::from_secs(60);

fn interval(seconds: u8) -> CheckInterval {
    CheckInterval::try_from(seconds).unwrap()
}

/// A table with a target, so that there is something to plan ticks for.
async fn with_a_target() -> TestDynamoDb {
    let db = TestDynamoDb::start();
    register(&db, "https://example.com/").await;
    db
}

async fn register(db: &TestDynamoDb, url: &str) -> Target {
    let target = TargetBuilder::new(url).build();
    db.watch().register(&target, None, &correlation()).await.unwrap();
    target
}

/// The call of a minute.
fn call_at(scheduled_time: Timestamp) -> Call {
    Call { scheduled_time, correlation_id: correlation() }
}

/// What a call plans.
fn planned_by(call: &Call, seconds: u8) -> impl Iterator<Item = PlannedTick> {
    let places = Concurrency::try_from(8).unwrap();
    PlannedTick::planned_by(call.scheduled_time, &call.correlation_id, interval(seconds), places)
}

fn text(content: &impl serde::Serialize) -> String {
    serde_json::to_string(content).unwrap()
}

// ------------------------------------------------------------------------------------------------------------ Planning

#[tokio::test]
async fn a_call_plans_each_tick_of_the_next_minute_and_delays_it() {
    let (db, queues) = (with_a_target().await, FakeQueues::start());
    let call = call_at(Timestamp::now());
    let before = Timestamp::now();

    clock(db.watch(), db.jobs(), &queues, 15).run(call.clone()).await.unwrap();

    let after = Timestamp::now();
    let planned: Vec<_> = planned_by(&call, 15).collect();
    let messages = queues.messages("ticks");
    assert_eq!(messages.len(), 4);
    for tick in planned {
        let message = messages.iter().find(|message| message["MessageBody"] == text(&tick)).unwrap();
        let delay = message["DelaySeconds"].as_u64().unwrap();
        let whole = |span: Duration| u64::try_from(span.as_millis().div_ceil(1_000)).unwrap();
        assert!((whole(after.until(tick.slot))..=whole(before.until(tick.slot))).contains(&delay), "{message}");
        assert!(delay <= 120, "{message}");
    }
}

#[tokio::test]
async fn a_call_that_is_repeated_late_leaves_out_what_is_over() {
    let (db, repeated, over) = (with_a_target().await, FakeQueues::start(), FakeQueues::start());
    let before = Timestamp::now();
    let call = call_at(before.minus(MINUTE));

    clock(db.watch(), db.jobs(), &repeated, 20).run(call.clone()).await.unwrap();
    clock(db.watch(), db.jobs(), &over, 60).run(call_at(before.minus(MINUTE * 4))).await.unwrap();

    let lasting = |now| planned_by(&call, 20).filter(|tick| !tick.is_over(now)).count();
    let sent = repeated.messages("ticks").len();
    assert!((lasting(Timestamp::now())..=lasting(before)).contains(&sent), "{sent}");
    assert!(over.messages("ticks").is_empty());
}

#[tokio::test]
async fn what_the_queue_refuses_inside_of_a_success_is_sent_again() {
    let (db, queues) = (with_a_target().await, FakeQueues::start());
    queues.fail(Outage::OnceMessagesWith(":15.000Z".to_owned()));

    clock(db.watch(), db.jobs(), &queues, 15).run(call_at(Timestamp::now())).await.unwrap();

    let bodies = queues.bodies("ticks");
    assert_eq!((bodies.len(), bodies.iter().collect::<BTreeSet<_>>().len()), (4, 4));
}

#[tokio::test]
async fn a_call_whose_ticks_get_nowhere_fails() {
    let (db, queues) = (with_a_target().await, FakeQueues::start());
    let call = call_at(Timestamp::now());

    queues.fail(Outage::Everything);
    let unreachable = clock(db.watch(), db.jobs(), &queues, 20).run(call.clone()).await;
    queues.fail(Outage::NeverMessagesWith(":20.000Z".to_owned()));
    let refused = clock(db.watch(), db.jobs(), &queues, 20).run(call.clone()).await;

    assert!(matches!(unreachable, Err(ClockError::Refused(3))), "{unreachable:?}");
    assert!(matches!(refused, Err(ClockError::Refused(1))), "{refused:?}");
    assert_eq!(queues.bodies("ticks").len(), 2);
}

#[tokio::test]
async fn a_call_deletes_due_marks_and_plans_ticks_whichever_of_both_fails() {
    let (db, queues) = (with_a_target().await, FakeQueues::start());
    let (jobs, faults) = db.through::<_, Faults>(JobsTable, "JobsTable");
    let now = Timestamp::now();
    for due in [now.minus(MINUTE), now.minus(MINUTE), now.plus(MINUTE)] {
        db.jobs().mark(&WorkId::Reclaim(UserId::generate()), JobMark::Revisit, due).await.unwrap();
    }
    let left = || db.scan("JobsTable").len();

    // After the query, one of the deletions.
    faults.plan(Some((1, Fault::Throttled)));
    let refused = clock(db.watch(), jobs, &queues, 15).run(call_at(Timestamp::now())).await;
    assert!(matches!(refused, Err(ClockError::Jobs(_))), "{refused:?}");
    assert_eq!((left(), queues.messages("ticks").len()), (2, 4));

    queues.fail(Outage::Everything);
    let unplanned = clock(db.watch(), db.jobs(), &queues, 15).run(call_at(Timestamp::now())).await;
    assert!(matches!(unplanned, Err(ClockError::Refused(4))), "{unplanned:?}");
    assert_eq!(left(), 1);
}

/// How many ticks a call plans.
async fn planned(targets: WatchTable) -> usize {
    let queues = FakeQueues::start();
    clock(targets, TestDynamoDb::start().jobs(), &queues, 15).run(call_at(Timestamp::now())).await.unwrap();
    queues.messages("ticks").len()
}

#[tokio::test]
async fn ticks_are_planned_only_while_there_are_targets() {
    let db = TestDynamoDb::start();
    assert_eq!(planned(db.watch()).await, 0);

    let target = register(&db, "https://example.com/").await;
    assert_eq!(planned(db.watch()).await, 4);

    db.watch().delete(&target).await.unwrap();
    assert_eq!(planned(db.watch()).await, 0);
}

#[tokio::test]
async fn a_target_that_only_a_link_watches_has_ticks_until_it_stops() {
    let db = TestDynamoDb::start();
    let (target, link) = (TargetBuilder::new("https://example.com/").build(), link_id("launch"));
    db.watch().watch(&target, &link, Timestamp::now(), &correlation()).await.unwrap();
    assert_eq!(planned(db.watch()).await, 4);

    db.watch().unwatch(&target.id, &link, Timestamp::now()).await.unwrap();

    assert!(!db.scan("WatchTable").is_empty(), "the link's tombstone");
    assert_eq!(planned(db.watch()).await, 0);
}

#[tokio::test]
async fn a_table_that_does_not_answer_keeps_no_tick_from_being_planned() {
    for client in [TestDynamoDb::unreachable(), BrokenDynamoDb::start().client()] {
        assert_eq!(planned(WatchTable::new(Table::new(client, "WatchTable"))).await, 4);
    }
}

// ------------------------------------------------------------------------------------------------------------- Holding

/// Ticks of the only partition, which begin whenever a test says so.
struct Ticks {
    db: TestDynamoDb,
    queues: FakeQueues,
    checker: Arc<Checker>,
    /// How much later it is for the worker than for this machine, in milliseconds.
    ahead: Arc<AtomicU64>,
}

impl Ticks {
    fn new() -> Self {
        let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
        let table = db.watch();
        Self::on(db, queues, table)
    }

    /// Of a site and the target of its first page.
    async fn of_a_site() -> (Self, Site, Target) {
        let (ticks, site) = (Self::new(), Site::start());
        let target = register(&ticks.db, &site.url("/")).await;
        (ticks, site, target)
    }

    /// With a worker whose calls of the table can fail.
    fn with_faults() -> (Self, Faults) {
        let (db, faults) = (TestDynamoDb::start(), Faults::default());
        let table = WatchTable::new(db.table_with(faults.clone(), "WatchTable"));
        (Self::on(db, FakeQueues::start(), table), faults)
    }

    /// With a worker that has another way to the table.
    fn on(db: TestDynamoDb, queues: FakeQueues, table: WatchTable) -> Self {
        let ahead = Arc::<AtomicU64>::default();
        let of_worker = Arc::clone(&ahead);
        let clock = move || Timestamp::now().plus(Duration::from_millis(of_worker.load(Ordering::SeqCst)));
        let checker = checker(table, &queues, Reach::PublicAndLoopback);
        let checker = Arc::new(Checker { clock: Box::new(clock), ..checker });
        Self { db, queues, checker, ahead }
    }

    fn now(&self) -> Timestamp {
        (self.checker.clock)()
    }

    fn pass(&self, time: Duration) {
        self.ahead.fetch_add(u64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }

    /// The next tick, of a minute, which begins at once. The one before is over by then.
    fn next(&self) -> PlannedTick {
        self.pass(MINUTE);
        self.tick(60)
    }

    /// A tick that begins in the second that has just begun.
    fn tick(&self, seconds: u8) -> PlannedTick {
        tick_at(Timestamp::from_unix_seconds(self.now().unix_seconds()).unwrap(), seconds)
    }

    /// A tick of ten seconds, of which so many milliseconds have passed.
    fn late(&self, milliseconds: u64) -> PlannedTick {
        self.pass(Duration::from_secs(10));
        let tick = self.tick(10);
        let passed = tick.slot.until(self.now());
        self.pass(Duration::from_millis(milliseconds).saturating_sub(passed));
        tick
    }

    async fn deliver(&self, tick: &PlannedTick) -> Measured {
        let (answer, measured) = metrics::observe(self.checker.consume(queue_batch(&[text(tick)]))).await;
        assert!(answer.batch_item_failures.is_empty());
        measured
    }

    async fn hold(&self) -> Measured {
        self.deliver(&self.next()).await
    }

    /// Holds a tick in which the site answers so.
    async fn hold_as(&self, site: &Site, status: u16) -> Measured {
        site.behave(Manner::Answers(status));
        self.hold().await
    }

    async fn results(&self, target: &Target) -> Vec<CheckResult> {
        self.db.watch().results(target, (None, None), 100, self.now()).await.unwrap().0
    }

    async fn outcomes(&self, target: &Target) -> Vec<CheckOutcome> {
        self.results(target).await.into_iter().map(|result| result.outcome).collect()
    }

    async fn status(&self, target: &Target) -> TargetStatus {
        self.db.watch().find(&target.id).await.unwrap().unwrap().status
    }

    /// What the relay tells of the targets.
    async fn told(&self) -> Vec<String> {
        relay(&self.db, &self.queues).consume(self.db.stream("WatchTable")).await;
        let events = self.queues.events("notify");
        events.iter().map(|event| event["event_type"].as_str().unwrap().to_owned()).collect()
    }

    /// The items of results, by their sort keys.
    fn items(&self) -> Vec<String> {
        let rows = self.db.scan("WatchTable").into_iter();
        let results = rows.filter(|row| row["pk"]["S"].as_str().unwrap().starts_with("RESULTS#"));
        results.map(|item| item["sk"]["S"].as_str().unwrap().to_owned()).collect()
    }
}

const GOOD: CheckOutcome = CheckOutcome::Answered(200);
const BAD: CheckOutcome = CheckOutcome::Answered(503);

/// Sites on addresses of their own, which are hosts of their own.
fn sites(count: u8, open: &OpenRequests) -> Vec<Site> {
    (1..=count).map(|last| Site::start_on(Ipv4Addr::new(127, 0, 3, last), open)).collect()
}

async fn register_in(db: &TestDynamoDb, workspace: &WorkspaceId, creator: &UserId, url: &str) -> Target {
    let target = TargetBuilder::new(url).in_workspace(workspace).owned_by(creator).build();
    db.store_target(&target).await
}

#[tokio::test]
async fn a_tick_checks_each_target_once_and_a_workspaces_results_share_items() {
    let (ticks, open, site) = (Ticks::new(), OpenRequests::default(), Site::start());
    let hosts = sites(5, &open);
    let (workspace, creator) = (WorkspaceId::generate(), UserId::generate());
    let mut targets = Vec::new();
    for number in 0..70 {
        let host = &hosts[number % hosts.len()];
        targets.push(register_in(&ticks.db, &workspace, &creator, &host.url(&format!("/{number}"))).await);
    }
    let other = register(&ticks.db, &site.url("/")).await;
    let tick = ticks.next();

    let measured = ticks.deliver(&tick).await;

    for target in targets.iter().chain([&other]) {
        assert_eq!(ticks.outcomes(target).await, [GOOD]);
        assert_eq!(ticks.status(target).await, TargetStatus::Up);
    }
    let mut items = ticks.items();
    items.sort();
    assert_eq!(items, [format!("{}#0#0", tick.slot), format!("{}#0#0", tick.slot), format!("{}#0#1", tick.slot)]);
    assert!(hosts.iter().all(|host| host.most_at_once() == 1), "never two of one host");
    for metric in [Metric::TicksCut, Metric::ChecksSkipped, Metric::ChecksHeldBack, Metric::ChecksLost] {
        assert_eq!(measured.get(metric), 0.0, "{metric:?}");
    }
}

#[tokio::test]
async fn a_partition_has_as_many_checks_at_a_time_as_places() {
    let (ticks, open) = (Ticks::new(), OpenRequests::default());
    let hosts = sites(20, &open);
    for host in &hosts {
        host.behave(Manner::AnswersAfter(Duration::from_millis(50), 200));
        register(&ticks.db, &host.url("/")).await;
    }

    ticks.hold().await;

    assert_eq!(open.most_at_once(), 8);
    assert!(hosts.iter().all(|host| host.all_requests() == 1));
}

#[tokio::test]
async fn two_partitions_share_the_hosts_and_the_places() {
    let (ticks, open) = (Ticks::new(), OpenRequests::default());
    let hosts = sites(30, &open);
    for host in &hosts {
        host.behave(Manner::AnswersAfter(Duration::from_millis(20), 200));
        register(&ticks.db, &host.url("/a")).await;
        register(&ticks.db, &host.url("/b")).await;
    }
    let tick = ticks.next();
    let partitions: Vec<_> = Concurrency::try_from(11).unwrap().in_partitions().collect();
    let of_partitions: Vec<_> =
        partitions.into_iter().map(|partition| PlannedTick { partition, ..tick.clone() }).collect();

    join_all(of_partitions.iter().map(|tick| ticks.deliver(tick))).await;

    assert_eq!(of_partitions.len(), 2);
    assert!(hosts.iter().all(|host| (host.all_requests(), host.most_at_once()) == (2, 1)));
    assert!(open.most_at_once() <= 11);
}

#[tokio::test]
async fn a_message_that_comes_late_has_the_rest_of_its_tick() {
    let (ticks, _site, target) = Ticks::of_a_site().await;
    let tick = ticks.next();
    ticks.pass(Duration::from_secs(20));

    ticks.deliver(&tick).await;

    let result = ticks.results(&target).await.pop().unwrap();
    assert!((20_000..30_000).contains(&tick.slot.until(result.checked_at).as_millis()));
}

#[tokio::test]
async fn a_tick_that_is_over_is_dropped_and_counted() {
    let (ticks, site, _) = Ticks::of_a_site().await;
    let tick = ticks.next();
    ticks.pass(MINUTE);

    let measured = ticks.deliver(&tick).await;

    assert_eq!((measured.get(Metric::TicksCut), site.all_requests()), (1.0, 0));
}

/// As after a deployment between two calls of clock for the same minute.
#[tokio::test]
async fn of_two_divisions_of_one_minute_into_partitions_one_is_held() {
    let (ticks, site, _) = Ticks::of_a_site().await;
    let tick = ticks.next();
    let divided = |places, seconds: u8| {
        let (partitions, interval) = (Concurrency::try_from(places).unwrap().in_partitions(), interval(seconds));
        partitions.map(|partition| PlannedTick { partition, interval, ..tick.clone() }).collect::<Vec<_>>()
    };
    ticks.deliver(&tick).await;

    for other in [divided(16, 60), divided(100, 60), divided(8, 30), divided(8, 10)].concat() {
        ticks.deliver(&other).await;
    }
    assert_eq!(site.all_requests(), 1);

    // From the next minute on, it is the other one.
    ticks.pass(MINUTE);
    let next = PlannedTick { slot: tick.slot.plus(MINUTE), ..tick.clone() };
    for other in divided(100, 15) {
        ticks.deliver(&PlannedTick { slot: next.slot, ..other }).await;
    }
    assert_eq!(site.all_requests(), 2);
    ticks.deliver(&next).await;
    assert_eq!(site.all_requests(), 2);
}

/// Its partition goes on with the next tick.
#[tokio::test]
async fn a_worker_that_is_killed_costs_its_own_tick() {
    let (ticks, site, target) = Ticks::of_a_site().await;
    ticks.hold().await;
    for manner in [Manner::Answers(503), Manner::Answers(200)] {
        site.behave(Manner::Hangs);
        let killed = ticks.next();
        assert!(timeout(Duration::from_millis(200), ticks.deliver(&killed)).await.is_err());
        ticks.deliver(&killed).await;
        site.behave(manner);
        ticks.hold().await;
        ticks.hold().await;
    }

    assert_eq!(ticks.outcomes(&target).await, [GOOD, GOOD, BAD, BAD, GOOD]);
    assert_eq!(ticks.told().await, ["target.down", "target.up"]);
}

#[tokio::test]
async fn a_frozen_worker_begins_nothing_and_counts_nothing_as_failed() {
    let (ticks, site, target) = Ticks::of_a_site().await;
    ticks.hold().await;
    site.behave(Manner::AnswersAfter(Duration::from_millis(300), 503));
    let frozen = ticks.next();
    let worker = ticks.deliver(&frozen);

    let awake = async {
        while site.all_requests() < 2 {
            sleep(Duration::from_millis(5)).await;
        }
        ticks.pass(MINUTE);
    };
    let (measured, ()) = join(worker, awake).await;

    assert_eq!((measured.get(Metric::ChecksSkipped), ticks.outcomes(&target).await), (1.0, vec![GOOD]));
    assert_eq!(site.all_requests(), 2, "no further try");
    assert_eq!(ticks.db.watch().notes(frozen.partition).await.unwrap().first, [target.id], "it comes first");
}

/// What it has found out is of the past when it gets to the targets.
#[tokio::test]
async fn a_worker_that_is_frozen_while_it_stores_results_changes_no_target() {
    let (db, queues, site) = (Arc::new(TestDynamoDb::start()), FakeQueues::start(), Site::start());
    let target = register(&db, &site.url("/")).await;
    let tick = tick_at(Timestamp::from_unix_seconds(Timestamp::now().unix_seconds() + 1).unwrap(), 10);
    let (tables, slot) = (Arc::clone(&db), tick.slot);
    let is_stored = move || tables.scan("WatchTable").iter().any(|row| row.get("results").is_some());
    let clock = move || if is_stored() { slot.plus(Duration::from_secs(20)) } else { slot };
    let worker = Checker { clock: Box::new(clock), ..checker(db.watch(), &queues, Reach::PublicAndLoopback) };

    worker.consume(queue_batch(&[text(&tick)])).await;

    assert_eq!(db.watch().results(&target, (None, None), 100, tick.ends_at()).await.unwrap().0.len(), 1);
    assert_eq!(db.watch().find(&target.id).await.unwrap().unwrap().status, TargetStatus::Pending);
}

#[tokio::test]
async fn a_target_that_fails_and_recovers_is_told_of_once_each() {
    let (ticks, site) = (Ticks::new(), Site::start());
    let target = register(&ticks.db, &site.url("/page")).await;
    let mut failed = 0.0;

    let manners = [
        Manner::Answers(200),
        Manner::Answers(500),
        Manner::Answers(200),
        Manner::Answers(500),
        Manner::Answers(503),
        Manner::Closes,
        Manner::Answers(200),
        Manner::Answers(200),
    ];
    for manner in manners {
        site.behave(manner);
        failed += ticks.hold().await.get(Metric::ChecksFailed);
    }

    assert_eq!(ticks.told().await, ["target.down", "target.up"]);
    assert_eq!(ticks.queues.events("notify")[0]["status_code"], 503);
    assert_eq!((ticks.results(&target).await.len(), failed), (8, 4.0));
    // Three attempts of each tick that failed.
    assert_eq!(site.requests("/page"), 4 + 4 * 3);
}

#[tokio::test]
async fn without_leave_this_machine_is_not_reached() {
    let (ticks, site) = (Ticks::new(), Site::start());
    let target = register(&ticks.db, &site.url("/page")).await;
    let worker = checker(ticks.db.watch(), &ticks.queues, Reach::Public);

    worker.consume(queue_batch(&[text(&ticks.tick(60))])).await;

    assert_eq!(ticks.outcomes(&target).await, [CheckOutcome::Failed(CheckError::NotPublic)]);
    assert_eq!(site.all_requests(), 0);
}

// ------------------------------------------------------------------------------------------------------------- The end

#[tokio::test]
async fn a_check_with_a_whole_try_fails_when_time_is_up() {
    let (db, queues, site) = (TestDynamoDb::start(), FakeQueues::start(), Arc::new(Site::start()));
    let target = register(&db, &site.url("/")).await;
    site.behave(Manner::Answers(503));
    let tick = tick_at(Timestamp::from_unix_seconds(Timestamp::now().unix_seconds() + 1).unwrap(), 60);
    // Time is up while the second try is on its way.
    let (tries, slot, stop) = (Arc::clone(&site), tick.slot, tick.stops_at());
    let clock = move || if tries.all_requests() < 2 { slot } else { stop };
    let worker = Checker { clock: Box::new(clock), ..checker(db.watch(), &queues, Reach::PublicAndLoopback) };

    let (_, measured) = metrics::observe(worker.consume(queue_batch(&[text(&tick)]))).await;

    let (results, _) = db.watch().results(&target, (None, None), 100, tick.ends_at()).await.unwrap();
    assert_eq!(results.into_iter().map(|result| result.outcome).collect::<Vec<_>>(), [BAD]);
    assert_eq!((site.all_requests(), measured.get(Metric::ChecksFailed)), (2, 1.0));
    assert_eq!(measured.get(Metric::ChecksSkipped), 0.0);
}

#[tokio::test]
async fn unchecked_targets_have_no_result_and_come_first_at_the_next_tick() {
    let (ticks, open) = (Ticks::new(), OpenRequests::default());
    let hosts = sites(12, &open);
    let mut targets = Vec::new();
    for host in &hosts {
        host.behave(Manner::Hangs);
        targets.push(register(&ticks.db, &host.url("/")).await);
    }
    let tick = ticks.late(9_200);

    let measured = ticks.deliver(&tick).await;

    assert_eq!((measured.get(Metric::ChecksSkipped), measured.get(Metric::ChecksHeldBack)), (12.0, 0.0));
    assert!(ticks.items().is_empty());
    let first = ticks.db.watch().notes(tick.partition).await.unwrap().first;
    assert_eq!(first.iter().collect::<BTreeSet<_>>(), targets.iter().map(|target| &target.id).collect());
    hosts.iter().for_each(|host| host.behave(Manner::Answers(200)));
    let measured = ticks.hold().await;
    assert_eq!((measured.get(Metric::ChecksSkipped), open.now()), (0.0, 0));
    assert!(ticks.db.watch().notes(tick.partition).await.unwrap().first.is_empty());
}

#[tokio::test]
async fn a_host_that_never_answers_takes_one_place_and_nothing_else() {
    let (ticks, open) = (Ticks::new(), OpenRequests::default());
    let hosts = sites(10, &open);
    let (dead, good) = hosts.split_first().unwrap();
    dead.behave(Manner::Hangs);
    for number in 0..30 {
        register(&ticks.db, &dead.url(&format!("/{number}"))).await;
    }
    let mut targets = Vec::new();
    for host in good {
        targets.push(register(&ticks.db, &host.url("/")).await);
    }
    let tick = ticks.late(6_000);

    let measured = ticks.deliver(&tick).await;

    for target in &targets {
        assert_eq!(ticks.outcomes(target).await, [GOOD]);
    }
    assert_eq!((dead.most_at_once(), dead.all_requests()), (1, 1));
    assert_eq!((measured.get(Metric::ChecksSkipped), measured.get(Metric::ChecksHeldBack)), (1.0, 29.0));
}

#[tokio::test]
async fn three_targets_are_checked_at_each_tick_beside_somebody_elses_thousand() {
    let (ticks, open) = (Ticks::new(), OpenRequests::default());
    let hosts = sites(60, &open);
    hosts.iter().for_each(|host| host.behave(Manner::AnswersAfter(Duration::from_millis(100), 200)));
    let (few, many) = hosts.split_at(3);
    let greedy = UserId::generate();
    for _ in 0..20 {
        let workspace = WorkspaceId::generate();
        for host in many {
            register_in(&ticks.db, &workspace, &greedy, &host.url("/")).await;
        }
    }
    let (workspace, creator) = (WorkspaceId::generate(), UserId::generate());
    let mut three = Vec::new();
    for host in few {
        three.push(register_in(&ticks.db, &workspace, &creator, &host.url("/")).await);
    }

    for number in 1..=3 {
        let tick = ticks.late(7_000);

        let measured = ticks.deliver(&tick).await;

        assert!(measured.get(Metric::ChecksSkipped) > 500.0, "there is time for a few hundred of 1,143");
        for target in &three {
            assert_eq!(ticks.results(target).await.len(), number);
        }
    }
}

// ---------------------------------------------------------------------------------------------------------- The table

#[tokio::test]
async fn a_partition_that_cannot_be_taken_skips_its_tick_and_is_counted() {
    let (db, queues, site) = (TestDynamoDb::start(), FakeQueues::start(), Site::start());
    register(&db, &site.url("/")).await;
    let ticks = Ticks::on(db, queues, WatchTable::new(Table::new(BrokenDynamoDb::start().client(), "WatchTable")));

    let measured = ticks.hold().await;

    assert_eq!((measured.get(Metric::TicksCut), site.all_requests()), (1.0, 0));
}

#[tokio::test]
async fn a_table_refusing_writes_for_some_ticks_neither_loses_nor_invents_changes() {
    let ((ticks, faults), site) = (Ticks::with_faults(), Site::start());
    let target = register(&ticks.db, &site.url("/")).await;
    ticks.hold().await;
    // A failure, which is noted. What follows: the partition, its notes, sixteen host shards, and then the writes.
    ticks.hold_as(&site, 503).await;
    let refuse_after = |reads| faults.plan_all((reads..reads + 20).map(|call| (call, Fault::Throttled)));

    site.behave(Manner::Answers(200));
    refuse_after(18);
    let measured = ticks.hold().await;
    assert_eq!(measured.get(Metric::ChecksLost), 1.0, "the success is lost");
    refuse_after(0);
    assert_eq!(ticks.hold().await.get(Metric::TicksCut), 1.0);
    faults.plan(None);
    ticks.hold().await;
    ticks.hold_as(&site, 503).await;
    assert_eq!(ticks.status(&target).await, TargetStatus::Up, "no false down");
    ticks.hold().await;

    assert_eq!(ticks.status(&target).await, TargetStatus::Down);
    assert_eq!(ticks.told().await, ["target.down"]);
}

#[tokio::test]
async fn a_shard_that_cannot_be_read_keeps_no_other_from_being_checked() {
    let ((ticks, faults), open) = (Ticks::with_faults(), OpenRequests::default());
    let hosts = sites(30, &open);
    for host in &hosts {
        register(&ticks.db, &host.url("/")).await;
    }
    // The partition and its notes come before the host shards; what fails is tried again behind the others.
    faults.plan_all([(2, Fault::Throttled), (18, Fault::NotSent)]);
    let measured = ticks.hold().await;
    assert_eq!((hosts.iter().map(Site::all_requests).sum::<usize>(), measured.get(Metric::TicksCut)), (30, 0.0));

    faults.plan_all([(2, Fault::Throttled), (18, Fault::Throttled), (19, Fault::Throttled)]);
    let measured = ticks.hold().await;

    let checked = hosts.iter().map(Site::all_requests).sum::<usize>() - 30;
    assert!((15..30).contains(&checked), "{checked}");
    assert_eq!(measured.get(Metric::TicksCut), 1.0);
}

#[tokio::test]
async fn an_unreadable_target_is_left_out_and_its_neighbours_are_checked() {
    let (ticks, site) = (Ticks::new(), Site::start());
    let mut targets = Vec::new();
    for number in 0..5 {
        targets.push(register(&ticks.db, &site.url(&format!("/{number}"))).await);
    }
    damage(&ticks.db, &targets[2].id);

    let measured = ticks.hold().await;

    assert_eq!((site.all_requests(), site.requests("/2"), measured.get(Metric::TicksCut)), (4, 0, 1.0));
}

#[tokio::test]
async fn with_more_targets_than_a_tick_reads_each_is_eventually_checked() {
    let (ticks, site) = (Ticks::new(), Site::start());
    for number in 0..60 {
        register(&ticks.db, &site.url(&format!("/{number}"))).await;
    }
    let partition = Concurrency::try_from(2).unwrap().in_partitions().next().unwrap();
    let Ok(checker) = Arc::try_unwrap(ticks.checker) else { panic!("nobody works yet") };
    // There is room for 80 checks, if reading didn't end before.
    let ticks = Ticks { checker: Arc::new(Checker { extra_reads: 0, ..checker }), ..ticks };
    for number in 60..100 {
        register(&ticks.db, &site.url(&format!("/{number}"))).await;
    }

    let mut held = 0;
    while (0..100).any(|number| site.requests(&format!("/{number}")) == 0) {
        ticks.pass(Duration::from_secs(10));
        let measured = ticks.deliver(&PlannedTick { partition, ..ticks.tick(10) }).await;
        assert_eq!(measured.get(Metric::TicksCut), 1.0);
        held += 1;
        // Where reading begins at a random place, a tick has each target with a probability of two fifths at least.
        assert!(held < 60, "some are left out again and again");
    }
}

// ------------------------------------------------------------------------------------------------ Targets that come and go

#[tokio::test]
async fn a_message_that_is_no_tick_is_parked_and_its_neighbour_runs() {
    let (ticks, site, _) = Ticks::of_a_site().await;
    let malformed = r#"{"partition": 7}"#.to_owned();

    let answer = ticks.checker.consume(queue_batch(&[malformed.clone(), text(&ticks.next())])).await;

    assert!(answer.batch_item_failures.is_empty());
    assert_eq!((ticks.queues.bodies("ticks-dlq"), site.all_requests()), (vec![malformed], 1));
}
