//! Reading secrets from Secrets Manager.

use std::error::Error;

use aws_sdk_secretsmanager::Client;

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
    let answer = client.get_secret_value().secret_id(id).send().await;
    let failed = |source: Box<dyn Error + Send + Sync>| SecretError { id: id.to_owned(), source };
    let value = answer.map_err(|error| failed(Box::new(error)))?;
    value.secret_string.ok_or_else(|| failed("the secret has no text value".into()))
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
