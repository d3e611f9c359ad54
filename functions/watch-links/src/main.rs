//! Links that watch. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_sqs::Client as Sqs;
use linklet_dynamodb::{WatchTable, Workspaces};
use linklet_lambda::{StartError, aws, batch, batch::DeadLetterQueue, config, watching};
use linklet_watch_links::WatchLinks;

fn main() -> ExitCode {
    linklet_lambda::start("watch-links", run())
}

async fn run() -> Result<(), StartError> {
    let quota = watching::quota_from_env()?;
    let aws = aws::load().await;
    let tables = aws::Tables::without_breaker(&aws);
    batch::run(WatchLinks {
        targets: tables.at("WATCH_TABLE", WatchTable::new)?.with_quota(quota),
        users: tables.at("USERS_TABLE", Workspaces)?,
        dead_letters: DeadLetterQueue::new(Sqs::new(&aws), config::required("RELAY_DLQ_URL")?).shared_by("watch-links"),
    })
    .await
}
