//! Reads click statistics.

mod cleanup;
mod clicks;
mod csv;
mod days;
mod judge;
mod period;
mod plan;
mod question;
mod summary;
mod view;

use linklet_domain::{LinkId, LinkStatus, Record, RedirectTarget, Role, Scope, ShortCode};
use linklet_dynamodb::{ClicksTable, LinksTable, StatsTable};
use linklet_lambda::{
    http::{ApiError, Handler, Method, Problem, Request, Response},
    identity::{Authenticator, Caller},
    telemetry::chain,
    throttle::Questions,
};

pub use self::period::MOST_AT_EDGES;
use self::{
    question::{Question, TIME},
    summary::Referrers,
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
    /// Limits the questions that read much.
    pub questions: Questions,
}

impl Handler for Stats {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::GET, ["api", "stats", code]) if Question::is_in(request) => {
                let (caller, link) = self.readable(request, code).await?;
                request.refuse_unknown(Question::parameters().chain(["format", "table"]))?;
                self.period(request, &link, &caller).await
            }
            (&Method::GET, ["api", "stats", code]) => {
                let record = self.record(code).await?;
                let link = shown_to_anybody(request, &record)?;
                request.refuse_unknown(["top"])?;
                self.summary(request, &link, self.shown_referrers(request, &record).await).await
            }
            (&Method::GET, ["api", "stats", code, "timeline"]) => {
                let record = self.record(code).await?;
                let link = shown_to_anybody(request, &record)?;
                request.refuse_unknown(TIME.into_iter().chain(["interval"]))?;
                self.timeline(request, &link, self.may_see_details(request, &record)).await
            }
            (&Method::GET, ["api", "stats", code, "daily"]) => {
                let (_, link) = self.readable(request, code).await?;
                request.refuse_unknown(["from", "to"])?;
                self.daily(request, &link).await
            }
            (&Method::GET, ["api", "stats", code, "clicks"]) => {
                let (caller, link) = self.readable(request, code).await?;
                let own = ["limit", "after", "format"];
                let narrowing = Question::parameters().filter(|name| *name != "interval");
                request.refuse_unknown(narrowing.chain(own))?;
                self.list_clicks(request, &link, &caller).await
            }
            (&Method::GET, ["api", "admin", "cleanup", "stats"]) => {
                let admin = self.authenticator.tokens().require(request, Role::Admin).await?;
                self.cleanup(request, &admin).await
            }
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

const UNKNOWN: ApiError = ApiError::Problem(Problem::NotFound);

impl Stats {
    /// The link with a code, if the caller may see details of its clicks.
    ///
    /// # Errors
    /// 401 without a valid token or key, 404 for an unknown code, 403 if another workspace owns the link, 410 for a purged link.
    async fn readable(&self, request: &Request, code: &str) -> Result<(Caller, LinkId), ApiError> {
        let caller = self.authenticator.require(request, Scope::AnalyticsRead).await?;
        let record = self.record(code).await?;
        if record.identity().workspace != *caller.workspace() {
            return Err(ApiError::Problem(Problem::Forbidden));
        }
        Ok((caller, not_purged(&record)?))
    }

    /// Whether the caller may see details of the link's clicks. Credentials that aren't good for that make the caller a stranger.
    ///
    /// # Errors
    /// When credentials can't be verified at the moment.
    async fn may_see_details(&self, request: &Request, record: &Record<RedirectTarget>) -> Result<bool, ApiError> {
        if !self.authenticator.is_offered_credentials(request) {
            return Ok(false);
        }
        match self.authenticator.require(request, Scope::AnalyticsRead).await {
            Ok(caller) => Ok(*caller.workspace() == record.identity().workspace),
            Err(error) if error.status().is_server_error() => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// Anybody sees the hosts of a link's referrers. Whoever may see single clicks sees the pages, too. Credentials that can't be
    /// verified are no reason to refuse what everybody may see.
    async fn shown_referrers(&self, request: &Request, record: &Record<RedirectTarget>) -> Referrers {
        match self.may_see_details(request, record).await {
            Ok(true) => Referrers::Pages,
            Ok(false) => Referrers::Hosts,
            Err(error) => {
                tracing::warn!(error = chain(&error), "credentials could not be verified, so only hosts are shown");
                Referrers::Hosts
            }
        }
    }

    async fn record(&self, code: &str) -> Result<Record<RedirectTarget>, ApiError> {
        let code = ShortCode::parse(code).map_err(|_| UNKNOWN)?;
        self.links.redirect_target(&code).await?.ok_or(UNKNOWN)
    }
}

/// The link, unless it was purged or is suspended.
fn shown_to_anybody(request: &Request, record: &Record<RedirectTarget>) -> Result<LinkId, ApiError> {
    match record {
        Record::Link(link) if link.availability.status(request.received_at()) == LinkStatus::Suspended => {
            Err(ApiError::gone(LinkStatus::Suspended))
        }
        _ => not_purged(record),
    }
}

fn not_purged(record: &Record<RedirectTarget>) -> Result<LinkId, ApiError> {
    if record.is_purged() { Err(ApiError::gone(LinkStatus::Purged)) } else { Ok(record.identity().id.clone()) }
}
