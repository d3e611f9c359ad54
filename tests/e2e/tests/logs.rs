//! What a deployed system writes about itself. Needs `STACK_NAME` and AWS credentials, as the tests behind the API do.

use std::env;

use aws_config::BehaviorVersion;
use aws_sdk_cloudwatchlogs::Client;
use serde_json::{Value, json};

use crate::api::{Api, User, eventually, send};

/// The lines with this correlation id that are in a log group of the stack, or `None` without `STACK_NAME`.
async fn lines(group: &str, correlation_id: &str) -> Option<Vec<Value>> {
    let Ok(stack) = env::var("STACK_NAME") else {
        eprintln!("skipped: STACK_NAME is not set, so the logs can't be read");
        return None;
    };
    let logs = Client::new(&aws_config::load_defaults(BehaviorVersion::latest()).await);
    let mut pages = logs
        .filter_log_events()
        .log_group_name(newest(&logs, &format!("{stack}-{group}-")).await)
        .filter_pattern(format!("\"{correlation_id}\""))
        .into_paginator()
        .send();
    let mut lines = Vec::new();
    while let Some(page) = pages.next().await {
        let events = page.expect("the log group can be read").events.unwrap_or_default();
        let messages = events.into_iter().filter_map(|event| event.message);
        lines.extend(messages.filter_map(|message| serde_json::from_str::<Value>(message.trim()).ok()));
    }
    lines.retain(|line| line["correlation_id"].as_str().is_some_and(|ids| ids.contains(correlation_id)));
    Some(lines)
}

/// The log group whose name begins like this. Those of earlier stacks of the same name are kept.
async fn newest(logs: &Client, beginning: &str) -> String {
    let groups = logs.describe_log_groups().log_group_name_prefix(beginning).send().await.expect("groups are listed");
    let newest = groups.log_groups.unwrap_or_default().into_iter().max_by_key(|group| group.creation_time);
    newest.and_then(|group| group.log_group_name).expect("the function has a log group")
}

#[tokio::test]
async fn a_request_is_one_line_and_its_click_is_followed_to_the_consumer() {
    let api = Api::new();
    let code = User::new(&api).await.shorten("https://example.com/?secret=hunter2").await;
    let id = format!("following-{code}");
    if lines("RedirectLogs", &id).await.is_none() {
        return;
    }

    let hostile = "x\",\"level\":\"ERROR\",\"message\":\"forged";
    let follow = || {
        let request = api.request("GET", &format!("/r/{code}?q=hunter2")).header("x-correlation-id", &id);
        send(request.header("user-agent", hostile).header("x-user-id", "somebody-else"))
    };
    let followed = follow().await;
    assert_eq!((followed.is_redirect(), followed.header("x-correlation-id")), (true, id.as_str()));

    eventually("the request is logged", 1, async || lines("RedirectLogs", &id).await.unwrap().len()).await;
    let line = lines("RedirectLogs", &id).await.unwrap().remove(0);
    assert_eq!((&line["level"], &line["message"]), (&Value::from("INFO"), &Value::from("request answered")), "{line}");
    assert_eq!((&line["status"], &line["short_code"]), (&json!(followed.status), &json!(code)));
    assert_eq!(line["route"], "GET /r/{code}");
    // A batch with many clicks names the first ten, so the link is followed until a batch has few.
    eventually("a click is counted under the same id", true, async || {
        follow().await;
        !lines("AnalyticsLogs", &id).await.unwrap().is_empty()
    })
    .await;
    let counted = lines("AnalyticsLogs", &id).await.unwrap();
    assert!(counted[0]["ClicksCounted"].as_f64() >= Some(1.0), "{counted:?}");
    // Only with full monitoring.
    if let Some(metrics) = counted[0].get("_aws") {
        assert_eq!(metrics["CloudWatchMetrics"][0]["Namespace"], env::var("STACK_NAME").unwrap());
    }
    assert!(!format!("{line}{counted:?}").contains("hunter2"));
}

#[tokio::test]
async fn whoever_names_himself_in_a_header_is_nobody() {
    let api = Api::new();
    let ada = User::new(&api).await;
    let posing = |method, path| {
        let request = api.request(method, path).header("x-user-id", &ada.id).header("x-workspace-id", &ada.workspace);
        request.header("x-forwarded-for", "127.0.0.1").header("x-amzn-oidc-identity", &ada.email)
    };

    assert_eq!(send(posing("GET", "/api/me")).await.problem(), (401, "unauthorized".into()));
    assert_eq!(send(posing("GET", "/api/links")).await.problem(), (401, "unauthorized".into()));

    let bob = User::new(&api).await;
    let myself = send(bob.request("GET", "/api/me").header("x-user-id", &ada.id)).await.json();
    assert_eq!((&myself["user_id"], &myself["workspace_id"]), (&Value::from(bob.id), &Value::from(bob.workspace)));
}
