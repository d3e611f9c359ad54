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
    let users = UsersTable::new(aws::tables(&aws), table);
    http::serve(Auth::new(users, TokenVerifier::from_env(&aws).await?, TokenIssuer::from_env(&aws).await?)).await
}
