//! A link as the API shows it.

use std::{collections::HashMap, time::Duration};

use linklet_domain::{Link, LinkState, ShortCode, TargetUrl, Timestamp, UserId};
use linklet_dynamodb::{RepositoryError, StatsTable};
use serde::Serialize;

use crate::{
    http::{Request, ShortUrls},
    telemetry::chain,
};

/// Click counts by code; a code without clicks is absent.
pub type ClickCounts = HashMap<ShortCode, u64>;

/// How long a list waits for click counts: without them it is worth more than no list.
const BUDGET: Duration = Duration::from_secs(1);

/// The members that an answer lacks when click counts could not be had.
pub const WITHOUT_CLICKS: &[&str] = &["clicks"];

/// The click counts, or `None` if they can't be had in time.
pub async fn in_time(counts: impl Future<Output = Result<ClickCounts, RepositoryError>>) -> Option<ClickCounts> {
    match tokio::time::timeout(BUDGET, counts).await {
        Ok(Ok(counts)) => Some(counts),
        Ok(Err(error)) => {
            tracing::warn!(error = chain(&error), "an answer goes without click counts");
            None
        }
        Err(_) => {
            tracing::warn!("an answer goes without click counts, which took longer than 1 s");
            None
        }
    }
}

/// The click counts of these links, or `None` if they can't be had in time.
pub async fn click_counts(stats: &StatsTable, links: &[Link]) -> Option<ClickCounts> {
    let codes: Vec<_> = links.iter().map(|link| link.code.clone()).collect();
    in_time(stats.totals(&codes)).await
}

/// A link with its clicks; `degraded` names what is missing.
#[derive(Debug, Serialize)]
pub struct LinkView {
    short_code: ShortCode,
    short_url: String,
    original_url: TargetUrl,
    title: Option<String>,
    description: Option<String>,
    tags: Vec<String>,
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
    is_active: bool,
    status: &'static str,
    total_clicks: Option<u64>,
    created_by: UserId,
}

impl LinkView {
    /// The view of a link at the time of the request.
    #[must_use]
    pub fn new(request: &Request, short_urls: &ShortUrls, link: Link, clicks: Option<&ClickCounts>) -> Self {
        Self {
            short_url: short_urls.of(request, &link.code),
            status: link.status(request.received_at()).as_str(),
            is_active: link.state == LinkState::Active,
            total_clicks: clicks.map(|clicks| clicks.get(&link.code).copied().unwrap_or_default()),
            short_code: link.code,
            original_url: link.target,
            title: link.title,
            description: link.description,
            tags: link.tags,
            created_at: link.created_at,
            expires_at: link.expires_at,
            created_by: link.owner,
        }
    }
}

/// A single link as an answer.
#[derive(Debug, Serialize)]
pub struct OneLink {
    #[serde(flatten)]
    link: LinkView,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    degraded: &'static [&'static str],
}

impl OneLink {
    /// The answer with a link, and its clicks if they can be had in time.
    pub async fn load(request: &Request, short_urls: &ShortUrls, stats: &StatsTable, link: Link) -> Self {
        let clicks = click_counts(stats, std::slice::from_ref(&link)).await;
        let degraded = if clicks.is_none() { WITHOUT_CLICKS } else { &[] };
        Self { link: LinkView::new(request, short_urls, link, clicks.as_ref()), degraded }
    }
}
