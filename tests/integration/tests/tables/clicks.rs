//! Where the clicks of quiet and hot links are stored, and that they are all found and deleted there.

use std::{collections::BTreeSet, time::Duration};

use linklet_domain::{Click, ClickId, LinkId, Spread, Timestamp};
use linklet_dynamodb::{ClicksTable, Purged};
use linklet_test_support::{CapacityMeter, Consumption, Fault, Faults, TestDynamoDb, click_event, link_id};

use crate::fixture::noon;

const HOUR: Duration = Duration::from_secs(3_600);

fn after(millis: u64) -> Timestamp {
    noon().plus(Duration::from_millis(millis))
}

fn link() -> LinkId {
    link_id("launch")
}

/// Stores some clicks, one each millisecond from a time on, by turns in each partition.
async fn store(table: &ClicksTable, spread: Spread, from: Timestamp, count: u64) -> Vec<Click> {
    let mut stored = Vec::new();
    for number in 0..count {
        let event = click_event("launch", from.plus(Duration::from_millis(number)));
        let mut click = Click::from_event(event).unwrap();
        click.id = with_last_byte(click.id, number.to_le_bytes()[0]);
        table.record(&click, spread).await.unwrap();
        stored.push(click);
    }
    stored
}

/// An id of the same time, whose last byte decides the partition.
fn with_last_byte(id: ClickId, last: u8) -> ClickId {
    let mut bytes = id.to_bytes();
    bytes[ClickId::BYTES - 1] = last;
    ClickId::from_bytes(bytes)
}

/// Marks the link as hot from noon on, and stores some wide clicks.
async fn store_wide(table: &ClicksTable, count: u64) -> Vec<Click> {
    table.widen(&link(), noon().plus(HOUR)).await.unwrap();
    store(table, Spread::Wide, noon(), count).await
}

fn ids<'a>(clicks: impl IntoIterator<Item = &'a Click>) -> BTreeSet<ClickId> {
    clicks.into_iter().map(|click| click.id).collect()
}

/// The partition keys of all rows, without the link.
fn partitions(db: &TestDynamoDb) -> BTreeSet<String> {
    let rows = db.scan("ClicksTable");
    let keys = rows.iter().map(|row| row["pk"]["S"].as_str().unwrap());
    keys.map(|key| key.rsplit('#').next().unwrap().to_owned()).collect()
}

fn has_marker(db: &TestDynamoDb) -> bool {
    db.scan("ClicksTable").iter().any(|row| row["sk"]["S"] == "~wide")
}

/// What reading the latest clicks costs.
async fn cost_of_latest(db: &TestDynamoDb, limit: usize) -> Consumption {
    let meter = CapacityMeter::default();
    ClicksTable::new(db.table_with(meter.clone(), "ClicksTable")).latest(&link(), limit).await.unwrap();
    meter.by_operation()["Query"]
}

#[tokio::test]
async fn clicks_are_in_16_partitions_or_64_once_a_link_is_hot() {
    let db = TestDynamoDb::without_streams();
    store(&db.clicks(), Spread::Narrow, noon(), 200).await;
    assert_eq!(partitions(&db).len(), 16);

    store_wide(&db.clicks(), 600).await;

    assert_eq!(partitions(&db).len(), 64);
}

#[tokio::test]
async fn the_latest_clicks_come_newest_first_however_they_were_stored() {
    let (db, mut all) = (TestDynamoDb::without_streams(), Vec::new());
    all.extend(store(&db.clicks(), Spread::Narrow, noon().minus(HOUR), 40).await);
    all.extend(store_wide(&db.clicks(), 300).await);
    all.extend(store(&db.clicks(), Spread::Narrow, after(100), 100).await);
    all.extend(store(&db.clicks(), Spread::Narrow, after(2_000), 5).await);
    all.sort_by_key(|click| std::cmp::Reverse(click.id));

    for limit in [1, 5, 20, 100, 1_000] {
        let latest = db.clicks().latest(&link(), limit).await.unwrap();

        assert_eq!(latest, all[..limit.min(all.len())], "{limit}");
    }
}

#[tokio::test]
async fn the_latest_clicks_are_found_however_unevenly_they_lie() {
    for spread in [Spread::Narrow, Spread::Wide] {
        let db = TestDynamoDb::without_streams();
        let mut all = match spread {
            Spread::Narrow => store(&db.clicks(), spread, noon(), 60).await,
            Spread::Wide => store_wide(&db.clicks(), 60).await,
        };
        // All of the newest in one partition, which no narrow click is in if they are wide.
        for number in 0..60 {
            let mut click = Click::from_event(click_event("launch", after(1_000 + number))).unwrap();
            click.id = with_last_byte(click.id, u8::MAX);
            db.clicks().record(&click, spread).await.unwrap();
            all.push(click);
        }
        all.sort_by_key(|click| std::cmp::Reverse(click.id));

        let latest = db.clicks().latest(&link(), 100).await.unwrap();

        assert_eq!(latest, all[..100], "{spread:?}");
    }
}

#[tokio::test]
async fn the_latest_clicks_of_a_quiet_link_cost_16_queries() {
    let db = TestDynamoDb::without_streams();
    store(&db.clicks(), Spread::Narrow, noon(), 400).await;

    let cost = cost_of_latest(&db, 20).await;

    assert_eq!((cost.calls, cost.read_units), (16, 8.0));
}

#[tokio::test]
async fn a_hot_links_latest_clicks_cost_64_queries_until_later_ones_suffice() {
    let db = TestDynamoDb::without_streams();
    store_wide(&db.clicks(), 400).await;
    let hot = cost_of_latest(&db, 20).await;
    store(&db.clicks(), Spread::Narrow, noon().plus(HOUR), 19).await;
    let cooling = cost_of_latest(&db, 20).await;
    store(&db.clicks(), Spread::Narrow, noon().plus(HOUR * 2), 1).await;
    let quiet_again = cost_of_latest(&db, 20).await;

    assert_eq!((hot.calls, hot.read_units), (64, 32.0));
    assert_eq!(cooling.calls, 64);
    assert_eq!((quiet_again.calls, quiet_again.read_units), (16, 8.0));
}

#[tokio::test]
async fn the_first_click_is_found_among_narrow_and_wide_ones() {
    let db = TestDynamoDb::without_streams();
    assert_eq!(db.clicks().first(&link()).await.unwrap(), None);
    let wide = store_wide(&db.clicks(), 100).await;
    store(&db.clicks(), Spread::Narrow, after(50), 5).await;
    assert_eq!(db.clicks().first(&link()).await.unwrap().as_ref(), wide.first());

    let narrow = store(&db.clicks(), Spread::Narrow, noon().minus(HOUR), 1).await;

    assert_eq!(db.clicks().first(&link()).await.unwrap().as_ref(), narrow.first());
}

#[tokio::test]
async fn clicks_of_a_time_are_found_among_narrow_and_wide_ones() {
    let db = TestDynamoDb::without_streams();
    let wide = store_wide(&db.clicks(), 200).await;
    let narrow = store(&db.clicks(), Spread::Narrow, after(50), 200).await;
    let later = store(&db.clicks(), Spread::Narrow, noon().plus(HOUR), 10).await;
    let between = async |from, until| ids(&db.clicks().recorded_between(&link(), &(from..until)).await.unwrap());

    let some = between(after(100), after(150)).await;
    let all = between(noon().minus(HOUR), noon().plus(HOUR * 2)).await;

    assert_eq!(some, ids(wide[100..150].iter().chain(&narrow[50..100])));
    assert_eq!(all, ids(wide.iter().chain(&narrow).chain(&later)));
}

#[tokio::test]
async fn of_a_time_after_the_marker_only_narrow_clicks_are_read() {
    let (db, meter) = (TestDynamoDb::without_streams(), CapacityMeter::default());
    store_wide(&db.clicks(), 10).await;
    let table = ClicksTable::new(db.table_with(meter.clone(), "ClicksTable"));
    let calls = async |from| {
        meter.reset();
        table.recorded_between(&link(), &(from..from.plus(HOUR))).await.unwrap();
        meter.calls()
    };

    assert_eq!(calls(noon().plus(HOUR)).await, 17, "one for the marker");
    assert_eq!(calls(noon().plus(HOUR).minus(Duration::from_millis(1))).await, 65);
}

#[tokio::test]
async fn a_marker_never_takes_back_what_others_rely_on() {
    let db = TestDynamoDb::without_streams();
    let marker = || {
        let rows = db.scan("ClicksTable");
        let row = rows.iter().find(|row| row["sk"]["S"] == "~wide").unwrap();
        (row["until"]["S"].as_str().unwrap().to_owned(), row["ttl"]["N"].as_str().unwrap().parse::<i64>().unwrap())
    };
    let (one, years) = (noon().plus(HOUR), Duration::from_secs(2_000 * 86_400));
    let kept_long = db.clicks().keeping_clicks_for(years);
    kept_long.widen(&link(), one).await.unwrap();
    let first = ("2026-03-02T13:00:00.000Z".to_owned(), one.plus(years).unix_seconds());
    assert_eq!(marker(), first);

    kept_long.widen(&link(), one.minus(Duration::from_secs(5))).await.unwrap();
    assert_eq!(marker(), first, "somebody's clock is behind");
    db.clicks().widen(&link(), one.plus(HOUR)).await.unwrap();
    assert_eq!(marker(), ("2026-03-02T14:00:00.000Z".into(), first.1), "somebody doesn't keep clicks for as long");
    kept_long.widen(&link(), one.plus(HOUR / 2)).await.unwrap();
    let both = ("2026-03-02T14:00:00.000Z".into(), one.plus(HOUR / 2).plus(years).unix_seconds());
    assert_eq!(marker(), both, "each of the two is for other clicks");
}

#[tokio::test]
async fn a_purge_deletes_narrow_and_wide_clicks_and_the_marker_last() {
    let db = TestDynamoDb::without_streams();
    store(&db.clicks(), Spread::Narrow, noon(), 30).await;
    store_wide(&db.clicks(), 1_500).await;

    let mut turns = 0;
    while db.clicks().purge_some(&link()).await.unwrap() == Purged::Some {
        assert!(has_marker(&db), "{turns}");
        turns += 1;
    }

    assert!(turns > 2, "{turns}");
    assert_eq!(db.scan("ClicksTable"), Vec::<serde_json::Value>::new());
}

#[tokio::test]
async fn a_purge_that_dies_at_any_call_and_is_repeated_leaves_nothing() {
    // 16 queries and a deletion; 64 queries and a deletion; 64 queries and the deletion of the marker.
    for dies_before in [0, 15, 16, 17, 33, 80, 81, 82, 100, 146, 147] {
        let (db, faults) = (TestDynamoDb::without_streams(), Faults::default());
        store(&db.clicks(), Spread::Narrow, noon(), 10).await;
        store_wide(&db.clicks(), 20).await;
        let table = ClicksTable::new(db.table_with(faults.clone(), "ClicksTable"));
        faults.plan_all((dies_before..10_000).map(|call| (call, Fault::NotSent)));

        while table.purge_some(&link()).await.is_ok_and(|purged| purged == Purged::Some) {}
        faults.plan(None);
        while table.purge_some(&link()).await.unwrap() == Purged::Some {}

        assert_eq!(db.scan("ClicksTable"), Vec::<serde_json::Value>::new(), "{dies_before}");
    }
}

#[tokio::test]
async fn purging_a_quiet_link_costs_16_queries_a_turn() {
    let (db, meter) = (TestDynamoDb::without_streams(), CapacityMeter::default());
    store(&db.clicks(), Spread::Narrow, noon(), 40).await;
    let table = ClicksTable::new(db.table_with(meter.clone(), "ClicksTable"));

    while table.purge_some(&link()).await.unwrap() == Purged::Some {}

    let spent = meter.by_operation();
    assert_eq!((spent["Query"].calls, spent["BatchWriteItem"].calls), (32, 2));
}

#[tokio::test]
async fn a_click_is_deleted_however_it_was_stored() {
    let db = TestDynamoDb::without_streams();
    let narrow = store(&db.clicks(), Spread::Narrow, noon(), 30).await;
    let wide = store_wide(&db.clicks(), 30).await;

    db.clicks().delete(&link(), &ids(narrow.iter().chain(&wide))).await.unwrap();

    assert!(has_marker(&db), "a purge may need it");
    assert_eq!(db.scan("ClicksTable").len(), 1);
}
