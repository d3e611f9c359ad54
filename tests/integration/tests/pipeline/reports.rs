//! Reports by mail, from the run that orders them to the mails.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join;
use linklet_analytics::Analytics;
use linklet_domain::{Day, ReportEvery, ReportId, ReportSubscription, Role, Tag, Timestamp};
use linklet_dynamodb::{LinksTable, Reports, StatsTable, SubscribeOutcome, Workspaces};
use linklet_lambda::batch::Consumer;
use linklet_lambda::schedule::{Call, Job};
use linklet_notify::Notify;
use linklet_reports::{DueReports, ReportsError};
use linklet_test_support::{
    ClickBuilder, FakeNotifiers, FakeQueues, LinkBuilder, Outage, Person, RequestBuilder, TestDynamoDb, an_origin,
    an_origin_at, event_batch, in_role_of, queue_batch, removal,
};
use serde_json::Value;

use crate::fixture;

const BOT: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";

/// Ada, who has confirmed her address, and what mails her. It is a Monday.
struct Post {
    db: TestDynamoDb,
    queues: FakeQueues,
    outside: FakeNotifiers,
    monday: Day,
    ada: Person,
    /// Which of the orders are delivered.
    delivered: Arc<Mutex<usize>>,
}

impl Post {
    async fn new() -> Self {
        let db = TestDynamoDb::start();
        let ada = db.register_verified("ada").await;
        let today = Timestamp::now().day();
        let monday = today.minus(u64::from(today.weekday()));
        let (queues, outside) = (FakeQueues::start(), FakeNotifiers::start());
        Self { db, queues, outside, monday, ada, delivered: Arc::default() }
    }

    /// The same, with a link that has clicks: last week two of a person and one of a bot, and the week before one.
    async fn with_clicks() -> Self {
        let post = Self::new().await;
        post.store("launch", &["Launch"]).await;
        for (days, agent) in [(8, None), (7, None), (2, None), (1, Some(BOT))] {
            post.click("launch", post.monday.minus(days), agent).await;
        }
        post
    }

    async fn store(&self, code: &str, tags: &[&str]) {
        let link = LinkBuilder::new(code).in_workspace(&self.ada.workspace).owned_by(&self.ada.id).tagged(tags);
        self.db.store(&link.build()).await;
    }

    async fn click(&self, code: &str, day: Day, agent: Option<&str>) {
        let click = ClickBuilder::new(code).in_workspace(&self.ada.workspace).at(day.start());
        let click = agent.map_or_else(|| click.clone().build(), |agent| click.clone().with(agent).build());
        // It is counted when it happens, so that days move into the past as they do.
        let clock = Box::new(move || day.start());
        let analytics = Analytics { clock, ..fixture::analytics(&self.db, &self.queues) };
        let counted = analytics.consume(event_batch(&[click])).await;
        assert!(counted.batch_item_failures.is_empty());
    }

    async fn wants(&self, person: &Person, every: ReportEvery, tag: Option<&str>) -> ReportId {
        let tag = tag.map(|tag| Tag::parse(tag).unwrap());
        let id = ReportId::new(every, person.workspace, tag.as_ref());
        let before = self.monday.minus(70).start();
        let wanted = ReportSubscription::new(&id, person.id, tag, before);
        let added = self.db.users().want_report(wanted, &an_origin_at(&person.id, before)).await.unwrap();
        assert!(matches!(added, SubscribeOutcome::Added(_)));
        id
    }

    async fn colleague(&self, name: &str) -> Person {
        let person = fixture::colleague(&self.db, &self.ada, name, Role::Viewer).await;
        self.db.users().verify_address(&person.id, &person.email, &an_origin(&person.id)).await.unwrap();
        person
    }

    async fn run_on(&self, day: Day) -> Result<(), ReportsError> {
        let call = Call { scheduled_time: day.at_hour(6), correlation_id: fixture::correlation() };
        in_role_of::<DueReports, _>(fixture::due_reports(&self.db, &self.queues).run(call)).await
    }

    async fn run(&self) -> Result<(), ReportsError> {
        self.run_on(self.monday).await
    }

    /// Delivers all orders that weren't yet, and says how many have to come again.
    async fn deliver(&self) -> usize {
        let orders = self.queues.bodies("notify");
        let before = std::mem::replace(&mut *self.delivered.lock().unwrap(), orders.len());
        let mut failed = 0;
        for batch in orders[before..].chunks(10) {
            let notify = fixture::notify(&self.db, &self.queues, &self.outside, true);
            failed += in_role_of::<Notify, _>(notify.consume(queue_batch(batch))).await.batch_item_failures.len();
        }
        failed
    }

    fn wanted(&self) -> usize {
        let is_one = |row: &&Value| row["pk"]["S"].as_str().unwrap().starts_with("REPORTS#");
        self.db.scan("UsersTable").iter().filter(is_one).count()
    }
}

#[tokio::test]
async fn a_report_says_what_has_changed_and_ends_by_one_click() {
    let post = Post::with_clicks().await;
    let id = post.wants(&post.ada, ReportEvery::Week, None).await;

    post.run().await.unwrap();
    assert_eq!(post.queues.events("notify")[0]["correlation_id"], "req-42", "as of the call");
    assert_eq!(post.deliver().await, 0);

    let (subject, text) = (post.outside.subjects().remove(0), post.outside.texts().remove(0));
    let name = post.db.users().workspace(&post.ada.workspace).await.unwrap().unwrap().name;
    let (first, last) = (post.monday.minus(7), post.monday.minus(1));
    assert_eq!(subject, format!("{name}: 3 clicks last week"));
    let lines: Vec<_> = text.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines[0], format!("{name} had 3 clicks last week ({first} to {last}, UTC), 2 of them human."));
    assert_eq!(lines[1], "That’s 200% more than the week before (1).");
    assert_eq!(lines[2..4], ["Top links:", "go.example.com/launch: 3 clicks"]);
    let page =
        format!("https://go.example.com/app#/w/{}/overview?range=own&from={first}&to={last}", post.ada.workspace);
    assert_eq!(lines[4..7], [page.as_str(), "-- ", "You get this report every Monday."]);
    let one_click = post.outside.mails()[0]["Content"]["Simple"]["Headers"][0]["Value"].as_str().unwrap().to_owned();
    let path = one_click.strip_prefix("<https://go.example.com").unwrap().trim_end_matches('>');
    assert!(path.ends_with(&format!("&report={id}")), "{path}");
    assert!(lines[7].starts_with("Unsubscribe: https://go.example.com/app#/unsubscribe?token="), "{}", lines[7]);
    assert!(lines[7].ends_with(&format!("&report={id}")), "{}", lines[7]);

    post.wants(&post.ada, ReportEvery::Month, None).await;
    let request = RequestBuilder::new("POST", path).form("List-Unsubscribe=One-Click");
    request.send_to(&fixture::account(&post.db)).await.expecting(204);

    assert_eq!(post.wanted(), 1, "only that one has ended");
    let choice = post.db.users().mail_choice(&post.ada.id).await.unwrap();
    assert_eq!(choice, Some(Default::default()), "notifications by mail go on");
}

#[tokio::test]
async fn runs_that_are_repeated_or_at_once_mail_each_report_once() {
    let post = Post::with_clicks().await;
    let bob = post.colleague("bob").await;
    for person in [&post.ada, &bob] {
        post.wants(person, ReportEvery::Week, None).await;
        post.wants(person, ReportEvery::Week, Some("LAUNCH")).await;
    }

    let (one, other) = join(post.run(), post.run()).await;
    one.and(other).unwrap();
    assert_eq!(post.deliver().await, 0);
    post.run().await.unwrap();
    assert_eq!(post.deliver().await, 0);

    let mut mails: Vec<_> = post.outside.recipients().into_iter().zip(post.outside.subjects()).collect();
    mails.sort();
    assert_eq!(mails.len(), 4, "{mails:?}");
    assert_eq!(post.queues.bodies("notify").len(), 8, "whoever comes after the mails orders nothing");
    assert!(mails[1].1.starts_with("“LAUNCH” in "), "{mails:?}");
    post.run_on(post.monday.minus(7)).await.unwrap();
    assert_eq!(post.deliver().await, 0);
    assert_eq!(post.outside.mails().len(), 4, "a period that is over isn't told after a later one");
}

#[tokio::test]
async fn what_is_not_ordered_fails_the_run_and_is_mailed_by_the_next() {
    let post = Post::with_clicks().await;
    for name in ["bob", "carol"] {
        let person = post.colleague(name).await;
        post.wants(&person, ReportEvery::Week, None).await;
        if name == "bob" {
            post.queues.fail(Outage::MessagesWith(person.id.to_string()));
        }
    }

    let failed = post.run().await;
    assert!(matches!(failed, Err(ReportsError::Failed(1))), "{failed:?}");
    assert_eq!(post.deliver().await, 0);
    assert_eq!(post.outside.recipients(), ["carol@example.com"]);
    post.queues.fail(Outage::None);
    post.run().await.unwrap();
    assert_eq!(post.deliver().await, 0);

    assert_eq!(post.outside.recipients(), ["carol@example.com", "bob@example.com"]);
}

#[tokio::test]
async fn a_mail_that_ses_refuses_comes_again_and_once() {
    let post = Post::with_clicks().await;
    post.wants(&post.ada, ReportEvery::Week, None).await;
    post.run().await.unwrap();

    post.outside.refuse_mail(true);
    assert_eq!(post.deliver().await, 1);
    post.outside.refuse_mail(false);
    for _ in 0..2 {
        *post.delivered.lock().unwrap() = 0;
        assert_eq!(post.deliver().await, 0);
    }

    assert_eq!(post.outside.mails().len(), 1);
}

#[tokio::test]
async fn who_cannot_be_mailed_gets_none_and_a_former_members_report_is_deleted() {
    let post = Post::with_clicks().await;
    let [bob, carol] = [post.colleague("bob").await, post.colleague("carol").await];
    let dora = fixture::colleague(&post.db, &post.ada, "dora", Role::Member).await;
    for person in [&bob, &carol, &dora] {
        post.wants(person, ReportEvery::Week, None).await;
        post.wants(person, ReportEvery::Week, Some("launch")).await;
    }
    let removed = removal(&post.ada.workspace, &post.ada.id, &bob.id);
    post.db.users().remove_member(&removed).await.unwrap();
    let now = Timestamp::now().plus(Duration::from_secs(60));
    assert!(post.db.recipients().mark_undeliverable(&carol.id, &carol.email, now).await.unwrap());

    post.run().await.unwrap();
    post.deliver().await;

    assert!(post.queues.bodies("notify").iter().all(|order| !order.contains("\"report\"")));
    assert_eq!(post.outside.mails().len(), 0);
    assert_eq!(post.wanted(), 4, "those of the former member are gone");
}

#[tokio::test]
async fn without_a_click_there_is_no_report_unless_there_were_some_before() {
    let post = Post::new().await;
    post.store("launch", &[]).await;
    post.wants(&post.ada, ReportEvery::Week, None).await;

    post.run().await.unwrap();
    assert_eq!(post.queues.bodies("notify").len(), 0);
    post.click("launch", post.monday.minus(8), None).await;
    post.run().await.unwrap();
    assert_eq!(post.deliver().await, 0);

    assert!(post.outside.subjects()[0].ends_with(": 0 clicks last week"));
    assert!(post.outside.texts()[0].contains("That’s 100% less than the week before (1)."));
}

#[tokio::test]
async fn a_month_is_compared_with_the_whole_month_before() {
    let post = Post::new().await;
    post.store("launch", &[]).await;
    let first = post.monday.start_of_month();
    let last_month = first.minus(1).start_of_month();
    let before = last_month.minus(1).start_of_month();
    for day in [before.minus(1), before, last_month.minus(1), last_month, first.minus(1), first] {
        post.click("launch", day, None).await;
    }
    post.wants(&post.ada, ReportEvery::Month, None).await;

    post.run_on(first).await.unwrap();
    assert_eq!(post.deliver().await, 0);

    assert!(post.outside.subjects()[0].ends_with(": 2 clicks last month"), "{:?}", post.outside.subjects());
    assert!(post.outside.texts()[0].contains("That’s the same as the month before."), "{}", post.outside.texts()[0]);
}

#[tokio::test]
async fn on_other_days_and_without_mail_nothing_is_read() {
    let (queues, table) = (FakeQueues::start(), TestDynamoDb::unreachable_table);
    let reports = |mails| DueReports {
        wanted: Reports(table("UsersTable")),
        workspaces: Workspaces(table("UsersTable")),
        links: LinksTable(table("LinksTable")),
        stats: StatsTable::new(table("StatsTable")),
        mails,
        runs_for: DueReports::RUNS_FOR,
    };
    let on = |day: &str| {
        let scheduled_time = Day::parse(day).unwrap().at_hour(6);
        Call { scheduled_time, correlation_id: fixture::correlation() }
    };
    let mails = || Some(linklet_lambda::publisher::Publisher::new(queues.client(), queues.url("notify")));

    reports(mails()).run(on("2026-11-29")).await.unwrap();
    reports(None).run(on("2026-11-30")).await.unwrap();
    for day in ["2026-11-30", "2026-12-01"] {
        assert!(matches!(reports(mails()).run(on(day)).await, Err(ReportsError::Wanted(_))), "{day}");
    }
}

#[tokio::test]
async fn a_run_without_time_fails_and_the_next_goes_on() {
    let post = Post::with_clicks().await;
    post.wants(&post.ada, ReportEvery::Week, None).await;
    let call = Call { scheduled_time: post.monday.at_hour(6), correlation_id: fixture::correlation() };

    let short = DueReports { runs_for: Duration::ZERO, ..fixture::due_reports(&post.db, &post.queues) };
    assert!(matches!(short.run(call).await, Err(ReportsError::Unfinished)));
    assert_eq!(post.queues.bodies("notify").len(), 0);
    post.run().await.unwrap();
    assert_eq!(post.deliver().await, 0);

    assert_eq!(post.outside.mails().len(), 1);
}

#[tokio::test]
async fn a_workspace_that_fails_keeps_no_other_from_its_reports() {
    let post = Post::with_clicks().await;
    let eve = post.db.register_verified("eve").await;
    for person in [&post.ada, &eve] {
        post.wants(person, ReportEvery::Week, None).await;
    }
    // A link that no version can read.
    let row = serde_json::json!({
        "pk": {"S": "LINK#broken"}, "sk": {"S": "LINK"},
        "by_workspace_pk": {"S": format!("WS#{}", eve.workspace)}, "by_workspace_sk": {"S": "2026"},
    });
    post.db.put("LinksTable", &row);

    let failed = post.run().await;

    assert!(matches!(failed, Err(ReportsError::Failed(1))), "{failed:?}");
    assert_eq!(post.deliver().await, 0);
    assert_eq!(post.outside.recipients(), ["ada@example.com"]);
}
