//! Each change of a link that the table commits has its events in the stream.

use std::time::Duration;

use aws_lambda_events::dynamodb::EventRecord;
use linklet_domain::{Event, LinkPatch, Record, Timestamp, UserId};
use linklet_dynamodb::stream::change_of;
use linklet_test_support::{LinkBuilder, TestDynamoDb};
use serde_json::{Value, json};

use crate::fixture::with_link;

/// The events of the latest write of a link, as they would be sent.
fn latest(db: &TestDynamoDb) -> Vec<Value> {
    let records = db.stream("LinksTable").records;
    let is_link = |record: &&EventRecord| json!(record)["dynamodb"]["Keys"]["pk"]["S"] == "LINK#launch";
    let events: Vec<Event> = change_of(records.iter().rfind(is_link).unwrap()).unwrap().into_events();
    events.iter().map(|event| serde_json::to_value(event).unwrap()).collect()
}

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event_type"].as_str().unwrap()).collect()
}

fn patch(members: Value) -> LinkPatch {
    serde_json::from_value(members).unwrap()
}

#[tokio::test]
async fn a_changed_links_event_names_members_with_old_and_new_values() {
    let (db, link) = with_link(LinkBuilder::new("launch")).await;
    db.patch(link.id(), &patch(json!({"title": "Old", "description": "stays"}))).await;
    let later = "2031-01-02T03:04:05.000Z";

    let members = json!({"title": "New", "tags": ["a"], "expires_at": later, "metadata": {"k": "v"}, "external_id": "7", "archived": true});
    let changed = db.patch(link.id(), &patch(members)).await;

    let events = latest(&db);
    assert_eq!(types(&events), ["url.updated"]);
    assert_eq!(events[0]["short_code"], "launch");
    assert_eq!(events[0]["workspace_id"], link.identity.workspace.to_string());
    assert_eq!(events[0]["occurred_at"], changed.updated_at.to_string());
    let expected = json!({
        "title": {"from": "Old", "to": "New"},
        "tags": {"from": [], "to": ["a"]},
        "metadata": {"from": null, "to": {"k": "v"}},
        "external_id": {"from": null, "to": "7"},
        "expires_at": {"from": null, "to": later},
        "archived": {"from": false, "to": true},
    });
    assert_eq!(events[0]["changes"], expected);
    db.patch(link.id(), &patch(json!({"archived": false}))).await;
    assert_eq!(latest(&db)[0]["changes"], json!({"archived": {"from": true, "to": false}}));
}

#[tokio::test]
async fn a_write_of_several_members_has_an_event_for_each_change() {
    let (db, link) = with_link(LinkBuilder::new("launch").watching()).await;

    db.patch(link.id(), &patch(json!({"is_active": false, "watch": false}))).await;
    let off = latest(&db);
    db.patch(link.id(), &patch(json!({"is_active": true}))).await;
    let on = latest(&db);

    assert_eq!(types(&off), ["url.updated", "url.deactivated", "url.unwatched"]);
    assert_eq!(off[0]["changes"], json!({"watch": {"from": true, "to": false}}));
    assert_eq!(types(&on), ["url.activated"]);
    let mut ids: Vec<&str> = off.iter().chain(&on).map(|event| event["event_id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 4, "{ids:?}");
}

#[tokio::test]
async fn a_change_to_what_a_link_is_already_has_no_event() {
    let (db, link) = with_link(LinkBuilder::new("launch")).await;

    db.patch(link.id(), &patch(json!({"title": null, "is_active": true, "archived": false}))).await;

    assert_eq!(latest(&db), Vec::<Value>::new());
}

#[tokio::test]
async fn a_link_that_is_handed_over_says_whose_it_was_and_is() {
    let (db, link) = with_link(LinkBuilder::new("launch")).await;
    let (heir, created) = (UserId::generate(), latest(&db));

    db.links().hand_over(link.code(), &link.identity.owner, &heir, &"handover-1".parse().unwrap()).await.unwrap();

    let events = latest(&db);
    assert_eq!(types(&events), ["url.updated"]);
    assert_eq!(events[0]["changes"], json!({"user_id": {"from": link.identity.owner, "to": heir}}));
    assert_eq!((&events[0]["user_id"], &events[0]["correlation_id"]), (&json!(heir.to_string()), &json!("handover-1")));
    assert_ne!(events[0]["event_id"], created[0]["event_id"]);
}

#[tokio::test]
async fn each_step_of_an_expiry_has_an_event() {
    let (db, link) = with_link(LinkBuilder::new("launch").expires_at(Timestamp::now())).await;
    let steps = db.links();

    steps.publish_expiry(&link).await.unwrap();
    let expired = latest(&db);
    let later = Timestamp::now().plus(Duration::from_secs(60));
    let extended_link = db.patch(link.id(), &patch(json!({"expires_at": later.to_string()}))).await;
    let extended = latest(&db);
    steps.publish_expiry(&extended_link).await.unwrap();
    let again = latest(&db);
    db.remove_expired(&db.link("launch").await).await;
    let tombstones = db.stream("LinksTable").records;
    let removed: Vec<_> = tombstones.iter().flat_map(|record| change_of(record).unwrap().into_events()).collect();
    let record = steps.find(link.code()).await.unwrap().unwrap();
    assert!(matches!(record, Record::Tombstone(_)), "{record:?}");
    db.purge(&record).await;
    let purged = latest(&db);

    assert_eq!((types(&expired), types(&again)), (vec!["url.expired"], vec!["url.expired"]));
    assert_ne!(expired[0]["event_id"], again[0]["event_id"], "each expiry is told");
    assert_eq!(types(&extended), ["url.updated", "url.extended"]);
    assert_eq!(removed.last().unwrap().event_type(), "url.removed");
    assert_eq!(types(&purged), ["url.purged"]);
}

#[tokio::test]
async fn suspending_a_link_and_lifting_that_are_one_event_each() {
    let (db, link) = with_link(LinkBuilder::new("launch").watching()).await;

    db.suspend(&link).await;
    let suspended = latest(&db);
    db.patch(link.id(), &patch(json!({"title": "New"}))).await;
    let patched = latest(&db);
    db.resume(&link).await;
    let resumed = latest(&db);

    assert_eq!((types(&suspended), types(&resumed)), (vec!["url.suspended"], vec!["url.resumed"]));
    assert_eq!(types(&patched), ["url.updated"]);
    assert_eq!(suspended[0]["watched_target"], link.watched_target().unwrap().as_str());
    assert_eq!((&resumed[0]["watch"], &resumed[0]["original_url"]), (&json!(true), &json!(link.target.as_str())));
    assert!(suspended[0]["occurred_at"].as_str() < resumed[0]["occurred_at"].as_str());
}

#[tokio::test]
async fn a_deleted_link_has_one_event() {
    let (db, link) = with_link(LinkBuilder::new("launch").watching()).await;

    db.delete(&link).await;

    let events = latest(&db);
    assert_eq!(types(&events), ["url.deleted"]);
    assert_eq!(events[0]["watched_target"], link.watched_target().unwrap().as_str());
}
