//! One read from DynamoDB after another, with nothing around it: `bench-get-item TABLE WARM_UP < partition keys`.
//!
//! Prints how long each took in nanoseconds, but for as many at the beginning as are to warm up.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a benchmark prints, and ends if anything goes wrong")]

use std::{
    env, io,
    time::{Duration, Instant},
};

use aws_config::BehaviorVersion;
use aws_sdk_dynamodb::{Client, types::AttributeValue};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let table = env::args().nth(1).expect("the first argument is a table");
    let warm_up: usize = env::args().nth(2).and_then(|number| number.parse().ok()).expect("the second is a number");
    let keys: Vec<_> = io::stdin().lines().map(|key| key.expect("keys are text")).collect();
    let client = Client::new(&aws_config::load_defaults(BehaviorVersion::latest()).await);
    let mut times = Vec::with_capacity(keys.len());
    for key in keys {
        times.push(read(&client, &table, key).await);
    }
    for time in times.into_iter().skip(warm_up) {
        println!("{}", time.as_nanos());
    }
}

async fn read(client: &Client, table: &str, key: String) -> Duration {
    let started = Instant::now();
    let read = client
        .get_item()
        .table_name(table)
        .key("pk", AttributeValue::S(key))
        .key("sk", AttributeValue::S("LINK".to_owned()))
        .send()
        .await;
    let time = started.elapsed();
    assert!(read.expect("the table can be read").item.is_some(), "the item is there");
    time
}
