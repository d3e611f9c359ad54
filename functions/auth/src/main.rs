//! Registration and login. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

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
    let table = config::required("USERS_TABLE")?;
    let aws = aws::load().await;
    let tables = aws::tables(&aws);
    let (verifier, issuer) = (TokenVerifier::from_env(&aws, &tables).await?, TokenIssuer::from_env(&aws).await?);
    http::serve(Auth::new(UsersTable::new(tables, table), verifier, issuer)).await
}
