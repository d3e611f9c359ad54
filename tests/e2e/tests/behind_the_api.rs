//! What can only be seen or caused in the queues. Needs `STACK_NAME` and AWS credentials (any will do for an emulator).

use std::env;

use aws_config::BehaviorVersion;
use aws_sdk_dynamodb::{Client as DynamoDb, types::AttributeValue};
use aws_sdk_sqs::Client;
use linklet_domain::Timestamp;
use linklet_test_support::ClickBuilder;
use serde_json::json;

use crate::api::{Api, User, eventually};

struct Queue {
    client: Client,
    url: String,
}

impl Queue {
    /// The stack's queue with this name, or `None` without `STACK_NAME`.
    async fn of_the_stack(name: &str) -> Option<Self> {
        let Ok(stack) = env::var("STACK_NAME") else {
            eprintln!("skipped: STACK_NAME is not set, so the queues can't be reached");
            return None;
        };
        let client = Client::new(&aws_config::load_defaults(BehaviorVersion::latest()).await);
        let found = client.get_queue_url().queue_name(format!("{stack}-{name}")).send().await;
        let url = found.expect("the stack has the queue").queue_url.expect("a queue has a URL");
        Some(Self { client, url })
    }

    async fn send(&self, body: &str) {
        self.client.send_message().queue_url(&self.url).message_body(body).send().await.unwrap();
    }

    /// Whether a message with this text is in the queue. Messages stay there: others may be somebody's.
    async fn holds(&self, text: &str) -> bool {
        let received =
            self.client.receive_message().queue_url(&self.url).max_number_of_messages(10).visibility_timeout(0).send();
        let messages = received.await.unwrap().messages.unwrap_or_default();
        messages.iter().any(|message| message.body().is_some_and(|body| body.contains(text)))
    }
}

/// A click on a link of the stack as the relay sends it. Only the table knows which of the links with its code it is.
async fn click_on(code: &str) -> String {
    let stack = env::var("STACK_NAME").unwrap();
    let client = DynamoDb::new(&aws_config::load_defaults(BehaviorVersion::latest()).await);
    let tables = client.list_tables().send().await.unwrap().table_names.unwrap_or_default();
    let is_of_links = |table: &&String| table.starts_with(&stack) && table.contains("LinksTable");
    let table = tables.iter().find(is_of_links).expect("the stack has a table of links");
    let key = [("pk", format!("LINK#{code}")), ("sk", "LINK".to_owned())];
    let key = key.map(|(name, value)| (name.to_owned(), AttributeValue::S(value)));
    let read =
        client.get_item().table_name(table).set_key(Some(key.into())).consistent_read(true).send().await.unwrap();
    let item = read.item.expect("the link is stored");
    let generation = item["generation"].as_s().unwrap().parse().unwrap();
    let click = ClickBuilder::new(code).of_generation(generation).at(Timestamp::now()).build();
    serde_json::to_string(&click).unwrap()
}

#[tokio::test]
async fn a_malformed_message_ends_in_the_dead_letter_queue_while_its_neighbours_count() {
    let (Some(queue), Some(dead_letters)) =
        (Queue::of_the_stack("analytics").await, Queue::of_the_stack("analytics-dlq").await)
    else {
        return;
    };
    let api = Api::new();
    let code = User::new(&api).await.shorten("https://example.com/").await;
    let malformed = format!("malformed {code}");

    queue.send(&click_on(&code).await).await;
    queue.send(&malformed).await;
    queue.send(&click_on(&code).await).await;

    let path = format!("/api/stats/{code}");
    eventually("the neighbours are counted", json!(2), async || api.get(&path).await.json()["total_clicks"].clone())
        .await;
    eventually("the malformed message is parked", true, || dead_letters.holds(&malformed)).await;
}

#[tokio::test]
async fn an_event_delivered_twice_counts_once() {
    let Some(queue) = Queue::of_the_stack("analytics").await else { return };
    let api = Api::new();
    let code = User::new(&api).await.shorten("https://example.com/").await;
    let click = click_on(&code).await;
    let path = format!("/api/stats/{code}");

    queue.send(&click).await;
    queue.send(&click).await;
    eventually("it is counted once", json!(1), async || api.get(&path).await.json()["total_clicks"].clone()).await;
    queue.send(&click).await;

    eventually("and stays so", json!(1), async || api.get(&path).await.json()["total_clicks"].clone()).await;
}
