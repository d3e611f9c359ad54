//! The health check of the API. It uses no other service, so it doesn't fail when one of them does.

use linklet_lambda::http::{ApiError, Handler, Method, Problem, Request, Response, StatusCode, json};
use serde_json::json;

/// `GET`, `HEAD /health`.
pub struct Health;

impl Handler for Health {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::GET, ["health"]) => Ok(json(
                StatusCode::OK,
                &json!({"status": "ok", "service": "linklet", "version": env!("CARGO_PKG_VERSION")}),
            )),
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}
