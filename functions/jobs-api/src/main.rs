//! Routes of jobs. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use linklet_dynamodb::{JobsTable, LinksTable, Names, ThrottleTable};
use linklet_jobs_api::JobsApi;
use linklet_lambda::{StartError, aws, http, http::ShortUrls, identity::Authenticator, throttle::StatsQueryLimiter};

fn main() -> ExitCode {
    linklet_lambda::start("jobs-api", run())
}

async fn run() -> Result<(), StartError> {
    let aws = aws::load().await;
    let tables = aws::Tables::behind_the_api(&aws);
    http::serve(JobsApi {
        authenticator: Authenticator::from_env(&aws, &tables).await?,
        jobs: tables.at("JOBS_TABLE", JobsTable)?,
        links: tables.at("LINKS_TABLE", LinksTable)?,
        people: tables.at("USERS_TABLE", Names)?,
        questions: StatsQueryLimiter(tables.at("THROTTLE_TABLE", ThrottleTable::new)?),
        short_urls: ShortUrls::from_env(),
    })
    .await
}
