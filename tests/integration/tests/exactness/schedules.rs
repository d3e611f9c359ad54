//! Random schedules of everything that can go wrong.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::thread;
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::{RetryConfig, RetryPartition, TokenBucket};
use linklet_domain::{Day, DayStats, UserId, WorkspaceId};
use linklet_dynamodb::{CommitOutcome, Correction, StatsTable, Table};
use linklet_lambda::batch::Consumer;
use linklet_test_support::{FakeQueues, Faults, StreamReader, TestDynamoDb, link_id};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use super::model::{Click, Expected, Link};
use super::observed::{Verdict, check, ever, milestones, same};
use super::plan::{Delivery, End, LINKS, Queue, Rival, Schedule, Task, acknowledged, packed_batch, schedules};
use super::seed::seed;
use super::turns::{Seat, Turns};
use crate::fixture::{analytics, clients};

/// Each with a table of its own; together they run `PROPTEST_CASES` schedules.
const RUNNERS: u32 = 2;
const CASES: u32 = 400;
/// The longer a stream, the longer it takes to read its end.
const CASES_PER_TABLE: u32 = 20;

#[test]
fn whatever_happens_every_click_counts_once() {
    let seed = seed();
    thread::scope(|scope| {
        for runner in 0..RUNNERS {
            scope.spawn(move || run(seed.wrapping_add(u64::from(runner))));
        }
    });
}

fn run(seed: u64) {
    let cases = std::env::var("PROPTEST_CASES").map_or(CASES, |cases| cases.parse().unwrap()).div_ceil(RUNNERS);
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_time: 120_000,
        rng_seed: RngSeed::Fixed(seed),
        ..Config::default()
    };
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let bench = RefCell::new(Bench::new());

    let outcome = TestRunner::new(config).run(&schedules(), |schedule| {
        if bench.borrow().case.get() == CASES_PER_TABLE {
            bench.replace(Bench::new());
        }
        bench.borrow().try_out(&runtime, &schedule)
    });

    if let Err(failure) = outcome {
        panic!("{failure}\nRepeat it with PROPTEST_RNG_SEED={seed} and the same PROPTEST_CASES");
    }
}

/// A table, and two consumers at it.
struct Bench {
    db: TestDynamoDb,
    queues: FakeQueues,
    stream: RefCell<StreamReader>,
    turns: Turns,
    faults: Faults,
    first: Consumers,
    second: Consumers,
    case: Cell<u32>,
}

/// A consumer's table with and without the SDK's retries.
struct Consumers {
    seat: Seat,
    retrying: StatsTable,
    trying_once: StatsTable,
}

impl Consumers {
    fn new(client: &Client, seat: Seat) -> Self {
        let config = || client.config().to_builder().interceptor(seat.clone()).endpoint_resolver(seat.clone());
        let table = |config| StatsTable::new(Table::new(Client::from_conf(config), "StatsTable"));
        // As in production, but for the time in between.
        let retry = RetryConfig::standard().with_initial_backoff(Duration::from_millis(1));
        let retrying = config()
            .retry_config(retry)
            .retry_partition(RetryPartition::custom("unlimited").token_bucket(TokenBucket::unlimited()).build());
        Self { retrying: table(retrying.build()), trying_once: table(config().build()), seat }
    }

    fn table(&self, retries: bool) -> StatsTable {
        if retries { self.retrying.clone() } else { self.trying_once.clone() }
    }
}

impl Bench {
    fn new() -> Self {
        let (db, turns, faults) = (TestDynamoDb::start(), Turns::default(), Faults::default());
        Self {
            queues: FakeQueues::start(),
            stream: db.stream_reader("StatsTable").into(),
            first: Consumers::new(&db.client_with(faults.clone()), turns.seat(0)),
            second: Consumers::new(&db.client(), turns.seat(1)),
            db,
            turns,
            faults,
            case: Cell::default(),
        }
    }

    fn try_out(&self, runtime: &Runtime, schedule: &Schedule) -> Result<(), TestCaseError> {
        const LONGEST: Duration = Duration::from_secs(600); // at low priority, beside others
        let verdict = runtime.block_on(async { tokio::time::timeout(LONGEST, self.play(schedule)).await });
        verdict.unwrap_or_else(|_| Err("it doesn't end".to_owned())).map_err(TestCaseError::fail)
    }

    async fn play(&self, schedule: &Schedule) -> Verdict {
        // What a schedule that failed has left there.
        self.stream.borrow_mut().read_on("MILESTONE#");
        let clicks = schedule.clicks();
        let links = self.new_links(clicks.iter().map(|click| click.link + 1).fold(LINKS, usize::max));
        let mut queue = Queue::of(0..clicks.len());
        let play = Play { bench: self, schedule, links: &links, clicks: &clicks };
        for delivery in &schedule.deliveries {
            play.deliver(delivery, &mut queue).await;
        }
        play.deliver_the_rest(&mut queue).await?;
        play.check().await
    }

    /// Codes and a workspace that no other schedule has.
    fn new_links(&self, count: usize) -> Vec<Link> {
        let case = self.case.replace(self.case.get() + 1);
        let (workspace, owner) = (WorkspaceId::generate(), UserId::generate());
        let id = |link| link_id(&format!("x{link}x{case:06}"));
        (0..count).map(|link| Link { id: id(link), workspace, owner }).collect()
    }
}

/// Makes numbers wrong that don't decide about milestones.
fn damage(db: &TestDynamoDb, link: &Link) {
    for mut row in db.scan("StatsTable") {
        let is_day = row["sk"]["S"].as_str().unwrap().starts_with("DAY#");
        if is_day && row["pk"]["S"].as_str().unwrap().starts_with(&format!("STATS#{}", link.id)) {
            row["human_clicks"] = json!({"N": "7777"});
            db.put("StatsTable", &row);
        }
    }
}

/// A schedule under way.
struct Play<'a> {
    bench: &'a Bench,
    schedule: &'a Schedule,
    links: &'a [Link],
    clicks: &'a [Click],
}

impl Play<'_> {
    async fn deliver(&self, delivery: &Delivery, queue: &mut Queue) {
        let Bench { turns, faults, first, second, .. } = self.bench;
        let batch = self.schedule.places(&delivery.batch);
        faults.plan_all(delivery.faults.iter().copied());
        let rival = delivery.rival.as_ref();
        let order: Vec<usize> =
            rival.map_or(Vec::new(), |rival| rival.order.iter().copied().map(usize::from).collect());
        turns.begin(&order, delivery.end.dies_before(), rival.map(|rival| rival.end.dies_before()));
        let corrected = rival.and_then(Rival::corrected).map(|link| &self.links[link]);
        corrected.into_iter().for_each(|link| damage(&self.bench.db, link));
        let rivals = async {
            let Some(Rival { task, end, .. }) = rival else { return Vec::new() };
            match task {
                Task::Counts(of_its_own) => {
                    let batch = of_its_own.as_ref().map_or_else(|| batch.clone(), |own| self.schedule.places(own));
                    self.consume(second, true, &batch, *end).await
                }
                Task::Corrects(link) => {
                    second.seat.live(self.correct(*link, &second.retrying)).await;
                    Vec::new()
                }
            }
        };
        let (acknowledged, by_rival) =
            futures_util::join!(self.consume(first, delivery.retries, &batch, delivery.end), rivals);
        faults.plan(None);
        queue.forget(&acknowledged);
        queue.forget(&by_rival);
        if let Some(link) = rival.and_then(Rival::corrected) {
            let outcome = self.correct(link, &self.bench.db.stats()).await;
            assert_eq!(outcome, CommitOutcome::Committed, "nobody was there to get in the way");
        }
    }

    /// Replaces a link's days with what its counted clicks make, as a recount does.
    async fn correct(&self, number: usize, table: &StatsTable) -> CommitOutcome {
        let Link { id, workspace, .. } = &self.links[number];
        let before = table.life(workspace, id).await.unwrap();
        let moved = table.counted_on(id, &before, &ever()).await.unwrap();
        let mut days: BTreeMap<Day, DayStats> = BTreeMap::new();
        for (place, click) in self.clicks.iter().enumerate().filter(|(_, click)| click.link == number) {
            let (at, clicked) = (click.at(), linklet_domain::Click::from_event(self.event(place)).unwrap());
            if before.has_counted(&clicked.id) || moved.contains(&clicked.id) {
                let client = clients().of(&clicked.visitor.user_agent);
                days.entry(at.day()).or_default().count(at, &clicked.visitor, &client);
            }
        }
        let after = before.with_days(&days);
        let correction = Correction { link: id, workspace, before: &before, after: &after };
        table.correct(&correction).await.unwrap()
    }

    /// Lets a consumer have these clicks, and returns those that it acknowledges.
    async fn consume(&self, consumers: &Consumers, retries: bool, batch: &[usize], end: End) -> Vec<usize> {
        let mut consumer = analytics(&self.bench.db, &self.bench.queues);
        consumer.stats = StatsTable { split_from: self.schedule.split_from, ..consumers.table(retries) };
        let events: Vec<_> = batch.iter().map(|place| self.event(*place)).collect();
        let packed = self.schedule.packed;
        let answer = consumers.seat.live(consumer.consume(packed_batch(&events, packed))).await;
        match answer {
            Some(answer) if end != End::Unheard => acknowledged(batch, packed, &answer),
            _ => Vec::new(),
        }
    }

    /// As SQS does: what nobody has acknowledged comes until somebody does.
    async fn deliver_the_rest(&self, queue: &mut Queue) -> Verdict {
        let mut consumer = analytics(&self.bench.db, &self.bench.queues);
        consumer.stats.split_from = self.schedule.split_from;
        for _ in 0..=2 * self.clicks.len() {
            let batch = queue.next(self.schedule.last_batches);
            if batch.is_empty() {
                return Ok(());
            }
            let events: Vec<_> = batch.iter().map(|place| self.event(*place)).collect();
            let answer = consumer.consume(packed_batch(&events, self.schedule.packed)).await;
            queue.forget(&acknowledged(&batch, self.schedule.packed, &answer));
        }
        Err("messages come again and again".to_owned())
    }

    fn event(&self, place: usize) -> linklet_domain::Event {
        let click = &self.clicks[place];
        click.event(&self.links[click.link])
    }

    async fn check(&self) -> Verdict {
        let mut totals = HashMap::new();
        let mut published = milestones(&self.bench.stream.borrow_mut().read_on("MILESTONE#"));
        for (number, link) in self.links.iter().enumerate() {
            let clicks: Vec<&Click> = self.clicks.iter().filter(|click| click.link == number).collect();
            check(&self.bench.db, link, &clicks).await.map_err(|wrong| format!("link {number}: {wrong}"))?;
            let reached = published.remove(link.id.code.as_str()).unwrap_or_default();
            same(&format!("milestones of link {number}"), reached, Expected::of(&clicks).milestones)?;
            if !clicks.is_empty() {
                totals.insert(link.id.clone(), Expected::of(&clicks).listed());
            }
        }
        same("milestones of other links", published, BTreeMap::new())?;
        let listed = self.bench.db.stats().totals_of_workspace(&self.links[0].workspace).await.unwrap().unwrap();
        same("totals of the workspace", listed, totals)
    }
}
