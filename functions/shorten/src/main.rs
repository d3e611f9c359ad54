//! Creating links. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_dynamodb::LinksTable;
use linklet_lambda::{StartError, aws, config, http, http::ShortUrls, identity::Authenticator};
use linklet_shorten::Shorten;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    linklet_lambda::start("shorten", run()).await
}

async fn run() -> Result<(), StartError> {
    let (table, secret) = (config::required("LINKS_TABLE")?, config::required("JWT_SECRET_ID")?);
    let short_urls = ShortUrls::new(config::optional("PUBLIC_BASE_URL").as_deref())
        .with_api_endpoint(config::optional("API_ENDPOINT"));
    let aws = aws::load().await;
    let authenticator = Authenticator::load(&SecretsManager::new(&aws), &secret).await?;
    let links = LinksTable::new(aws::tables(&aws), table);
    http::serve(Shorten::new(links, authenticator, short_urls)).await
}
