//! Jobs of workspaces. This file only wires; `handler.rs` decides.

use std::{process::ExitCode, time::Duration};

use aws_sdk_sqs::Client as Sqs;
use linklet_domain::Timestamp;
use linklet_dynamodb::{
    ClicksTable, JobsTable, LinksTable, NotificationsTable, StatsTable, ThrottleTable, WatchTable, Workspaces,
};
use linklet_jobs::{HandoverWork, JobRunner, Kinds, LinkWork, PersonWork, ReclaimWork, WorkspaceWork};
use linklet_lambda::batch::DeadLetterQueue;
use linklet_lambda::email_requests::EmailRequests;
use linklet_lambda::watching::{self, TargetRoom};
use linklet_lambda::{StartError, aws, batch, config};

/// How long a step takes, which leaves the rest of the function's timeout to what a step has begun.
const STEP: Duration = Duration::from_secs(20);

/// How many links of a former member are looked at with one read. Writing as many takes some seconds.
const LINKS_AT_ONCE: usize = 1_000;

fn main() -> ExitCode {
    linklet_lambda::start("jobs", run())
}

async fn run() -> Result<(), StartError> {
    let (quota, dead_letters) = (watching::quota_from_env()?, config::required("RELAY_DLQ_URL")?);
    let aws = aws::load().await;
    let (tables, mails) = (aws::Tables::without_breaker(&aws), EmailRequests::from_env(&aws));
    let backing = tables.at("USERS_TABLE", Workspaces)?;
    let (jobs, links) = (tables.at("JOBS_TABLE", JobsTable)?, tables.at("LINKS_TABLE", LinksTable)?);
    let users = tables.users()?;
    let targets = tables.at("WATCH_TABLE", WatchTable::new)?.with_quota(quota);
    let stats = tables.at("STATS_TABLE", StatsTable::new)?;
    let notifications = tables.at("NOTIFICATIONS_TABLE", NotificationsTable)?;
    let guesses = tables.at("THROTTLE_TABLE", ThrottleTable::new)?;
    let room = TargetRoom { targets: targets.clone(), users: backing.clone(), reach: watching::reach_from_env()? };
    let had = (links.clone(), stats, targets.clone());
    let kinds = Kinds {
        links: LinkWork::new(links.clone(), room),
        workspaces: WorkspaceWork::new(users.clone(), jobs.clone(), had, mails.clone()),
        handovers: HandoverWork { users: users.clone(), links, targets: targets.clone(), links_at_once: LINKS_AT_ONCE },
        reclaims: ReclaimWork { users: users.clone(), guesses: guesses.clone(), mails },
        people: PersonWork { users, notifications, guesses, targets },
        clicks: tables.at("CLICKS_TABLE", ClicksTable::new)?,
    };
    batch::run(JobRunner {
        jobs,
        users: backing,
        kinds,
        dead_letters: DeadLetterQueue::new(Sqs::new(&aws), dead_letters).shared_by("jobs"),
        step: STEP,
        clock: Box::new(Timestamp::now),
    })
    .await
}
