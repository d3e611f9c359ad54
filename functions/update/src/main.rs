//! Changing links. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_dynamodb::{LinksTable, Names, StatsTable, WatchTable, Workspaces};
use linklet_lambda::blocks::Blocks;
use linklet_lambda::bulk::Bulk;
use linklet_lambda::hashing::{Limits, LinkHashing};
use linklet_lambda::http::ShortUrls;
use linklet_lambda::identity::Authenticator;
use linklet_lambda::watching::{self, TargetRoom};
use linklet_lambda::{StartError, aws, config, http};
use linklet_update::Update;

fn main() -> ExitCode {
    linklet_lambda::start("update", run())
}

async fn run() -> Result<(), StartError> {
    let (quota, reach) = (watching::quota_from_env()?, watching::reach_from_env()?);
    let aws = aws::load().await;
    let tables = aws::Tables::behind_the_api(&aws);
    let limits = Limits::from_env(&tables, &SecretsManager::new(&aws)).await?;
    let links = tables.at("LINKS_TABLE", LinksTable)?;
    http::serve(Update {
        authenticator: Authenticator::from_env(&aws, &tables).await?,
        blocks: Blocks::new(links.clone()),
        links,
        stats: tables.at("STATS_TABLE", StatsTable::new)?,
        room: TargetRoom {
            targets: tables.at("WATCH_TABLE", WatchTable::new)?.with_quota(quota),
            users: tables.at("USERS_TABLE", Workspaces)?,
            reach,
        },
        people: tables.at("USERS_TABLE", Names)?,
        short_urls: ShortUrls::from_env(),
        bulk: Bulk::new(limits.guesses.table.clone()),
        hashing: LinkHashing::within(limits),
        edge: config::parsed("TRUSTED_EDGE")?,
    })
    .await
}
