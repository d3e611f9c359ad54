//! Registration and login. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_auth::Auth;
use linklet_dynamodb::UsersTable;
use linklet_lambda::{
    StartError, aws, config, http,
    identity::{TokenIssuer, TokenVerifier},
};

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("auth", run()).await
}

async fn run() -> Result<(), StartError> {
    let (table, secret) = (config::required("USERS_TABLE")?, config::required("JWT_SECRET_ID")?);
    let aws = aws::load().await;
    let secrets = SecretsManager::new(&aws);
    let users = UsersTable::new(aws::tables(&aws), table);
    let tokens = TokenVerifier::load(&secrets, &secret).await?;
    let issuer = TokenIssuer::load(&secrets, &secret).await?;
    http::serve(Auth::new(users, tokens, issuer)).await
}
