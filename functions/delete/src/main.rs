//! Deleting and purging links. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use linklet_delete::Delete;
use linklet_dynamodb::{LinksTable, ThrottleTable};
use linklet_lambda::{StartError, aws, bulk::Bulk, config, http, identity::Authenticator};

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("delete", run()).await
}

async fn run() -> Result<(), StartError> {
    let (links, calls) = (config::required("LINKS_TABLE")?, config::required("THROTTLE_TABLE")?);
    let aws = aws::load().await;
    let tables = aws::tables(&aws);
    http::serve(Delete {
        authenticator: Authenticator::from_env(&aws, &tables).await?,
        links: LinksTable::new(tables.clone(), links),
        bulk: Bulk::new(ThrottleTable::new(tables, calls)),
    })
    .await
}
