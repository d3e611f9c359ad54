//! `GET /api/links`: pages of filtered and sorted links.
//!
//! DynamoDB has no index for filters or numbers of clicks, so a page [goes through](Matches) the links of its dates, and only those
//! that it shows are then read whole. A page that ends where no more may be read for one request has a cursor to go on.

use linklet_domain::{
    ExternalId, GivenFilter, Invalid, Link, LinkId, LinkSummary, PageNumber, PageRows, ShortCode, SortBy, SortOrder,
    StatusFilter, Verdict, sort_links,
};
use linklet_dynamodb::{Cursor, RepositoryError};
use linklet_lambda::http::{NextPage, Request, Response, Result, ShortUrls, StatusCode, json};
use linklet_lambda::identity::Caller;
use linklet_lambda::link_filter::{LinkOrder, LinkQuery, Matches};
use linklet_lambda::link_view::{
    CLICKS, ClickCounts, LinkView, Surroundings, click_counts_of, creator_names, link_uses, within_budget,
};
use serde::Serialize;

use crate::List;

/// Maximum number of links whose click counts are read by key, in batches of 100. For more links, querying the counts of the
/// whole workspace costs less.
const MAX_BY_KEY: usize = 500;

impl List {
    pub(crate) async fn pages(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let wanted = ListQuery::parse(request, &self.short_urls)?;
        if let Some(id) = &wanted.query.external_id {
            return self.page_of_one(request, &wanted, caller, id).await;
        }
        let (query, order) = (&wanted.query, wanted.link_order());
        let matches = Matches::of(query, order, &self.links, &caller.workspace, request.received_at);
        match wanted.sort {
            SortBy::CreatedAt => {
                let chosen = choose_by_time(&wanted, matches).await?;
                let clicks = click_counts_of(&self.stats, &caller.workspace, &chosen.ids);
                let (links, clicks) = tokio::join!(self.links.with_ids(&chosen.ids), clicks);
                Ok(self.page(request, &wanted, chosen, links?, clicks).await)
            }
            SortBy::Clicks | SortBy::LastClick => {
                let (chosen, clicks) = self.choose_by_clicks(&wanted, matches, caller).await?;
                let links = self.links.with_ids(&chosen.ids).await?;
                Ok(self.page(request, &wanted, chosen, links, clicks).await)
            }
        }
    }

    /// The link with an external id, if the filters let it through: two reads of items instead of a way through all links.
    async fn page_of_one(
        &self,
        request: &Request,
        wanted: &ListQuery,
        caller: &Caller,
        id: &ExternalId,
    ) -> Result<Response> {
        let found = self.links.with_external_id(&caller.workspace, id).await?;
        let verdict = found.as_ref().map(|link| wanted.query.verdict(link, request.received_at));
        let found = found.filter(|_| verdict == Some(Verdict::Shown));
        let left_out = usize::from(verdict == Some(Verdict::LeftOut));
        let (total, mut page) = (usize::from(found.is_some()), PageRows::of(wanted.page));
        found.into_iter().for_each(|link| page.take(link));
        let links = page.into_rows();
        let ids: Vec<_> = links.iter().map(Link::id).cloned().collect();
        let clicks = click_counts_of(&self.stats, &caller.workspace, &ids).await;
        let content = PageContent { ids, total: Some(total), left_out, next: None };
        Ok(self.page(request, wanted, content, links, clicks).await)
    }

    /// All links have to be known before one of them can be said to have the most clicks, or the latest.
    async fn choose_by_clicks(
        &self,
        wanted: &ListQuery,
        mut matches: Matches<'_>,
        caller: &Caller,
    ) -> Result<(PageContent, Option<ClickCounts>)> {
        let mut found = Vec::new();
        while matches.read <= PageNumber::LAST_ROW
            && let Some(more) = matches.next().await?
        {
            found.extend(more);
        }
        if matches.read > PageNumber::LAST_ROW || matches.rest().is_some() {
            return Err(too_many().into());
        }
        let clicks = if found.len() <= MAX_BY_KEY {
            let ids: Vec<_> = found.iter().map(|link| link.id.clone()).collect();
            click_counts_of(&self.stats, &caller.workspace, &ids).await
        } else {
            // Reading too much is no failure that a list may hide.
            let totals = async {
                match self.stats.totals_of_workspace(&caller.workspace).await {
                    Err(refused @ RepositoryError::ReadTooMuch { .. }) => Ok(Err(refused)),
                    read => read.map(Ok),
                }
            };
            let all = within_budget(CLICKS, totals).await.transpose()?;
            all.map(|known| known.ok_or_else(too_many)).transpose()?
        };
        // If the counts could not be read, the links are sorted by time of creation.
        sort_links(&mut found, wanted.sort, wanted.order, clicks.as_ref().unwrap_or(&ClickCounts::new()));
        let (total, mut page) = (found.len(), PageRows::of(wanted.page));
        found.into_iter().for_each(|link| page.take(link));
        let ids = page.into_rows().into_iter().map(|link| link.id).collect();
        Ok((PageContent { ids, total: Some(total), left_out: matches.left_out, next: None }, clicks))
    }

    async fn page(
        &self,
        request: &Request,
        wanted: &ListQuery,
        chosen: PageContent,
        links: Vec<Link>,
        clicks: Option<ClickCounts>,
    ) -> Response {
        let (names, uses) = tokio::join!(creator_names(&self.people, &links), link_uses(&self.links, &links));
        let around = Surroundings { clicks, names, uses };
        let page = LinkPage {
            links: self.views(request, links, &around),
            total: chosen.total,
            page: wanted.page.page(),
            per_page: wanted.page.per_page(),
            total_pages: chosen.total.map(|total| wanted.page.pages(total)),
            archived_left_out: chosen.total.map(|_| chosen.left_out),
            next: request.next_page(chosen.next.map(|cursor| cursor.encode())),
            degraded: around.degraded(),
        };
        json(StatusCode::OK, &page)
    }
}

/// Goes through the links until their number is known. Who follows a cursor has no use for that number, so then the page ends
/// it.
async fn choose_by_time(wanted: &ListQuery, mut matches: Matches<'_>) -> Result<PageContent> {
    let mut page = PageRows::of(wanted.page);
    let follows = wanted.after.is_some();
    let is_enough = |page: &PageRows<_>| page.seen > PageNumber::LAST_ROW || follows && page.is_full();
    while !is_enough(&page)
        && let Some(found) = matches.next().await?
    {
        found.into_iter().for_each(|link| page.take(link));
    }
    let is_counted = !follows && matches.rest().is_none() && page.seen <= PageNumber::LAST_ROW;
    let total = is_counted.then_some(page.seen);
    let goes_on = page.has_later() || matches.rest().is_some();
    let is_full = page.is_full();
    let rows = page.into_rows();
    let next = if is_full { rows.last().filter(|_| goes_on).map(cursor_of) } else { matches.rest().cloned() };
    let ids = rows.into_iter().map(|link| link.id).collect();
    Ok(PageContent { ids, total, left_out: matches.left_out, next })
}

fn cursor_of(link: &LinkSummary) -> Cursor<ShortCode> {
    Cursor { at: link.created_at, id: link.id.code.clone() }
}

fn too_many() -> Invalid {
    Invalid::new(
        "these are too many links to be sorted by clicks; narrow created_after and created_before, or sort by created_at \
         and follow next_cursor",
    )
    .in_field("sort")
}

/// What a page shows.
struct PageContent {
    ids: Vec<LinkId>,
    /// How many links there are on all pages, if all were counted.
    total: Option<usize>,
    /// How many archived links were left out on the way.
    left_out: usize,
    next: Option<Cursor<ShortCode>>,
}

/// The parsed query parameters.
struct ListQuery {
    page: PageNumber,
    sort: SortBy,
    order: SortOrder,
    after: Option<Cursor<ShortCode>>,
    query: LinkQuery,
}

impl ListQuery {
    fn parse(request: &Request, short_urls: &ShortUrls) -> Result<Self, Invalid> {
        let named = request.query("search").and_then(|text| short_urls.code_in(request, text));
        let wanted = Self {
            page: PageNumber::new(
                number(request, "page", 1, "page must be a number from 1 on")?,
                match request.query("limit") {
                    Some(_) => request.page_size()?,
                    None => number(request, "per_page", 20, "per_page must be a number from 1 to 100")?,
                },
            )?,
            sort: request.parsed("sort", SortBy::parse)?.unwrap_or_default(),
            order: request.parsed("order", SortOrder::parse)?.unwrap_or_default(),
            after: request.after(Cursor::decode)?,
            query: LinkQuery::of(&given(request))?.naming(named.as_ref()),
        };
        let is_unsuited = wanted.after.is_some() && wanted.sort != SortBy::CreatedAt;
        Invalid::field_when("after", is_unsuited, "after continues lists that are sorted by created_at")?;
        Ok(wanted)
    }

    /// In which order links are gone through, and how many the page needs, if it takes nearly each that is read. One more tells
    /// whether there are more.
    fn link_order(&self) -> LinkOrder {
        let takes_nearly_each = self.after.is_some() && self.query.means_nearly_all();
        let needed = takes_nearly_each.then(|| self.page.rows().end + 1);
        LinkOrder { order: self.order, after: self.after.clone(), needed }
    }
}

/// The parameters that say which links are meant.
pub(crate) fn given(request: &Request) -> GivenFilter {
    let text = |name: &str| request.query(name).map(str::to_owned);
    GivenFilter {
        all: None,
        search: text("search"),
        tag: request.queries("tag").map(str::to_owned).collect(),
        created_by: text("created_by"),
        status: text("status"),
        archived: text("archived"),
        created_after: text("created_after"),
        created_before: text("created_before"),
        tz: text("tz"),
        external_id: text("external_id"),
    }
}

/// Which links are listed by their status.
pub(crate) fn status(request: &Request) -> Result<StatusFilter, Invalid> {
    Ok(request.parsed("status", StatusFilter::parse)?.unwrap_or_default())
}

fn number(request: &Request, name: &'static str, default: usize, sentence: &str) -> Result<usize, Invalid> {
    let number = request.parsed(name, |text| text.parse().map_err(|_| Invalid::new(sentence)))?;
    Ok(number.unwrap_or(default))
}

#[derive(Serialize)]
struct LinkPage {
    links: Vec<LinkView>,
    total: Option<usize>,
    page: usize,
    per_page: usize,
    total_pages: Option<usize>,
    archived_left_out: Option<usize>,
    #[serde(flatten)]
    next: NextPage,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    degraded: Vec<&'static str>,
}
