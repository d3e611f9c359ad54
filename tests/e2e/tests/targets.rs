//! Monitored URLs.

use serde_json::json;

use crate::api::{Api, User, eventually, send};

#[tokio::test]
async fn a_url_is_registered_found_and_deleted() {
    let ada = User::new(&Api::new()).await;
    let post = async |url: &str, key: &str| {
        send(ada.request("POST", "/v1/targets").header("idempotency-key", key).json(&json!({"url": url}))).await
    };

    let registered = post("HTTPS://Example.com:443/path/?a=1#section", "first").await;
    let again = post("https://example.com/path?a=1", "second").await;
    let replayed = post("https://example.org/", "first").await;
    assert_eq!((registered.status, again.status, replayed.status), (201, 200, 200), "{registered:?} {again:?}");
    assert_eq!(registered.json()["canonical_url"], "https://example.com/path?a=1");
    let ids = [&again, &replayed].map(|answer| answer.json()["id"].clone());
    assert_eq!(ids, [registered.json()["id"].clone(), registered.json()["id"].clone()]);
    let id = registered.json()["id"].as_str().unwrap().to_owned();

    for query in ["limit=1", "host=EXAMPLE.com"] {
        let listed = ada.get(&format!("/v1/targets?{query}")).await.json();
        assert_eq!((&listed["items"][0]["id"], &listed["next_page_token"]), (&json!(id), &json!(null)), "{query}");
    }
    assert_eq!(ada.get(&format!("/v1/targets/{id}")).await.json()["id"], id);
    assert_eq!(ada.get(&format!("/v1/targets/{id}/results")).await.status, 200);
    let stranger = User::new(&Api::new()).await;
    assert_eq!(stranger.get(&format!("/v1/targets/{id}")).await.status, 403);
    assert_eq!(stranger.get("/v1/targets").await.json(), json!({"items": [], "next_page_token": null}));

    assert_eq!(ada.delete(&format!("/v1/targets/{id}")).await.status, 204);
    assert_eq!(ada.get(&format!("/v1/targets/{id}")).await.status, 404);
}

#[tokio::test]
async fn a_link_that_watches_makes_a_target_and_takes_it_along() {
    let ada = User::new(&Api::new()).await;
    let body = json!({"url": "https://example.com/watched", "watch": true});
    let created = send(ada.request("POST", "/api/shorten").json(&body)).await;
    assert_eq!((created.status, &created.json()["watch"]), (201, &json!(true)), "{created:?}");
    let code = created.json()["short_code"].as_str().unwrap().to_owned();

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
