//! Deactivating links. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_delete::Delete;
use linklet_dynamodb::LinksTable;
use linklet_lambda::{StartError, aws, config, http, identity::Authenticator};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    linklet_lambda::start("delete", run()).await
}

async fn run() -> Result<(), StartError> {
    let (links, secret) = (config::required("LINKS_TABLE")?, config::required("JWT_SECRET_ID")?);
    let aws = aws::load().await;
    http::serve(Delete {
        authenticator: Authenticator::load(&SecretsManager::new(&aws), &secret).await?,
        links: LinksTable::new(aws::tables(&aws), links),
    })
    .await
}
