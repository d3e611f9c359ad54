//! What functions behind the API do while the tables don't answer: the circuit breaker.

use std::sync::{Arc, Mutex};

use aws_sdk_dynamodb::{Client, config::retry::RetryConfig};
use linklet_dynamodb::{CreateOutcome, Table};
use linklet_lambda::breaker::{Breaker, Circuit};
use linklet_lambda::metrics;
use linklet_test_support::BrokenDynamoDb;

use crate::prelude::*;

/// A breaker whose time only the test lets pass.
#[derive(Clone)]
struct Time(Arc<Mutex<Instant>>);

impl Time {
    fn start() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    fn pass(&self, span: Duration) {
        *self.0.lock().unwrap() += span;
    }

    fn breaker(&self) -> Breaker {
        let time = self.0.clone();
        Breaker::with_clock(move || *time.lock().unwrap())
    }
}

fn guarded(client: &Client, breaker: Breaker) -> Client {
    Client::from_conf(client.config().to_builder().interceptor(breaker).build())
}

fn redirect(client: &Client) -> Redirect {
    fixture::redirect_with(
        LinksTable(Table::new(client.clone(), "LinksTable")),
        ClicksTable::new(Table::new(client.clone(), "ClicksTable")),
        ThrottleTable::new(Table::new(client.clone(), "ThrottleTable")),
    )
}

/// A HEAD is one read and no click.
async fn look(redirect: &Redirect) -> Answer {
    RequestBuilder::new("HEAD", "/launch").send_to(redirect).await
}

async fn statuses(redirect: &Redirect, times: usize) -> Vec<u16> {
    let mut statuses = Vec::new();
    for _ in 0..times {
        statuses.push(look(redirect).await.status);
    }
    statuses
}

/// A link behind a breaker and faults.
struct Bench {
    db: TestDynamoDb,
    faults: Faults,
    time: Time,
    redirect: Redirect,
}

impl Bench {
    async fn new() -> Self {
        let (db, _) = with_link(LinkBuilder::new("launch")).await;
        let (faults, time) = (Faults::default(), Time::start());
        let redirect = redirect(&guarded(&db.client_with(faults.clone()), time.breaker()));
        Self { db, faults, time, redirect }
    }

    /// Fails five times, and so opens the breaker.
    async fn open(&self) {
        self.faults.plan_all((0..5).map(|call| (call, Fault::NotSent)));
        assert_eq!(statuses(&self.redirect, 5).await, [503; 5]);
    }
}

#[tokio::test]
async fn after_five_failures_requests_are_refused_without_reaching_the_endpoint() {
    let dynamodb = BrokenDynamoDb::start();
    let redirect = redirect(&guarded(&dynamodb.client(), Time::start().breaker()));

    let (before, measured) = metrics::observe(statuses(&redirect, 5)).await;
    let reached = dynamodb.requests();
    let after = redirect.get_openly("/launch").await;

    assert_eq!((before, reached), (vec![503; 5], 5));
    assert_eq!((measured.get(Metric::Errors), measured.get(Metric::BreakerOpened)), (5.0, 1.0));
    assert_eq!(after.problem(), (503, "service unavailable".into()));
    assert_eq!(statuses(&redirect, 20).await, [503; 20]);
    assert_eq!(dynamodb.requests(), 5);
}

#[tokio::test]
async fn one_probe_follows_the_open_time_and_its_success_closes_the_breaker() {
    let bench = Bench::new().await;
    bench.open().await;
    bench.faults.plan(Some((0, Fault::NotSent)));

    bench.time.pass(Circuit::OPEN_FOR);
    let answers = join_all((0..10).map(|_| look(&bench.redirect))).await;
    assert_eq!(answers.iter().map(|answer| answer.status).collect::<Vec<_>>(), [503; 10]);
    assert_eq!(bench.faults.calls(), 1, "only the probe has left");

    bench.time.pass(Circuit::OPEN_FOR - Duration::from_millis(1));
    assert_eq!(statuses(&bench.redirect, 1).await, [503]);
    assert_eq!(bench.faults.calls(), 1, "the failed probe has opened it for as long again");

    bench.time.pass(Duration::from_millis(1));
    assert_eq!(statuses(&bench.redirect, 3).await, [fixture::REDIRECT; 3]);
}

#[tokio::test]
async fn an_answer_that_gets_lost_is_a_failure() {
    let bench = Bench::new().await;
    bench.faults.plan_all((0..5).map(|call| (call, Fault::AnswerLost)));

    assert_eq!(statuses(&bench.redirect, 6).await, [503; 6]);

    assert_eq!(bench.faults.calls(), 5);
}

#[tokio::test]
async fn refusals_of_dynamodb_never_open_it() {
    let bench = Bench::new().await;
    let taken = LinkBuilder::new("launch").build();
    let creation = Creation::of(&taken);

    for _ in 0..10 {
        let outcome = bench.redirect.links.create(&creation).await.unwrap();
        assert_eq!(outcome, CreateOutcome::CodeTaken);
    }
    bench.faults.plan_all((0..10).map(|call| (call, Fault::Throttled)));
    assert_eq!(statuses(&bench.redirect, 11).await[10], fixture::REDIRECT);
}

#[tokio::test]
async fn a_call_with_all_its_tries_is_one_failure() {
    let bench = Bench::new().await;
    let retries = RetryConfig::standard().with_max_attempts(3).with_initial_backoff(Duration::from_millis(1));
    let client = bench.db.client_with(bench.faults.clone());
    let client = Client::from_conf(client.config().to_builder().retry_config(retries).build());
    let redirect = redirect(&guarded(&client, bench.time.breaker()));

    bench.faults.plan_all((0..12).map(|try_| (try_, Fault::NotSent)));
    assert_eq!(statuses(&redirect, 4).await, [503; 4]);
    assert_eq!(bench.faults.calls(), 12);
    assert_eq!(statuses(&redirect, 1).await, [fixture::REDIRECT], "four calls failed, with twelve tries");

    bench.faults.plan_all((0..15).map(|try_| (try_, Fault::NotSent)));
    assert_eq!(statuses(&redirect, 6).await, [503; 6]);
    assert_eq!(bench.faults.calls(), 15, "five calls failed, and the sixth did not leave");
}

#[tokio::test]
async fn nobody_hashes_a_password_while_the_table_is_down() {
    let (users, faults) = (TestDynamoDb::start(), Faults::default());
    faults.plan_all((0..2).map(|call| (call, Fault::NotSent)));
    let auth = linklet_auth::Auth::new(
        linklet_test_support::users_by(users.client_with(faults.clone())),
        linklet_test_support::tokens(),
        linklet_test_support::issuer(),
        fixture::limits(&users),
    );
    let ada = serde_json::json!({"email": "ada@example.com", "password": "correct horse"});

    assert_eq!(auth.post_openly("/api/auth/register", &ada).await.problem(), (503, "service unavailable".into()));
    assert_eq!(faults.calls(), 1, "it was the lookup of the address that failed");
    assert!(users.scan("UsersTable").is_empty());
}
