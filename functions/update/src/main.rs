//! Changing links. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_dynamodb::{LinksTable, Names, StatsTable, WatchTable, Workspaces};
use linklet_lambda::{
    StartError, aws,
    bulk::Bulk,
    config,
    hashing::{Limits, LinkHashing},
    http,
    http::ShortUrls,
    identity::Authenticator,
    watching::{self, TargetRoom},
};
use linklet_update::Update;

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("update", run()).await
}

async fn run() -> Result<(), StartError> {
    let (links, stats) = (config::required("LINKS_TABLE")?, config::required("STATS_TABLE")?);
    let (targets, people) = (config::required("WATCH_TABLE")?, config::required("USERS_TABLE")?);
    let (quota, reach) = (watching::quota_from_env()?, watching::reach_from_env()?);
    let edge = config::parsed("TRUSTED_EDGE")?;
    let aws = aws::load().await;
    let tables = aws::tables(&aws);
    let limits = Limits::from_env(&tables, &SecretsManager::new(&aws)).await?;
    http::serve(Update {
        authenticator: Authenticator::from_env(&aws, &tables).await?,
        links: LinksTable::new(tables.clone(), links),
        stats: StatsTable::new(tables.clone(), stats),
        room: TargetRoom {
            targets: WatchTable::new(tables.clone(), targets).with_quota(quota),
            users: Workspaces::new(tables.clone(), people.clone()),
            reach,
        },
        people: Names::new(tables, people),
        short_urls: ShortUrls::from_env(),
        bulk: Bulk::new(limits.guesses.table.clone()),
        hashing: LinkHashing::within(limits),
        edge,
    })
    .await
}
