//! A workspace at a glance. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_dynamodb::{LinksTable, StatsTable, WatchTable, Workspaces};
use linklet_lambda::guesses::Guesses;
use linklet_lambda::hashing::{Limits, LinkHashing};
use linklet_lambda::http::{self, ShortUrls};
use linklet_lambda::identity::Authenticator;
use linklet_lambda::limiter::{Limiter, Strangers};
use linklet_lambda::shares::Shares;
use linklet_lambda::throttle::StatsQueryLimiter;
use linklet_lambda::workspace_view::WorkspaceViews;
use linklet_lambda::{StartError, aws, config};
use linklet_overview::Overviews;

fn main() -> ExitCode {
    linklet_lambda::start("overview", run())
}

async fn run() -> Result<(), StartError> {
    let aws = aws::load().await;
    let (tables, secrets) = (aws::Tables::behind_the_api(&aws), SecretsManager::new(&aws));
    let limits = Limits::from_env(&tables, &secrets).await?;
    let Guesses { table: calls, edge, salt } = &limits.guesses;
    let limiter = Limiter::new(config::parsed("REDIRECT_LIMIT_PER_MINUTE")?);
    let strangers = Strangers { calls: calls.clone(), limiter, edge: *edge, salt: salt.clone() };
    let stats = tables.at("STATS_TABLE", StatsTable::new)?;
    http::serve(Overviews {
        authenticator: Authenticator::from_env(&aws, &tables).await?,
        links: tables.at("LINKS_TABLE", LinksTable)?,
        targets: tables.at("WATCH_TABLE", WatchTable::new)?,
        workspaces: tables.at("USERS_TABLE", Workspaces)?,
        views: WorkspaceViews::from_env()?,
        questions: StatsQueryLimiter(calls.clone()),
        short_urls: ShortUrls::from_env(),
        shares: Shares::new(stats.clone(), calls.clone(), LinkHashing::within(limits)),
        strangers,
        stats,
    })
    .await
}
