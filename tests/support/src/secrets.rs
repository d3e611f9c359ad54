use std::sync::{Arc, Mutex};

use aws_sdk_secretsmanager::Client;
use linklet_domain::Timestamp;
use serde_json::{Value, json};

use crate::{faults::lock, serve_api};

/// A value, and its time in seconds; none if it is so old that nobody asks.
type Version = (String, Option<u64>);

/// A stand-in for Secrets Manager with one secret.
#[derive(Clone)]
pub struct FakeSecret {
    versions: Arc<Mutex<Vec<Version>>>,
    endpoint: String,
}

impl FakeSecret {
    /// Starts it with a first version.
    pub fn start(value: &str) -> Self {
        let versions = Arc::new(Mutex::new(vec![(value.to_owned(), None)]));
        let served = versions.clone();
        let endpoint = serve_api(move |_, request| get_secret_value(&lock(&served), &request));
        Self { versions, endpoint }
    }

    /// Makes the current version the previous one.
    pub fn rotate(&self, value: &str) {
        lock(&self.versions).push((value.to_owned(), None));
    }

    /// The same, at this time.
    pub fn rotate_at(&self, value: &str, at: Timestamp) {
        lock(&self.versions).push((value.to_owned(), Some(at.unix_millis() / 1_000)));
    }

    /// Where it listens.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The SDK's client.
    pub fn client(&self) -> Client {
        Client::from_conf(local_config!(aws_sdk_secretsmanager, &self.endpoint).build())
    }
}

fn get_secret_value(versions: &[Version], request: &Value) -> (u16, Value) {
    let age = usize::from(request["VersionStage"] == "AWSPREVIOUS");
    match versions.iter().rev().nth(age) {
        Some((value, at)) => (200, json!({"Name": "secret", "SecretString": value, "CreatedDate": at})),
        None => (400, json!({"__type": "ResourceNotFoundException"})),
    }
}
