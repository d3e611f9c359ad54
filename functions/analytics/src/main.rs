//! Counting clicks. This file only wires; `handler.rs` decides.

use std::{process::ExitCode, sync::Arc, time::Duration};

use aws_sdk_sqs::Client as Sqs;
use linklet_analytics::{Analytics, Clients};
use linklet_domain::Timestamp;
use linklet_dynamodb::{ClicksTable, JobsTable, LinksTable, StatsTable};
use linklet_lambda::{StartError, aws, batch, batch::DeadLetterQueue, config};
use linklet_user_agents::Classifier;

fn main() -> ExitCode {
    linklet_lambda::start("analytics", run())
}

async fn run() -> Result<(), StartError> {
    let dead_letters = config::required("ANALYTICS_DLQ_URL")?;
    let aws = aws::load().await;
    let (tables, sqs) = (aws::Tables::without_breaker(&aws), Sqs::new(&aws));
    batch::run(Analytics {
        stats: tables.at("STATS_TABLE", StatsTable::new)?,
        links: tables.at("LINKS_TABLE", LinksTable)?,
        clicks: tables.at("CLICKS_TABLE", ClicksTable::new)?.keeping_clicks_for(config::raw_clicks_lifetime()?),
        clients: Arc::new(Clients::new(Classifier::load()?)),
        jobs: tables.at("JOBS_TABLE", JobsTable)?,
        dead_letters: DeadLetterQueue::new(sqs, dead_letters),
        // The function may run for 30 s, and deletes some 1,000 clicks at a time.
        count_turn: Duration::from_secs(10),
        purge_turn: Duration::from_secs(22),
        clock: Box::new(Timestamp::now),
    })
    .await
}
