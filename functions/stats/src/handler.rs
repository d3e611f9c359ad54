//! Reads click statistics.

mod cleanup;
mod clicks;
mod days;
mod summary;

use linklet_domain::{LinkStatus, Record, RedirectTarget, Role, Scope, ShortCode};
use linklet_dynamodb::{ClicksTable, LinksTable, RepositoryError, StatsTable};
use linklet_lambda::{
    http::{ApiError, Handler, Method, Request, Response},
    identity::Authenticator,
};

/// `GET /api/stats/{code}`, its `timeline`, `daily` and `clicks`, and `GET /api/admin/cleanup/stats`.
pub struct Stats {
    /// Verifies tokens and API keys.
    pub authenticator: Authenticator,
    /// The repository of statistics.
    pub stats: StatsTable,
    /// The repository of raw clicks.
    pub clicks: ClicksTable,
    /// The repository of links, for their existence and workspace, and for the statistics of the cleanup.
    pub links: LinksTable,
}

impl Handler for Stats {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::GET, ["api", "stats", code]) => self.summary(request, &parse_code(code)?).await,
            (&Method::GET, ["api", "stats", code, "timeline"]) => self.timeline(request, &parse_code(code)?).await,
            (&Method::GET, ["api", "stats", code, "daily"]) => {
                let code = self.readable(request, code).await?;
                self.daily(request, &code).await
            }
            (&Method::GET, ["api", "stats", code, "clicks"]) => {
                let code = self.readable(request, code).await?;
                self.latest_clicks(request, &code).await
            }
            (&Method::GET, ["api", "admin", "cleanup", "stats"]) => {
                self.authenticator.tokens().require(request, Role::Admin).await?;
                self.cleanup(request).await
            }
            _ => Err(ApiError::NotFound("no such route")),
        }
    }
}

const UNKNOWN: ApiError = ApiError::NotFound("not found");

impl Stats {
    /// Parses a code, and checks that the caller may see details of its clicks.
    ///
    /// # Errors
    /// 401 without a valid token or key, 404 for an unknown code, 403 if another workspace owns the link, 410 for a purged link.
    async fn readable(&self, request: &Request, code: &str) -> Result<ShortCode, ApiError> {
        let caller = self.authenticator.require(request, Scope::AnalyticsRead).await?;
        let code = parse_code(code)?;
        let record = self.links.redirect_target(&code).await?.ok_or(UNKNOWN)?;
        if record.workspace() != caller.workspace() {
            return Err(ApiError::Forbidden("forbidden"));
        }
        not_purged(Some(&record))?;
        Ok(code)
    }

    /// Reads statistics and, concurrently, the link. The error is 410 for a purged link, also if analytics hasn't deleted its
    /// statistics yet.
    async fn with_link<T>(
        &self,
        code: &ShortCode,
        numbers: impl Future<Output = Result<T, RepositoryError>>,
    ) -> Result<(T, Option<Record<RedirectTarget>>), ApiError> {
        let (numbers, record) = tokio::join!(numbers, self.links.redirect_target(code));
        let (numbers, record) = (numbers?, record?);
        not_purged(record.as_ref())?;
        Ok((numbers, record))
    }
}

fn not_purged(record: Option<&Record<RedirectTarget>>) -> Result<(), ApiError> {
    if record.is_some_and(Record::<RedirectTarget>::is_purged) {
        Err(ApiError::gone(LinkStatus::Purged))
    } else {
        Ok(())
    }
}

fn parse_code(code: &str) -> Result<ShortCode, ApiError> {
    ShortCode::parse(code).map_err(|_| UNKNOWN)
}
