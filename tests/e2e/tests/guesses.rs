//! Limits on guessing passwords. Like those per client, they need a system that trusts the header of an edge.

use std::time::Duration;

use serde_json::json;

use crate::api::{Answer, Api, PASSWORD, User, send_once};
use crate::limits::tells_clients_apart;

async fn log_in(api: &Api, email: &str, password: &str) -> Answer {
    send_once(api.request("POST", "/api/auth/login").json(&json!({"email": email, "password": password}))).await
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
