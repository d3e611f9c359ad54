//! Monitored URLs that go down and come back. They are on this machine, which only the system that `make e2e` starts may reach.

use std::{env, net::Ipv4Addr};

use linklet_test_support::{Manner, OpenRequests, Site};
use serde_json::{Value, json};

use crate::api::{Api, User, eventually, send};
use crate::stack::exactly;
use crate::ticks::Ticks;

/// Whether the system checks servers on this machine.
pub fn reaches_this_machine() -> bool {
    let reaches = env::var("WATCH_ALLOW_LOOPBACK").is_ok();
    if !reaches {
        eprintln!("skipped: WATCH_ALLOW_LOOPBACK is not set, so servers on this machine are not checked");
    }
    reaches
}

pub async fn register(user: &User, url: &str) -> String {
    send(user.request("POST", "/v1/targets").json(&json!({"url": url}))).await.expecting(201).text("id")
}

/// A site that isn't at 127.0.0.1: that is the address of the shortener itself, which is never checked.
fn site(last: u8) -> Site {
    Site::start_on(Ipv4Addr::new(127, 0, 1, last), &OpenRequests::default())
}

struct Watched<'u> {
    user: &'u User,
    id: String,
    ticks: Ticks,
}

impl Watched<'_> {
    async fn results(&self) -> Vec<Value> {
        let answer = self.user.get(&format!("/v1/targets/{}/results?limit=100", self.id)).await;
        answer.json()["items"].as_array().unwrap().clone()
    }

    async fn status(&self) -> Value {
        self.user.get(&format!("/v1/targets/{}", self.id)).await.json()["status"].clone()
    }

    /// Has ticks begin until the latest result is the expected one and the target's status follows.
    async fn ticks_until(&self, status_code: &Value, error: &Value, status: &str) {
        eventually(&format!("{status_code} and {error} means {status}"), true, async || {
            let latest = self.results().await.first().cloned().unwrap_or_default();
            let is_seen = (&latest["status_code"], &latest["error"]) == (status_code, error);
            let is_there = is_seen && self.status().await == status;
            if !is_there {
                self.ticks.begin(1).await;
            }
            is_there
        })
        .await;
    }
}

#[tokio::test]
async fn a_target_that_fails_and_recovers_has_results_and_one_notification_each() {
    if !reaches_this_machine() {
        return;
    }
    let (ada, site) = (User::new(&Api::new()).await, site(1));
    let id = register(&ada, &site.url("/health")).await;
    let watched = Watched { user: &ada, id, ticks: Ticks::of_the_stack().await };

    watched.ticks_until(&json!(200), &Value::Null, "up").await;
    site.behave(Manner::Answers(500));
    watched.ticks_until(&json!(500), &Value::Null, "down").await;
    site.behave(Manner::Closes);
    watched.ticks_until(&Value::Null, &json!("other"), "down").await;
    site.behave(Manner::Answers(200));
    watched.ticks_until(&json!(200), &Value::Null, "up").await;

    let told = async || (ada.notifications("target.down").await.len(), ada.notifications("target.up").await.len());
    exactly("one notification each", (1, 1), told).await;
    // Two failed ticks in a row and nothing less made it go down.
    let results = watched.results().await;
    let failed = results.iter().filter(|result| result["status_code"] == 500).count();
    assert!(failed >= 2, "{results:?}");
    assert!(results.iter().all(|result| result["latency_ms"].is_u64()), "{results:?}");
}

#[tokio::test]
async fn ticks_that_come_twice_have_one_result() {
    if !reaches_this_machine() {
        return;
    }
    let (ada, site) = (User::new(&Api::new()).await, site(2));
    // Another test may begin several ticks in one second, which have one result; none does from here on.
    let ticks = Ticks::of_the_stack().await;
    register(&ada, &site.url("/twice")).await;

    ticks.begin(6).await;

    eventually("the page is checked", true, async || site.requests("/twice") > 0).await;
    ticks.are_done().await;
    let listed = ada.get("/v1/targets").await.json()["items"][0]["id"].as_str().unwrap().to_owned();
    // One that the schedule has begun meanwhile may have no result yet, and one that it had begun before none any more.
    let requests = site.requests("/twice");
    let results = ada.get(&format!("/v1/targets/{listed}/results?limit=100")).await.json();
    let count = results["items"].as_array().unwrap().len();
    assert!(requests <= count + 2, "{requests} requests, {count} results");
}
