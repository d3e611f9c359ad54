//! One read from DynamoDB after another, with nothing around it: `bench-get-item TABLE < partition keys`.
//!
//! Prints at once how long each took, and how long the processor was busy with it, in nanoseconds.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a benchmark prints, and ends if anything goes wrong")]

use std::time::{Duration, Instant};
use std::{env, io};

use aws_config::BehaviorVersion;
use aws_sdk_dynamodb::{Client, types::AttributeValue};
use rustix::time::{ClockId, clock_gettime};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let table = env::args().nth(1).expect("the argument is a table");
    let client = Client::new(&aws_config::load_defaults(BehaviorVersion::latest()).await);
    for key in io::stdin().lines() {
        let (time, busy) = read(&client, &table, key.expect("keys are text")).await;
        println!("{} {}", time.as_nanos(), busy.as_nanos());
    }
}

async fn read(client: &Client, table: &str, key: String) -> (Duration, Duration) {
    let (busy, started) = (cpu_time(), Instant::now());
    let read = client
        .get_item()
        .table_name(table)
        .key("pk", AttributeValue::S(key))
        .key("sk", AttributeValue::S("LINK".to_owned()))
        .send()
        .await;
    let (time, busy) = (started.elapsed(), cpu_time() - busy);
    assert!(read.expect("the table can be read").item.is_some(), "the item is there");
    (time, busy)
}

/// How long this thread, the only one, has run.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let (secs, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(secs.expect("time goes on"), nanos.expect("a second has a billion nanoseconds"))
}
