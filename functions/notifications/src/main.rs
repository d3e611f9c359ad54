//! Reading notifications. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_dynamodb::NotificationsTable;
use linklet_lambda::{StartError, aws, config, http, identity::TokenVerifier};
use linklet_notifications::Notifications;

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("notifications", run()).await
}

async fn run() -> Result<(), StartError> {
    let (table, secret) = (config::required("NOTIFICATIONS_TABLE")?, config::required("JWT_SECRET_ID")?);
    let aws = aws::load().await;
    http::serve(Notifications {
        tokens: TokenVerifier::load(&SecretsManager::new(&aws), &secret).await?,
        notifications: NotificationsTable::new(aws::tables(&aws), table),
    })
    .await
}
