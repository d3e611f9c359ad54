use std::{collections::BTreeMap, time::Duration};

use linklet_domain::{
    AudienceGroup, ClickCount, ClickId, Day, DaySlice, Dimension, Event, LinkClicks, LinkId, LinkStats, Part,
    Timestamp, WorkspaceId,
};
use linklet_dynamodb::{
    ClassifiedClick, CommitOutcome, Correction, DayOutcome, DayWork, Life, Loaded, RepositoryError, StatsTable,
};
use linklet_lambda::batch::Consumer;
use linklet_test_support::{
    CapacityMeter, ClickBuilder, FakeQueues, Fault, Faults, TestDynamoDb, click_event, event_batch, link_id,
    some_workspace,
};
use serde_json::{Value, json};

use crate::fixture::{analytics, classified};

fn days_ago(days: u64) -> Timestamp {
    Timestamp::now().minus(Duration::from_secs(days * 86_400))
}

fn clicks(count: u64, at: Timestamp) -> Vec<Event> {
    (0..count).map(|number| click_event("launch", at.plus(Duration::from_millis(number)))).collect()
}

/// A link's clicks of one day, as a consumer has them.
struct Clicks {
    link: LinkId,
    workspace: WorkspaceId,
    clicks: Vec<ClassifiedClick>,
    part: Option<Part>,
}

impl Clicks {
    fn of(events: &[Event]) -> Self {
        let clicks = events.iter().map(classified).collect();
        Self { link: link_id("launch"), workspace: some_workspace(), clicks, part: None }
    }

    fn of_part(part: Part, events: &[Event]) -> Self {
        Self { part: Some(part), ..Self::of(events) }
    }

    fn day(&self) -> Day {
        self.clicks[0].click.clicked_at().day()
    }

    fn work<'c>(&'c self, clicks: &'c [&'c ClassifiedClick]) -> DayWork<'c> {
        let slice = DaySlice { day: self.day(), part: self.part };
        DayWork { link: &self.link, workspace: &self.workspace, slice, clicks }
    }

    async fn load(&self, table: &StatsTable) -> Loaded {
        table.load(&[self.work(&self.clicks.iter().collect::<Vec<_>>())]).await.unwrap().remove(0)
    }

    async fn count_on(&self, table: &StatsTable, before: Loaded) -> DayOutcome {
        self.count_at(table, before, Timestamp::now()).await.unwrap()
    }

    async fn count_at(&self, table: &StatsTable, before: Loaded, at: Timestamp) -> Result<DayOutcome, RepositoryError> {
        table.count(&self.work(&self.clicks.iter().collect::<Vec<_>>()), before, at).await
    }

    /// Counts them with a table that fails behind so many writes.
    async fn count_dying(&self, table: &StatsTable, faults: &Faults, writes: usize, at: Timestamp) {
        let before = self.load(table).await;
        faults.plan(Some((writes, Fault::NotSent)));
        let _ = self.count_at(table, before, at).await;
        faults.plan(None);
    }

    /// Counts them, and returns how many were not counted before, and the link's total.
    async fn count(&self, table: &StatsTable) -> (usize, u64) {
        match self.count_on(table, self.load(table).await).await {
            DayOutcome::Counted { fresh, totals } => (fresh, totals.total_clicks()),
            other => panic!("{other:?}"),
        }
    }
}

/// What lists know of the link.
async fn listed(table: &StatsTable) -> LinkClicks {
    let totals = table.totals_of_workspace(&some_workspace()).await.unwrap().unwrap();
    assert_eq!(totals.keys().collect::<Vec<_>>(), [&link_id("launch")]);
    totals[&link_id("launch")]
}

async fn life(table: &StatsTable) -> LinkStats {
    table.since(&link_id("launch"), Timestamp::EPOCH.day()).await.unwrap()
}

/// Recent days are counted by one write, and others in a transaction: all that follows must hold for both.
const AGES: [u64; 4] = [0, 1, 2, 60];

#[tokio::test]
async fn what_was_counted_is_read() {
    for age in AGES {
        let (table, events) = (TestDynamoDb::start().stats(), clicks(2, days_ago(age)));

        assert_eq!(Clicks::of(&events).count(&table).await, (2, 2));

        let stats = life(&table).await;
        let life = stats.whole_life();
        assert_eq!((life.clicks, life.visitors.estimate()), (2, 1));
        assert_eq!(life.by(Dimension::Referer, AudienceGroup::Human).ranked(), [("https://news.example/", 2)]);
        assert_eq!(stats.days[&events[0].occurred_at.day()].hours.iter().map(|hour| hour.clicks).sum::<u64>(), 2);
        assert_eq!(stats.summary(Timestamp::now()).last_click_at, Some(events[1].occurred_at));
        let totals = table.totals(&some_workspace(), &[link_id("launch"), link_id("other")]).await.unwrap();
        let clicks = LinkClicks { total: 2, last: Some(events[1].occurred_at) };
        assert_eq!(totals, [(link_id("launch"), clicks)].into());
    }
}

#[tokio::test]
async fn a_counted_click_is_known_and_its_neighbours_are_not() {
    for age in AGES {
        let (table, events) = (TestDynamoDb::start().stats(), clicks(6, days_ago(age)));
        Clicks::of(&events[..3]).count(&table).await;

        assert_eq!(Clicks::of(&events).count(&table).await, (3, 6), "{age} days ago");
        assert_eq!(Clicks::of(&events).count(&table).await, (0, 6), "{age} days ago");
    }
}

#[tokio::test]
async fn a_click_is_known_however_many_were_counted_after_it() {
    for age in [0, 60] {
        let table = TestDynamoDb::start().stats();
        let noon = days_ago(age).day().at_hour(12);
        // Close together and far apart, some of them so many that they go to narrower slots.
        let moments = |number: u64| noon.plus(Duration::from_millis(number * if number < 3_000 { 1 } else { 500 }));
        let events: Vec<_> = (0..6_000).map(|number| click_event("launch", moments(number))).collect();
        for batch in events.chunks(500) {
            Clicks::of(batch).count(&table).await;
        }

        for place in [0, 1, 499, 500, 2_999, 3_001, 4_095, 4_096, 4_600, 5_499, 5_500, 5_999] {
            let again = std::slice::from_ref(&events[place]);
            assert_eq!(Clicks::of(again).count(&table).await, (0, 6_000), "{place}");
        }
    }
}

#[tokio::test]
async fn a_day_that_has_changed_since_it_was_read_is_not_overwritten() {
    for age in AGES {
        let table = TestDynamoDb::start().stats();
        let (one, other) = (Clicks::of(&clicks(1, days_ago(age))), Clicks::of(&clicks(1, days_ago(age))));
        let before = one.load(&table).await;
        other.count(&table).await;

        assert_eq!(one.count_on(&table, before).await, DayOutcome::Contended { fresh: 0 }, "{age} days ago");
        let before = one.load(&table).await;
        assert_eq!(one.count(&table).await, (1, 2), "{age} days ago");
        assert_eq!(one.count_on(&table, before).await, DayOutcome::Contended { fresh: 0 }, "counted meanwhile");
        assert_eq!(one.count(&table).await, (0, 2), "{age} days ago");
    }
}

#[tokio::test]
async fn a_consumer_dying_between_writes_leaves_what_the_next_one_repairs() {
    for age in AGES {
        for next_comes_with_its_own_click in [false, true] {
            let (table, faults): (_, Faults) = TestDynamoDb::start().through(StatsTable::new, "StatsTable");
            let events = clicks(10, days_ago(age));
            let nine = Clicks::of(&events[..9]);
            // The first write is that of the day.
            nine.count_dying(&table, &faults, 1, Timestamp::now()).await;
            assert_eq!(life(&table).await.whole_life().clicks, 9, "{age} days ago");

            let next = if next_comes_with_its_own_click { &events[9..] } else { &events[..9] };
            let (fresh, total) = Clicks::of(next).count(&table).await;

            let expected = if next_comes_with_its_own_click { (1, 10) } else { (0, 9) };
            assert_eq!((fresh, total), expected, "{age} days ago");
            let last = Some(events[if next_comes_with_its_own_click { 9 } else { 8 }].occurred_at);
            assert_eq!(listed(&table).await, LinkClicks { total: expected.1, last }, "{age} days ago");
        }
    }
}

#[tokio::test]
async fn days_that_rolled_up_are_in_the_past_and_take_late_clicks() {
    let (table, link, workspace) = (TestDynamoDb::start().stats(), link_id("launch"), some_workspace());
    let (long_ago, today) = (days_ago(30), Timestamp::now().day());
    Clicks::of(&clicks(3, long_ago)).count(&table).await;
    Clicks::of(&clicks(1, days_ago(0))).count(&table).await;
    let totals = table.life(&workspace, &link).await.unwrap().totals;
    let until = totals.rolls_up_until(today).unwrap();

    assert_eq!(table.roll_up(&workspace, &link, &totals, until).await.unwrap(), CommitOutcome::Committed);
    assert_eq!(table.roll_up(&workspace, &link, &totals, until).await.unwrap(), CommitOutcome::Contended);
    assert_eq!(Clicks::of(&clicks(2, long_ago.plus(Duration::from_secs(1)))).count(&table).await, (2, 6));

    let rolled_up = table.life(&workspace, &link).await.unwrap();
    assert_eq!((rolled_up.totals.past_until, rolled_up.totals.past_clicks), (Some(until), 5));
    assert_eq!(rolled_up.past.as_ref().map(|past| past.profile.clicks), Some(5));
    assert_eq!(rolled_up.totals.open, [(today.into(), ClickCount { clicks: 1, human_clicks: 1 })].into());
    assert_eq!(rolled_up.totals.history, [(long_ago.day(), ClickCount { clicks: 5, human_clicks: 5 })].into());
    assert_eq!(life(&table).await.whole_life().clicks, 6);
    assert_eq!(life(&table).await.days[&long_ago.day()].profile.clicks, 5);
}

#[tokio::test]
async fn a_link_knows_its_last_click_after_all_its_days_rolled_up() {
    let db = TestDynamoDb::start();
    let (table, link, workspace, long_ago) = (db.stats(), link_id("launch"), some_workspace(), days_ago(300));
    let events = clicks(3, long_ago);
    Clicks::of(&events[..2]).count(&table).await;
    let roll_up = async |until: Day| {
        let totals = table.life(&workspace, &link).await.unwrap().totals;
        assert_eq!(table.roll_up(&workspace, &link, &totals, until).await.unwrap(), CommitOutcome::Committed);
        let totals = table.life(&workspace, &link).await.unwrap().totals;
        assert!(totals.open.is_empty(), "{totals:?}");
    };

    roll_up(days_ago(200).day()).await;
    let rolled_up = listed(&table).await;
    // So late that no day of the history has them.
    roll_up(days_ago(100).day()).await;
    let forgotten = listed(&table).await;
    Clicks::of(&events[2..]).count(&table).await;
    let with_a_late_one = listed(&table).await;
    Clicks::of(&clicks(1, days_ago(310))).count(&table).await;
    let with_an_earlier_one = listed(&table).await;

    assert_eq!(rolled_up, LinkClicks { total: 2, last: Some(events[1].occurred_at) });
    assert_eq!(forgotten, rolled_up);
    assert_eq!(with_a_late_one, LinkClicks { total: 3, last: Some(events[2].occurred_at) });
    assert_eq!(with_an_earlier_one, LinkClicks { total: 4, last: Some(events[2].occurred_at) });
}

#[tokio::test]
async fn rolling_up_restores_a_last_click_that_a_dead_consumer_missed() {
    let (table, faults): (_, Faults) = TestDynamoDb::start().through(StatsTable::new, "StatsTable");
    let long_ago = days_ago(30);
    let two = Clicks::of(&clicks(2, long_ago));
    // The day is written, and the total isn't.
    two.count_dying(&table, &faults, 1, long_ago).await;

    let totals = table.life(&two.workspace, &two.link).await.unwrap().totals;
    table.roll_up(&two.workspace, &two.link, &totals, days_ago(10).day()).await.unwrap();

    assert_eq!(totals.last_click, None);
    assert_eq!(listed(&table).await, LinkClicks { total: 2, last: Some(two.clicks[1].click.clicked_at()) });
}

#[tokio::test]
async fn late_or_repeated_clicks_do_not_move_the_last_click_back() {
    let table = TestDynamoDb::start().stats();
    let events = clicks(3, days_ago(0));
    Clicks::of(&events[1..2]).count(&table).await;
    let last = Some(events[1].occurred_at);

    Clicks::of(&events[..1]).count(&table).await;
    assert_eq!(listed(&table).await, LinkClicks { total: 2, last }, "an earlier click of the same day");
    for (number, age) in (3..).zip([1, 2, 60]) {
        Clicks::of(&clicks(1, days_ago(age))).count(&table).await;
        assert_eq!(listed(&table).await, LinkClicks { total: number, last }, "a click {age} days ago");
    }
    Clicks::of(&events[..2]).count(&table).await;
    assert_eq!(listed(&table).await, LinkClicks { total: 5, last }, "the same clicks again");
    Clicks::of(&events[2..]).count(&table).await;
    assert_eq!(listed(&table).await, LinkClicks { total: 6, last: Some(events[2].occurred_at) }, "a later click");
}

#[tokio::test]
async fn a_later_click_that_somebody_counts_meanwhile_stays_the_last() {
    for age in [1, 2, 60] {
        let (table, today) = (TestDynamoDb::start().stats(), clicks(1, days_ago(0)));
        let earlier = Clicks::of(&clicks(1, days_ago(age)));
        let before = earlier.load(&table).await;
        Clicks::of(&today).count(&table).await;

        let first = earlier.count_on(&table, before).await;
        assert!(matches!(first, DayOutcome::Contended { .. }), "{age} days ago: {first:?}");
        earlier.count(&table).await;

        let expected = LinkClicks { total: 2, last: Some(today[0].occurred_at) };
        assert_eq!(listed(&table).await, expected, "{age} days ago");
    }
}

#[tokio::test]
async fn a_late_click_is_not_lost_to_days_that_settle_meanwhile() {
    for settles_first in [true, false] {
        let (table, link, workspace) = (TestDynamoDb::start().stats(), link_id("launch"), some_workspace());
        Clicks::of(&clicks(3, days_ago(30))).count(&table).await;
        let late = Clicks::of(&clicks(1, days_ago(29)));
        let before = late.load(&table).await;
        let totals = table.life(&workspace, &link).await.unwrap().totals;
        let until = totals.rolls_up_until(Timestamp::now().day()).unwrap();

        if settles_first {
            assert_eq!(table.roll_up(&workspace, &link, &totals, until).await.unwrap(), CommitOutcome::Committed);
            assert_eq!(late.count_on(&table, before).await, DayOutcome::Contended { fresh: 0 });
            late.count(&table).await;
        } else {
            late.count_on(&table, before).await;
            assert_eq!(table.roll_up(&workspace, &link, &totals, until).await.unwrap(), CommitOutcome::Contended);
        }

        assert_eq!(life(&table).await.whole_life().clicks, 4);
        assert_eq!(listed(&table).await.total, 4);
    }
}

#[tokio::test]
async fn a_quiet_link_is_read_back_to_its_last_day() {
    let table = TestDynamoDb::start().stats();
    for age in [300, 290] {
        Clicks::of(&clicks(1, days_ago(age))).count(&table).await;
    }

    let read = table.since(&link_id("launch"), Timestamp::now().day()).await.unwrap();

    assert_eq!(read.whole_life().clicks, 2);
    assert_eq!(read.days.len(), 2);
}

#[tokio::test]
async fn a_milestone_is_written_once_by_whoever_finds_it_reached() {
    let db = TestDynamoDb::start();
    let (table, events) = (db.stats(), clicks(12, days_ago(0)));
    Clicks::of(&events[..9]).count(&table).await;
    let milestones = || {
        let rows = db.scan("StatsTable");
        rows.into_iter().filter(|row| row["sk"]["S"].as_str().unwrap().starts_with("MILESTONE#")).collect::<Vec<_>>()
    };
    assert_eq!(milestones().len(), 0);

    Clicks::of(&events).count(&table).await;
    let first = milestones();
    Clicks::of(&events).count(&table).await;

    assert_eq!((first.len(), milestones()), (1, first));
    // Milestones lie between the days and the past, and must not disturb whoever reads them.
    assert_eq!(life(&table).await.whole_life().clicks, 12);
}

#[tokio::test]
async fn a_missing_milestone_is_written_when_its_click_comes_again() {
    let (db, faults) = (TestDynamoDb::start(), Faults::default());
    let (table, events) = (StatsTable::new(db.table_with(faults.clone(), "StatsTable")), clicks(10, days_ago(0)));
    let ten = Clicks::of(&events);
    // The day and the total are written, and the milestone isn't.
    ten.count_dying(&table, &faults, 2, Timestamp::now()).await;
    assert!(table.life(&ten.workspace, &ten.link).await.unwrap().milestones.is_empty());

    ten.count(&table).await;

    assert_eq!(table.life(&ten.workspace, &ten.link).await.unwrap().milestones, [10].into());
}

#[tokio::test]
async fn ids_outside_of_days_expire_and_counts_do_not() {
    let db = TestDynamoDb::start();
    let table = db.stats();
    for batch in clicks(90, days_ago(0)).chunks(30) {
        Clicks::of(batch).count(&table).await;
    }

    let rows = db.scan("StatsTable");

    assert!(rows.iter().any(|row| row["pk"]["S"].as_str().unwrap().starts_with("SEEN#")));
    for row in rows {
        let is_of_ids = row["pk"]["S"].as_str().unwrap().starts_with("SEEN#");
        assert_eq!(row.get("ttl").is_some(), is_of_ids, "{row}");
    }
}

#[tokio::test]
async fn totals_of_more_links_than_one_call_takes_are_complete() {
    let (table, now) = (TestDynamoDb::start().stats(), Timestamp::now());
    let links: Vec<LinkId> = (0..250).map(|number| link_id(&format!("code{number:03}"))).collect();
    for link in &links {
        let click = [ClickBuilder::new(link.code.as_str()).at(now).build()];
        Clicks { link: link.clone(), ..Clicks::of(&click) }.count(&table).await;
    }

    assert_eq!(table.totals(&some_workspace(), &links).await.unwrap().len(), 250);
    assert_eq!(table.totals_of_workspace(&some_workspace()).await.unwrap().unwrap().len(), 250);
    assert_eq!(table.totals_of_workspace(&WorkspaceId::generate()).await.unwrap().unwrap().len(), 0);
}

#[tokio::test]
async fn many_days_are_loaded_together() {
    let table = TestDynamoDb::start().stats();
    let days: Vec<Clicks> = (0..120).map(|age| Clicks::of(&clicks(1, days_ago(age)))).collect();
    let refs: Vec<Vec<_>> = days.iter().map(|day| day.clicks.iter().collect()).collect();
    let works: Vec<_> = days.iter().zip(&refs).map(|(day, clicks)| day.work(clicks)).collect();
    days[7].count(&table).await;

    let loaded = table.load(&works).await.unwrap();

    assert_eq!(loaded.len(), 120);
    assert_eq!(loaded[7], days[7].load(&table).await);
    assert_ne!(loaded[7], loaded[8]);
    let id: &ClickId = &days[7].clicks[0].click.id;
    assert!(table.life(&some_workspace(), &link_id("launch")).await.unwrap().has_counted(id));
}

#[tokio::test]
async fn of_more_totals_than_one_request_may_read_none_are_known() {
    let (db, meter, workspace) = (TestDynamoDb::without_streams(), CapacityMeter::default(), some_workspace());
    // Each weighs some 13 KB, which no total does whose days roll_up.
    let first_day = Timestamp::parse("2026-01-01T00:00:00Z").unwrap();
    let day = |number: u64| first_day.plus(Duration::from_secs(number * 86_400)).day().to_string();
    let days: serde_json::Map<_, _> =
        (0..1_000).map(|number| (day(number), json!({"L": [{"N": "1"}, {"N": "1"}]}))).collect();
    for number in 0..700 {
        let mut total = days.clone();
        total.insert("pk".to_owned(), json!({"S": format!("WS#{workspace}")}));
        total.insert("sk".to_owned(), json!({"S": format!("TOTAL#{}", link_id(&format!("code{number}")))}));
        db.put("StatsTable", &Value::Object(total));
    }
    let table = StatsTable::new(db.table_with(meter.clone(), "StatsTable"));

    let totals = table.totals_of_workspace(&workspace).await.unwrap();

    assert_eq!((totals, meter.calls()), (None, 8));
    assert!(meter.read_units() <= 1_024.0, "{}", meter.read_units());
}

/// A table that splits a day as soon as ten clicks come together.
fn splitting(db: &TestDynamoDb) -> StatsTable {
    StatsTable { split_from: 10, ..db.stats() }
}

/// Counts clicks as a consumer does: each in its part, if the day is split. Returns how many were not counted before, and the
/// link's total.
async fn count_all(table: &StatsTable, events: &[Event]) -> (usize, u64) {
    let clicks = Clicks::of(events);
    match clicks.count_on(table, clicks.load(table).await).await {
        DayOutcome::Counted { fresh, totals } => return (fresh, totals.total_clicks()),
        DayOutcome::Split => {}
        other => panic!("{other:?}"),
    }
    let (mut counted, mut total) = (0, 0);
    for (part, of_part) in by_part(events) {
        match count_part(table, part, &of_part).await {
            DayOutcome::Counted { fresh, totals } => (counted, total) = (counted + fresh, totals.total_clicks()),
            other => panic!("{other:?}"),
        }
    }
    (counted, total)
}

fn by_part(events: &[Event]) -> BTreeMap<Part, Vec<Event>> {
    let mut parts: BTreeMap<Part, Vec<Event>> = BTreeMap::new();
    for event in events {
        let part = Part::of(&ClickId::parse(event.event_id.as_str()).unwrap());
        parts.entry(part).or_default().push(event.clone());
    }
    parts
}

async fn count_part(table: &StatsTable, part: Part, events: &[Event]) -> DayOutcome {
    let clicks = Clicks::of_part(part, events);
    clicks.count_on(table, clicks.load(table).await).await
}

#[tokio::test]
async fn a_day_with_many_clicks_is_split_and_each_counts_once() {
    let db = TestDynamoDb::start();
    let (table, events) = (splitting(&db), clicks(60, days_ago(0)));
    for batch in events[..18].chunks(9) {
        assert_eq!(count_all(&table, batch).await.0, 9, "fewer come at once");
    }
    assert!(life_of(&table).await.slices.keys().all(|slice| slice.part.is_none()));

    assert_eq!(count_all(&table, &events[9..40]).await, (22, 40));
    assert_eq!(count_all(&table, &events[38..]).await, (20, 60));
    assert_eq!(count_all(&table, &events).await, (0, 60));

    let counted = life_of(&table).await;
    let whole = &counted.slices[&DaySlice::from(events[0].occurred_at.day())];
    assert_eq!(whole.stats.profile.clicks, 18);
    assert!(counted.slices.len() > 4, "{:?}", counted.slices.keys());
    let read = life(&table).await;
    assert_eq!((read.days.len(), read.whole_life().clicks), (1, 60));
    assert_eq!(read.summary(Timestamp::now()).last_click_at, Some(events[59].occurred_at));
    assert_eq!(read.days.values().next().unwrap().hours.iter().map(|hour| hour.clicks).sum::<u64>(), 60);
    assert_eq!(listed(&table).await, LinkClicks { total: 60, last: Some(events[59].occurred_at) });
    assert_eq!(counted.milestones, [10].into());
}

async fn life_of(table: &StatsTable) -> Life {
    table.life(&some_workspace(), &link_id("launch")).await.unwrap()
}

#[tokio::test]
async fn nobody_adds_to_a_day_that_was_split_meanwhile() {
    let db = TestDynamoDb::start();
    let (table, events) = (splitting(&db), clicks(20, days_ago(0)));
    let late = Clicks::of(&events[..3]);
    let before = late.load(&table).await;
    count_all(&table, &events[3..]).await;

    assert_eq!(late.count_on(&table, before).await, DayOutcome::Contended { fresh: 0 });
    assert_eq!(count_all(&table, &events).await, (3, 20));
}

#[tokio::test]
async fn a_part_is_not_counted_before_its_day_is_split() {
    let db = TestDynamoDb::start();
    let (table, events) = (splitting(&db), clicks(1, days_ago(0)));
    let (part, of_part) = by_part(&events).pop_first().unwrap();

    assert_eq!(count_part(&table, part, &of_part).await, DayOutcome::Contended { fresh: 0 });
    assert_eq!(count_all(&table, &events).await, (1, 1));
}

#[tokio::test]
async fn a_total_that_lacks_a_split_day_gets_it_with_later_clicks() {
    let (db, faults) = (TestDynamoDb::start(), Faults::default());
    let table = StatsTable { table: db.table_with(faults.clone(), "StatsTable"), split_from: 10 };
    let events = clicks(30, days_ago(0));
    let nine = Clicks::of(&events[..9]);
    // The day is written, and the total isn't.
    nine.count_dying(&table, &faults, 1, Timestamp::now()).await;
    let ten = Clicks::of(&events[9..29]);
    assert_eq!(ten.count_on(&table, ten.load(&table).await).await, DayOutcome::Split);
    assert_eq!(life_of(&table).await.totals.total_clicks(), 0);

    let (part, of_part) = by_part(&events[29..]).pop_first().unwrap();
    assert!(matches!(count_part(&table, part, &of_part).await, DayOutcome::Counted { fresh: 1, .. }));

    assert_eq!(listed(&table).await.total, 10);
    assert_eq!(life_of(&table).await.milestones, [10].into());
    assert_eq!(count_all(&table, &events).await, (20, 30));
}

#[tokio::test]
async fn a_split_day_rolls_up_with_its_parts_and_takes_late_clicks() {
    let db = TestDynamoDb::start();
    let (table, link, workspace) = (splitting(&db), link_id("launch"), some_workspace());
    let events = clicks(120, days_ago(0));
    for batch in events[..110].chunks(40) {
        count_all(&table, batch).await;
    }
    // So many days later, the day is no longer recent.
    let (later, totals) = (Timestamp::now().plus(Duration::from_secs(5 * 86_400)), life_of(&table).await.totals);
    let until = totals.rolls_up_until(later.day()).unwrap();

    assert_eq!(table.roll_up(&workspace, &link, &totals, until).await.unwrap(), CommitOutcome::Committed);
    let rolled_up = life_of(&table).await;
    assert!(rolled_up.totals.open.is_empty(), "{:?}", rolled_up.totals);
    assert_eq!(rolled_up.past.as_ref().map(|past| past.profile.clicks), Some(110));

    for (part, of_part) in by_part(&events[100..]) {
        let clicks = Clicks::of_part(part, &of_part);
        let outcome = clicks.count_at(&table, clicks.load(&table).await, later).await.unwrap();
        assert!(matches!(outcome, DayOutcome::Counted { .. }));
    }

    let after = life_of(&table).await;
    assert_eq!((after.totals.past_clicks, after.totals.total_clicks()), (120, 120));
    assert_eq!(after.past.as_ref().map(|past| past.profile.clicks), Some(120));
    let all = ClickCount { clicks: 120, human_clicks: 120 };
    assert_eq!(after.totals.history, [(events[0].occurred_at.day(), all)].into());
    assert_eq!(life(&table).await.whole_life().clicks, 120);
}

#[tokio::test]
async fn a_split_day_is_corrected_only_if_no_part_has_changed() {
    for part_changes in [true, false] {
        let db = TestDynamoDb::start();
        let (table, link, workspace) = (splitting(&db), link_id("launch"), some_workspace());
        let events = clicks(40, days_ago(0));
        count_all(&table, &events[..30]).await;
        let before = life_of(&table).await;
        let mut right = before.numbers();
        right.values_mut().for_each(|day| day.profile.human_clicks = 7);
        let after = before.with_days(&right);
        let correction = Correction { link: &link, workspace: &workspace, before: &before, after: &after };
        let stale = by_part(&events[30..]).pop_first().unwrap();
        if part_changes {
            count_part(&table, stale.0, &stale.1).await;
        }

        let outcome = table.correct(&correction).await.unwrap();

        let corrected = life_of(&table).await;
        if part_changes {
            assert_eq!(outcome, CommitOutcome::Contended);
            assert_ne!(corrected.numbers().values().next().unwrap().profile.human_clicks, 7);
        } else {
            assert_eq!(outcome, CommitOutcome::Committed);
            assert_eq!((&corrected.totals, corrected.numbers()), (&after.totals, after.numbers()));
            assert_eq!(count_all(&table, &events[..31]).await, (1, 31), "ids are still known");
        }
    }
}

#[tokio::test]
async fn purging_deletes_the_parts_of_days() {
    let db = TestDynamoDb::start();
    let (table, link, workspace) = (splitting(&db), link_id("launch"), some_workspace());
    let events = clicks(1_000, days_ago(0));
    for batch in events.chunks(500) {
        count_all(&table, batch).await;
    }
    assert!(db.scan("StatsTable").iter().any(|row| row["pk"]["S"].as_str().unwrap().starts_with("SEEN#")));

    table.purge(&workspace, &link, Timestamp::now()).await.unwrap();

    let left = db.scan("StatsTable");
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].get("purged_at").is_some());
}

#[tokio::test]
async fn an_orphaned_part_of_a_purged_link_goes_when_its_clicks_return() {
    let (db, queues, faults) = (TestDynamoDb::start(), FakeQueues::start(), Faults::default());
    let (table, link, workspace) = (splitting(&db), link_id("launch"), some_workspace());
    let events = clicks(40, days_ago(0));
    let ten = Clicks::of(&events[..10]);
    assert_eq!(ten.count_on(&table, ten.load(&table).await).await, DayOutcome::Split);
    let (part, of_part) = by_part(&events[10..]).pop_first().unwrap();
    let late = Clicks::of_part(part, &of_part);
    let dying = StatsTable::new(db.table_with(faults.clone(), "StatsTable"));
    let before = late.load(&dying).await;
    table.purge(&workspace, &link, Timestamp::now()).await.unwrap();
    // The part is written, and the total isn't asked any more.
    faults.plan(Some((1, Fault::NotSent)));
    let _ = late.count_at(&dying, before, Timestamp::now()).await;
    assert_eq!(db.scan("StatsTable").len(), 2);

    analytics(&db, &queues).consume(event_batch(&of_part)).await;

    let left = db.scan("StatsTable");
    assert!(left.len() == 1 && left[0].get("purged_at").is_some(), "{left:?}");
}
