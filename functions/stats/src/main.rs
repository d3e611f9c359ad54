//! Reading statistics. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_dynamodb::{ApiKeysTable, ClicksTable, LinksTable, StatsTable};
use linklet_lambda::{
    StartError, aws, config, http,
    identity::{Authenticator, TokenVerifier},
};
use linklet_stats::Stats;

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("stats", run()).await
}

async fn run() -> Result<(), StartError> {
    let (stats, links) = (config::required("STATS_TABLE")?, config::required("LINKS_TABLE")?);
    let (clicks, users) = (config::required("CLICKS_TABLE")?, config::required("USERS_TABLE")?);
    let secret = config::required("JWT_SECRET_ID")?;
    let aws = aws::load().await;
    let dynamodb = aws::tables(&aws);
    let tokens = TokenVerifier::load(&SecretsManager::new(&aws), &secret).await?;
    http::serve(Stats {
        authenticator: Authenticator::new(tokens, ApiKeysTable::new(dynamodb.clone(), users)),
        stats: StatsTable::new(dynamodb.clone(), stats),
        clicks: ClicksTable::new(dynamodb.clone(), clicks),
        links: LinksTable::new(dynamodb, links),
    })
    .await
}
