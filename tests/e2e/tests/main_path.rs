//! From sign-up to a counted click.

use serde_json::{Value, json};

use crate::{
    api::{Api, User, send},
    stack::exactly,
};

async fn total(api: &Api, code: &str) -> Value {
    api.get(&format!("/api/stats/{code}")).await.json()["total_clicks"].clone()
}

#[tokio::test]
async fn a_person_signs_up_shortens_follows_and_sees_it_all() {
    let api = Api::new();
    let ada = User::new(&api).await;

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

const IPHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                      Version/17.4 Mobile/15E148 Safari/604.1";

#[tokio::test]
async fn people_bots_and_browsers_that_look_ahead_are_told_apart() {
    let api = Api::new();
    let (ada, stranger) = (User::new(&api).await, User::new(&api).await);
    let code = ada.shorten("https://example.com/").await;
    let follow = |agent| api.request("GET", &format!("/{code}")).header("user-agent", agent);
    send(follow(IPHONE)).await;
    send(follow(IPHONE).header("sec-purpose", "prefetch;prerender")).await;
    send(follow("Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)")).await;

    exactly("all are counted", json!(3), || total(&api, &code)).await;

    let stats = api.get(&format!("/api/stats/{code}")).await.json();
    assert_eq!((&stats["human_clicks"], &stats["unique_visitors"]), (&json!(1), &json!(1)));
    assert_eq!(stats["devices"], json!([{"device": "mobile", "count": 2}, {"device": "bot", "count": 1}]));
    assert_eq!(stats["countries"], json!([{"country": "unknown", "count": 3}]));
    let daily = ada.get(&format!("/api/stats/{code}/daily")).await.json();
    assert_eq!((&daily["days"][0]["mobile"], &daily["days"][0]["bot"]), (&json!(2), &json!(1)));
    let clicks = ada.get(&format!("/api/stats/{code}/clicks?limit=2")).await.json();
    assert_eq!(clicks["clicks"].as_array().unwrap().len(), 2);
    assert!(!clicks.to_string().contains("ip_hash"));
    for details in ["daily", "clicks"] {
        assert_eq!(stranger.get(&format!("/api/stats/{code}/{details}")).await.problem(), (403, "forbidden".into()));
    }
}

#[tokio::test]
async fn a_head_request_answers_the_same_and_is_no_click() {
    let api = Api::new();
    let ada = User::new(&api).await;
    let code = ada.shorten("https://example.com/").await;

    let head = send(api.request("HEAD", &format!("/r/{code}"))).await;
    api.get(&format!("/r/{code}")).await;

    assert_eq!((head.is_redirect(), head.header("location")), (true, "https://example.com/"));
    assert_eq!(head.header("x-robots-tag"), "noindex");
    exactly("only the GET is counted", json!(1), || total(&api, &code)).await;
}

#[tokio::test]
async fn deleting_a_link_answers_410_keeps_its_clicks_and_tells_its_owner() {
    let api = Api::new();
    let ada = User::new(&api).await;
    let code = ada.shorten("https://example.com/").await;

    assert!(api.get(&format!("/r/{code}")).await.is_redirect());
    assert_eq!(ada.delete(&format!("/api/urls/{code}")).await.status, 204);
    assert_eq!(ada.delete(&format!("/api/urls/{code}")).await.status, 204);

    assert_eq!(api.get(&format!("/r/{code}")).await.problem(), (410, "this link was deleted".into()));
    exactly("the click is counted", json!(1), || total(&api, &code)).await;
    exactly("the deletion is told once", 1, async || ada.notifications("url.deleted").await.len()).await;
}
