//! Following a link through the public address. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use linklet_canary::Canary;
use linklet_lambda::{StartError, config, schedule};

fn main() -> ExitCode {
    linklet_lambda::start("canary", run())
}

async fn run() -> Result<(), StartError> {
    let endpoint = config::required("API_ENDPOINT")?;
    schedule::run(Canary::new(config::optional("PUBLIC_BASE_URL").as_deref(), &endpoint, &config::parsed("CANARY")?))
        .await
}
