//! Lists the links of a workspace with a cursor, or as filtered and sorted pages, and shows single links.

mod export;
mod history;
mod management;
mod rules;

use linklet_domain::{ArchivedFilter, Link, LinkName, Record, Scope};
use linklet_dynamodb::{Cursor, LinksTable, Names, StatsTable, WatchTable};
use linklet_lambda::http::{
    ApiError, Edge, Handler, Method, NextPage, Problem, Request, Response, Result, ShortUrls, StatusCode, json, tagged,
};
use linklet_lambda::identity::{Authenticator, Caller};
use linklet_lambda::link_view::{LinkTables, LinkView, OneLink, Surroundings};
use linklet_lambda::throttle::StatsQueryLimiter;
use serde::Serialize;

/// `GET /api/urls`, `GET /api/links`, `GET /api/export/links` and what there is to read of a link at `/api/links/{code}`.
pub struct List {
    /// Verifies tokens and API keys.
    pub authenticator: Authenticator,
    /// The repository of links.
    pub links: LinksTable,
    /// The repository of statistics, for the links' click counts.
    pub stats: StatsTable,
    /// The repository of targets, for the health of a single link's target. Pages don't show it, since it takes two reads per
    /// link.
    pub targets: WatchTable,
    /// The repository of people's names, for those of the links' creators.
    pub people: Names,
    /// Limits what filters and orders read.
    pub questions: StatsQueryLimiter,
    /// Builds short URLs.
    pub short_urls: ShortUrls,
    /// The edge that tells visitors' countries, without which no rule about them holds.
    pub edge: Edge,
}

impl Handler for List {
    async fn handle(&self, request: &Request) -> Result<Response> {
        let reader = async || self.authenticator.require(request, Scope::LinksRead).await;
        match (request.method(), request.segments().as_slice()) {
            (&Method::GET, ["api", "urls"]) => {
                let caller = reader().await?;
                self.questions.answer(request, &caller, self.feed(request, &caller)).await
            }
            (&Method::GET, ["api", "links"]) => {
                let caller = reader().await?;
                self.questions.answer(request, &caller, self.pages(request, &caller)).await
            }
            (&Method::GET, ["api", "export", "links"]) => {
                let caller = reader().await?;
                self.questions.answer(request, &caller, self.export(request, &caller)).await
            }
            (&Method::GET, ["api", "links", code]) => self.one(request, &reader().await?, code).await,
            (&Method::GET, ["api", "links", code, "rules"]) => self.rules(&reader().await?, code).await,
            (&Method::POST, ["api", "links", code, "rules", "test"]) => {
                self.try_rules(request, &reader().await?, code).await
            }
            (&Method::GET, ["api", "links", code, "history"]) => self.history(request, &reader().await?, code).await,
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

impl List {
    async fn feed(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let limit = request.page_size()?;
        let after = request.after(Cursor::decode)?;
        let status = management::status(request)?;
        let archived = request.parsed("archived", ArchivedFilter::parse)?.unwrap_or_default();
        let is_shown =
            |link: &Link| status.shows(link.availability.status(request.received_at)) && archived.shows(link.archived);
        let page = self.links.list(&caller.workspace, limit, after, is_shown).await?;
        let around = self.tables().surroundings(&page.items).await;
        let feed = Feed {
            urls: self.views(request, page.items, &around),
            next: request.next_page(page.next.map(|cursor| cursor.encode())),
            degraded: around.degraded(),
        };
        Ok(json(StatusCode::OK, &feed))
    }

    async fn one(&self, request: &Request, caller: &Caller, code: &str) -> Result<Response> {
        let link = self.link(caller, code).await?;
        let (generation, revision) = (link.id().generation.clone(), link.revision);
        let (short_urls, tables) = (&self.short_urls, self.tables());
        let body = OneLink::load_with_health(request, short_urls, tables, &self.targets, link).await;
        Ok(tagged(json(StatusCode::OK, &body), &generation, revision))
    }

    /// The link of the caller's workspace with a code.
    async fn link(&self, caller: &Caller, code: &str) -> Result<Link> {
        const UNKNOWN: ApiError = ApiError::Problem(Problem::NotFound);
        let name = LinkName::parse(code).map_err(|_| UNKNOWN)?;
        let record = self.links.find_named(&caller.workspace, &name).await?.ok_or(UNKNOWN)?;
        caller.require_workspace(&record.identity().workspace)?;
        match record {
            Record::Tombstone(tombstone) => Err(ApiError::gone(tombstone.reason.into())),
            Record::Link(link) => Ok(link),
        }
    }

    fn tables(&self) -> LinkTables<'_> {
        LinkTables { links: &self.links, stats: &self.stats, people: &self.people }
    }

    fn views(&self, request: &Request, links: Vec<Link>, around: &Surroundings) -> Vec<LinkView> {
        links.into_iter().map(|link| LinkView::new(request, &self.short_urls, link, around)).collect()
    }
}

#[derive(Serialize)]
struct Feed {
    urls: Vec<LinkView>,
    #[serde(flatten)]
    next: NextPage,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    degraded: Vec<&'static str>,
}
