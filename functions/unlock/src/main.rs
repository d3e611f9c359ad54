//! Opening protected links. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use aws_sdk_sqs::Client as Sqs;
use linklet_dynamodb::{ClicksTable, LinksTable};
use linklet_lambda::following::{Brands, Recorder, Spreading, UsedUp};
use linklet_lambda::hashing::{Limits, LinkHashing};
use linklet_lambda::http::{self, Pages, ShortUrls};
use linklet_lambda::publisher::Publisher;
use linklet_lambda::{StartError, aws, config};
use linklet_unlock::Unlock;

fn main() -> ExitCode {
    linklet_lambda::start("unlock", run())
}

async fn run() -> Result<(), StartError> {
    let aws = aws::load().await;
    let tables = aws::Tables::behind_the_api(&aws);
    let limits = Limits::from_env(&tables, &SecretsManager::new(&aws)).await?;
    http::serve(Unlock {
        salt: limits.guesses.salt.clone(),
        edge: limits.guesses.edge,
        hashing: LinkHashing::within(limits),
        links: tables.at("LINKS_TABLE", LinksTable)?,
        recorder: Recorder {
            clicks: tables.at("CLICKS_TABLE", ClicksTable::new)?.keeping_clicks_for(config::raw_clicks_lifetime()?),
            parking: Publisher::new(Sqs::new(&aws), config::required("ANALYTICS_QUEUE_URL")?),
            spreading: Spreading::default(),
        },
        used_up: UsedUp::default(),
        pages: Pages::from_env(),
        short_urls: ShortUrls::from_env(),
        brands: Brands::from_env(&tables)?,
    })
    .await
}
