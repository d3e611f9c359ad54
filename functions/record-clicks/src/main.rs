//! Parked clicks. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_sqs::Client as Sqs;
use linklet_dynamodb::ClicksTable;
use linklet_lambda::{StartError, aws, batch, batch::DeadLetterQueue, config};
use linklet_record_clicks::RecordClicks;

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("record-clicks", run()).await
}

async fn run() -> Result<(), StartError> {
    let (table, dead_letters) = (config::required("CLICKS_TABLE")?, config::required("CLICKS_DLQ_URL")?);
    let aws = aws::load().await;
    batch::run(RecordClicks {
        clicks: ClicksTable::new(DynamoDb::new(&aws), table),
        dead_letters: DeadLetterQueue::new(Sqs::new(&aws), dead_letters),
    })
    .await
}
