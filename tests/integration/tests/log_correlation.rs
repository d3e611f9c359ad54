//! The correlation id in each line of what nobody waits for: Linkwatch, notifications, clicks, jobs and handovers.

use std::time::Duration;

use aws_lambda_events::sqs::SqsEvent;
use linklet_analytics::Analytics;
use linklet_domain::{AuditContext, CorrelationId, Event, PlannedTick, Reach, Role, Timestamp, UserId};
use linklet_dynamodb::{JobsTable, NotificationsTable, Removal, StatsTable, WatchTable};
use linklet_jobs::JobRunner;
use linklet_lambda::batch::Consumer as _;
use linklet_lambda::metrics;
use linklet_lambda::schedule::{self, Call};
use linklet_notify::Notify;
use linklet_test_support::{
    CapturedLogs, ClickBuilder, FakeNotifiers, FakeQueues, LinkBuilder, Outage, Person, RequestBuilder, Site,
    TargetBuilder, TestDynamoDb, an_origin, event_batch, queue_batch, removal,
};
use linklet_watch_links::WatchLinks;
use serde_json::json;

use crate::fixture::{self, colleague};

fn id(text: &str) -> CorrelationId {
    CorrelationId::parse(text).unwrap()
}

fn unreachable() -> WatchTable {
    WatchTable::new(TestDynamoDb::unreachable_table("WatchTable"))
}

fn text(content: &impl serde::Serialize) -> String {
    serde_json::to_string(content).unwrap()
}

fn messages(contents: &[impl serde::Serialize]) -> SqsEvent {
    queue_batch(&contents.iter().map(text).collect::<Vec<_>>())
}

/// The message of each line, with the correlation id, which every line has once.
fn messages_with_ids(logs: &CapturedLogs) -> Vec<(String, String)> {
    let text = logs.text();
    text.lines().for_each(|line| assert_eq!(line.matches(r#""correlation_id":"#).count(), 1, "{line}"));
    let member = |line: &serde_json::Value, name: &str| line[name].as_str().unwrap().to_owned();
    logs.lines().iter().map(|line| (member(line, "message"), member(line, "correlation_id"))).collect()
}

/// What is logged while `work` runs, all of it under this id.
async fn lines_under<T>(expected: &str, work: impl Future<Output = T>) -> Vec<String> {
    let logs = CapturedLogs::start();
    metrics::observe(work).await;
    let (messages, ids): (Vec<_>, Vec<_>) = messages_with_ids(&logs).into_iter().unzip();
    assert!(ids.iter().all(|id| id == expected), "{ids:?}");
    messages
}

#[tokio::test]
async fn a_scheduler_call_gives_its_id_to_its_lines_and_checks() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let site = Site::start();
    db.store_target(&TargetBuilder::new(&site.url("/")).build()).await;
    let call = Call { scheduled_time: Timestamp::now(), correlation_id: id("call-1") };
    let clock = fixture::clock(db.watch(), db.jobs(), &queues, 60);

    let planned = lines_under("call-1", schedule::invoke(&clock, call)).await;
    let checker = fixture::checker(db.watch(), &queues, Reach::PublicAndLoopback);
    let tick = queues.bodies("ticks").into_iter().take(1).collect::<Vec<_>>();
    let checked = lines_under("call-1", checker.consume(queue_batch(&tick))).await;

    assert_eq!(planned, ["batch processed"]);
    assert_eq!(checked, ["a target's status changed", "tick done", "batch processed"]);
}

#[tokio::test]
async fn what_fails_in_linkwatch_is_said_under_the_id_of_its_call() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    queues.fail(Outage::Everything);
    let call = Call { scheduled_time: Timestamp::now(), correlation_id: id("call-2") };
    let tick = PlannedTick { correlation_id: id("call-2"), ..fixture::tick_at(Timestamp::now(), 60) };
    let late = PlannedTick { slot: tick.slot.minus(Duration::from_secs(90)), ..tick.clone() };
    let checker = fixture::checker(unreachable(), &queues, Reach::Public);
    let of_nothing = fixture::checker(db.watch(), &queues, Reach::Public);

    let unplanned =
        lines_under("call-2", schedule::invoke(&fixture::clock(unreachable(), db.jobs(), &queues, 60), call)).await;
    let undone = lines_under("call-2", checker.consume(messages(&[late, tick]))).await;
    let unreadable = r#"{"partition": 99, "correlation_id": "call-2"}"#.to_owned();
    let unread = lines_under("call-2", of_nothing.consume(queue_batch(&[unreadable]))).await;

    assert!(unplanned.contains(&"ticks are planned without knowing whether there are targets".to_owned()));
    assert_eq!(unplanned[unplanned.len() - 2..], ["batch processed", "the scheduled job failed"]);
    assert_eq!(undone, ["a tick came too late", "a tick was left out", "batch processed"]);
    assert_eq!(unread, ["an unreadable message could not be parked", "batch processed"]);
}

#[tokio::test]
async fn each_line_of_watch_links_names_the_request_that_it_is_about() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let mut link = LinkBuilder::new("launch").watching().build();
    link.last_write.correlation_id = id("creating-1");
    db.store(&link).await;
    let stream = db.stream("LinksTable");
    let mut unreadable = stream.clone();
    unreadable.records.truncate(1);
    unreadable.records[0].change.keys = Default::default();
    let watch_links = fixture::watch_links(&db, &queues);
    let broken = WatchLinks { targets: unreachable(), ..fixture::watch_links(&db, &queues) };

    let watched = lines_under("creating-1", watch_links.consume(stream.clone())).await;
    let failed = lines_under("creating-1", broken.consume(stream)).await;
    let logs = CapturedLogs::start();
    metrics::observe(watch_links.consume(unreadable)).await;

    assert_eq!(watched, ["watchers updated", "batch processed"]);
    assert_eq!(failed, ["watchers could not be updated", "batch processed"]);
    let [(parked, its_id), (batch, named)] = <[_; 2]>::try_from(messages_with_ids(&logs)).unwrap();
    let expected = ["an unreadable message was sent to the dead-letter queue", "batch processed"];
    assert_eq!([parked, batch], expected);
    assert_eq!(its_id, named, "a new one, since none can be read");
}

#[tokio::test]
async fn each_line_of_notify_names_the_request_that_it_is_about() {
    let (db, queues, outside) = (TestDynamoDb::start(), FakeQueues::start(), FakeNotifiers::start());
    let ada = db.register_verified("ada").await;
    let stranger = Person { id: UserId::generate(), ..ada.clone() };
    let notify = fixture::notify(&db, &queues, &outside, true);
    let broken = NotificationsTable(TestDynamoDb::unreachable_table("NotificationsTable"));
    let broken = Notify { notifications: broken, max_receives: 1, ..fixture::notify(&db, &queues, &outside, true) };
    let click = Event { correlation_id: id("clicking-1"), ..ClickBuilder::new("launch").build() };
    let bodies = [created(&ada, "telling-1"), created(&stranger, "leaving-1"), click].map(|event| text(&event));
    let unreadable = r#"{"event_id": 7, "correlation_id": "damaged-1"}"#.to_owned();

    let logs = CapturedLogs::start();
    metrics::observe(notify.consume(queue_batch(&[&bodies[..], &[unreadable]].concat()))).await;
    let mut lines = messages_with_ids(&logs);
    let failed = lines_under("failing-1", broken.consume(event_batch(&[created(&ada, "failing-1")]))).await;

    let (batch, named) = lines.pop().unwrap();
    lines.sort_by(|one, other| one.1.cmp(&other.1));
    let parked = "an unreadable message was sent to the dead-letter queue";
    let expected = [
        (parked, "clicking-1"),
        (parked, "damaged-1"),
        ("nobody to tell: no member any more", "leaving-1"),
        ("notification delivered", "telling-1"),
    ];
    assert_eq!(lines, expected.map(|(message, id)| (message.to_owned(), id.to_owned())));
    assert_eq!((batch.as_str(), named.split(' ').count()), ("batch processed", 4), "{named}");
    let expected = ["notification not delivered", "a failed notification could not be marked", "batch processed"];
    assert_eq!(failed, expected);
}

#[tokio::test]
async fn each_line_of_counting_names_the_clicks_that_it_is_about() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let broken = StatsTable::new(TestDynamoDb::unreachable_table("StatsTable"));
    let analytics = Analytics { stats: broken, ..fixture::analytics(&db, &queues) };
    let clicks = ["first", "second"]
        .map(|code| Event { correlation_id: id(&format!("clicking-{code}")), ..ClickBuilder::new(code).build() });

    let logs = CapturedLogs::start();
    metrics::observe(analytics.consume(event_batch(&clicks))).await;

    let lines = messages_with_ids(&logs);
    let [first, second] = ["clicking-first", "clicking-second"];
    let of_one = |named: &str| ("clicks could not be counted".to_owned(), named.to_owned());
    assert!([first, second].map(of_one).iter().all(|line| lines.contains(line)), "{lines:?}");
    assert_eq!(lines.last().unwrap(), &("batch processed".to_owned(), format!("{first} {second}")));
}

#[tokio::test]
async fn each_line_of_a_job_or_handover_names_the_request_for_it() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let ada = db.register("ada").await;
    let bob = colleague(&db, &ada, "bob", Role::Member).await;
    let link = LinkBuilder::new("launch").in_workspace(&ada.workspace).owned_by(&bob.id);
    db.store(&link.created_at(Timestamp::now().minus(Duration::from_secs(60))).build()).await;
    let request = RequestBuilder::new("POST", "/api/jobs").token(&ada.token(Role::Admin));
    let request =
        request.header("x-correlation-id", "tagging-1").json(&json!({"kind": "archive", "filter": {"all": true}}));
    assert_eq!(request.send_to(&fixture::jobs_api(&db)).await.status, 202);
    let origin = AuditContext { correlation_id: id("removing-1"), ..an_origin(&ada.id) };
    let removal = Removal { origin, ..removal(&ada.workspace, &ada.id, &bob.id) };
    db.users().remove_member(&removal).await.unwrap();

    let new = |prefix: &str| db.stream_reader("JobsTable").read_on(prefix);
    let job = lines_under("tagging-1", fixture::jobs(&db, &queues).consume(new("JOB#"))).await;
    let handover = lines_under("removing-1", fixture::jobs(&db, &queues).consume(new(&bob.id.to_string()))).await;

    assert_eq!(job, ["a job is over", "batch processed"]);
    assert_eq!(handover, ["handed over", "batch processed"]);
}

#[tokio::test]
async fn lines_of_a_batch_without_requests_share_a_new_id() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let ada = db.register("ada").await;
    let bob = colleague(&db, &ada, "bob", Role::Member).await;
    db.users().remove_member(&removal(&ada.workspace, &ada.id, &bob.id)).await.unwrap();
    let unreachable = JobsTable(TestDynamoDb::unreachable_table("JobsTable"));
    let broken = JobRunner { jobs: unreachable, ..fixture::jobs(&db, &queues) };

    let logs = CapturedLogs::start();
    metrics::observe(broken.consume(db.stream_reader("JobsTable").read_on(&bob.id.to_string()))).await;

    let (messages, ids): (Vec<_>, Vec<_>) = messages_with_ids(&logs).into_iter().unzip();
    assert_eq!(messages, ["a step of a job failed", "batch processed"]);
    assert_eq!(ids[0], ids[1]);
}

fn created(person: &Person, request: &str) -> Event {
    Event { correlation_id: id(request), ..fixture::url_created(person) }
}
