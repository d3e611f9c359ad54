//! `linklet-people invite|reset|reclaim|close EMAIL`. This file only wires; `make invite` and its like set the environment.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to whoever runs it")]

use std::{fs, process::ExitCode};

use aws_sdk_dynamodb::Client as DynamoDb;
use linklet_domain::{EmailAddress, Timestamp};
use linklet_dynamodb::{AuditTable, JobsTable, OneTimeTokens, UsersTable};
use linklet_lambda::{StartError, aws, config, telemetry::chain};
use linklet_people::{Issued, People, Record};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", chain(&*error));
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), StartError> {
    const USAGE: &str = "usage: linklet-people invite|reset|reclaim|close EMAIL";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, email] = arguments.as_slice() else { return Err(USAGE.into()) };
    let email = EmailAddress::parse(email)?;
    let (table, base) = (config::required("USERS_TABLE")?, config::required("PUBLIC_URL")?);
    let (audit_log, jobs) = (config::required("AUDIT_TABLE")?, config::required("JOBS_TABLE")?);
    let record_file = config::required("RECORD_FILE")?;
    let dynamodb = DynamoDb::new(&aws::load().await);
    let tokens = OneTimeTokens::new(dynamodb.clone(), &table);
    let (audit_log, jobs) = (AuditTable::new(dynamodb.clone(), audit_log), JobsTable::new(dynamodb.clone(), jobs));
    let people = People { users: UsersTable::new(dynamodb, table, audit_log, jobs), tokens };
    let (record, help) = match what.as_str() {
        "invite" => shown(&people.invite(&email, Timestamp::now()).await?, &base),
        "reset" | "reclaim" => shown(&people.reset(&email, what == "reclaim", Timestamp::now()).await?, &base),
        "close" => {
            let closed = people.close(&email).await?;
            (closed.record(), closed.help())
        }
        _ => return Err(USAGE.into()),
    };
    // It is done, so it is shown, also if it can't be written down; and written down, also if it can't be shown.
    let written = fs::write(record_file, serde_json::to_string(&record)?);
    println!("{help}");
    Ok(written?)
}

fn shown(issued: &Issued, base: &str) -> (Record, String) {
    (issued.record(), issued.help(base))
}
