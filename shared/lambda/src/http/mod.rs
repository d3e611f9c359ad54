//! HTTP functions: from API Gateway's event to an answer.
//!
//! A handler gets a [`Request`] and returns an answer or an [`ApiError`]. Everything that holds for all routes happens here,
//! once: the correlation id, problem documents, the log line, empty bodies for HEAD.

mod edge;
mod error;
mod gateway;
mod json;
mod request;
mod response;
mod short_urls;

use std::{
    future::Future,
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

pub use lambda_http::http::{HeaderValue, Method, StatusCode, header};
use lambda_http::{Body, aws_lambda_events::apigw::ApiGatewayV2httpRequest};
use lambda_runtime::{LambdaEvent, service_fn};
use tracing::Instrument as _;

pub use self::{
    edge::Edge,
    error::ApiError,
    gateway::request_of,
    json::JsonObject,
    request::Request,
    response::{Response, html, json, json_text, no_content},
    short_urls::ShortUrls,
};
use crate::{
    StartError,
    metrics::{self, Metric},
};

/// What a function does with a request.
pub trait Handler: Send + Sync {
    /// Answers one request.
    fn handle(&self, request: &Request) -> impl Future<Output = Result<Response, ApiError>> + Send;
}

/// Answers requests until the execution environment ends.
///
/// # Errors
/// When the Runtime API can't be reached.
pub async fn serve(handler: impl Handler) -> Result<(), StartError> {
    let handler = &handler;
    lambda_runtime::run(service_fn(async |event: LambdaEvent<ApiGatewayV2httpRequest>| {
        Ok::<_, StartError>(gateway::answer_of(respond(handler, request_of(event.payload)).await))
    }))
    .await
}

/// Answers one request.
pub async fn respond(handler: &impl Handler, request: impl Into<Request>) -> Response {
    let started = Instant::now();
    let request: Request = request.into();
    let span = tracing::info_span!("request", correlation_id = request.correlation_id().as_str());
    let answered = async {
        let mut response = match handler.handle(&request).await {
            Ok(response) => response,
            Err(error) => error.into_response(&request),
        };
        finish(&request, &mut response);
        log(&request, &response, started);
        response
    };
    // Boxed, since the types of nested futures get deeper than the compiler follows.
    metrics::scope(Box::pin(answered)).instrument(span).await
}

fn finish(request: &Request, response: &mut Response) {
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(request.correlation_id().as_str()) {
        headers.insert("x-correlation-id", id);
    }
    if let Some(allowance) = request.allowance() {
        headers.insert("x-ratelimit-limit", allowance.limit.into());
        headers.insert("x-ratelimit-remaining", allowance.remaining.into());
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if request.method() == Method::HEAD {
        *response.body_mut() = Body::Empty;
    }
}

fn log(request: &Request, response: &Response, started: Instant) {
    static IS_WARM: AtomicBool = AtomicBool::new(false);
    let (status, duration_ms) = (response.status(), started.elapsed().as_secs_f64() * 1_000.0);
    let cold_start = !IS_WARM.swap(true, Ordering::Relaxed);
    metrics::add(Metric::Requests, 1);
    metrics::record(Metric::Latency, duration_ms);
    metrics::add(Metric::Errors, status.is_server_error().into());
    metrics::add(Metric::Throttles, (status == StatusCode::TOO_MANY_REQUESTS).into());
    metrics::add(Metric::ColdStarts, cold_start.into());
    tracing::info!(
        method = request.method().as_str(),
        path = request.path(),
        status = status.as_u16(),
        duration_ms,
        cold_start,
        emf = metrics::embedded(),
        "request answered"
    );
}
