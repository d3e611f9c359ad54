//! Resolving short URLs of others. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use linklet_dynamodb::ThrottleTable;
use linklet_fetch::Fetcher;
use linklet_lambda::{StartError, aws, config, http, http::ShortUrls, identity::Authenticator, watching};
use linklet_resolve::{PURPOSE, Resolve, TIMEOUT};

fn main() -> ExitCode {
    linklet_lambda::start("resolve", run())
}

async fn run() -> Result<(), StartError> {
    let fetcher = Fetcher::new(PURPOSE, watching::reach_from_env()?, TIMEOUT)?.excluding(config::own_addresses()?);
    let aws = aws::load().await;
    let tables = aws::Tables::behind_the_api(&aws);
    http::serve(Resolve {
        authenticator: Authenticator::from_env(&aws, &tables).await?,
        calls: tables.at("THROTTLE_TABLE", ThrottleTable::new)?,
        fetcher,
        short_urls: ShortUrls::from_env(),
    })
    .await
}
