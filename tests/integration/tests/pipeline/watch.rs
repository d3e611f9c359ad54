//! From the scheduler's call to the result of a check.

use std::{collections::BTreeSet, fs, path::Path, time::Duration};

use linklet_domain::{
    CheckError, CheckInterval, CheckOutcome, CheckResult, Host, Phase, PlannedCheck, PlannedRound, Target,
    TargetStatus, Timestamp, WorkspaceId,
};
use linklet_dynamodb::{DueTarget, ShardRange, WatchTable};
use linklet_lambda::{
    batch::Consumer,
    metrics::{self, Measured, Metric},
    schedule::{Call, Job},
};
use linklet_test_support::{
    BrokenDynamoDb, FakeQueues, Fault, Faults, Manner, Outage, Site, TargetBuilder, TestDynamoDb, link_id, queue_batch,
};
use linklet_watch_check::{Checker, Fetcher, Reach};
use linklet_watch_dispatch::Dispatch;
use linklet_watch_tick::TickError;
use serde_json::Value;

use crate::fixture::{checker, correlation, damage, dispatch_from, relay, tick};

const MINUTE: Duration = Duration::from_secs(60);

fn interval(seconds: u8) -> CheckInterval {
    CheckInterval::from_seconds(seconds).unwrap()
}

/// A table with a target, so that there is something to plan rounds for.
async fn with_a_target() -> TestDynamoDb {
    let db = TestDynamoDb::start();
    register(&db, "https://example.com/").await;
    db
}

fn dispatch(db: &TestDynamoDb, queues: &FakeQueues, max_concurrency: u16) -> Dispatch {
    dispatch_from(db.watch(), queues, max_concurrency)
}

async fn register(db: &TestDynamoDb, url: &str) -> Target {
    let target = TargetBuilder::new(url).build();
    db.watch().register(&target, None, &correlation()).await.unwrap();
    target
}

/// The round of a phase that begins now.
fn round_now(phase: Phase) -> PlannedRound {
    PlannedRound { phase, slot: Timestamp::now(), interval: interval(60), correlation_id: correlation() }
}

/// The call of a minute.
fn call_at(scheduled_time: Timestamp) -> Call {
    Call { scheduled_time, correlation_id: correlation() }
}

fn text(content: &impl serde::Serialize) -> String {
    serde_json::to_string(content).unwrap()
}

/// The checks that are in their queue.
fn checks(queues: &FakeQueues) -> Vec<PlannedCheck> {
    queues.bodies("checks").iter().map(|body| serde_json::from_str(body).unwrap()).collect()
}

/// Begins a round, and returns how many messages have to come again, and what was measured.
async fn begin(dispatch: &Dispatch, round: PlannedRound) -> (usize, Measured) {
    let (answer, measured) = metrics::observe(dispatch.consume(queue_batch(&[text(&round)]))).await;
    (answer.batch_item_failures.len(), measured)
}

// ------------------------------------------------------------------------------------------------------------ Planning

#[tokio::test]
async fn a_call_plans_each_round_of_the_next_minute_and_keeps_it_back_until_it_begins() {
    let (db, queues) = (with_a_target().await, FakeQueues::start());
    let call = call_at(Timestamp::now());
    let before = Timestamp::now();

    tick(db.watch(), &queues, 15).run(call.clone()).await.unwrap();

    let after = Timestamp::now();
    let planned: Vec<_> = PlannedRound::planned_by(call.scheduled_time, &call.correlation_id, interval(15)).collect();
    let messages = queues.messages("rounds");
    assert_eq!(messages.len(), 12);
    for round in planned {
        let message = messages.iter().find(|message| message["MessageBody"] == text(&round)).unwrap();
        let delay = message["DelaySeconds"].as_u64().unwrap();
        let whole = |span: Duration| u64::try_from(span.as_millis().div_ceil(1_000)).unwrap();
        assert!((whole(after.until(round.slot))..=whole(before.until(round.slot))).contains(&delay), "{message}");
        assert!(delay <= 120, "{message}");
    }
}

#[tokio::test]
async fn a_call_that_is_repeated_late_leaves_out_what_is_over() {
    let (db, repeated, over) = (with_a_target().await, FakeQueues::start(), FakeQueues::start());
    let before = Timestamp::now();
    let call = call_at(before.minus(MINUTE));

    tick(db.watch(), &repeated, 20).run(call.clone()).await.unwrap();
    tick(db.watch(), &over, 60).run(call_at(before.minus(MINUTE * 4))).await.unwrap();

    let lasting = |now| {
        PlannedRound::planned_by(call.scheduled_time, &call.correlation_id, interval(20))
            .filter(|round| !round.is_over(now))
            .count()
    };
    let sent = repeated.messages("rounds").len();
    assert!((lasting(Timestamp::now())..=lasting(before)).contains(&sent), "{sent}");
    assert!(over.messages("rounds").is_empty());
}

#[tokio::test]
async fn what_the_queue_refuses_inside_of_a_success_is_sent_again() {
    let (db, queues) = (with_a_target().await, FakeQueues::start());
    queues.fail(Outage::OnceMessagesWith(r#""phase":1"#.to_owned()));

    tick(db.watch(), &queues, 15).run(call_at(Timestamp::now())).await.unwrap();

    let bodies = queues.bodies("rounds");
    assert_eq!((bodies.len(), bodies.iter().collect::<BTreeSet<_>>().len()), (12, 12));
}

#[tokio::test]
async fn a_call_whose_rounds_get_nowhere_fails() {
    let (db, queues) = (with_a_target().await, FakeQueues::start());
    let call = call_at(Timestamp::now());

    queues.fail(Outage::Everything);
    let unreachable = tick(db.watch(), &queues, 20).run(call.clone()).await;
    queues.fail(Outage::NeverMessagesWith(r#""phase":0"#.to_owned()));
    let refused = tick(db.watch(), &queues, 20).run(call.clone()).await;

    assert!(matches!(unreachable, Err(TickError::Refused(9))), "{unreachable:?}");
    assert!(matches!(refused, Err(TickError::Refused(3))), "{refused:?}");
    assert_eq!(queues.bodies("rounds").len(), 6);
}

/// How many rounds a call plans.
async fn planned(targets: WatchTable) -> usize {
    let queues = FakeQueues::start();
    tick(targets, &queues, 15).run(call_at(Timestamp::now())).await.unwrap();
    queues.messages("rounds").len()
}

#[tokio::test]
async fn without_targets_no_rounds_are_planned_until_there_is_one_and_after_the_last() {
    let db = TestDynamoDb::start();
    assert_eq!(planned(db.watch()).await, 0);

    let target = register(&db, "https://example.com/").await;
    assert_eq!(planned(db.watch()).await, 12);

    db.watch().delete(&target.workspace, &target.id).await.unwrap();
    assert_eq!(planned(db.watch()).await, 0);
}

#[tokio::test]
async fn a_target_that_only_a_link_watches_has_its_rounds_and_what_remains_of_it_has_none() {
    let db = TestDynamoDb::start();
    let (target, link) = (TargetBuilder::new("https://example.com/").build(), link_id("launch"));
    db.watch().watch(&target, &link, Timestamp::now(), &correlation()).await.unwrap();
    assert_eq!(planned(db.watch()).await, 12);

    db.watch().unwatch(&target.id, &link, Timestamp::now()).await.unwrap();

    assert!(!db.scan("WatchTable").is_empty(), "the link's tombstone");
    assert_eq!(planned(db.watch()).await, 0);
}

#[tokio::test]
async fn a_table_that_does_not_answer_keeps_no_round_from_being_planned() {
    for client in [TestDynamoDb::unreachable(), BrokenDynamoDb::start().client()] {
        assert_eq!(planned(WatchTable::new(client, "WatchTable")).await, 12);
    }
}

// ----------------------------------------------------------------------------------------------------------- Beginning

#[tokio::test]
async fn each_target_has_its_turn_once_in_the_three_phases_in_the_group_of_its_host() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let mut targets = Vec::new();
    for number in 0..45 {
        targets.push(register(&db, &format!("https://www{}.example.com:8443/{number}", number % 4)).await);
    }
    let dispatch = dispatch(&db, &queues, 8);

    for phase in Phase::all() {
        let before = queues.messages("checks").len();
        let (failed, measured) = begin(&dispatch, round_now(phase)).await;

        let sent = &queues.messages("checks")[before..];
        let expected: BTreeSet<_> =
            targets.iter().filter(|target| target.id.shard().phase() == phase).map(|target| &target.id).collect();
        let checks: Vec<PlannedCheck> = sent
            .iter()
            .map(|message| serde_json::from_str(message["MessageBody"].as_str().unwrap()).unwrap())
            .collect();
        assert_eq!(checks.iter().map(|check| &check.target_id).collect::<BTreeSet<_>>(), expected);
        assert_eq!((checks.len(), failed, measured.get(Metric::RoundsCut)), (expected.len(), 0, 0.0));
        for (check, message) in checks.iter().zip(sent) {
            let target = targets.iter().find(|target| target.id == check.target_id).unwrap();
            assert_eq!((&check.url, &check.workspace_id), (&target.url, &target.workspace));
            assert_eq!(check.status, TargetStatus::Pending);
            assert_eq!(message["MessageGroupId"], target.canonical_url.host().as_str());
            assert_eq!(message["DelaySeconds"], Value::Null);
        }
    }
    assert_eq!(queues.messages("checks").len(), 45);
}

#[tokio::test]
async fn a_round_that_comes_twice_has_the_same_checks_and_another_round_has_others() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let phase = register(&db, "https://example.com/").await.id.shard().phase();
    let (dispatch, round) = (dispatch(&db, &queues, 8), round_now(phase));
    let next = PlannedRound { slot: round.slot.plus(MINUTE), ..round.clone() };

    for round in [round.clone(), round, next] {
        begin(&dispatch, round).await;
    }

    let ids: Vec<Value> =
        queues.messages("checks").iter().map(|message| message["MessageDeduplicationId"].clone()).collect();
    assert_eq!(ids.len(), 3);
    assert_eq!(ids[0], ids[1]);
    assert_ne!(ids[0], ids[2]);
}

/// Of the same workspace at each run, so that its id is the same as well.
fn target(url: &str) -> Target {
    let workspace = WorkspaceId::parse("0198c0de-0000-7000-8000-000000000002").unwrap();
    TargetBuilder::new(url).in_workspace(&workspace).build()
}

async fn register_all(db: &TestDynamoDb, targets: impl Iterator<Item = Target>) -> Vec<Target> {
    let targets: Vec<Target> = targets.collect();
    for target in &targets {
        db.watch().register(target, None, &correlation()).await.unwrap();
    }
    targets
}

/// Targets of one phase, so many.
async fn register_on(db: &TestDynamoDb, phase: Phase, count: usize, url: impl Fn(usize) -> String) -> Vec<Target> {
    let targets = (0..).map(|number| target(&url(number)));
    register_all(db, targets.filter(|target| target.id.shard().phase() == phase).take(count)).await
}

/// Targets of one phase at one host, so many.
async fn register_in_phase(db: &TestDynamoDb, phase: Phase, count: usize) -> Vec<Target> {
    register_on(db, phase, count, |number| format!("https://example.com/{number}")).await
}

#[tokio::test]
async fn a_round_sends_no_more_than_there_is_room_for() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let phase = Phase::new(1).unwrap();
    register_in_phase(&db, phase, 12).await;
    // One worker, 60 seconds: room for 240.
    let dispatch = dispatch(&db, &queues, 1);

    for (waiting, in_work, sent, cut) in [(220, 8, 12, 0.0), (228, 5, 7, 1.0), (239, 1, 0, 1.0), (300, 1, 0, 1.0)] {
        let before = queues.messages("checks").len();
        queues.occupy("checks", waiting, in_work);
        let (failed, measured) = begin(&dispatch, round_now(phase)).await;
        let counted = (queues.messages("checks").len() - before, failed, measured.get(Metric::RoundsCut));
        assert_eq!(counted, (sent, 0, cut), "{waiting} waiting, {in_work} in work");
    }
}

/// Otherwise the three rounds of an interval would send three times what the workers are said to do in it.
#[tokio::test]
async fn a_round_gets_a_third_of_what_the_workers_do_in_an_interval() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let phase = Phase::new(1).unwrap();
    register_on(&db, phase, 30, |number| format!("https://{number}.example/")).await;
    let round = PlannedRound { interval: interval(20), ..round_now(phase) };

    let (_, measured) = begin(&dispatch(&db, &queues, 1), round).await;

    assert_eq!((checks(&queues).len(), measured.get(Metric::RoundsCut)), (20 * 4 / 3, 1.0));
}

#[tokio::test]
async fn a_workspace_with_many_urls_takes_no_room_of_one_with_few() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let phase = Phase::new(1).unwrap();
    let (large, small) = (WorkspaceId::generate(), WorkspaceId::generate());
    for (workspace, count) in [(&large, 900), (&small, 50)] {
        let targets = (0..).map(|number| {
            TargetBuilder::new(&format!("https://{number}.{workspace}.example/")).in_workspace(workspace).build()
        });
        register_all(&db, targets.filter(|target| target.id.shard().phase() == phase).take(count)).await;
    }
    let round = PlannedRound { interval: interval(15), ..round_now(phase) };

    // Five workers, 15 seconds: room for 100.
    let (_, measured) = begin(&dispatch(&db, &queues, 5), round).await;

    let sent = checks(&queues);
    let of = |workspace: &WorkspaceId| sent.iter().filter(|check| check.workspace_id == *workspace).count();
    assert_eq!((of(&large), of(&small), measured.get(Metric::RoundsCut)), (50, 50, 1.0));
}

/// 600 URLs at one host, and 30 at others.
#[tokio::test]
async fn a_host_with_many_urls_keeps_nobody_else_from_being_checked() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let url = |number| match number {
        0..600 => format!("https://many.example/{number}"),
        _ => format!("https://{number}.example/"),
    };
    let targets = register_all(&db, (0..630).map(|number| target(&url(number)))).await;
    let dispatch = dispatch(&db, &queues, 8);
    let is_many = |host: &Host| host.as_str() == "many.example";

    // As many as can begin within the interval while nothing waits; a third of it behind what does.
    for (waiting, of_host) in [(0, 60), (150, 20)] {
        queues.occupy("checks", waiting, 0);
        for phase in Phase::all() {
            let before = checks(&queues).len();
            let round = PlannedRound { interval: interval(15), ..round_now(phase) };
            let (_, measured) = begin(&dispatch, round).await;

            let sent = checks(&queues).split_off(before);
            let due = |is_of_host: bool| {
                let due = targets.iter().filter(|target| target.id.shard().phase() == phase);
                due.filter(move |target| is_many(&target.canonical_url.host()) == is_of_host).map(|target| &target.id)
            };
            let others: BTreeSet<_> =
                sent.iter().filter(|check| !is_many(&check.host)).map(|check| &check.target_id).collect();
            assert_eq!(others, due(false).collect(), "phase {}", phase.number());
            assert_eq!(sent.iter().filter(|check| is_many(&check.host)).count(), of_host);
            let held_back = due(true).count() - of_host;
            assert_eq!(measured.get(Metric::ChecksHeldBack), held_back as f64);
            assert_eq!(measured.get(Metric::RoundsCut), 0.0, "more workers would not help");
        }
    }
}

#[tokio::test]
async fn a_round_goes_only_so_far_to_get_past_a_host_with_many_urls() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let phase = Phase::new(1).unwrap();
    register_on(&db, phase, 60, |number| format!("https://many.example/{number}")).await;
    // One worker, 10 seconds: room for 13.
    let dispatch = Dispatch { extra_reads: 20, ..dispatch(&db, &queues, 1) };
    queues.occupy("checks", 1, 0);

    let (_, measured) = begin(&dispatch, PlannedRound { interval: interval(10), ..round_now(phase) }).await;

    assert_eq!(checks(&queues).len(), 13);
    assert_eq!((measured.get(Metric::ChecksHeldBack), measured.get(Metric::RoundsCut)), (20.0, 1.0));
}

/// Their ids are the same at each run, so a target's chance to be the first that a round meets is, too: 1 in 21 at least.
#[tokio::test]
async fn where_there_is_too_little_room_nobody_is_left_out_for_ever() {
    // One worker, 10 seconds: room for one check, or for 13, which is also the most for one host.
    for (count, waiting, at_once) in [(5, 39, 1), (16, 1, 13)] {
        let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
        let phase = Phase::new(2).unwrap();
        let targets = register_on(&db, phase, count, |number| format!("https://many.example/{number}")).await;
        let dispatch = dispatch(&db, &queues, 1);
        queues.occupy("checks", waiting, 0);

        let mut seen = BTreeSet::new();
        for rounds in 1.. {
            begin(&dispatch, PlannedRound { interval: interval(10), ..round_now(phase) }).await;
            let sent = checks(&queues);
            assert_eq!(sent.len(), rounds * at_once);
            seen.extend(sent.into_iter().map(|check| check.target_id));
            if seen.len() == targets.len() {
                break;
            }
            assert!(rounds < 1_000, "only {} of {count}", seen.len());
        }
    }
}

#[tokio::test]
async fn checks_that_are_refused_once_are_sent_again_and_those_refused_for_good_are_counted() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let phase = Phase::new(0).unwrap();
    let targets = register_in_phase(&db, phase, 12).await;
    let dispatch = dispatch(&db, &queues, 8);
    let one = targets[3].id.as_str().to_owned();

    queues.fail(Outage::OnceMessagesWith(one.clone()));
    let (failed, measured) = begin(&dispatch, round_now(phase)).await;
    assert_eq!((queues.messages("checks").len(), failed, measured.get(Metric::ChecksSkipped)), (12, 0, 0.0));

    queues.fail(Outage::NeverMessagesWith(one));
    let (failed, measured) = begin(&dispatch, round_now(phase)).await;
    assert_eq!((queues.messages("checks").len(), failed, measured.get(Metric::ChecksSkipped)), (23, 0, 1.0));
}

#[tokio::test]
async fn a_round_that_is_over_is_dropped_and_counted() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let phase = register(&db, "https://example.com/").await.id.shard().phase();
    let round = round_now(phase);
    let late = PlannedRound { slot: round.slot.minus(MINUTE), ..round.clone() };

    let (failed, measured) = begin(&dispatch(&db, &queues, 8), late).await;

    assert_eq!((failed, measured.get(Metric::RoundsCut)), (0, 1.0));
    assert!(queues.messages("checks").is_empty());
}

/// A message that came again would find its round over.
#[tokio::test]
async fn a_round_whose_targets_or_room_stay_unknown_is_counted_and_its_message_is_done_with() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let round = round_now(Phase::new(0).unwrap());
    let impatient = |targets| Dispatch { retry_for: Duration::ZERO, ..dispatch_from(targets, &queues, 8) };

    let unreadable = begin(&impatient(WatchTable::new(TestDynamoDb::unreachable(), "WatchTable")), round.clone()).await;
    queues.fail(Outage::Everything);
    let uncounted = begin(&impatient(db.watch()), round).await;

    for (failed, measured) in [unreadable, uncounted] {
        assert_eq!((failed, measured.get(Metric::RoundsCut)), (0, 1.0));
    }
}

#[tokio::test]
async fn what_fails_in_passing_is_tried_again_while_the_round_lasts() {
    let (db, queues, faults) = (TestDynamoDb::start(), FakeQueues::start(), Faults::default());
    let phase = Phase::new(0).unwrap();
    register_in_phase(&db, phase, 40).await;
    let dispatch = dispatch_from(WatchTable::new(db.client_with(faults.clone()), "WatchTable"), &queues, 8);
    queues.fail(Outage::OneCall);
    // A phase has ten stretches; what fails is read behind the others, and fails once more.
    faults.plan_all([(0, Fault::Throttled), (4, Fault::NotSent), (10, Fault::Throttled)]);

    let (failed, measured) = begin(&dispatch, round_now(phase)).await;

    assert_eq!((checks(&queues).len(), failed, measured.get(Metric::RoundsCut)), (40, 0, 0.0));
}

#[tokio::test]
async fn a_shard_that_cannot_be_read_keeps_no_other_from_being_checked() {
    let (db, queues, faults) = (TestDynamoDb::start(), FakeQueues::start(), Faults::default());
    let phase = Phase::new(0).unwrap();
    let targets = register_in_phase(&db, phase, 30).await;
    let table = WatchTable::new(db.client_with(faults.clone()), "WatchTable");
    let dispatch = Dispatch { retry_for: Duration::ZERO, ..dispatch_from(table, &queues, 8) };
    faults.plan(Some((0, Fault::Throttled)));

    let (failed, measured) = begin(&dispatch, round_now(phase)).await;

    let sent: BTreeSet<_> = checks(&queues).into_iter().map(|check| check.target_id).collect();
    let missing = targets.iter().filter(|target| !sent.contains(&target.id)).map(|target| target.id.shard());
    assert!(missing.collect::<BTreeSet<_>>().len() <= 1);
    assert_eq!((failed, measured.get(Metric::RoundsCut)), (0, 1.0));
}

#[tokio::test]
async fn a_target_that_cannot_be_read_is_left_out_and_its_neighbours_are_checked() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let phase = Phase::new(1).unwrap();
    let targets = register_in_phase(&db, phase, 20).await;
    damage(&db, &targets[7].id).await;

    let (failed, measured) = begin(&dispatch(&db, &queues, 8), round_now(phase)).await;

    let sent: BTreeSet<_> = checks(&queues).into_iter().map(|check| check.target_id).collect();
    let readable = targets.iter().filter(|target| target.id != targets[7].id);
    assert_eq!(sent, readable.map(|target| target.id.clone()).collect());
    assert_eq!((failed, measured.get(Metric::RoundsCut)), (0, 1.0));
}

#[tokio::test]
async fn a_message_that_is_no_round_is_parked_and_its_neighbour_begins() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let phase = register(&db, "https://example.com/").await.id.shard().phase();
    let malformed = r#"{"phase": 7}"#.to_owned();

    let batch = queue_batch(&[malformed.clone(), text(&round_now(phase))]);
    let answer = dispatch(&db, &queues, 8).consume(batch).await;

    assert!(answer.batch_item_failures.is_empty());
    assert_eq!(queues.bodies("rounds-dlq"), [malformed]);
    assert_eq!(queues.messages("checks").len(), 1);
}

// ------------------------------------------------------------------------------------------------------------- Holding

/// A target and what checks it, as its messages come.
struct Watched {
    db: TestDynamoDb,
    queues: FakeQueues,
    checker: Checker,
    target: Target,
}

impl Watched {
    async fn new(url: &str) -> Self {
        let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
        let target = register(&db, url).await;
        let checker = checker(db.watch(), &queues, Reach::PublicAndLoopback);
        Self { db, queues, checker, target }
    }

    /// The message of a round that begins now, as dispatch would send it.
    async fn message(&self) -> PlannedCheck {
        let [on, _] = ShardRange::split_at(self.target.id.shard(), &self.target.id);
        let due = self.db.watch().due(&on, 1).await.unwrap().targets;
        let [DueTarget { id, workspace, url, host, status }] = <[_; 1]>::try_from(due).unwrap();
        let slot = Timestamp::now();
        PlannedCheck {
            target_id: id,
            workspace_id: workspace,
            url,
            host,
            status,
            slot,
            interval: interval(60),
            correlation_id: correlation(),
        }
    }

    async fn deliver(&self, message: &PlannedCheck) -> Measured {
        let (answer, measured) = metrics::observe(self.checker.consume(queue_batch(&[text(message)]))).await;
        assert!(answer.batch_item_failures.is_empty());
        measured
    }

    async fn round(&self) -> Measured {
        let message = self.message().await;
        self.deliver(&message).await
    }

    async fn results(&self) -> Vec<CheckResult> {
        self.db.watch().results(&self.target, None, 100, Timestamp::now()).await.unwrap()
    }

    async fn outcome(&self) -> CheckOutcome {
        self.results().await[0].outcome
    }
}

#[tokio::test]
async fn a_round_has_one_result_however_often_its_message_comes() {
    let site = Site::start();
    let watched = Watched::new(&site.url("/page")).await;
    let message = watched.message().await;

    watched.deliver(&message).await;
    site.behave(Manner::Answers(404));
    watched.deliver(&message).await;

    let results = watched.results().await;
    assert_eq!((results.len(), results[0].outcome), (1, CheckOutcome::Answered(200)));
    assert_eq!(watched.db.watch().find(&watched.target.id).await.unwrap().unwrap().status, TargetStatus::Up);
}

#[tokio::test]
async fn a_check_that_is_over_is_left_out_and_counted() {
    let site = Site::start();
    let watched = Watched::new(&site.url("/page")).await;
    let message = watched.message().await;
    let late = PlannedCheck { slot: message.slot.minus(MINUTE), ..message.clone() };

    let measured = watched.deliver(&late).await;

    assert_eq!(measured.get(Metric::ChecksSkipped), 1.0);
    assert_eq!((site.all_requests(), watched.results().await.len()), (0, 0));
}

#[tokio::test]
async fn a_target_that_fails_and_recovers_is_told_of_once_each() {
    let site = Site::start();
    let watched = Watched::new(&site.url("/page")).await;
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
        failed += watched.round().await.get(Metric::ChecksFailed);
    }
    relay(&watched.db, &watched.queues).consume(watched.db.stream("WatchTable")).await;

    let events = watched.queues.events("notify");
    let told: Vec<_> =
        events.iter().map(|event| (event["event_type"].as_str().unwrap(), &event["status_code"])).collect();
    assert_eq!(told, [("target.down", &Value::from(503)), ("target.up", &Value::Null)]);
    assert_eq!((watched.results().await.len(), failed), (8, 4.0));
    // Three attempts of each round that failed.
    assert_eq!(site.requests("/page"), 4 + 4 * 3);
}

#[tokio::test]
async fn each_way_to_fail_has_its_result() {
    let site = Site::start();
    let watched = Watched::new(&site.url("/page")).await;
    for (manner, outcome) in
        [(Manner::Answers(404), CheckOutcome::Answered(404)), (Manner::Closes, CheckOutcome::Failed(CheckError::Other))]
    {
        site.behave(manner);
        watched.round().await;
        assert_eq!(watched.outcome().await, outcome);
    }

    let impatient = Fetcher::new(Reach::PublicAndLoopback, Duration::from_millis(100)).unwrap();
    let watched = Watched { checker: Checker { fetcher: impatient, ..watched.checker }, ..watched };
    site.behave(Manner::Hangs);
    watched.round().await;
    assert_eq!(watched.outcome().await, CheckOutcome::Failed(CheckError::Timeout));

    for (url, error) in
        [("http://127.0.0.1:9/discard", CheckError::PortNotAllowed), ("http://10.0.0.1/", CheckError::NotPublic)]
    {
        let watched = Watched::new(url).await;
        watched.round().await;
        assert_eq!(watched.outcome().await, CheckOutcome::Failed(error), "{url}");
    }
}

#[tokio::test]
async fn without_leave_this_machine_is_not_reached() {
    let site = Site::start();
    let watched = Watched::new(&site.url("/page")).await;
    let checker = checker(watched.db.watch(), &watched.queues, Reach::Public);
    let watched = Watched { checker, ..watched };

    watched.round().await;

    assert_eq!(watched.outcome().await, CheckOutcome::Failed(CheckError::NotPublic));
    assert_eq!(site.all_requests(), 0);
}

/// A message that came again would hold up its host, and be over by then.
#[tokio::test]
async fn a_result_that_cannot_be_stored_is_counted_and_its_message_is_done_with() {
    let site = Site::start();
    let watched = Watched::new(&site.url("/page")).await;
    let broken = BrokenDynamoDb::start();
    let targets = WatchTable::new(broken.client(), "WatchTable");
    let watched = Watched { checker: checker(targets, &watched.queues, Reach::PublicAndLoopback), ..watched };

    let measured = watched.round().await;

    assert_eq!(measured.get(Metric::ChecksLost), 1.0);
    assert_eq!(site.all_requests(), 1);
}

#[tokio::test]
async fn a_message_that_is_no_check_is_parked_in_a_group_of_its_own() {
    let watched = Watched::new("https://example.com/").await;
    let (first, second) = ("no check".to_owned(), "nor this".to_owned());

    let answer = watched.checker.consume(queue_batch(&[first.clone(), second.clone()])).await;

    assert!(answer.batch_item_failures.is_empty());
    assert_eq!(watched.queues.bodies("checks-dlq.fifo"), [first, second]);
    let parked = watched.queues.messages("checks-dlq.fifo");
    assert_eq!((&parked[0]["MessageGroupId"], &parked[1]["MessageGroupId"]), (&Value::from("0"), &Value::from("1")));
    assert!(parked.iter().all(|message| message["MessageDeduplicationId"] == message["MessageGroupId"]));
}

fn sample<T: serde::de::DeserializeOwned>(function: &str, name: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../functions/{function}/events/{name}.json"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// They are of a time that is over, so nothing is sent; but they are understood.
#[tokio::test]
async fn the_sample_events_are_understood() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let (dispatch, checker) = (dispatch(&db, &queues, 8), checker(db.watch(), &queues, Reach::Public));

    tick(db.watch(), &queues, 15).run(sample("watch-tick", "call")).await.unwrap();
    let (_, round) = metrics::observe(dispatch.consume(sample("watch-dispatch", "round"))).await;
    let (_, check) = metrics::observe(checker.consume(sample("watch-check", "check"))).await;

    assert_eq!((round.get(Metric::RoundsCut), check.get(Metric::ChecksSkipped)), (1.0, 1.0));
    assert!(queues.bodies("rounds-dlq").is_empty() && queues.bodies("checks-dlq.fifo").is_empty());
}
