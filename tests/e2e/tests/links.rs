//! The life of a link: reuse, management, switching off, purging.

use std::time::Duration;

use futures_util::future::join_all;
use linklet_domain::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::api::{Answer, Api, User, eventually, send, signed_up};
use crate::stack::exactly;

async fn shorten(user: &User, body: Value) -> Answer {
    send(user.request("POST", "/api/shorten").json(&body)).await
}

#[tokio::test]
async fn what_was_made_is_where_the_answer_says() {
    let user = User::new(&Api::new()).await;
    for (path, body) in [
        ("/api/shorten", json!({"url": "https://example.com/located"})),
        ("/api/keys", json!({"name": "CI", "scopes": ["links:read"]})),
        ("/v1/targets", json!({"url": "https://example.com/located"})),
    ] {
        let request = user.request("POST", path).json(&body);
        let asked = request.try_clone().unwrap().build().unwrap().url().clone();

        let made = send(request).await.expecting(201);

        let place = asked.join(made.header("location")).unwrap();
        let found = send(user.request("GET", &place.path()[asked.path().len() - path.len()..])).await;
        assert_eq!(found.status, 200, "{place}: {}", found.body);
    }
}

#[tokio::test]
async fn a_purged_link_leaves_nothing_but_its_code() {
    let (api, ada) = signed_up().await;
    let custom = format!("purged-{}", &Uuid::new_v4().simple().to_string()[..8]);
    let code = shorten(&ada, json!({"url": "https://example.com/", "custom_code": custom})).await.text("short_code");
    let stats = format!("/api/stats/{code}");
    let path = format!("/{code}");
    join_all((0..12).map(|_| api.get(&path))).await;
    exactly("the clicks are counted", json!(12), async || api.get(&stats).await.json()["total_clicks"].clone()).await;

    assert_eq!(User::new(&api).await.delete(&format!("/api/links/{code}")).await.status, 403);
    assert_eq!(ada.delete(&format!("/api/links/{code}")).await.status, 204);
    assert_eq!(ada.delete(&format!("/api/links/{code}")).await.status, 204);

    let gone = (410, "this link was purged with its statistics".to_owned());
    assert_eq!(api.get(&path).await.problem(), gone);
    eventually("the statistics are gone", gone, async || api.get(&stats).await.problem()).await;
    assert_eq!(ada.get("/api/urls").await.json()["urls"], json!([]));
    let somebody = User::new(&api).await;
    assert_eq!(shorten(&somebody, json!({"url": "https://example.com/x", "custom_code": code})).await.status, 409);
    assert_eq!(shorten(&ada, json!({"url": "https://example.com/"})).await.status, 201);
    exactly("the purge is told once", 1, async || ada.notifications("url.purged").await.len()).await;
}

#[tokio::test]
async fn a_purged_code_can_lead_elsewhere_with_statistics_from_zero() {
    let (api, ada) = signed_up().await;
    shorten(&ada, json!({"url": "https://example.com/wrong", "custom_code": "launch26"})).await.expecting(201);
    let clicks = async || api.get("/api/stats/launch26").await.json()["total_clicks"].clone();
    api.get("/launch26").await;
    exactly("the click is counted", json!(1), clicks).await;
    ada.delete("/api/links/launch26").await;

    shorten(&ada, json!({"url": "https://example.com/right", "custom_code": "launch26"})).await.expecting(201);

    let location = async || api.get("/launch26").await.header("location").to_owned();
    eventually("the code leads to its new destination", "https://example.com/right".to_owned(), location).await;
    let clicks = clicks().await;
    assert!(clicks.as_u64().is_some_and(|clicks| clicks <= 3), "the former link's clicks are back: {clicks}");
    ada.delete("/api/links/launch26").await;
}

#[tokio::test]
async fn an_expired_link_is_told_listed_and_extended() {
    let (api, ada) = signed_up().await;
    let expiry = Timestamp::now().plus(Duration::from_secs(2));
    let code = shorten(&ada, json!({"url": "https://example.com/", "expires_at": expiry})).await.text("short_code");
    // A marker is deleted within a minute after the expiry here.
    tokio::time::sleep(Duration::from_secs(40)).await;
    assert_eq!(api.get(&format!("/{code}")).await.problem(), (410, "this link has expired".into()));

    exactly("the expiry is told once", 1, async || ada.notifications("url.expired").await.len()).await;
    let listed = ada.get("/api/links?status=expired").await.json();
    let patch = json!({"expires_at": "2099-01-01"});
    let refused = send(ada.request("PATCH", &format!("/api/links/{code}")).json(&patch)).await;
    let patch = json!({"expires_at": "2099-01-01T00:00:00Z"});
    let extended = send(ada.request("PATCH", &format!("/api/links/{code}")).json(&patch)).await;

    assert_eq!(listed["links"][0]["short_code"], code);
    assert_eq!((refused.status, extended.json()["status"].clone()), (400, json!("active")));
    let redirects = async || api.get(&format!("/{code}")).await.is_redirect();
    eventually("the link redirects again", true, redirects).await;
}

#[tokio::test]
async fn many_links_are_created_changed_and_deleted_at_once() {
    let ada = User::new(&Api::new()).await;
    let links: Vec<_> = (0..30).map(|number| json!({"url": format!("https://example.com/many/{number}")})).collect();

    let created = send(ada.request("POST", "/api/links/bulk").json(&json!({"links": links}))).await.json();
    let results = created["results"].as_array().unwrap();
    let codes: Vec<_> = results.iter().map(|result| result["link"]["short_code"].as_str().unwrap()).collect();
    let tags = json!({"codes": codes, "add_tags": ["many"]});
    let changed = send(ada.request("PATCH", "/api/links/bulk").json(&tags)).await;
    let total = async || send(ada.request("GET", "/api/links?tag=many")).await.json()["total"].clone();
    eventually("each link is listed by its tag", json!(30), total).await;
    let removal = format!("/api/links/bulk?codes={}", codes.join(","));
    let deleted = send(ada.request("DELETE", &removal)).await;

    for (answer, status) in [(&created, 201), (&changed.json(), 200), (&deleted.json(), 204)] {
        let statuses: Vec<_> = answer["results"].as_array().unwrap().iter().map(|result| &result["status"]).collect();
        assert_eq!(statuses, vec![&json!(status); 30]);
    }
    assert_eq!(send(ada.request("GET", &format!("/r/{}", codes[0]))).await.status, 410);
    // The deletions come after the creations, of which nobody is told.
    let told = async || {
        let answer = send(ada.request("GET", "/api/notifications?limit=100")).await.json();
        answer["notifications"].as_array().unwrap().iter().map(|one| one["event_type"].clone()).collect::<Vec<_>>()
    };
    exactly("the deletions are told", vec![json!("url.deleted"); 30], told).await;
}
