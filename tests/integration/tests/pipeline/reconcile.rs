//! Recounting a link from its raw clicks, and putting right what differs.

use std::{collections::BTreeSet, time::Duration};

use linklet_domain::{ClickId, Dimension, Event, LinkIdentity, LinkStats, Record, Spread, Timestamp, Totals};
use linklet_dynamodb::{DayOutcome, DayWork, Life, Milestone, StatsTable, stream::change_of};
use linklet_operate::{Operate, OperateError, Reconciler, Report};
use linklet_test_support::{
    FakeQueues, Fault, Faults, LinkBuilder, Outage, TestDynamoDb, click_event, event_batch, in_role_of, queue_batch,
    some_workspace,
};
use serde_json::{Value, json};

use crate::fixture::{analytics, classified, correlation, operate, redeliver, visitor};

const DAY: Duration = Duration::from_secs(86_400);

struct Fixture {
    db: TestDynamoDb,
    queues: FakeQueues,
    link: LinkIdentity,
}

impl Fixture {
    /// A link whose clicks, some each day, are stored and counted.
    async fn counted(per_day: usize, days: u32) -> Self {
        let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
        let link = LinkBuilder::new("launch").in_workspace(&some_workspace()).build();
        db.store(&link).await;
        let fixture = Self { db, queues, link: link.identity };
        let events = fixture.store(per_day, days).await;
        fixture.count(&events).await;
        fixture
    }

    /// Stores raw clicks and returns their events.
    async fn store(&self, per_day: usize, days: u32) -> Vec<Event> {
        self.store_spread(Spread::Narrow, per_day, days).await
    }

    async fn store_spread(&self, spread: Spread, per_day: usize, days: u32) -> Vec<Event> {
        let record = self.db.links().redirect_target(&self.link.id.code).await.unwrap();
        let Some(Record::Link(link)) = record else { panic!("{record:?}") };
        let mut events = Vec::new();
        for (number, ago) in (0..days).flat_map(|ago| (0..per_day as u64).map(move |number| (number, ago))) {
            let at = Timestamp::now().minus(DAY * ago);
            let visitor = visitor().with_headers(Some("curl/8"), Some("https://news.example/"));
            let click =
                linklet_domain::Click::on(&link, at.plus(Duration::from_millis(number)), visitor, correlation());
            self.db.clicks().record(&click, spread).await.unwrap();
            events.push(click.into_event());
        }
        events
    }

    async fn count(&self, events: &[Event]) {
        for batch in events.chunks(500) {
            redeliver(&analytics(&self.db, &self.queues), event_batch(batch)).await;
        }
    }

    /// What was sent to the queue reaches its consumer.
    async fn deliver(&self) {
        let sent = self.queues.bodies("analytics");
        redeliver(&analytics(&self.db, &self.queues), queue_batch(&sent)).await;
    }

    async fn report(&self) -> Report {
        let reconciler = operate(&self.db, &self.queues).reconciler;
        in_role_of::<Reconciler, _>(reconciler.report(&self.link, Timestamp::now())).await.unwrap()
    }

    async fn repair(&self) -> Report {
        self.try_repair().await.unwrap()
    }

    async fn try_repair(&self) -> Result<Report, OperateError> {
        let reconciler = operate(&self.db, &self.queues).reconciler;
        in_role_of::<Reconciler, _>(reconciler.repair(&self.link, Timestamp::now())).await
    }

    /// What an operator's command is answered.
    async fn answer(&self, command: &Value) -> Value {
        let operate = operate(&self.db, &self.queues);
        let order = json!({"operator": "arn:aws:iam::123456789012:user/ada", "command": command});
        serde_json::to_value(in_role_of::<Operate, _>(operate.answer(order)).await.unwrap()).unwrap()
    }

    async fn life(&self) -> Life {
        self.db.stats().life(&self.link.workspace, &self.link.id).await.unwrap()
    }

    /// All numbers, without what tells which clicks were counted and how often they were written.
    async fn stats(&self) -> (LinkStats, Totals) {
        let life = self.life().await;
        (LinkStats { days: life.numbers(), past: life.past }, Totals { epoch: 0, ..life.totals })
    }

    async fn total_clicks(&self) -> u64 {
        let (stats, totals) = self.stats().await;
        assert_eq!(stats.whole_life().clicks, totals.total_clicks());
        totals.total_clicks()
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
        records.iter().flat_map(|record| change_of(record).unwrap().into_events()).count()
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
async fn wide_clicks_of_a_hot_link_are_recounted_like_others() {
    let fixture = Fixture::counted(5, 4).await;
    fixture.db.clicks().widen(&fixture.link.id, Timestamp::now().plus(DAY)).await.unwrap();
    let wide = fixture.store_spread(Spread::Wide, 40, 6).await;
    fixture.count(&wide[..100]).await;

    let found = fixture.repair().await;
    fixture.deliver().await;

    let ids = |events: &[Event]| events.iter().map(|event| event.event_id.to_string()).collect::<BTreeSet<_>>();
    let uncounted: Vec<Event> = found.uncounted.into_iter().map(linklet_domain::Click::into_event).collect();
    assert_eq!(ids(&uncounted), ids(&wide[100..]));
    assert_eq!((found.from, found.days), (Some(wide.last().unwrap().occurred_at.day()), vec![]));
    assert_eq!(fixture.total_clicks().await, 260);
    assert!(fixture.report().await.is_clean());
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

    assert_eq!(fixture.total_clicks().await, 21);
    assert!(fixture.report().await.is_clean());
}

#[tokio::test]
async fn numbers_whose_ids_are_lost_are_counted_anew() {
    let fixture = Fixture::counted(5, 2).await;
    for mut row in fixture.db.scan("StatsTable") {
        if row.as_object_mut().unwrap().remove("ids").is_some() {
            fixture.db.put("StatsTable", &row);
        }
    }

    fixture.repair().await;
    fixture.deliver().await;

    assert_eq!(fixture.total_clicks().await, 10);
    assert!(fixture.report().await.is_clean());
}

#[tokio::test]
async fn numbers_whose_raw_clicks_are_lost_stay_as_they_are() {
    let fixture = Fixture::counted(5, 3).await;
    let yesterday = Timestamp::now().minus(DAY).day();
    for click in fixture.db.scan("ClicksTable") {
        if ClickId::parse(click["sk"]["S"].as_str().unwrap()).unwrap().at().day() == yesterday {
            fixture.db.remove("ClicksTable", &click);
        }
    }

    let report = fixture.repair().await;

    assert_eq!(report.without_clicks, [yesterday]);
    assert!(report.is_clean());
    assert_eq!(fixture.total_clicks().await, 15);
}

#[tokio::test]
async fn whoever_read_before_a_correction_does_not_take_it_back() {
    let fixture = Fixture::counted(5, 1).await;
    fixture.damage("DAY#", "total_clicks", json!({"N": "9"}));
    let now = Timestamp::now();
    let click = classified(&click_event("launch", now));
    let (clicks, LinkIdentity { id, workspace, .. }) = ([&click], &fixture.link);
    let work = DayWork { link: id, workspace, slice: now.day().into(), clicks: &clicks };
    let before = fixture.db.stats().load(&[work]).await.unwrap().remove(0);

    fixture.repair().await;
    let outcome = fixture.db.stats().count(&work, before, now).await.unwrap();

    assert_eq!(outcome, DayOutcome::Contended { fresh: 0 });
    assert_eq!(fixture.total_clicks().await, 5);
}

#[tokio::test]
async fn a_count_begun_before_a_correction_does_not_raise_the_corrected_total() {
    let fixture = Fixture::counted(5, 1).await;
    let (now, faults) = (Timestamp::now(), Faults::default());
    let late = StatsTable::new(fixture.db.table_with(faults.clone(), "StatsTable"));
    let click = fixture.store(1, 1).await.remove(0);
    fixture.damage("DAY#", "total_clicks", json!({"N": "9"}));
    let classified = classified(&click);
    let (clicks, LinkIdentity { id, workspace, .. }) = ([&classified], &fixture.link);
    let work = DayWork { link: id, workspace, slice: now.day().into(), clicks: &clicks };
    let before = late.load(&[work]).await.unwrap().remove(0);
    // It counts on the wrong day, makes ten of its nine, and dies before it tells the total.
    faults.plan(Some((1, Fault::NotSent)));
    assert!(late.count(&work, before, now).await.is_err());
    faults.plan(None);

    fixture.repair().await;
    fixture.count(&[click]).await;

    assert_eq!(fixture.total_clicks().await, 6);
    assert!(fixture.report().await.is_clean());
}

#[tokio::test]
async fn wrong_numbers_are_replaced_with_what_the_clicks_say() {
    let fixture = Fixture::counted(5, 40).await;
    let right = fixture.stats().await;
    let today = format!("DAY#{}", Timestamp::now().day());
    fixture.damage(&today, "total_clicks", json!({"N": "7"}));
    fixture.damage("TOTAL#", "past_clicks", json!({"N": "999"}));

    let report = fixture.report().await;
    assert_eq!(report.days, [(Timestamp::now().day(), 7, 5)]);
    assert_eq!(report.recounted, 200);
    assert_ne!(report.total_clicks, 200);

    fixture.repair().await;

    assert_eq!(fixture.stats().await, right);
    assert!(fixture.report().await.is_clean());
}

#[tokio::test]
async fn each_wrong_part_of_a_day_is_noticed() {
    let fixture = Fixture::counted(5, 1).await;
    let right = fixture.stats().await;
    let wrong = [("human_clicks", json!({"N": "5"})), ("hours", json!({"B": "A".repeat(64)}))];
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
        if sort_key.starts_with("TOTAL#") || sort_key == "PAST" || sort_key.starts_with("DAY#") {
            fixture.db.remove("StatsTable", &row);
        }
    }

    let report = fixture.repair().await;

    // Of recent days the ids are lost as well, so their clicks have to be counted again.
    assert_eq!((report.total_clicks, report.recounted + report.uncounted.len() as u64), (0, 600));
    fixture.deliver().await;
    let (repaired, _) = fixture.stats().await;
    assert_eq!(repaired.days, right.0.days);
    assert_eq!(fixture.total_clicks().await, 600);
    assert!(fixture.report().await.is_clean());
}

#[tokio::test]
async fn days_before_the_raw_clicks_stay_as_they_are() {
    let fixture = Fixture::counted(3, 2).await;
    let long_ago = Timestamp::now().minus(DAY * 500);
    let old = click_event("launch", long_ago);
    fixture.count(&[old]).await;

    let report = fixture.repair().await;

    assert!(report.is_clean(), "{report}");
    assert_eq!(fixture.total_clicks().await, 7);
}

#[tokio::test]
async fn a_total_that_does_not_follow_from_its_days_is_put_right() {
    let fixture = Fixture::counted(5, 40).await;
    let right = fixture.stats().await;
    let today = Timestamp::now().day().to_string();
    let wrong = [
        ("past_clicks", json!({"N": "77"})),
        (today.as_str(), json!({"L": [{"N": "77"}, {"N": "7"}]})),
        // Of the day before the end of the past: 7 clicks, 5 by people.
        ("history", json!({"B": "AQcF"})),
        ("last_click", json!({"N": "1"})),
    ];
    for (attribute, value) in wrong {
        fixture.damage("TOTAL#", attribute, value);

        let report = fixture.report().await;
        assert!(report.totals_differ && report.days.is_empty(), "{attribute}: {report}");
        fixture.repair().await;

        assert_eq!(fixture.stats().await, right, "{attribute}");
        assert!(fixture.report().await.is_clean(), "{attribute}");
    }
}

#[tokio::test]
async fn a_correction_does_not_move_the_last_click_back() {
    let fixture = Fixture::counted(5, 3).await;
    let last_click = fixture.life().await.totals.last_click.unwrap();
    // Ids begin with the time.
    let clicks = fixture.db.scan("ClicksTable");
    let latest = clicks.iter().max_by_key(|click| click["sk"]["S"].as_str().unwrap()).unwrap();
    fixture.db.remove("ClicksTable", latest);

    let report = fixture.repair().await;

    assert_eq!(report.days, [(last_click.day(), 5, 4)]);
    let (stats, totals) = fixture.stats().await;
    assert_eq!((totals.total_clicks(), totals.last_click), (14, Some(last_click)));
    assert_eq!(stats.summary(Timestamp::now()).last_click_at, Some(last_click));
    assert!(fixture.report().await.is_clean());
}

#[tokio::test]
async fn a_correction_upwards_reaches_its_milestone_and_one_downwards_none_twice() {
    let fixture = Fixture::counted(12, 1).await;
    assert_eq!(fixture.milestones(), 1);
    let (day, today) = (fixture.row("DAY#"), Timestamp::now().day().to_string());
    fixture.damage("TOTAL#", &today, json!({"L": [{"N": "9"}, {"N": "0"}]}));
    fixture.damage("DAY#", "total_clicks", json!({"N": "9"}));

    // From nine, whoever counts next passes ten again.
    fixture.count(&[click_event("launch", Timestamp::now())]).await;
    assert_eq!(fixture.milestones(), 1);

    fixture.db.put("StatsTable", &day);
    fixture.db.remove("StatsTable", &fixture.row("MILESTONE#"));
    fixture.store(1, 1).await;
    fixture.damage("TOTAL#", &today, json!({"L": [{"N": "11"}, {"N": "0"}]}));
    fixture.repair().await;
    assert_eq!(fixture.milestones(), 2, "the one whose row was lost");
}

#[tokio::test]
async fn a_purged_link_stays_purged() {
    let fixture = Fixture::counted(3, 2).await;
    fixture.db.stats().purge(&fixture.link.workspace, &fixture.link.id, Timestamp::now()).await.unwrap();

    let report = fixture.repair().await;

    assert!(report.is_purged);
    assert_eq!(report.to_string(), "The link was purged: nothing is counted for it.");
    assert_eq!(fixture.stats().await, Default::default());
}

#[tokio::test]
async fn a_purged_link_is_named_whatever_statistics_say() {
    let fixture = Fixture::counted(3, 2).await;
    let before = fixture.db.scan("StatsTable");
    let record = fixture.db.links().find(&fixture.link.id.code).await.unwrap().unwrap();
    fixture.db.purge(&record).await;

    for repair in [false, true] {
        let answer = fixture.answer(&json!({"reconcile": {"code": "launch", "repair": repair}})).await;

        let text = "The link was purged: nothing is counted for it.";
        assert_eq!(answer, json!({"text": text, "needs_repair": false}));
    }
    assert_eq!(fixture.db.scan("StatsTable"), before);
}

#[tokio::test]
async fn links_of_one_workspace_are_listed_page_by_page() {
    let fixture = Fixture::counted(1, 1).await;
    let workspace = fixture.db.register("ada").await.workspace;
    let oldest_first = |number: u64| {
        let at = Timestamp::now().plus(Duration::from_secs(number));
        LinkBuilder::new(&format!("more-{number:03}")).in_workspace(&workspace).created_at(at).build()
    };
    let links: Vec<_> = (0..502).map(oldest_first).collect();
    fixture.db.store_all(&links).await;

    let list = async |after: &Value| fixture.answer(&json!({"links": {"workspace": "ada", "after": after}})).await;
    let first = list(&Value::Null).await;
    let second = list(&first["next"]).await;

    let codes = [&first, &second].map(|page| page["codes"].as_array().unwrap().as_slice()).concat();
    assert_eq!(codes, links.iter().map(|link| link.code().as_str()).collect::<Vec<_>>());
    assert_eq!(second["next"], Value::Null);
    assert!(list(&json!("launch")).await["refusal"].is_string());
}

#[tokio::test]
async fn a_purge_between_correction_and_milestones_leaves_no_milestone() {
    let fixture = Fixture::counted(3, 1).await;
    let (LinkIdentity { id, workspace, .. }, now) = (&fixture.link, Timestamp::now());
    let milestone = Milestone::reached_by(&classified(&click_event("launch", now)).click, 10, 10);
    fixture.db.stats().purge(workspace, id, now).await.unwrap();

    in_role_of::<Reconciler, _>(fixture.db.stats().write_milestones(&[milestone])).await.unwrap();

    let left = fixture.db.scan("StatsTable");
    assert!(left.iter().all(|row| row["sk"]["S"].as_str().unwrap().starts_with("TOTAL#")), "{left:?}");
}

#[tokio::test]
async fn a_queue_that_is_down_is_said_and_repeating_helps() {
    let fixture = Fixture::counted(3, 1).await;
    fixture.store(4, 1).await;
    fixture.queues.fail(Outage::Everything);
    assert_eq!(
        fixture.try_repair().await.unwrap_err().to_string(),
        "4 clicks could not be sent to the queue; do it again"
    );

    let working = Fixture { queues: FakeQueues::start(), ..fixture };
    working.repair().await;
    working.deliver().await;

    assert_eq!(working.total_clicks().await, 7);
}

#[tokio::test]
async fn a_report_names_days_and_numbers() {
    let fixture = Fixture::counted(3, 2).await;
    fixture.store(1, 1).await;
    let (today, yesterday) = (Timestamp::now().day(), Timestamp::now().minus(DAY).day());
    fixture.damage(&format!("DAY#{yesterday}"), "total_clicks", json!({"N": "4"}));

    let lines: BTreeSet<String> = fixture.report().await.to_string().lines().map(str::to_owned).collect();

    assert!(lines.contains(&format!("Compared with the raw clicks from {yesterday} on.")), "{lines:?} {today}");
    let differing = format!("{yesterday}: 4 clicks are counted, and 3 should be; or their parts differ.");
    assert!(lines.contains(&differing), "{lines:?}");
    assert!(lines.contains("Total: 6 counted, 6 recounted."), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("1 clicks are not counted, or not yet")), "{lines:?}");
}
