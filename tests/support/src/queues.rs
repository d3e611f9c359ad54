use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use aws_sdk_sqs::Client;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router, extract};
use serde_json::{Value, json};

use crate::{faults::lock, localstack::LocalStack, remote::block_on, serve};

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
    /// It answers with success, reports these messages as failed, and says that it will never take them.
    NeverMessagesWith(String),
    /// It reports them as failed in the first answer to a call that has any, and takes them later.
    OnceMessagesWith(String),
}

/// A stand-in for SQS: takes messages by the protocol of the real one, and fails on demand. If the environment names a
/// [LocalStack](crate::localstack), that takes and keeps them.
#[derive(Clone)]
pub struct FakeQueues {
    state: Arc<State>,
    client: Client,
    endpoint: String,
}

struct State {
    behind: Option<LocalStack>,
    queues: Mutex<Queues>,
}

#[derive(Default)]
struct Queues {
    /// By the queue's name.
    messages: HashMap<String, Vec<Message>>,
    outage: Outage,
}

/// What was sent, and the id that it got.
#[derive(Clone)]
struct Message {
    id: String,
    sent: Value,
}

impl FakeQueues {
    /// Starts it with no messages.
    pub fn start() -> Self {
        let state = Arc::new(State { behind: LocalStack::of_environment(), queues: Mutex::default() });
        let router = Router::new().route("/", post(accept)).with_state(state.clone());
        let endpoint = serve(router);
        let config = local_config!(aws_sdk_sqs, &endpoint).build();
        Self { state, client: Client::from_conf(config), endpoint }
    }

    /// A client of an SQS that doesn't answer, since nothing listens there.
    pub fn unreachable() -> Client {
        Client::from_conf(local_config!(aws_sdk_sqs, "http://127.0.0.1:9").build())
    }

    /// Where it listens.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The SDK's client.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// The URL of a queue; any name will do.
    pub fn url(&self, queue: &str) -> String {
        format!("{}/000000000000/{queue}", self.endpoint)
    }

    /// Fails in this way from now on.
    pub fn fail(&self, outage: Outage) {
        lock(&self.state.queues).outage = outage;
    }

    /// All accepted messages as they were sent, in the order of their arrival.
    ///
    /// # Panics
    /// When LocalStack has accepted one and doesn't have it.
    pub fn messages(&self, queue: &str) -> Vec<Value> {
        let mut messages = lock(&self.state.queues).messages.get(queue).cloned().unwrap_or_default();
        if self.state.behind.is_some() && !messages.is_empty() {
            let (state, name) = (self.state.clone(), queue.to_owned());
            let kept = block_on(async move { state.behind.as_ref().expect("it is there").bodies(&name).await });
            for Message { id, sent } in &mut messages {
                sent["MessageBody"] = kept.get(id).unwrap_or_else(|| panic!("{queue} has lost {sent}")).as_str().into();
            }
        }
        messages.into_iter().map(|message| message.sent).collect()
    }

    /// The bodies of all accepted messages, in the order of their arrival.
    pub fn bodies(&self, queue: &str) -> Vec<String> {
        let text = |message: &Value| message["MessageBody"].as_str().unwrap_or_default().to_owned();
        self.messages(queue).iter().map(text).collect()
    }

    /// The bodies of all accepted messages, read as JSON; of one with several events, each of them.
    ///
    /// # Panics
    /// When one of them is no JSON.
    pub fn events(&self, queue: &str) -> Vec<Value> {
        let bodies = self.bodies(queue).into_iter().map(|body| serde_json::from_str(&body).expect("a message is JSON"));
        let unpacked = |mut message: Value| match message.get_mut("events").map(Value::take) {
            Some(Value::Array(events)) => events,
            _ => vec![message],
        };
        bodies.flat_map(unpacked).collect()
    }
}

async fn accept(
    extract::State(state): extract::State<Arc<State>>,
    headers: HeaderMap,
    // Not through `Json`, which wants another content type than SQS's protocol has.
    body: String,
) -> (StatusCode, Json<Value>) {
    let mut request: Value = serde_json::from_str(&body).expect("SQS is told JSON");
    let action = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let url = request["QueueUrl"].as_str().unwrap_or_default().to_owned();
    let queue = url.rsplit('/').next().unwrap_or_default();
    let Some(for_good) = lock(&state.queues).strike(&mut request) else {
        return (StatusCode::SERVICE_UNAVAILABLE, Json(json!({"__type": "ServiceUnavailable", "message": "down"})));
    };
    let (status, mut answer) = match &state.behind {
        Some(localstack) => localstack.sqs(action, queue, request.clone()).await,
        None => answer(action, &request),
    };
    if status == StatusCode::OK {
        lock(&state.queues).note(queue, &request, &mut answer, for_good);
    }
    (status, Json(answer))
}

/// SQS refuses a message with a character that XML doesn't have.
const REFUSED: &str = "\u{1}";

/// Of an SQS that keeps nothing.
fn answer(action: &str, request: &Value) -> (StatusCode, Value) {
    if action == "AmazonSQS.SendMessage" {
        return (StatusCode::OK, json!({"MessageId": "1", "MD5OfMessageBody": ""}));
    }
    let entries = request["Entries"].as_array().map_or(&[][..], Vec::as_slice);
    if entries.len() > 10 {
        return (StatusCode::BAD_REQUEST, json!({"__type": "TooManyEntriesInBatchRequest", "message": "at most 10"}));
    }
    let (failed, successful): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| entry["MessageBody"] == REFUSED);
    let successful =
        successful.iter().map(|entry| json!({"Id": entry["Id"], "MessageId": "1", "MD5OfMessageBody": ""}));
    let failed = failed.iter().map(|entry| json!({"Id": entry["Id"], "Code": "InvalidMessageContents"}));
    (StatusCode::OK, json!({"Successful": successful.collect::<Value>(), "Failed": failed.collect::<Value>()}))
}

impl Queues {
    /// Lets the outage meet a call: none if the call gets nowhere, else whether what the call's answer will report as failed
    /// fails for good. The messages that are to fail are made ones that SQS refuses.
    fn strike(&mut self, request: &mut Value) -> Option<bool> {
        let (text, for_good, is_once) = match &self.outage {
            Outage::None => return Some(false),
            Outage::Everything => return None,
            Outage::OneCall => {
                self.outage = Outage::None;
                return None;
            }
            Outage::MessagesWith(text) => (text, false, false),
            Outage::NeverMessagesWith(text) => (text, true, false),
            Outage::OnceMessagesWith(text) => (text, false, true),
        };
        let mut is_met = false;
        for entry in request.get_mut("Entries").and_then(Value::as_array_mut).into_iter().flatten() {
            if entry["MessageBody"].as_str().is_some_and(|body| body.contains(text)) {
                entry["MessageBody"] = REFUSED.into();
                is_met = true;
            }
        }
        if is_met && is_once {
            self.outage = Outage::None;
        }
        Some(for_good)
    }

    /// Takes note of what was accepted, and has the answer say what the test wants.
    fn note(&mut self, queue: &str, request: &Value, answer: &mut Value, for_good: bool) {
        for failed in answer.get_mut("Failed").and_then(Value::as_array_mut).into_iter().flatten() {
            failed["SenderFault"] = for_good.into();
        }
        let entries = request["Entries"].as_array().into_iter().flatten();
        let accepted = answer["Successful"].as_array().into_iter().flatten().filter_map(|successful| {
            Some((successful, entries.clone().find(|entry| entry["Id"] == successful["Id"])?))
        });
        let single = request.get("MessageBody").map(|_| (&*answer, request));
        let messages = accepted.chain(single).map(|(answer, sent)| Message {
            id: answer["MessageId"].as_str().unwrap_or_default().to_owned(),
            sent: sent.clone(),
        });
        self.messages.entry(queue.to_owned()).or_default().extend(messages);
    }
}
