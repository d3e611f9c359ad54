//! From sign-up to a counted click.

use serde_json::{Value, json};

use crate::api::{Api, send, signed_up};
use crate::stack::exactly;

async fn total(api: &Api, code: &str) -> Value {
    api.get(&format!("/api/stats/{code}")).await.json()["total_clicks"].clone()
}

#[tokio::test]
async fn a_person_signs_up_shortens_follows_and_sees_it_all() {
    let (api, ada) = signed_up().await;

    let myself = ada.get("/api/me").await.json();
    assert_eq!((&myself["user_id"], &myself["email"]), (&json!(ada.id), &json!(ada.email)));
    assert_eq!((&myself["workspace_id"], &myself["role"]), (&json!(ada.workspace), &json!("admin")));
    assert_eq!((&myself["full_name"], &myself["verified"]), (&json!(null), &json!(false)));

    let code = ada.shorten("https://example.com/landing?a=b").await;
    let followed =
        send(api.request("GET", &format!("/r/{code}")).header("referer", "https://news.example/today")).await;
    assert_eq!((followed.is_redirect(), followed.header("location")), (true, "https://example.com/landing?a=b"));

    exactly("the click is counted", json!(1), || total(&api, &code)).await;
    let stats = api.get(&format!("/api/stats/{code}")).await.json();
    assert_eq!(stats["clicks_last_24h"], 1);
    assert_eq!(stats["top_referers"], json!([{"referer": "news.example", "count": 1}]));
    let own = ada.get(&format!("/api/stats/{code}")).await.json();
    assert_eq!(own["top_referers"], json!([{"referer": "https://news.example/today", "count": 1}]));
    let points = api.get(&format!("/api/stats/{code}/timeline?interval=hour")).await.json()["points"].clone();
    assert_eq!(points.as_array().unwrap().len(), 1);
    assert_eq!(points[0]["clicks"], 1);

    exactly("the creation is told", 1, async || ada.notifications("url.created").await.len()).await;
    let told = ada.notifications("url.created").await.remove(0);
    assert_eq!(told["status"], "sent");
    assert_eq!(told["message"], format!("Your short link {code} to https://example.com/landing?a=b was created."));
    assert_eq!(told["short_code"], code);

    let listed = ada.get("/api/urls").await.json();
    assert_eq!(listed["urls"][0]["short_code"], code.as_str());
    assert_eq!(listed["urls"][0]["total_clicks"], 1);
}
