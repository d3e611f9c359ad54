//! Checking monitored URLs. This file only wires; `handler.rs` decides.

use std::{process::ExitCode, time::Duration};

use aws_sdk_sqs::Client as Sqs;
use linklet_domain::Timestamp;
use linklet_dynamodb::WatchTable;
use linklet_fetch::{Fetcher, SystemNetwork};
use linklet_lambda::{StartError, aws, batch, batch::DeadLetterQueue, config, watching};
use linklet_watch_check::Checker;

fn main() -> ExitCode {
    linklet_lambda::start("watch-check", run())
}

async fn run() -> Result<(), StartError> {
    let timeout = Duration::from_secs(config::parsed("HTTP_TIMEOUT_SECONDS")?);
    let fetcher =
        Fetcher::new("link monitoring", watching::reach_from_env()?, timeout)?.excluding(config::own_addresses()?);
    let aws = aws::load().await;
    batch::run(Checker {
        fetcher,
        targets: aws::Tables::without_breaker(&aws).at("WATCH_TABLE", WatchTable::new)?,
        dead_letters: DeadLetterQueue::new(Sqs::new(&aws), config::required("TICKS_DLQ_URL")?),
        extra_reads: Checker::<SystemNetwork>::EXTRA_READS,
        clock: Box::new(Timestamp::now),
    })
    .await
}
