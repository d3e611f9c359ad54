//! `linklet-people invite|reset|reclaim|close EMAIL`. This file only wires; `make invite` and its like set the environment.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to whoever runs it")]

use std::{fs, process::ExitCode};

use linklet_domain::{EmailAddress, Timestamp};
use linklet_dynamodb::OneTimeTokens;
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
    let (base, record_file) = (config::required("PUBLIC_URL")?, config::required("RECORD_FILE")?);
    let tables = aws::Tables::without_breaker(&aws::load().await);
    let people = People { users: tables.users()?, tokens: tables.at("USERS_TABLE", OneTimeTokens)? };
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
