//! Changing links. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_dynamodb::{ApiKeysTable, LinksTable, StatsTable};
use linklet_lambda::{
    StartError, aws, config, http,
    http::ShortUrls,
    identity::{Authenticator, TokenVerifier},
};
use linklet_update::Update;

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("update", run()).await
}

async fn run() -> Result<(), StartError> {
    let (links, stats) = (config::required("LINKS_TABLE")?, config::required("STATS_TABLE")?);
    let (users, secret) = (config::required("USERS_TABLE")?, config::required("JWT_SECRET_ID")?);
    let short_urls = ShortUrls::new(config::optional("PUBLIC_BASE_URL").as_deref());
    let aws = aws::load().await;
    let dynamodb = aws::tables(&aws);
    let tokens = TokenVerifier::load(&SecretsManager::new(&aws), &secret).await?;
    http::serve(Update {
        authenticator: Authenticator::new(tokens, ApiKeysTable::new(dynamodb.clone(), users)),
        links: LinksTable::new(dynamodb.clone(), links),
        stats: StatsTable::new(dynamodb, stats),
        short_urls,
    })
    .await
}
