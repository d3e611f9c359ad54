//! Links that are suspended lead nowhere, whatever their people want, and are what they were when that is lifted.

use crate::{fixture::unlock, prelude::*};

const REFUSED: &str = "this link is not available at the moment";

async fn suspended(link: LinkBuilder) -> (TestDynamoDb, Link) {
    let (db, link) = (TestDynamoDb::start(), link.build());
    db.store(&link).await;
    db.suspend(&link).await;
    (db, link)
}

async fn follow(db: &TestDynamoDb) -> Answer {
    redirect(db).get_openly("/launch").await
}

async fn asked_by_an_admin(db: &TestDynamoDb, link: &Link, function: &str, path: &str) -> Value {
    let token = token_of(&link.identity.owner, &link.identity.workspace, Role::Admin);
    send(db, function, RequestBuilder::new("GET", path).token(&token)).await.json()
}

#[tokio::test]
async fn a_suspended_link_leads_nowhere_not_even_to_its_fallback() {
    let fallback = json!({"fallback_url": "https://example.com/over"});
    let later = Timestamp::now().plus(Duration::from_secs(60));
    for link in [LinkBuilder::new("launch"), LinkBuilder::new("launch").valid_from(later).with_options(&fallback)] {
        let (db, link) = suspended(link).await;

        let (refused, page) =
            (follow(&db).await, RequestBuilder::new("GET", "/r/launch").header("accept", "text/html"));
        let page = page.send_to(&redirect(&db)).await;

        assert_eq!(refused.problem_code(), (410, "link_suspended".into()));
        assert_eq!(refused.problem(), (410, REFUSED.into()));
        assert_eq!((page.status, page.header("content-type")), (410, "text/html; charset=utf-8"));
        assert!(page.body.contains("This link is unavailable"), "{}", page.body);
        assert!(db.clicks().latest(link.id(), 1).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_suspended_link_takes_no_password_and_shows_strangers_no_numbers() {
    let (db, link) = suspended(LinkBuilder::new("launch")).await;
    let unlocking = unlock(&db).post_openly("/launch", &json!({"password": "open sesame"})).await;
    assert_eq!(unlocking.problem(), (410, REFUSED.into()));
    for path in ["/api/stats/launch", "/api/stats/launch/timeline"] {
        assert_eq!(send(&db, "stats", RequestBuilder::new("GET", path)).await.problem(), (410, REFUSED.into()));
    }
    db.resume(&link).await;
    assert_eq!(send(&db, "stats", RequestBuilder::new("GET", "/api/stats/launch")).await.status, 200);
}

#[tokio::test]
async fn a_link_says_that_it_is_suspended_wherever_its_status_is_shown() {
    let (db, link) = suspended(LinkBuilder::new("launch").watching()).await;

    let one = asked_by_an_admin(&db, &link, "list", "/api/links/launch").await;
    assert_eq!(
        (&one["status"], &one["is_active"], one.get("target_id")),
        (&json!("suspended"), &json!(true), Some(&Value::Null))
    );
    let listed = asked_by_an_admin(&db, &link, "list", "/api/links?status=suspended").await;
    assert_eq!((&listed["total"], &listed["links"][0]["status"]), (&json!(1), &json!("suspended")));
    assert_eq!(asked_by_an_admin(&db, &link, "list", "/api/links?status=active").await["total"], json!(0));
    let counted = asked_by_an_admin(&db, &link, "overview", "/api/overview").await;
    assert_eq!(json!([counted["links"]["total"], counted["links"]["suspended"]]), json!([1, 1]));
}

#[tokio::test]
async fn resuming_a_link_restores_it_exactly_as_it_was() {
    let now = Timestamp::now();
    let of = |link: LinkBuilder| link.build();
    let mut switched_off = of(LinkBuilder::new("launch"));
    switched_off.availability.state = linklet_domain::LinkState::Inactive;
    for link in [
        of(LinkBuilder::new("launch").watching()),
        of(LinkBuilder::new("launch").expires_at(now.minus(Duration::from_secs(1)))),
        of(LinkBuilder::new("launch").valid_from(now.plus(Duration::from_secs(60)))),
        of(LinkBuilder::new("launch").archived()),
        switched_off,
    ] {
        let db = TestDynamoDb::start();
        db.store(&link).await;
        let item = || {
            let mut items = db.scan("LinksTable");
            items.retain(|item| item["sk"]["S"] == "LINK");
            let mut item = items.remove(0);
            for moved in ["change_id", "correlation_id", "is_news"] {
                item.as_object_mut().unwrap().remove(moved);
            }
            item
        };
        let before = item();

        db.suspend(&link).await;
        let suspended = db.link("launch").await;
        assert_eq!((suspended.revision, suspended.updated_at), (link.revision, link.updated_at));
        db.resume(&link).await;

        assert_eq!(item(), before);
    }
}

#[tokio::test]
async fn what_people_change_of_a_suspended_link_stays_when_that_is_lifted() {
    let (db, link) = suspended(LinkBuilder::new("launch")).await;
    let patch = serde_json::from_value(json!({"title": "New", "url": "https://example.com/new"})).unwrap();

    let changed = db.patch(link.id(), &patch).await;
    assert!(!changed.availability.suspensions.is_empty());
    // As it was read before the change.
    db.resume(&Link { availability: changed.availability, ..link.clone() }).await;

    let led = follow(&db).await;
    assert_eq!((led.status, led.header("location")), (REDIRECT, "https://example.com/new"));
}

#[tokio::test]
async fn suspending_twice_or_what_is_gone_changes_nothing() {
    let (db, link) = suspended(LinkBuilder::new("launch")).await;
    let before = db.scan("LinksTable");

    db.suspend(&link).await;
    assert_eq!(db.scan("LinksTable"), before);

    db.delete(&link).await;
    let deleted = db.scan("LinksTable");
    db.resume(&link).await;
    db.suspend(&link).await;
    assert_eq!(db.scan("LinksTable"), deleted);
    assert_eq!(follow(&db).await.problem(), (410, "this link was deleted".into()));
}
