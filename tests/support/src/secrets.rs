use std::sync::{Arc, Mutex};

use aws_sdk_secretsmanager::Client;
use serde_json::{Value, json};

use crate::{faults::lock, serve_api};

/// A stand-in for Secrets Manager with one secret.
#[derive(Clone)]
pub struct FakeSecret {
    versions: Arc<Mutex<Vec<String>>>,
    endpoint: String,
}

impl FakeSecret {
    /// Starts it with a first version.
    pub fn start(value: &str) -> Self {
        let versions = Arc::new(Mutex::new(vec![value.to_owned()]));
        let served = versions.clone();
        let endpoint = serve_api(move |_, request| get_secret_value(&lock(&served), &request));
        Self { versions, endpoint }
    }

    /// Makes the current version the previous one.
    pub fn rotate(&self, value: &str) {
        lock(&self.versions).push(value.to_owned());
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

fn get_secret_value(versions: &[String], request: &Value) -> (u16, Value) {
    let age = usize::from(request["VersionStage"] == "AWSPREVIOUS");
    match versions.iter().rev().nth(age) {
        Some(value) => (200, json!({"Name": "secret", "SecretString": value})),
        None => (400, json!({"__type": "ResourceNotFoundException"})),
    }
}
