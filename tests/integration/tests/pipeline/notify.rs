use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use aws_lambda_events::sqs::SqsBatchResponse;
use linklet_domain::{
    CheckError, CorrelationId, Event, EventDetail, EventId, MailChoice, MilestoneReached, Notification,
    NotificationStatus, NotificationSubject, Role, TargetDown, TargetId, Timestamp,
};
use linklet_dynamodb::{NotificationsTable, Recipients};
use linklet_lambda::batch::Consumer;
use linklet_lambda::metrics::{self, Metric};
use linklet_notify::{Addresses, CLAIMED_FOR, Notify};
use linklet_test_support::{
    FakeNotifiers, FakeQueues, Fault, Faults, Person, TestDynamoDb, an_origin, click_event, event_batch, link_id,
    queue_batch, removal,
};

use crate::fixture::{self, url_created};

struct Fixture {
    db: TestDynamoDb,
    queues: FakeQueues,
    outside: FakeNotifiers,
    now: Arc<Mutex<Timestamp>>,
    /// Who has shown that her address is hers, and wants all mails.
    ada: Person,
}

impl Fixture {
    async fn new() -> Self {
        let db = TestDynamoDb::start();
        let ada = db.register_verified("ada").await;
        assert!(db.users().choose_mail(&ada.id, MailChoice::All, &an_origin(&ada.id)).await.unwrap());
        let now = Arc::new(Mutex::new(Timestamp::now()));
        Self { db, queues: FakeQueues::start(), outside: FakeNotifiers::start(), now, ada }
    }

    /// Lets the time pass after which a message comes again.
    fn wait(&self) {
        let mut now = self.now.lock().unwrap();
        *now = now.plus(CLAIMED_FOR);
    }

    fn notify(&self, with_mail: bool) -> Notify {
        let now = self.now.clone();
        Notify {
            clock: Box::new(move || *now.lock().unwrap()),
            ..fixture::notify(&self.db, &self.queues, &self.outside, with_mail)
        }
    }

    async fn list(&self, person: &Person) -> Vec<Notification> {
        self.db.notifications().list(&person.id, &[], 100, None).await.unwrap().page.items
    }
}

pub(super) fn of(person: &Person, detail: EventDetail) -> Event {
    Event {
        event_id: EventId::generate(),
        occurred_at: Timestamp::now(),
        correlation_id: CorrelationId::generate(),
        workspace_id: person.workspace,
        detail,
    }
}

pub(super) fn milestone(person: &Person) -> Event {
    let (link, user_id) = (link_id("launch"), person.id);
    let event_id = EventId::milestone(&link, 1_000);
    let reached = MilestoneReached { link, user_id, milestone: 1_000, total_clicks: 1_003 };
    Event { event_id, ..of(person, EventDetail::MilestoneReached(reached)) }
}

pub(super) fn target_down(person: &Person) -> Event {
    let down = TargetDown {
        target_id: TargetId::parse("t_0000000000000000000007").unwrap(),
        url: "https://example.com/a".parse().unwrap(),
        user_id: person.id,
        status_code: None,
        error: Some(CheckError::Timeout),
    };
    of(person, EventDetail::TargetDown(down))
}

fn failed(response: &SqsBatchResponse) -> BTreeSet<String> {
    response.batch_item_failures.iter().map(|failure| failure.item_identifier.clone()).collect()
}

#[tokio::test]
async fn an_event_is_stored_published_and_mailed() {
    let fixture = Fixture::new().await;
    let ada = &fixture.ada;

    let response = fixture.notify(true).consume(event_batch(&[url_created(ada)])).await;

    assert!(failed(&response).is_empty());
    let stored = fixture.list(ada).await;
    assert_eq!(stored.len(), 1);
    assert_eq!(stored[0].status, NotificationStatus::Sent);
    assert!(stored[0].sent_at.is_some());
    assert_eq!(stored[0].message, "Your short link launch7 to https://example.com/sale/7 was created.");
    assert_eq!(stored[0].about, NotificationSubject::Link(link_id("launch7").code));
    let published = fixture.outside.published();
    assert_eq!(published.len(), 1);
    assert!(published[0].contains("user_id") && published[0].contains(&ada.id.to_string()), "{}", published[0]);
    assert!(published[0].contains("event_type") && published[0].contains("url.created"), "{}", published[0]);
    let mails = fixture.outside.mails();
    assert_eq!(mails.len(), 1);
    assert_eq!(mails[0]["FromEmailAddress"], "links@example.com");
    assert_eq!(fixture.outside.recipients(), ["ada@example.com"]);
    assert_eq!(fixture.outside.subjects(), ["Your short link is ready"]);
    let (text, html) = (fixture.outside.texts().remove(0), fixture.outside.htmls().remove(0));
    assert!(text.starts_with("Your short link go.example.com/launch7 to example.com was created.\n"), "{text}");
    let page = format!("https://go.example.com/app#/w/{}/links/launch7", ada.workspace);
    assert!(text.contains(&format!("\n{page}\n")), "{text}");
    assert!(html.contains(">Your short link go.example.com/launch7 to example.com was created.<"), "{html}");
    assert!(html.contains(&format!("href=\"{page}\"")), "{html}");
}

#[tokio::test]
async fn whoever_monitors_a_url_is_mailed_without_ever_having_had_a_link() {
    let fixture = Fixture::new().await;
    let ada = &fixture.ada;

    let response = fixture.notify(true).consume(event_batch(&[target_down(ada)])).await;

    assert!(failed(&response).is_empty());
    let target = TargetId::parse("t_0000000000000000000007").unwrap();
    assert_eq!(fixture.list(ada).await[0].about, NotificationSubject::Target(target));
    assert_eq!(fixture.outside.recipients(), ["ada@example.com"]);
    assert_eq!(fixture.outside.subjects(), ["A monitored URL is down"]);
    let text = fixture.outside.texts().remove(0);
    assert!(text.starts_with("example.com is down: it timed out.\n"), "{text}");
    assert!(text.contains(&format!("/app#/w/{}/monitoring/t_0000000000000000000007\n", ada.workspace)), "{text}");
}

#[tokio::test]
async fn a_message_delivered_twice_at_once_waits_and_finds_it_done() {
    let fixture = Fixture::new().await;
    let ada = &fixture.ada;
    let batch = event_batch(&[url_created(ada)]);
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
    assert_eq!(fixture.list(ada).await[0].status, NotificationStatus::Sent);
}

#[tokio::test]
async fn what_somebody_died_over_is_told_when_their_claim_has_run_out() {
    let fixture = Fixture::new().await;
    let ada = &fixture.ada;
    let batch = event_batch(&[url_created(ada)]);
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
    // The claim; the note that it was published and is sent.
    for (call, fault) in (0..2).flat_map(|call| [(call, Fault::NotSent), (call, Fault::AnswerLost)]) {
        let fixture = Fixture::new().await;
        let ada = &fixture.ada;
        let batch = event_batch(&[url_created(ada)]);
        let (mut dying, faults) = (fixture.notify(false), Faults::default());
        dying.notifications = NotificationsTable(fixture.db.table_with(faults.clone(), "NotificationsTable"));
        faults.plan(Some((call, fault)));

        let broken_off = dying.consume(batch.clone()).await;
        fixture.wait();
        let again = fixture.notify(false).consume(batch).await;

        assert_eq!((failed(&broken_off).len(), failed(&again).len()), (1, 0), "{call}, {fault:?}");
        assert_eq!(fixture.list(ada).await[0].status, NotificationStatus::Sent, "{call}, {fault:?}");
        // Published, and that could not be noted.
        let expected = if (call, fault) == (1, Fault::NotSent) { 2 } else { 1 };
        assert_eq!(fixture.outside.published().len(), expected, "{call}, {fault:?}");
        assert!(fixture.outside.mails().is_empty(), "there is no sender");
    }
}

#[tokio::test]
async fn nobody_is_told_before_their_membership_is_known() {
    let (fixture, faults) = (Fixture::new().await, Faults::default());
    let ada = &fixture.ada;
    let batch = event_batch(&[url_created(ada)]);
    let mut notify = fixture.notify(true);
    notify.people = Recipients(fixture.db.table_with(faults.clone(), "UsersTable"));
    faults.plan(Some((0, Fault::NotSent)));

    let unknown = notify.consume(batch.clone()).await;
    let told_unknown = fixture.outside.published().len();
    let known = notify.consume(batch).await;

    assert_eq!((failed(&unknown).len(), told_unknown), (1, 0));
    assert!(failed(&known).is_empty());
    assert_eq!(fixture.outside.mails().len(), 1);
}

#[tokio::test]
async fn an_address_that_nobody_has_verified_gets_no_mail() {
    let fixture = Fixture::new().await;
    let eve = fixture.db.register("eve").await;

    let response = fixture.notify(true).consume(event_batch(&[url_created(&eve), target_down(&eve)])).await;

    assert!(failed(&response).is_empty());
    assert!(fixture.outside.mails().is_empty());
    assert_eq!(fixture.outside.published().len(), 2);
    let statuses: Vec<_> = fixture.list(&eve).await.iter().map(|notification| notification.status).collect();
    assert_eq!(statuses, [NotificationStatus::Sent; 2]);
}

#[tokio::test]
async fn who_is_no_member_any_more_is_not_told() {
    let fixture = Fixture::new().await;
    let (ada, db) = (&fixture.ada, &fixture.db);
    let bob = fixture::colleague(db, ada, "bob", Role::Member).await;
    db.users().verify_address(&bob.id, &bob.email, &an_origin(&bob.id)).await.unwrap();
    db.users().choose_mail(&bob.id, MailChoice::All, &an_origin(&bob.id)).await.unwrap();
    let as_member = fixture.notify(true).consume(event_batch(&[url_created(&bob)])).await;
    let told_as_member = (fixture.list(&bob).await.len(), fixture.outside.mails().len());

    db.users().remove_member(&removal(&ada.workspace, &ada.id, &bob.id)).await.unwrap();
    let removed = fixture.notify(true).consume(event_batch(&[url_created(&bob), target_down(&bob)])).await;

    assert!(failed(&as_member).is_empty() && failed(&removed).is_empty());
    assert_eq!(told_as_member, (1, 1));
    assert_eq!((fixture.list(&bob).await.len(), fixture.outside.mails().len()), (1, 1));
    assert_eq!(fixture.outside.published().len(), 1);
    assert!(fixture.queues.bodies("dlq").is_empty());
}

#[tokio::test]
async fn without_their_own_base_short_urls_are_those_of_the_api() {
    let fixture = Fixture::new().await;
    let mut notify = fixture.notify(true);
    notify.addresses = Addresses::new(None, "https://api.example.com");

    notify.consume(event_batch(&[milestone(&fixture.ada)])).await;

    let text = fixture.outside.texts().remove(0);
    let begins = "Your short link api.example.com/r/launch has reached 1,000 clicks (1,003 now).\n";
    assert!(text.starts_with(begins), "{text}");
    let page = format!("\nhttps://api.example.com/app#/w/{}/links/launch\n", fixture.ada.workspace);
    assert!(text.contains(&page), "{text}");
}

#[tokio::test]
async fn only_failed_mail_is_repeated_and_finally_marked_as_failed() {
    let fixture = Fixture::new().await;
    let ada = &fixture.ada;
    let event = url_created(ada);
    fixture.outside.refuse_mail(true);
    let mut batch = event_batch(&[event]);

    let (first, measured) = metrics::observe(fixture.notify(true).consume(batch.clone())).await;
    let after_first = fixture.list(ada).await.remove(0).status;
    batch.records[0].attributes.insert("ApproximateReceiveCount".into(), "5".into());
    fixture.wait();
    let last = fixture.notify(true).consume(batch.clone()).await;
    let after_last = fixture.list(ada).await.remove(0).status;

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
    assert_eq!(fixture.list(ada).await.remove(0).status, NotificationStatus::Sent);
    assert_eq!((fixture.outside.published().len(), fixture.outside.mails().len()), (1, 1));
}

#[tokio::test]
async fn one_bad_message_does_not_hold_up_the_others() {
    let fixture = Fixture::new().await;
    let ada = &fixture.ada;
    let good = serde_json::to_string(&url_created(ada)).unwrap();
    let click = serde_json::to_string(&click_event("launch", Timestamp::now())).unwrap();

    let response = fixture.notify(false).consume(queue_batch(&["{".into(), click.clone(), good])).await;

    assert!(failed(&response).is_empty());
    assert_eq!(fixture.list(ada).await.len(), 1);
    assert_eq!(fixture.queues.bodies("dlq").len(), 2);
}
