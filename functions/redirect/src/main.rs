//! Following links. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use aws_sdk_sqs::Client as Sqs;
use linklet_domain::Salt;
use linklet_dynamodb::{ClicksTable, LinksTable, ThrottleTable};
use linklet_lambda::following::{Brands, Recorder, Spreading, UsedUp};
use linklet_lambda::http::{self, Pages, ShortUrls};
use linklet_lambda::limiter::Limiter;
use linklet_lambda::publisher::Publisher;
use linklet_lambda::{StartError, aws, config, secrets};
use linklet_redirect::{HotLinks, Redirect};

fn main() -> ExitCode {
    linklet_lambda::start("redirect", run())
}

async fn run() -> Result<(), StartError> {
    let (parking, recording) = (config::required("ANALYTICS_QUEUE_URL")?, config::parsed("CLICK_RECORDING")?);
    let (salt, edge) = (config::required("CLICK_SALT_ID")?, config::parsed("TRUSTED_EDGE")?);
    let aws = aws::load().await;
    let (tables, secrets) = (aws::Tables::behind_the_api(&aws), SecretsManager::new(&aws));
    let links = tables.at("LINKS_TABLE", LinksTable)?;
    let (salt, connected) = tokio::join!(secrets::current(&secrets, &salt), links.open_connection());
    aws::log_connection(connected);
    http::serve(Redirect {
        salt: Salt::parse(&salt?)?,
        links,
        hot_links: HotLinks::default(),
        recorder: Recorder {
            clicks: tables.at("CLICKS_TABLE", ClicksTable::new)?.keeping_clicks_for(config::raw_clicks_lifetime()?),
            parking: Publisher::new(Sqs::new(&aws), parking),
            spreading: Spreading::default(),
        },
        recording,
        calls: tables.at("THROTTLE_TABLE", ThrottleTable::new)?,
        limiter: Limiter::new(config::parsed("REDIRECT_LIMIT_PER_MINUTE")?),
        edge,
        used_up: UsedUp::default(),
        pages: Pages::from_env(),
        short_urls: ShortUrls::from_env(),
        brands: Brands::from_env(&tables)?,
    })
    .await
}
