//! Reading notifications. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use linklet_dynamodb::NotificationsTable;
use linklet_lambda::{StartError, aws, config, http, identity::TokenVerifier};
use linklet_notifications::Notifications;

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("notifications", run()).await
}

async fn run() -> Result<(), StartError> {
    let table = config::required("NOTIFICATIONS_TABLE")?;
    let aws = aws::load().await;
    let tables = aws::tables(&aws);
    http::serve(Notifications {
        tokens: TokenVerifier::from_env(&aws, &tables).await?,
        notifications: NotificationsTable::new(tables, table),
    })
    .await
}
