//! Creating links. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_domain::LimitedRoute;
use linklet_dynamodb::{ClicksTable, LinksTable};
use linklet_lambda::bulk::Bulk;
use linklet_lambda::identity::Authenticator;
use linklet_lambda::link_writer::LinkWriter;
use linklet_lambda::{StartError, aws, config, http};
use linklet_shorten::Shorten;

fn main() -> ExitCode {
    linklet_lambda::start("shorten", run())
}

async fn run() -> Result<(), StartError> {
    let may_look_generated = config::required("REGISTRATION")? != "open";
    let aws = aws::load().await;
    let (tables, secrets) = (aws::Tables::behind_the_api(&aws), SecretsManager::new(&aws));
    let links = tables.at("LINKS_TABLE", LinksTable)?;
    let (authenticator, writing, connected) = tokio::join!(
        Authenticator::from_env(&aws, &tables),
        LinkWriter::from_env(&tables, &secrets),
        links.open_connection()
    );
    aws::log_connection(connected);
    let (writer, throttle) = writing?;
    http::serve(Shorten {
        authenticator: authenticator?,
        writer,
        throttle_of_codes: throttle.of(LimitedRoute::Codes),
        bulk: Bulk::new(throttle.table.clone()),
        clicks: tables.at("CLICKS_TABLE", ClicksTable::new)?.keeping_clicks_for(config::raw_clicks_lifetime()?),
        throttle,
        may_look_generated,
    })
    .await
}
