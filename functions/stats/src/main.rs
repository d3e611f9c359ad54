//! Reading statistics. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_domain::Salt;
use linklet_dynamodb::{ClicksTable, LinksTable, PublicWorkspaces, StatsTable, ThrottleTable};
use linklet_lambda::guesses::Guesses;
use linklet_lambda::hashing::{Limits, LinkHashing};
use linklet_lambda::identity::Authenticator;
use linklet_lambda::limiter::{Limiter, Strangers};
use linklet_lambda::public_workspaces::{KnownWorkspaces, default_statistics};
use linklet_lambda::shares::Shares;
use linklet_lambda::throttle::StatsQueryLimiter;
use linklet_lambda::{StartError, aws, config, http, secrets};
use linklet_stats::Stats;

fn main() -> ExitCode {
    linklet_lambda::start("stats", run())
}

async fn run() -> Result<(), StartError> {
    let (salt, edge) = (config::required("CLICK_SALT_ID")?, config::parsed("TRUSTED_EDGE")?);
    let clicks_kept_for = config::raw_clicks_lifetime()?;
    let aws = aws::load().await;
    let (tables, secrets) = (aws::Tables::behind_the_api(&aws), SecretsManager::new(&aws));
    let (authenticator, salt) = tokio::join!(Authenticator::from_env(&aws, &tables), secrets::current(&secrets, &salt));
    let (calls, stats) = (tables.at("THROTTLE_TABLE", ThrottleTable::new)?, tables.at("STATS_TABLE", StatsTable::new)?);
    let salt = Salt::parse(&salt?)?;
    let guesses = Guesses { table: calls.clone(), edge, salt: salt.clone() };
    let hashing = LinkHashing::within(Limits { guesses, hashes: config::parsed("HASHES_PER_SECOND")? });
    http::serve(Stats {
        authenticator: authenticator?,
        shares: Shares::new(stats.clone(), calls.clone(), hashing),
        stats,
        clicks: tables.at("CLICKS_TABLE", ClicksTable::new)?.keeping_clicks_for(clicks_kept_for),
        links: tables.at("LINKS_TABLE", LinksTable)?,
        questions: StatsQueryLimiter(calls.clone()),
        workspaces: KnownWorkspaces::new(tables.at("USERS_TABLE", PublicWorkspaces)?),
        default_statistics: default_statistics()?,
        strangers: Strangers { calls, limiter: Limiter::new(config::parsed("REDIRECT_LIMIT_PER_MINUTE")?), edge, salt },
    })
    .await
}
