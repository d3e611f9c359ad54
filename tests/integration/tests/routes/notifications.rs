use linklet_domain::{
    CorrelationId, EventId, Notification, NotificationKind, NotificationStatus, NotificationSubject, TargetId,
};
use linklet_dynamodb::Claim;

use crate::prelude::*;

async fn get(db: &TestDynamoDb, user: &UserId, query: &str) -> Answer {
    send(db, user, RequestBuilder::new("GET", &format!("/api/notifications{query}"))).await
}

async fn mark_seen(db: &TestDynamoDb, user: &UserId, body: &Value) -> Answer {
    send(db, user, RequestBuilder::new("POST", "/api/notifications/seen").json(body)).await
}

async fn send(db: &TestDynamoDb, user: &UserId, request: RequestBuilder) -> Answer {
    // Cursors are those of a workspace's list, though the list is the person's.
    let workspace = WorkspaceId::parse("0198c0de-0000-7000-8000-000000000002").unwrap();
    let request = request.token(&token_of(user, &workspace, Role::Viewer));
    fixture::send(db, "account", request).await
}

fn notification(user: &UserId, created_at: Timestamp) -> Notification {
    Notification {
        id: EventId::generate(),
        user: *user,
        workspace: WorkspaceId::generate(),
        event_type: "url.created".into(),
        message: "Your short link is there.".into(),
        about: NotificationSubject::Link("launch".parse().unwrap()),
        status: NotificationStatus::Pending,
        created_at,
        sent_at: None,
        correlation_id: CorrelationId::generate(),
    }
}

async fn store(db: &TestDynamoDb, notification: &Notification) {
    let claim = Claim::new(notification.created_at, Duration::from_secs(15));
    db.notifications().claim(notification, &claim).await.unwrap();
}

#[tokio::test]
async fn people_see_their_own_with_what_each_is_about_and_nothing_raw() {
    let db = TestDynamoDb::start();
    let (ada, bob) = (UserId::generate(), UserId::generate());
    let now = Timestamp::now();
    let sent = notification(&ada, now);
    store(&db, &sent).await;
    let target = TargetId::parse("t_0000000000000000000007").unwrap();
    let of_target = Notification {
        event_type: "target.down".into(),
        message: "https://example.com is down.".into(),
        about: NotificationSubject::Target(target.clone()),
        ..notification(&ada, now.minus(Duration::from_secs(1)))
    };
    store(&db, &of_target).await;
    db.notifications().mark_sent(&sent, now).await.unwrap();
    store(&db, &notification(&bob, now)).await;

    let answer = get(&db, &ada, "").await;

    assert_eq!(
        answer.json(),
        json!({
            "notifications": [{
                "id": sent.id, "event_type": "url.created", "status": "sent", "created_at": now, "sent_at": now,
                "message": "Your short link is there.", "workspace_id": sent.workspace, "short_code": "launch",
            }, {
                "id": of_target.id, "event_type": "target.down", "status": "pending", "created_at": of_target.created_at,
                "sent_at": null, "message": "https://example.com is down.", "workspace_id": of_target.workspace, "target_id": target,
            }],
            "next_cursor": null,
            "has_more": false,
            "seen_at": null,
        })
    );
}

#[tokio::test]
async fn what_somebody_has_seen_is_theirs_and_only_the_first_page_tells() {
    let db = TestDynamoDb::start();
    let (ada, bob) = (UserId::generate(), UserId::generate());
    let now = Timestamp::now();
    for seconds in 0..3 {
        store(&db, &notification(&ada, now.minus(Duration::from_secs(seconds)))).await;
    }

    let marked = mark_seen(&db, &ada, &json!({"seen_at": now})).await;
    let earlier = mark_seen(&db, &ada, &json!({"seen_at": now.minus(Duration::from_secs(9))})).await;
    let first = get(&db, &ada, "?limit=2").await.json();
    let next = get(&db, &ada, &format!("?limit=2&after={}", first["next_cursor"].as_str().unwrap())).await.json();

    assert_eq!((marked.status, earlier.status), (204, 204));
    assert_eq!((&first["seen_at"], first["notifications"].as_array().unwrap().len()), (&json!(now), 2));
    assert_eq!((next.get("seen_at"), next["notifications"].as_array().unwrap().len()), (None, 1));
    assert_eq!(get(&db, &bob, "").await.json()["seen_at"], Value::Null);
}

#[tokio::test]
async fn nobody_has_seen_what_is_yet_to_come() {
    let db = TestDynamoDb::start();
    let user = UserId::generate();
    let before = Timestamp::now();

    mark_seen(&db, &user, &json!({"seen_at": "2999-12-31T23:59:59Z"})).await.expecting(204);

    let seen = get(&db, &user, "").await.json()["seen_at"].as_str().map(Timestamp::parse).unwrap().unwrap();
    assert!(before <= seen && seen <= Timestamp::now(), "{seen}");
}

#[tokio::test]
async fn what_is_no_time_is_refused() {
    let db = TestDynamoDb::start();
    let user = UserId::generate();

    for body in [json!({"seen_at": 5}), json!({"seen_at": "yesterday"}), json!({"seen_at": null}), json!({})] {
        assert_eq!(mark_seen(&db, &user, &body).await.problem_field(), (400, "seen_at".into()), "{body}");
    }
    assert_eq!(get(&db, &user, "").await.json()["seen_at"], Value::Null);
}

#[tokio::test]
async fn some_kinds_alone_can_be_listed() {
    let db = TestDynamoDb::start();
    let user = UserId::generate();
    let now = Timestamp::now();
    for (seconds, event_type) in (0..).zip(["url.created", "target.down", "milestone.reached", "url.deleted"]) {
        let at = now.minus(Duration::from_secs(seconds));
        store(&db, &Notification { event_type: event_type.into(), ..notification(&user, at) }).await;
    }

    for (query, expected) in [
        ("?kind=problem", vec!["target.down"]),
        ("?kind=creation", vec!["url.created"]),
        ("?kind=problem&kind=milestone&kind=deletion", vec!["target.down", "milestone.reached", "url.deleted"]),
        ("?kind=", vec!["url.created", "target.down", "milestone.reached", "url.deleted"]),
    ] {
        let listed = get(&db, &user, query).await.json();
        let types: Vec<_> = listed["notifications"].as_array().unwrap().iter().map(|row| &row["event_type"]).collect();
        assert_eq!(types, expected, "{query}");
    }
}

#[tokio::test]
async fn a_parameter_of_the_list_that_makes_no_sense_is_named() {
    let (db, user) = (TestDynamoDb::start(), UserId::generate());
    for (query, field) in [
        ("?kind=problems", "kind"),
        ("?kind=problem&kind=all", "kind"),
        ("?kind=problem,milestone", "kind"),
        ("?limit=0", "limit"),
        ("?after=nonsense", "after"),
    ] {
        assert_eq!(get(&db, &user, query).await.problem_field(), (400, field.into()), "{query}");
    }
}

#[tokio::test]
async fn pages_go_from_new_to_old_without_gaps_or_repeats() {
    let db = TestDynamoDb::start();
    let user = UserId::generate();
    let now = Timestamp::now();
    // Three at a time share a timestamp.
    for number in 0..10_u64 {
        let at = now.plus(Duration::from_secs(number / 3));
        store(&db, &notification(&user, at)).await;
    }

    let mut rows: Vec<Value> = Vec::new();
    let mut query = "?limit=3".to_owned();
    loop {
        let page = get(&db, &user, &query).await.json();
        rows.extend(page["notifications"].as_array().unwrap().clone());
        match page["next_cursor"].as_str() {
            Some(cursor) => query = format!("?limit=3&after={cursor}"),
            None => break,
        }
    }

    assert_eq!(rows.iter().map(|row| row["id"].as_str().unwrap()).collect::<BTreeSet<_>>().len(), 10);
    assert_eq!(rows.len(), 10);
    assert!(rows.is_sorted_by(|left, right| left["created_at"].as_str() >= right["created_at"].as_str()));
}

#[test]
fn each_event_that_people_are_told_about_is_of_one_kind() {
    let kinds = ["problem", "milestone", "deletion", "change", "creation", "job"];
    let kinds = kinds.map(|kind| NotificationKind::parse(kind).unwrap());
    let schema = &Contract::load().document()["components"]["schemas"]["NotificationEvent"];
    let types = schema["enum"].as_array().unwrap();

    for event_type in types.iter().map(|event_type| event_type.as_str().unwrap()) {
        let of = kinds.iter().filter(|kind| kind.event_types().contains(&event_type)).count();
        assert_eq!(of, 1, "{event_type}");
    }
    assert_eq!(kinds.iter().map(|kind| kind.event_types().len()).sum::<usize>(), types.len());
}
