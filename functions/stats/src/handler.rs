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
    /// The numbers.
    pub stats: StatsTable,
    /// The raw clicks.
    pub clicks: ClicksTable,
    /// Asked whether a code exists and isn't purged, and what the cleanup has done.
    pub links: LinksTable,
}

impl Handler for Stats {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::GET, ["api", "stats", code]) => self.summary(request, &form_of(code)?).await,
            (&Method::GET, ["api", "stats", code, "timeline"]) => self.timeline(request, &form_of(code)?).await,
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
    /// A code whose details the caller may see: 401 without a token or key, 404 for a code that was never given out, 403 for
    /// another workspace's, 410 for a purged one.
    async fn readable(&self, request: &Request, code: &str) -> Result<ShortCode, ApiError> {
        let caller = self.authenticator.require(request, Scope::AnalyticsRead).await?;
        let code = form_of(code)?;
        let record = self.links.redirect_target(&code).await?.ok_or(UNKNOWN)?;
        if record.workspace() != caller.workspace() {
            return Err(ApiError::Forbidden("forbidden"));
        }
        not_purged(Some(&record))?;
        Ok(code)
    }

    /// Numbers, with the link beside them: a purged link is 410 even if analytics has not come to it yet. The link is looked
    /// at meanwhile, so it costs no time.
    async fn beside_link<T>(
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

fn form_of(code: &str) -> Result<ShortCode, ApiError> {
    ShortCode::parse(code).map_err(|_| UNKNOWN)
}
