//! Reading statistics. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_dynamodb::Client as DynamoDb;
use linklet_dynamodb::{LinksTable, StatsTable};
use linklet_lambda::{StartError, aws, config, http};
use linklet_stats::Stats;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    linklet_lambda::start("stats", run()).await
}

async fn run() -> Result<(), StartError> {
    let (stats, links) = (config::required("STATS_TABLE")?, config::required("LINKS_TABLE")?);
    let dynamodb = DynamoDb::new(&aws::load().await);
    http::serve(Stats { stats: StatsTable::new(dynamodb.clone(), stats), links: LinksTable::new(dynamodb, links) })
        .await
}
