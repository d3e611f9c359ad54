//! Monitored URLs. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use linklet_dynamodb::{AuditTable, WatchTable, Workspaces};
use linklet_lambda::{StartError, aws, http, http::ShortUrls, identity::Authenticator, watching};
use linklet_watch::Watch;

fn main() -> ExitCode {
    linklet_lambda::start("watch", run())
}

async fn run() -> Result<(), StartError> {
    let (quota, reach) = (watching::quota_from_env()?, watching::reach_from_env()?);
    let aws = aws::load().await;
    let tables = aws::Tables::behind_the_api(&aws);
    http::serve(Watch {
        authenticator: Authenticator::from_env(&aws, &tables).await?,
        targets: tables.at("WATCH_TABLE", WatchTable::new)?.with_quota(quota),
        audit_log: tables.at("AUDIT_TABLE", AuditTable)?,
        users: tables.at("USERS_TABLE", Workspaces)?,
        short_urls: ShortUrls::from_env(),
        reach,
    })
    .await
}
