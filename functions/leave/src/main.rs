//! Closing workspaces and accounts, and giving people their data. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_dynamodb::{JobsTable, LinksTable, NotificationsTable, WatchTable};
use linklet_lambda::{
    StartError, admission, aws, email_requests::EmailRequests, hashing::Limits, http, identity::TokenVerifier,
    passwords::Passwords, telemetry::chain, workspace_view::WorkspaceViews,
};
use linklet_leave::{Leave, Stored};

fn main() -> ExitCode {
    linklet_lambda::start("leave", run())
}

async fn run() -> Result<(), StartError> {
    let aws = aws::load().await;
    let tables = aws::Tables::behind_the_api(&aws);
    let tokens = TokenVerifier::from_env(&aws, &tables).await?;
    let limits = Limits::from_env(&tables, &SecretsManager::new(&aws)).await?;
    let users = tables.users()?;
    let stored = Stored {
        jobs: tables.at("JOBS_TABLE", JobsTable)?,
        links: tables.at("LINKS_TABLE", LinksTable)?,
        targets: tables.at("WATCH_TABLE", WatchTable::new)?,
        notifications: tables.at("NOTIFICATIONS_TABLE", NotificationsTable)?,
    };
    let (passwords, mails) = (Passwords::default(), EmailRequests::from_env(&aws));
    let (password_login, views) = (admission::password_login()?, WorkspaceViews::from_env()?);
    let leave = &Leave { tokens, users, limits, passwords, password_login, mails, stored, views };
    let carry_out =
        async |command| Box::pin(leave.carry_out(command)).await.map_err(|error| StartError::from(chain(&error)));
    http::serve_with_commands(leave, carry_out).await
}
