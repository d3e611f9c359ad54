//! What happens once a minute. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_sqs::Client as Sqs;
use linklet_clock::Clock;
use linklet_dynamodb::{JobsTable, WatchTable};
use linklet_lambda::{StartError, aws, config, publisher::Publisher, schedule};

fn main() -> ExitCode {
    linklet_lambda::start("clock", run())
}

async fn run() -> Result<(), StartError> {
    let (queue, interval) = (config::required("TICKS_QUEUE_URL")?, config::parsed("CHECK_INTERVAL_SECONDS")?);
    let aws = aws::load().await;
    let tables = aws::Tables::without_breaker(&aws);
    schedule::run(Clock {
        targets: tables.at("WATCH_TABLE", WatchTable::new)?,
        jobs: tables.at("JOBS_TABLE", JobsTable)?,
        ticks: Publisher::new(Sqs::new(&aws), queue),
        interval,
        places: config::parsed("MAX_CONCURRENCY")?,
    })
    .await
}
