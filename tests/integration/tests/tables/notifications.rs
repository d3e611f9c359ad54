use std::time::Duration;

use aws_sdk_dynamodb::{Client, config::retry::RetryConfig};
use linklet_domain::{
    CorrelationId, EventId, Notification, NotificationStatus, NotificationSubject, Timestamp, UserId,
};
use linklet_dynamodb::{Claim, ClaimOutcome, NotificationsTable};
use linklet_test_support::{CapacityMeter, Fault, Faults, TestDynamoDb};

fn notification() -> Notification {
    Notification {
        id: EventId::generate(),
        user: UserId::generate(),
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
    let db = TestDynamoDb::start();
    let (table, notification) = (db.notifications(), notification());
    let open = async |seconds| table.claim(&notification, &claim(seconds)).await.unwrap();
    open(0).await;

    assert_eq!(open(0).await, ClaimOutcome::ClaimedByOther, "at once");
    assert_eq!(open(14).await, ClaimOutcome::ClaimedByOther);
    assert_eq!(open(15).await, ClaimOutcome::Claimed { published: false });
    assert_eq!(open(16).await, ClaimOutcome::ClaimedByOther, "it is claimed anew");
    assert_eq!(table.list(&notification.user, 10, None).await.unwrap().items, [notification], "claims change nothing");
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
    let retry = RetryConfig::standard().with_initial_backoff(Duration::from_millis(1));
    let client = db.client_with(faults.clone()).config().to_builder().retry_config(retry).build();
    let table = NotificationsTable::new(Client::from_conf(client), "NotificationsTable");
    faults.plan(Some((0, Fault::AnswerLost)));

    let opened = table.claim(&notification, &claim(0)).await.unwrap();

    assert_eq!((opened, faults.calls()), (ClaimOutcome::Claimed { published: false }, 2));
}

#[tokio::test]
async fn a_notification_that_is_sent_is_never_failed() {
    let db = TestDynamoDb::start();
    let (table, notification) = (db.notifications(), notification());
    table.claim(&notification, &claim(0)).await.unwrap();
    table.mark_sent(&notification, Timestamp::now()).await.unwrap();

    table.mark_failed(&notification).await.unwrap();

    let listed = table.list(&notification.user, 10, None).await.unwrap().items;
    assert_eq!(listed[0].status, NotificationStatus::Sent);
}

/// What the chart of access patterns says.
#[tokio::test]
async fn claiming_and_each_note_cost_a_write_and_a_delivery_that_finds_it_claimed_or_done_one() {
    let (db, meter) = (TestDynamoDb::start(), CapacityMeter::default());
    let table = NotificationsTable::new(db.client_with(meter.clone()), "NotificationsTable");
    let notification = notification();
    let spent = || {
        let units = (meter.read_units(), meter.write_units());
        meter.reset();
        units
    };

    table.claim(&notification, &claim(0)).await.unwrap();
    table.claim(&notification, &claim(1)).await.unwrap();
    assert_eq!(spent(), (0.0, 2.0), "opened, and found claimed");
    table.mark_published(&notification, Timestamp::now()).await.unwrap();
    table.mark_sent(&notification, Timestamp::now()).await.unwrap();
    assert_eq!(spent(), (0.0, 2.0), "published and sent");
    table.claim(&notification, &claim(2)).await.unwrap();
    assert_eq!(spent(), (0.0, 1.0), "found done");
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
