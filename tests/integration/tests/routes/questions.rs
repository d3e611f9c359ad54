//! Questions about the clicks of a time, compared with a model that knows nothing but the clicks.

use fastrand::Rng;
use jiff::{Unit, tz::TimeZone};
use linklet_domain::{Event, Spread};
use linklet_test_support::{AGENTS, Agent};

use crate::fixture::{has_read, stats};
use crate::prelude::*;

/// Referrers as they are sent, and as they are counted.
const REFERRERS: [(Option<&str>, Option<&str>); 4] = [
    (None, None),
    (Some("https://news.example/"), Some("https://news.example/")),
    (Some("https://news.example/today?id=7"), Some("https://news.example/today")),
    (Some("https://forum.example/t/42#comment-7"), Some("https://forum.example/t/42")),
];

/// Queries of the short link, whether they are a scan, and the campaign that they name.
const QUERIES: [(&str, bool, Option<&str>); 5] = [
    ("", false, None),
    ("", false, None),
    ("qr=1", true, None),
    ("utm_source=news&utm_medium=mail&utm_campaign=spring", false, Some("news / mail / spring")),
    ("qr=1&utm_source=poster", true, Some("poster / - / -")),
];

const COUNTRIES: [Option<&str>; 4] = [None, Some("DE"), Some("FR"), Some("JP")];

/// Of these, clocks are set forward on 8 and 29 March, back on 5 April by half an hour, and three of them never are.
const ZONES: [&str; 5] = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"];

struct Visit {
    at: Timestamp,
    who: u32,
    agent: &'static Agent,
    referrer: (Option<&'static str>, Option<&'static str>),
    query: (&'static str, bool, Option<&'static str>),
    country: Option<&'static str>,
    prefetch: bool,
}

impl Visit {
    fn made_up(random: &mut Rng, from: Timestamp, days: u64) -> Self {
        Self {
            at: from.plus(Duration::from_millis(random.u64(0..days * 86_400_000))),
            who: random.u32(0..200),
            agent: random.choice(&AGENTS).unwrap(),
            referrer: random.choice(REFERRERS).unwrap(),
            query: random.choice(QUERIES).unwrap(),
            country: random.choice(COUNTRIES).unwrap(),
            prefetch: random.u8(0..10) == 0,
        }
    }

    fn event(&self, workspace: &WorkspaceId) -> Event {
        let mut click = ClickBuilder::new("launch")
            .in_workspace(workspace)
            .at(self.at)
            .by(&format!("visitor {}", self.who))
            .with(self.agent.text)
            .coming_with(self.query.0);
        if let Some(referrer) = self.referrer.0 {
            click = click.from(referrer);
        }
        if let Some(country) = self.country {
            click = click.in_country(country);
        }
        if self.prefetch {
            click = click.prefetching();
        }
        click.build()
    }

    fn audience(&self) -> &'static str {
        match (self.agent.device, self.prefetch) {
            ("bot", _) => "bot",
            (_, true) => "prefetch",
            _ => "human",
        }
    }

    fn source(&self) -> &'static str {
        match (self.query, self.referrer.1) {
            ((_, true, _), _) => "qr",
            ((_, _, Some(_)), _) => "campaign",
            (_, Some(_)) => "link",
            _ => "direct",
        }
    }

    /// Its value by the name of a parameter.
    fn value(&self, parameter: &str) -> Option<&'static str> {
        match parameter {
            "audience" => Some(self.audience()),
            "device" => Some(self.agent.device),
            "browser" => Some(self.agent.browser),
            "os" => Some(self.agent.os),
            "country" => Some(self.country.unwrap_or("unknown")),
            "source" => Some(self.source()),
            "referrer" => self.referrer.1,
            "campaign" => self.query.2,
            _ => unreachable!("{parameter}"),
        }
    }

    fn fits(&self, filter: &[(&str, &str)]) -> bool {
        let names: BTreeSet<_> = filter.iter().map(|(name, _)| *name).collect();
        names.into_iter().all(|name| {
            let mut wanted = filter.iter().filter(|(given, _)| *given == name).map(|(_, value)| *value);
            wanted.any(|value| value == self.value(name).unwrap_or("(none)"))
        })
    }
}

/// The breakdowns of an answer: their names, those of their values, and those of the parameters.
const BREAKDOWNS: [(&str, &str, &str); 7] = [
    ("devices", "device", "device"),
    ("browsers", "browser", "browser"),
    ("operating_systems", "os", "os"),
    ("countries", "country", "country"),
    ("sources", "source", "source"),
    ("referers", "referer", "referrer"),
    ("campaigns", "campaign", "campaign"),
];

/// A day or an hour by clocks of a zone.
fn period(at: Timestamp, zone: &TimeZone, interval: &str) -> String {
    let local = jiff::Timestamp::from_millisecond(at.unix_millis().try_into().unwrap()).unwrap().to_zoned(zone.clone());
    match interval {
        "day" => local.date().to_string(),
        _ => {
            let begun =
                i64::from(local.minute()) * 60_000 + i64::from(local.second()) * 1_000 + i64::from(local.millisecond());
            let hour = jiff::Timestamp::from_millisecond(local.timestamp().as_millisecond() - begun).unwrap();
            assert_eq!(hour, hour.round(Unit::Second).unwrap());
            hour.to_string()
        }
    }
}

/// What an answer says of these visits.
fn expected(visits: &[&Visit], zone: &TimeZone, interval: &str) -> Value {
    let people: Vec<_> = visits.iter().filter(|visit| visit.audience() == "human").collect();
    let mut points: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for visit in visits {
        let point = points.entry(period(visit.at, zone, interval)).or_default();
        point.0 += 1;
        point.1 += u64::from(visit.audience() == "human");
    }
    let points: Vec<_> = points
        .into_iter()
        .map(|(period, (clicks, people))| json!({"period": period, "clicks": clicks, "human_clicks": people}))
        .collect();
    let who: BTreeSet<_> = people.iter().map(|visit| visit.who).collect();
    json!({
        "total_clicks": visits.len(), "human_clicks": people.len(), "unique_visitors": who.len(), "points": points,
    })
}

fn breakdowns(visits: &[&Visit]) -> BTreeMap<&'static str, BTreeMap<String, u64>> {
    let mut all = BTreeMap::new();
    for (name, _, parameter) in BREAKDOWNS {
        let counts: &mut BTreeMap<String, u64> = all.entry(name).or_default();
        for value in visits.iter().filter_map(|visit| visit.value(parameter)) {
            *counts.entry(value.to_owned()).or_default() += 1;
        }
    }
    all
}

fn observed_breakdowns(answer: &Value) -> BTreeMap<&'static str, BTreeMap<String, u64>> {
    let counts = |(name, label, _)| {
        let rows: &Vec<Value> = answer[name].as_array().unwrap();
        // A country that isn't known is null.
        let row = |row: &Value| (row[label].as_str().unwrap_or("unknown").to_owned(), row["count"].as_u64().unwrap());
        (name, rows.iter().map(row).collect())
    };
    BREAKDOWNS.into_iter().map(counts).collect()
}

/// The members that the model knows.
fn known(answer: &Value) -> Value {
    let members = ["total_clicks", "human_clicks", "unique_visitors", "points"];
    members.into_iter().map(|name| (name.to_owned(), answer[name].clone())).collect::<serde_json::Map<_, _>>().into()
}

struct Bench {
    db: TestDynamoDb,
    workspace: WorkspaceId,
    now: Timestamp,
}

impl Bench {
    /// These visits are stored and counted.
    async fn with(visits: &[Visit], now: Timestamp) -> Self {
        let bench = Self::counting(&[], now).await;
        bench.store(&visits.iter().map(|visit| visit.event(&bench.workspace)).collect::<Vec<_>>()).await;
        bench
    }

    /// These visits are counted, and nothing else is known of them.
    async fn counting(visits: &[Visit], now: Timestamp) -> Self {
        let db = TestDynamoDb::without_streams();
        let link = LinkBuilder::new("launch").build();
        db.store(&link).await;
        let workspace = link.identity.workspace;
        let events: Vec<_> = visits.iter().map(|visit| visit.event(&workspace)).collect();
        let queues = FakeQueues::start();
        for events in events.chunks(500) {
            let response = analytics(&db, &queues).consume(event_batch(events)).await;
            assert!(response.batch_item_failures.is_empty());
        }
        Self { db, workspace, now }
    }

    /// These clicks are stored and counted.
    async fn store(&self, events: &[Event]) {
        for event in events {
            self.db.clicks().record(&Click::from_event(event.clone()).unwrap(), Spread::Narrow).await.unwrap();
        }
        let queues = FakeQueues::start();
        for events in events.chunks(500) {
            assert!(analytics(&self.db, &queues).consume(event_batch(events)).await.batch_item_failures.is_empty());
        }
    }

    async fn ask(&self, query: &str) -> Answer {
        self.get(&format!("?{query}")).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.get_from(&stats(&self.db), path).await
    }

    async fn get_from(&self, environment: &Stats, path: &str) -> Answer {
        let request = RequestBuilder::new("GET", &format!("/api/stats/launch{path}")).at(self.now);
        request.token(&token_for(&self.workspace, Role::Viewer)).send_to(environment).await
    }
}

fn escaped(value: &str) -> String {
    value.replace('%', "%25").replace(' ', "%20").replace('/', "%2F").replace('+', "%2B")
}

/// A filter as parameters.
fn parameters(filter: &[(&str, &str)]) -> String {
    filter.iter().map(|(name, value)| format!("&{name}={}", escaped(value))).collect()
}

#[tokio::test]
async fn any_period_zone_and_filter_is_answered_as_by_a_model() {
    let (from, now) = (at("2026-02-10T00:00:00Z"), at("2026-05-20T12:00:00Z"));
    let mut random = Rng::with_seed(34);
    let visits: Vec<_> = (0..3_000).map(|_| Visit::made_up(&mut random, from, 90)).collect();
    let mut bench = Bench::with(&visits, now).await;
    let first = from.unix_millis();
    for number in 0..150 {
        // As many may be asked in an hour and more.
        bench.now = bench.now.plus(Duration::from_secs(30));
        let mut ends = [0, 0].map(|_| first + random.u64(0..90 * 1_440) * 60_000);
        ends.sort_unstable();
        let [start, end] = ends.map(Timestamp::from_unix_millis);
        if start == end {
            continue;
        }
        let zone = random.choice(ZONES).unwrap();
        let filter = made_up_filter(&mut random, number);
        let interval = if random.bool() { "hour" } else { "day" };
        let query = format!("from={start}&to={end}&tz={zone}&interval={interval}{}", parameters(&filter));

        let answer = bench.ask(&query).await;

        assert_eq!(answer.status, 200, "{query}: {}", answer.body);
        let answer = answer.json();
        let found: Vec<&Visit> =
            visits.iter().filter(|visit| (start..end).contains(&visit.at) && visit.fits(&filter)).collect();
        let clock = TimeZone::get(zone).unwrap();
        assert_eq!(known(&answer), expected(&found, &clock, interval), "{query}");
        assert_eq!(observed_breakdowns(&answer), breakdowns(&found), "{query}");
        assert_eq!(json!([answer["from"], answer["to"], answer["tz"]]), json!([start, end, zone]));
        check_before(&answer, &visits, &filter, (&clock, interval), &query);
        assert_eq!(answer.get("covers"), Some(&Value::Null), "{query}");
    }
}

/// Beyond what a breakdown holds, the rarest values are counted together, and beyond 300 people they are estimated.
#[tokio::test]
async fn beyond_its_places_a_breakdown_keeps_exact_sums_and_frequent_values() {
    const CLICKS: u64 = 2_400;
    let (from, now) = (at("2026-05-01T06:00:00Z"), at("2026-05-20T12:00:00Z"));
    let bench = Bench::with(&[], now).await;
    let click = |number: u64| {
        // Every other one is alike, and of the others each value comes six times.
        let value = if number.is_multiple_of(2) { 0 } else { 1 + number % 399 / 2 };
        let click = ClickBuilder::new("launch").in_workspace(&bench.workspace);
        let click = click.at(from.plus(Duration::from_secs(number * 300))).by(&format!("visitor {}", number % 1_200));
        click
            .from(&format!("https://news.example/{value}"))
            .coming_with(&format!("utm_source=news&utm_campaign={value}"))
            .build()
    };
    bench.store(&(0..CLICKS).map(click).collect::<Vec<_>>()).await;

    for query in
        ["from=2026-05-01", "from=2026-05-01&audience=human&tz=Asia/Kolkata", "from=2026-05-01&country=unknown"]
    {
        let answer = bench.ask(query).await.json();

        assert_eq!(answer["total_clicks"], CLICKS, "{query}");
        let visitors = answer["unique_visitors"].as_f64().unwrap();
        assert!((visitors / 1_200.0 - 1.0).abs() <= 0.05, "{visitors} visitors of {query}");
        for (name, first) in [("referers", "https://news.example/0"), ("campaigns", "news / - / 0")] {
            let counts = &observed_breakdowns(&answer)[name];
            assert_eq!((counts.values().sum::<u64>(), counts.len()), (CLICKS, 31), "{name} of {query}");
            assert_eq!(counts[first], CLICKS / 2, "{name} of {query}");
            assert!(counts["(other)"] > 0, "{name} of {query}");
        }
    }
}

fn check_before(
    answer: &Value,
    visits: &[Visit],
    filter: &[(&str, &str)],
    (zone, interval): (&TimeZone, &str),
    query: &str,
) {
    let before = &answer["before"];
    let [start, end] = ["from", "to"].map(|name| at(before[name].as_str().unwrap()));
    let found: Vec<&Visit> =
        visits.iter().filter(|visit| (start..end).contains(&visit.at) && visit.fits(filter)).collect();
    assert_eq!(end, at(answer["from"].as_str().unwrap()));
    assert_eq!(known(before), expected(&found, zone, interval), "before {query}");
}

/// Every third question is about all clicks.
fn made_up_filter(random: &mut Rng, number: usize) -> Vec<(&'static str, &'static str)> {
    const VALUES: [(&str, &[&str]); 8] = [
        ("audience", &["human", "bot", "prefetch"]),
        ("device", &["desktop", "mobile", "bot"]),
        ("browser", &["Chrome", "Firefox", "curl"]),
        ("os", &["Windows", "iOS", "unknown"]),
        ("country", &["DE", "FR", "unknown"]),
        ("source", &["qr", "campaign", "link", "direct"]),
        ("referrer", &["https://news.example/", "https://forum.example/t/42", "(none)"]),
        ("campaign", &["news / mail / spring", "(none)"]),
    ];
    let mut filter = Vec::new();
    for _ in 0..number % 3 {
        let (name, values) = random.choice(VALUES).unwrap();
        filter.extend(random.choose_multiple(values, 2).into_iter().map(|value| (name, *value)));
    }
    filter.truncate(random.usize(0..=4));
    filter
}

#[tokio::test]
async fn dates_are_days_of_the_zone_also_in_the_period_before() {
    let visits =
        ["2026-03-27T22:59:59.999Z", "2026-03-27T23:00:00Z", "2026-03-29T21:59:59.999Z", "2026-03-29T22:00:00Z"]
            .map(|time| Visit { at: at(time), ..Visit::made_up(&mut Rng::with_seed(1), at(time), 1) });
    let bench = Bench::with(&visits, at("2026-05-20T12:00:00Z")).await;

    let answer = bench.ask("from=2026-03-28&to=2026-03-29&tz=Europe/Berlin&interval=day").await.json();

    // Clocks are set forward on the second day, which so has 23 hours.
    let expected = (&json!("2026-03-27T23:00:00.000Z"), &json!("2026-03-29T22:00:00.000Z"));
    assert_eq!((&answer["from"], &answer["to"]), expected);
    assert_eq!(answer["total_clicks"], 2);
    let days: Vec<_> =
        answer["points"].as_array().unwrap().iter().map(|point| point["period"].as_str().unwrap()).collect();
    assert_eq!(days, ["2026-03-28", "2026-03-29"]);
    assert_eq!(answer["before"]["from"], "2026-03-25T23:00:00.000Z");
    assert_eq!(answer["before"]["total_clicks"], 1);
}

#[tokio::test]
async fn callers_without_access_to_details_get_401_or_403() {
    let bench = Bench::with(&[], at("2026-05-20T12:00:00Z")).await;
    let path = "/api/stats/launch?from=2026-05-01";
    let stranger = stats(&bench.db).get_openly(path).await;
    let other = token_for(&WorkspaceId::generate(), Role::Admin);
    assert_eq!((stranger.status, stats(&bench.db).get(path, &other).await.status), (401, 403));
}

#[tokio::test]
async fn a_parameter_that_is_not_known_or_makes_no_sense_is_refused() {
    let bench = Bench::with(&[], at("2026-05-20T12:00:00Z")).await;
    for (query, field) in [
        ("from=2026-05-01&contry=DE", "contry"),
        ("from=2026-05-01&interval=day&interval=hour", "interval"),
        ("from=2026-05-02&to=2026-05-01", "from"),
        ("from=2026-05-01T00:00:00Z&to=2026-05-01T00:00:00Z", "from"),
        ("from=2025-01-01&to=2026-05-01", "from"),
        ("from=yesterday", "from"),
        ("from=2026-05-01&interval=week", "interval"),
        ("from=2026-05-01&country=Germany", "country"),
        ("from=2026-05-01&device=phone", "device"),
        ("from=2026-05-01&audience=everybody", "audience"),
        ("country=Germany", "country"),
        ("top=0", "top"),
    ] {
        let request = RequestBuilder::new("GET", &format!("/api/stats/launch?{query}")).outside_the_contract();
        let request = request.at(bench.now).token(&token_for(&bench.workspace, Role::Viewer));

        assert_eq!(request.send_to(&stats(&bench.db)).await.problem_field(), (400, field.into()), "{query}");
    }
}

#[tokio::test]
async fn what_narrows_without_a_time_is_about_the_last_30_days() {
    let now = at("2026-05-20T12:00:00Z");
    let old = Visit::made_up(&mut Rng::with_seed(3), at("2026-03-01T00:00:00Z"), 1);
    let recent = Visit {
        country: Some("DE"),
        referrer: REFERRERS[1],
        ..Visit::made_up(&mut Rng::with_seed(4), at("2026-05-12T00:00:00Z"), 1)
    };
    let bench = Bench::with(&[old, recent], now).await;

    for query in ["tz=Europe/Berlin", "interval=day", "country=DE", "country=DE&top=5&table=devices"] {
        let answer = bench.ask(query).await.expecting(200).json();
        let from = if query.starts_with("tz") { "2026-04-20T22:00:00.000Z" } else { "2026-04-21T00:00:00.000Z" };
        assert_eq!((&answer["total_clicks"], &answer["from"]), (&json!(1), &json!(from)), "{query}");
        let stranger = stats(&bench.db).get_openly(&format!("/api/stats/launch?{query}")).await;
        assert_eq!(stranger.status, 401, "{query}");
    }
    let table = bench.ask("format=csv").await.expecting(200);
    assert_eq!(table.header("content-type"), "text/csv; charset=utf-8");
    // What clients send by themselves asks for nothing.
    for query in ["", "format=json&table=series&top=5", "country=&tz="] {
        let summary = stats(&bench.db).get_openly(&format!("/api/stats/launch?{query}")).await.expecting(200).json();
        assert_eq!((&summary["total_clicks"], summary.get("from")), (&json!(2), None), "{query}");
    }
    let about = async |parameter: &str| {
        let answer =
            bench.ask(&format!("from=2026-05-01&{parameter}={}&top=3", escaped(REFERRERS[1].1.unwrap()))).await;
        answer.expecting(200).json()["points"].clone()
    };
    assert_eq!(about("referer").await, about("referrer").await);
    assert_eq!(about("referer").await[0]["clicks"], 1);
}

#[tokio::test]
async fn a_table_of_clicks_has_as_many_rows_as_somebody_wants() {
    let (visits, now) = some_visits(40);
    let bench = Bench::with(&visits, now).await;

    for (query, rows) in
        [("limit=7", 7), ("limit=33&device=desktop&device=mobile&device=bot&device=tablet", 33), ("", 40)]
    {
        let table = bench.clicks(&format!("{query}&format=csv")).await.expecting(200);
        assert_eq!(table.body.lines().count(), 1 + rows, "{query}");
        assert_eq!(table.header("link").is_empty(), rows == 40, "{query}: {}", table.header("link"));
    }
}

impl Bench {
    async fn clicks(&self, query: &str) -> Answer {
        self.get(&format!("/clicks?{query}")).await
    }

    /// The times of the clicks of all pages, and what happens between two of them.
    async fn all_clicks(&self, query: &str, between: impl AsyncFn()) -> Vec<String> {
        let (mut times, mut after) = (Vec::new(), String::new());
        loop {
            let answer = self.clicks(&format!("{query}{after}")).await.expecting(200);
            let page = answer.json();
            let clicks = page["clicks"].as_array().unwrap();
            times.extend(clicks.iter().map(|click| click["clicked_at"].as_str().unwrap().to_owned()));
            let Some(next) = page["next_cursor"].as_str() else { return times };
            after = format!("&after={next}");
            between().await;
        }
    }
}

fn some_visits(count: usize) -> (Vec<Visit>, Timestamp) {
    let (from, now) = (at("2026-05-10T00:00:00Z"), at("2026-05-20T12:00:00Z"));
    let mut random = Rng::with_seed(35);
    ((0..count).map(|_| Visit::made_up(&mut random, from, 9)).collect(), now)
}

#[tokio::test]
async fn pages_of_clicks_have_no_gaps_or_repeats_while_clicks_arrive() {
    let (visits, now) = some_visits(400);
    let bench = Bench::with(&visits, now).await;
    let from = at("2026-05-12T06:00:00Z");
    for (query, filter) in [
        ("limit=7", vec![]),
        ("limit=100", vec![]),
        ("limit=20&country=DE&browser=Chrome", vec![("country", "DE"), ("browser", "Chrome")]),
        ("limit=3&audience=prefetch&os=iOS", vec![("audience", "prefetch"), ("os", "iOS")]),
        ("limit=50&from=2026-05-12T06:00:00Z&source=qr", vec![("source", "qr")]),
    ] {
        let is_meant = |visit: &&Visit| (!query.contains("from") || visit.at >= from) && visit.fits(&filter);
        let mut expected: Vec<_> = visits.iter().filter(is_meant).map(|visit| visit.at.to_string()).collect();
        expected.sort_by(|one, other| other.cmp(one));

        let found = bench
            .all_clicks(query, async || {
                let newest = Visit { at: now, ..Visit::made_up(&mut Rng::new(), now, 1) };
                let click = Click::from_event(newest.event(&bench.workspace)).unwrap();
                bench.db.clicks().record(&click, Spread::Narrow).await.unwrap();
            })
            .await;

        let found: Vec<_> = found.into_iter().filter(|time| *time < now.to_string()).collect();
        assert_eq!(found, expected, "{query}");
    }
}

#[tokio::test]
async fn a_cursor_is_good_for_the_clicks_that_it_is_of() {
    let (visits, now) = some_visits(30);
    let bench = Bench::with(&visits, now).await;
    bench.db.store(&LinkBuilder::new("other1").in_workspace(&bench.workspace).build()).await;
    let page = bench.clicks("limit=5&device=desktop").await.json();
    let cursor = page["next_cursor"].as_str().unwrap();

    for query in ["limit=5", "device=mobile", "device=desktop&from=2026-05-01", "device=desktop&tz=Asia/Tokyo"] {
        let refused = bench.clicks(&format!("{query}&after={cursor}")).await;
        assert_eq!(refused.problem_field(), (400, "after".into()), "{query}");
    }
    for text in ["x", "AAAA", &cursor[1..]] {
        assert_eq!(bench.clicks(&format!("device=desktop&after={text}")).await.status, 400, "{text}");
    }
    let path = format!("/api/stats/other1/clicks?limit=5&device=desktop&after={cursor}");
    let request = RequestBuilder::new("GET", &path).at(now).token(&token_for(&bench.workspace, Role::Viewer));
    assert_eq!(request.send_to(&stats(&bench.db)).await.status, 400);
    assert_eq!(bench.clicks(&format!("limit=5&device=desktop&after={cursor}")).await.status, 200);
}

#[tokio::test]
async fn clicks_are_a_table_with_times_of_the_zone_and_without_formulas() {
    let visit = Visit {
        at: at("2026-05-12T22:30:00Z"),
        query: ("utm_source=%3DHYPERLINK(1)&utm_medium=mail", false, None),
        ..Visit::made_up(&mut Rng::with_seed(2), at("2026-05-12T00:00:00Z"), 1)
    };
    let bench = Bench::with(&[visit], at("2026-05-20T12:00:00Z")).await;

    let answer = bench.clicks("format=csv&tz=Europe/Berlin").await;

    assert_eq!((answer.status, answer.header("content-type")), (200, "text/csv; charset=utf-8"));
    let mut lines = answer.body.lines();
    assert!(lines.next().unwrap().starts_with("id,clicked_at,audience,device,"));
    let row = lines.next().unwrap();
    assert!(row.contains(",2026-05-13T00:30:00.000+02:00,") && row.contains(",'=HYPERLINK(1) / mail / -,"), "{row}");
    assert_eq!((lines.next(), answer.header("link")), (None, ""));
}

#[tokio::test]
async fn a_series_and_each_breakdown_are_tables() {
    let (visits, now) = some_visits(200);
    let bench = Bench::with(&visits, now).await;
    let table = async |query: &str| bench.ask(&format!("from=2026-05-10&to=2026-05-19{query}")).await;
    let answer = table("&country=DE").await.json();
    let mut breakdowns = BREAKDOWNS.map(|(name, label, _)| (name, label)).to_vec();
    breakdowns.push(("destinations", "destination"));
    for (name, label) in breakdowns {
        let csv = table(&format!("&country=DE&format=csv&table={name}")).await.body;

        let row = |row: &Value| format!("{},{}\r\n", row[label].as_str().unwrap_or("unknown"), row["count"]);
        let rows: String = answer[name].as_array().unwrap().iter().map(row).collect();
        assert_eq!(csv, format!("{label},count\r\n{rows}"));
    }
    let series = table("&country=DE&format=csv").await.body;
    let row = |point: &Value| {
        format!("{},{},{}\r\n", point["period"].as_str().unwrap(), point["clicks"], point["human_clicks"])
    };
    let rows: String = answer["points"].as_array().unwrap().iter().map(row).collect();
    assert_eq!(series, format!("period,clicks,human_clicks\r\n{rows}"));
}

impl Bench {
    /// An answer, and how many read units it takes.
    async fn cost(&self, path: &str) -> (Value, f64) {
        let meter = CapacityMeter::default();
        let metered = crate::stats::metered(&self.db, &meter);
        let request = RequestBuilder::new("GET", &format!("/api/stats/launch{path}")).at(self.now);
        let answer = request.token(&token_for(&self.workspace, Role::Viewer)).send_to(&metered).await.expecting(200);
        (answer.json(), meter.read_units())
    }
}

/// Ten clicks a day.
fn ordinary_year() -> (Vec<Visit>, Timestamp) {
    let (from, now) = (at("2025-06-01T00:00:00Z"), at("2026-06-01T12:00:00Z"));
    let mut random = Rng::with_seed(36);
    let day = |day: u64| from.plus(Duration::from_secs(day * 86_400));
    ((0..3_650).map(|number| Visit::made_up(&mut random, day(number / 10), 1)).collect(), now)
}

#[tokio::test]
async fn days_cost_as_much_as_their_rows_and_edges_as_their_clicks() {
    let (visits, now) = ordinary_year();
    let bench = Bench::with(&visits, now).await;

    let (_, year) = bench.cost("?from=2025-06-01&to=2026-05-31&audience=human").await;
    let (_, month) = bench.cost("?from=2026-05-01&to=2026-05-31").await;
    let (_, month_of_zone) = bench.cost("?from=2026-05-01&to=2026-05-31&tz=Europe/Berlin").await;
    let (_, last_day) = bench.cost("?from=2026-05-30T06:10:00Z&to=2026-05-31T06:10:00Z").await;
    let (_, filtered) = bench.cost("?from=2026-05-01&to=2026-05-31&os=iOS").await;

    println!(
        "read units: a year {year}, a month {month}, in another zone {month_of_zone}, 24 hours {last_day}, filtered {filtered}"
    );
    assert!(year <= 100.0, "{year}");
    assert!(month <= 15.0, "{month}");
    assert!(month_of_zone <= month + 40.0, "{month_of_zone}");
    assert!(last_day <= 50.0, "{last_day}");
    assert!(filtered <= 60.0, "{filtered}");
}

#[tokio::test]
async fn a_workspace_that_has_read_too_much_waits_for_the_next_minute() {
    let (visits, now) = ordinary_year();
    let mut bench = Bench::with(&visits, now).await;
    let (_, units) = bench.cost("?from=2025-06-01&to=2026-05-31&os=iOS").await;
    let counted = has_read(&bench.db, &bench.workspace, 0, now).await;
    assert!(units > 50.0 && (units - f64::from(counted)).abs() < 3.0, "{counted} of {units}");
    has_read(&bench.db, &bench.workspace, RateLimit::READ_UNITS.calls() - counted - 20, now).await;

    let much = ["?from=2025-06-01&to=2026-05-31&os=iOS", "/clicks?format=csv"];
    for path in much {
        let refused = bench.get(path).await;
        assert_eq!((refused.status, refused.header("retry-after")), (429, "60"), "{path}");
    }
    let little = ["", "?from=2026-05-01&audience=human", "/clicks", "/clicks?os=iOS&limit=1"];
    for path in little {
        assert_eq!(bench.get(path).await.status, 200, "{path} costs little");
    }
    let knowing = stats(&bench.db);
    for path in [much[0], little[1], "/daily", "/timeline?from=2026-01-01"] {
        assert_eq!(bench.get_from(&knowing, path).await.status, 429, "{path} where that is known");
    }
    bench.now = now.plus(RateLimit::WINDOW);
    for path in much {
        assert_eq!(bench.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn the_costliest_question_reads_eight_megabytes_and_says_how_far_that_goes() {
    const CLICKS: u64 = 10_000;
    let (from, now) = (at("2026-05-10T00:00:00Z"), at("2026-05-20T12:00:00Z"));
    let bench = Bench::with(&[], now).await;
    let mut random = Rng::with_seed(37);
    let times: Vec<_> = (0..CLICKS).map(|_| from.plus(Duration::from_millis(random.u64(0..864_000_000)))).collect();
    let page = format!("https://news.example/{}", "x".repeat(1_000));
    for time in &times {
        let click = ClickBuilder::new("launch").in_workspace(&bench.workspace).at(*time).from(&page).build();
        bench.db.clicks().record(&Click::from_event(click).unwrap(), Spread::Narrow).await.unwrap();
    }

    let (answer, units) = bench.cost("?from=2026-05-10&to=2026-05-19&os=Windows").await;

    println!("read units of the costliest question: {units}");
    assert!((900.0..=1_100.0).contains(&units), "{units}");
    let since = at(answer["covers"]["since"].as_str().unwrap());
    let looked_at = times.iter().filter(|time| **time >= since).count();
    assert_eq!(json!([answer["covers"]["clicks"], answer["total_clicks"]]), json!([looked_at, looked_at]));
    assert!((6_000..9_000).contains(&looked_at), "{looked_at}");
    assert_eq!(answer["before"], Value::Null);
}

#[tokio::test]
async fn hours_with_too_many_clicks_are_shown_as_whole_days() {
    let (from, now) = (at("2026-05-10T00:00:00Z"), at("2026-05-20T12:00:00Z"));
    let mut random = Rng::with_seed(38);
    let visits: Vec<_> = (0..20_100).map(|_| Visit::made_up(&mut random, from, 1)).collect();
    let bench = Bench::counting(&visits, now).await;

    let answer = bench.ask("from=2026-05-10T00:30:00Z&to=2026-05-12T08:00:00Z").await.json();

    assert_eq!(json!([answer["from"], answer["to"]]), json!(["2026-05-10T00:00:00.000Z", "2026-05-13T00:00:00.000Z"]));
    assert_eq!(answer["total_clicks"], 20_100);
    assert_eq!(answer["before"]["to"], answer["from"]);
    // Clocks of this zone tell hours that were not counted.
    let kathmandu = bench.ask("from=2026-05-09&to=2026-05-11&tz=Asia/Kathmandu").await.json();
    assert_eq!(json!([kathmandu["tz"], kathmandu["total_clicks"]]), json!(["UTC", 20_100]));
}

#[tokio::test]
async fn hours_whose_clicks_are_no_longer_kept_are_shown_as_whole_days() {
    let (visits, _) = some_visits(50);
    let mut bench = Bench::with(&visits, at("2027-06-15T00:00:00Z")).await;
    let question = "from=2026-05-11T06:00:00Z&to=2026-05-16T06:00:00Z";

    let late = bench.ask(question).await.json();
    bench.now = at("2027-06-01T00:00:00Z");
    let earlier = bench.ask(question).await.json();

    assert_eq!(json!([late["from"], late["to"]]), json!(["2026-05-11T00:00:00.000Z", "2026-05-17T00:00:00.000Z"]));
    assert_eq!(earlier["from"], "2026-05-11T06:00:00.000Z");
}
