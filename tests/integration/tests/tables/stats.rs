use std::time::Duration;

use linklet_domain::{
    CorrelationId, Day, Dimension, EventId, LinkStats, MilestoneReached, ShortCode, Timestamp, UserId, WorkspaceId,
    lifetimes,
};
use linklet_dynamodb::{CommitOutcome, Counting, Milestone, Snapshot, StatsTable};
use linklet_test_support::TestDynamoDb;

use crate::fixture::add_click;

fn code() -> ShortCode {
    ShortCode::parse("launch").unwrap()
}

/// What a consumer loads for these events, all of now.
async fn load(table: &StatsTable, events: &[EventId]) -> Snapshot {
    let today = Timestamp::now().day();
    let events: Vec<(EventId, Day)> = events.iter().map(|event| (event.clone(), today)).collect();
    table.load(&code(), &events).await.unwrap()
}

fn ids(count: usize) -> Vec<EventId> {
    (0..count).map(|_| EventId::generate()).collect()
}

async fn count(table: &StatsTable, before: &Snapshot, events: &[EventId], milestones: &[Milestone]) -> CommitOutcome {
    let now = Timestamp::now();
    let mut after = before.stats().clone();
    events.iter().for_each(|_| add_click(&mut after, now));
    commit(table, before, &after, events, milestones).await
}

async fn commit(
    table: &StatsTable,
    before: &Snapshot,
    after: &LinkStats,
    events: &[EventId],
    milestones: &[Milestone],
) -> CommitOutcome {
    let (code, workspace, now) = (code(), WorkspaceId::generate(), Timestamp::now());
    let counting = Counting { code: &code, workspace: &workspace, before, after, events, milestones, now };
    table.commit(&counting).await.unwrap()
}

#[tokio::test]
async fn what_was_committed_is_loaded() {
    let db = TestDynamoDb::start();
    let (table, now, events) = (db.stats(), Timestamp::now(), ids(2));
    let empty = load(&table, &events).await;
    assert_eq!(empty, Snapshot::default());

    let outcome = count(&table, &empty, &events, &[]).await;

    assert_eq!(outcome, CommitOutcome::Committed);
    let loaded = load(&table, &events).await;
    assert_eq!(loaded.stats().totals.total_clicks, 2);
    assert_eq!(loaded.stats().whole_life().by(Dimension::Referer).ranked(), [("https://news.example/", 2)]);
    assert_eq!(loaded.stats().whole_life().visitors.estimate(), 1);
    assert_eq!(loaded.stats().days[&now.day()].hours.iter().sum::<u64>(), 2);
    assert_eq!(table.since(&code(), now.day()).await.unwrap().as_ref(), Some(loaded.stats()));
    assert_eq!(table.totals(&[code(), "other".parse().unwrap()]).await.unwrap(), [(code(), 2)].into());
}

#[tokio::test]
async fn a_counted_event_is_known_and_its_neighbours_are_not() {
    let db = TestDynamoDb::start();
    let (table, known, new) = (db.stats(), ids(3), ids(1));
    count(&table, &Snapshot::default(), &known, &[]).await;

    let loaded = load(&table, &[known.clone(), new.clone()].concat()).await;

    assert!(known.iter().all(|event| loaded.has_counted(event)));
    assert!(!loaded.has_counted(&new[0]));
}

#[tokio::test]
async fn numbers_that_have_moved_since_they_were_read_are_not_overwritten() {
    let db = TestDynamoDb::start();
    let table = db.stats();
    count(&table, &Snapshot::default(), &ids(1), &[]).await;

    let outcome = count(&table, &Snapshot::default(), &ids(1), &[]).await;

    assert_eq!(outcome, CommitOutcome::Contended);
}

#[tokio::test]
async fn an_event_that_somebody_counts_meanwhile_is_not_counted_again() {
    let db = TestDynamoDb::start();
    let (table, event) = (db.stats(), ids(1));
    let before = load(&table, &event).await;
    count(&table, &before, &event, &[]).await;

    // The same consumer a second time, with what it had read before; only the row of ids says that it is late.
    let others_removed =
        db.scan("StatsTable").into_iter().filter(|row| !row["pk"]["S"].as_str().unwrap().starts_with("SEEN#"));
    for row in others_removed {
        db.remove("StatsTable", &row);
    }
    let outcome = count(&table, &before, &event, &[]).await;

    assert_eq!(outcome, CommitOutcome::Contended);
}

#[tokio::test]
async fn days_in_the_past_are_loaded_when_they_are_needed() {
    let db = TestDynamoDb::start();
    let (table, now) = (db.stats(), Timestamp::now());
    let (today, long_ago) = (now.day(), now.minus(Duration::from_secs(30 * 86_400)));
    let mut first = LinkStats::default();
    add_click(&mut first, long_ago);
    commit(&table, &Snapshot::default(), &first, &ids(1), &[]).await;

    let events = ids(1);
    let before = load(&table, &events).await;
    let mut after = before.stats().clone();
    after.settle(today);
    add_click(&mut after, now);
    commit(&table, &before, &after, &events, &[]).await;

    assert_eq!(after.past.as_ref().map(|past| past.clicks), Some(1));
    let late = table.load(&code(), &[(EventId::generate(), long_ago.day())]).await.unwrap();
    assert_eq!(late.stats().past, after.past);
    assert_eq!(late.stats().whole_life().clicks, 2);
    let ordinary = load(&table, &ids(1)).await;
    assert_eq!(ordinary.stats().past, None);
}

#[tokio::test]
async fn a_quiet_link_is_read_back_to_its_last_day() {
    let db = TestDynamoDb::start();
    let (table, now) = (db.stats(), Timestamp::now());
    let mut stats = LinkStats::default();
    for days_ago in [300, 290] {
        add_click(&mut stats, now.minus(Duration::from_secs(days_ago * 86_400)));
    }
    commit(&table, &Snapshot::default(), &stats, &ids(2), &[]).await;

    let read = table.since(&code(), now.day()).await.unwrap().unwrap();

    assert_eq!(read.whole_life(), stats.whole_life());
}

#[tokio::test]
async fn a_milestone_is_stored_with_the_count_that_reaches_it() {
    let db = TestDynamoDb::start();
    let table = db.stats();
    let milestone = Milestone {
        detail: MilestoneReached {
            short_code: code(),
            workspace_id: WorkspaceId::generate(),
            user_id: UserId::generate(),
            milestone: 10,
        },
        reached_at: Timestamp::now(),
        correlation_id: CorrelationId::generate(),
    };

    count(&table, &Snapshot::default(), &ids(10), &[milestone]).await;

    let rows = db.scan("StatsTable");
    assert_eq!(rows.iter().filter(|row| row["sk"]["S"].as_str().unwrap().starts_with("MILESTONE#")).count(), 1);
    // The milestone lies between the days and the total, and must not disturb whoever reads them.
    let stats = table.since(&code(), Timestamp::now().day()).await.unwrap().unwrap();
    assert_eq!(stats.totals.total_clicks, 10);
}

#[tokio::test]
async fn a_link_that_was_purged_so_long_ago_that_its_code_is_free_counts_anew() {
    let db = TestDynamoDb::start();
    let (table, now, events) = (db.stats(), Timestamp::now(), ids(1));
    let long_ago = now.minus(lifetimes::PURGED_LINKS + Duration::from_secs(86_400));
    table.purge(&code(), now).await.unwrap();
    let recently = load(&table, &events).await;
    table.purge(&code(), long_ago).await.unwrap();

    let before = load(&table, &events).await;
    let outcome = count(&table, &before, &events, &[]).await;

    assert!(recently.is_purged() && !before.is_purged());
    assert_eq!(outcome, CommitOutcome::Committed);
    assert_eq!(load(&table, &events).await.stats().totals.total_clicks, 1);
}

#[tokio::test]
async fn markers_expire_and_counts_do_not() {
    let db = TestDynamoDb::start();
    count(&db.stats(), &Snapshot::default(), &ids(1), &[]).await;

    for row in db.scan("StatsTable") {
        let is_marker = row["pk"]["S"].as_str().unwrap().starts_with("SEEN#");
        assert_eq!(row.get("ttl").is_some(), is_marker, "{row}");
    }
}

#[tokio::test]
async fn totals_of_more_links_than_one_call_takes_are_complete() {
    let db = TestDynamoDb::start();
    let codes: Vec<ShortCode> = (0..250).map(|number| format!("code{number:03}").parse().unwrap()).collect();
    let now = Timestamp::now();
    for code in &codes {
        let mut after = LinkStats::default();
        add_click(&mut after, now);
        let events = [EventId::generate()];
        let before = Snapshot::default();
        let counting = Counting {
            code,
            workspace: &WorkspaceId::generate(),
            before: &before,
            after: &after,
            events: &events,
            milestones: &[],
            now,
        };
        db.stats().commit(&counting).await.unwrap();
    }

    assert_eq!(db.stats().totals(&codes).await.unwrap().len(), 250);
}
