//! The canary, which goes through HTTP to the functions.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri, header::USER_AGENT};
use futures_util::future::join;
use linklet_canary::{Canary, CanaryError, FetchError};
use linklet_domain::{ShortCode, Timestamp};
use linklet_lambda::batch::Consumer;
use linklet_lambda::schedule::{Call, Job};
use linklet_lambda::telemetry::chain;
use linklet_test_support::{
    FakeQueues, LinkBuilder, Manner, RequestBuilder, Site, Template, TestDynamoDb, queue_batch,
};
use tokio::net::TcpListener;
use tokio::time::sleep;

use crate::fixture::{analytics, correlation, relay, send};

/// The functions behind a port of this machine, as API Gateway serves them.
async fn serve(db: Arc<TestDynamoDb>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let api = Router::new().fallback(async move |method: Method, uri: Uri, headers: HeaderMap| {
        let function = Template::load().function_for(method.as_str(), uri.path());
        let agent = headers[USER_AGENT].to_str().unwrap();
        let request = RequestBuilder::new(method.as_str(), uri.path()).header("user-agent", agent);
        let answer = send(&db, &function, request).await;
        let named = |(name, value): (&str, &str)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        let headers: HeaderMap = answer.headers().map(named).collect();
        (StatusCode::from_u16(answer.status).unwrap(), headers, answer.body)
    });
    tokio::spawn(async { axum::serve(listener, api).await.unwrap() });
    format!("http://{address}")
}

/// A system with a link, and a canary that follows it.
struct Fixture {
    db: Arc<TestDynamoDb>,
    queues: FakeQueues,
    destination: Site,
    canary: Canary,
}

impl Fixture {
    async fn start() -> Self {
        let (db, destination) = (Arc::new(TestDynamoDb::start()), Site::start());
        db.store(&LinkBuilder::new("canary7").to(&destination.url("/")).build()).await;
        let canary = canary_at(&serve(Arc::clone(&db)).await);
        Self { db, queues: FakeQueues::start(), destination, canary }
    }

    /// Counts the clicks that are stored.
    async fn count(&self) {
        relay(&self.db, &self.queues).consume(self.db.stream("ClicksTable")).await;
        analytics(&self.db, &self.queues).consume(queue_batch(&self.queues.bodies("analytics"))).await;
    }

    /// Counts the first click as soon as it is stored.
    async fn count_soon(&self) {
        while self.db.stream("ClicksTable").records.is_empty() {
            sleep(Duration::from_millis(5)).await;
        }
        self.count().await;
    }
}

/// A canary that hardly waits.
fn canary_at(endpoint: &str) -> Canary {
    let mut canary = Canary::new(None, endpoint, &ShortCode::parse("canary7").unwrap());
    (canary.patience, canary.pause) = (Duration::ZERO, Duration::from_millis(5));
    canary
}

fn call_at(scheduled_time: Timestamp) -> Call {
    Call { scheduled_time, correlation_id: correlation() }
}

/// Why a canary fails at an API that answers in this manner.
async fn failure_at(manner: Manner) -> CanaryError {
    let site = Site::start();
    site.behave(manner);
    canary_at(&site.url("")).run(call_at(Timestamp::now())).await.unwrap_err()
}

#[tokio::test]
async fn the_first_run_waits_until_its_click_is_counted_as_a_bots() {
    let mut fixture = Fixture::start().await;
    fixture.canary.patience = Duration::from_secs(60);

    let (run, ()) = join(fixture.canary.run(call_at(Timestamp::now())), fixture.count_soon()).await;

    run.unwrap();
    let summary = send(&fixture.db, "stats", RequestBuilder::new("GET", "/api/stats/canary7")).await.json();
    assert_eq!((&summary["total_clicks"], &summary["human_clicks"]), (&1.into(), &0.into()));
    assert_eq!(summary["browsers"][0]["browser"], "Linklet-Canary", "{summary}");
    assert_eq!(fixture.destination.all_requests(), 0);
}

#[tokio::test]
async fn a_run_succeeds_at_once_if_the_click_before_is_counted() {
    let fixture = Fixture::start().await;
    let first = Timestamp::now();
    fixture.canary.run(call_at(first)).await.unwrap_err();
    fixture.count().await;

    fixture.canary.run(call_at(first.plus(Canary::INTERVAL))).await.unwrap();
}

#[tokio::test]
async fn clicks_that_are_not_counted_fail_the_run() {
    let fixture = Fixture::start().await;
    let first = Timestamp::now();

    let never = fixture.canary.run(call_at(first)).await.unwrap_err();
    fixture.count().await;
    let no_more = fixture.canary.run(call_at(first.plus(Canary::INTERVAL * 2))).await.unwrap_err();

    assert!(matches!(never, CanaryError::NotCounted(_)), "{never}");
    assert!(matches!(no_more, CanaryError::NotCounted(since) if since == first.plus(Canary::INTERVAL)), "{no_more}");
}

#[tokio::test]
async fn a_link_that_does_not_redirect_fails_the_run() {
    let fixture = Fixture::start().await;
    let call = call_at(Timestamp::now());
    fixture.db.delete(&LinkBuilder::new("canary7").build()).await;
    let gone = fixture.canary.run(call.clone()).await.unwrap_err();
    let unknown = canary_at(&serve(Arc::new(TestDynamoDb::start())).await).run(call).await.unwrap_err();

    let broken = failure_at(Manner::Answers(503)).await;
    let page = failure_at(Manner::Answers(200)).await;

    let answers = [gone, unknown, broken, page].map(|failed| failed.to_string());
    let expected = [410, 404, 503, 200].map(|status| format!("the short URL answers {status} and no redirect"));
    assert_eq!(answers, expected);
}

#[tokio::test]
async fn statistics_that_cannot_be_read_fail_the_run() {
    let failed = failure_at(Manner::Answers(301)).await;

    assert_eq!(failed.to_string(), "the link's statistics answer 301");
}

#[tokio::test]
async fn an_api_that_nobody_reaches_fails_the_run_and_says_why() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let plain = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let unencrypted = format!("https://{}", plain.local_addr().unwrap());
    tokio::spawn(async move { plain.accept().await.unwrap().0.try_write(b"HTTP/1.1 400 Bad Request\r\n\r\n") });
    // A label of 64 letters is looked up nowhere.
    let unnamed = format!("http://{}.example", "a".repeat(64));

    for (endpoint, cause) in [
        (format!("http://{closed}"), "Connection refused"),
        (unnamed, "dns error"),
        (unencrypted, "InvalidContentType"),
    ] {
        let failed = canary_at(&endpoint).run(call_at(Timestamp::now())).await.unwrap_err();
        let reason = chain(&failed);
        assert!(reason.starts_with("the short URL doesn't answer: ") && reason.contains(cause), "{reason}");
    }
}

/// The clock runs ahead while everybody waits.
#[tokio::test(start_paused = true)]
async fn an_answer_that_never_comes_fails_the_run_after_five_seconds() {
    let failed = failure_at(Manner::Hangs).await;

    assert!(matches!(failed, CanaryError::Redirect(FetchError::Timeout)), "{failed}");
    assert_eq!(chain(&failed), "the short URL doesn't answer: it takes more than 5 s");
}

#[tokio::test]
async fn the_short_url_is_the_one_that_people_have() {
    let (base, endpoint) = (Site::start(), Site::start());
    let code = ShortCode::parse("canary7").unwrap();
    let call = call_at(Timestamp::now());

    Canary::new(Some(&base.url("/s")), &endpoint.url(""), &code).run(call.clone()).await.unwrap_err();
    Canary::new(None, &endpoint.url(""), &code).run(call).await.unwrap_err();

    assert_eq!((base.requests("/s/canary7"), base.all_requests()), (1, 1));
    assert_eq!((endpoint.requests("/r/canary7"), endpoint.all_requests()), (1, 1));
}
