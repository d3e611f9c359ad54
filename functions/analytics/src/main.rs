//! Counting clicks. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_sqs::Client as Sqs;
use linklet_analytics::Analytics;
use linklet_dynamodb::StatsTable;
use linklet_lambda::{StartError, aws, batch, batch::DeadLetterQueue, config};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    linklet_lambda::start("analytics", run()).await
}

async fn run() -> Result<(), StartError> {
    let (stats, dead_letters) = (config::required("STATS_TABLE")?, config::required("ANALYTICS_DLQ_URL")?);
    let aws = aws::load().await;
    batch::run(Analytics {
        stats: StatsTable::new(DynamoDb::new(&aws), stats),
        dead_letters: DeadLetterQueue::new(Sqs::new(&aws), dead_letters),
    })
    .await
}
