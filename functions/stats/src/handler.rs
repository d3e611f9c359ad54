//! Reads click statistics.

use std::time::Duration;

use linklet_domain::{Interval, LinkStats, Point, ShortCode, Summary, Timestamp, timeline};
use linklet_dynamodb::{LinksTable, StatsTable};
use linklet_lambda::http::{ApiError, Handler, Method, Request, Response, StatusCode, json};
use serde::Serialize;

/// `GET /api/stats/{code}` and `GET /api/stats/{code}/timeline`.
pub struct Stats {
    /// The numbers.
    pub stats: StatsTable,
    /// Asked only whether a code without numbers exists.
    pub links: LinksTable,
}

/// The longest window of the summary.
const WEEK: Duration = Duration::from_secs(7 * 86_400);

impl Handler for Stats {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::GET, ["api", "stats", code]) => self.summary(request, code).await,
            (&Method::GET, ["api", "stats", code, "timeline"]) => self.timeline(request, code).await,
            _ => Err(ApiError::NotFound("no such route")),
        }
    }
}

impl Stats {
    async fn summary(&self, request: &Request, code: &str) -> Result<Response, ApiError> {
        let code = known_form(code)?;
        let now = request.received_at();
        let stats = self.stats.since(&code, now.minus(WEEK).day()).await?;
        let summary = self.or_empty(&code, stats).await?.summary(now);
        Ok(json(StatusCode::OK, &SummaryView::new(&code, summary)))
    }

    async fn timeline(&self, request: &Request, code: &str) -> Result<Response, ApiError> {
        let code = known_form(code)?;
        let interval = request.query("interval").map_or(Ok(Interval::Day), Interval::parse)?;
        let stats = self.stats.days(&code).await?;
        let points = timeline(&self.or_empty(&code, stats).await?, interval);
        Ok(json(StatusCode::OK, &TimelineView { short_code: &code, interval: interval.as_str(), points }))
    }

    /// Zeros for a link without clicks, 404 for a code that was never given out.
    async fn or_empty(&self, code: &ShortCode, stats: Option<LinkStats>) -> Result<LinkStats, ApiError> {
        match stats {
            Some(stats) => Ok(stats),
            None if self.links.exists(code).await? => Ok(LinkStats::default()),
            None => Err(ApiError::NotFound("not found")),
        }
    }
}

fn known_form(code: &str) -> Result<ShortCode, ApiError> {
    ShortCode::parse(code).map_err(|_| ApiError::NotFound("not found"))
}

#[derive(Serialize)]
struct SummaryView<'a> {
    short_code: &'a ShortCode,
    total_clicks: u64,
    clicks_last_24h: u64,
    clicks_last_7d: u64,
    top_referers: Vec<RefererView>,
    last_click_at: Option<Timestamp>,
}

impl<'a> SummaryView<'a> {
    fn new(short_code: &'a ShortCode, summary: Summary) -> Self {
        let view = |(referer, count)| RefererView { referer, count };
        Self {
            short_code,
            total_clicks: summary.total_clicks,
            clicks_last_24h: summary.clicks_last_24h,
            clicks_last_7d: summary.clicks_last_7d,
            top_referers: summary.top_referers.into_iter().map(view).collect(),
            last_click_at: summary.last_click_at,
        }
    }
}

#[derive(Serialize)]
struct RefererView {
    referer: String,
    count: u64,
}

#[derive(Serialize)]
struct TimelineView<'a> {
    short_code: &'a ShortCode,
    interval: &'static str,
    points: Vec<Point>,
}
