//! Monitored URLs.

use serde_json::json;

use crate::api::{Api, User, eventually, send};

#[tokio::test]
async fn a_link_that_watches_makes_a_target_and_takes_it_along() {
    let ada = User::new(&Api::new()).await;
    let body = json!({"url": "https://example.com/watched", "watch": true});
    let created = send(ada.request("POST", "/api/shorten").json(&body)).await;
    assert_eq!((created.status, &created.json()["watch"]), (201, &json!(true)), "{created:?}");
    let code = created.text("short_code");

    let shown = ada.get(&format!("/api/links/{code}")).await.json();
    let status = shown["health"]["status"].as_str().unwrap_or_default();
    assert!(["pending", "up", "down"].contains(&status), "{shown}");
    assert_eq!(shown.get("degraded"), None);
    let url = async || ada.get("/v1/targets").await.json()["items"][0]["url"].clone();
    eventually("the link's URL is a target", json!("https://example.com/watched"), url).await;
    let id = ada.get("/v1/targets").await.json()["items"][0]["id"].as_str().unwrap().to_owned();
    let refused = ada.delete(&format!("/v1/targets/{id}")).await.problem();
    assert_eq!(refused, (409, "links watch this target; delete them first".into()));

    assert_eq!(ada.delete(&format!("/api/urls/{code}")).await.status, 204);
    let targets = async || ada.get("/v1/targets").await.json()["items"].clone();
    eventually("the target is gone with its link", json!([]), targets).await;
}
