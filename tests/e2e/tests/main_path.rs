//! From sign-up to a counted click.

use futures_util::future::join_all;
use linklet_domain::Timestamp;
use serde_json::{Value, json};

use crate::api::{Answer, Api, User, eventually, send};

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

    eventually("the click is counted", json!(1), || total(&api, &code)).await;
    let stats = api.get(&format!("/api/stats/{code}")).await.json();
    assert_eq!(stats["clicks_last_24h"], 1);
    assert_eq!(stats["top_referers"], json!([{"referer": "news.example", "count": 1}]));
    let own = ada.get(&format!("/api/stats/{code}")).await.json();
    assert_eq!(own["top_referers"], json!([{"referer": "https://news.example/today", "count": 1}]));
    let points = api.get(&format!("/api/stats/{code}/timeline?interval=hour")).await.json()["points"].clone();
    assert_eq!(points.as_array().unwrap().len(), 1);
    assert_eq!(points[0]["clicks"], 1);

    eventually("the creation is told", 1, async || ada.notifications("url.created").await.len()).await;
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

    eventually("all are counted", json!(3), || total(&api, &code)).await;

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
async fn twenty_five_parallel_clicks_count_twenty_five_and_reach_one_milestone() {
    let api = Api::new();
    let ada = User::new(&api).await;
    let code = ada.shorten("https://example.com/").await;
    let path = format!("/{code}");

    let answers = join_all((0..25).map(|_| api.get(&path))).await;

    assert!(answers.iter().all(Answer::is_redirect));
    eventually("all clicks are counted", json!(25), || total(&api, &code)).await;
    eventually("the milestone is told", 1, async || ada.notifications("milestone.reached").await.len()).await;
    let told = ada.notifications("milestone.reached").await.remove(0);
    let message = told["message"].as_str().unwrap();
    assert!(message.starts_with(&format!("Your short link {code} has reached 10 clicks")), "{message}");
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
    eventually("only the GET is counted", json!(1), || total(&api, &code)).await;
}

#[tokio::test]
async fn a_deleted_link_is_gone_its_last_click_counts_and_its_owner_is_told() {
    let api = Api::new();
    let ada = User::new(&api).await;
    let code = ada.shorten("https://example.com/").await;

    assert!(api.get(&format!("/r/{code}")).await.is_redirect());
    assert_eq!(ada.delete(&format!("/api/urls/{code}")).await.status, 204);
    assert_eq!(ada.delete(&format!("/api/urls/{code}")).await.status, 204);

    assert_eq!(api.get(&format!("/r/{code}")).await.problem(), (410, "this link was deleted".into()));
    eventually("the click is counted", json!(1), || total(&api, &code)).await;
    eventually("the deletion is told once", 1, async || ada.notifications("url.deleted").await.len()).await;
}

#[tokio::test]
async fn somebody_else_can_neither_delete_a_link_nor_see_it_in_a_list() {
    let api = Api::new();
    let (ada, bob) = (User::new(&api).await, User::new(&api).await);
    let code = ada.shorten("https://example.com/").await;

    assert_eq!(bob.delete(&format!("/api/urls/{code}")).await.problem(), (403, "forbidden".into()));
    assert_eq!(bob.get("/api/urls").await.json()["urls"], json!([]));
    assert!(api.get(&format!("/r/{code}")).await.is_redirect());
}

#[tokio::test]
async fn a_link_stops_in_the_second_it_expires() {
    let api = Api::new();
    let ada = User::new(&api).await;
    let expiry = Timestamp::now().plus(std::time::Duration::from_secs(8));
    let created =
        send(ada.request("POST", "/api/shorten").json(&json!({"url": "https://example.com/", "expires_at": expiry})))
            .await;
    let path = format!("/r/{}", created.json()["short_code"].as_str().unwrap());

    let before = api.get(&path).await;
    tokio::time::sleep(Timestamp::now().until(expiry)).await;
    let after = api.get(&path).await;

    assert!(before.is_redirect(), "{before:?}");
    let max_age: u64 = before.header("cache-control").strip_prefix("private, max-age=").unwrap().parse().unwrap();
    assert!(max_age <= 8, "{max_age}");
    assert_eq!(after.problem(), (410, "this link has expired".into()));
}

#[tokio::test]
async fn a_chain_of_cursors_covers_each_link_once() {
    let api = Api::new();
    let ada = User::new(&api).await;
    let urls: Vec<_> = (0..7).map(|number| format!("https://example.com/{number}")).collect();
    let mut codes = join_all(urls.iter().map(|url| ada.shorten(url))).await;

    let mut listed: Vec<String> = Vec::new();
    let mut path = "/api/urls?limit=2".to_owned();
    loop {
        let page = ada.get(&path).await.json();
        listed
            .extend(page["urls"].as_array().unwrap().iter().map(|url| url["short_code"].as_str().unwrap().to_owned()));
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("/api/urls?limit=2&after={cursor}"),
            None => break,
        }
    }

    listed.sort();
    codes.sort();
    assert_eq!(listed, codes);
}
