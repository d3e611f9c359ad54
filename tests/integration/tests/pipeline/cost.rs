//! What counting costs, in DynamoDB's request units: that is what it costs to run.

use std::iter;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use aws_sdk_dynamodb::types::AttributeValue;
use linklet_analytics::Analytics;
use linklet_domain::{ClickId, Dimension, Event, LinkStats, Part, Timestamp, WorkspaceId};
use linklet_dynamodb::StatsTable;
use linklet_lambda::batch::Consumer;
use linklet_test_support::{CapacityMeter, ClickBuilder, FakeQueues, TestDynamoDb, event_batch, item_bytes, link_id};

use serde_json::Value;

use crate::fixture::analytics;

/// 2026-03-01T00:00:00Z, in milliseconds since 1970.
pub(crate) const START: u64 = 1_772_323_200_000;
const SECOND: u64 = 1_000;
pub(crate) const HOUR: u64 = 3_600 * SECOND;
pub(crate) const DAY: u64 = 24 * HOUR;

const AGENTS: [&str; 4] = [
    ClickBuilder::BROWSER,
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 \
     Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
];
const REFERERS: [&str; 5] = [
    "https://www.example.com/",
    "https://news.example/2026/03/launch",
    "https://mail.example/inbox",
    "https://search.example/",
    "https://com.example.reader/mobile",
];
const COUNTRIES: [&str; 4] = ["DE", "FR", "US", "JP"];

/// A click on the one link, which belongs to one workspace.
pub(crate) fn click() -> ClickBuilder {
    static WORKSPACE: LazyLock<WorkspaceId> = LazyLock::new(WorkspaceId::generate);
    ClickBuilder::new("launch").in_workspace(&WORKSPACE)
}

/// A consumer whose calls are measured.
pub(crate) struct Bench {
    pub(crate) db: TestDynamoDb,
    analytics: Analytics,
    meter: CapacityMeter,
    /// What time it is, in milliseconds since 1970.
    now: Arc<AtomicU64>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let (db, meter) = (TestDynamoDb::start(), CapacityMeter::default());
        let mut analytics = analytics(&db, &FakeQueues::start());
        analytics.stats = StatsTable::new(db.table_with(meter.clone(), "StatsTable"));
        let now = Arc::new(AtomicU64::new(START));
        let clock = Arc::clone(&now);
        analytics.clock = Box::new(move || Timestamp::from_unix_millis(clock.load(Ordering::Relaxed)));
        Self { db, analytics, meter, now }
    }

    /// With the day of the start split already. Nothing reads its stream.
    async fn splitting() -> Self {
        let (db, meter) = (TestDynamoDb::without_streams(), CapacityMeter::default());
        let mut bench = Self::new();
        bench.analytics = analytics(&db, &FakeQueues::start());
        let stats = StatsTable::new(db.table_with(meter.clone(), "StatsTable"));
        bench.analytics.stats = StatsTable { split_from: 1, ..stats.clone() };
        (bench.db, bench.meter) = (db, meter);
        bench.analytics.clock = Box::new(|| Timestamp::from_unix_millis(START));
        bench.cost(&[ordinary_click(0, 0)]).await;
        bench.analytics.stats = stats;
        bench
    }

    /// Counts these clicks and says how many write units that takes.
    async fn cost(&self, clicks: &[Event]) -> f64 {
        self.units(clicks).await.1
    }

    /// Counts these clicks and says how many read units and write units that takes.
    pub(crate) async fn units(&self, clicks: &[Event]) -> (f64, f64) {
        let newest = clicks.iter().map(|click| click.occurred_at.unix_millis()).max().unwrap();
        self.now.store(newest, Ordering::Relaxed);
        self.meter.reset();
        let answer = self.analytics.consume(event_batch(clicks)).await;
        assert!(answer.batch_item_failures.is_empty());
        (self.meter.read_units(), self.meter.write_units())
    }

    /// Counts ten clicks a day for thirty days, as an ordinary link has them.
    pub(crate) async fn with_a_history(self) -> Self {
        for day in 0..30 {
            let clicks: Vec<_> =
                (0..10).map(|number| ordinary_click(day * DAY + number * HOUR, day + number)).collect();
            self.cost(&clicks).await;
        }
        self
    }

    async fn stats(&self) -> LinkStats {
        self.db.stats().since(&link_id("launch"), Timestamp::EPOCH.day()).await.unwrap()
    }

    /// In kilobytes, rounded up to the four that a read unit pays for.
    async fn size_of_day(&self, day: &str) -> f64 {
        let meter = CapacityMeter::default();
        let client = self.db.client_with(meter.clone());
        let get = client.get_item().table_name("StatsTable").consistent_read(true);
        let get = get.key("pk", AttributeValue::S(format!("STATS#{}", link_id("launch"))));
        let answer = get.key("sk", AttributeValue::S(format!("DAY#{day}"))).send().await.unwrap();
        assert!(answer.item.is_some());
        4.0 * meter.read_units()
    }
}

/// A click so many milliseconds after the start.
pub(crate) fn click_at(after: u64, click: ClickBuilder) -> Event {
    click.at(Timestamp::from_unix_millis(START + after)).build()
}

/// A click by one of a hundred visitors.
pub(crate) fn ordinary_click(after: u64, number: u64) -> Event {
    let pick = |from: &[&'static str]| from[usize::try_from(number).unwrap() % from.len()];
    let click = click().by(&format!("visitor {}", number % 100)).with(pick(&AGENTS));
    click_at(after, click.from(pick(&REFERERS)).in_country(pick(&COUNTRIES)))
}

/// A hundred clicks, so many milliseconds apart, on a day of their own.
fn hundred_clicks(apart: u64) -> Vec<Event> {
    (0..100).map(|number| ordinary_click(30 * DAY + 12 * HOUR + number * apart, number)).collect()
}

#[tokio::test]
async fn the_first_click_of_a_link_costs_two_units() {
    let bench = Bench::new();

    let cost = bench.cost(&[ordinary_click(0, 0)]).await;

    assert_eq!(cost, 2.0);
}

#[tokio::test]
async fn a_lone_click_costs_two_units_and_at_times_a_roll_up() {
    let bench = Bench::new().with_a_history().await;
    let mut costs = Vec::new();

    // Over 32 days, so that once the days before go into the past.
    for number in 0..60 {
        costs.push(bench.cost(&[ordinary_click(30 * DAY + number * 13 * HOUR, number)]).await);
    }

    let average = costs.iter().sum::<f64>() / costs.len() as f64;
    costs.sort_by(f64::total_cmp);
    let (typical, highest) = (costs[costs.len() * 9 / 10], costs[costs.len() - 1]);
    println!("average {average:.2}, nine of ten at most {typical}, the most expensive {highest}");
    assert!(typical <= 2.0, "{costs:?}");
    assert!(average <= 2.5, "{costs:?}");
    assert_eq!(bench.stats().await.whole_life().clicks, 360);
}

/// Whoever counts writes it with each batch, and overviews read that of each link.
#[tokio::test]
async fn a_total_with_two_months_of_days_fits_in_a_write_unit() {
    for (what, clicks_a_day) in [("a quiet link", 3), ("a busy link", 101)] {
        let (bench, mut largest) = (Bench::new(), 0);

        for day in 0..90 {
            let clicks: Vec<_> =
                (0..clicks_a_day).map(|number| ordinary_click(day * DAY + number * 1_000, number)).collect();
            bench.cost(&clicks).await;
            let is_total = |row: &Value| row["sk"]["S"].as_str().is_some_and(|sort_key| sort_key.starts_with("TOTAL#"));
            let total = bench.db.scan("StatsTable").into_iter().find(is_total);
            largest = largest.max(item_bytes(&total.unwrap()));
        }

        println!("the total of {what}: {largest} bytes at most");
        assert!(largest <= 1_000, "{what}: {largest}");
    }
}

#[tokio::test]
async fn a_hundred_clicks_at_once_cost_a_fraction_of_a_unit_each() {
    for (what, apart, at_most) in [("at once", 0, 0.5), ("within 10 s", 100, 1.0), ("within 100 s", 1_000, 2.2)] {
        let bench = Bench::new().with_a_history().await;

        let cost = bench.cost(&hundred_clicks(apart)).await / 100.0;

        println!("a hundred clicks {what}: {cost:.2} each");
        assert!(cost <= at_most, "{what}: {cost}");
    }
}

#[tokio::test]
async fn a_batch_that_comes_again_costs_no_write() {
    let bench = Bench::new().with_a_history().await;
    let clicks = hundred_clicks(100);
    bench.cost(&clicks).await;

    let cost = bench.cost(&clicks).await;

    assert_eq!(cost, 0.0);
}

/// A link with 16,000 clicks a second, whose messages come up to so many seconds after others that were sent later. Its day is split,
/// and all parts cost the same; so one of them is enough: 1,000 clicks a second, of which a consumer has 625 at a time.
async fn cost_of_a_flood(shuffled_over: u64) -> (f64, f64) {
    const A_SECOND: u64 = 1_000;
    const BATCH: usize = 625;
    let part = Part::all().next().unwrap();
    let id = |at: Timestamp| iter::repeat_with(|| ClickId::generate(at)).find(|id| Part::of(id) == part).unwrap();
    let mut arrivals: Vec<(u64, Event)> = (0..(shuffled_over + 15) * A_SECOND)
        .map(|number| {
            let click = ordinary_click(number, number);
            let late = number * 7_919 % (shuffled_over * SECOND).max(1);
            (number + late, Event { event_id: id(click.occurred_at).into(), ..click })
        })
        .collect();
    arrivals.sort_by_key(|(arrival, _)| *arrival);
    // As many are under way as in the middle of a flood.
    let (before, measured): (Vec<_>, Vec<_>) =
        arrivals.into_iter().partition(|(arrival, _)| *arrival < (shuffled_over + 5) * SECOND);
    let events = |arrivals: Vec<(u64, Event)>| arrivals.into_iter().map(|(_, event)| event).collect::<Vec<_>>();
    let (before, measured) = (events(before), events(measured));
    let bench = Bench::splitting().await;
    for batch in before.chunks(BATCH) {
        bench.cost(batch).await;
    }
    let (mut reads, mut writes, mut clicks) = (0.0, 0.0, 0.0);
    for batch in measured.chunks_exact(BATCH) {
        let (read, written) = bench.units(batch).await;
        (reads, writes, clicks) = (reads + read, writes + written, clicks + BATCH as f64);
    }
    (reads / clicks, writes / clicks)
}

#[tokio::test]
async fn a_flood_costs_the_same_in_any_order() {
    for shuffled_over in [0, 1, 5, 20, 60] {
        let (reads, writes) = cost_of_a_flood(shuffled_over).await;

        println!(
            "16,000 a second, shuffled over {shuffled_over} s: {writes:.3} write units and {reads:.3} read units each"
        );
        assert!(writes <= 0.05, "{writes}");
        assert!(reads <= 0.3, "{reads}");
    }
}

/// What somebody sends who wants the numbers to grow: everything is new in each request.
fn hostile_click(number: u64) -> Event {
    const LETTERS: u64 = 26;
    let letter = |place: u64| char::from(b'A' + u8::try_from(place % LETTERS).unwrap());
    let agent = match number % 2 {
        0 => format!("{number:0>60}bot/{number}"),
        _ => format!("Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/{number}"),
    };
    let click = click()
        .by(&format!("visitor {number}"))
        .with(&agent)
        .from(&format!("https://{number}.example/{}", "x".repeat(400)))
        .in_country(&format!("{}{}", letter(number / LETTERS), letter(number)))
        .coming_with(&format!("utm_source={number:0>60}&utm_medium={number:0<60}&utm_campaign={number:x<60}"));
    click_at(number / 10, click)
}

#[tokio::test]
async fn a_hostile_client_cannot_make_counting_expensive_or_wrong() {
    const CLICKS: u64 = 20_000;
    let bench = Bench::new();
    let clicks: Vec<_> = (0..CLICKS + 100).map(hostile_click).collect();
    for batch in clicks[..CLICKS as usize].chunks(500) {
        bench.cost(batch).await;
    }

    let cost = bench.cost(&clicks[CLICKS as usize..]).await / 100.0;

    let size = bench.size_of_day("2026-03-01").await;
    println!("after {CLICKS} hostile clicks: {cost:.2} units for each of a hundred, a day of at most {size} KB");
    assert!(cost <= 2.2, "{cost}");
    assert!(size <= 32.0, "{size}");
    check_sums(&bench.stats().await, CLICKS + 100);
}

fn check_sums(stats: &LinkStats, clicks: u64) {
    let day = stats.days.values().next().unwrap();
    assert_eq!((stats.days.len(), stats.whole_life().clicks, day.profile.clicks), (1, clicks, clicks));
    assert_eq!(day.hours.iter().map(|hour| hour.clicks).sum::<u64>(), clicks);
    let profile = &day.profile;
    for dimension in Dimension::ALL {
        // Links with one destination have no numbers for several.
        let counted = if dimension == Dimension::Destination { 0 } else { clicks };
        assert_eq!(profile.clicks_with(dimension), counted, "{dimension:?}");
    }
    // Every second one says that it is a program.
    let visitors = profile.visitors.estimate();
    assert!(visitors.abs_diff(clicks / 2) < clicks / 20, "{visitors}");
}
