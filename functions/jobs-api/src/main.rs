//! Routes of jobs. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use linklet_dynamodb::{JobsTable, LinksTable, Names, ThrottleTable};
use linklet_jobs_api::JobsApi;
use linklet_lambda::{
    StartError, aws, config, http, http::ShortUrls, identity::Authenticator, throttle::StatsQueryLimiter,
};

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("jobs-api", run()).await
}

async fn run() -> Result<(), StartError> {
    let (jobs, links) = (config::required("JOBS_TABLE")?, config::required("LINKS_TABLE")?);
    let (people, calls) = (config::required("USERS_TABLE")?, config::required("THROTTLE_TABLE")?);
    let aws = aws::load().await;
    let tables = aws::tables(&aws);
    http::serve(JobsApi {
        authenticator: Authenticator::from_env(&aws, &tables).await?,
        jobs: JobsTable::new(tables.clone(), jobs),
        links: LinksTable::new(tables.clone(), links),
        people: Names::new(tables.clone(), people),
        questions: StatsQueryLimiter(ThrottleTable::new(tables, calls)),
        short_urls: ShortUrls::from_env(),
    })
    .await
}
