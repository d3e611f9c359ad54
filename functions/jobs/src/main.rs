//! Jobs of workspaces. This file only wires; `handler.rs` decides.

use std::{process::ExitCode, time::Duration};

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_sqs::Client as Sqs;
use linklet_domain::Timestamp;
use linklet_dynamodb::{
    ClosedWorkspaces, Forgotten, JobsTable, LinksTable, NotificationsTable, StatsTable, ThrottleTable, WatchTable,
    Workspaces,
};
use linklet_jobs::{Kinds, LinkWork, PersonWork, Turns, WorkspaceWork};
use linklet_lambda::{
    StartError, aws, batch,
    batch::DeadLetterQueue,
    config,
    email_requests::EmailRequests,
    watching::{self, TargetRoom},
};

/// How long a turn takes, which leaves the rest of the function's timeout to what a turn has begun.
const TURN: Duration = Duration::from_secs(20);

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("jobs", run()).await
}

async fn run() -> Result<(), StartError> {
    let (jobs, links) = (config::required("JOBS_TABLE")?, config::required("LINKS_TABLE")?);
    let (targets, users) = (config::required("WATCH_TABLE")?, config::required("USERS_TABLE")?);
    let (stats, notifications) = (config::required("STATS_TABLE")?, config::required("NOTIFICATIONS_TABLE")?);
    let guesses = config::required("THROTTLE_TABLE")?;
    let (quota, dead_letters) = (watching::quota_from_env()?, config::required("RELAY_DLQ_URL")?);
    let aws = aws::load().await;
    let tables = DynamoDb::new(&aws);
    let closed = ClosedWorkspaces::new(tables.clone(), &users);
    let forgotten = Forgotten::new(tables.clone(), &users);
    let users = Workspaces::new(tables.clone(), users);
    let (jobs, links) = (JobsTable::new(tables.clone(), jobs), LinksTable::new(tables.clone(), links));
    let targets = WatchTable::new(tables.clone(), targets).with_quota(quota);
    let stats = StatsTable::new(tables.clone(), stats);
    let people = PersonWork {
        jobs: jobs.clone(),
        people: forgotten,
        notifications: NotificationsTable::new(tables.clone(), notifications),
        guesses: ThrottleTable::new(tables, guesses),
        targets: targets.clone(),
    };
    let room = TargetRoom { targets: targets.clone(), users: users.clone(), reach: watching::reach_from_env()? };
    let had = (links.clone(), stats, targets);
    batch::run(Turns {
        jobs: jobs.clone(),
        users,
        work: Kinds {
            links: LinkWork::new(links, room),
            workspaces: WorkspaceWork::new(closed, jobs, had, EmailRequests::from_env(&aws)),
            people,
        },
        dead_letters: DeadLetterQueue::new(Sqs::new(&aws), dead_letters).shared_by("jobs"),
        turn: TURN,
        clock: Box::new(Timestamp::now),
    })
    .await
}
