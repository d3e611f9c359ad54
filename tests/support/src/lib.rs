//! What the tests share.
//!
//! [`TestDynamoDb`] is a real DynamoDB implementation, started in this process and reached through the real SDK; its tables
//! are those of `template.yaml`, so a test can't drift from what is deployed. [`FakeQueues`] stands in for SQS, which no
//! table depends on, and can be told to fail in the ways SQS fails.

#![expect(clippy::expect_used, reason = "this is test code: whatever goes wrong here has to end the test")]

/// The configuration of an SDK's client for a server in this process. Each SDK crate has types of its own, hence a macro.
macro_rules! local_config {
    ($sdk:ident, $endpoint:expr) => {
        $sdk::Config::builder()
            .behavior_version($sdk::config::BehaviorVersion::latest())
            .endpoint_url($endpoint)
            .region($sdk::config::Region::new("eu-central-1"))
            .credentials_provider($sdk::config::Credentials::new("test", "test", None, None, "test"))
            .retry_config($sdk::config::retry::RetryConfig::standard().with_max_attempts(1))
    };
}

mod agents;
mod broken;
mod builders;
mod capacity;
mod certificates;
mod contract;
mod cost_units;
mod database;
mod faults;
mod http;
pub mod internet;
mod lambda;
mod localstack;
mod logs;
mod notifiers;
pub mod provider;
mod queues;
mod remote;
mod rendezvous;
mod roles;
mod secrets;
mod service;
mod site;
mod template;

use axum::http::{HeaderMap, StatusCode, header};
use serde_json::Value;

pub use agents::{AGENTS, Agent};
pub use broken::BrokenDynamoDb;
pub use builders::{
    ApiKeyBuilder, ClickBuilder, LinkBuilder, Person, TargetBuilder, a_session, an_origin, an_origin_at, click_event,
    click_in, event_batch, link_id, message_batch, operator, queue_batch, removal, some_workspace, tags_of,
};
pub use capacity::{CapacityMeter, Consumption, item_bytes};
pub use certificates::{Authority, some_roots};
pub use contract::{Contract, Exchange};
pub use cost_units::{cost_units, write_cost_units};
pub use database::{StreamReader, TestDynamoDb, users_by};
pub use faults::{Cancellation, Fault, Faults, WriteCounter, operation_of};
pub use http::{
    Answer, RequestBuilder, TOKEN_SECRET, authenticator, issuer, token_for, token_of, token_without_workspace, tokens,
};
pub use lambda::{FakeLambda, Invocation, Journal, Program};
pub use logs::CapturedLogs;
pub use notifiers::FakeNotifiers;
pub use queues::{FakeQueues, Outage};
pub use rendezvous::Rendezvous;
pub use roles::{Grant, grants, in_role_of, keys_of};
pub use secrets::FakeSecret;
pub use service::execute;
pub use site::{Manner, OpenRequests, Site};
pub use template::{Route, Template};

/// Runs a server on a thread with a runtime of its own, so that a test that blocks can't starve it, and returns its address.
/// One thread is enough: no answer waits for anything, and a second one would only have to be woken.
pub(crate) fn serve_in_background<F, Fut>(serve: F) -> std::net::SocketAddr
where
    F: FnOnce(tokio::net::TcpListener) -> Fut + Send + 'static,
    Fut: std::future::Future<Output = ()>,
{
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime starts").block_on(async move {
            let listener = listen().expect("a loopback port is free");
            sender.send(listener.local_addr().expect("a bound socket has an address")).expect("the test waits");
            serve(listener).await;
        });
    });
    receiver.recv().expect("the server starts")
}

/// Serves this in the background, and returns the endpoint.
pub(crate) fn serve(router: axum::Router) -> String {
    let address = serve_in_background(|listener| async { axum::serve(listener, router).await.expect("it serves") });
    format!("http://{address}")
}

/// Serves an AWS API with JSON in the background, and returns the endpoint. A call is answered by its operation and its body.
///
/// # Panics
/// When a call isn't JSON, or a status is none.
pub fn serve_api<F>(answer: F) -> String
where
    F: Fn(&str, Value) -> (u16, Value) + Clone + Send + Sync + 'static,
{
    serve(axum::Router::new().fallback(async move |headers: HeaderMap, body: String| {
        let (status, answer) = answer(&called(&headers), serde_json::from_str(&body).expect("a call is JSON"));
        let status = StatusCode::from_u16(status).expect("a status");
        (status, [(header::CONTENT_TYPE, "application/x-amz-json-1.0")], answer.to_string())
    }))
}

/// The name of the operation that is called.
fn called(headers: &HeaderMap) -> String {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    target.rsplit('.').next().unwrap_or_default().to_owned()
}

/// Linux passes `TCP_NODELAY` on to accepted connections. Without it, an answer in two parts waits 40 ms for the client's
/// delayed acknowledgement.
fn listen() -> std::io::Result<tokio::net::TcpListener> {
    let socket = tokio::net::TcpSocket::new_v4()?;
    socket.set_nodelay(true)?;
    socket.bind(([127, 0, 0, 1], 0).into())?;
    socket.listen(1_024)
}
