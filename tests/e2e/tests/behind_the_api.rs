//! What can only be seen or caused in the queues. Needs `STACK_NAME` and AWS credentials (any will do for an emulator).

use std::env;

use aws_config::BehaviorVersion;
use aws_sdk_sqs::Client;
use linklet_domain::Timestamp;
use linklet_test_support::click_event;
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

#[tokio::test]
async fn a_malformed_message_ends_in_the_dead_letter_queue_while_its_neighbours_count() {
    let (Some(queue), Some(dead_letters)) =
        (Queue::of_the_stack("analytics").await, Queue::of_the_stack("analytics-dlq").await)
    else {
        return;
    };
    let api = Api::new();
    let code = User::new(&api).await.shorten("https://example.com/").await;
    let click = || serde_json::to_string(&click_event(&code, Timestamp::now())).unwrap();
    let malformed = format!("malformed {code}");

    queue.send(&click()).await;
    queue.send(&malformed).await;
    queue.send(&click()).await;

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
    let click = serde_json::to_string(&click_event(&code, Timestamp::now())).unwrap();
    let path = format!("/api/stats/{code}");

    queue.send(&click).await;
    queue.send(&click).await;
    eventually("it is counted once", json!(1), async || api.get(&path).await.json()["total_clicks"].clone()).await;
    queue.send(&click).await;

    eventually("and stays so", json!(1), async || api.get(&path).await.json()["total_clicks"].clone()).await;
}
