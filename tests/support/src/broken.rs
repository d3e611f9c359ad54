use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aws_sdk_dynamodb::Client;
use serde_json::json;

use crate::serve_api;

/// A DynamoDB that answers every request with 500, and counts them.
pub struct BrokenDynamoDb {
    requests: Arc<AtomicUsize>,
    endpoint: String,
}

impl BrokenDynamoDb {
    /// Starts it.
    ///
    /// # Panics
    /// When it can't start.
    pub fn start() -> Self {
        let requests = Arc::new(AtomicUsize::new(0));
        let count = requests.clone();
        let endpoint = serve_api(move |_, _| {
            count.fetch_add(1, Ordering::SeqCst);
            (500, json!({"__type": "com.amazon.coral.service#InternalServerError"}))
        });
        Self { requests, endpoint }
    }

    /// How many requests have reached it.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    /// The SDK's client.
    pub fn client(&self) -> Client {
        Client::from_conf(local_config!(aws_sdk_dynamodb, &self.endpoint).build())
    }
}
