//! Very many clicks, most of them on few links.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, VecDeque},
    sync::LazyLock,
    time::{Duration, Instant},
};

use linklet_analytics::Analytics;
use linklet_domain::{Timestamp, UserId, WorkspaceId};
use linklet_dynamodb::StatsTable;
use linklet_lambda::batch::Consumer;
use linklet_test_support::{FakeQueues, TestDynamoDb, WithoutTokens, link_id};
use proptest::{prelude::RngExt as _, test_runner::TestRng};
use tokio::{runtime::Builder, time::timeout};

use super::{
    model::{AGENTS, COUNTRIES, Click, Expected, Link, QUERIES, REFERERS},
    observed::check,
    plan::{answered, packed_batch},
    seed::{random, seed},
};
use crate::fixture::analytics;

const LINKS: usize = 1_000;
const CLICKS: usize = 100_000;
/// Messages that come although their click's first message has come or will come.
const DUPLICATES: usize = CLICKS / 20;
const BATCH: usize = 500;
/// How many clicks share a message.
const PACKED: usize = 20;
/// From how many new clicks at once a day is split: those of the most clicked links are.
const SPLIT_FROM: usize = 60;
const DEATHS: usize = 10;

/// The beginning, in milliseconds since 1970.
static START: LazyLock<u64> =
    LazyLock::new(|| Timestamp::now().minus(Duration::from_secs(34 * 86_400)).day().at_hour(20).unix_millis());

#[test]
fn a_hundred_thousand_clicks_on_a_thousand_links_count_once_each() {
    let seed = seed();
    let (links, clicks) = (links(), clicks(&mut random(seed)));
    let (db, queues) = (TestDynamoDb::without_streams(), FakeQueues::start());
    let flood = Flood {
        links: &links,
        clicks: &clicks,
        queue: RefCell::new(arrivals(&mut random(seed.wrapping_add(1)))),
        random: RefCell::new(random(seed.wrapping_add(2))),
        deaths: Cell::default(),
        batches: Cell::default(),
    };

    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let (steady, mortal) = (consumer(&db, &queues), consumer(&db, &queues));
        futures_util::join!(flood.work_off(&steady), flood.work_off_and_die(&mortal));
        check_all(&db, &links, &clicks).await;
    });

    assert_eq!(flood.deaths.get(), DEATHS);
}

fn consumer(db: &TestDynamoDb, queues: &FakeQueues) -> Analytics {
    let mut analytics = analytics(db, queues);
    analytics.stats = StatsTable::new(db.client_with(WithoutTokens), "StatsTable").splitting_from(SPLIT_FROM);
    // On a busy machine, batches that end early would come again and again.
    analytics.count_turn = Duration::from_secs(600);
    analytics
}

fn links() -> Vec<Link> {
    let (workspace, owner) = (WorkspaceId::generate(), UserId::generate());
    let link = |number| Link { id: link_id(&format!("link{number:04}")), workspace, owner };
    (0..LINKS).map(link).collect()
}

/// In the order of time. The most clicked link has twice the clicks of the second, and so on (Zipf, s = 1).
fn clicks(random: &mut TestRng) -> Vec<Click> {
    let up_to: Vec<f64> = (1..=LINKS)
        .scan(0.0, |sum, rank| {
            *sum += 1.0 / rank as f64;
            Some(*sum)
        })
        .collect();
    (0..CLICKS)
        .map(|number| {
            let place = random.random_range(0.0..up_to[LINKS - 1]);
            Click {
                link: up_to.partition_point(|sum| *sum <= place),
                at: at(number),
                who: random.random_range(0..CLICKS as u64 / 10),
                agent: &AGENTS[random.random_range(0..AGENTS.len())],
                referer: REFERERS[random.random_range(0..REFERERS.len())],
                country: COUNTRIES[random.random_range(0..COUNTRIES.len())],
                query: QUERIES[random.random_range(0..QUERIES.len())],
                prefetch: random.random_ratio(1, 10),
                number,
            }
        })
        .collect()
}

/// Ten bursts of 200 clicks a second, the first two a month before the others, which are within three days: so that the days of
/// all links that are clicked again go into the past, and most clicks are recent.
fn at(number: usize) -> u64 {
    const BURST: usize = CLICKS / 10;
    const HOUR: u64 = 3_600_000;
    let (burst, place) = ((number / BURST) as u64, (number % BURST) as u64);
    let month_later = if burst < 2 { 0 } else { 31 * 24 * HOUR };
    *START + burst * 7 * HOUR + month_later + place * 5
}

/// The messages' clicks in the order of arrival: about that of time, though some come late. A duplicate comes right after its
/// click or much later.
fn arrivals(random: &mut TestRng) -> VecDeque<usize> {
    let mut arrivals: Vec<(usize, usize)> = (0..CLICKS)
        .map(|click| {
            let longest = if random.random_ratio(1, 100) { CLICKS / 2 } else { 200 };
            (click + random.random_range(0..longest), click)
        })
        .collect();
    for _ in 0..DUPLICATES {
        let (place, click) = arrivals[random.random_range(0..CLICKS)];
        let longest = if random.random() { 200 } else { CLICKS };
        arrivals.push((place + random.random_range(0..longest), click));
    }
    arrivals.sort_unstable();
    arrivals.into_iter().map(|(_, click)| click).collect()
}

/// The messages, and those who work them off.
struct Flood<'a> {
    links: &'a [Link],
    clicks: &'a [Click],
    /// The messages' clicks.
    queue: RefCell<VecDeque<usize>>,
    random: RefCell<TestRng>,
    deaths: Cell<usize>,
    batches: Cell<usize>,
}

impl Flood<'_> {
    async fn work_off(&self, consumer: &Analytics) {
        while let Some(batch) = self.next() {
            self.consume(consumer, &batch).await;
        }
    }

    /// Every now and then it is killed in the middle of a batch. Then the messages come again, and what it has sent to
    /// DynamoDB may or may not be carried out.
    async fn work_off_and_die(&self, consumer: &Analytics) {
        let mut longest = Duration::ZERO;
        while let Some(batch) = self.next() {
            let started = Instant::now();
            let dies = !longest.is_zero() && self.deaths.get() < DEATHS && self.random.borrow_mut().random_ratio(1, 4);
            if !dies {
                self.consume(consumer, &batch).await;
                longest = started.elapsed();
                continue;
            }
            let after = longest.mul_f64(self.random.borrow_mut().random_range(0.0..0.8));
            if timeout(after, self.consume(consumer, &batch)).await.is_err() {
                self.deaths.set(self.deaths.get() + 1);
                self.queue.borrow_mut().extend(batch);
            }
        }
    }

    fn next(&self) -> Option<Vec<usize>> {
        let mut queue = self.queue.borrow_mut();
        let count = BATCH.min(queue.len());
        self.batches.set(self.batches.get() + 1);
        assert!(self.batches.get() < 2 * CLICKS / BATCH, "messages come again and again");
        (count > 0).then(|| queue.drain(..count).collect())
    }

    /// What it doesn't acknowledge comes again, after all others.
    async fn consume(&self, consumer: &Analytics, batch: &[usize]) {
        let events: Vec<_> =
            batch.iter().map(|place| &self.clicks[*place]).map(|click| click.event(&self.links[click.link])).collect();
        let answer = consumer.consume(packed_batch(&events, PACKED)).await;
        self.queue.borrow_mut().extend(answered(batch, PACKED, &answer).failed);
    }
}

async fn check_all(db: &TestDynamoDb, links: &[Link], clicks: &[Click]) {
    let mut of_links: Vec<Vec<&Click>> = vec![Vec::new(); LINKS];
    clicks.iter().for_each(|click| of_links[click.link].push(click));
    let mut totals = HashMap::new();
    for (link, clicks) in links.iter().zip(&of_links).filter(|(_, clicks)| !clicks.is_empty()) {
        check(db, link, clicks).await.unwrap_or_else(|wrong| panic!("{}: {wrong}", link.id));
        // That each is published once, and in order, is for the schedules to see.
        let reached = db.stats().life(&link.workspace, &link.id).await.unwrap().milestones;
        assert_eq!(reached, Expected::of(clicks).milestones.into_iter().collect(), "{}", link.id);
        totals.insert(link.id.clone(), Expected::of(clicks).listed());
    }
    assert_eq!(db.stats().totals_of_workspace(&links[0].workspace).await.unwrap().unwrap(), totals);
}
