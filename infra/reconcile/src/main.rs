//! `linklet-reconcile CODE [--repair]`. This file only wires; `make reconcile` sets the environment.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to whoever runs it")]

use std::process::ExitCode;

use aws_sdk_sqs::Client as Sqs;
use linklet_domain::{ShortCode, Timestamp};
use linklet_dynamodb::{ClicksTable, LinksTable, StatsTable};
use linklet_lambda::{StartError, aws, config, publisher::Publisher, telemetry::chain};
use linklet_reconcile::Reconciler;
use linklet_user_agents::Classifier;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{}", chain(&*error));
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<ExitCode, StartError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (code, repairs) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [code] => (ShortCode::parse(code)?, false),
        [code, "--repair"] => (ShortCode::parse(code)?, true),
        _ => return Err("usage: linklet-reconcile CODE [--repair]".into()),
    };
    let raw_days = config::parsed("RAW_CLICK_DAYS")?;
    let aws = aws::load().await;
    let tables = aws::Tables::without_breaker(&aws);
    let links = tables.at("LINKS_TABLE", LinksTable)?;
    let reconciler = Reconciler {
        stats: tables.at("STATS_TABLE", StatsTable::new)?,
        clicks: tables.at("CLICKS_TABLE", ClicksTable::new)?,
        classifier: Classifier::load()?,
        queue: Publisher::new(Sqs::new(&aws), config::required("ANALYTICS_QUEUE_URL")?),
        raw_days,
    };
    let Some(record) = links.redirect_target(&code).await? else { return Err("no link has this code".into()) };
    let (link, now) = (record.identity(), Timestamp::now());
    let report = if repairs { reconciler.repair(link, now).await? } else { reconciler.report(link, now).await? };
    println!("{report}");
    Ok(outcome(report.is_clean(), repairs))
}

/// Fails if there is a difference that nobody has repaired, so that a script can tell.
fn outcome(is_clean: bool, repaired: bool) -> ExitCode {
    match (is_clean, repaired) {
        (true, _) => {
            println!("Everything is counted.");
            ExitCode::SUCCESS
        }
        (false, true) => {
            println!("Repaired; uncounted clicks are on their way to be counted. Look again in a minute.");
            ExitCode::SUCCESS
        }
        (false, false) => ExitCode::FAILURE,
    }
}
