//! Monitored URLs. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use linklet_dynamodb::WatchTable;
use linklet_lambda::{StartError, aws, config, http, http::ShortUrls, identity::Authenticator};
use linklet_watch::Watch;

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("watch", run()).await
}

async fn run() -> Result<(), StartError> {
    let (targets, quota) = (config::required("WATCH_TABLE")?, config::parsed("TARGETS_PER_WORKSPACE")?);
    let aws = aws::load().await;
    let tables = aws::tables(&aws);
    http::serve(Watch {
        authenticator: Authenticator::from_env(&aws, &tables).await?,
        targets: WatchTable::new(tables, targets).with_quota(quota),
        short_urls: ShortUrls::from_env(),
    })
    .await
}
