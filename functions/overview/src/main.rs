//! A workspace at a glance. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use linklet_dynamodb::{LinksTable, StatsTable, ThrottleTable, WatchTable};
use linklet_lambda::{StartError, aws, http, http::ShortUrls, identity::Authenticator, throttle::StatsQueryLimiter};
use linklet_overview::Overviews;

fn main() -> ExitCode {
    linklet_lambda::start("overview", run())
}

async fn run() -> Result<(), StartError> {
    let aws = aws::load().await;
    let tables = aws::Tables::behind_the_api(&aws);
    http::serve(Overviews {
        authenticator: Authenticator::from_env(&aws, &tables).await?,
        links: tables.at("LINKS_TABLE", LinksTable)?,
        stats: tables.at("STATS_TABLE", StatsTable::new)?,
        targets: tables.at("WATCH_TABLE", WatchTable::new)?,
        questions: StatsQueryLimiter(tables.at("THROTTLE_TABLE", ThrottleTable::new)?),
        short_urls: ShortUrls::from_env(),
    })
    .await
}
