//! `GET /api/stats/{code}`: the summary of a link's statistics.

use std::time::Duration;

use linklet_domain::{Device, LinkStats, Ranking, ShortCode, Summary, Timestamp};
use linklet_lambda::http::{ApiError, Request, Response, StatusCode, json};
use serde::Serialize;

use crate::{Stats, UNKNOWN};

/// The longest window of the summary.
const WEEK: Duration = Duration::from_secs(7 * 86_400);

impl Stats {
    pub(crate) async fn summary(&self, request: &Request, code: &ShortCode) -> Result<Response, ApiError> {
        let now = request.received_at();
        let stats = self.stats.since(code, now.minus(WEEK).day());
        let stats = match self.with_link(code, stats).await? {
            (Some(stats), _) => stats,
            (None, Some(_)) => LinkStats::default(),
            (None, None) => return Err(UNKNOWN),
        };
        Ok(json(StatusCode::OK, &SummaryView::new(code, stats.summary(now))))
    }
}

#[derive(Serialize)]
struct SummaryView<'a> {
    short_code: &'a ShortCode,
    total_clicks: u64,
    human_clicks: u64,
    unique_visitors: u64,
    clicks_last_24h: u64,
    clicks_last_7d: u64,
    top_referers: Vec<RefererCount>,
    countries: Vec<CountryCount>,
    devices: Vec<DeviceCount>,
    browsers: Vec<BrowserCount>,
    operating_systems: Vec<OsCount>,
    last_click_at: Option<Timestamp>,
}

impl<'a> SummaryView<'a> {
    fn new(short_code: &'a ShortCode, summary: Summary) -> Self {
        Self {
            short_code,
            total_clicks: summary.total_clicks,
            human_clicks: summary.human_clicks,
            unique_visitors: summary.unique_visitors,
            clicks_last_24h: summary.clicks_last_24h,
            clicks_last_7d: summary.clicks_last_7d,
            top_referers: each(summary.top_referers, |(referer, count)| RefererCount { referer, count }),
            countries: countries(summary.countries),
            devices: each(summary.devices, |(device, count)| DeviceCount { device, count }),
            browsers: each(summary.browsers, |(browser, count)| BrowserCount { browser, count }),
            operating_systems: each(summary.operating_systems, |(os, count)| OsCount { os, count }),
            last_click_at: summary.last_click_at,
        }
    }
}

fn each<T, V>(ranking: Vec<T>, view: impl Fn(T) -> V) -> Vec<V> {
    ranking.into_iter().map(view).collect()
}

/// The JSON representation of a ranking of countries.
pub(crate) fn countries(ranking: Ranking) -> Vec<CountryCount> {
    each(ranking, |(country, count)| CountryCount { country, count })
}

#[derive(Serialize)]
struct RefererCount {
    referer: String,
    count: u64,
}

#[derive(Serialize)]
pub(crate) struct CountryCount {
    country: String,
    count: u64,
}

#[derive(Serialize)]
struct DeviceCount {
    device: Device,
    count: u64,
}

#[derive(Serialize)]
struct BrowserCount {
    browser: String,
    count: u64,
}

#[derive(Serialize)]
struct OsCount {
    os: String,
    count: u64,
}
