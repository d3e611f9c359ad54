//! Following links. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_domain::Salt;
use linklet_dynamodb::{ClicksTable, LinksTable, ThrottleTable};
use linklet_lambda::{StartError, aws, config, http, secrets};
use linklet_redirect::{HotLinks, Limiter, Redirect};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    linklet_lambda::start("redirect", run()).await
}

async fn run() -> Result<(), StartError> {
    let (links, clicks) = (config::required("LINKS_TABLE")?, config::required("CLICKS_TABLE")?);
    let (calls, limit) = (config::required("THROTTLE_TABLE")?, config::parsed("REDIRECT_LIMIT_PER_MINUTE")?);
    let (salt, edge) = (config::required("CLICK_SALT_ID")?, config::parsed("TRUSTED_EDGE")?);
    let aws = aws::load().await;
    let tables = aws::tables(&aws);
    http::serve(Redirect {
        salt: Salt::parse(&secrets::current(&SecretsManager::new(&aws), &salt).await?)?,
        links: LinksTable::new(tables.clone(), links),
        hot_links: HotLinks::default(),
        clicks: ClicksTable::new(tables.clone(), clicks),
        calls: ThrottleTable::new(tables, calls),
        limiter: Limiter::new(limit),
        edge,
    })
    .await
}
