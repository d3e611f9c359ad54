//! A workspace at a glance: its links by status and tag, its clicks, its most followed links, and what is down.
//!
//! Adding that up reads something of each link, so the result is kept for a minute, or longer for many links, and whoever asks
//! meanwhile gets it as it is. Of those who ask when it is too old, one makes the next; the others get the old one.

mod gather;
mod view;

use linklet_domain::{Overview, Scope, Timestamp, WorkspaceId};
use linklet_dynamodb::{LinksTable, RepositoryError, StatsTable, WatchTable};
use linklet_lambda::{
    http::{ApiError, Handler, Method, Problem, Request, Response, ShortUrls, StatusCode, json},
    identity::{Authenticator, Caller},
    telemetry::chain,
};

use self::view::{OverviewView, TagsView};

/// `GET /api/overview` and `GET /api/tags`.
pub struct Overviews {
    /// Verifies tokens and API keys.
    pub authenticator: Authenticator,
    /// The repository of links.
    pub links: LinksTable,
    /// The repository of statistics, which keeps overviews as well.
    pub stats: StatsTable,
    /// The repository of monitored URLs.
    pub targets: WatchTable,
    /// Builds short URLs.
    pub short_urls: ShortUrls,
}

impl Handler for Overviews {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.authenticator.require(request, Scope::LinksRead).await;
        match (request.method(), request.segments().as_slice()) {
            (&Method::GET, ["api", "overview"]) => self.overview(request, &caller?).await,
            (&Method::GET, ["api", "tags"]) => self.tags(request, &caller?).await,
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

impl Overviews {
    async fn overview(&self, request: &Request, caller: &Caller) -> Result<Response, ApiError> {
        let overview = self.current(caller.workspace(), request.received_at()).await?;
        let top: Vec<_> = overview.top.iter().map(|top| top.id.clone()).collect();
        let mut top = self.links.with_ids(&top).await?;
        // One may have been deleted or archived since, or before the overview was made, if that could not read all links.
        top.retain(|link| !link.availability.is_deleted() && !link.archived);
        Ok(json(StatusCode::OK, &OverviewView::new(request, &self.short_urls, &overview, top)))
    }

    async fn tags(&self, request: &Request, caller: &Caller) -> Result<Response, ApiError> {
        let overview = self.current(caller.workspace(), request.received_at()).await?;
        Ok(json(StatusCode::OK, &TagsView::from(&overview)))
    }

    /// The overview that is kept, or a new one if that is too old.
    async fn current(&self, workspace: &WorkspaceId, now: Timestamp) -> Result<Overview, ApiError> {
        // Without one, there is nothing to answer with while somebody else makes the first.
        let Some(old) = self.kept(workspace).await? else { return Ok(self.made(workspace, now).await?) };
        if now < old.fresh_until() {
            return Ok(old);
        }
        let next = self.next(workspace, &old, now).await.unwrap_or_else(|error| {
            tracing::warn!(error = chain(&error), "an overview could not be renewed");
            None
        });
        Ok(next.unwrap_or(old))
    }

    /// The overview after this one, unless somebody else is making it.
    async fn next(
        &self,
        workspace: &WorkspaceId,
        old: &Overview,
        now: Timestamp,
    ) -> Result<Option<Overview>, RepositoryError> {
        let is_ours = self.stats.claim_overview(workspace, old.as_of, now).await?;
        Ok(if is_ours { Some(self.made(workspace, now).await?) } else { None })
    }

    /// The overview that is kept. One that can't be read, since another version has written it, is none.
    async fn kept(&self, workspace: &WorkspaceId) -> Result<Option<Overview>, RepositoryError> {
        match self.stats.overview(workspace).await {
            Err(error @ RepositoryError::UnexpectedItem { .. }) => {
                tracing::warn!(error = chain(&error), "an overview of another form is replaced");
                Ok(None)
            }
            kept => kept,
        }
    }

    /// A new overview, which is kept from now on.
    async fn made(&self, workspace: &WorkspaceId, now: Timestamp) -> Result<Overview, RepositoryError> {
        let overview = self.gather(workspace, now).await?;
        if let Err(error) = self.stats.keep_overview(workspace, &overview).await {
            tracing::warn!(error = chain(&error), "an overview could not be kept");
        }
        Ok(overview)
    }
}
