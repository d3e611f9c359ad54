//! Reads click statistics.

mod answer;
mod cleanup;
mod clicks;
mod csv;
mod days;
mod period;
mod plan;
mod question;
mod shared;
mod summary;
mod user_agent_cache;
mod view;

use linklet_domain::{LinkId, LinkName, LinkStatus, Record, RedirectTarget, Role, Scope, ShortCode};
use linklet_dynamodb::{ClicksTable, LinksTable, StatsTable};
use linklet_lambda::http::{ApiError, Handler, Method, Problem, Request, Response, Result};
use linklet_lambda::identity::{Authenticator, Caller};
use linklet_lambda::limiter::Strangers;
use linklet_lambda::shares::Shares;
use linklet_lambda::telemetry::chain;
use linklet_lambda::throttle::StatsQueryLimiter;

pub use self::period::MOST_AT_EDGES;
use self::question::Question;
use self::summary::Referrers;

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
    pub questions: StatsQueryLimiter,
    /// Limits callers from outside of the link's workspace, who could count off codes.
    pub strangers: Strangers,
    /// Opens shares.
    pub shares: Shares,
}

impl Handler for Stats {
    async fn handle(&self, request: &Request) -> Result<Response> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::GET, ["api", "stats", code]) if Question::is_in(request) => {
                if let Some(share) = self.shares.open(request, &self.strangers).await? {
                    return self.shared(request, code, &share).await;
                }
                let (caller, link) = self.readable(request, code).await?;
                self.questions.answer(request, &caller, self.period(request, &link)).await
            }
            (&Method::GET, ["api", "stats", code]) => {
                // Credentials that can't be verified are no reason to refuse what everybody may see.
                let viewer = self.viewer(request).await.unwrap_or_else(|error| {
                    tracing::warn!(error = chain(&error), "credentials could not be verified, so only hosts are shown");
                    None
                });
                let record = self.shown(request, code, viewer.as_ref()).await?;
                let may_see_details = viewer.is_some_and(|viewer| is_in_workspace_of(&viewer, &record));
                self.summary(request, &record.identity().id, Referrers::seen_by(may_see_details)).await
            }
            (&Method::GET, ["api", "stats", code, "timeline"]) => {
                let (viewer, failed) = match self.viewer(request).await {
                    Ok(viewer) => (viewer, None),
                    Err(error) => (None, Some(error)),
                };
                let record = self.shown(request, code, viewer.as_ref()).await?;
                let is_member = viewer.as_ref().is_some_and(|viewer| is_in_workspace_of(viewer, &record));
                let timeline = self.timeline(request, &record.identity().id, failed.map_or(Ok(is_member), Err));
                match &viewer {
                    Some(caller) => self.questions.answer(request, caller, timeline).await,
                    None => timeline.await,
                }
            }
            (&Method::GET, ["api", "stats", code, "daily"]) => {
                let (caller, link) = self.readable(request, code).await?;
                self.questions.answer(request, &caller, self.daily(request, &link)).await
            }
            (&Method::GET, ["api", "stats", code, "clicks"]) => {
                let (caller, link) = self.readable(request, code).await?;
                self.questions.answer(request, &caller, self.list_clicks(request, &link)).await
            }
            (&Method::GET, ["api", "admin", "cleanup", "stats"]) => {
                let admin = self.authenticator.tokens.require(request, Role::Admin).await?;
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
    async fn readable(&self, request: &Request, code: &str) -> Result<(Caller, LinkId)> {
        let caller = self.authenticator.require(request, Scope::AnalyticsRead).await?;
        let id = match LinkName::parse(code).map_err(|_| UNKNOWN)? {
            LinkName::External(id) => {
                let link = self.links.with_external_id(&caller.workspace, &id).await?;
                link.ok_or(UNKNOWN)?.identity.id
            }
            LinkName::Code(code) => {
                let record = self.links.redirect_target(&code).await?.ok_or(UNKNOWN)?;
                caller.require_workspace(&record.identity().workspace)?;
                not_purged(&record)?
            }
        };
        Ok((caller, id))
    }

    /// Who asks, if their credentials are good for reading statistics; `None` for a stranger.
    ///
    /// # Errors
    /// When credentials can't be verified at the moment.
    async fn viewer(&self, request: &Request) -> Result<Option<Caller>> {
        if !self.authenticator.is_offered_credentials(request) {
            return Ok(None);
        }
        match self.authenticator.require(request, Scope::AnalyticsRead).await {
            Ok(caller) => Ok(Some(caller)),
            Err(error) if error.status().is_server_error() => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// The link with a code, if anybody may see its numbers. Whoever isn't in its workspace is counted, since each answer tells whether
    /// there is such a link; strangers before anything is read.
    async fn shown(&self, request: &Request, code: &str, viewer: Option<&Caller>) -> Result<Record<RedirectTarget>> {
        if viewer.is_none() {
            self.strangers.admit(request).await?;
        }
        let record = self.record(code).await;
        if viewer.is_some_and(|viewer| !record.as_ref().is_ok_and(|record| is_in_workspace_of(viewer, record))) {
            self.strangers.admit(request).await?;
        }
        let record = record?;
        match &record {
            Record::Link(link) if link.availability.status(request.received_at) == LinkStatus::Suspended => {
                Err(ApiError::gone(LinkStatus::Suspended))
            }
            _ => not_purged(&record).map(|_| record),
        }
    }

    async fn record(&self, code: &str) -> Result<Record<RedirectTarget>> {
        let code = ShortCode::parse(code).map_err(|_| UNKNOWN)?;
        self.links.redirect_target(&code).await?.ok_or(UNKNOWN)
    }
}

/// Whether a caller is a member of the link's workspace, or has a key of it.
fn is_in_workspace_of(viewer: &Caller, record: &Record<RedirectTarget>) -> bool {
    viewer.workspace == record.identity().workspace
}

fn not_purged(record: &Record<RedirectTarget>) -> Result<LinkId> {
    if record.is_purged() { Err(ApiError::gone(LinkStatus::Purged)) } else { Ok(record.identity().id.clone()) }
}
