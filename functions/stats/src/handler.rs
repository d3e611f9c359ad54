//! Reads click statistics.

use std::time::Duration;

use linklet_domain::{Interval, LinkStats, LinkStatus, Point, Record, Role, ShortCode, Summary, Timestamp, timeline};
use linklet_dynamodb::{CleanupStats, LinksTable, RepositoryError, StatsTable};
use linklet_lambda::{
    http::{ApiError, Handler, Method, Request, Response, StatusCode, json},
    identity::Authenticator,
};
use serde::Serialize;

/// `GET /api/stats/{code}`, `GET /api/stats/{code}/timeline` and `GET /api/admin/cleanup/stats`.
pub struct Stats {
    /// Verifies tokens.
    pub authenticator: Authenticator,
    /// The numbers.
    pub stats: StatsTable,
    /// Asked whether a code exists and isn't purged, and what the cleanup has done.
    pub links: LinksTable,
}

/// The longest window of the summary.
const WEEK: Duration = Duration::from_secs(7 * 86_400);

impl Handler for Stats {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::GET, ["api", "stats", code]) => self.summary(request, code).await,
            (&Method::GET, ["api", "stats", code, "timeline"]) => self.timeline(request, code).await,
            (&Method::GET, ["api", "admin", "cleanup", "stats"]) => {
                self.authenticator.require(request, Role::Admin).await?;
                self.cleanup(request).await
            }
            _ => Err(ApiError::NotFound("no such route")),
        }
    }
}

impl Stats {
    async fn summary(&self, request: &Request, code: &str) -> Result<Response, ApiError> {
        let code = known_form(code)?;
        let now = request.received_at();
        let stats = self.stats.since(&code, now.minus(WEEK).day());
        let summary = self.unless_purged(&code, stats).await?.summary(now);
        Ok(json(StatusCode::OK, &SummaryView::new(&code, summary)))
    }

    async fn timeline(&self, request: &Request, code: &str) -> Result<Response, ApiError> {
        let code = known_form(code)?;
        let interval = request.query("interval").map_or(Ok(Interval::Day), Interval::parse)?;
        let stats = self.stats.days(&code);
        let points = timeline(&self.unless_purged(&code, stats).await?, interval);
        Ok(json(StatusCode::OK, &TimelineView { short_code: &code, interval: interval.as_str(), points }))
    }

    /// The numbers of a link: zeros without clicks, 410 once it is purged, even if analytics has not come to it yet, and 404
    /// for a code that was never given out. The link is looked at meanwhile, so it costs no time.
    async fn unless_purged(
        &self,
        code: &ShortCode,
        stats: impl Future<Output = Result<Option<LinkStats>, RepositoryError>>,
    ) -> Result<LinkStats, ApiError> {
        let (stats, record) = tokio::join!(stats, self.links.redirect_target(code));
        match (stats?, record?) {
            (_, Some(Record::Tombstone(tombstone))) if tombstone.reason == LinkStatus::Purged => {
                Err(ApiError::gone(LinkStatus::Purged))
            }
            (Some(stats), _) => Ok(stats),
            (None, Some(_)) => Ok(LinkStats::default()),
            (None, None) => Err(ApiError::NotFound("not found")),
        }
    }

    async fn cleanup(&self, request: &Request) -> Result<Response, ApiError> {
        let stats = self.links.cleanup_stats(request.received_at()).await?;
        Ok(json(StatusCode::OK, &CleanupView::from(stats)))
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

#[derive(Serialize)]
struct CleanupView {
    last_cleanup_time: Option<Timestamp>,
    total_cleaned: u64,
    last_batch_size: u64,
    successful_runs: u64,
    failed_runs: u64,
    average_cleanup_ms: f64,
    is_running: bool,
}

impl From<CleanupStats> for CleanupView {
    fn from(stats: CleanupStats) -> Self {
        // A mean for people: the precision of a double is more than they read.
        #[expect(clippy::cast_precision_loss, reason = "2⁵³ runs are not to be expected")]
        let runs = stats.successful_runs.max(1) as f64;
        Self {
            last_cleanup_time: stats.last_cleanup_at,
            total_cleaned: stats.total_cleaned,
            last_batch_size: stats.last_batch_size,
            successful_runs: stats.successful_runs,
            failed_runs: stats.failed_runs,
            average_cleanup_ms: stats.successful_time.as_secs_f64() * 1_000.0 / runs,
            is_running: stats.is_running,
        }
    }
}
