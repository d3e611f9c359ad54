use std::time::Duration;

use linklet_domain::{Event, EventDetail, Timestamp};
use linklet_lambda::batch::Consumer;
use linklet_test_support::{Answer, FakeQueues, LinkBuilder, RequestBuilder, TestDynamoDb, click_event, event_batch};
use serde_json::{Value, json};

use crate::fixture::{analytics, stats};

async fn get(db: &TestDynamoDb, path: &str) -> Answer {
    RequestBuilder::new("GET", path).send_to(&stats(db)).await
}

async fn count(db: &TestDynamoDb, clicks: &[Event]) {
    let queues = FakeQueues::start();
    let response = analytics(db, &queues).consume(event_batch(clicks)).await;
    assert!(response.batch_item_failures.is_empty());
}

fn from(mut click: Event, source: &str) -> Event {
    if let EventDetail::UrlClicked(detail) = &mut click.detail {
        detail.referer = Some(source.to_owned());
    }
    click
}

#[tokio::test]
async fn a_link_without_clicks_has_zeros_and_empty_lists() {
    let db = TestDynamoDb::start();
    db.store(&LinkBuilder::new("launch").build()).await;

    let summary = get(&db, "/api/stats/launch").await;
    let timeline = get(&db, "/api/stats/launch/timeline").await;

    assert_eq!(
        summary.json(),
        json!({
            "short_code": "launch", "total_clicks": 0, "clicks_last_24h": 0, "clicks_last_7d": 0, "top_referers": [],
            "last_click_at": null,
        })
    );
    assert_eq!(timeline.json(), json!({"short_code": "launch", "interval": "day", "points": []}));
}

#[tokio::test]
async fn a_code_that_never_existed_is_404() {
    let db = TestDynamoDb::start();

    for path in ["/api/stats/unknown", "/api/stats/unknown/timeline", "/api/stats/x", "/api/stats/no-code/timeline"] {
        assert_eq!(get(&db, path).await.problem(), (404, "not found".into()), "{path}");
    }
}

#[tokio::test]
async fn counted_clicks_show_in_totals_windows_and_referrers() {
    let db = TestDynamoDb::start();
    let now = Timestamp::now();
    let days_ago = |days: u64| now.minus(Duration::from_secs(days * 86_400));
    count(
        &db,
        &[
            from(click_event("launch", now), "https://news.example/?id=1"),
            from(click_event("launch", days_ago(3)), "https://news.example/?id=2"),
            from(click_event("launch", days_ago(40)), "https://blog.example/"),
        ],
    )
    .await;

    let answer = get(&db, "/api/stats/launch").await;

    assert_eq!(
        answer.json(),
        json!({
            "short_code": "launch", "total_clicks": 3, "clicks_last_24h": 1, "clicks_last_7d": 2,
            "top_referers": [
                {"referer": "https://news.example/", "count": 2},
                {"referer": "https://blog.example/", "count": 1},
            ],
            "last_click_at": now,
        })
    );
}

#[tokio::test]
async fn a_timeline_goes_by_day_or_hour() {
    let db = TestDynamoDb::start();
    let at = |text| Timestamp::parse(text).unwrap();
    let clicks = ["2026-03-02T14:30:00Z", "2026-03-01T09:00:00Z", "2026-03-02T14:59:59Z"];
    count(&db, &clicks.map(|time| click_event("launch", at(time)))).await;

    let days = get(&db, "/api/stats/launch/timeline").await;
    let hours = get(&db, "/api/stats/launch/timeline?interval=hour").await;

    assert_eq!(
        days.json()["points"],
        json!([{"period": "2026-03-01", "clicks": 1}, {"period": "2026-03-02", "clicks": 2}])
    );
    assert_eq!(
        hours.json()["points"],
        json!([{"period": "2026-03-01T09:00:00Z", "clicks": 1}, {"period": "2026-03-02T14:00:00Z", "clicks": 2}])
    );
}

#[tokio::test]
async fn another_interval_is_refused() {
    let db = TestDynamoDb::start();

    let answer = get(&db, "/api/stats/launch/timeline?interval=week").await;

    assert_eq!(answer.problem(), (400, "interval must be hour or day".into()));
    assert_eq!(answer.json().get("points"), None::<&Value>);
}
