use linklet_test_support::RequestBuilder;

use crate::fixture::web;

#[tokio::test]
async fn it_says_what_runs_here() {
    let answer = RequestBuilder::new("GET", "/health").send_to(&web()).await;

    let version = env!("CARGO_PKG_VERSION");
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    assert_eq!(answer.body, format!(r#"{{"service":"linklet","status":"ok","version":"{version}"}}"#));
}

#[tokio::test]
async fn a_head_request_gets_the_same_without_a_body() {
    let answer = RequestBuilder::new("HEAD", "/health").send_to(&web()).await;

    assert_eq!((answer.status, answer.body.as_str()), (200, ""));
    assert_eq!(answer.header("content-type"), "application/json");
}

#[tokio::test]
async fn a_sane_correlation_id_comes_back_and_any_other_is_replaced() {
    let sane = RequestBuilder::new("GET", "/health").header("x-correlation-id", "req-42").send_to(&web()).await;
    let other = RequestBuilder::new("GET", "/health").header("x-correlation-id", "two words").send_to(&web()).await;

    assert_eq!(sane.header("x-correlation-id"), "req-42");
    assert_eq!(other.header("x-correlation-id").len(), 36);
}

#[tokio::test]
async fn an_unknown_route_is_a_problem_document() {
    let answer = RequestBuilder::new("GET", "/nowhere").header("x-correlation-id", "req-42").send_to(&web()).await;

    assert_eq!(answer.status, 404);
    assert_eq!(answer.header("content-type"), "application/problem+json");
    let problem = answer.json();
    assert_eq!(problem["type"], "urn:linklet:problem:route_unknown");
    assert_eq!(problem["code"], "route_unknown");
    assert_eq!(problem["title"], "Not Found");
    assert_eq!(problem["status"], 404);
    assert_eq!(problem["detail"], problem["error"]);
    assert_eq!(problem["correlation_id"], "req-42");
}
