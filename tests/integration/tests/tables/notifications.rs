use std::time::Duration;

use linklet_domain::{
    CorrelationId, EventId, Notification, NotificationKind, NotificationStatus, NotificationSubject, Timestamp, UserId,
    WorkspaceId, lifetimes,
};
use linklet_dynamodb::{Claim, ClaimOutcome, NotificationsTable, Table};
use linklet_test_support::{CapacityMeter, Fault, Faults, TestDynamoDb};

fn notification() -> Notification {
    Notification {
        id: EventId::generate(),
        user: UserId::generate(),
        workspace: WorkspaceId::generate(),
        event_type: "milestone.reached".into(),
        message: "Your short link launch has reached 10 clicks.".into(),
        about: NotificationSubject::Link("launch".parse().unwrap()),
        status: NotificationStatus::Pending,
        created_at: Timestamp::now(),
        sent_at: None,
        correlation_id: CorrelationId::generate(),
    }
}

const LASTS: Duration = Duration::from_secs(15);

/// A claim that is made so many seconds after noon.
fn claim(seconds: u64) -> Claim {
    let noon = Timestamp::parse("2026-03-02T12:00:00Z").unwrap();
    Claim::new(noon.plus(Duration::from_secs(seconds)), LASTS)
}

#[tokio::test]
async fn opening_it_again_tells_how_far_delivery_has_come() {
    let db = TestDynamoDb::start();
    let (table, notification) = (db.notifications(), notification());
    let open = async |seconds| table.claim(&notification, &claim(seconds)).await.unwrap();

    let fresh = open(0).await;
    let reopened = open(15).await;
    table.mark_published(&notification, Timestamp::now()).await.unwrap();
    let published = open(30).await;
    table.mark_failed(&notification).await.unwrap();
    let failed = open(45).await;
    table.mark_sent(&notification, Timestamp::now()).await.unwrap();
    let sent = open(46).await;

    assert_eq!([fresh, reopened], [ClaimOutcome::Claimed { published: false }; 2]);
    assert_eq!([published, failed], [ClaimOutcome::Claimed { published: true }; 2]);
    assert_eq!(sent, ClaimOutcome::AlreadySent);
    assert_eq!(db.scan("NotificationsTable").len(), 1);
}

#[tokio::test]
async fn a_notification_is_one_deliverys_until_its_claim_has_run_out() {
    let (table, notification) = (TestDynamoDb::start().notifications(), notification());
    let open = async |seconds| table.claim(&notification, &claim(seconds)).await.unwrap();
    open(0).await;

    assert_eq!(open(0).await, ClaimOutcome::ClaimedByOther, "at once");
    assert_eq!(open(14).await, ClaimOutcome::ClaimedByOther);
    assert_eq!(open(15).await, ClaimOutcome::Claimed { published: false });
    assert_eq!(open(16).await, ClaimOutcome::ClaimedByOther, "it is claimed anew");
    let listed = table.list(&notification.user, &[], 10, None).await.unwrap().page.items;
    assert_eq!(listed, [notification], "claims change nothing");
}

#[tokio::test]
async fn what_was_stored_before_there_were_claims_is_free() {
    let db = TestDynamoDb::start();
    let (table, notification) = (db.notifications(), notification());
    table.claim(&notification, &claim(0)).await.unwrap();
    table.mark_published(&notification, Timestamp::now()).await.unwrap();
    let mut row = db.scan("NotificationsTable").pop().unwrap();
    row.as_object_mut().unwrap().retain(|name, _| !name.starts_with("claimed_"));
    db.put("NotificationsTable", &row);

    let opened = table.claim(&notification, &claim(1)).await.unwrap();

    assert_eq!(opened, ClaimOutcome::Claimed { published: true });
}

#[tokio::test]
async fn opening_bears_a_lost_answer() {
    let db = TestDynamoDb::start();
    let (faults, notification) = (Faults::default(), notification());
    let table = NotificationsTable(Table::new(db.client_retrying(&faults, 2), "NotificationsTable"));
    faults.plan(Some((0, Fault::AnswerLost)));

    let opened = table.claim(&notification, &claim(0)).await.unwrap();

    assert_eq!((opened, faults.calls()), (ClaimOutcome::Claimed { published: false }, 2));
}

#[tokio::test]
async fn a_notification_that_is_sent_is_never_failed() {
    let (table, notification) = (TestDynamoDb::start().notifications(), notification());
    table.claim(&notification, &claim(0)).await.unwrap();
    table.mark_sent(&notification, Timestamp::now()).await.unwrap();

    table.mark_failed(&notification).await.unwrap();

    let listed = table.list(&notification.user, &[], 10, None).await.unwrap().page.items;
    assert_eq!(listed[0].status, NotificationStatus::Sent);
}

/// What the chart of access patterns says.
#[tokio::test]
async fn claiming_noting_and_repeating_a_delivery_cost_one_write_each() {
    let (db, meter) = (TestDynamoDb::start(), CapacityMeter::default());
    let table = NotificationsTable(db.table_with(meter.clone(), "NotificationsTable"));
    let notification = notification();

    table.claim(&notification, &claim(0)).await.unwrap();
    table.claim(&notification, &claim(1)).await.unwrap();
    assert_eq!(meter.spent(), (0.0, 2.0), "opened, and found claimed");
    table.mark_published(&notification, Timestamp::now()).await.unwrap();
    table.mark_sent(&notification, Timestamp::now()).await.unwrap();
    assert_eq!(meter.spent(), (0.0, 2.0), "published and sent");
    table.claim(&notification, &claim(2)).await.unwrap();
    assert_eq!(meter.spent(), (0.0, 1.0), "found done");
    let row = db.scan("NotificationsTable").pop().unwrap();
    assert!(row.as_object().unwrap().keys().all(|name| !name.starts_with("claimed_")), "{row}");
}

#[tokio::test]
async fn what_is_sent_was_published() {
    let db = TestDynamoDb::start();
    let (table, notification) = (db.notifications(), notification());
    let (published, sent) = (Timestamp::now(), Timestamp::now().plus(LASTS));
    let published_at = || db.scan("NotificationsTable").pop().unwrap()["published_at"]["S"].clone();

    table.claim(&notification, &claim(0)).await.unwrap();
    table.mark_published(&notification, published).await.unwrap();
    table.mark_sent(&notification, sent).await.unwrap();
    assert_eq!(published_at(), published.to_string(), "when it was published stays");
    let mut row = db.scan("NotificationsTable").pop().unwrap();
    row.as_object_mut().unwrap().remove("published_at");
    db.put("NotificationsTable", &row);

    table.mark_sent(&notification, sent).await.unwrap();

    assert_eq!(published_at(), sent.to_string());
}

/// So many seconds after noon.
fn at(seconds: u64) -> Timestamp {
    Timestamp::parse("2026-03-02T12:00:00Z").unwrap().plus(Duration::from_secs(seconds))
}

/// Stores a notification about such an event for each of the next seconds.
async fn told(table: &NotificationsTable, user: UserId, event_types: &[&str]) {
    for (seconds, event_type) in (0..).zip(event_types) {
        let told = Notification { user, event_type: (*event_type).into(), created_at: at(seconds), ..notification() };
        table.claim(&told, &Claim::new(at(seconds), LASTS)).await.unwrap();
    }
}

#[tokio::test]
async fn the_time_seen_only_moves_forward_and_expires_with_the_notifications() {
    let db = TestDynamoDb::start();
    let (table, user) = (db.notifications(), UserId::generate());
    let seen = async || table.list(&user, &[], 10, None).await.unwrap().seen_at;

    assert_eq!(seen().await, None);
    for (marked, expected) in [(5, 5), (3, 5), (5, 5), (6, 6)] {
        table.mark_seen(&user, at(marked)).await.unwrap();
        assert_eq!(seen().await, Some(at(expected)), "after {marked}");
    }
    assert_eq!(table.list(&UserId::generate(), &[], 10, None).await.unwrap().seen_at, None, "of somebody else");
    let row = db.scan("NotificationsTable").pop().unwrap();
    let ttl = at(6).plus(lifetimes::NOTIFICATIONS).unix_seconds();
    assert_eq!(row["ttl"]["N"], ttl.to_string());
}

#[tokio::test]
async fn of_what_is_marked_at_once_the_latest_stays() {
    let (table, user) = (TestDynamoDb::start().notifications(), UserId::generate());

    let mark = |seconds| {
        let table = table.clone();
        tokio::spawn(async move { table.mark_seen(&user, at(seconds)).await.unwrap() })
    };
    let marking: Vec<_> = [4, 9, 1, 7, 9, 2].map(mark).into();
    for marked in marking {
        marked.await.unwrap();
    }

    assert_eq!(table.list(&user, &[], 10, None).await.unwrap().seen_at, Some(at(9)));
}

#[tokio::test]
async fn the_time_seen_comes_with_the_first_page_without_taking_a_place() {
    let (table, user) = (TestDynamoDb::start().notifications(), UserId::generate());
    told(&table, user, &["target.down", "url.created", "url.created", "target.up"]).await;
    table.mark_seen(&user, at(2)).await.unwrap();

    for kinds in [&[][..], &[NotificationKind::Problem, NotificationKind::Creation]] {
        let first = table.list(&user, kinds, 2, None).await.unwrap();
        let next = table.list(&user, kinds, 2, first.page.next.as_ref()).await.unwrap();

        let times = |rows: &[Notification]| rows.iter().map(|row| row.created_at).collect::<Vec<_>>();
        assert_eq!((times(&first.page.items), first.seen_at), (vec![at(3), at(2)], Some(at(2))), "{kinds:?}");
        assert_eq!((times(&next.page.items), next.seen_at), (vec![at(1), at(0)], None), "{kinds:?}");
        assert_eq!(next.page.next, None, "{kinds:?}");
    }
}

#[tokio::test]
async fn a_page_of_some_kinds_is_full_however_many_others_lie_between() {
    let (table, user) = (TestDynamoDb::start().notifications(), UserId::generate());
    let mut types = vec!["target.down", "milestone.reached", "url.purged"];
    types.extend(["url.created"; 600]);
    types.push("url.expired");
    told(&table, user, &types).await;

    let listed = async |kinds: &[NotificationKind], after| table.list(&user, kinds, 2, after).await.unwrap().page;
    let news = [NotificationKind::Problem, NotificationKind::Milestone, NotificationKind::Deletion];
    let first = listed(&news, None).await;
    let second = listed(&news, first.next.as_ref()).await;

    let types = |page: &linklet_dynamodb::Page<Notification, EventId>| {
        page.items.iter().map(|row| row.event_type.clone()).collect::<Vec<_>>()
    };
    assert_eq!(types(&first), ["url.expired", "url.purged"]);
    assert_eq!((types(&second), second.next), (vec!["milestone.reached".to_owned(), "target.down".to_owned()], None));
    assert_eq!(types(&listed(&[NotificationKind::Milestone], None).await), ["milestone.reached"]);
}

#[tokio::test]
async fn a_page_that_ends_before_it_is_full_is_continued() {
    let (table, user) = (TestDynamoDb::start().notifications(), UserId::generate());
    let mut types = vec!["target.down"];
    types.extend(["url.created"; 2_100]);
    told(&table, user, &types).await;

    let first = table.list(&user, &[NotificationKind::Problem], 20, None).await.unwrap().page;
    let second = table.list(&user, &[NotificationKind::Problem], 20, first.next.as_ref()).await.unwrap().page;

    assert_eq!((first.items.len(), first.next.is_some()), (0, true), "2,000 rows are looked at for a page");
    assert_eq!((second.items.len(), second.next), (1, None));
}

/// What the chart of access patterns says.
#[tokio::test]
async fn marking_costs_a_write_and_reading_it_no_further_read() {
    let (db, meter) = (TestDynamoDb::start(), CapacityMeter::default());
    let table = NotificationsTable(db.table_with(meter.clone(), "NotificationsTable"));
    let user = UserId::generate();
    told(&db.notifications(), user, &["target.down"]).await;

    table.mark_seen(&user, at(2)).await.unwrap();
    table.mark_seen(&user, at(1)).await.unwrap();
    assert_eq!(meter.spent(), (0.0, 2.0), "marked, and found marked later");
    table.list(&user, &[], 20, None).await.unwrap();
    assert_eq!((meter.read_units(), meter.calls()), (0.5, 1));
}
