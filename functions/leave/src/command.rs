//! What operators' commands ask for, for whoever wants their data or their end and can't sign in.

use linklet_domain::{AuditAction, AuditContext, Closure, EmailAddress, Timestamp, Workspace};
use linklet_lambda::http::{ApiError, Problem, Result};
use linklet_lambda::{order::Order, telemetry::chain};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tracing::Instrument as _;

use crate::Leave;
use crate::account::Ended;
use crate::export::{Checkpoint, Export};

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Command {
    Export { email: EmailAddress, after: Option<String> },
    Forget { email: EmailAddress },
}

/// What the operator gets to read.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// What is stored about the person.
    Page(Export),
    /// The account is ended.
    Done {
        /// What the operator has to know.
        text: String,
    },
    /// Nothing was done, or not all of it.
    Refused {
        /// Why, in one sentence.
        refusal: String,
    },
}

impl Leave {
    /// Carries out the command in an event. What the operator can act on is an answer; neither that nor the event is logged.
    ///
    /// # Errors
    /// When a table can't be used, which is logged.
    pub async fn carry_out(&self, event: Value) -> Result<Answer> {
        let Order { operator, command } = match serde_json::from_value(event) {
            Ok(order) => order,
            Err(error) => return Ok(Answer::Refused { refusal: error.to_string() }),
        };
        // Entries of the audit log have the correlation id, too, and don't name the operator.
        let origin = AuditContext::command(Timestamp::now());
        let span = tracing::info_span!("command", operator, correlation_id = origin.correlation_id.as_str());
        let carried_out = match command {
            Command::Export { email, after } => self.export_for(&email, after, &origin).instrument(span.clone()).await,
            Command::Forget { email } => self.forget(&email, &origin).instrument(span.clone()).await,
        };
        carried_out.or_else(|error| match refusal_of(&error) {
            Some(refusal) => Ok(Answer::Refused { refusal }),
            None => {
                span.in_scope(|| tracing::error!(error = chain(&error), "a command failed"));
                Err(error)
            }
        })
    }

    /// The next page of what is stored about a person, of which their audit log says with the first one that an operator has it.
    async fn export_for(&self, email: &EmailAddress, after: Option<String>, origin: &AuditContext) -> Result<Answer> {
        let (account, _) = self.users.find_by_email(email).await?.ok_or(Problem::Unauthorized)?;
        let user = &account.id;
        let after = after.map(|after| Checkpoint::decode(&after)).transpose()?;
        if after.is_none() {
            let exported = origin.of_person(user, AuditAction::AccountExported);
            self.users.audit_log().put(&exported).await?;
        }
        let page = self.page_of(user, after, origin.at).await?;
        tracing::info!(user_id = %user, "what is stored about a person was exported");
        Ok(Answer::Page(page))
    }

    /// Ends the account of an address as its person could, and also one that is barred.
    async fn forget(&self, email: &EmailAddress, origin: &AuditContext) -> Result<Answer> {
        let (account, _) = self.users.find_by_email(email).await?.ok_or(Problem::Unauthorized)?;
        let ended = Box::pin(self.end(&account, origin)).await?;
        tracing::info!(user_id = %account.id, "an account was ended");
        Ok(Answer::Done { text: help(email, &ended, origin.at) })
    }
}

/// What the operator can act on.
fn refusal_of(error: &ApiError) -> Option<String> {
    Some(match error {
        ApiError::LastAdminOf(id, name) => format!(
            "The person is the last admin of the workspace {name} ({id}), which has other members: have them make another one admin, \
             or remove the others, and do it again."
        ),
        ApiError::Invalid(reason) => reason.to_string(),
        ApiError::Problem(Problem::Unauthorized) => {
            "nobody has registered with this address, or not any more".to_owned()
        }
        ApiError::Problem(Problem::TryAgain) => "something has changed meanwhile; do it again".to_owned(),
        _ => return None,
    })
}

fn help(email: &EmailAddress, Ended { left, closed }: &Ended, at: Timestamp) -> String {
    let listed = |title: String, workspaces: &[Workspace]| {
        let lines = workspaces.iter().map(|Workspace { name, slug, .. }| format!("\n{slug} ({name})"));
        if workspaces.is_empty() { String::new() } else { format!("\n\n{title}:{}", lines.collect::<String>()) }
    };
    let purged_after = at.plus(Closure::CACHES_EXPIRE_WITHIN);
    format!(
        "The account of {email} is ended, and the address is free. Within minutes, nothing is left of it but what has to be kept.{}{}",
        listed("Left, with what the person has there, to others".to_owned(), left),
        listed(format!("Closed for good, and purged after {purged_after}"), closed),
    )
}
