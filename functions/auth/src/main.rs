//! Registration and login. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_auth::{ApiAddress, Auth};
use linklet_domain::RegistrationPolicy;
use linklet_dynamodb::{AuditTable, JobsTable, UsersTable};
use linklet_lambda::{
    StartError, admission, aws, config,
    email_requests::EmailRequests,
    hashing::Limits,
    http,
    identity::{TokenIssuer, TokenVerifier},
};

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("auth", run()).await
}

async fn run() -> Result<(), StartError> {
    let (table, audit_log) = (config::required("USERS_TABLE")?, config::required("AUDIT_TABLE")?);
    let jobs = config::required("JOBS_TABLE")?;
    let aws = aws::load().await;
    let tables = aws::tables(&aws);
    let (verifier, issuer) = (TokenVerifier::from_env(&aws, &tables).await?, TokenIssuer::from_env(&aws).await?);
    let limits = Limits::from_env(&tables, &SecretsManager::new(&aws)).await?;
    let mails = EmailRequests::from_env(&aws);
    let registration = registration(mails.are_placed())?;
    let audit_log = AuditTable::new(tables.clone(), audit_log);
    let jobs = JobsTable::new(tables.clone(), jobs);
    let users = UsersTable::new(tables, table, audit_log, jobs);
    let (founding, address) = (admission::founding()?, ApiAddress::from_env());
    http::serve(Auth { mails, registration, founding, address, ..Auth::new(users, verifier, issuer, limits) }).await
}

/// Who may register. An address can be verified only where mail is configured.
fn registration(has_mail: bool) -> Result<RegistrationPolicy, StartError> {
    let policy = admission::registration()?;
    if policy.needs_verified_addresses() && !has_mail {
        return Err("REGISTRATION is domains, and NOTIFY_QUEUE_URL is not set: nobody could verify an address".into());
    }
    Ok(policy)
}
