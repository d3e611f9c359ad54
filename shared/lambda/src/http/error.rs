use std::sync::LazyLock;

use lambda_http::http::{HeaderValue, StatusCode, header};
use linklet_domain::{Allowance, Invalid, LinkStatus, Refusal, Role, Scope, ShortCode, WorkspaceId, WorkspaceName};
use linklet_dynamodb::RepositoryError;
use serde::Serialize;

use super::{InvalidBody, Problem, Request, Response, response::problem};
use crate::{actor::Actor, config, telemetry::chain};

/// What a handler returns.
pub type Result<T, E = ApiError> = std::result::Result<T, E>;

/// The error of a request, and the only mapping of errors to HTTP responses.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// A problem that its kind describes completely.
    #[error("{}", .0.sentence())]
    Problem(Problem),
    /// The body can't be read.
    #[error(transparent)]
    InvalidBody(#[from] InvalidBody),
    /// A value in the request is invalid.
    #[error("the request is invalid")]
    Invalid(#[from] Invalid),
    /// The path has other methods.
    #[error("this address only supports {allow}")]
    MethodNotAllowed {
        /// Those, as in the header `Allow`.
        allow: String,
    },
    /// The query has a parameter that the operation doesn't have.
    #[error("there is no parameter {name} here{}", suggested(*.nearest))]
    UnknownParameter {
        /// Its name, as an answer may show it.
        name: String,
        /// The one that may have been meant.
        nearest: Option<&'static str>,
    },
    /// The thing is somebody else's.
    #[error("{}", .0.sentence())]
    Forbidden(Belonging),
    /// The caller's role is too low.
    #[error("this needs the role {0}, which you don't have in this workspace")]
    RoleTooLow(Role),
    /// The API key lacks this scope.
    #[error("the API key lacks the scope {0}")]
    ScopeMissing(Scope),
    /// Another link has the external id.
    #[error("the link {0} of the workspace has this external_id")]
    ExternalIdTaken(ShortCode),
    /// A URL can't be followed to where it leads.
    #[error("this URL couldn't be followed: {0}")]
    UrlUnreachable(String),
    /// A range of days is too long.
    #[error("{}", longest_range(.most, *.members_get_more))]
    RangeTooLong {
        /// How many days this caller may ask for.
        most: u64,
        /// Whether callers of the link's workspace may ask for more.
        members_get_more: bool,
    },
    /// The client has reached a rate limit.
    #[error("rate limit exceeded")]
    Throttled(Refusal),
    /// Others, or the client itself, have guessed wrong too often, or too many passwords are to be checked at once.
    #[error("too many attempts")]
    TooManyAttempts {
        /// Seconds until another attempt may be admitted.
        retry_after: u64,
    },
    /// Somebody can't close their account, since a workspace would be left without an admin.
    #[error("the last admin of a workspace")]
    LastAdminOf(WorkspaceId, WorkspaceName),
    /// DynamoDB failed, or an item has an unexpected form.
    #[error("a table failed")]
    Repository(#[source] RepositoryError),
    /// A bug, or the failure of a service without which the request can't be processed.
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// To whom something belongs that a caller wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Belonging {
    /// To another workspace.
    Workspace,
    /// To somebody else in the workspace.
    Member,
    /// To somebody else than the creator of the API key.
    MemberForKey,
    /// To somebody else, whose name it acts in.
    Creator,
    /// To another account.
    Account,
    /// To Linklet itself.
    Linklet,
}

impl Belonging {
    fn sentence(self) -> &'static str {
        match self {
            Self::Workspace => "this belongs to another workspace",
            Self::Member => "this belongs to someone else; only they or an admin can do it",
            Self::MemberForKey => {
                "this belongs to someone else, and an API key can only change what its creator has created"
            }
            Self::Creator => "this acts for someone else, so only they can do it",
            Self::Account => "this token belongs to another account",
            Self::Linklet => "Linklet starts and cancels this job itself",
        }
    }
}

/// The end of a sentence about a name that isn't known.
pub(super) fn suggested(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("; did you mean {nearest}?")).unwrap_or_default()
}

fn longest_range(most: &u64, members_get_more: bool) -> String {
    let hint = if members_get_more { "; a token or API key of the link's workspace allows more" } else { "" };
    format!("from and to must include at most {most} days{hint}")
}

impl From<RepositoryError> for ApiError {
    fn from(error: RepositoryError) -> Self {
        match error {
            RepositoryError::ReadTooMuch { refusal, .. } => Self::Throttled(refusal),
            error => Self::Repository(error),
        }
    }
}

impl From<Problem> for ApiError {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl Problem {
    /// Answers with it if this is so.
    ///
    /// # Errors
    /// When it is so.
    pub fn when(self, is_so: bool) -> Result<()> {
        if is_so { Err(self.into()) } else { Ok(()) }
    }

    /// Answers with it unless this is so.
    ///
    /// # Errors
    /// When it isn't so.
    pub fn unless(self, is_so: bool) -> Result<()> {
        self.when(!is_so)
    }
}

impl ApiError {
    /// A failure that has this cause.
    pub fn internal(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(error.into())
    }

    /// The problem of a link that doesn't redirect because of its status.
    pub fn gone(status: LinkStatus) -> Self {
        Self::Problem(match status {
            LinkStatus::Expired => Problem::LinkExpired,
            LinkStatus::Deleted => Problem::LinkDeleted,
            LinkStatus::Purged => Problem::LinkPurged,
            LinkStatus::Scheduled => Problem::LinkScheduled,
            LinkStatus::Exhausted => Problem::LinkExhausted,
            LinkStatus::Suspended => Problem::LinkSuspended,
            LinkStatus::Inactive | LinkStatus::Active => Problem::LinkInactive,
        })
    }

    /// What kind of problem the client is told about.
    pub fn problem(&self) -> Problem {
        match self {
            Self::Problem(problem) => *problem,
            Self::InvalidBody(_) => Problem::InvalidBody,
            Self::Invalid(_) => Problem::InvalidInput,
            Self::Forbidden(_) => Problem::Forbidden,
            Self::RoleTooLow(_) => Problem::RoleTooLow,
            Self::ScopeMissing(_) => Problem::ScopeMissing,
            Self::ExternalIdTaken(_) => Problem::ExternalIdTaken,
            Self::UrlUnreachable(_) => Problem::UrlUnreachable,
            Self::MethodNotAllowed { .. } => Problem::MethodNotAllowed,
            Self::UnknownParameter { .. } => Problem::UnknownParameter,
            Self::RangeTooLong { .. } => Problem::RangeTooLong,
            Self::Throttled(_) | Self::Repository(RepositoryError::ReadTooMuch { .. }) => Problem::RateLimited,
            Self::TooManyAttempts { .. } => Problem::TooManyAttempts,
            Self::LastAdminOf(..) => Problem::LastAdmin,
            Self::Repository(RepositoryError::Unavailable { .. }) => Problem::ServiceUnavailable,
            Self::Repository(RepositoryError::UnexpectedItem { .. }) | Self::Internal(_) => Problem::Internal,
        }
    }

    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        self.problem().status()
    }

    /// The sentence for the client, without internal details.
    pub fn sentence(&self) -> String {
        match self {
            Self::Invalid(reason) => reason.to_string(),
            Self::InvalidBody(_)
            | Self::RangeTooLong { .. }
            | Self::Forbidden(_)
            | Self::RoleTooLow(_)
            | Self::ScopeMissing(_)
            | Self::ExternalIdTaken(_)
            | Self::UrlUnreachable(_)
            | Self::MethodNotAllowed { .. }
            | Self::UnknownParameter { .. } => self.to_string(),
            other => other.problem().sentence().to_owned(),
        }
    }

    /// The input to blame: a member of the body, a parameter or a header.
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Invalid(reason) => reason.field(),
            Self::UnknownParameter { name, .. } => Some(name),
            other => other.problem().field(),
        }
    }

    /// After how many seconds the client may try again, if that is known.
    fn retry_after(&self) -> Option<u64> {
        match self {
            Self::Throttled(refusal) => Some(refusal.retry_after),
            Self::TooManyAttempts { retry_after } => Some(*retry_after),
            _ => None,
        }
    }

    /// Makes the response, a problem document (RFC 9457). An error with a 5xx status is logged here with its causes, and a
    /// refused access (403) with who wanted it. Verifiers log refused credentials (401), since only they know the reason.
    pub fn into_response(self, request: &Request) -> Response {
        if self.status().is_server_error() {
            tracing::error!(error = chain(&self), "request failed");
        }
        // The verifier has told of a key that was sent where people only may call.
        if self.status() == StatusCode::FORBIDDEN && self.problem() != Problem::TokenRequired {
            log_refused_access(request, self.problem());
        }
        self.into_response_unlogged(request)
    }

    /// Like [`Self::into_response`], for a failure that has its log line already.
    pub fn into_response_unlogged(self, request: &Request) -> Response {
        let (kind, sentence) = (self.problem(), self.sentence());
        let status = kind.status();
        let body = Document {
            kind: kind.urn(),
            title: status.canonical_reason().unwrap_or_default(),
            status: status.as_u16(),
            detail: &sentence,
            error: &sentence,
            code: kind.code(),
            docs_url: docs_url(request, kind),
            field: self.field(),
            workspace: match &self {
                Self::LastAdminOf(workspace_id, workspace) => Some(NamedWorkspace { workspace_id, workspace }),
                _ => None,
            },
            correlation_id: request.correlation_id.as_str(),
        };
        let mut response = problem(status, &body);
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if status == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            // What would be taken instead (RFC 9110, 12.5.3).
            response.headers_mut().insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        if let Self::MethodNotAllowed { allow } = &self
            && let Ok(allow) = HeaderValue::from_str(allow)
        {
            response.headers_mut().insert(header::ALLOW, allow);
        }
        if let Some(seconds) = self.retry_after() {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        if let Self::Throttled(refusal) = self {
            request.note_allowance(Allowance { limit: refusal.limit, remaining: 0, resets_in: refusal.retry_after });
        }
        response
    }
}

/// The paragraph about a problem under `/api/docs`, at the base in `PUBLIC_BASE_URL` or else where the client reached us.
fn docs_url(request: &Request, problem: Problem) -> String {
    static BASE: LazyLock<Option<String>> = LazyLock::new(|| config::optional("PUBLIC_BASE_URL"));
    let base = BASE.clone().unwrap_or_else(|| request.origin());
    format!("{base}/api/docs#{}", problem.code())
}

fn log_refused_access(request: &Request, problem: Problem) {
    let actor = request.actor();
    tracing::warn!(
        problem = problem.code(),
        route = request.route(),
        short_code = request.short_code().as_ref().map(ShortCode::as_str),
        user_id = actor.map(|actor| actor.user.to_string()),
        workspace_id = actor.and_then(Actor::workspace_id),
        key_prefix = actor.and_then(Actor::key_prefix),
        "access was refused"
    );
}

/// A problem document (RFC 9457). The member `error` is for older clients, `code` and `field` are for programs.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    title: &'static str,
    status: u16,
    detail: &'a str,
    error: &'a str,
    code: &'static str,
    docs_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    #[serde(flatten)]
    workspace: Option<NamedWorkspace<'a>>,
    correlation_id: &'a str,
}

/// Which workspace is to blame.
#[derive(Serialize)]
struct NamedWorkspace<'a> {
    workspace_id: &'a WorkspaceId,
    workspace: &'a WorkspaceName,
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

        let expected = "a table failed: DynamoDB failed to read a link: connection refused";
        assert_eq!(chain(&ApiError::from(failed)), expected);
    }
}
