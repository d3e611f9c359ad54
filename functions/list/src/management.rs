//! `GET /api/links`: pages of filtered and sorted links.
//!
//! Each page reads all links of the date range, up to 10,000, and filters and sorts them in memory, since DynamoDB has no index
//! for substrings. Links after row 10,000 can be reached with a narrower date range, or with the cursor of `/api/urls`.

use linklet_domain::{Invalid, LinkFilter, LinkStatus, Order, PageNumber, SortBy, Timestamp, UserId, sort_links};
use linklet_lambda::{
    http::{ApiError, Request, Response, StatusCode, json},
    identity::Caller,
    link_view::{CLICKS, LinkView, click_counts, within_budget},
};
use serde::Serialize;

use crate::{List, degraded};

/// Maximum number of links whose click counts are read by key, in batches of 100. For more links, querying the counts of the
/// whole workspace costs less.
const MAX_BY_KEY: usize = 500;

impl List {
    pub(crate) async fn pages(&self, request: &Request, caller: &Caller) -> Result<Response, ApiError> {
        let wanted = Wanted::parse(request)?;
        let read_order = if wanted.sort == SortBy::CreatedAt { wanted.order } else { Order::Descending };
        let most = PageNumber::LAST_ROW + 1;
        let mut links = self.links.created_between(caller.workspace(), wanted.range, read_order, most).await?;
        let truncated = links.len() > PageNumber::LAST_ROW;
        if truncated && !(wanted.filter.is_empty() && wanted.sort == SortBy::CreatedAt) {
            return Err(Invalid::new(
                "more than 10,000 links were created in this time; narrow created_after and created_before, or use the \
                 cursor of /api/urls",
            )
            .into());
        }
        links.truncate(PageNumber::LAST_ROW);
        links.retain(|link| wanted.filter.matches(link, request.received_at()));
        let total = links.len();

        let all_clicks = match wanted.sort {
            SortBy::CreatedAt => None,
            SortBy::Clicks if total <= MAX_BY_KEY => click_counts(&self.stats, &links).await,
            SortBy::Clicks => within_budget(CLICKS, self.stats.totals_of_workspace(caller.workspace())).await,
        };
        match &all_clicks {
            Some(clicks) => sort_links(&mut links, SortBy::Clicks, wanted.order, clicks),
            // If the counts could not be read, the links are sorted by time of creation.
            None => sort_links(&mut links, SortBy::CreatedAt, wanted.order, &Default::default()),
        }
        let rows = wanted.page.select(links);
        let clicks = match wanted.sort {
            SortBy::Clicks => all_clicks,
            SortBy::CreatedAt => click_counts(&self.stats, &rows).await,
        };
        let page = LinkPage {
            links: self.views(request, rows, clicks.as_ref()),
            total,
            page: wanted.page.page(),
            per_page: wanted.page.per_page(),
            total_pages: wanted.page.pages(total),
            truncated,
            degraded: degraded(clicks.as_ref()),
        };
        Ok(json(StatusCode::OK, &page))
    }
}

/// The parsed query parameters.
struct Wanted {
    page: PageNumber,
    sort: SortBy,
    order: Order,
    range: (Option<Timestamp>, Option<Timestamp>),
    filter: LinkFilter,
}

impl Wanted {
    fn parse(request: &Request) -> Result<Self, Invalid> {
        const LONGEST_SEARCH: usize = 200;
        let search = request.query("search");
        if search.is_some_and(|search| search.chars().count() > LONGEST_SEARCH) {
            return Err(Invalid::new("search must have at most 200 characters").in_field("search"));
        }
        Ok(Self {
            page: PageNumber::new(
                number(request, "page", 1, "page must be a number from 1 on")?,
                number(request, "per_page", 20, "per_page must be a number from 1 to 100")?,
            )?,
            sort: request.parsed("sort", SortBy::parse)?.unwrap_or_default(),
            order: request.parsed("order", Order::parse)?.unwrap_or_default(),
            range: request.time_between(("created_after", "created_before"))?,
            filter: LinkFilter {
                search: search.map(str::to_owned),
                tags: request.queries("tag").map(str::to_owned).collect(),
                created_by: request.parsed("created_by", creator)?,
                status: request.parsed("status", LinkStatus::parse)?,
            },
        })
    }
}

fn creator(text: &str) -> Result<UserId, Invalid> {
    UserId::parse(text).map_err(|_| Invalid::new("created_by must be a UUID"))
}

fn number(request: &Request, name: &'static str, default: usize, sentence: &str) -> Result<usize, Invalid> {
    let number = request.parsed(name, |text| text.parse().map_err(|_| Invalid::new(sentence)))?;
    Ok(number.unwrap_or(default))
}

#[derive(Serialize)]
struct LinkPage {
    links: Vec<LinkView>,
    total: usize,
    page: usize,
    per_page: usize,
    total_pages: usize,
    /// Whether there are links after row 10,000, which `total` doesn't include.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    degraded: &'static [&'static str],
}
