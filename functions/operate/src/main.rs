//! What operators' commands ask for. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_sqs::Client as Sqs;
use lambda_runtime::{LambdaEvent, service_fn};
use linklet_dynamodb::{ClicksTable, LinksTable, OneTimeTokens, StatsTable};
use linklet_lambda::{StartError, aws, config, email_requests::EmailRequests, publisher::Publisher, telemetry::chain};
use linklet_operate::{Operate, People, Reconciler};
use linklet_user_agents::Classifier;
use serde_json::Value;

fn main() -> ExitCode {
    linklet_lambda::start("operate", run())
}

async fn run() -> Result<(), StartError> {
    let queue = config::required("ANALYTICS_QUEUE_URL")?;
    let aws = aws::load().await;
    let tables = aws::Tables::without_breaker(&aws);
    let operate = &Operate {
        people: People {
            users: tables.users()?,
            tokens: tables.at("USERS_TABLE", OneTimeTokens)?,
            mails: EmailRequests::from_env(&aws),
        },
        links: tables.at("LINKS_TABLE", LinksTable)?,
        reconciler: Reconciler {
            stats: tables.at("STATS_TABLE", StatsTable::new)?,
            clicks: tables.at("CLICKS_TABLE", ClicksTable::new)?,
            classifier: Classifier::load()?,
            queue: Publisher::new(Sqs::new(&aws), queue),
            raw_days: config::parsed("RAW_CLICK_DAYS")?,
        },
        base: config::optional("PUBLIC_BASE_URL").map_or_else(|| config::required("API_ENDPOINT"), Ok)?,
    };
    // Of an event of another type, the runtime would log what is in it.
    lambda_runtime::run(service_fn(async |event: LambdaEvent<Value>| {
        Box::pin(operate.answer(event.payload)).await.map_err(|error| StartError::from(chain(&error)))
    }))
    .await
}
