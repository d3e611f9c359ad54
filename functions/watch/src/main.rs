//! Monitored URLs. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_dynamodb::{ApiKeysTable, WatchTable};
use linklet_lambda::{
    StartError, aws, config, http,
    http::ShortUrls,
    identity::{Authenticator, TokenVerifier},
};
use linklet_watch::Watch;

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("watch", run()).await
}

async fn run() -> Result<(), StartError> {
    let (targets, users) = (config::required("WATCH_TABLE")?, config::required("USERS_TABLE")?);
    let secret = config::required("JWT_SECRET_ID")?;
    let short_urls = ShortUrls::new(config::optional("PUBLIC_BASE_URL").as_deref())
        .with_api_endpoint(config::optional("API_ENDPOINT"));
    let aws = aws::load().await;
    let dynamodb = aws::tables(&aws);
    let tokens = TokenVerifier::load(&SecretsManager::new(&aws), &secret).await?;
    http::serve(Watch {
        authenticator: Authenticator::new(tokens, ApiKeysTable::new(dynamodb.clone(), users)),
        targets: WatchTable::new(dynamodb, targets),
        short_urls,
    })
    .await
}
