//! Limits per client. They need a system that trusts the header of an edge about who a client is, as the local one does.

use std::{
    env,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use serde_json::json;

use crate::api::{Answer, Api, User, send_once};

/// The limit, what remains, and how long to wait, as the headers tell it.
fn told(answer: &Answer) -> [&str; 3] {
    ["x-ratelimit-limit", "x-ratelimit-remaining", "retry-after"].map(|name| answer.header(name))
}

fn is_up_to_a_minute(seconds: &str) -> bool {
    seconds.parse().is_ok_and(|seconds: u32| (1..=60).contains(&seconds))
}

/// Whether a client of its own gets counts of its own.
pub async fn tells_clients_apart() -> bool {
    let answer = send_once(Api::new().request("GET", "/nolink0")).await;
    let other = send_once(Api::new().request("GET", "/nolink0")).await;
    let tells = told(&answer)[1] == "299" && told(&other)[1] == "299";
    // The system that `make e2e` starts has to.
    assert!(tells || env::var("TABLES_GATE").is_err(), "{answer:?}, {other:?}");
    if !tells {
        eprintln!("skipped: all clients are one here, or the limit is another");
    }
    tells
}

#[tokio::test]
async fn an_address_may_create_ten_links_a_minute_and_another_one_as_many() {
    if !tells_clients_apart().await {
        return;
    }
    let (ada, bob) = (User::new(&Api::new()).await, User::new(&Api::new()).await);
    let shorten = async |user: &User, number: usize| {
        let body = json!({"url": format!("https://example.com/{number}")});
        send_once(user.request("POST", "/api/shorten").json(&body)).await
    };

    for number in 0..10 {
        let answer = shorten(&ada, number).await;
        assert_eq!((answer.status, told(&answer)), (201, ["10", &(9 - number).to_string(), ""]));
    }
    let refused = shorten(&ada, 10).await;

    assert_eq!(refused.problem(), (429, "rate limit exceeded".into()));
    assert_eq!(told(&refused)[..2], ["10", "0"]);
    assert!(is_up_to_a_minute(told(&refused)[2]), "{refused:?}");
    assert_eq!(shorten(&bob, 0).await.status, 201);
}

#[tokio::test]
async fn a_client_may_follow_three_hundred_links_a_minute() {
    const WINDOW: Duration = Duration::from_secs(60);
    if !tells_clients_apart().await {
        return;
    }
    let api = Api::new();
    let code = User::new(&api).await.shorten("https://example.com/").await;
    let started = Instant::now();

    // Environments that run at the same time learn of each other's calls every five seconds, so the exact number is theirs.
    let mut passed = 0;
    let refused = loop {
        let answers = join_all((0..4).map(|_| send_once(api.request("HEAD", &format!("/{code}"))))).await;
        passed += answers.iter().filter(|answer| answer.is_redirect()).count();
        if let Some(refused) = answers.into_iter().find(|answer| answer.status == 429) {
            break refused;
        }
        if started.elapsed() > WINDOW {
            eprintln!("skipped: {passed} requests took longer than a minute");
            return;
        }
    };

    assert!(passed >= 300, "{passed}");
    assert_eq!(told(&refused)[..2], ["300", "0"]);
    assert!(is_up_to_a_minute(told(&refused)[2]), "{refused:?}");
}
