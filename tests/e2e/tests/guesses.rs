//! Limits on guessing passwords. Like those per client, they need a system that trusts the header of an edge.

use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use serde_json::json;

use crate::{
    api::{Answer, Api, PASSWORD, User, send_once},
    limits::tells_clients_apart,
};

async fn log_in(api: &Api, email: &str, password: &str) -> Answer {
    send_once(api.request("POST", "/api/auth/login").json(&json!({"email": email, "password": password}))).await
}

#[tokio::test]
async fn five_hundred_wrong_passwords_from_one_address_do_not_stop_anothers_login() {
    if !tells_clients_apart().await {
        return;
    }
    let (home, attacker) = (Api::new(), Api::new());
    let (ada, bob) = (User::new(&home).await, User::new(&Api::new()).await);
    let guesses = stream::iter(0..500).map(|_| log_in(&attacker, &bob.email, "wrong horse")).buffer_unordered(20);
    let logins = async {
        let mut slowest = Duration::ZERO;
        for _ in 0..5 {
            let started = Instant::now();
            let answer = log_in(&home, &ada.email, PASSWORD).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            slowest = slowest.max(started.elapsed());
        }
        slowest
    };

    let attack = async {
        let started = Instant::now();
        let guesses: Vec<Answer> = guesses.collect().await;
        (guesses, started.elapsed())
    };

    let ((guesses, attacked), slowest) = tokio::join!(attack, logins);

    assert!(slowest < attacked, "a login waited {slowest:?}, as long as the attack lasted: {attacked:?}");
    let refused: Vec<_> = guesses.iter().filter(|answer| answer.status == 429).collect();
    assert!(refused.len() >= 480, "{}", refused.len());
    assert!(guesses.iter().all(|answer| matches!(answer.status, 401 | 429)));
    let told = refused[0];
    assert_eq!(told.problem(), (429, "too many attempts; try again later".into()));
    assert!(told.header("retry-after").parse().is_ok_and(|seconds: u32| (1..=900).contains(&seconds)), "{told:?}");
}

#[tokio::test]
async fn whoever_is_guessed_at_from_elsewhere_logs_in_at_home() {
    if !tells_clients_apart().await {
        return;
    }
    let home = Api::new();
    let ada = User::new(&home).await;
    // Until there is time enough to look before the next guess is admitted.
    loop {
        let refused = log_in(&Api::new(), &ada.email, "wrong horse").await;
        if refused.header("retry-after").parse().is_ok_and(|seconds: u32| seconds > 5) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }

    assert_eq!(log_in(&Api::new(), &ada.email, PASSWORD).await.status, 429, "the right password from elsewhere");
    assert_eq!(log_in(&home, &ada.email, PASSWORD).await.status, 200);
}
