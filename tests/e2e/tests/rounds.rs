//! Rounds of checks that begin sooner than those of the schedule.

use std::{env, time::Duration};

use aws_config::BehaviorVersion;
use aws_sdk_dynamodb::{Client as DynamoDb, types::AttributeValue};
use aws_sdk_sqs::{Client as Sqs, types::QueueAttributeName};
use linklet_domain::{CheckInterval, CorrelationId, Places, PlannedRound, Timestamp};
use tokio::time::sleep;

/// Those of the local system.
fn interval_and_places() -> (CheckInterval, Places) {
    (CheckInterval::from_seconds(10).unwrap(), Places::try_from(8).unwrap())
}

/// The queue of rounds, and the table that says who works on one.
pub struct Rounds {
    sqs: Sqs,
    queue: String,
    tables: DynamoDb,
    table: String,
}

impl Rounds {
    pub async fn of_the_stack() -> Self {
        let stack = env::var("STACK_NAME").expect("who has servers on this machine checked sets STACK_NAME");
        let aws = aws_config::load_defaults(BehaviorVersion::latest()).await;
        let (sqs, tables) = (Sqs::new(&aws), DynamoDb::new(&aws));
        let found = sqs.get_queue_url().queue_name(format!("{stack}-rounds")).send().await;
        let queue = found.expect("the stack has the queue").queue_url.expect("a queue has a URL");
        let names = tables.list_tables().send().await.unwrap().table_names.unwrap_or_default();
        let table = names.into_iter().find(|name| name.starts_with(&stack) && name.contains("WatchTable"));
        Self { sqs, queue, tables, table: table.expect("the stack has a table of targets") }
    }

    /// Has all targets checked in a round of ten seconds, whose message comes so often, as if no other round were going on.
    pub async fn begin(&self, messages: usize) {
        let slot = Timestamp::from_unix_seconds(Timestamp::now().unix_seconds()).unwrap();
        let (interval, places) = interval_and_places();
        let lane = places.in_lanes().next().unwrap();
        let round = PlannedRound { lane, slot, interval, correlation_id: CorrelationId::generate() };
        let lanes = ["pk", "sk"].map(|name| (name.to_owned(), AttributeValue::S("LANES".to_owned())));
        self.tables.delete_item().table_name(&self.table).set_key(Some(lanes.into())).send().await.unwrap();
        for _ in 0..messages {
            self.send(&round, 0).await;
        }
    }

    /// Plans the rounds of this minute and the next, as the schedule does only if there are targets by then.
    pub async fn plan(&self) {
        let (now, (interval, places)) = (Timestamp::now(), interval_and_places());
        let correlation_id = CorrelationId::generate();
        for call in [now.minus(Duration::from_secs(60)), now] {
            let rounds = PlannedRound::planned_by(call, &correlation_id, interval, places);
            for round in rounds.filter(|round| !round.is_over(now)) {
                let delay = now.until(round.slot).as_millis().div_ceil(1_000);
                self.send(&round, i32::try_from(delay).unwrap()).await;
            }
        }
    }

    async fn send(&self, round: &PlannedRound, delay: i32) {
        let message = self.sqs.send_message().queue_url(&self.queue).delay_seconds(delay);
        message.message_body(serde_json::to_string(round).unwrap()).send().await.unwrap();
    }

    /// Waits for a moment in which nobody works on a round, nor is about to.
    pub async fn are_done(&self) {
        let mut waited = 0;
        while self.messages().await > 0 {
            waited += 1;
            assert!(waited < 600, "{} does not get empty", self.queue);
            sleep(Duration::from_millis(100)).await;
        }
    }

    async fn messages(&self) -> u32 {
        use QueueAttributeName::{
            ApproximateNumberOfMessages as Waiting, ApproximateNumberOfMessagesNotVisible as InWork,
        };
        let asked = self.sqs.get_queue_attributes().queue_url(&self.queue);
        let answer = asked.attribute_names(Waiting).attribute_names(InWork).send().await.unwrap();
        let count = |name| answer.attributes().unwrap()[&name].parse::<u32>().unwrap();
        count(Waiting) + count(InWork)
    }
}
