//! A workspace, its members and its API keys. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_account::Account;
use linklet_dynamodb::{AuditTable, JobsTable, NotificationsTable, UsersTable};
use linklet_lambda::{
    StartError, admission, aws, config, email_requests::EmailRequests, guesses::Guesses, http, identity::TokenVerifier,
};

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("account", run()).await
}

async fn run() -> Result<(), StartError> {
    let (table, audit_log) = (config::required("USERS_TABLE")?, config::required("AUDIT_TABLE")?);
    let (jobs, notifications) = (config::required("JOBS_TABLE")?, config::required("NOTIFICATIONS_TABLE")?);
    let aws = aws::load().await;
    let tables = aws::tables(&aws);
    let verifier = TokenVerifier::from_env(&aws, &tables).await?;
    let guesses = Guesses::from_env(&tables, &SecretsManager::new(&aws)).await?;
    let audit_log = AuditTable::new(tables.clone(), audit_log);
    let jobs = JobsTable::new(tables.clone(), jobs);
    let notifications = NotificationsTable::new(tables.clone(), notifications);
    let users = UsersTable::new(tables, table, audit_log, jobs);
    let (mails, founding) = (EmailRequests::from_env(&aws), admission::founding()?);
    http::serve(Account { mails, founding, ..Account::new(verifier, users, notifications, guesses) }).await
}
