//! A workspace, its members and its API keys. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_account::Account;
use linklet_dynamodb::UsersTable;
use linklet_lambda::{StartError, aws, config, http, identity::TokenVerifier};

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("account", run()).await
}

async fn run() -> Result<(), StartError> {
    let (table, secret) = (config::required("USERS_TABLE")?, config::required("JWT_SECRET_ID")?);
    let aws = aws::load().await;
    let tokens = TokenVerifier::load(&SecretsManager::new(&aws), &secret).await?;
    http::serve(Account::new(tokens, UsersTable::new(aws::tables(&aws), table))).await
}
