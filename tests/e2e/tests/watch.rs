//! Monitored URLs that go down and come back. They are on this machine, which only the system that `make e2e` starts may reach.

use std::{env, net::Ipv4Addr, time::Duration};

use aws_config::BehaviorVersion;
use aws_sdk_sqs::{Client, types::QueueAttributeName};
use linklet_domain::{CheckInterval, CorrelationId, Phase, PlannedRound, Timestamp};
use linklet_test_support::{Crowd, Manner, Site};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::api::{Answer, Api, User, eventually, send};

/// Whether the system checks servers on this machine.
pub fn reaches_this_machine() -> bool {
    let reaches = env::var("WATCH_ALLOW_LOOPBACK").is_ok();
    if !reaches {
        eprintln!("skipped: WATCH_ALLOW_LOOPBACK is not set, so servers on this machine are not checked");
    }
    reaches
}

pub async fn register(user: &User, url: &str) -> String {
    let registered: Answer = send(user.request("POST", "/v1/targets").json(&json!({"url": url}))).await;
    assert_eq!(registered.status, 201, "{registered:?}");
    registered.json()["id"].as_str().unwrap().to_owned()
}

/// A site that isn't at 127.0.0.1: that is the address of the shortener itself, which is never checked.
fn site(last: u8) -> Site {
    Site::start_on(Ipv4Addr::new(127, 0, 1, last), &Crowd::default())
}

/// The queues of rounds and checks, to have a round begin at once. The schedule has its own meanwhile, so there are a few more
/// results.
struct Rounds {
    sqs: Client,
    rounds: String,
    checks: String,
}

impl Rounds {
    async fn of_the_stack() -> Self {
        let stack = env::var("STACK_NAME").expect("who sets WATCH_ALLOW_LOOPBACK sets STACK_NAME");
        let sqs = Client::new(&aws_config::load_defaults(BehaviorVersion::latest()).await);
        let url = async |name: &str| {
            let found = sqs.get_queue_url().queue_name(format!("{stack}-{name}")).send().await;
            found.expect("the stack has the queue").queue_url.expect("a queue has a URL")
        };
        let (rounds, checks) = (url("rounds").await, url("checks.fifo").await);
        Self { sqs, rounds, checks }
    }

    async fn begin(&self, phase: Phase, slot: Timestamp) {
        let interval = CheckInterval::from_seconds(60).unwrap();
        let body =
            serde_json::to_string(&PlannedRound { phase, slot, interval, correlation_id: CorrelationId::generate() })
                .unwrap();
        self.sqs.send_message().queue_url(&self.rounds).message_body(body).send().await.unwrap();
    }

    async fn begin_all(&self) {
        for phase in Phase::all() {
            self.begin(phase, Timestamp::now()).await;
        }
    }

    /// Waits for a moment in which nobody works on a round or a check, nor is about to. A round has sent its checks before it is
    /// done with.
    async fn are_done(&self) {
        for queue in [&self.rounds, &self.checks] {
            let mut waited = 0;
            while self.messages(queue).await > 0 {
                waited += 1;
                assert!(waited < 600, "{queue} does not get empty");
                sleep(Duration::from_millis(100)).await;
            }
        }
    }

    async fn messages(&self, queue: &str) -> u32 {
        use QueueAttributeName::{
            ApproximateNumberOfMessages as Waiting, ApproximateNumberOfMessagesNotVisible as InWork,
        };
        let asked = self.sqs.get_queue_attributes().queue_url(queue).attribute_names(Waiting).attribute_names(InWork);
        let answer = asked.send().await.unwrap();
        let count = |name| answer.attributes().unwrap()[&name].parse::<u32>().unwrap();
        count(Waiting) + count(InWork)
    }
}

struct Watched<'u> {
    user: &'u User,
    id: String,
    rounds: Rounds,
}

impl Watched<'_> {
    async fn results(&self) -> Vec<Value> {
        let answer = self.user.get(&format!("/v1/targets/{}/results?limit=100", self.id)).await;
        answer.json()["items"].as_array().unwrap().clone()
    }

    async fn status(&self) -> Value {
        self.user.get(&format!("/v1/targets/{}", self.id)).await.json()["status"].clone()
    }

    /// Has rounds begin until the latest result is the expected one and the target's status follows.
    async fn rounds_until(&self, status_code: &Value, error: &Value, status: &str) {
        eventually(&format!("{status_code} and {error} means {status}"), true, async || {
            let latest = self.results().await.first().cloned().unwrap_or_default();
            let is_seen = (&latest["status_code"], &latest["error"]) == (status_code, error);
            let is_there = is_seen && self.status().await == status;
            if !is_there {
                self.rounds.begin_all().await;
            }
            is_there
        })
        .await;
    }
}

#[tokio::test]
async fn a_url_that_fails_stops_and_recovers_has_its_results_and_one_notification_each() {
    if !reaches_this_machine() {
        return;
    }
    let (ada, site) = (User::new(&Api::new()).await, site(1));
    let id = register(&ada, &site.url("/health")).await;
    let watched = Watched { user: &ada, id, rounds: Rounds::of_the_stack().await };

    watched.rounds_until(&json!(200), &Value::Null, "up").await;
    site.behave(Manner::Answers(500));
    watched.rounds_until(&json!(500), &Value::Null, "down").await;
    site.behave(Manner::Closes);
    watched.rounds_until(&Value::Null, &json!("other"), "down").await;
    site.behave(Manner::Answers(200));
    watched.rounds_until(&json!(200), &Value::Null, "up").await;

    let told = async || (ada.notifications("target.down").await.len(), ada.notifications("target.up").await.len());
    eventually("one notification each", (1, 1), told).await;
    // Two failed rounds in a row and nothing less made it go down.
    let results = watched.results().await;
    let failed = results.iter().filter(|result| result["status_code"] == 500).count();
    assert!(failed >= 2, "{results:?}");
    assert!(results.iter().all(|result| result["latency_ms"].is_u64()), "{results:?}");
}

#[tokio::test]
async fn rounds_that_come_twice_have_one_result() {
    if !reaches_this_machine() {
        return;
    }
    let (ada, site) = (User::new(&Api::new()).await, site(2));
    register(&ada, &site.url("/twice")).await;
    let rounds = Rounds::of_the_stack().await;
    let slot = Timestamp::now();

    for _ in 0..3 {
        for phase in Phase::all() {
            rounds.begin(phase, slot).await;
        }
    }

    eventually("the page is checked", true, async || site.requests("/twice") > 0).await;
    rounds.are_done().await;
    let listed = ada.get("/v1/targets").await.json()["items"][0]["id"].as_str().unwrap().to_owned();
    // One that the schedule has begun meanwhile may have no result yet.
    let requests = site.requests("/twice");
    let results = ada.get(&format!("/v1/targets/{listed}/results?limit=100")).await.json();
    let count = results["items"].as_array().unwrap().len();
    assert!(requests <= count + 1, "{requests} requests, {count} results");
}
