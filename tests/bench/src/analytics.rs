//! How many clicks a second one consumer counts, with DynamoDB behind HTTP on the same machine.
//!
//! The consumer is the analytics function without Lambda around it: batches of messages as SQS delivers them, parsed,
//! classified and counted one batch after another on one thread, as in an execution environment. The tables have no streams:
//! this implementation of DynamoDB looks through the whole stream at each write, which would be all that is measured.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aws_lambda_events::sqs::SqsEvent;
use aws_sdk_dynamodb::Client;
use linklet_analytics::{Analytics, Clients};
use linklet_domain::{Event, Timestamp};
use linklet_dynamodb::{ClicksTable, JobsTable, LinksTable, StatsTable, Table};
use linklet_lambda::batch::{Consumer, DeadLetterQueue};
use linklet_test_support::{AGENTS, CapacityMeter, ClickBuilder, FakeQueues, TestDynamoDb, queue_batch};
use linklet_user_agents::Classifier;
use serde::Serialize;
use serde_json::json;

use crate::options::Extent;

/// Messages with a click each that Lambda hands over at once.
const BATCH: usize = 500;
/// Clicks of a viral link that Lambda hands over at once: 6 MB.
const FLOOD: usize = 9_000;
/// Clicks that share a message of 64 KB.
const PACKED: usize = 100;
/// Which links are clicked.
struct Workload {
    name: &'static str,
    links: usize,
    clicks: usize,
    pick: fn(usize) -> usize,
    a_second: u64,
    /// By how much a message may come later than others that were sent later.
    shuffled_over: Duration,
    /// How many clicks are in a batch, and how many in each of its messages.
    batch: (usize, usize),
}

const ORDINARY: Workload = Workload {
    name: "1,000 links, Zipf",
    links: 1_000,
    clicks: 20_000,
    pick: zipf,
    a_second: 500,
    shuffled_over: Duration::ZERO,
    batch: (BATCH, 1),
};

const VIRAL: Workload = Workload {
    name: "one viral link, in order",
    links: 1,
    clicks: 180_000,
    pick: uniform,
    a_second: 16_000,
    shuffled_over: Duration::ZERO,
    batch: (FLOOD, PACKED),
};

const WORKLOADS: [Workload; 4] = [
    ORDINARY,
    Workload { name: "500 links, one click each", links: 500, clicks: 5_000, pick: uniform, ..ORDINARY },
    VIRAL,
    Workload { name: "one viral link, shuffled over 5 s", shuffled_over: Duration::from_secs(5), ..VIRAL },
];

/// How fast clicks on some links are counted, and what each costs.
#[derive(Debug, Serialize)]
pub struct Counting {
    clicks_on: &'static str,
    clicks_per_s: f64,
    calls_per_click: f64,
    wru_per_click: f64,
    rru_per_click: f64,
}

/// Measures all workloads, and prints what comes out.
pub async fn measure(extent: Extent) -> Vec<Counting> {
    println!("\nanalytics: one consumer, DynamoDB over HTTP on this machine");
    println!("{:<34} {:>10} {:>12} {:>12} {:>12}", "clicks on", "clicks/s", "calls/click", "write units", "read units");
    let mut all = Vec::new();
    for workload in WORKLOADS.map(|workload| Workload { clicks: extent.of(workload.clicks), ..workload }) {
        let counting = measure_one(&workload).await;
        println!(
            "{:<34} {:>10.0} {:>12.3} {:>12.3} {:>12.3}",
            counting.clicks_on,
            counting.clicks_per_s,
            counting.calls_per_click,
            counting.wru_per_click,
            counting.rru_per_click,
        );
        all.push(counting);
    }
    all
}

/// Once for the time and once for the units, since counting units takes time too.
async fn measure_one(workload: &Workload) -> Counting {
    let queues = FakeQueues::start();
    let db = TestDynamoDb::without_streams();
    let batches = || batches(&clicks(workload), workload.batch);
    let seconds = consume(&db.client(), &queues, batches()).await.as_secs_f64();
    let (db, meter) = (TestDynamoDb::without_streams(), CapacityMeter::default());
    consume(&db.client_with(meter.clone()), &queues, batches()).await;
    let per_click = |number: f64| number / workload.clicks as f64;
    Counting {
        clicks_on: workload.name,
        clicks_per_s: workload.clicks as f64 / seconds,
        calls_per_click: per_click(meter.calls() as f64),
        wru_per_click: per_click(meter.write_units()),
        rru_per_click: per_click(meter.read_units()),
    }
}

/// Has clicks counted, each in a message of its own, and tells how long it took.
pub async fn count(client: &Client, queues: &FakeQueues, clicks: &[Event]) -> Duration {
    consume(client, queues, batches(clicks, (BATCH, 1))).await
}

fn batches(clicks: &[Event], (clicks_of_batch, packed): (usize, usize)) -> Vec<SqsEvent> {
    let bodies = |batch: &[Event]| -> Vec<String> {
        batch.chunks(packed).map(|events| json!({"events": events}).to_string()).collect()
    };
    clicks.chunks(clicks_of_batch).map(|batch| queue_batch(&bodies(batch))).collect()
}

async fn consume(client: &Client, queues: &FakeQueues, batches: Vec<SqsEvent>) -> Duration {
    let analytics = Analytics {
        stats: StatsTable::new(Table::new(client.clone(), "StatsTable")),
        clicks: ClicksTable::new(Table::new(client.clone(), "ClicksTable")),
        links: LinksTable(Table::new(client.clone(), "LinksTable")),
        clients: Arc::new(Clients::new(Classifier::load().expect("the rules compile"))),
        jobs: JobsTable(Table::new(client.clone(), "JobsTable")),
        dead_letters: DeadLetterQueue::new(queues.client(), queues.url("dlq")),
        count_turn: Duration::from_secs(10),
        purge_turn: Duration::from_secs(15),
        clock: Box::new(Timestamp::now),
    };
    let started = Instant::now();
    for batch in batches {
        assert!(analytics.consume(batch).await.batch_item_failures.is_empty(), "every click counts");
    }
    started.elapsed()
}

/// Clicks by 5,000 people, in the order in which they arrive.
fn clicks(workload: &Workload) -> Vec<Event> {
    let start = Timestamp::now();
    let mut arrivals: Vec<(Duration, Event)> = (0..workload.clicks)
        .map(|number| {
            let link = (workload.pick)(workload.links);
            let after = Duration::from_millis(1_000 * number as u64 / workload.a_second);
            let late = workload.shuffled_over.mul_f64(fastrand::f64());
            let click = ClickBuilder::new(&format!("code{link:04}"))
                .at(start.plus(after))
                .by(&format!("203.0.{}", fastrand::u32(..5_000)))
                .with(AGENTS[number % AGENTS.len()].text)
                .from(&format!("https://site{}.example/", fastrand::u32(..20)))
                .build();
            (after + late, click)
        })
        .collect();
    arrivals.sort_by_key(|(arrival, _)| *arrival);
    arrivals.into_iter().map(|(_, click)| click).collect()
}

fn uniform(links: usize) -> usize {
    fastrand::usize(..links)
}

/// The n-th link is clicked in proportion to 1/n: the inverse of the harmonic sum, approximately.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a rank among a thousand"
)]
fn zipf(links: usize) -> usize {
    ((links as f64).powf(fastrand::f64()) as usize - 1).min(links - 1)
}
