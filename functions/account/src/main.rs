//! A workspace, its members and its API keys. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use linklet_account::Account;
use linklet_dynamodb::UsersTable;
use linklet_lambda::{StartError, aws, config, http, identity::TokenVerifier};

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("account", run()).await
}

async fn run() -> Result<(), StartError> {
    let table = config::required("USERS_TABLE")?;
    let aws = aws::load().await;
    let tables = aws::tables(&aws);
    http::serve(Account::new(TokenVerifier::from_env(&aws, &tables).await?, UsersTable::new(tables, table))).await
}
