//! Monitored URLs. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use linklet_dynamodb::{AuditTable, WatchTable, Workspaces};
use linklet_lambda::{StartError, aws, config, http, http::ShortUrls, identity::Authenticator, watching};
use linklet_watch::Watch;

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("watch", run()).await
}

async fn run() -> Result<(), StartError> {
    let (targets, users) = (config::required("WATCH_TABLE")?, config::required("USERS_TABLE")?);
    let audit_log = config::required("AUDIT_TABLE")?;
    let (quota, reach) = (watching::quota_from_env()?, watching::reach_from_env()?);
    let aws = aws::load().await;
    let tables = aws::tables(&aws);
    http::serve(Watch {
        authenticator: Authenticator::from_env(&aws, &tables).await?,
        targets: WatchTable::new(tables.clone(), targets).with_quota(quota),
        audit_log: AuditTable::new(tables.clone(), audit_log),
        users: Workspaces::new(tables, users),
        short_urls: ShortUrls::from_env(),
        reach,
    })
    .await
}
