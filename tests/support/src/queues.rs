use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
};

use aws_sdk_sqs::Client;
use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use serde_json::{Value, json};

use crate::serve_in_background;

/// How a queue fails.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Outage {
    /// Not at all.
    #[default]
    None,
    /// It answers every call with an error.
    Everything,
    /// It answers the next call with an error.
    OneCall,
    /// It answers with success, and reports messages whose body contains this text as failed inside the answer.
    MessagesWith(String),
    /// The same, and it says that it will never take them.
    NeverMessagesWith(String),
    /// It reports them as failed in the first answer to a call that has any, and takes them later.
    OnceMessagesWith(String),
}

/// A stand-in for SQS: takes messages by the protocol of the real one, and fails on demand.
#[derive(Clone)]
pub struct FakeQueues {
    state: Arc<Mutex<Queues>>,
    client: Client,
    endpoint: String,
}

#[derive(Default)]
struct Queues {
    messages: HashMap<String, Vec<Value>>,
    /// How many messages queues say they have: waiting, and being worked on.
    counts: HashMap<String, (usize, usize)>,
    outage: Outage,
}

impl FakeQueues {
    /// Starts it with no messages.
    #[must_use]
    pub fn start() -> Self {
        let state = Arc::new(Mutex::new(Queues::default()));
        let router = Router::new().route("/", post(accept)).with_state(state.clone());
        let address = serve_in_background(|listener| async {
            axum::serve(listener, router).await.expect("the stand-in serves");
        });
        let endpoint = format!("http://{address}");
        let config = local_config!(aws_sdk_sqs, &endpoint).build();
        Self { state, client: Client::from_conf(config), endpoint }
    }

    /// A client of an SQS that doesn't answer, since nothing listens there.
    #[must_use]
    pub fn unreachable() -> Client {
        Client::from_conf(local_config!(aws_sdk_sqs, "http://127.0.0.1:9").build())
    }

    /// Where it listens.
    #[must_use]
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The SDK's client.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// The URL of a queue; any name will do.
    #[must_use]
    pub fn url(&self, queue: &str) -> String {
        format!("{}/000000000000/{queue}", self.endpoint)
    }

    /// Fails in this way from now on.
    pub fn fail(&self, outage: Outage) {
        self.lock().outage = outage;
    }

    /// Has a queue say from now on that so many messages wait in it, and that so many are being worked on. Otherwise it says
    /// that it is empty.
    pub fn occupy(&self, queue: &str, waiting: usize, in_work: usize) {
        self.lock().counts.insert(self.url(queue), (waiting, in_work));
    }

    /// All accepted messages as they were sent, in the order of their arrival.
    #[must_use]
    pub fn messages(&self, queue: &str) -> Vec<Value> {
        self.lock().messages.get(&self.url(queue)).cloned().unwrap_or_default()
    }

    /// The bodies of all accepted messages, in the order of their arrival.
    #[must_use]
    pub fn bodies(&self, queue: &str) -> Vec<String> {
        let text = |message: &Value| message["MessageBody"].as_str().unwrap_or_default().to_owned();
        self.messages(queue).iter().map(text).collect()
    }

    /// The same, read as JSON.
    ///
    /// # Panics
    /// When one of them is no JSON.
    #[must_use]
    pub fn events(&self, queue: &str) -> Vec<Value> {
        self.bodies(queue).iter().map(|body| serde_json::from_str(body).expect("a message is JSON")).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.state.lock().expect("no test panics while it holds the lock")
    }
}

async fn accept(
    State(state): State<Arc<Mutex<Queues>>>,
    headers: HeaderMap,
    // Not through `Json`, which wants another content type than SQS's protocol has.
    body: String,
) -> (StatusCode, Json<Value>) {
    let request: Value = serde_json::from_str(&body).expect("SQS is told JSON");
    let mut queues = state.lock().expect("no test panics while it holds the lock");
    if matches!(queues.outage, Outage::Everything | Outage::OneCall) {
        if queues.outage == Outage::OneCall {
            queues.outage = Outage::None;
        }
        return (StatusCode::SERVICE_UNAVAILABLE, Json(json!({"__type": "ServiceUnavailable", "message": "down"})));
    }
    let queue = request["QueueUrl"].as_str().unwrap_or_default().to_owned();
    let action = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    if action == "AmazonSQS.GetQueueAttributes" {
        let (waiting, in_work) = queues.counts.get(&queue).copied().unwrap_or_default();
        let attributes = json!({
            "ApproximateNumberOfMessages": waiting.to_string(),
            "ApproximateNumberOfMessagesNotVisible": in_work.to_string(),
        });
        return (StatusCode::OK, Json(json!({"Attributes": attributes})));
    }
    if action == "AmazonSQS.SendMessage" {
        queues.messages.entry(queue).or_default().push(request);
        return (StatusCode::OK, Json(json!({"MessageId": "1", "MD5OfMessageBody": ""})));
    }
    if request["Entries"].as_array().is_some_and(|entries| entries.len() > 10) {
        let error = json!({"__type": "TooManyEntriesInBatchRequest", "message": "at most 10"});
        return (StatusCode::BAD_REQUEST, Json(error));
    }
    let (mut successful, mut failed) = (Vec::new(), Vec::new());
    for entry in request["Entries"].as_array().cloned().unwrap_or_default() {
        let id = entry["Id"].clone();
        let body = entry["MessageBody"].as_str().unwrap_or_default();
        let refused = match &queues.outage {
            Outage::MessagesWith(text) | Outage::OnceMessagesWith(text) if body.contains(text) => Some(false),
            Outage::NeverMessagesWith(text) if body.contains(text) => Some(true),
            _ => None,
        };
        if let Some(for_good) = refused {
            failed.push(json!({"Id": id, "Code": "InvalidMessageContents", "SenderFault": for_good}));
        } else {
            successful.push(json!({"Id": id, "MessageId": "1", "MD5OfMessageBody": ""}));
            queues.messages.entry(queue.clone()).or_default().push(entry);
        }
    }
    if !failed.is_empty() && matches!(queues.outage, Outage::OnceMessagesWith(_)) {
        queues.outage = Outage::None;
    }
    (StatusCode::OK, Json(json!({"Successful": successful, "Failed": failed})))
}
