//! Closing workspaces and accounts. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_dynamodb::{AuditTable, JobsTable, LinksTable, NotificationsTable, UsersTable, WatchTable};
use linklet_lambda::{
    StartError, aws, config, email_requests::EmailRequests, hashing::Limits, http, identity::TokenVerifier,
    passwords::Passwords,
};
use linklet_leave::{Leave, Stored};

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("leave", run()).await
}

async fn run() -> Result<(), StartError> {
    let (users, audit_log) = (config::required("USERS_TABLE")?, config::required("AUDIT_TABLE")?);
    let (jobs, links) = (config::required("JOBS_TABLE")?, config::required("LINKS_TABLE")?);
    let (targets, notifications) = (config::required("WATCH_TABLE")?, config::required("NOTIFICATIONS_TABLE")?);
    let aws = aws::load().await;
    let tables = aws::tables(&aws);
    let tokens = TokenVerifier::from_env(&aws, &tables).await?;
    let limits = Limits::from_env(&tables, &SecretsManager::new(&aws)).await?;
    let (audit_log, jobs) = (AuditTable::new(tables.clone(), audit_log), JobsTable::new(tables.clone(), jobs));
    let users = UsersTable::new(tables.clone(), users, audit_log, jobs.clone());
    let stored = Stored {
        jobs,
        links: LinksTable::new(tables.clone(), links),
        targets: WatchTable::new(tables.clone(), targets),
        notifications: NotificationsTable::new(tables, notifications),
    };
    let (passwords, mails) = (Passwords::default(), EmailRequests::from_env(&aws));
    http::serve(Leave { tokens, users, limits, passwords, mails, stored }).await
}
