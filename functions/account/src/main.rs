//! A workspace, its members and its API keys. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_account::{Account, Sharing};
use linklet_dynamodb::{LinksTable, NotificationsTable, StatsTable};
use linklet_lambda::{
    StartError, admission, aws, email_requests::EmailRequests, guesses::Guesses, hashing::Limits, hashing::LinkHashing,
    http, http::ShortUrls, identity::TokenVerifier, workspace_view::WorkspaceViews,
};

fn main() -> ExitCode {
    linklet_lambda::start("account", run())
}

async fn run() -> Result<(), StartError> {
    let aws = aws::load().await;
    let tables = aws::Tables::behind_the_api(&aws);
    let verifier = TokenVerifier::from_env(&aws, &tables).await?;
    let Limits { guesses, hashes } = Limits::from_env(&tables, &SecretsManager::new(&aws)).await?;
    let of_hashes = Guesses { table: guesses.table.clone(), edge: guesses.edge, salt: guesses.salt.clone() };
    let sharing = Sharing {
        table: tables.at("STATS_TABLE", StatsTable::new)?,
        links: tables.at("LINKS_TABLE", LinksTable)?,
        hashing: LinkHashing::within(Limits { guesses: of_hashes, hashes }),
        short_urls: ShortUrls::from_env(),
    };
    let notifications = tables.at("NOTIFICATIONS_TABLE", NotificationsTable)?;
    let users = tables.users()?;
    let (mails, creation, views) = (EmailRequests::from_env(&aws), admission::creation()?, WorkspaceViews::from_env()?);
    http::serve(Account { mails, creation, views, ..Account::new(verifier, users, notifications, guesses, sharing) })
        .await
}
