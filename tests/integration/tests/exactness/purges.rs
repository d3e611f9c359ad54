//! A purge at every moment of counting.

use aws_sdk_dynamodb::Client;
use linklet_domain::{Timestamp, WorkspaceId};
use linklet_dynamodb::{StatsTable, Table};
use linklet_lambda::batch::Consumer;
use linklet_test_support::{FakeQueues, TestDynamoDb, click_in, event_batch, link_id};

use super::turns::{Seat, Turns};
use crate::fixture::analytics;

/// A table whose calls wait for their turn.
fn table(db: &TestDynamoDb, seat: &Seat) -> StatsTable {
    let config = db.client().config().to_builder().interceptor(seat.clone()).endpoint_resolver(seat.clone());
    StatsTable::new(Table::new(Client::from_conf(config.build()), "StatsTable"))
}

/// The tenth click writes the day, the total, a milestone, and that it is announced: with the reads, seven calls at most.
/// Where that splits the day, its parts are counted too: some fifty calls.
#[tokio::test]
async fn a_purge_between_any_calls_of_a_consumer_leaves_nothing_behind() {
    for (counted, splits, moments) in [(9, false, 8), (0, false, 8), (0, true, 60)] {
        for purged_after in 0..moments {
            let (db, queues, turns) = (TestDynamoDb::without_streams(), FakeQueues::start(), Turns::default());
            let (link, workspace) = (link_id("launch"), WorkspaceId::generate());
            let click = |_| click_in(&workspace, "launch", Timestamp::now());
            let clicks: Vec<_> = (0..10).map(click).collect();
            analytics(&db, &queues).consume(event_batch(&clicks[..counted])).await;
            let (counting, purging) = (turns.seat(0), turns.seat(1));
            let mut consumer = analytics(&db, &queues);
            consumer.stats = table(&db, &counting);
            if splits {
                consumer.stats.split_from = 10;
            }
            let stats = table(&db, &purging);
            let order = [vec![0; purged_after], vec![1; 60]].concat();

            turns.begin(&order, None, Some(None));
            let (answer, purged) = futures_util::join!(
                counting.live(consumer.consume(event_batch(&clicks[counted..]))),
                purging.live(stats.purge(&workspace, &link, Timestamp::now())),
            );

            assert!(answer.unwrap().batch_item_failures.is_empty(), "{purged_after}");
            purged.unwrap().unwrap();
            let left: Vec<_> = db.scan("StatsTable").into_iter().filter(|row| row.get("purged_at").is_none()).collect();
            assert!(left.is_empty(), "purged after {purged_after} calls: {left:?}");
        }
    }
}
