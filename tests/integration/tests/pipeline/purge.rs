//! Forgetting a link: the tombstone, then clicks, statistics and milestones, also when something gets in between.

use std::time::Duration;

use futures_util::future::join_all;
use linklet_analytics::Analytics;
use linklet_domain::{Click, Generation, Link, LinkId, LinkIdentity, LinkPatch, Record, Role, Spread, Timestamp};
use linklet_dynamodb::{ClicksTable, DayOutcome, DayWork};
use linklet_jobs::JobRunner;
use linklet_lambda::batch::Consumer;
use linklet_test_support::{
    Answer, FakeQueues, LinkBuilder, RequestBuilder, TestDynamoDb, WriteCounter, authenticator, click_in, event_batch,
    link_id, queue_batch, token_of,
};
use serde_json::Value;

use crate::fixture::{analytics, classified, jobs, redirect, relay, stats, visitor};
use crate::streams::{JobsStream, job_step, retry_from};

struct Fixture {
    db: TestDynamoDb,
    queues: FakeQueues,
    link: Link,
}

impl Fixture {
    /// A link with counted clicks, and another one whose clicks nobody may touch.
    async fn with_clicks(count: usize) -> Self {
        let fixture =
            Self { db: TestDynamoDb::start(), queues: FakeQueues::start(), link: LinkBuilder::new("launch").build() };
        for link in [&fixture.link, &LinkBuilder::new("other").build()] {
            fixture.db.store(link).await;
            for _ in 0..count {
                fixture.click(link.code().as_str()).await;
            }
        }
        fixture.count_clicks().await;
        fixture
    }

    async fn click(&self, code: &str) {
        self.click_spread(code, Spread::Narrow).await;
    }

    async fn click_spread(&self, code: &str, spread: Spread) {
        let record = self.db.links().redirect_target(&code.parse().unwrap()).await.unwrap();
        let Some(Record::Link(target)) = record else { panic!("{record:?}") };
        let click = Click::on(&target, Timestamp::now(), visitor(), linklet_domain::CorrelationId::generate());
        self.db.clicks().record(&click, spread).await.unwrap();
    }

    /// Carries all clicks to analytics, as far as they haven't been counted yet.
    async fn count_clicks(&self) {
        relay(&self.db, &self.queues).consume(self.db.stream("ClicksTable")).await;
        let batch = queue_batch(&self.queues.bodies("analytics"));
        assert!(analytics(&self.db, &self.queues).consume(batch).await.batch_item_failures.is_empty());
    }

    async fn delete(&self, code: &str) -> Answer {
        let delete = crate::fixture::delete(&self.db, authenticator());
        let token = token_of(&self.link.identity.owner, &self.link.identity.workspace, Role::Member);
        RequestBuilder::new("DELETE", &format!("/api/links/{code}")).token(&token).send_to(&delete).await
    }

    /// The `url.purged` messages as the analytics queue has them.
    async fn purge_messages(&self) -> Vec<String> {
        relay(&self.db, &self.queues).consume(self.db.stream("LinksTable")).await;
        let mut bodies = self.queues.bodies("analytics");
        bodies.retain(|body| body.contains("url.purged"));
        bodies
    }

    /// Purges the link, with all that follows.
    async fn purge(&self) {
        self.delete("launch").await;
        let batch = queue_batch(&self.purge_messages().await);
        assert!(analytics(&self.db, &self.queues).consume(batch).await.batch_item_failures.is_empty());
    }

    /// A click by who has read the link with this id before.
    fn late_click(&self, id: &LinkId) -> Click {
        let target = linklet_domain::RedirectTarget {
            identity: LinkIdentity { id: id.clone(), ..self.link.identity.clone() },
            target: self.link.target.clone(),
            availability: self.link.availability,
            settings: None,
            statistics: None,
        };
        Click::on(&target, Timestamp::now(), visitor(), linklet_domain::CorrelationId::generate())
    }

    async fn stats(&self, code: &str) -> Answer {
        RequestBuilder::new("GET", &format!("/api/stats/{code}")).send_to(&stats(&self.db)).await
    }

    /// How many rows a table has about the link, markers and tombstones aside.
    fn rows(&self, table: &str, code: &str) -> usize {
        let link = link_id(code);
        let about = |key: &str| key.ends_with(&format!("#{link}")) || key.starts_with(&format!("CLICK#{link}#"));
        let is_about = |item: &Value| ["pk", "sk"].iter().any(|name| about(item[name]["S"].as_str().unwrap()));
        let items = self.db.scan(table);
        items.iter().filter(|item| is_about(item) && item.get("purged_at").is_none()).count()
    }
}

#[tokio::test]
async fn link_clicks_statistics_and_milestones_go_and_nothing_of_anybody_else() {
    let fixture = Fixture::with_clicks(40).await;
    assert_eq!(fixture.rows("ClicksTable", "launch"), 40);
    assert_eq!(fixture.rows("StatsTable", "launch"), 3, "a total, a day and a milestone");

    assert_eq!(fixture.delete("launch").await.status, 204);
    assert_eq!(fixture.stats("launch").await.status, 410, "at once, though analytics knows nothing of it yet");
    let messages = fixture.purge_messages().await;
    let response = analytics(&fixture.db, &fixture.queues).consume(queue_batch(&messages)).await;

    assert_eq!(messages.len(), 1);
    assert!(response.batch_item_failures.is_empty());
    assert_eq!((fixture.rows("ClicksTable", "launch"), fixture.rows("StatsTable", "launch")), (0, 0));
    assert_eq!((fixture.rows("ClicksTable", "other"), fixture.rows("StatsTable", "other")), (40, 3));
    let gone = (410, "this link was purged with its statistics".to_owned());
    assert_eq!(fixture.stats("launch").await.problem(), gone);
    let followed = RequestBuilder::new("GET", "/r/launch").send_to(&redirect(&fixture.db)).await;
    assert_eq!(followed.problem(), gone);
    let links = fixture.db.scan("LinksTable").into_iter().filter(|item| item["short_code"]["S"] == "launch");
    assert_eq!(links.filter(|item| item.get("original_url").is_some()).count(), 0);
}

#[tokio::test]
async fn an_interrupted_purge_goes_on_where_it_stopped() {
    let fixture = Fixture::with_clicks(40).await;
    fixture.delete("launch").await;
    let batch = queue_batch(&fixture.purge_messages().await);
    let mut interrupted = analytics(&fixture.db, &fixture.queues);
    interrupted.clicks = ClicksTable::new(TestDynamoDb::unreachable_table("ClicksTable"));

    let first = interrupted.consume(batch.clone()).await;
    assert_eq!(first.batch_item_failures.len(), 1);
    assert_eq!((fixture.rows("ClicksTable", "launch"), fixture.rows("StatsTable", "launch")), (40, 0));
    let second = analytics(&fixture.db, &fixture.queues).consume(batch.clone()).await;
    let third = analytics(&fixture.db, &fixture.queues).consume(batch).await;

    assert!(second.batch_item_failures.is_empty() && third.batch_item_failures.is_empty());
    assert_eq!(fixture.rows("ClicksTable", "launch"), 0);
}

/// An invocation of analytics that has no time but for the first piece of the first purge.
fn hurried(fixture: &Fixture) -> Analytics {
    Analytics { purge_turn: Duration::ZERO, ..analytics(&fixture.db, &fixture.queues) }
}

/// `PURGED_CLICKS` says how many clicks there are; `make schedules` has 200,000.
#[tokio::test]
async fn the_job_runner_deletes_what_a_large_purge_leaves_despite_kills() {
    let clicks = std::env::var("PURGED_CLICKS").map_or(4_000, |clicks| clicks.parse().unwrap());
    let fixture = Fixture::with_clicks(0).await;
    fixture.db.make_without_stream("ClicksTable");
    for some in vec![(); clicks].chunks(100) {
        let table = fixture.db.clicks();
        let late = || fixture.late_click(fixture.link.id());
        join_all(some.iter().map(async |()| table.record(&late(), Spread::Narrow).await.unwrap())).await;
    }
    let (stream, counter) = (JobsStream::of(&fixture.db), WriteCounter::default());
    let step = |step| JobRunner { step, ..jobs(&fixture.db, &fixture.queues) };
    let mut mortal = step(Duration::from_secs(1));
    mortal.kinds.clicks = ClicksTable::new(fixture.db.table_with(counter.clone(), "ClicksTable"));

    fixture.delete("launch").await;
    let messages = fixture.purge_messages().await;
    for _ in 0..2 {
        assert!(hurried(&fixture).consume(queue_batch(&messages)).await.batch_item_failures.is_empty());
    }
    let mut kills = 0;
    while let Some(record) = stream.news().pop() {
        for writes in [1, 2, 20] {
            tokio::select! {
                () = counter.more(writes) => kills += 1,
                _ = job_step(&mortal, &record) => {}
            }
        }
        assert_eq!(retry_from(&job_step(&step(Duration::ZERO), &record).await), None);
    }

    assert_eq!(fixture.queues.bodies("analytics").len(), messages.len(), "no function sends to its own queue");
    assert!(kills > clicks / 1_000, "{kills}");
    assert_eq!((fixture.rows("ClicksTable", "launch"), fixture.db.scan("JobsTable").len()), (0, 0));
}

#[tokio::test]
async fn the_job_runner_finishes_a_purge_whose_message_has_waited_for_hours() {
    let fixture = Fixture::with_clicks(3).await;
    let (stream, late) = (JobsStream::of(&fixture.db), || Timestamp::now().plus(Duration::from_secs(5 * 3_600)));
    fixture.delete("launch").await;
    let messages = fixture.purge_messages().await;

    let hurried = Analytics { clock: Box::new(late), ..hurried(&fixture) };
    assert!(hurried.consume(queue_batch(&messages)).await.batch_item_failures.is_empty());
    stream.carry(&JobRunner { clock: Box::new(late), ..jobs(&fixture.db, &fixture.queues) }).await;

    assert_eq!((fixture.rows("ClicksTable", "launch"), fixture.db.scan("JobsTable").len()), (0, 0));
}

#[tokio::test]
async fn purges_for_which_a_batch_has_no_time_left_come_again() {
    let fixture = Fixture::with_clicks(3).await;
    fixture.delete("launch").await;
    let message = fixture.purge_messages().await.remove(0);

    let response = hurried(&fixture).consume(queue_batch(&vec![message; 5])).await;

    assert_eq!(response.batch_item_failures.len(), 4);
    assert_eq!(fixture.rows("ClicksTable", "launch"), 0, "the first of them had its turn");
}

#[tokio::test]
async fn clicks_that_were_on_their_way_leave_no_trace() {
    let fixture = Fixture::with_clicks(3).await;
    // Followed before the purge, counted after it.
    fixture.click("launch").await;
    fixture.click("launch").await;
    fixture.purge().await;
    // A redirect that had read the link just before writes its click only now.
    fixture.db.clicks().record(&fixture.late_click(fixture.link.id()), Spread::Narrow).await.unwrap();

    fixture.count_clicks().await;

    assert_eq!((fixture.rows("ClicksTable", "launch"), fixture.rows("StatsTable", "launch")), (0, 0));
    assert_eq!(fixture.stats("launch").await.status, 410);
}

#[tokio::test]
async fn wide_clicks_after_a_purge_leave_only_a_marker_that_expires() {
    let fixture = Fixture::with_clicks(3).await;
    fixture.purge().await;
    // An environment that holds the link in memory.
    fixture.db.clicks().widen(fixture.link.id(), Timestamp::now().plus(Duration::from_secs(60))).await.unwrap();
    for _ in 0..20 {
        fixture.db.clicks().record(&fixture.late_click(fixture.link.id()), Spread::Wide).await.unwrap();
    }
    relay(&fixture.db, &fixture.queues).consume(fixture.db.stream("ClicksTable")).await;
    let clicks = fixture.queues.events("analytics").into_iter().filter(|event| event["event_type"] == "url.clicked");
    let clicks: Vec<String> = clicks.map(|click| click.to_string()).collect();

    analytics(&fixture.db, &fixture.queues).consume(queue_batch(&clicks)).await;

    let left = fixture.db.scan("ClicksTable");
    let left: Vec<_> = left.iter().filter(|row| row["pk"]["S"].as_str().unwrap().contains("launch")).collect();
    assert_eq!(left.iter().map(|row| &row["sk"]["S"]).collect::<Vec<_>>(), ["~wide"]);
    assert!(left[0].get("ttl").is_some());
    assert_eq!(fixture.rows("StatsTable", "launch"), 0);
}

#[tokio::test]
async fn a_days_first_click_counted_during_a_purge_leaves_no_trace() {
    let fixture = Fixture::with_clicks(0).await;
    let (link, workspace, now) = (fixture.link.id(), &fixture.link.identity.workspace, Timestamp::now());
    let event = click_in(workspace, "launch", now);
    let click = classified(&event);
    let clicks = [&click];
    let work = DayWork { link, workspace, slice: now.day().into(), clicks: &clicks };
    let before = fixture.db.stats().load(&[work]).await.unwrap().remove(0);
    fixture.db.stats().purge(workspace, link, now).await.unwrap();

    // Nobody has written the day, so it can be written; but the total tells that the link is purged.
    assert_eq!(fixture.db.stats().count(&work, before, now).await.unwrap(), DayOutcome::Purged);
    assert_eq!(fixture.rows("StatsTable", "launch"), 1);
    // So its consumer, or the next one if that dies, deletes the day.
    analytics(&fixture.db, &fixture.queues).consume(event_batch(&[event])).await;

    assert_eq!(fixture.rows("StatsTable", "launch"), 0);
}

#[tokio::test]
async fn a_purge_leaves_the_link_alone_that_has_the_code_by_now() {
    let fixture = Fixture::with_clicks(3).await;
    let next = LinkId { generation: Generation::parse("abcdef").unwrap(), ..fixture.link.id().clone() };
    fixture.delete("launch").await;
    let purge = queue_batch(&fixture.purge_messages().await);
    let click = fixture.late_click(&next);
    fixture.db.clicks().record(&click, Spread::Narrow).await.unwrap();
    analytics(&fixture.db, &fixture.queues).consume(event_batch(&[click.into_event()])).await;

    analytics(&fixture.db, &fixture.queues).consume(purge).await;

    assert_eq!((fixture.rows("ClicksTable", "launch"), fixture.rows("StatsTable", "launch")), (0, 0));
    let stats = fixture.db.stats().since(&next, Timestamp::now().day()).await.unwrap();
    assert_eq!(stats.whole_life().clicks, 1);
    assert_eq!(fixture.db.clicks().latest(&next, 10).await.unwrap().len(), 1);
    let totals = fixture.db.stats().totals_of_workspace(&fixture.link.identity.workspace).await.unwrap().unwrap();
    assert_eq!(totals.into_iter().map(|(link, clicks)| (link, clicks.total)).collect::<Vec<_>>(), [(next, 1)]);
}

#[tokio::test]
async fn a_link_that_has_expired_can_be_purged_with_its_statistics() {
    let mut fixture = Fixture::with_clicks(2).await;
    fixture.link = LinkBuilder::new("launch")
        .in_workspace(&fixture.link.identity.workspace)
        .owned_by(&fixture.link.identity.owner)
        .build();
    let record = fixture.db.record("launch").await.unwrap();
    let Record::Link(link) = record else { panic!("{record:?}") };
    let expired = LinkPatch { expires_at: Some(Some(Timestamp::now())), ..LinkPatch::default() };
    let link = fixture.db.patch(link.id(), &expired).await;
    fixture.db.remove_expired(&link).await;
    assert!(matches!(fixture.db.record("launch").await, Some(Record::Tombstone(_))));
    assert_eq!(fixture.stats("launch").await.json()["total_clicks"], 2);

    assert_eq!(fixture.delete("launch").await.status, 204);
    let batch = queue_batch(&fixture.purge_messages().await);
    analytics(&fixture.db, &fixture.queues).consume(batch).await;

    assert_eq!(fixture.stats("launch").await.status, 410);
    assert_eq!(fixture.rows("ClicksTable", "launch"), 0);
}

#[tokio::test]
async fn purging_what_never_was_succeeds() {
    let fixture = Fixture::with_clicks(0).await;

    for code in ["unknown", "no-code"] {
        assert_eq!(fixture.delete(code).await.status, 204, "{code}");
    }
}
