//! Reading secrets from Secrets Manager.

use std::{error::Error, time::Duration};

use aws_sdk_secretsmanager::Client;
use linklet_domain::Timestamp;

/// A secret could not be read.
#[derive(Debug, thiserror::Error)]
#[error("the secret {id} could not be read")]
pub struct SecretError {
    id: String,
    #[source]
    source: Box<dyn Error + Send + Sync>,
}

/// Reads the current value of a secret.
///
/// # Errors
/// When Secrets Manager can't be reached, or the secret has no text.
pub async fn current(client: &Client, id: &str) -> Result<String, SecretError> {
    dated(client, id).await.map(|(value, _)| value)
}

/// Reads the latest value of a secret that is at least this old, or else the current one.
///
/// # Errors
/// As [`current`].
pub async fn of_age(client: &Client, id: &str, age: Duration, now: Timestamp) -> Result<String, SecretError> {
    let (current, created_at) = dated(client, id).await?;
    let is_too_young = created_at.is_some_and(|created_at| now < created_at.plus(age));
    let previous = if is_too_young { previous(client, id).await? } else { None };
    Ok(previous.unwrap_or(current))
}

/// The current value, and since when there is it, if that is known.
async fn dated(client: &Client, id: &str) -> Result<(String, Option<Timestamp>), SecretError> {
    let answer = client.get_secret_value().secret_id(id).send().await;
    let failed = |source: Box<dyn Error + Send + Sync>| SecretError { id: id.to_owned(), source };
    let value = answer.map_err(|error| failed(Box::new(error)))?;
    let created_at = value.created_date.and_then(|date| u64::try_from(date.secs()).ok());
    let created_at = created_at.map(|seconds| Timestamp::from_unix_millis(seconds * 1_000));
    Ok((value.secret_string.ok_or_else(|| failed("the secret has no text value".into()))?, created_at))
}

/// Reads the value of a secret before its latest rotation, `None` if it was never rotated.
///
/// # Errors
/// When Secrets Manager can't be reached.
pub async fn previous(client: &Client, id: &str) -> Result<Option<String>, SecretError> {
    let answer = client.get_secret_value().secret_id(id).version_stage("AWSPREVIOUS").send().await;
    match answer {
        Ok(value) => Ok(value.secret_string),
        Err(error) if error.as_service_error().is_some_and(|error| error.is_resource_not_found_exception()) => Ok(None),
        Err(error) => Err(SecretError { id: id.to_owned(), source: Box::new(error) }),
    }
}
