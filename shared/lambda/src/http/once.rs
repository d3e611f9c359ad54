//! Requests that make something once, however often they are sent: those with the header `Idempotency-Key`.

use lambda_http::http::{HeaderName, HeaderValue, StatusCode};
use linklet_domain::{IdempotencyKey, Invalid, WorkspaceId};
use linklet_dynamodb::{CreationAnswer, KeptAnswer};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{JsonObject, Problem, Request, Response, Result, json_text, located};

/// What tells a request from others: its idempotency key, if it has one, and a digest of what it asks for, which must be the same for all
/// requests with one key.
#[derive(Debug)]
pub struct Once {
    key: Option<IdempotencyKey>,
    fingerprint: String,
}

impl Once {
    /// A request in a workspace. All requests of a person share their idempotency keys, so the digest covers method, path and workspace.
    ///
    /// # Errors
    /// When the key has another form.
    pub fn in_workspace(request: &Request, workspace: &WorkspaceId, body: &JsonObject) -> Result<Self, Invalid> {
        let asked = format!("{} {}\n{workspace}\n{}", request.method(), request.path(), body.fingerprint());
        Ok(Self { key: request.idempotency_key()?, fingerprint: hex::encode(Sha256::digest(asked)) })
    }

    /// A request outside of workspaces, for which the body tells enough: no other request of this form is outside of one.
    ///
    /// # Errors
    /// When the key has another form.
    pub fn of_body(request: &Request, body: &JsonObject) -> Result<Self, Invalid> {
        Ok(Self { key: request.idempotency_key()?, fingerprint: body.fingerprint() })
    }

    /// The key, if the request has one.
    pub fn key(&self) -> Option<&IdempotencyKey> {
        self.key.as_ref()
    }

    /// The answer to whoever repeats the request. Its body has no secret.
    ///
    /// # Errors
    /// When the body can't be serialised.
    pub fn answer(
        &self,
        status: StatusCode,
        body: &impl Serialize,
        location: &str,
    ) -> Result<CreationAnswer, serde_json::Error> {
        let (fingerprint, location) = (self.fingerprint.clone(), location.to_owned());
        Ok(CreationAnswer { fingerprint, body: serde_json::to_string(body)?, status: status.as_u16(), location })
    }

    /// The answer with the key under which it is to be kept.
    pub fn with_key<'a>(&'a self, answer: &'a CreationAnswer) -> KeptAnswer<'a> {
        self.key.as_ref().map(|key| (key, answer))
    }

    /// The answer that a request with the same key got, if one did.
    ///
    /// # Errors
    /// 422 when that request asked for something else.
    pub fn replay(&self, first: Option<CreationAnswer>) -> Result<Option<Response>> {
        match first {
            Some(first) if first.fingerprint != self.fingerprint => Err(Problem::IdempotencyKeyReused.into()),
            first => Ok(first.map(|first| mark_as_replay(response_of(first)))),
        }
    }
}

/// The response with an answer that is kept.
pub fn response_of(answer: CreationAnswer) -> Response {
    let CreationAnswer { body, status, location, .. } = answer;
    located(json_text(StatusCode::from_u16(status).unwrap_or(StatusCode::OK), body), &location)
}

const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// Adds the header `Idempotent-Replayed` to a response that an earlier request with the same idempotency key got.
pub fn mark_as_replay(mut response: Response) -> Response {
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    response
}

/// Whether a response is one that an earlier request got.
pub fn is_replayed(response: &Response) -> bool {
    response.headers().contains_key(REPLAYED)
}
