//! A workspace at a glance: its links by status and tag, its clicks, its most followed links, and what is down; for all of its links
//! or those with a tag, and for any time. And what the clicks of many links have in common.
//!
//! Adding that up reads something of each link, so the result is kept for a minute, or longer for many links, and whoever asks
//! meanwhile gets it as it is. Of those who ask when it is too old, one makes the next; the others get the old one.

mod export;
mod gather;
mod question;
mod shared;
mod view;

use linklet_domain::{Link, Overview, OverviewBreakdowns, OverviewQuestion, Scope, SortOrder, TagCount, WorkspaceId};
use linklet_dynamodb::{LinksTable, RepositoryError, StatsTable, WatchTable, Workspaces};
use linklet_lambda::gathering::Gathering;
use linklet_lambda::http::{
    ApiError, Handler, Method, Problem, Request, Response, Result, ShortUrls, StatusCode, json,
};
use linklet_lambda::identity::{Authenticator, Caller};
use linklet_lambda::limiter::Strangers;
use linklet_lambda::metrics::{self, Metric};
use linklet_lambda::shares::Shares;
use linklet_lambda::telemetry::{chain, warn_of};
use linklet_lambda::throttle::StatsQueryLimiter;
use linklet_lambda::workspace_view::WorkspaceViews;

use self::gather::Gathered;
use self::view::{BreakdownsView, OverviewView, TagsView};

/// `GET /api/overview`, its `breakdowns`, `GET /api/tags` and `GET /api/export/workspace`.
pub struct Overviews {
    /// Verifies tokens and API keys.
    pub authenticator: Authenticator,
    /// The repository of links.
    pub links: LinksTable,
    /// The repository of statistics, which keeps overviews as well.
    pub stats: StatsTable,
    /// The repository of monitored URLs.
    pub targets: WatchTable,
    /// The repository of workspaces and their members.
    pub workspaces: Workspaces,
    /// How workspaces are shown.
    pub views: WorkspaceViews,
    /// Limits what the questions of a workspace read.
    pub questions: StatsQueryLimiter,
    /// Builds short URLs.
    pub short_urls: ShortUrls,
    /// Limits callers who have no account.
    pub strangers: Strangers,
    /// Opens shares.
    pub shares: Shares,
}

impl Handler for Overviews {
    async fn handle(&self, request: &Request) -> Result<Response> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::GET, ["api", "overview"]) => self.overview(request).await,
            (&Method::GET, ["api", "overview", "breakdowns"]) => self.breakdowns(request).await,
            (&Method::GET, ["api", "tags"]) => self.tags(request).await,
            (&Method::GET, ["api", "export", "workspace"]) => {
                let caller = self.authenticator.tokens.authenticate(request).await?;
                self.export(request, &caller).await
            }
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

impl Overviews {
    async fn overview(&self, request: &Request) -> Result<Response> {
        if let Some(share) = self.shares.open(request, &self.strangers).await? {
            return self.shared_overview(request, &share).await;
        }
        let caller = self.authenticator.require(request, Scope::LinksRead).await?;
        let question = question::of_overview(request)?;
        let overview: Overview = self.current(request, &caller, &question).await?;
        let top = self.top_links(&overview).await?;
        Ok(json(StatusCode::OK, &OverviewView::new(request, &self.short_urls, &overview, top)))
    }

    /// The links that are followed most.
    async fn top_links(&self, overview: &Overview) -> Result<Vec<Link>> {
        let top: Vec<_> = overview.top.iter().map(|top| top.id.clone()).collect();
        let mut top = self.links.with_ids(&top).await?;
        // One may have been deleted or archived since, or before the overview was made, if that could not read all links.
        top.retain(|link| !link.availability.is_deleted() && !link.archived);
        Ok(top)
    }

    async fn breakdowns(&self, request: &Request) -> Result<Response> {
        if let Some(share) = self.shares.open(request, &self.strangers).await? {
            return self.shared_breakdowns(request, &share).await;
        }
        let caller = self.authenticator.require(request, Scope::AnalyticsRead).await?;
        let (question, group) = question::of_breakdowns(request)?;
        let breakdowns: OverviewBreakdowns = self.current(request, &caller, &question).await?;
        Ok(json(StatusCode::OK, &BreakdownsView::new(&breakdowns, group)))
    }

    async fn tags(&self, request: &Request) -> Result<Response> {
        let caller = self.authenticator.require(request, Scope::LinksRead).await?;
        let overview: Overview = self.current(request, &caller, &OverviewQuestion::default()).await?;
        let key = |tag: &TagCount| format!("{:020}#{}", u64::MAX - tag.links, tag.tag);
        let page = request.page_of(overview.tags.clone(), SortOrder::Ascending, key)?;
        Ok(json(StatusCode::OK, &TagsView::new(&overview, page)))
    }

    /// The answer that is kept, or a new one if that is too old.
    async fn current<T: Gathered>(&self, request: &Request, caller: &Caller, question: &OverviewQuestion) -> Result<T> {
        // Without one, there is nothing to answer with while somebody else makes the first.
        let Some(old) = self.kept::<T>(request, &caller.workspace, question).await? else {
            return self.made(request, caller, question).await;
        };
        if request.received_at < old.fresh_until() {
            return Ok(old);
        }
        match self.next(request, caller, question, &old).await {
            Ok(next) => Ok(next.unwrap_or(old)),
            Err(ApiError::Throttled(_)) => Ok(old),
            Err(error) => {
                metrics::add(Metric::Degraded, 1);
                tracing::warn!(error = chain(&error), "an overview could not be renewed");
                Ok(old)
            }
        }
    }

    /// The answer after this one, unless somebody else is making it.
    async fn next<T: Gathered>(
        &self,
        request: &Request,
        caller: &Caller,
        question: &OverviewQuestion,
        old: &T,
    ) -> Result<Option<T>> {
        let now = request.received_at;
        let is_ours = self.stats.claim_overview::<T>(&caller.workspace, question, old.as_of(), now).await?;
        Ok(if is_ours { Some(self.made(request, caller, question).await?) } else { None })
    }

    /// The answer that is kept. One that can't be read, since another version has written it, is none.
    async fn kept<T: Gathered>(
        &self,
        request: &Request,
        workspace: &WorkspaceId,
        question: &OverviewQuestion,
    ) -> Result<Option<T>, RepositoryError> {
        match self.stats.overview(workspace, question, request.received_at).await {
            Err(error @ RepositoryError::UnexpectedItem { .. }) => {
                tracing::warn!(error = chain(&error), "an overview of another form is replaced");
                Ok(None)
            }
            kept => kept,
        }
    }

    /// A new answer, which is kept from now on.
    ///
    /// # Errors
    /// 429 when the workspace has read too much.
    async fn made<T: Gathered>(&self, request: &Request, caller: &Caller, question: &OverviewQuestion) -> Result<T> {
        let workspace = &caller.workspace;
        // On the heap, since what reads so much at a time is larger than what waits for it.
        let gathering = Gathering::of((&self.links, &self.stats), workspace, question, request.received_at);
        let gathered = Box::pin(T::gather(gathering, &self.targets));
        let made = self.questions.answer(request, caller, gathered).await?;
        warn_of(self.stats.keep_overview(workspace, question, &made).await, "an overview could not be kept");
        Ok(made)
    }
}
