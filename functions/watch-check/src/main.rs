//! Checking monitored URLs. This file only wires; `handler.rs` decides.

use std::{process::ExitCode, time::Duration};

use linklet_lambda::{StartError, config};
use linklet_watch_check::{Fetcher, Reach};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    linklet_lambda::start("watch-check", run()).await
}

async fn run() -> Result<(), StartError> {
    let timeout = Duration::from_secs(config::parsed("HTTP_TIMEOUT_SECONDS")?);
    let _fetcher = Fetcher::new(Reach::from_env()?, timeout)?;
    // No queue brings targets yet, and nothing is deployed that would start this function.
    Err("there is no queue of targets to check".into())
}
