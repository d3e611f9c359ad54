//! Creating links. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_domain::{LimitedRoute, Salt};
use linklet_dynamodb::{ApiKeysTable, LinksTable, ThrottleTable};
use linklet_lambda::{
    StartError, aws, config, http,
    http::ShortUrls,
    identity::{Authenticator, TokenVerifier},
    secrets,
    throttle::Throttle,
};
use linklet_shorten::Shorten;

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("shorten", run()).await
}

async fn run() -> Result<(), StartError> {
    let (links, users) = (config::required("LINKS_TABLE")?, config::required("USERS_TABLE")?);
    let calls = config::required("THROTTLE_TABLE")?;
    let (secret, salt) = (config::required("JWT_SECRET_ID")?, config::required("CLICK_SALT_ID")?);
    let (limit, edge) = (config::parsed("SHORTEN_LIMIT_PER_MINUTE")?, config::parsed("TRUSTED_EDGE")?);
    let short_urls = ShortUrls::new(config::optional("PUBLIC_BASE_URL").as_deref())
        .with_api_endpoint(config::optional("API_ENDPOINT"));
    let aws = aws::load().await;
    let (tables, secrets) = (aws::tables(&aws), SecretsManager::new(&aws));
    let links = LinksTable::new(tables.clone(), links);
    let (tokens, salt, connected) = tokio::join!(
        TokenVerifier::load(&secrets, &secret),
        secrets::current(&secrets, &salt),
        links.open_connection()
    );
    aws::log_connection(connected);
    let throttle = Throttle {
        table: ThrottleTable::new(tables.clone(), calls),
        route: LimitedRoute::Shorten,
        limit,
        edge,
        salt: Salt::parse(&salt?)?,
    };
    let authenticator = Authenticator::new(tokens?, ApiKeysTable::new(tables, users));
    http::serve(Shorten::new(links, authenticator, short_urls, throttle)).await
}
