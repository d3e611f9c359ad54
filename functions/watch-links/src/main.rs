//! Links that watch. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_sqs::Client as Sqs;
use linklet_dynamodb::{WatchTable, Workspaces};
use linklet_lambda::{StartError, aws, batch, batch::DeadLetterQueue, config, watching};
use linklet_watch_links::WatchLinks;

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("watch-links", run()).await
}

async fn run() -> Result<(), StartError> {
    let (table, dead_letters) = (config::required("WATCH_TABLE")?, config::required("RELAY_DLQ_URL")?);
    let (users, quota) = (config::required("USERS_TABLE")?, watching::quota_from_env()?);
    let aws = aws::load().await;
    let tables = DynamoDb::new(&aws);
    batch::run(WatchLinks {
        targets: WatchTable::new(tables.clone(), table).with_quota(quota),
        users: Workspaces::new(tables, users),
        dead_letters: DeadLetterQueue::new(Sqs::new(&aws), dead_letters).shared_by("watch-links"),
    })
    .await
}
