//! Rounds of checks that begin at once, beside those of the schedule.

use std::{env, time::Duration};

use aws_config::BehaviorVersion;
use aws_sdk_dynamodb::{Client as DynamoDb, types::AttributeValue};
use aws_sdk_sqs::{Client as Sqs, types::QueueAttributeName};
use linklet_domain::{CheckInterval, CorrelationId, Places, PlannedRound, Timestamp};
use tokio::time::sleep;

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
        let lane = Places::try_from(8).unwrap().in_lanes().next().unwrap();
        let interval = CheckInterval::from_seconds(10).unwrap();
        let round = PlannedRound { lane, slot, interval, correlation_id: CorrelationId::generate() };
        let lanes = ["pk", "sk"].map(|name| (name.to_owned(), AttributeValue::S("LANES".to_owned())));
        self.tables.delete_item().table_name(&self.table).set_key(Some(lanes.into())).send().await.unwrap();
        for _ in 0..messages {
            let body = serde_json::to_string(&round).unwrap();
            self.sqs.send_message().queue_url(&self.queue).message_body(body).send().await.unwrap();
        }
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
