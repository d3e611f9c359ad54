//! What can only be seen or caused in the queues.

use aws_sdk_dynamodb::types::AttributeValue;
use linklet_domain::Timestamp;
use linklet_test_support::ClickBuilder;
use serde_json::json;

use crate::api::{Api, User, eventually};
use crate::stack::{Queue, exactly, table};

/// A click on a link of the stack as the relay sends it. Only the table knows which of the links with its code it is.
async fn click_on(code: &str) -> String {
    let (tables, table) = table("LinksTable").await;
    let key = [("pk", format!("LINK#{code}")), ("sk", "LINK".to_owned())];
    let key = key.map(|(name, value)| (name.to_owned(), AttributeValue::S(value)));
    let read =
        tables.get_item().table_name(table).set_key(Some(key.into())).consistent_read(true).send().await.unwrap();
    let item = read.item.expect("the link is stored");
    let generation = item["generation"].as_s().unwrap().parse().unwrap();
    let click = ClickBuilder::new(code).of_generation(generation).at(Timestamp::now()).build();
    serde_json::to_string(&click).unwrap()
}

#[tokio::test]
async fn a_malformed_message_becomes_a_dead_letter_and_its_neighbours_count() {
    let (Some(queue), Some(dead_letters)) =
        (Queue::of_the_stack("AnalyticsQueue").await, Queue::of_the_stack("AnalyticsDlq").await)
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
    exactly("the neighbours are counted", json!(2), async || api.get(&path).await.json()["total_clicks"].clone()).await;
    eventually("the malformed message is parked", true, || dead_letters.holds(&malformed)).await;
}
