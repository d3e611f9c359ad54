//! Changes links. The destination can't be changed, so that visitors can trust a link that they have followed before.

use linklet_domain::{Invalid, Link, LinkPatch, LinkState, LinkStatus, Record, Scope, ShortCode, Timestamp};
use linklet_dynamodb::{LinksTable, StatsTable};
use linklet_lambda::{
    http::{ApiError, Handler, JsonObject, Method, Request, Response, ShortUrls, StatusCode, json},
    identity::{Authenticator, Caller},
    link_view::OneLink,
};

/// `PATCH /api/links/{code}`.
pub struct Update {
    /// Verifies tokens and API keys.
    pub authenticator: Authenticator,
    /// The repository of links.
    pub links: LinksTable,
    /// The repository of statistics, for the link's click count.
    pub stats: StatsTable,
    /// Builds short URLs.
    pub short_urls: ShortUrls,
}

const BODY_LIMIT: usize = 4_096;

impl Handler for Update {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::PATCH, ["api", "links", code]) => {
                let caller = self.authenticator.require(request, Scope::LinksWrite).await?;
                self.update(request, &caller, code).await
            }
            _ => Err(ApiError::NotFound("no such route")),
        }
    }
}

impl Update {
    async fn update(&self, request: &Request, caller: &Caller, code: &str) -> Result<Response, ApiError> {
        const UNKNOWN: ApiError = ApiError::NotFound("not found");
        let patch = parse_patch(&request.json(BODY_LIMIT)?, request.received_at())?;
        let code = ShortCode::parse(code).map_err(|_| UNKNOWN)?;
        let record = self.links.find(&code).await?.ok_or(UNKNOWN)?;
        if !caller.may_change(&record) {
            return Err(ApiError::Forbidden("forbidden"));
        }
        match record {
            Record::Tombstone(tombstone) => return Err(ApiError::gone(tombstone.reason)),
            Record::Link(Link { state: LinkState::Deleted(_), .. }) => return Err(ApiError::gone(LinkStatus::Deleted)),
            Record::Link(_) => {}
        }
        // The update fails if a concurrent request has deleted the link.
        let link = self.links.update(&code, &patch).await?.ok_or_else(|| ApiError::gone(LinkStatus::Deleted))?;
        let body = OneLink::load(request, &self.short_urls, &self.stats, link).await;
        Ok(json(StatusCode::OK, &body))
    }
}

fn parse_patch(body: &JsonObject, now: Timestamp) -> Result<LinkPatch, Invalid> {
    if body.mentions("url") || body.mentions("original_url") {
        return Err(Invalid::new("the destination of a link never changes; create another link"));
    }
    let expires_at = body.timestamp("expires_at")?;
    if expires_at.is_some_and(|expiry| expiry <= now) {
        return Err(Invalid::new("expires_at must be in the future"));
    }
    let tags = Link::parse_tags(&body.strings("tags")?)?;
    Ok(LinkPatch {
        title: body.mentions("title").then_some(body.short_string("title", Link::MAX_TITLE)?),
        description: body.mentions("description").then_some(body.short_string("description", Link::MAX_DESCRIPTION)?),
        tags: body.mentions("tags").then_some(tags),
        expires_at: body.mentions("expires_at").then_some(expires_at),
        is_active: body.boolean("is_active")?,
    })
}
