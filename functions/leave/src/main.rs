//! Closing workspaces and accounts. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_dynamodb::{AuditTable, JobsTable, UsersTable};
use linklet_lambda::{
    StartError, aws, config, hashing::Limits, http, identity::TokenVerifier, mail_orders::MailOrders,
};
use linklet_leave::Leave;

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("leave", run()).await
}

async fn run() -> Result<(), StartError> {
    let (users, trail) = (config::required("USERS_TABLE")?, config::required("AUDIT_TABLE")?);
    let jobs = config::required("JOBS_TABLE")?;
    let aws = aws::load().await;
    let tables = aws::tables(&aws);
    let tokens = TokenVerifier::from_env(&aws, &tables).await?;
    let limits = Limits::from_env(&tables, &SecretsManager::new(&aws)).await?;
    let users = UsersTable::new(tables.clone(), users, AuditTable::new(tables.clone(), trail));
    let jobs = JobsTable::new(tables, jobs);
    http::serve(Leave { tokens, users, jobs, limits, passwords: Default::default(), mails: MailOrders::from_env(&aws) })
        .await
}
