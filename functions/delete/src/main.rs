//! Deleting and purging links. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use linklet_delete::Delete;
use linklet_dynamodb::{LinksTable, StatsTable, ThrottleTable};
use linklet_lambda::{StartError, aws, bulk::Bulk, http, identity::Authenticator};

fn main() -> ExitCode {
    linklet_lambda::start("delete", run())
}

async fn run() -> Result<(), StartError> {
    let aws = aws::load().await;
    let tables = aws::Tables::behind_the_api(&aws);
    http::serve(Delete {
        authenticator: Authenticator::from_env(&aws, &tables).await?,
        links: tables.at("LINKS_TABLE", LinksTable)?,
        stats: tables.at("STATS_TABLE", StatsTable::new)?,
        bulk: Bulk::new(tables.at("THROTTLE_TABLE", ThrottleTable::new)?),
    })
    .await
}
