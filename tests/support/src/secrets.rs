use std::sync::{Arc, Mutex};

use aws_sdk_secretsmanager::Client;
use axum::{Router, extract::State, http::StatusCode, routing::post};
use serde_json::{Value, json};

use crate::serve_in_background;

/// A stand-in for Secrets Manager with one secret.
#[derive(Clone)]
pub struct FakeSecret {
    versions: Arc<Mutex<Vec<String>>>,
    endpoint: String,
}

impl FakeSecret {
    /// Starts it with a first version.
    #[must_use]
    pub fn start(value: &str) -> Self {
        let versions = Arc::new(Mutex::new(vec![value.to_owned()]));
        let router = Router::new().route("/", post(get_secret_value)).with_state(versions.clone());
        let address = serve_in_background(|listener| async {
            axum::serve(listener, router).await.expect("the stand-in serves");
        });
        Self { versions, endpoint: format!("http://{address}") }
    }

    /// Makes the current version the previous one.
    ///
    /// # Panics
    /// Never: no test panics while it holds the lock.
    pub fn rotate(&self, value: &str) {
        self.versions.lock().expect("no test panics while it holds the lock").push(value.to_owned());
    }

    /// Where it listens.
    #[must_use]
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The SDK's client.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::from_conf(local_config!(aws_sdk_secretsmanager, &self.endpoint).build())
    }
}

async fn get_secret_value(State(versions): State<Arc<Mutex<Vec<String>>>>, body: String) -> (StatusCode, String) {
    let request: Value = serde_json::from_str(&body).expect("Secrets Manager is told JSON");
    let age = usize::from(request["VersionStage"] == "AWSPREVIOUS");
    let versions = versions.lock().expect("no test panics while it holds the lock");
    match versions.iter().rev().nth(age) {
        Some(value) => (StatusCode::OK, json!({"Name": "secret", "SecretString": value}).to_string()),
        None => (StatusCode::BAD_REQUEST, json!({"__type": "ResourceNotFoundException"}).to_string()),
    }
}
