//! Planning ticks of checks. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_sqs::Client as Sqs;
use linklet_dynamodb::WatchTable;
use linklet_lambda::{StartError, aws, config, publisher::Publisher, schedule};
use linklet_watch_tick::Tick;

fn main() -> ExitCode {
    linklet_lambda::start("watch-tick", run())
}

async fn run() -> Result<(), StartError> {
    let (queue, interval) = (config::required("TICKS_QUEUE_URL")?, config::parsed("CHECK_INTERVAL_SECONDS")?);
    let aws = aws::load().await;
    let targets = aws::Tables::without_breaker(&aws).at("WATCH_TABLE", WatchTable::new)?;
    schedule::run(Tick {
        targets,
        ticks: Publisher::new(Sqs::new(&aws), queue),
        interval,
        places: config::parsed("MAX_CONCURRENCY")?,
    })
    .await
}
