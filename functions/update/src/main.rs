//! Changing links. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_dynamodb::{Names, StatsTable};
use linklet_lambda::bulk::Bulk;
use linklet_lambda::identity::Authenticator;
use linklet_lambda::link_writer::LinkWriter;
use linklet_lambda::{StartError, aws, config, http};
use linklet_update::Update;

fn main() -> ExitCode {
    linklet_lambda::start("update", run())
}

async fn run() -> Result<(), StartError> {
    let aws = aws::load().await;
    let tables = aws::Tables::behind_the_api(&aws);
    let (writer, throttle) = LinkWriter::from_env(&tables, &SecretsManager::new(&aws)).await?;
    http::serve(Update {
        authenticator: Authenticator::from_env(&aws, &tables).await?,
        writer,
        stats: tables.at("STATS_TABLE", StatsTable::new)?,
        people: tables.at("USERS_TABLE", Names)?,
        bulk: Bulk::new(throttle.table.clone()),
        throttle,
        edge: config::parsed("TRUSTED_EDGE")?,
    })
    .await
}
