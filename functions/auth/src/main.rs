//! Registration and login. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_auth::{Auth, Limits};
use linklet_dynamodb::UsersTable;
use linklet_lambda::{
    StartError, aws, config,
    guesses::Guesses,
    http,
    identity::{TokenIssuer, TokenVerifier},
};

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("auth", run()).await
}

async fn run() -> Result<(), StartError> {
    let (table, hashes) = (config::required("USERS_TABLE")?, config::parsed("HASHES_PER_SECOND")?);
    let aws = aws::load().await;
    let tables = aws::tables(&aws);
    let (verifier, issuer) = (TokenVerifier::from_env(&aws, &tables).await?, TokenIssuer::from_env(&aws).await?);
    let guesses = Guesses::from_env(&tables, &SecretsManager::new(&aws)).await?;
    http::serve(Auth::new(UsersTable::new(tables, table), verifier, issuer, Limits { guesses, hashes })).await
}
