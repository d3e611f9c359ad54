//! Reports by mail that are due. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_sqs::Client as Sqs;
use linklet_dynamodb::{LinksTable, Reports, StatsTable, Workspaces};
use linklet_lambda::{StartError, aws, config, publisher::Publisher, schedule};
use linklet_reports::DueReports;

fn main() -> ExitCode {
    linklet_lambda::start("reports", run())
}

async fn run() -> Result<(), StartError> {
    let aws = aws::load().await;
    let tables = aws::Tables::without_breaker(&aws);
    schedule::run(DueReports {
        wanted: tables.at("USERS_TABLE", Reports)?,
        workspaces: tables.at("USERS_TABLE", Workspaces)?,
        links: tables.at("LINKS_TABLE", LinksTable)?,
        stats: tables.at("STATS_TABLE", StatsTable::new)?,
        mails: config::optional("NOTIFY_QUEUE_URL").map(|queue| Publisher::new(Sqs::new(&aws), queue)),
        runs_for: DueReports::RUNS_FOR,
    })
    .await
}
