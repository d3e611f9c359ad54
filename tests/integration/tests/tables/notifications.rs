use std::time::Duration;

use linklet_domain::{CorrelationId, EmailAddress, EventId, Notification, NotificationStatus, Timestamp, UserId};
use linklet_dynamodb::Delivery;
use linklet_test_support::TestDynamoDb;

fn notification() -> Notification {
    Notification {
        id: EventId::generate(),
        user: UserId::generate(),
        event_type: "milestone.reached".into(),
        message: "Your short link launch has reached 10 clicks.".into(),
        status: NotificationStatus::Pending,
        created_at: Timestamp::now(),
        sent_at: None,
        correlation_id: CorrelationId::generate(),
    }
}

#[tokio::test]
async fn opening_it_again_tells_how_far_delivery_has_come() {
    let db = TestDynamoDb::start();
    let (table, notification) = (db.notifications(), notification());
    let open = async || table.open(&notification).await.unwrap();

    let fresh = open().await;
    let reopened = open().await;
    table.mark_published(&notification, Timestamp::now()).await.unwrap();
    let published = open().await;
    table.mark_failed(&notification).await.unwrap();
    let failed = open().await;
    table.mark_sent(&notification, Timestamp::now()).await.unwrap();
    let sent = open().await;

    assert_eq!([fresh, reopened], [Delivery { published: false, complete: false }; 2]);
    assert_eq!([published, failed], [Delivery { published: true, complete: false }; 2]);
    assert_eq!(sent, Delivery { published: true, complete: true });
    assert_eq!(db.scan("NotificationsTable").len(), 1);
}

#[tokio::test]
async fn the_newest_address_of_an_owner_wins_in_any_order() {
    let db = TestDynamoDb::start();
    let (table, owner) = (db.notifications(), UserId::generate());
    let now = Timestamp::now();
    let address = |text: &str| EmailAddress::parse(text).unwrap();
    assert_eq!(table.owner_email(&owner).await.unwrap(), None);

    table.remember_owner(&owner, &address("new@example.com"), now).await.unwrap();
    table.remember_owner(&owner, &address("old@example.com"), now.minus(Duration::from_secs(60))).await.unwrap();

    assert_eq!(table.owner_email(&owner).await.unwrap(), Some(address("new@example.com")));
}
