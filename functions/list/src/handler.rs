//! Lists the links of a workspace.

use std::{collections::HashMap, time::Duration};

use linklet_domain::{Link, LinkState, Role, ShortCode, TargetUrl, Timestamp, UserId};
use linklet_dynamodb::{Cursor, LinksTable, StatsTable};
use linklet_lambda::{
    http::{ApiError, Handler, Method, Request, Response, ShortUrls, StatusCode, json},
    identity::{Authenticator, Caller},
    telemetry::chain,
};
use serde::Serialize;

/// `GET /api/urls`.
pub struct List {
    /// Verifies tokens.
    pub authenticator: Authenticator,
    /// The links.
    pub links: LinksTable,
    /// Their totals.
    pub stats: StatsTable,
    /// Builds the addresses to follow.
    pub short_urls: ShortUrls,
}

/// A list without click counts is worth more than no list.
const TOTALS_BUDGET: Duration = Duration::from_secs(1);

impl Handler for List {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::GET, ["api", "urls"]) => {
                let caller = self.authenticator.require(request, Role::Viewer)?;
                self.feed(request, &caller).await
            }
            _ => Err(ApiError::NotFound("no such route")),
        }
    }
}

impl List {
    async fn feed(&self, request: &Request, caller: &Caller) -> Result<Response, ApiError> {
        let limit = request.page_size()?;
        let after = request.query("after").map(Cursor::decode).transpose()?;
        let page = self.links.list(caller.workspace(), limit, after.as_ref()).await?;
        let totals = self.totals(&page.items).await;
        let degraded: &[&str] = if totals.is_none() { &["clicks"] } else { &[] };
        let urls = page.items.iter().map(|link| self.view(request, link, totals.as_ref())).collect();
        Ok(json(StatusCode::OK, &Feed { urls, next_cursor: page.next.map(|cursor| cursor.encode()), degraded }))
    }

    /// The click counts, or `None` if they can't be had in time.
    async fn totals(&self, links: &[Link]) -> Option<HashMap<ShortCode, u64>> {
        let codes: Vec<_> = links.iter().map(|link| link.code.clone()).collect();
        match tokio::time::timeout(TOTALS_BUDGET, self.stats.totals(&codes)).await {
            Ok(Ok(totals)) => Some(totals),
            Ok(Err(error)) => {
                tracing::warn!(error = chain(&error), "a list goes without click counts");
                None
            }
            Err(_) => {
                tracing::warn!("a list goes without click counts, which took longer than 1 s");
                None
            }
        }
    }

    fn view<'l>(&self, request: &Request, link: &'l Link, totals: Option<&HashMap<ShortCode, u64>>) -> LinkView<'l> {
        LinkView {
            short_code: &link.code,
            short_url: self.short_urls.of(request, &link.code),
            original_url: &link.target,
            title: link.title.as_deref(),
            description: link.description.as_deref(),
            tags: &link.tags,
            created_at: link.created_at,
            expires_at: link.expires_at,
            is_active: link.state == LinkState::Active,
            status: link.status(request.received_at()).as_str(),
            total_clicks: totals.map(|totals| totals.get(&link.code).copied().unwrap_or_default()),
            created_by: &link.owner,
        }
    }
}

#[derive(Serialize)]
struct Feed<'a> {
    urls: Vec<LinkView<'a>>,
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    degraded: &'a [&'a str],
}

#[derive(Serialize)]
struct LinkView<'a> {
    short_code: &'a ShortCode,
    short_url: String,
    original_url: &'a TargetUrl,
    title: Option<&'a str>,
    description: Option<&'a str>,
    tags: &'a [String],
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
    is_active: bool,
    status: &'static str,
    total_clicks: Option<u64>,
    created_by: &'a UserId,
}
