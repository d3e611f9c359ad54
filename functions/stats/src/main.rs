//! Reading statistics. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use linklet_dynamodb::{ClicksTable, LinksTable, StatsTable, ThrottleTable};
use linklet_lambda::{StartError, aws, config, http, identity::Authenticator, throttle::Questions};
use linklet_stats::Stats;

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("stats", run()).await
}

async fn run() -> Result<(), StartError> {
    let (stats, links) = (config::required("STATS_TABLE")?, config::required("LINKS_TABLE")?);
    let clicks = config::required("CLICKS_TABLE")?;
    let calls = config::required("THROTTLE_TABLE")?;
    let clicks_kept_for = config::raw_clicks_lifetime()?;
    let aws = aws::load().await;
    let tables = aws::tables(&aws);
    http::serve(Stats {
        authenticator: Authenticator::from_env(&aws, &tables).await?,
        stats: StatsTable::new(tables.clone(), stats),
        clicks: ClicksTable::new(tables.clone(), clicks).keeping_clicks_for(clicks_kept_for),
        links: LinksTable::new(tables.clone(), links),
        questions: Questions(ThrottleTable::new(tables, calls)),
    })
    .await
}
