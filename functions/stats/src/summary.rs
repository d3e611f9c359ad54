//! `GET /api/stats/{code}`: the summary of a link's statistics.

use std::{collections::BTreeMap, time::Duration};

use linklet_domain::{Dimension, LinkId, Profile, ShortCode, Summary, Timestamp};
use linklet_lambda::http::{ApiError, Request, Response, StatusCode, json};
use serde::Serialize;

use crate::Stats;

/// The longest window of the summary.
const WEEK: Duration = Duration::from_secs(7 * 86_400);

impl Stats {
    pub(crate) async fn summary(&self, request: &Request, link: &LinkId) -> Result<Response, ApiError> {
        let now = request.received_at();
        let stats = self.stats.since(link, now.minus(WEEK).day()).await?;
        Ok(json(StatusCode::OK, &SummaryView::new(&link.code, &stats.summary(now))))
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
    #[serde(flatten)]
    breakdowns: BTreeMap<&'static str, Vec<ValueCount>>,
    last_click_at: Option<Timestamp>,
}

impl<'a> SummaryView<'a> {
    fn new(short_code: &'a ShortCode, summary: &Summary) -> Self {
        Self {
            short_code,
            total_clicks: summary.total_clicks,
            human_clicks: summary.human_clicks,
            unique_visitors: summary.unique_visitors,
            clicks_last_24h: summary.clicks_last_24h,
            clicks_last_7d: summary.clicks_last_7d,
            breakdowns: Dimension::ALL.into_iter().map(|dimension| shown(&summary.profile, dimension)).collect(),
            last_click_at: summary.last_click_at,
        }
    }
}

/// A breakdown with its member's name: of the referrers only the five most frequent, and of the others all.
fn shown(profile: &Profile, dimension: Dimension) -> (&'static str, Vec<ValueCount>) {
    const TOP_REFERERS: usize = 5;
    match dimension {
        Dimension::Referer => {
            let ranked = profile.by(dimension).ranked().into_iter().take(TOP_REFERERS);
            ("top_referers", ranked.map(|(value, count)| ValueCount::new(dimension, value, count)).collect())
        }
        _ => (dimension.name(), counts(profile, dimension)),
    }
}

/// All values of a breakdown, most frequent first.
pub(crate) fn counts(profile: &Profile, dimension: Dimension) -> Vec<ValueCount> {
    let ranking = profile.by(dimension).ranking();
    ranking.iter().map(|(value, count)| ValueCount::new(dimension, value, *count)).collect()
}

/// A value under the label of its dimension, and its count: `{"browser": "Firefox", "count": 3}`.
#[derive(Serialize)]
pub(crate) struct ValueCount {
    #[serde(flatten)]
    value: BTreeMap<&'static str, String>,
    count: u64,
}

impl ValueCount {
    fn new(dimension: Dimension, value: &str, count: u64) -> Self {
        Self { value: BTreeMap::from([(dimension.label(), value.to_owned())]), count }
    }
}
