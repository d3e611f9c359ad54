//! A standard queue: it delivers in no order, sometimes late, and some messages twice.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_sqs::Client;
use linklet_domain::{ClickId, Timestamp};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::clock::Clock;
use crate::lambda::Processor;
use crate::limits;
use crate::sdk::{config_for, without_network};

/// How often a message is received before it goes to the dead-letter queue, and for how long it is hidden each time.
#[derive(Debug, Clone, Copy)]
pub struct QueueSettings {
    pub receives: u32,
    pub visibility: Duration,
}

/// All queues of an account, by name.
#[derive(Clone)]
pub struct Queues(Arc<Mutex<State>>, Clock, QueueSettings);

#[derive(Default)]
struct State {
    queues: BTreeMap<String, Queue>,
    random: fastrand::Rng,
    sent: u64,
}

/// A queue.
#[derive(Default)]
struct Queue {
    /// By the time at which they can be received.
    waiting: BinaryHeap<Reverse<(Duration, u64)>>,
    messages: BTreeMap<u64, Message>,
    report: QueueReport,
}

/// A message.
#[derive(Debug, Clone)]
pub struct Message {
    pub number: u64,
    pub body: Arc<str>,
    pub receives: u32,
    /// When its clicks happened.
    pub clicks: Arc<[Timestamp]>,
}

/// What has happened to a queue.
#[derive(Debug, Clone, Default)]
pub struct QueueReport {
    pub messages: usize,
    /// Requests as SQS bills them: 64 KB of a call each.
    pub requests: usize,
    pub dead: usize,
}

impl Queues {
    /// Empty queues.
    pub fn start(clock: Clock, settings: QueueSettings, seed: u64) -> Self {
        let state = State { random: fastrand::Rng::with_seed(seed), ..State::default() };
        Self(Arc::new(Mutex::new(state)), clock, settings)
    }

    /// A client of an environment with this processor.
    pub fn client(&self, processor: &Processor) -> Client {
        let queues = self.clone();
        let http = without_network(processor, limits::SEND, move |_, body| (200, queues.accept(&body)));
        Client::from_conf(config_for!(aws_sdk_sqs).http_client(http).build())
    }

    /// The URL of a queue.
    pub fn url(name: &str) -> String {
        format!("https://sqs.eu-central-1.amazonaws.com/000000000000/{name}")
    }

    /// Puts messages into a queue in one call.
    pub fn send(&self, queue: &str, bodies: &[&str]) {
        let mut state = self.0.lock();
        let State { queues, random, sent } = &mut *state;
        let queue = queues.entry(queue.to_owned()).or_default();
        queue.report.messages += bodies.len();
        queue.report.requests += bodies.iter().map(|body| body.len()).sum::<usize>().div_ceil(64 * 1_024).max(1);
        for body in bodies {
            let copies = if random.u32(..limits::RARE) == 0 { 2 } else { 1 };
            for _ in 0..copies {
                let longest = if random.u32(..limits::RARE) == 0 { limits::RARE_DELAY } else { limits::USUAL_DELAY };
                let visible = self.1.elapsed() + longest.mul_f64(random.f64());
                *sent += 1;
                let message = Message { number: *sent, body: (*body).into(), receives: 0, clicks: clicks_in(body) };
                queue.waiting.push(Reverse((visible, *sent)));
                queue.messages.insert(*sent, message);
            }
        }
    }

    /// Receives what is visible now: at most so many messages, and so many bytes.
    pub fn receive(&self, queue: &str, most: usize, mut bytes: usize) -> Vec<Message> {
        let now = self.1.elapsed();
        let mut state = self.0.lock();
        let Some(queue) = state.queues.get_mut(queue) else { return Vec::new() };
        let mut received = Vec::new();
        while received.len() < most {
            let Some(Reverse((visible, number))) = queue.waiting.peek().copied() else { break };
            if visible > now {
                break;
            }
            let message = queue.messages.get_mut(&number).expect("a message that waits is there");
            if message.body.len() > bytes {
                break;
            }
            queue.waiting.pop();
            bytes -= message.body.len();
            message.receives += 1;
            if message.receives > self.2.receives {
                queue.report.dead += 1;
                queue.messages.remove(&number);
                continue;
            }
            received.push(message.clone());
            // Lambda asks for ten messages at a time, and deletes as many.
            queue.report.requests += if received.len() % 10 == 1 { 2 } else { 0 };
        }
        received
    }

    /// Deletes a message.
    pub fn delete(&self, queue: &str, message: &Message) {
        if let Some(queue) = self.0.lock().queues.get_mut(queue) {
            queue.messages.remove(&message.number);
        }
    }

    /// Hides a message that failed until it can be received again, or shows it at once.
    pub fn return_later(&self, queue: &str, message: &Message, is_hidden: bool) {
        let visible = self.1.elapsed() + if is_hidden { self.2.visibility } else { Duration::ZERO };
        if let Some(queue) = self.0.lock().queues.get_mut(queue) {
            queue.waiting.push(Reverse((visible, message.number)));
        }
    }

    /// How many messages there are, those that are worked on included.
    pub fn count(&self, queue: &str) -> usize {
        self.0.lock().queues.get(queue).map_or(0, |queue| queue.messages.len())
    }

    /// What has happened so far.
    pub fn report(&self, queue: &str) -> QueueReport {
        self.0.lock().queues.get(queue).map(|queue| queue.report.clone()).unwrap_or_default()
    }
}

/// The times of the clicks in a message, by the ids of their events. A parked click is none yet.
fn clicks_in(body: &str) -> Arc<[Timestamp]> {
    const ID: &str = r#""event_id":""#;
    let ids = body.match_indices(ID).filter_map(|(position, _)| body.get(position + ID.len()..)?.split('"').next());
    ids.filter_map(|id| ClickId::parse(id).ok()).map(|id| id.at()).collect()
}

impl Queues {
    fn accept(&self, request: &Value) -> Value {
        let name = request["QueueUrl"].as_str().and_then(|url| url.rsplit('/').next()).unwrap_or_default();
        let entries = request["Entries"].as_array().map_or_else(|| std::slice::from_ref(request), Vec::as_slice);
        let bodies: Vec<&str> = entries.iter().filter_map(|entry| entry["MessageBody"].as_str()).collect();
        self.send(name, &bodies);
        let accepted = entries.iter().map(|entry| json!({"Id": entry["Id"], "MessageId": "1", "MD5OfMessageBody": ""}));
        json!({"Successful": accepted.collect::<Vec<_>>(), "Failed": [], "MessageId": "1", "MD5OfMessageBody": ""})
    }
}
