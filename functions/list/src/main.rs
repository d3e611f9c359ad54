//! Listing links. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use linklet_dynamodb::{LinksTable, Names, StatsTable, ThrottleTable, WatchTable};
use linklet_lambda::{
    StartError, aws, config, http, http::ShortUrls, identity::Authenticator, throttle::StatsQueryLimiter,
};
use linklet_list::List;

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("list", run()).await
}

async fn run() -> Result<(), StartError> {
    let (links, stats) = (config::required("LINKS_TABLE")?, config::required("STATS_TABLE")?);
    let (targets, people) = (config::required("WATCH_TABLE")?, config::required("USERS_TABLE")?);
    let (calls, edge) = (config::required("THROTTLE_TABLE")?, config::parsed("TRUSTED_EDGE")?);
    let aws = aws::load().await;
    let tables = aws::tables(&aws);
    http::serve(List {
        authenticator: Authenticator::from_env(&aws, &tables).await?,
        links: LinksTable::new(tables.clone(), links),
        stats: StatsTable::new(tables.clone(), stats),
        targets: WatchTable::new(tables.clone(), targets),
        people: Names::new(tables.clone(), people),
        questions: StatsQueryLimiter(ThrottleTable::new(tables, calls)),
        short_urls: ShortUrls::from_env(),
        edge,
    })
    .await
}
