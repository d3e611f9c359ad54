//! Limits per client. They need a system that trusts the header of an edge about who a client is, as the local one does.

use std::env;

use serde_json::json;

use crate::api::{Answer, Api, User, send_once};

/// The limit, what remains, and how long to wait, as the headers tell it.
fn told(answer: &Answer) -> [&str; 3] {
    ["x-ratelimit-limit", "x-ratelimit-remaining", "retry-after"].map(|name| answer.header(name))
}

/// Whether a client of its own gets counts of its own.
pub async fn tells_clients_apart() -> bool {
    let answer = send_once(Api::new().request("GET", "/nolink0")).await;
    let other = send_once(Api::new().request("GET", "/nolink0")).await;
    let tells = told(&answer)[1] == "299" && told(&other)[1] == "299";
    // The system that `make e2e` starts has to.
    assert!(tells || env::var("TABLES_PROXY").is_err(), "{answer:?}, {other:?}");
    if !tells {
        eprintln!("skipped: all clients are one here, or the limit is another");
    }
    tells
}

#[tokio::test]
async fn each_client_has_limits_of_its_own() {
    if !tells_clients_apart().await {
        return;
    }
    for _ in 0..2 {
        let order = User::new(&Api::new()).await.request("POST", "/api/shorten");
        let created = send_once(order.json(&json!({"url": "https://example.com/"}))).await;
        assert_eq!((created.status, told(&created)), (201, ["10", "9", ""]));
    }
}
