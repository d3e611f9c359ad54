//! The model's limits as a server in front of the DynamoDB of the tests, for playing in real time.

use std::{net::TcpListener, thread};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::IntoResponse,
    routing::post,
};
use tokio::runtime::Builder;

use crate::dynamodb::DynamoDb;

/// Serves the tables on a thread of its own, and returns where.
pub fn serve(dynamodb: &DynamoDb) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("a listener has an address");
    let router = Router::new().route("/", post(call)).with_state(dynamodb.clone());
    thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime can be built");
        runtime.block_on(async {
            listener.set_nonblocking(true).expect("a listener can be asynchronous");
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener can be asynchronous");
            axum::serve(listener, router).await
        })
    });
    format!("http://{address}")
}

async fn call(State(dynamodb): State<DynamoDb>, headers: HeaderMap, body: String) -> impl IntoResponse {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let operation = target.rsplit('.').next().unwrap_or_default();
    let (status, answer) = dynamodb.call(operation, serde_json::from_str(&body).expect("the SDK sends JSON"));
    let status = StatusCode::from_u16(status).expect("a status");
    (status, [(header::CONTENT_TYPE, "application/x-amz-json-1.0")], answer.to_string())
}
