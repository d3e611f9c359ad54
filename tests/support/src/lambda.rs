use std::{
    collections::HashMap,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use aws_lambda_events::apigw::ApiGatewayV2httpResponse;
use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Path as UrlPath, State},
    http::{HeaderMap, Request, StatusCode},
    routing::{get, post},
};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::Value;
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot};

use crate::{faults::lock, serve_in_background};

/// What happened, in its order. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Journal(Arc<Mutex<Vec<String>>>);

impl Journal {
    /// Takes note of something.
    pub fn note(&self, what: &str) {
        lock(&self.0).push(what.to_owned());
    }

    /// All that was noted.
    #[must_use]
    pub fn entries(&self) -> Vec<String> {
        lock(&self.0).clone()
    }

    /// A server that notes each call of an AWS API, by its operation, and then passes it on to this one.
    #[must_use]
    pub fn in_front_of(&self, endpoint: &str) -> String {
        let (journal, endpoint) = (self.clone(), endpoint.to_owned());
        let client: Client<HttpConnector, Body> = Client::builder(TokioExecutor::new()).build_http();
        let router = Router::new().fallback(async move |mut request: Request<Body>| {
            let target =
                request.headers().get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
            journal.note(target.rsplit('.').next().unwrap_or_default());
            *request.uri_mut() = endpoint.parse().expect("an endpoint is a URI");
            client.request(request).await.expect("the server behind answers").map(Body::new)
        });
        let address = serve_in_background(|listener| async {
            axum::serve(listener, router).await.expect("the proxy serves");
        });
        format!("http://{address}")
    }
}

/// A function's binary in an execution environment: a stand-in for Lambda's
/// [Runtime API](https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html). The process ends with it.
pub struct FakeLambda {
    process: Child,
    events: mpsc::UnboundedSender<Invocation>,
    journal: Journal,
}

struct Invocation {
    event: String,
    answer: oneshot::Sender<String>,
}

struct RuntimeApi {
    waiting: AsyncMutex<mpsc::UnboundedReceiver<Invocation>>,
    answers: Mutex<HashMap<String, oneshot::Sender<String>>>,
    journal: Journal,
}

impl FakeLambda {
    /// Starts a function. The journal says `next` when it asks for an event, and `answered` when it has answered one.
    ///
    /// # Panics
    /// When the binary can't be started.
    #[must_use]
    pub fn start(binary: &Path, variables: &[(&str, &str)], journal: &Journal) -> Self {
        let (events, waiting) = mpsc::unbounded_channel();
        let api = RuntimeApi { waiting: waiting.into(), answers: Mutex::default(), journal: journal.clone() };
        let router = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route("/2018-06-01/runtime/invocation/{id}/response", post(answered))
            .with_state(Arc::new(api));
        let address = serve_in_background(|listener| async {
            axum::serve(listener, router).await.expect("the stand-in serves");
        });
        let process = Command::new(binary)
            .env_clear()
            .env("AWS_LAMBDA_RUNTIME_API", address.to_string())
            .envs([("AWS_LAMBDA_FUNCTION_NAME", "test"), ("AWS_LAMBDA_FUNCTION_VERSION", "1")])
            .envs([("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"), ("AWS_REGION", "eu-central-1")])
            .envs([("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test")])
            .envs(variables.iter().copied())
            .stdout(Stdio::null())
            .spawn()
            .expect("the function starts");
        Self { process, events, journal: journal.clone() }
    }

    /// Hands it an event of API Gateway, waits until it is through with it, and returns the answer.
    ///
    /// # Panics
    /// When it doesn't answer within 20 seconds, or not as API Gateway understands it.
    pub async fn invoke(&self, event: &Value) -> ApiGatewayV2httpResponse {
        let asked = self.times_asked();
        let (sender, answer) = oneshot::channel();
        let sent = self.events.send(Invocation { event: event.to_string(), answer: sender });
        assert!(sent.is_ok(), "the stand-in runs");
        let through = async {
            let answer = answer.await.expect("the function answers");
            // It asks for the first event before it is there to be handed out, and then once after each.
            while self.times_asked() <= asked.max(1) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            answer
        };
        let answer = tokio::time::timeout(Duration::from_secs(20), through).await.expect("the function is not stuck");
        serde_json::from_str(&answer).expect("the answer is one for API Gateway")
    }

    fn times_asked(&self) -> usize {
        self.journal.entries().iter().filter(|entry| *entry == "next").count()
    }
}

impl Drop for FakeLambda {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn next(State(api): State<Arc<RuntimeApi>>) -> (HeaderMap, String) {
    api.journal.note("next");
    let invocation = api.waiting.lock().await.recv().await.expect("the test runs");
    let id = format!("{:032x}", api.journal.entries().len());
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("lambda-runtime-aws-request-id", id.as_str()),
        ("lambda-runtime-deadline-ms", "4102444800000"),
        ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:eu-central-1:123456789012:function:test"),
    ] {
        headers.insert(name, value.parse().expect("a header's value"));
    }
    lock(&api.answers).insert(id, invocation.answer);
    (headers, invocation.event)
}

async fn answered(State(api): State<Arc<RuntimeApi>>, UrlPath(id): UrlPath<String>, body: Bytes) -> StatusCode {
    api.journal.note("answered");
    if let Some(waiting) = lock(&api.answers).remove(&id) {
        // The test may have given up.
        let _ = waiting.send(String::from_utf8_lossy(&body).into_owned());
    }
    StatusCode::ACCEPTED
}
