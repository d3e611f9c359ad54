use lambda_http::http::{HeaderValue, StatusCode, header};
use linklet_domain::{Allowance, Invalid, LinkStatus, Refusal};
use linklet_dynamodb::RepositoryError;
use serde::Serialize;

use super::{Request, Response, response::problem};
use crate::telemetry::chain;

/// The error of a request, and the only mapping of errors to HTTP responses.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// 400: a value in the request is invalid.
    #[error("the request is invalid")]
    Invalid(#[from] Invalid),
    /// 401: the token or API key is missing or invalid. The response doesn't reveal why.
    #[error("unauthorized")]
    Unauthorized,
    /// 401: a login failed. The response doesn't reveal why.
    #[error("invalid credentials")]
    InvalidCredentials,
    /// 403: the caller may not access or change the resource.
    #[error("{0}")]
    Forbidden(&'static str),
    /// 404: the resource or route doesn't exist.
    #[error("{0}")]
    NotFound(&'static str),
    /// 409: the request conflicts with the state of the resource.
    #[error("{0}")]
    Conflict(&'static str),
    /// 410: the link was removed, or is no longer active.
    #[error("{0}")]
    Gone(&'static str),
    /// 413: the request body is too large.
    #[error("the request body must have at most {limit} bytes")]
    PayloadTooLarge {
        /// The route's limit in bytes.
        limit: usize,
    },
    /// 422: the request is valid, but contradicts an earlier one, such as one with the same idempotency key.
    #[error("{0}")]
    Unprocessable(&'static str),
    /// 429: the client has reached a rate limit.
    #[error("rate limit exceeded")]
    Throttled(Refusal),
    /// 503: the request can succeed if it is retried later.
    #[error("{0}")]
    Unavailable(&'static str),
    /// 503 if DynamoDB failed, 500 if an item has an unexpected form.
    #[error("a table failed")]
    Repository(#[from] RepositoryError),
    /// 500: a bug, or the failure of a service without which the request can't be processed.
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl ApiError {
    /// 410 with the sentence for a link's status.
    #[must_use]
    pub fn gone(status: LinkStatus) -> Self {
        Self::Gone(match status {
            LinkStatus::Expired => "this link has expired",
            LinkStatus::Deleted => "this link was deleted",
            LinkStatus::Purged => "this link was deleted with its statistics",
            LinkStatus::Inactive | LinkStatus::Active => "this link is no longer active",
        })
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::Unauthorized | Self::InvalidCredentials => StatusCode::UNAUTHORIZED,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Conflict(_) => StatusCode::CONFLICT,
            Self::Gone(_) => StatusCode::GONE,
            Self::PayloadTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unprocessable(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Throttled(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable(_) | Self::Repository(RepositoryError::Unavailable { .. }) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Self::Repository(RepositoryError::UnexpectedItem { .. }) | Self::Internal(_) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        }
    }

    /// The sentence for the client, without internal details.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Self::Invalid(reason) => reason.to_string(),
            Self::Repository(RepositoryError::Unavailable { .. }) => "service unavailable".to_owned(),
            Self::Repository(RepositoryError::UnexpectedItem { .. }) | Self::Internal(_) => {
                "internal server error".to_owned()
            }
            other => other.to_string(),
        }
    }

    /// Makes the response, a problem document (RFC 9457). An error with a 5xx status is logged here with its causes.
    pub(super) fn into_response(self, request: &Request) -> Response {
        let (status, sentence) = (self.status(), self.sentence());
        if status.is_server_error() {
            tracing::error!(error = chain(&self), "request failed");
        }
        let body = Problem {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or_default(),
            status: status.as_u16(),
            detail: &sentence,
            error: &sentence,
            correlation_id: request.correlation_id().as_str(),
        };
        let mut response = problem(status, &body);
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Self::Throttled(refusal) = self {
            response.headers_mut().insert(header::RETRY_AFTER, refusal.retry_after.into());
            request.note_allowance(Allowance { limit: refusal.limit, remaining: 0 });
        }
        response
    }
}

/// A problem document (RFC 9457), with the additional member `error` for older clients.
#[derive(Serialize)]
struct Problem<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    title: &'static str,
    status: u16,
    detail: &'a str,
    error: &'a str,
    correlation_id: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_internal_reaches_the_client() {
        let failed = RepositoryError::Unavailable {
            operation: "read linklet-LinksTable-1ABC",
            source: "dispatch failure: dns error for dynamodb.internal".into(),
        };
        let error = ApiError::from(failed);

        assert_eq!(error.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(error.sentence(), "service unavailable");
        assert_eq!(ApiError::Internal("secret".into()).sentence(), "internal server error");
    }

    #[test]
    fn the_chain_in_the_log_repeats_nothing() {
        let failed = RepositoryError::Unavailable { operation: "read a link", source: "connection refused".into() };

        assert_eq!(
            chain(&ApiError::from(failed)),
            "a table failed: DynamoDB failed to read a link: connection refused"
        );
    }
}
