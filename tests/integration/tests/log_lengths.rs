//! How long the lines are that a function writes about a request or a batch. Logs are paid for by the byte, and the calculator
//! of costs reads these numbers from `infra/costs/units.json`.

use std::{cell::Cell, collections::BTreeMap, time::Duration};

use linklet_auth::Auth;
use linklet_domain::{CorrelationId, Reach, Role, Timestamp, WorkspaceId};
use linklet_lambda::batch::Consumer as _;
use linklet_lambda::metrics;
use linklet_lambda::schedule::{self, Call};
use linklet_test_support::{
    CapturedLogs, ClickBuilder, FakeNotifiers, FakeQueues, LinkBuilder, RequestBuilder, Site, TargetBuilder,
    TestDynamoDb, cost_units, event_batch, issuer, queue_batch, token_for, tokens, write_cost_units,
};
use serde::{Deserialize, Serialize};

use crate::fixture;

/// The bytes of what a function writes about a request or batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Lengths {
    /// The line about it, without metrics.
    line: usize,
    /// What makes the line's numbers metrics.
    metrics: usize,
    /// The other lines of level info.
    info: usize,
}

impl Lengths {
    fn all(self) -> [usize; 3] {
        [self.line, self.metrics, self.info]
    }
}

/// Of a function that has been called before: the first line has a member more.
async fn lengths(work: impl AsyncFn()) -> Lengths {
    work().await;
    let logs = CapturedLogs::start();
    work().await;
    let (text, mut lengths) = (logs.text(), Lengths::default());
    for (line, json) in text.lines().zip(logs.lines()) {
        let bytes = line.len() + 1;
        match json["message"].as_str() {
            Some("request answered" | "batch processed") => {
                lengths.metrics += json.get("_aws").map_or(0, |metrics| format!(r#","_aws":{metrics}"#).len());
                lengths.line += bytes - lengths.metrics;
            }
            _ if json["level"] == "INFO" => lengths.info += bytes,
            _ => assert_eq!(json["level"], "DEBUG", "{line}"),
        }
    }
    lengths
}

/// Everything that the functions work with.
struct System {
    db: TestDynamoDb,
    queues: FakeQueues,
    outside: FakeNotifiers,
    site: Site,
}

impl System {
    async fn start() -> Self {
        let system = Self {
            db: TestDynamoDb::start(),
            queues: FakeQueues::start(),
            outside: FakeNotifiers::start(),
            site: Site::start(),
        };
        system.db.store(&LinkBuilder::new("launch7").build()).await;
        system
    }

    async fn of_requests(&self) -> [(&'static str, Lengths); 6] {
        let (redirect, unlock) = (fixture::redirect(&self.db), fixture::unlock(&self.db));
        let shorten = fixture::shorten(&self.db);
        let (list, stats) = (fixture::list(&self.db), fixture::stats(&self.db));
        let auth = Auth::new(self.db.users(), tokens(), issuer(), fixture::limits(&self.db));
        let cookie = fixture::refresh_cookie(&self.db, &self.db.register("ada").await).await;
        let refresh = || RequestBuilder::new("POST", "/api/auth/refresh").json(&serde_json::json!({})).cookie(&cookie);
        let token = token_for(&WorkspaceId::generate(), Role::Member);
        let link = serde_json::json!({"url": "https://example.com/"});
        let get = |path: &str| RequestBuilder::new("GET", path).token(&token);
        let create = || RequestBuilder::new("POST", "/api/shorten").token(&token).json(&link);
        let password = serde_json::json!({"password": "open sesame"});
        let open = || RequestBuilder::new("POST", "/secret7").json(&password);
        let protected =
            serde_json::json!({"url": "https://example.com/", "custom_code": "secret7", "password": "open sesame"});
        let request = RequestBuilder::new("POST", "/api/shorten").token(&token).json(&protected);
        assert_eq!(request.send_to(&shorten).await.status, 201);
        [
            ("redirect", lengths(async || drop(get("/launch7").send_to(&redirect).await)).await),
            ("unlock", lengths(async || drop(open().send_to(&unlock).await)).await),
            ("shorten", lengths(async || drop(create().send_to(&shorten).await)).await),
            ("list", lengths(async || drop(get("/api/urls").send_to(&list).await)).await),
            ("auth", lengths(async || drop(refresh().send_to(&auth).await)).await),
            ("stats", lengths(async || drop(get("/api/stats/launch7").send_to(&stats).await)).await),
        ]
    }

    async fn of_consumers(&self) -> [(&'static str, Lengths); 3] {
        let relay = fixture::relay(&self.db, &self.queues);
        let analytics = fixture::analytics(&self.db, &self.queues);
        let notify = fixture::notify(&self.db, &self.queues, &self.outside, false);
        let click = || event_batch(&[ClickBuilder::new("launch7").build()]);
        let records = || {
            let mut batch = self.db.stream("ClicksTable");
            batch.records.truncate(1);
            batch
        };
        let ada = self.db.register("told").await;
        let news = || event_batch(&[fixture::url_created(&ada)]);
        [
            ("relay", lengths(async || drop(metrics::observe(relay.consume(records())).await)).await),
            ("analytics", lengths(async || drop(metrics::observe(analytics.consume(click())).await)).await),
            ("notify", lengths(async || drop(metrics::observe(notify.consume(news())).await)).await),
        ]
    }

    async fn of_reports(&self) -> [(&'static str, Lengths); 1] {
        let reports = fixture::due_reports(&self.db, &self.queues);
        let monday = Timestamp::parse("2026-03-02T06:00:00Z").unwrap();
        let call = || Call { scheduled_time: monday, correlation_id: CorrelationId::generate() };
        [("reports", lengths(async || drop(metrics::observe(schedule::invoke(&reports, call())).await)).await)]
    }

    async fn of_linkwatch(&self) -> [(&'static str, Lengths); 2] {
        let clock = fixture::clock(self.db.watch(), self.db.jobs(), &self.queues, 60);
        let checker = fixture::checker(self.db.watch(), &self.queues, Reach::PublicAndLoopback);
        self.db.store_target(&TargetBuilder::new(&self.site.url("/good")).build()).await;
        let call = || Call { scheduled_time: Timestamp::now(), correlation_id: CorrelationId::generate() };
        // Each round begins when the one before is over.
        let (start, number) = (Timestamp::now(), Cell::new(0));
        let round = || {
            number.set(number.get() + 1);
            message(&fixture::tick_at(start.plus(Duration::from_secs(60 * number.get())), 60))
        };
        [
            ("clock", lengths(async || drop(metrics::observe(schedule::invoke(&clock, call())).await)).await),
            ("watch-check", lengths(async || drop(metrics::observe(checker.consume(round())).await)).await),
        ]
    }
}

fn message(content: &impl serde::Serialize) -> aws_lambda_events::sqs::SqsEvent {
    queue_batch(&[serde_json::to_string(content).unwrap()])
}

#[tokio::test]
async fn a_functions_lines_are_as_long_as_the_calculator_reads() {
    metrics::write_to("linklet".to_owned());
    let system = System::start().await;
    let measured = system.of_requests().await.into_iter().chain(system.of_consumers().await);
    let measured = measured.chain(system.of_reports().await).chain(system.of_linkwatch().await);
    let mut measured: BTreeMap<_, _> = measured.map(|(function, lengths)| (function.to_owned(), lengths)).collect();
    println!("{measured:#?}");
    let before: BTreeMap<String, Lengths> = cost_units("log_bytes");
    for (function, lengths) in &mut measured {
        // Durations have more digits or fewer.
        let is_near = |measured: usize, counted: usize| measured.abs_diff(counted) <= counted / 10;
        let is_as_before = |counted: &&Lengths| {
            lengths.all().into_iter().zip(counted.all()).all(|(measured, counted)| is_near(measured, counted))
        };
        *lengths = *before.get(function).filter(is_as_before).unwrap_or(lengths);
    }
    write_cost_units("log_bytes", &measured);

    let counted: BTreeMap<String, Lengths> = cost_units("log_bytes");

    assert_eq!(measured, counted, "if the change is meant, `make units` writes it down");
    let of_a_click =
        ["redirect", "relay", "analytics"].map(|function| measured[function].line + measured[function].info);
    assert!(of_a_click.iter().sum::<usize>() <= 620, "what a click writes is paid for a million times: {of_a_click:?}");
}
