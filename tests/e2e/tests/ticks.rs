//! Ticks of checks that begin sooner than those of the schedule.

use std::time::Duration;

use aws_sdk_dynamodb::{Client as DynamoDb, types::AttributeValue};
use linklet_domain::{CheckInterval, Concurrency, CorrelationId, PlannedTick, Timestamp};
use tokio::sync::{Mutex, MutexGuard};

use crate::stack::{Queue, table};

/// Those of the local system.
fn interval_and_places() -> (CheckInterval, Concurrency) {
    (CheckInterval::try_from(10).unwrap(), Concurrency::try_from(8).unwrap())
}

/// A tick checks the targets of all tests, so one test at a time begins any.
static BEGINNING: Mutex<()> = Mutex::const_new(());

/// The queue of ticks, and the table that says who works on one.
pub struct Ticks {
    queue: Queue,
    tables: DynamoDb,
    table: String,
    _alone: MutexGuard<'static, ()>,
}

impl Ticks {
    pub async fn of_the_stack() -> Self {
        let alone = BEGINNING.lock().await;
        let queue = Queue::of_the_stack("TicksQueue").await;
        let (tables, table) = table("WatchTable").await;
        let queue = queue.expect("who has servers on this machine checked sets STACK_NAME");
        Self { queue, tables, table, _alone: alone }
    }

    /// Has all targets checked in a tick of ten seconds, whose message comes so often, as if no other tick were going on.
    pub async fn begin(&self, messages: usize) {
        let slot = Timestamp::from_unix_seconds(Timestamp::now().unix_seconds()).unwrap();
        let (interval, places) = interval_and_places();
        let partition = places.in_partitions().next().unwrap();
        let tick = PlannedTick { partition, slot, interval, correlation_id: CorrelationId::generate() };
        let partitions = ["pk", "sk"].map(|name| (name.to_owned(), AttributeValue::S("LANES".to_owned())));
        self.tables.delete_item().table_name(&self.table).set_key(Some(partitions.into())).send().await.unwrap();
        for _ in 0..messages {
            self.send(&tick, 0).await;
        }
    }

    /// Plans the ticks of this minute and the next, as the schedule does only if there are targets by then.
    pub async fn plan(&self) {
        let (now, (interval, places)) = (Timestamp::now(), interval_and_places());
        let correlation_id = CorrelationId::generate();
        for call in [now.minus(Duration::from_secs(60)), now] {
            let ticks = PlannedTick::planned_by(call, &correlation_id, interval, places);
            for tick in ticks.filter(|tick| !tick.is_over(now)) {
                let delay = now.until(tick.slot).as_millis().div_ceil(1_000);
                self.send(&tick, i32::try_from(delay).unwrap()).await;
            }
        }
    }

    async fn send(&self, tick: &PlannedTick, delay: i32) {
        self.queue.send_later(&serde_json::to_string(tick).unwrap(), delay).await;
    }

    /// Waits for a moment in which nobody works on a tick, nor is about to.
    pub async fn are_done(&self) {
        self.queue.is_done().await;
    }
}
