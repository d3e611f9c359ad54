//! Creating links. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_domain::{LimitedRoute, RouteLimits, Salt, ShortCode};
use linklet_dynamodb::{LinksTable, ThrottleTable, WatchTable, Workspaces};
use linklet_lambda::blocks::Blocks;
use linklet_lambda::bulk::Bulk;
use linklet_lambda::hashing::LinkHashing;
use linklet_lambda::http::ShortUrls;
use linklet_lambda::identity::Authenticator;
use linklet_lambda::throttle::Throttle;
use linklet_lambda::watching::{self, TargetRoom};
use linklet_lambda::{StartError, aws, config, http, secrets};
use linklet_shorten::Shorten;

fn main() -> ExitCode {
    linklet_lambda::start("shorten", run())
}

async fn run() -> Result<(), StartError> {
    let limits = RouteLimits {
        by_person: config::parsed("SHORTEN_PER_MINUTE")?,
        by_address: config::parsed("SHORTEN_PER_MINUTE_AND_ADDRESS")?,
    };
    let edge = config::parsed("TRUSTED_EDGE")?;
    let (salt, reserved) = (config::required("CLICK_SALT_ID")?, config::parsed_or_default("RESERVED_CODES")?);
    let (quota, hashes) = (watching::quota_from_env()?, config::parsed("HASHES_PER_SECOND")?);
    let aws = aws::load().await;
    let (tables, secrets) = (aws::Tables::behind_the_api(&aws), SecretsManager::new(&aws));
    let links = tables.at("LINKS_TABLE", LinksTable)?;
    let (authenticator, salt, connected) = tokio::join!(
        Authenticator::from_env(&aws, &tables),
        secrets::current(&secrets, &salt),
        links.open_connection()
    );
    aws::log_connection(connected);
    let room = TargetRoom {
        targets: tables.at("WATCH_TABLE", WatchTable::new)?.with_quota(quota),
        users: tables.at("USERS_TABLE", Workspaces)?,
        reach: watching::reach_from_env()?,
    };
    let (calls, sender) = (tables.at("THROTTLE_TABLE", ThrottleTable::new)?, (edge, Salt::parse(&salt?)?));
    let throttle = Throttle::new(calls, LimitedRoute::Shorten, limits, sender);
    http::serve(Shorten {
        blocks: Blocks::new(links.clone()),
        links,
        room,
        authenticator: authenticator?,
        short_urls: ShortUrls::from_env(),
        throttle_of_codes: throttle.of(LimitedRoute::Codes),
        bulk: Bulk::new(throttle.table.clone()),
        hashing: LinkHashing::beside(&throttle, hashes),
        throttle,
        reserved,
        generate_code: ShortCode::generate,
    })
    .await
}
