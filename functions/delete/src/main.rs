//! Deactivating links. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_delete::Delete;
use linklet_dynamodb::{ApiKeysTable, LinksTable};
use linklet_lambda::{
    StartError, aws, config, http,
    identity::{Authenticator, TokenVerifier},
};

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("delete", run()).await
}

async fn run() -> Result<(), StartError> {
    let (links, users) = (config::required("LINKS_TABLE")?, config::required("USERS_TABLE")?);
    let secret = config::required("JWT_SECRET_ID")?;
    let aws = aws::load().await;
    let dynamodb = aws::tables(&aws);
    let tokens = TokenVerifier::load(&SecretsManager::new(&aws), &secret).await?;
    http::serve(Delete {
        authenticator: Authenticator::new(tokens, ApiKeysTable::new(dynamodb.clone(), users)),
        links: LinksTable::new(dynamodb, links),
    })
    .await
}
