use std::collections::BTreeSet;

use linklet_domain::{CorrelationId, EventId, MilestoneReached, ShortCode, Timestamp, UserId, WorkspaceId};
use linklet_dynamodb::{CommitOutcome, Counting, Milestone, Snapshot, StatsTable};
use linklet_test_support::TestDynamoDb;

fn code() -> ShortCode {
    ShortCode::parse("launch").unwrap()
}

fn days(time: Timestamp) -> BTreeSet<linklet_domain::Day> {
    BTreeSet::from([time.day()])
}

async fn count(table: &StatsTable, before: &Snapshot, events: &[EventId], milestones: &[Milestone]) -> CommitOutcome {
    let now = Timestamp::now();
    let mut after = before.stats().clone();
    events.iter().for_each(|_| after.count(now, Some("https://news.example/")));
    table
        .commit(&Counting {
            code: &code(),
            workspace: &WorkspaceId::generate(),
            before,
            after: &after,
            events,
            milestones,
            now,
        })
        .await
        .unwrap()
}

#[tokio::test]
async fn what_was_committed_is_loaded() {
    let db = TestDynamoDb::start();
    let (table, now) = (db.stats(), Timestamp::now());
    let empty = table.load(&code(), &days(now)).await.unwrap();
    assert_eq!(empty, Snapshot::default());

    let outcome = count(&table, &empty, &[EventId::generate(), EventId::generate()], &[]).await;

    assert_eq!(outcome, CommitOutcome::Committed);
    let loaded = table.load(&code(), &days(now)).await.unwrap();
    assert_eq!(loaded.stats().totals.total_clicks, 2);
    assert_eq!(loaded.stats().totals.referers.top(1), [("https://news.example/".into(), 2)]);
    assert_eq!(loaded.stats().days[&now.day()].hours[usize::from(now.hour())], 2);
    assert_eq!(table.since(&code(), now.day()).await.unwrap().as_ref(), Some(loaded.stats()));
    assert_eq!(table.totals(&[code(), "other".parse().unwrap()]).await.unwrap(), [(code(), 2)].into());
}

#[tokio::test]
async fn a_counted_event_is_named_and_nothing_else_is_counted_with_it() {
    let db = TestDynamoDb::start();
    let (table, now) = (db.stats(), Timestamp::now());
    let (known, new) = (EventId::generate(), EventId::generate());
    count(&table, &Snapshot::default(), std::slice::from_ref(&known), &[]).await;
    let before = table.load(&code(), &days(now)).await.unwrap();

    let outcome = count(&table, &before, &[new, known.clone()], &[]).await;

    assert_eq!(outcome, CommitOutcome::Duplicates(BTreeSet::from([known])));
    assert_eq!(table.load(&code(), &days(now)).await.unwrap(), before);
}

#[tokio::test]
async fn numbers_that_have_moved_since_they_were_read_are_not_overwritten() {
    let db = TestDynamoDb::start();
    let table = db.stats();
    count(&table, &Snapshot::default(), &[EventId::generate()], &[]).await;

    let outcome = count(&table, &Snapshot::default(), &[EventId::generate()], &[]).await;

    assert_eq!(outcome, CommitOutcome::Contended);
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
    let events: Vec<_> = (0..10).map(|_| EventId::generate()).collect();

    count(&table, &Snapshot::default(), &events, &[milestone]).await;

    let rows = db.scan("StatsTable");
    assert_eq!(rows.iter().filter(|row| row["sk"]["S"].as_str().unwrap().starts_with("MILESTONE#")).count(), 1);
    // The milestone lies between the days and the total, and must not disturb whoever reads them.
    let stats = table.since(&code(), Timestamp::now().day()).await.unwrap().unwrap();
    assert_eq!(stats.totals.total_clicks, 10);
}

#[tokio::test]
async fn a_link_that_was_purged_so_long_ago_that_its_code_is_free_counts_anew() {
    let db = TestDynamoDb::start();
    let (table, now) = (db.stats(), Timestamp::now());
    let long_ago = now.minus(std::time::Duration::from_secs(401 * 86_400));
    table.purge(&code(), now).await.unwrap();
    let recently = table.load(&code(), &days(now)).await.unwrap();
    table.purge(&code(), long_ago).await.unwrap();

    let before = table.load(&code(), &days(now)).await.unwrap();
    let outcome = count(&table, &before, &[EventId::generate()], &[]).await;

    assert!(recently.is_purged() && !before.is_purged());
    assert_eq!(outcome, CommitOutcome::Committed);
    assert_eq!(table.load(&code(), &days(now)).await.unwrap().stats().totals.total_clicks, 1);
}

#[tokio::test]
async fn markers_expire_and_counts_do_not() {
    let db = TestDynamoDb::start();
    count(&db.stats(), &Snapshot::default(), &[EventId::generate()], &[]).await;

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
        let mut after = linklet_domain::LinkStats::default();
        after.count(now, None);
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
