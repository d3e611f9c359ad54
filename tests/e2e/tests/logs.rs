//! What a deployed system writes about itself.

use std::env;

use serde_json::{Value, json};

use crate::api::{Api, User, eventually, send};
use crate::stack::{exactly, lines};

#[tokio::test]
async fn a_request_is_one_line_and_its_click_has_its_correlation_id() {
    let api = Api::new();
    let code = User::new(&api).await.shorten("https://example.com/?secret=hunter2").await;
    let id = format!("following-{code}");
    if lines("RedirectLogs", &id).await.is_none() {
        return;
    }

    let hostile = "x\",\"level\":\"ERROR\",\"message\":\"forged";
    let follow = |id: &str| {
        let request = api.request("GET", &format!("/r/{code}?q=hunter2")).header("x-correlation-id", id);
        send(request.header("user-agent", hostile).header("x-user-id", "somebody-else"))
    };
    let followed = follow(&id).await;
    assert_eq!((followed.is_redirect(), followed.header("x-correlation-id")), (true, id.as_str()));

    // The line is written after the answer. The emulator takes what comes late from the function's next call only.
    exactly("the request is logged", 1, async || {
        follow("another-id").await;
        lines("RedirectLogs", &id).await.unwrap().len()
    })
    .await;
    let line = lines("RedirectLogs", &id).await.unwrap().remove(0);
    assert_eq!((&line["level"], &line["message"]), (&Value::from("INFO"), &Value::from("request answered")), "{line}");
    assert_eq!((&line["status"], &line["short_code"]), (&json!(followed.status), &json!(code)));
    assert_eq!(line["route"], "GET /r/{code}");
    // A batch with many clicks names the first ten, so the link is followed until a batch has few.
    eventually("a click is counted under the same id", true, async || {
        follow(&id).await;
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
