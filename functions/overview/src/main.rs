//! A workspace at a glance. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use linklet_dynamodb::{LinksTable, StatsTable, ThrottleTable, WatchTable};
use linklet_lambda::{
    StartError, aws, config, http, http::ShortUrls, identity::Authenticator, throttle::StatsQueryLimiter,
};
use linklet_overview::Overviews;

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("overview", run()).await
}

async fn run() -> Result<(), StartError> {
    let (links, stats) = (config::required("LINKS_TABLE")?, config::required("STATS_TABLE")?);
    let (targets, calls) = (config::required("WATCH_TABLE")?, config::required("THROTTLE_TABLE")?);
    let aws = aws::load().await;
    let tables = aws::tables(&aws);
    http::serve(Overviews {
        authenticator: Authenticator::from_env(&aws, &tables).await?,
        links: LinksTable::new(tables.clone(), links),
        stats: StatsTable::new(tables.clone(), stats),
        targets: WatchTable::new(tables.clone(), targets),
        questions: StatsQueryLimiter(ThrottleTable::new(tables, calls)),
        short_urls: ShortUrls::from_env(),
    })
    .await
}
