//! Counting under every failure that can be thought of: schedules of duplicates, other orders, partial batches, calls that never
//! arrive, answers that get lost, consumers that die before they acknowledge, and consumers that meet on one link.
//!
//! Whatever happened, in the end every click is counted once. `PROPTEST_CASES` sets the number of schedules; a failing one is
//! shrunk to the shortest that fails.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use aws_lambda_events::sqs::SqsEvent;
use linklet_domain::{Event, EventDetail, ShortCode, Timestamp};
use linklet_dynamodb::{
    StatsTable,
    stream::{Change, change_of},
};
use linklet_lambda::batch::Consumer;
use linklet_test_support::{FakeQueues, Fault, Faults, TestDynamoDb, click_event, event_batch};
use proptest::{prelude::*, test_runner::TestRunner};

use crate::fixture::analytics;

const LINKS: usize = 2;

/// A click: which link, and when.
#[derive(Debug, Clone)]
struct PlannedClick {
    link: usize,
    hours_ago: u64,
}

/// A delivery of some of the clicks, in any order, some of them perhaps twice.
#[derive(Debug, Clone)]
struct Delivery {
    clicks: Vec<prop::sample::Index>,
    fault: Option<(usize, Fault)>,
    /// The consumer dies before it can answer, so SQS delivers everything again.
    dies: bool,
    /// Another consumer gets the same clicks at the same time.
    meets_another: bool,
}

#[derive(Debug, Clone)]
struct Schedule {
    clicks: Vec<PlannedClick>,
    deliveries: Vec<Delivery>,
}

fn schedules() -> impl Strategy<Value = Schedule> {
    let click = (0..LINKS, 0_u64..72).prop_map(|(link, hours_ago)| PlannedClick { link, hours_ago });
    let fault = prop_oneof![Just(Fault::NotSent), Just(Fault::AnswerLost)];
    let delivery = (
        prop::collection::vec(any::<prop::sample::Index>(), 1..40),
        prop::option::of((0_usize..6, fault)),
        any::<bool>(),
        prop::bool::weighted(0.3),
    )
        .prop_map(|(clicks, fault, dies, meets_another)| Delivery { clicks, fault, dies, meets_another });
    (prop::collection::vec(click, 1..120), prop::collection::vec(delivery, 0..5))
        .prop_map(|(clicks, deliveries)| Schedule { clicks, deliveries })
}

struct Bench {
    db: TestDynamoDb,
    queues: FakeQueues,
    faults: Faults,
    faulty_stats: StatsTable,
    case: AtomicUsize,
}

impl Bench {
    fn new() -> Self {
        let (db, faults) = (TestDynamoDb::start(), Faults::default());
        let faulty_stats = StatsTable::new(db.client_with(faults.clone()), "StatsTable");
        Self { db, queues: FakeQueues::start(), faults, faulty_stats, case: AtomicUsize::new(0) }
    }

    async fn run(&self, schedule: &Schedule) -> Result<(), TestCaseError> {
        let case = self.case.fetch_add(1, Ordering::SeqCst);
        let code = |link: usize| format!("x{link}{case:06}");
        let now = Timestamp::now();
        let clicks: Vec<Event> = schedule
            .clicks
            .iter()
            .map(|click| click_event(&code(click.link), now.minus(Duration::from_secs(click.hours_ago * 3_600))))
            .collect();

        for delivery in &schedule.deliveries {
            let chosen: Vec<Event> = delivery.clicks.iter().map(|index| index.get(&clicks).clone()).collect();
            self.deliver(delivery, event_batch(&chosen)).await;
        }
        // What has not been acknowledged, and here that is everything, comes again until it is.
        let mut pending = event_batch(&clicks);
        while !pending.records.is_empty() {
            let answer = analytics(&self.db, &self.queues).consume(pending.clone()).await;
            let failed: BTreeSet<_> =
                answer.batch_item_failures.into_iter().map(|failure| failure.item_identifier).collect();
            pending.records.retain(|message| failed.contains(message.message_id.as_deref().unwrap()));
        }

        for link in 0..LINKS {
            self.check(&code(link), clicks.iter().filter(|click| code_of(click) == code(link)).collect()).await?;
        }
        Ok(())
    }

    async fn deliver(&self, delivery: &Delivery, batch: SqsEvent) {
        let mut consumer = analytics(&self.db, &self.queues);
        consumer.stats = self.faulty_stats.clone();
        self.faults.plan(delivery.fault);
        let answer = if delivery.meets_another {
            let another = analytics(&self.db, &self.queues);
            futures_util::join!(consumer.consume(batch.clone()), another.consume(batch.clone())).0
        } else {
            consumer.consume(batch.clone()).await
        };
        self.faults.plan(None);
        if !delivery.dies {
            // What was acknowledged is gone from the queue; what failed comes again, once more in this order.
            let failed: BTreeSet<_> =
                answer.batch_item_failures.into_iter().map(|failure| failure.item_identifier).collect();
            let mut again = batch;
            again.records.retain(|message| failed.contains(message.message_id.as_deref().unwrap()));
            analytics(&self.db, &self.queues).consume(again).await;
        }
    }

    async fn check(&self, code: &str, clicks: Vec<&Event>) -> Result<(), TestCaseError> {
        let short_code = ShortCode::parse(code).unwrap();
        let ever = Timestamp::from_unix_seconds(0).unwrap().day();
        let stats = self.db.stats().since(&short_code, ever).await.unwrap().unwrap_or_default();
        let mut days: BTreeMap<_, [u64; 24]> = BTreeMap::new();
        for click in &clicks {
            days.entry(click.occurred_at.day()).or_default()[usize::from(click.occurred_at.hour())] += 1;
        }

        prop_assert_eq!(stats.totals.total_clicks, clicks.len() as u64, "total of {}", code);
        prop_assert_eq!(stats.totals.last_click_at, clicks.iter().map(|click| click.occurred_at).max());
        let counted: BTreeMap<_, _> = stats.days.iter().map(|(day, stats)| (*day, stats.hours)).collect();
        prop_assert_eq!(counted, days, "hours of {}", code);
        for (day, stats) in &stats.days {
            prop_assert_eq!(stats.total_clicks, stats.hours.iter().sum::<u64>(), "{}", day);
        }
        let expected: Vec<u64> = [10, 100].into_iter().filter(|milestone| *milestone <= clicks.len() as u64).collect();
        prop_assert_eq!(self.milestones(code), expected, "milestones of {}", code);
        Ok(())
    }

    /// In the order in which the stream publishes them.
    fn milestones(&self, code: &str) -> Vec<u64> {
        let records = self.db.stream("StatsTable").records;
        records
            .iter()
            .filter(|record| record.change.keys.inner().values().any(|key| format!("{key:?}").contains("MILESTONE#")))
            .filter_map(|record| match change_of(record).unwrap() {
                Change::Event(event) if code_of(&event) == code => match event.detail {
                    EventDetail::MilestoneReached(reached) => Some(reached.milestone),
                    _ => None,
                },
                _ => None,
            })
            .collect()
    }
}

fn code_of(event: &Event) -> &str {
    match &event.detail {
        EventDetail::UrlClicked(click) => click.short_code.as_str(),
        EventDetail::MilestoneReached(reached) => reached.short_code.as_str(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn whatever_happens_every_click_counts_once() {
    let bench = Bench::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(60);
    let mut runner = TestRunner::new(ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() });

    runner.run(&schedules(), |schedule| runtime.block_on(bench.run(&schedule))).unwrap();
}
