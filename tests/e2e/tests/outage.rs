//! What visitors and clients see while the tables can't be reached, and afterwards.
//!
//! `TABLES_PROXY` is the control of the proxy between functions and tables that `make e2e` starts. A system without one
//! can't be tested so; then the test says it and passes.

use std::env;

use reqwest::{Client, RequestBuilder};
use serde_json::json;

use crate::api::{Answer, Api, PASSWORD, eventually, send, signed_up};
use crate::stack::{exactly, lines};

struct FaultProxy(String);

impl FaultProxy {
    fn of_the_system() -> Option<Self> {
        env::var("TABLES_PROXY").map(Self).ok()
    }

    async fn send(&self, action: &str) {
        let sent = Client::new().post(format!("{}/{action}", self.0)).send().await.expect("the proxy answers");
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

/// Sends a request again and again until its refusal says that nothing was called for it.
async fn is_refused_without_a_call(logs: &str, request: impl Fn() -> RequestBuilder) {
    let id = uuid::Uuid::new_v4().to_string();
    eventually(&format!("{logs} has an open circuit breaker"), true, async || {
        assert!(is_unavailable(&send(request().header("x-correlation-id", &id)).await));
        let lines = lines(logs, &id).await.expect("the system of the proxy has logs");
        lines.iter().any(|line| line["error"].as_str().is_some_and(|error| error.contains("circuit breaker is open")))
    })
    .await;
}

#[tokio::test]
async fn without_tables_the_system_answers_at_once_and_recovers_by_itself() {
    let Some(proxy) = FaultProxy::of_the_system() else {
        eprintln!("skipped: TABLES_PROXY is not set, so the tables can't be taken away");
        return;
    };
    let (api, ada) = signed_up().await;
    let (hot, cold) = (ada.shorten("https://example.com/hot").await, ada.shorten("https://example.com/cold").await);
    let cold_link = format!("/{cold}");
    follow(&api, &hot, 30).await;

    proxy.send("close").await;

    let shorten = || ada.request("POST", "/api/shorten").json(&json!({"url": "https://example.com/new"}));
    let credentials = json!({"email": ada.email, "password": PASSWORD});
    let log_in = || api.request("POST", "/api/auth/login").json(&credentials);
    // Every function notices by itself: after five failures its breaker opens, and nothing waits for what isn't there.
    is_refused_without_a_call("RedirectLogs", || api.request("GET", &cold_link)).await;
    is_refused_without_a_call("ShortenLogs", shorten).await;
    is_refused_without_a_call("ListLogs", || ada.request("GET", "/api/links")).await;
    is_refused_without_a_call("StatsLogs", || api.request("GET", &format!("/api/stats/{cold}"))).await;
    is_refused_without_a_call("AuthLogs", log_in).await;
    is_refused_without_a_call("AccountLogs", || ada.request("GET", "/api/workspace")).await;
    follow(&api, &hot, 1).await;
    assert_eq!(api.get("/health").await.status, 200);
    // A token is checked with a table, too, unless that was done within the minute in the same environment.
    assert!(is_unavailable(&ada.get("/api/me").await));

    proxy.send("open").await;

    eventually("a link is found again", true, async || api.get(&cold_link).await.is_redirect()).await;
    eventually("links are listed again", 200, async || ada.get("/api/links").await.status).await;
    eventually("people log in again", 200, async || send(log_in()).await.status).await;
    eventually("links are created again", true, async || matches!(send(shorten()).await.status, 200 | 201)).await;
    follow(&api, &hot, 3).await;

    // All of them: what could not be stored in between was parked, and is stored now.
    let stats = format!("/api/stats/{hot}");
    exactly("every click is counted", json!(34), async || api.get(&stats).await.json()["total_clicks"].clone()).await;
}
