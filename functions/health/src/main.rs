//! The health check. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use linklet_health::Health;
use linklet_lambda::{StartError, http};

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("health", run()).await
}

async fn run() -> Result<(), StartError> {
    http::serve(Health).await
}
