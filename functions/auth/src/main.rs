//! Registration and login. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_auth::{ApiAddress, Auth, Oidc};
use linklet_domain::RegistrationPolicy;
use linklet_lambda::email_requests::EmailRequests;
use linklet_lambda::hashing::Limits;
use linklet_lambda::identity::{TokenIssuer, TokenVerifier};
use linklet_lambda::{StartError, admission, aws, http};

fn main() -> ExitCode {
    linklet_lambda::start("auth", run())
}

async fn run() -> Result<(), StartError> {
    let aws = aws::load().await;
    let tables = aws::Tables::behind_the_api(&aws);
    let secrets = SecretsManager::new(&aws);
    // Each reads a secret, and starting waits for them at once.
    let (verifier, issuer, limits) = tokio::try_join!(
        TokenVerifier::from_env(&aws, &tables),
        TokenIssuer::from_env(&aws),
        Limits::from_env(&tables, &secrets),
    )?;
    let mails = EmailRequests::from_env(&aws);
    let registration = registration(mails.are_placed())?;
    let users = tables.users()?;
    let (creation, address, oidc) = (admission::creation()?, ApiAddress::from_env(), Oidc::from_env(&secrets)?);
    let password_login = admission::password_login()?;
    let auth = Auth::new(users, verifier, issuer, limits);
    http::serve(Auth { mails, registration, creation, password_login, address, oidc, ..auth }).await
}

/// Who may register. An address can be verified only where mail is configured.
fn registration(has_mail: bool) -> Result<RegistrationPolicy, StartError> {
    let policy = admission::registration()?;
    if policy.needs_verified_addresses() && !has_mail {
        return Err("REGISTRATION is domains, and NOTIFY_QUEUE_URL is not set: nobody could verify an address".into());
    }
    Ok(policy)
}
