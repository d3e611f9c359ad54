//! Beginning rounds of checks. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_sqs::Client as Sqs;
use linklet_dynamodb::WatchTable;
use linklet_lambda::{StartError, aws, batch, batch::DeadLetterQueue, config, publisher::Publisher};
use linklet_watch_dispatch::Dispatch;

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("watch-dispatch", run()).await
}

async fn run() -> Result<(), StartError> {
    let (table, checks) = (config::required("WATCH_TABLE")?, config::required("CHECKS_QUEUE_URL")?);
    let (dead_letters, max_concurrency) = (config::required("ROUNDS_DLQ_URL")?, config::parsed("MAX_CONCURRENCY")?);
    let aws = aws::load().await;
    let sqs = Sqs::new(&aws);
    batch::run(Dispatch {
        targets: WatchTable::new(DynamoDb::new(&aws), table),
        checks: Publisher::new(sqs.clone(), checks),
        dead_letters: DeadLetterQueue::new(sqs, dead_letters),
        max_concurrency,
        extra_reads: Dispatch::EXTRA_READS,
        retry_for: Dispatch::RETRY_FOR,
    })
    .await
}
