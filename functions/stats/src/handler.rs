//! Reads click statistics.

use std::time::Duration;

use linklet_domain::{Interval, LinkStats, ShortCode, timeline};
use linklet_dynamodb::{LinksTable, StatsTable};
use linklet_lambda::http::{ApiError, Handler, Method, Request, Response, StatusCode, json};
use serde_json::{Value, json};

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
        let top_referers: Vec<Value> = summary
            .top_referers
            .into_iter()
            .map(|(referer, count)| json!({"referer": referer, "count": count}))
            .collect();
        Ok(json(
            StatusCode::OK,
            &json!({
                "short_code": code,
                "total_clicks": summary.total_clicks,
                "clicks_last_24h": summary.clicks_last_24h,
                "clicks_last_7d": summary.clicks_last_7d,
                "top_referers": top_referers,
                "last_click_at": summary.last_click_at,
            }),
        ))
    }

    async fn timeline(&self, request: &Request, code: &str) -> Result<Response, ApiError> {
        let code = known_form(code)?;
        let interval = request.query("interval").map_or(Ok(Interval::Day), Interval::parse)?;
        let stats = self.stats.days(&code).await?;
        let points = timeline(&self.or_empty(&code, stats).await?, interval);
        Ok(json(StatusCode::OK, &json!({"short_code": code, "interval": interval.as_str(), "points": points})))
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
