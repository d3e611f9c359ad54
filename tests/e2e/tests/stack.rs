//! What can only be seen or caused behind the API. Needs `STACK_NAME` and AWS credentials (any will do for an emulator).

use std::{env, fmt::Debug, future::Future, time::Duration};

use aws_config::{BehaviorVersion, SdkConfig};
use aws_sdk_cloudwatchlogs::Client as Logs;
use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_sqs::{Client, types::QueueAttributeName};
use serde_json::Value;
use tokio::time::sleep;

use crate::api::eventually;

/// The name of the stack and how to reach it, or `None` without `STACK_NAME`.
async fn stack() -> Option<(String, SdkConfig)> {
    let Ok(stack) = env::var("STACK_NAME") else {
        eprintln!("skipped: STACK_NAME is not set, so queues and logs can't be reached");
        return None;
    };
    Some((stack, aws_config::load_defaults(BehaviorVersion::latest()).await))
}

/// The tables, and the name of the stack's with this logical id.
///
/// # Panics
/// Without `STACK_NAME`.
pub async fn table(id: &str) -> (DynamoDb, String) {
    let (stack, aws) = stack().await.unwrap();
    let tables = DynamoDb::new(&aws);
    let names = tables.list_tables().send().await.unwrap().table_names.unwrap_or_default();
    let name = names.into_iter().find(|name| name.starts_with(&stack) && name.contains(id));
    (tables, name.expect("the stack has the table"))
}

pub struct Queue {
    client: Client,
    url: String,
}

impl Queue {
    /// The stack's queue with this logical id, or `None` without `STACK_NAME`.
    pub async fn of_the_stack(id: &str) -> Option<Self> {
        let (stack, aws) = stack().await?;
        let client = Client::new(&aws);
        let found = client.list_queues().queue_name_prefix(format!("{stack}-{id}-")).send().await;
        let url =
            found.expect("queues are listed").queue_urls.unwrap_or_default().pop().expect("the stack has the queue");
        Some(Self { client, url })
    }

    pub async fn send(&self, body: &str) {
        self.send_later(body, 0).await;
    }

    /// Sends what is delivered after so many seconds.
    pub async fn send_later(&self, body: &str, seconds: i32) {
        let message = self.client.send_message().queue_url(&self.url).delay_seconds(seconds);
        message.message_body(body).send().await.unwrap();
    }

    /// Whether a message with this text is in the queue. Messages stay there: others may be somebody's.
    pub async fn holds(&self, text: &str) -> bool {
        let received =
            self.client.receive_message().queue_url(&self.url).max_number_of_messages(10).visibility_timeout(0).send();
        let messages = received.await.unwrap().messages.unwrap_or_default();
        messages.iter().any(|message| message.body().is_some_and(|body| body.contains(text)))
    }

    /// Waits for a moment in which no message is in the queue or in work.
    pub async fn is_done(&self) {
        for _ in 0..600 {
            if self.messages().await == 0 {
                return;
            }
            sleep(Duration::from_millis(100)).await;
        }
        panic!("{} does not get empty", self.url);
    }

    async fn messages(&self) -> u32 {
        use QueueAttributeName::{
            ApproximateNumberOfMessages as Waiting, ApproximateNumberOfMessagesNotVisible as InWork,
        };
        let asked = self.client.get_queue_attributes().queue_url(&self.url);
        let answer = asked.attribute_names(Waiting).attribute_names(InWork).send().await.unwrap();
        let count = |name| answer.attributes().unwrap()[&name].parse::<u32>().unwrap();
        count(Waiting) + count(InWork)
    }
}

/// The lines with this correlation id that are in a log group of the stack, or `None` without `STACK_NAME`.
pub async fn lines(group: &str, correlation_id: &str) -> Option<Vec<Value>> {
    let (stack, aws) = stack().await?;
    let logs = Logs::new(&aws);
    let mut pages = logs
        .filter_log_events()
        .log_group_name(newest(&logs, &format!("{stack}-{group}-")).await)
        .filter_pattern(format!("\"{correlation_id}\""))
        .into_paginator()
        .send();
    let mut lines = Vec::new();
    while let Some(page) = pages.next().await {
        let events = page.expect("the log group can be read").events.unwrap_or_default();
        let messages = events.into_iter().filter_map(|event| event.message);
        lines.extend(messages.filter_map(|message| serde_json::from_str::<Value>(message.trim()).ok()));
    }
    lines.retain(|line| line["correlation_id"].as_str().is_some_and(|ids| ids.contains(correlation_id)));
    Some(lines)
}

/// The log group whose name begins like this. Those of earlier stacks of the same name are kept.
async fn newest(logs: &Logs, beginning: &str) -> String {
    let groups = logs.describe_log_groups().log_group_name_prefix(beginning).send().await.expect("groups are listed");
    let newest = groups.log_groups.unwrap_or_default().into_iter().max_by_key(|group| group.creation_time);
    newest.and_then(|group| group.log_group_name).expect("the function has a log group")
}

/// Waits until the answer is the expected one, and then for what is in the queues. The answer must be the same afterwards: an event
/// that counts twice or is told twice shows by then.
pub async fn exactly<T, F>(what: &str, expected: T, mut ask: impl FnMut() -> F)
where
    T: PartialEq + Debug,
    F: Future<Output = T>,
{
    let expected = eventually(what, expected, &mut ask).await;
    for id in ["AnalyticsQueue", "NotifyQueue"] {
        if let Some(queue) = Queue::of_the_stack(id).await {
            queue.is_done().await;
        }
    }
    assert_eq!(ask().await, expected, "{what} did not stay");
}
