use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use aws_lambda_events::sqs::SqsBatchResponse;
use futures_util::future::join_all;
use linklet_domain::{
    CheckError, CorrelationId, EmailAddress, Event, EventDetail, EventId, MilestoneReached, Notification,
    NotificationStatus, TargetDown, TargetId, Timestamp, UrlCreated, UserId, WorkspaceId,
};
use linklet_dynamodb::NotificationsTable;
use linklet_lambda::{
    batch::{Consumer, DeadLetterQueue},
    metrics::{self, Metric},
};
use linklet_notify::{CLAIMED_FOR, Mailer, Notify, Topic};
use linklet_test_support::{
    CapacityMeter, FakeNotifiers, FakeQueues, Fault, Faults, TestDynamoDb, click_event, event_batch, link_id,
    queue_batch,
};

struct Fixture {
    db: TestDynamoDb,
    queues: FakeQueues,
    outside: FakeNotifiers,
    now: Arc<Mutex<Timestamp>>,
}

impl Fixture {
    fn new() -> Self {
        Self {
            db: TestDynamoDb::start(),
            queues: FakeQueues::start(),
            outside: FakeNotifiers::start(),
            now: Arc::new(Mutex::new(Timestamp::now())),
        }
    }

    /// Lets the time pass after which a message comes again.
    fn wait(&self) {
        let mut now = self.now.lock().unwrap();
        *now = now.plus(CLAIMED_FOR);
    }

    fn notify(&self, with_mail: bool) -> Notify {
        Notify {
            notifications: self.db.notifications(),
            topic: Topic::new(self.outside.sns(), "arn:aws:sns:eu-central-1:123456789012:notifications"),
            mailer: with_mail.then(|| Mailer::new(self.outside.ses(), "links@example.com")),
            dead_letters: DeadLetterQueue::new(self.queues.client(), self.queues.url("dlq")),
            max_receives: 5,
            clock: Box::new({
                let now = self.now.clone();
                move || *now.lock().unwrap()
            }),
        }
    }

    async fn list(&self, user: &UserId) -> Vec<Notification> {
        self.db.notifications().list(user, 100, None).await.unwrap().items
    }
}

fn created(user: &UserId) -> Event {
    Event {
        event_id: EventId::generate(),
        occurred_at: Timestamp::now(),
        correlation_id: CorrelationId::parse("req-42").unwrap(),
        detail: EventDetail::UrlCreated(UrlCreated {
            link: link_id("launch"),
            original_url: "https://example.com/".parse().unwrap(),
            workspace_id: WorkspaceId::generate(),
            user_id: user.clone(),
            user_email: EmailAddress::parse("ada@example.com").unwrap(),
            expires_at: None,
            watch: false,
        }),
    }
}

fn milestone(user: &UserId) -> Event {
    Event {
        event_id: EventId::milestone(&link_id("launch"), 1_000),
        occurred_at: Timestamp::now(),
        correlation_id: CorrelationId::generate(),
        detail: EventDetail::MilestoneReached(MilestoneReached {
            link: link_id("launch"),
            workspace_id: WorkspaceId::generate(),
            user_id: user.clone(),
            milestone: 1_000,
            total_clicks: 1_003,
        }),
    }
}

fn target_down(user: &UserId, email: &str) -> Event {
    Event {
        event_id: EventId::generate(),
        occurred_at: Timestamp::now(),
        correlation_id: CorrelationId::generate(),
        detail: EventDetail::TargetDown(TargetDown {
            target_id: TargetId::from_number(7),
            url: "https://example.com/a".parse().unwrap(),
            workspace_id: WorkspaceId::generate(),
            user_id: user.clone(),
            user_email: EmailAddress::parse(email).unwrap(),
            status_code: None,
            error: Some(CheckError::Timeout),
        }),
    }
}

fn failed(response: &SqsBatchResponse) -> BTreeSet<String> {
    response.batch_item_failures.iter().map(|failure| failure.item_identifier.clone()).collect()
}

#[tokio::test]
async fn an_event_is_stored_published_and_mailed() {
    let (fixture, user) = (Fixture::new(), UserId::generate());

    let response = fixture.notify(true).consume(event_batch(&[created(&user)])).await;

    assert!(failed(&response).is_empty());
    let stored = fixture.list(&user).await;
    assert_eq!(stored.len(), 1);
    assert_eq!(stored[0].status, NotificationStatus::Sent);
    assert!(stored[0].sent_at.is_some());
    assert_eq!(stored[0].message, "Your short link launch to https://example.com/ was created.");
    let published = fixture.outside.published();
    assert_eq!(published.len(), 1);
    assert!(published[0].contains("user_id") && published[0].contains(user.as_str()), "{}", published[0]);
    assert!(published[0].contains("event_type") && published[0].contains("url.created"), "{}", published[0]);
    let mails = fixture.outside.mails();
    assert_eq!(mails.len(), 1);
    assert_eq!(mails[0]["FromEmailAddress"], "links@example.com");
    assert_eq!(mails[0]["Destination"]["ToAddresses"][0], "ada@example.com");
    assert_eq!(mails[0]["Content"]["Simple"]["Subject"]["Data"], "Your short link is ready");
    assert_eq!(mails[0]["Content"]["Simple"]["Body"]["Text"]["Data"], stored[0].message);
}

#[tokio::test]
async fn whoever_monitors_a_url_is_mailed_without_ever_having_had_a_link() {
    let (fixture, user) = (Fixture::new(), UserId::generate());

    let response = fixture.notify(true).consume(event_batch(&[target_down(&user, "ada@example.com")])).await;

    assert!(failed(&response).is_empty());
    let mails = fixture.outside.mails();
    assert_eq!(mails[0]["Destination"]["ToAddresses"][0], "ada@example.com");
    assert_eq!(mails[0]["Content"]["Simple"]["Subject"]["Data"], "A monitored URL is down");
    assert_eq!(
        mails[0]["Content"]["Simple"]["Body"]["Text"]["Data"],
        "https://example.com/a is down: it did not answer in time."
    );
}

#[tokio::test]
async fn the_address_that_a_link_told_is_not_replaced_by_the_older_one_of_a_target() {
    let (fixture, user) = (Fixture::new(), UserId::generate());
    let notify = fixture.notify(true);
    notify.consume(event_batch(&[created(&user)])).await;

    notify.consume(event_batch(&[target_down(&user, "old@example.com")])).await;

    assert_eq!(fixture.outside.mails()[1]["Destination"]["ToAddresses"][0], "ada@example.com");
}

#[tokio::test]
async fn without_a_sender_nothing_is_mailed() {
    let (fixture, user) = (Fixture::new(), UserId::generate());

    fixture.notify(false).consume(event_batch(&[created(&user)])).await;

    assert_eq!(fixture.list(&user).await[0].status, NotificationStatus::Sent);
    assert!(fixture.outside.mails().is_empty());
}

#[tokio::test]
async fn an_event_delivered_twice_is_told_once() {
    let (fixture, user) = (Fixture::new(), UserId::generate());
    let event = created(&user);

    for _ in 0..2 {
        fixture.notify(true).consume(event_batch(&[event.clone(), event.clone()])).await;
    }

    assert_eq!(fixture.list(&user).await.len(), 1);
    assert_eq!((fixture.outside.published().len(), fixture.outside.mails().len()), (1, 1));
}

#[tokio::test]
async fn a_message_that_comes_while_its_event_is_being_told_waits_and_finds_it_done() {
    let (fixture, user) = (Fixture::new(), UserId::generate());
    let batch = event_batch(&[created(&user)]);
    let (one, other) = (fixture.notify(true), fixture.notify(true));
    fixture.outside.hold_next();

    let meanwhile = async {
        fixture.outside.until_held().await;
        let (refused, measured) = metrics::observe(other.consume(batch.clone())).await;
        fixture.outside.release();
        (failed(&refused).len(), measured.get(Metric::BatchFailures))
    };
    let (first, refused) = tokio::join!(one.consume(batch.clone()), meanwhile);
    let again = other.consume(batch.clone()).await;

    assert_eq!(refused, (1, 1.0));
    assert!(failed(&first).is_empty() && failed(&again).is_empty());
    assert_eq!((fixture.outside.published().len(), fixture.outside.mails().len()), (1, 1));
    assert_eq!(fixture.list(&user).await[0].status, NotificationStatus::Sent);
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_messages_of_one_event_at_once_tell_it_once() {
    let (fixture, user) = (Fixture::new(), UserId::generate());
    let batch = event_batch(&[created(&user)]);
    let consumers: Vec<_> = (0..8).map(|_| fixture.notify(true)).collect();

    let responses = join_all(consumers.iter().map(|consumer| consumer.consume(batch.clone()))).await;

    // Some came while it was being told, and some after that.
    assert!(responses.iter().any(|response| failed(response).is_empty()));
    assert!(failed(&fixture.notify(true).consume(batch).await).is_empty());
    assert_eq!((fixture.outside.published().len(), fixture.outside.mails().len()), (1, 1));
}

#[tokio::test]
async fn what_somebody_died_over_is_told_when_their_claim_has_run_out() {
    let (fixture, user) = (Fixture::new(), UserId::generate());
    let batch = event_batch(&[created(&user)]);
    let (dying, next) = (fixture.notify(true), fixture.notify(true));
    fixture.outside.hold_next();
    tokio::select! {
        _ = dying.consume(batch.clone()) => panic!("the topic doesn't answer"),
        () = fixture.outside.until_held() => {}
    }
    fixture.outside.release();

    let too_early = next.consume(batch.clone()).await;
    let told_too_early = fixture.outside.published().len();
    fixture.wait();
    let in_time = next.consume(batch).await;

    assert_eq!((failed(&too_early).len(), told_too_early), (1, 1));
    assert!(failed(&in_time).is_empty());
    // It died after publishing and before it could note that, so this is the one case in which the topic has it twice.
    assert_eq!((fixture.outside.published().len(), fixture.outside.mails().len()), (2, 1));
}

/// Each call fails once: the one before it is noted, or only its answer gets lost, as when the environment dies there.
#[tokio::test]
async fn wherever_a_delivery_without_mail_breaks_off_the_next_one_ends_it() {
    // The address, looked up and stored; the claim; the note that it was published and is sent.
    for (call, fault) in (0..4).flat_map(|call| [(call, Fault::NotSent), (call, Fault::AnswerLost)]) {
        let (fixture, user) = (Fixture::new(), UserId::generate());
        let batch = event_batch(&[created(&user)]);
        let (mut dying, faults) = (fixture.notify(false), Faults::default());
        dying.notifications = NotificationsTable::new(fixture.db.client_with(faults.clone()), "NotificationsTable");
        faults.plan(Some((call, fault)));

        let broken_off = dying.consume(batch.clone()).await;
        fixture.wait();
        let again = fixture.notify(false).consume(batch).await;

        assert_eq!((failed(&broken_off).len(), failed(&again).len()), (1, 0), "{call}, {fault:?}");
        assert_eq!(fixture.list(&user).await[0].status, NotificationStatus::Sent, "{call}, {fault:?}");
        // Published, and that could not be noted.
        let expected = if (call, fault) == (3, Fault::NotSent) { 2 } else { 1 };
        assert_eq!(fixture.outside.published().len(), expected, "{call}, {fault:?}");
        let address = fixture.db.notifications().owner_email(&user).await.unwrap();
        assert_eq!(address, Some(EmailAddress::parse("ada@example.com").unwrap()), "{call}, {fault:?}");
    }
}

/// Of somebody whose address is known, which is looked up for the event, and once more for a mail.
#[tokio::test]
async fn a_delivery_costs_two_writes_and_with_mail_three() {
    for (with_mail, reads, writes) in [(false, 0.5, 2.0), (true, 1.0, 3.0)] {
        let (fixture, user, meter) = (Fixture::new(), UserId::generate(), CapacityMeter::default());
        let mut notify = fixture.notify(with_mail);
        notify.notifications = NotificationsTable::new(fixture.db.client_with(meter.clone()), "NotificationsTable");
        notify.consume(event_batch(&[created(&user)])).await;
        meter.reset();

        let response = notify.consume(event_batch(&[created(&user)])).await;

        assert!(failed(&response).is_empty());
        assert_eq!((meter.read_units(), meter.write_units()), (reads, writes), "with mail: {with_mail}");
    }
}

#[tokio::test]
async fn whoever_gives_up_on_what_somebody_else_has_told_by_now_leaves_it_as_sent() {
    let (fixture, user) = (Fixture::new(), UserId::generate());
    let mut batch = event_batch(&[created(&user)]);
    fixture.notify(true).consume(batch.clone()).await;
    batch.records[0].attributes.insert("ApproximateReceiveCount".into(), "5".into());
    let (mut late, faults) = (fixture.notify(true), Faults::default());
    late.notifications = NotificationsTable::new(fixture.db.client_with(faults.clone()), "NotificationsTable");
    // The first call, which looks whether the address is known.
    faults.plan(Some((0, Fault::NotSent)));

    let response = late.consume(batch).await;

    assert_eq!(failed(&response).len(), 1);
    assert_eq!(fixture.list(&user).await[0].status, NotificationStatus::Sent);
}

#[tokio::test]
async fn a_milestone_is_mailed_to_the_address_that_the_link_told() {
    let (fixture, user) = (Fixture::new(), UserId::generate());
    fixture.notify(true).consume(event_batch(&[created(&user)])).await;

    fixture.notify(true).consume(event_batch(&[milestone(&user)])).await;

    assert_eq!(fixture.list(&user).await[0].message, "Your short link launch has reached 1,000 clicks.");
    assert_eq!(fixture.outside.mails()[1]["Destination"]["ToAddresses"][0], "ada@example.com");
}

#[tokio::test]
async fn a_milestone_that_overtakes_its_link_waits_for_the_address() {
    let (fixture, user) = (Fixture::new(), UserId::generate());

    let early = fixture.notify(true).consume(event_batch(&[milestone(&user)])).await;
    let waiting = fixture.list(&user).await.remove(0).status;
    fixture.notify(true).consume(event_batch(&[created(&user)])).await;
    fixture.wait();
    let later = fixture.notify(true).consume(event_batch(&[milestone(&user)])).await;

    assert_eq!((failed(&early).len(), waiting), (1, NotificationStatus::Pending));
    assert!(failed(&later).is_empty());
    assert_eq!(fixture.outside.mails().len(), 2);
}

#[tokio::test]
async fn when_mail_fails_only_mail_is_repeated_and_at_last_it_stands_as_failed() {
    let (fixture, user) = (Fixture::new(), UserId::generate());
    let event = created(&user);
    fixture.outside.refuse_mail(true);
    let mut batch = event_batch(&[event]);

    let (first, measured) = metrics::observe(fixture.notify(true).consume(batch.clone())).await;
    let after_first = fixture.list(&user).await.remove(0).status;
    batch.records[0].attributes.insert("ApproximateReceiveCount".into(), "5".into());
    fixture.wait();
    let last = fixture.notify(true).consume(batch.clone()).await;
    let after_last = fixture.list(&user).await.remove(0).status;

    assert_eq!((failed(&first).len(), after_first), (1, NotificationStatus::Pending));
    assert_eq!((measured.get(Metric::MailsFailed), measured.get(Metric::BatchFailures)), (1.0, 1.0));
    assert_eq!((failed(&last).len(), after_last), (1, NotificationStatus::Failed));
    assert_eq!(fixture.outside.published().len(), 1);

    // The redrive after the repair.
    fixture.outside.refuse_mail(false);
    fixture.wait();
    let (repaired, measured) = metrics::observe(fixture.notify(true).consume(batch)).await;
    assert!(failed(&repaired).is_empty());
    assert_eq!((measured.get(Metric::MailsSent), measured.get(Metric::MailsFailed)), (1.0, 0.0));
    assert_eq!(fixture.list(&user).await.remove(0).status, NotificationStatus::Sent);
    assert_eq!((fixture.outside.published().len(), fixture.outside.mails().len()), (1, 1));
}

#[tokio::test]
async fn one_bad_message_does_not_hold_up_the_others() {
    let (fixture, user) = (Fixture::new(), UserId::generate());
    let good = serde_json::to_string(&created(&user)).unwrap();
    let click = serde_json::to_string(&click_event("launch", Timestamp::now())).unwrap();

    let response = fixture.notify(false).consume(queue_batch(&["{".into(), click.clone(), good])).await;

    assert!(failed(&response).is_empty());
    assert_eq!(fixture.list(&user).await.len(), 1);
    assert_eq!(fixture.queues.bodies("dlq").len(), 2);
}

#[tokio::test]
async fn the_sample_event_is_told() {
    let fixture = Fixture::new();
    let sample = include_str!("../../../../functions/notify/events/created.json");

    let response = fixture.notify(true).consume(serde_json::from_str(sample).unwrap()).await;

    assert!(failed(&response).is_empty());
    assert_eq!(fixture.outside.mails()[0]["Destination"]["ToAddresses"][0], "grace@example.com");
}
