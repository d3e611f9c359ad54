//! How many clicks a second one consumer counts, with DynamoDB behind HTTP on the same machine.
//!
//! The consumer is the analytics function without Lambda around it: batches of 500 messages as SQS delivers them, parsed,
//! classified and counted one batch after another on one thread, as in an execution environment. The tables have no streams:
//! this implementation of DynamoDB looks through the whole stream at each write, which would be all that is measured.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use aws_sdk_dynamodb::Client;
use linklet_analytics::{Analytics, Clients};
use linklet_domain::{Event, Timestamp};
use linklet_dynamodb::{ClicksTable, StatsTable};
use linklet_lambda::{
    batch::{Consumer, DeadLetterQueue},
    publisher::Publisher,
};
use linklet_test_support::{CapacityMeter, ClickBuilder, FakeQueues, TestDynamoDb, event_batch};
use linklet_user_agents::Classifier;
use serde::Serialize;

use crate::options::Extent;

const BATCH: usize = 500;
const AGENTS: [&str; 4] = [
    ClickBuilder::BROWSER,
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
];

/// Which links are clicked.
struct Workload {
    name: &'static str,
    links: usize,
    clicks: usize,
    pick: fn(usize) -> usize,
}

const WORKLOADS: [Workload; 3] = [
    Workload { name: "1,000 links, Zipf", links: 1_000, clicks: 20_000, pick: zipf },
    Workload { name: "500 links, one click each", links: 500, clicks: 5_000, pick: uniform },
    Workload { name: "one viral link", links: 1, clicks: 50_000, pick: uniform },
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
    println!("\nanalytics: one consumer, batches of {BATCH}, DynamoDB over HTTP on this machine");
    println!("{:<28} {:>10} {:>12} {:>12} {:>12}", "clicks on", "clicks/s", "calls/click", "write units", "read units");
    let mut all = Vec::new();
    for workload in WORKLOADS.map(|workload| Workload { clicks: extent.of(workload.clicks), ..workload }) {
        let counting = measure_one(&workload).await;
        println!(
            "{:<28} {:>10.0} {:>12.2} {:>12.2} {:>12.2}",
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
    let seconds = count(&db.client(), &queues, &clicks(workload)).await.as_secs_f64();
    let (db, meter) = (TestDynamoDb::without_streams(), CapacityMeter::default());
    count(&db.client_with(meter.clone()), &queues, &clicks(workload)).await;
    let per_click = |number: f64| number / workload.clicks as f64;
    Counting {
        clicks_on: workload.name,
        clicks_per_s: workload.clicks as f64 / seconds,
        calls_per_click: per_click(meter.calls() as f64),
        wru_per_click: per_click(meter.write_units()),
        rru_per_click: per_click(meter.read_units()),
    }
}

/// Has clicks counted, and tells how long it took.
pub async fn count(client: &Client, queues: &FakeQueues, clicks: &[Event]) -> Duration {
    let analytics = Analytics {
        stats: StatsTable::new(client.clone(), "StatsTable"),
        clicks: ClicksTable::new(client.clone(), "ClicksTable"),
        clients: Arc::new(Clients::new(Classifier::load().expect("the rules compile"))),
        queue: Publisher::new(queues.client(), queues.url("analytics")),
        dead_letters: DeadLetterQueue::new(queues.client(), queues.url("dlq")),
        purge_turn: Duration::from_secs(15),
        clock: Box::new(Timestamp::now),
    };
    let batches: Vec<_> = clicks.chunks(BATCH).map(event_batch).collect();
    let started = Instant::now();
    for batch in batches {
        assert!(analytics.consume(batch).await.batch_item_failures.is_empty(), "every click counts");
    }
    started.elapsed()
}

/// Clicks at the rate of 500 a second, by 5,000 people.
fn clicks(workload: &Workload) -> Vec<Event> {
    let start = Timestamp::now();
    (0..workload.clicks)
        .map(|number| {
            let link = (workload.pick)(workload.links);
            let at = start.plus(Duration::from_millis(2 * number as u64));
            ClickBuilder::new(&format!("code{link:04}"))
                .at(at)
                .by(&format!("203.0.{}", random(5_000)))
                .with(AGENTS[number % AGENTS.len()])
                .from(&format!("https://site{}.example/", random(20)))
                .build()
        })
        .collect()
}

fn random(below: usize) -> usize {
    usize::try_from(getrandom::u64().expect("the system has a generator") % below as u64).unwrap_or_default()
}

fn uniform(links: usize) -> usize {
    random(links)
}

/// The n-th link is clicked in proportion to 1/n: the inverse of the harmonic sum, approximately.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a rank among a thousand"
)]
fn zipf(links: usize) -> usize {
    let uniform = random(1 << 30) as f64 / f64::from(1 << 30);
    ((links as f64).powf(uniform) as usize - 1).min(links - 1)
}
