//! Recounting a link from its raw clicks, and putting right what differs.

use std::{collections::BTreeSet, time::Duration};

use linklet_domain::{Dimension, Event, LinkStats, Record, ShortCode, Timestamp};
use linklet_dynamodb::stream::{Change, change_of};
use linklet_lambda::{batch::Consumer, publisher::Publisher};
use linklet_reconcile::{Reconciler, Report};
use linklet_test_support::{FakeQueues, LinkBuilder, Outage, TestDynamoDb, event_batch, queue_batch};
use linklet_user_agents::Classifier;
use serde_json::{Value, json};

use crate::fixture::{analytics, correlation, visitor};

const DAY: Duration = Duration::from_secs(86_400);

struct Fixture {
    db: TestDynamoDb,
    queues: FakeQueues,
    code: ShortCode,
}

impl Fixture {
    /// A link whose clicks, some each day, are stored and counted.
    async fn counted(per_day: usize, days: u32) -> Self {
        let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
        db.store(&LinkBuilder::new("launch").build()).await;
        let fixture = Self { db, queues, code: "launch".parse().unwrap() };
        let events = fixture.store(per_day, days).await;
        fixture.count(&events).await;
        fixture
    }

    /// Stores raw clicks and returns their events.
    async fn store(&self, per_day: usize, days: u32) -> Vec<Event> {
        let record = self.db.links().redirect_target(&self.code).await.unwrap();
        let Some(Record::Link(link)) = record else { panic!("{record:?}") };
        let mut events = Vec::new();
        for (number, ago) in (0..days).flat_map(|ago| (0..per_day).map(move |number| (number, ago))) {
            let at = Timestamp::now().minus(DAY * ago);
            let visitor = visitor().with_headers(Some("curl/8"), Some("https://news.example/"));
            let mut click = linklet_domain::Click::on(&link, at, visitor, correlation());
            // As if it had been made at that time.
            let random = click.id.as_str()[18..].to_owned();
            let prefix = linklet_domain::EventId::first_at(at);
            click.id = format!("{}{random}", &prefix.as_str()[..18]).parse().unwrap();
            assert!(number < per_day);
            self.db.clicks().record(&click).await.unwrap();
            events.push(click.into_event());
        }
        events
    }

    async fn count(&self, events: &[Event]) {
        for batch in events.chunks(500) {
            let answer = analytics(&self.db, &self.queues).consume(event_batch(batch)).await;
            assert!(answer.batch_item_failures.is_empty());
        }
    }

    /// What was sent to the queue reaches its consumer.
    async fn deliver(&self) {
        let sent = self.queues.bodies("analytics");
        let answer = analytics(&self.db, &self.queues).consume(queue_batch(&sent)).await;
        assert!(answer.batch_item_failures.is_empty());
    }

    fn reconciler(&self) -> Reconciler {
        Reconciler {
            stats: self.db.stats(),
            clicks: self.db.clicks(),
            classifier: Classifier::load().unwrap(),
            queue: Publisher::new(self.queues.client(), self.queues.url("analytics")),
        }
    }

    async fn report(&self) -> Report {
        self.reconciler().report(&self.code, Timestamp::now()).await.unwrap()
    }

    async fn repair(&self) -> Report {
        self.reconciler().repair(&self.code, Timestamp::now()).await.unwrap()
    }

    /// All numbers, but for how often they were corrected.
    async fn stats(&self) -> LinkStats {
        let mut stats = self.db.stats().life(&self.code).await.unwrap().stats;
        stats.totals.corrections = 0;
        stats
    }

    /// The row under this sort key.
    fn row(&self, sort_key: &str) -> Value {
        let rows = self.db.scan("StatsTable");
        rows.into_iter().find(|row| row["sk"]["S"].as_str().unwrap().starts_with(sort_key)).unwrap()
    }

    /// Changes a row as no code of ours would.
    fn damage(&self, sort_key: &str, attribute: &str, value: Value) {
        let mut row = self.row(sort_key);
        row[attribute] = value;
        self.db.put("StatsTable", &row);
    }

    /// Replaces the counts of one dimension.
    fn damage_breakdown(&self, sort_key: &str, dimension: Dimension, counts: Value) {
        let mut breakdowns = self.row(sort_key)["breakdowns"].clone();
        breakdowns["M"][dimension.name()] = counts;
        self.damage(sort_key, "breakdowns", breakdowns);
    }

    fn milestones(&self) -> usize {
        let records = self.db.stream("StatsTable").records;
        records.iter().filter(|record| matches!(change_of(record).unwrap(), Change::Event(_))).count()
    }
}

#[tokio::test]
async fn a_link_that_is_counted_well_has_nothing_to_repair() {
    let fixture = Fixture::counted(4, 45).await;
    let before = fixture.db.scan("StatsTable");

    let report = fixture.repair().await;

    assert!(report.is_clean(), "{report}");
    assert_eq!((report.total_clicks, report.recounted), (180, 180));
    assert_eq!(fixture.db.scan("StatsTable"), before);
}

#[tokio::test]
async fn lost_clicks_are_found_and_counted_once() {
    let fixture = Fixture::counted(5, 3).await;
    let lost = fixture.store(2, 3).await;

    let report = fixture.report().await;
    assert_eq!(report.uncounted.len(), 6);
    assert!(report.days.is_empty(), "what is not counted yet is no wrong number: {report}");
    assert_eq!(fixture.queues.bodies("analytics").len(), 0);

    fixture.repair().await;
    // They were not lost, only late: the message comes after all.
    fixture.count(&lost).await;
    fixture.deliver().await;

    assert_eq!(fixture.stats().await.totals.total_clicks, 21);
    assert!(fixture.report().await.is_clean());
}

#[tokio::test]
async fn many_lost_clicks_are_sent_as_many_as_a_call_takes_at_a_time() {
    let fixture = Fixture::counted(1, 1).await;
    fixture.store(25, 1).await;

    fixture.repair().await;
    fixture.deliver().await;

    assert_eq!(fixture.stats().await.totals.total_clicks, 26);
}

#[tokio::test]
async fn numbers_whose_ids_are_lost_are_counted_anew() {
    let fixture = Fixture::counted(5, 2).await;
    for row in fixture.db.scan("StatsTable") {
        if row["pk"]["S"].as_str().unwrap().starts_with("SEEN#") {
            fixture.db.remove("StatsTable", &row);
        }
    }

    fixture.repair().await;
    fixture.deliver().await;

    assert_eq!(fixture.stats().await.totals.total_clicks, 10);
    assert!(fixture.report().await.is_clean());
}

#[tokio::test]
async fn numbers_whose_raw_clicks_are_lost_stay_as_they_are() {
    let fixture = Fixture::counted(5, 3).await;
    let yesterday = Timestamp::now().minus(DAY).day();
    for click in fixture.db.scan("ClicksTable") {
        if click["clicked_at"]["S"].as_str().unwrap().starts_with(&yesterday.to_string()) {
            fixture.db.remove("ClicksTable", &click);
        }
    }

    let report = fixture.repair().await;

    assert_eq!(report.without_clicks, [yesterday]);
    assert!(report.is_clean());
    assert_eq!(fixture.stats().await.totals.total_clicks, 15);
}

#[tokio::test]
async fn whoever_read_before_a_correction_does_not_take_it_back() {
    let fixture = Fixture::counted(5, 1).await;
    fixture.damage_breakdown("DAY#", Dimension::Device, json!({"M": {"mobile": {"N": "5"}}}));
    let (late, now) = (linklet_domain::EventId::generate(), Timestamp::now());
    let before = fixture.db.stats().load(&fixture.code, &[(late.clone(), now.day())]).await.unwrap();

    fixture.repair().await;
    let mut after = before.stats().clone();
    crate::fixture::add_click(&mut after, now);
    let counting = linklet_dynamodb::Counting {
        code: &fixture.code,
        workspace: &linklet_domain::WorkspaceId::generate(),
        before: &before,
        after: &after,
        events: &[late],
        milestones: &[],
        now,
    };
    let outcome = fixture.db.stats().commit(&counting).await.unwrap();

    assert_eq!(outcome, linklet_dynamodb::CommitOutcome::Contended);
}

#[tokio::test]
async fn wrong_numbers_are_replaced_with_what_the_clicks_say() {
    let fixture = Fixture::counted(5, 40).await;
    let right = fixture.stats().await;
    let today = format!("DAY#{}", Timestamp::now().day());
    fixture.damage(&today, "total_clicks", json!({"N": "7"}));
    fixture.damage("TOTAL", "total_clicks", json!({"N": "999"}));

    let report = fixture.report().await;
    assert_eq!(report.days, [(Timestamp::now().day(), 7, 5)]);
    assert_eq!((report.total_clicks, report.recounted), (999, 200));

    fixture.repair().await;

    assert_eq!(fixture.stats().await, right);
    assert!(fixture.report().await.is_clean());
}

#[tokio::test]
async fn each_wrong_part_of_a_day_is_noticed() {
    let fixture = Fixture::counted(5, 1).await;
    let right = fixture.stats().await;
    let wrong = [("human_clicks", json!({"N": "5"})), ("hours", json!({"L": vec![json!({"N": "0"}); 24]}))];
    for (attribute, value) in wrong {
        fixture.damage("DAY#", attribute, value);

        assert_eq!(fixture.report().await.days.len(), 1, "{attribute}");
        fixture.repair().await;

        assert_eq!(fixture.stats().await, right, "{attribute}");
    }
    for dimension in Dimension::ALL {
        fixture.damage_breakdown("DAY#", dimension, json!({"M": {"something else": {"N": "5"}}}));

        assert_eq!(fixture.report().await.days.len(), 1, "{dimension:?}");
        fixture.repair().await;

        assert_eq!(fixture.stats().await, right, "{dimension:?}");
    }
}

#[tokio::test]
async fn rows_that_are_gone_are_made_again() {
    let fixture = Fixture::counted(6, 100).await;
    let right = fixture.stats().await;
    for row in fixture.db.scan("StatsTable") {
        let sort_key = row["sk"]["S"].as_str().unwrap();
        if sort_key == "TOTAL" || sort_key == "PAST" || sort_key.starts_with("DAY#") {
            fixture.db.remove("StatsTable", &row);
        }
    }

    let report = fixture.repair().await;

    assert_eq!((report.total_clicks, report.recounted, report.days.len()), (0, 600, 100));
    let repaired = fixture.stats().await;
    assert_eq!(repaired.days, right.days);
    assert_eq!(repaired.whole_life().clicks, 600);
    assert_eq!(repaired.totals.last_click_at, right.totals.last_click_at);
    assert!(fixture.report().await.is_clean());
}

#[tokio::test]
async fn rows_of_an_older_form_are_read_and_completed() {
    let fixture = Fixture::counted(5, 2).await;
    let right = fixture.stats().await;
    for mut row in fixture.db.scan("StatsTable") {
        let known = ["pk", "sk", "total_clicks", "hours", "last_click_at", "by_workspace_pk", "by_workspace_sk"];
        if row["pk"]["S"].as_str().unwrap().starts_with("STATS#") && row.get("milestone").is_none() {
            row.as_object_mut().unwrap().retain(|name, _| known.contains(&name.as_str()));
            fixture.db.put("StatsTable", &row);
        }
    }
    assert_eq!(fixture.stats().await.totals.total_clicks, 10);

    fixture.repair().await;

    let repaired = fixture.stats().await;
    assert_eq!((repaired.whole_life(), repaired.days), (right.whole_life(), right.days));
}

#[tokio::test]
async fn days_before_the_raw_clicks_stay_as_they_are() {
    let fixture = Fixture::counted(3, 2).await;
    let long_ago = Timestamp::now().minus(DAY * 500);
    let old = linklet_test_support::click_event("launch", long_ago);
    fixture.count(&[old]).await;

    let report = fixture.repair().await;

    assert!(report.is_clean(), "{report}");
    assert_eq!(fixture.stats().await.totals.total_clicks, 7);
}

#[tokio::test]
async fn a_correction_upwards_reaches_its_milestone_and_one_downwards_none_twice() {
    let fixture = Fixture::counted(12, 1).await;
    assert_eq!(fixture.milestones(), 1);
    let day = fixture.row("DAY#");
    fixture.damage("TOTAL", "total_clicks", json!({"N": "9"}));
    fixture.damage("DAY#", "total_clicks", json!({"N": "9"}));

    // From nine, whoever counts next passes ten again.
    fixture.count(&[linklet_test_support::click_event("launch", Timestamp::now())]).await;
    assert_eq!(fixture.milestones(), 1);

    fixture.db.put("StatsTable", &day);
    fixture.db.remove("StatsTable", &fixture.row("MILESTONE#"));
    fixture.repair().await;
    assert_eq!(fixture.milestones(), 2, "the one whose row was lost");
}

#[tokio::test]
async fn a_purged_link_stays_purged() {
    let fixture = Fixture::counted(3, 2).await;
    fixture.db.stats().purge(&fixture.code, Timestamp::now()).await.unwrap();

    let report = fixture.repair().await;

    assert!(report.is_purged);
    assert_eq!(report.to_string(), "The link was purged: nothing is counted for it.");
    assert_eq!(fixture.stats().await, LinkStats::default());
}

#[tokio::test]
async fn a_queue_that_is_down_is_said_and_repeating_helps() {
    let fixture = Fixture::counted(3, 1).await;
    fixture.store(4, 1).await;
    fixture.queues.fail(Outage::Everything);
    let failed = fixture.reconciler().repair(&fixture.code, Timestamp::now()).await;
    assert_eq!(failed.unwrap_err().to_string(), "4 clicks could not be sent to the queue; do it again");

    let working = Fixture { queues: FakeQueues::start(), ..fixture };
    working.repair().await;
    working.deliver().await;

    assert_eq!(working.stats().await.totals.total_clicks, 7);
}

#[tokio::test]
async fn a_report_names_days_and_numbers() {
    let fixture = Fixture::counted(3, 2).await;
    fixture.store(1, 1).await;
    let (today, yesterday) = (Timestamp::now().day(), Timestamp::now().minus(DAY).day());
    fixture.damage(&format!("DAY#{yesterday}"), "total_clicks", json!({"N": "4"}));

    let lines: BTreeSet<String> = fixture.report().await.to_string().lines().map(str::to_owned).collect();

    assert!(lines.contains(&format!("Compared with the raw clicks from {yesterday} on.")), "{lines:?} {today}");
    assert!(
        lines.contains(&format!("{yesterday}: 4 clicks are counted, and 3 should be; or their parts differ.")),
        "{lines:?}"
    );
    assert!(lines.contains("Total: 6 counted, 6 recounted."), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("1 clicks are not counted, or not yet")), "{lines:?}");
}
