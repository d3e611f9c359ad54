//! Listing links. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use linklet_dynamodb::{LinksTable, Names, StatsTable, ThrottleTable, WatchTable};
use linklet_lambda::{
    StartError, aws, config, http, http::ShortUrls, identity::Authenticator, throttle::StatsQueryLimiter,
};
use linklet_list::List;

fn main() -> ExitCode {
    linklet_lambda::start("list", run())
}

async fn run() -> Result<(), StartError> {
    let aws = aws::load().await;
    let tables = aws::Tables::behind_the_api(&aws);
    http::serve(List {
        authenticator: Authenticator::from_env(&aws, &tables).await?,
        links: tables.at("LINKS_TABLE", LinksTable)?,
        stats: tables.at("STATS_TABLE", StatsTable::new)?,
        targets: tables.at("WATCH_TABLE", WatchTable::new)?,
        people: tables.at("USERS_TABLE", Names)?,
        questions: StatsQueryLimiter(tables.at("THROTTLE_TABLE", ThrottleTable::new)?),
        short_urls: ShortUrls::from_env(),
        edge: config::parsed("TRUSTED_EDGE")?,
    })
    .await
}
