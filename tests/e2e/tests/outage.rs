//! What visitors and clients see while the tables can't be reached, and afterwards.
//!
//! `TABLES_GATE` is the control of the gate between functions and tables that `make e2e` starts. A system without one can't
//! be tested so; then the test says it and passes.

use std::{
    env,
    time::{Duration, Instant},
};

use reqwest::{Client, RequestBuilder};
use serde_json::json;

use crate::api::{Answer, Api, PASSWORD, User, eventually, send};

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
        assert!(api.get(&format!("/{code}")).await.is_redirect());
    }
}

/// How long the quickest of some answers takes: what else the machine does shows in the others.
async fn quickest(request: impl Fn() -> RequestBuilder, status: u16) -> Duration {
    let mut times = Vec::new();
    for _ in 0..7 {
        let started = Instant::now();
        assert_eq!(send(request()).await.status, status);
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
    let without_tables = quickest(|| api.request("GET", "/health"), 200).await;
    let credentials = json!({"email": ada.email, "password": PASSWORD});
    let log_in = || api.request("POST", "/api/auth/login").json(&credentials);
    for _ in 0..5 {
        assert!(is_unavailable(&send(log_in()).await));
        assert!(is_unavailable(&ada.get("/api/workspace").await));
    }
    for (what, unavailable) in [
        ("redirect", quickest(|| api.request("GET", &cold_link), 503).await),
        ("shorten", quickest(shorten, 503).await),
        ("list", quickest(|| ada.request("GET", "/api/links"), 503).await),
        ("stats", quickest(|| api.request("GET", &format!("/api/stats/{cold}")), 503).await),
        ("auth", quickest(log_in, 503).await),
        ("account", quickest(|| ada.request("GET", "/api/workspace"), 503).await),
    ] {
        assert!(
            unavailable < without_tables + Duration::from_millis(50),
            "{what}: {unavailable:?}, {without_tables:?}"
        );
    }
    assert_eq!(api.get("/health").await.status, 200);
    // A token is checked with a table, too, unless that was done within the minute in the same environment.
    assert!(is_unavailable(&ada.get("/api/me").await));

    gate.send("open").await;

    eventually("a link is found again", true, async || api.get(&cold_link).await.is_redirect()).await;
    eventually("links are listed again", 200, async || ada.get("/api/links").await.status).await;
    eventually("links are created again", true, async || matches!(send(shorten()).await.status, 200 | 201)).await;
    follow(&api, &hot, 3).await;

    // All of them: what could not be stored in between was parked, and is stored now.
    let stats = format!("/api/stats/{hot}");
    eventually("every click is counted", json!(34), async || api.get(&stats).await.json()["total_clicks"].clone())
        .await;
}
