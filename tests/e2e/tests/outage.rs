//! What visitors and clients see while the tables can't be reached, and afterwards.
//!
//! `TABLES_GATE` is the control of the gate between functions and tables that `make e2e` starts. A system without one can't
//! be tested so; then the test says it and passes.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that meets an unexpected error has failed")]

#[expect(dead_code, reason = "only some of it is needed here")]
mod api;

use std::{
    env,
    time::{Duration, Instant},
};

use reqwest::Client;
use serde_json::json;

use api::{Answer, Api, User, eventually, send};

struct Gate(String);

impl Gate {
    fn of_the_system() -> Option<Self> {
        env::var("TABLES_GATE").map(Self).ok()
    }

    async fn send(&self, action: &str) {
        let sent = Client::new().post(format!("{}/{action}", self.0)).send().await.expect("the gate answers");
        assert_eq!(sent.status(), 204);
    }
}

fn is_unavailable(answer: &Answer) -> bool {
    answer.problem() == (503, "service unavailable".to_owned())
        && answer.header("content-type") == "application/problem+json"
}

/// Follows a link again and again, until it is hot and has been for so many times.
async fn follow(api: &Api, code: &str, times: usize) {
    for _ in 0..times {
        assert_eq!(api.get(&format!("/{code}")).await.status, 301);
    }
}

/// How long the quickest of some answers takes: what else the machine does shows in the others.
async fn quickest(api: &Api, path: &str) -> Duration {
    let mut times = Vec::new();
    for _ in 0..7 {
        let started = Instant::now();
        api.get(path).await;
        times.push(started.elapsed());
    }
    times.into_iter().min().unwrap()
}

#[tokio::test]
async fn without_its_tables_the_system_answers_at_once_keeps_hot_links_and_comes_back_by_itself() {
    let Some(gate) = Gate::of_the_system() else {
        eprintln!("skipped: TABLES_GATE is not set, so the tables can't be taken away");
        return;
    };
    let api = Api::new();
    let ada = User::new(&api).await;
    let (hot, cold) = (ada.shorten("https://example.com/hot").await, ada.shorten("https://example.com/cold").await);
    let cold_link = format!("/{cold}");
    follow(&api, &hot, 30).await;

    gate.send("close").await;

    // Every function notices by itself; after five failures its breaker opens.
    for _ in 0..5 {
        assert!(is_unavailable(&api.get(&cold_link).await));
        assert!(is_unavailable(&ada.get("/api/links").await));
        assert!(is_unavailable(&api.get(&format!("/api/stats/{cold}")).await));
    }
    let shorten = || ada.request("POST", "/api/shorten").json(&json!({"url": "https://example.com/new"}));
    for _ in 0..5 {
        assert!(is_unavailable(&send(shorten()).await));
    }
    follow(&api, &hot, 1).await;
    // Nothing waits for what isn't there: 503 takes no longer than an answer that needs no table.
    let (without_tables, unavailable) = (quickest(&api, "/health").await, quickest(&api, &cold_link).await);
    assert!(unavailable < without_tables + Duration::from_millis(50), "{unavailable:?}, {without_tables:?}");
    assert_eq!(api.get("/health").await.status, 200);
    assert_eq!(ada.get("/api/me").await.status, 200);

    gate.send("open").await;

    eventually("a link is found again", 301, async || api.get(&cold_link).await.status).await;
    eventually("links are listed again", 200, async || ada.get("/api/links").await.status).await;
    eventually("links are created again", true, async || matches!(send(shorten()).await.status, 200 | 201)).await;
    follow(&api, &hot, 3).await;

    // All clicks that could be stored, before and after. Those in between were answered and are known to be lost.
    let stats = format!("/api/stats/{hot}");
    eventually("stored clicks are counted", json!(33), async || api.get(&stats).await.json()["total_clicks"].clone())
        .await;
}
