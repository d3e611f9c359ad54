//! Handovers of what members leave behind. This file only wires; `handler.rs` decides.

use std::{process::ExitCode, time::Duration};

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_sqs::Client as Sqs;
use linklet_dynamodb::{AuditTable, LinksTable, ThrottleTable, UsersTable, WatchTable};
use linklet_handover::Handovers;
use linklet_lambda::{StartError, aws, batch, batch::DeadLetterQueue, config, email_requests::EmailRequests};

/// How many links are looked at with one read. Writing as many takes some seconds.
const LINKS_AT_ONCE: usize = 1_000;

/// How long a turn takes, which leaves the rest of the function's timeout to what a turn has begun.
const TURN: Duration = Duration::from_secs(20);

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("handover", run()).await
}

async fn run() -> Result<(), StartError> {
    let (users, links) = (config::required("USERS_TABLE")?, config::required("LINKS_TABLE")?);
    let (targets, dead_letters) = (config::required("WATCH_TABLE")?, config::required("RELAY_DLQ_URL")?);
    let (trail, guesses) = (config::required("AUDIT_TABLE")?, config::required("THROTTLE_TABLE")?);
    let aws = aws::load().await;
    let tables = DynamoDb::new(&aws);
    let trail = AuditTable::new(tables.clone(), trail);
    batch::run(Handovers {
        users: UsersTable::new(tables.clone(), users, trail),
        links: LinksTable::new(tables.clone(), links),
        targets: WatchTable::new(tables.clone(), targets),
        guesses: ThrottleTable::new(tables, guesses),
        mails: EmailRequests::from_env(&aws),
        dead_letters: DeadLetterQueue::new(Sqs::new(&aws), dead_letters).shared_by("handover"),
        links_at_once: LINKS_AT_ONCE,
        turn: TURN,
    })
    .await
}
