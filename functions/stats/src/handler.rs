//! Reads click statistics.

mod answer;
mod cleanup;
mod clicks;
mod csv;
mod days;
mod export;
mod period;
mod plan;
mod question;
mod shared;
mod summary;
mod user_agent_cache;
mod view;

use linklet_domain::{LinkId, LinkName, LinkStatus, Record, RedirectTarget, Role, Scope, ShortCode, Visibility};
use linklet_dynamodb::{ClicksTable, LinksTable, StatsTable};
use linklet_lambda::http::{ApiError, Handler, Method, Problem, Request, Response, Result};
use linklet_lambda::identity::{Authenticator, Caller};
use linklet_lambda::limiter::Strangers;
use linklet_lambda::public_workspaces::KnownWorkspaces;
use linklet_lambda::shares::Shares;
use linklet_lambda::telemetry::chain;
use linklet_lambda::throttle::StatsQueryLimiter;

use self::export::{ClicksByDay, SingleClicks};
pub use self::period::MOST_AT_EDGES;
use self::question::Question;
use self::summary::Referrers;

/// `GET /api/stats/{code}`, its `timeline`, `daily` and `clicks`, `GET /api/export/clicks` and `daily`, and `GET
/// /api/admin/cleanup/stats`.
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
    /// What workspaces say of the statistics of their links.
    pub workspaces: KnownWorkspaces,
    /// Who may see statistics where neither a link nor its workspace says so.
    pub default_statistics: Visibility,
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
                let (viewer, failed) = self.viewer(request).await;
                let record = self.shown(request, code, viewer.as_ref()).await?;
                let record = record.ok_or_else(|| hidden(failed))?;
                let may_see_details = viewer.is_some_and(|viewer| is_in_workspace_of(&viewer, &record));
                self.summary(request, &record.identity().id, Referrers::seen_by(may_see_details)).await
            }
            (&Method::GET, ["api", "stats", code, "timeline"]) => {
                let (viewer, failed) = self.viewer(request).await;
                let Some(record) = self.shown(request, code, viewer.as_ref()).await? else {
                    return Err(hidden(failed));
                };
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
            (&Method::GET, ["api", "export", "clicks"]) => {
                let caller = self.authenticator.require(request, Scope::AnalyticsRead).await?;
                self.questions.answer(request, &caller, self.export::<SingleClicks>(request, &caller)).await
            }
            (&Method::GET, ["api", "export", "daily"]) => {
                let caller = self.authenticator.require(request, Scope::AnalyticsRead).await?;
                self.questions.answer(request, &caller, self.export::<ClicksByDay>(request, &caller)).await
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
        let link = self.link_of(&caller, code).await?;
        Ok((caller, link))
    }

    /// # Errors
    /// As of [`Self::readable`], but for the first.
    async fn link_of(&self, caller: &Caller, code: &str) -> Result<LinkId> {
        Ok(match LinkName::parse(code).map_err(|_| UNKNOWN)? {
            LinkName::External(id) => {
                let link = self.links.with_external_id(&caller.workspace, &id).await?;
                link.ok_or(UNKNOWN)?.identity.id
            }
            LinkName::Code(code) => {
                let record = self.links.redirect_target(&code).await?.ok_or(UNKNOWN)?;
                caller.require_workspace(&record.identity().workspace)?;
                not_purged(&record)?
            }
        })
    }

    /// Who asks, if their credentials are good for reading statistics; `None` for a stranger. Credentials that can't be verified at the
    /// moment are no reason to refuse what everybody may see, so the error comes beside.
    async fn viewer(&self, request: &Request) -> (Option<Caller>, Option<ApiError>) {
        if !self.authenticator.is_offered_credentials(request) {
            return (None, None);
        }
        match self.authenticator.require(request, Scope::AnalyticsRead).await {
            Ok(caller) => (Some(caller), None),
            Err(error) if error.status().is_server_error() => {
                tracing::warn!(
                    error = chain(&error),
                    "credentials could not be verified, so only what is public is shown"
                );
                (None, Some(error))
            }
            Err(_) => (None, None),
        }
    }

    /// The link with a code; `None` if its numbers are hidden from who asks. Whoever isn't in its workspace is counted, since each answer
    /// tells whether there is such a link; strangers before anything is read.
    async fn shown(
        &self,
        request: &Request,
        code: &str,
        viewer: Option<&Caller>,
    ) -> Result<Option<Record<RedirectTarget>>> {
        if viewer.is_none() {
            self.strangers.admit(request).await?;
        }
        let record = self.record(code).await;
        let is_member =
            viewer.is_some_and(|viewer| record.as_ref().is_ok_and(|record| is_in_workspace_of(viewer, record)));
        if viewer.is_some() && !is_member {
            self.strangers.admit(request).await?;
        }
        let record = record?;
        if !is_member && !self.is_public(request, &record).await? {
            return Ok(None);
        }
        match &record {
            Record::Link(link) if link.availability.status(request.received_at) == LinkStatus::Suspended => {
                Err(ApiError::gone(LinkStatus::Suspended))
            }
            _ => not_purged(&record).map(|_| Some(record)),
        }
    }

    /// Whether anybody may see a link's numbers. What its workspace says is read only if the link says nothing. If that can't be read,
    /// the numbers may be private, so nobody but members sees them then.
    async fn is_public(&self, request: &Request, record: &Record<RedirectTarget>) -> Result<bool> {
        let statistics = match record.statistics() {
            Some(own) => own,
            None => {
                let workspace = self.workspaces.find(&record.identity().workspace, request.received_at).await?;
                workspace.and_then(|workspace| workspace.statistics).unwrap_or(self.default_statistics)
            }
        };
        Ok(statistics == Visibility::Public)
    }

    async fn record(&self, code: &str) -> Result<Record<RedirectTarget>> {
        let code = ShortCode::parse(code).map_err(|_| UNKNOWN)?;
        self.links.redirect_target(&code).await?.ok_or(UNKNOWN)
    }
}

/// The answer about numbers that are hidden: there seems to be no such link, unless it is unknown who asks.
fn hidden(failed: Option<ApiError>) -> ApiError {
    failed.unwrap_or(UNKNOWN)
}

/// Whether a caller is a member of the link's workspace, or has a key of it.
fn is_in_workspace_of(viewer: &Caller, record: &Record<RedirectTarget>) -> bool {
    viewer.workspace == record.identity().workspace
}

fn not_purged(record: &Record<RedirectTarget>) -> Result<LinkId> {
    if record.is_purged() { Err(ApiError::gone(LinkStatus::Purged)) } else { Ok(record.identity().id.clone()) }
}
