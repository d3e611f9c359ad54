//! A link as the API shows it.

use std::{collections::HashMap, time::Duration};

use linklet_domain::{Link, LinkMetadata, LinkState, ShortCode, TargetStatus, TargetUrl, Timestamp, UserId};
use linklet_dynamodb::{Health, RepositoryError, StatsTable, WatchTable};
use serde::Serialize;

use crate::{
    http::{Request, ShortUrls},
    telemetry::chain,
};

/// Click counts by code; a code without clicks is absent.
pub type ClickCounts = HashMap<ShortCode, u64>;

/// How long an answer waits for what other contexts know: without that it is worth more than no answer.
const BUDGET: Duration = Duration::from_secs(1);

/// What `degraded` calls click counts.
pub const CLICKS: &str = "clicks";

/// What `degraded` calls the health of what a link watches.
const HEALTH: &str = "health";

/// What another context knows, or `None` if it can't be had in time; `what` is how `degraded` calls it.
pub async fn in_time<T>(what: &'static str, read: impl Future<Output = Result<T, RepositoryError>>) -> Option<T> {
    match tokio::time::timeout(BUDGET, read).await {
        Ok(Ok(known)) => Some(known),
        Ok(Err(error)) => {
            tracing::warn!(what, error = chain(&error), "an answer goes without a part");
            None
        }
        Err(_) => {
            tracing::warn!(what, "an answer goes without a part, which took longer than 1 s");
            None
        }
    }
}

/// The click counts of these links, or `None` if they can't be had in time.
pub async fn click_counts(stats: &StatsTable, links: &[Link]) -> Option<ClickCounts> {
    let codes: Vec<_> = links.iter().map(|link| link.code.clone()).collect();
    in_time(CLICKS, stats.totals(&codes)).await
}

/// A link with its clicks; `degraded` names what is missing.
#[derive(Debug, Serialize)]
pub struct LinkView {
    short_code: ShortCode,
    short_url: String,
    original_url: TargetUrl,
    #[serde(flatten)]
    metadata: LinkMetadata,
    watch: bool,
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
            metadata: link.metadata,
            watch: link.watch,
            created_at: link.created_at,
            expires_at: link.expires_at,
            created_by: link.owner,
        }
    }
}

/// How the URL is that a link watches. Before the first round there is nothing but `pending`.
#[derive(Debug, Serialize)]
struct HealthView {
    status: &'static str,
    checked_at: Option<Timestamp>,
    status_code: Option<u16>,
    latency_ms: Option<u64>,
}

impl HealthView {
    fn without_result(status: &'static str) -> Self {
        Self { status, checked_at: None, status_code: None, latency_ms: None }
    }

    /// Of a target that isn't there yet as well: the link's event is still on its way to it.
    fn of(health: Option<Health>) -> Self {
        let Some(Health { status, latest }) = health else {
            return Self::without_result(TargetStatus::Pending.as_str());
        };
        let view = Self::without_result(status.as_str());
        let Some(latest) = latest else { return view };
        Self {
            checked_at: Some(latest.checked_at),
            status_code: latest.outcome.status_code(),
            latency_ms: Some(latest.latency_ms),
            ..view
        }
    }
}

/// A single link as an answer.
#[derive(Debug, Serialize)]
pub struct OneLink {
    #[serde(flatten)]
    link: LinkView,
    #[serde(skip_serializing_if = "Option::is_none")]
    health: Option<HealthView>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    degraded: Vec<&'static str>,
}

impl OneLink {
    /// The answer with a link, and its clicks if they can be had in time.
    pub async fn load(request: &Request, short_urls: &ShortUrls, stats: &StatsTable, link: Link) -> Self {
        let clicks = click_counts(stats, std::slice::from_ref(&link)).await;
        let degraded = clicks.is_none().then_some(CLICKS).into_iter().collect();
        Self { link: LinkView::new(request, short_urls, link, clicks.as_ref()), health: None, degraded }
    }

    /// The same with the health of what the link watches, read meanwhile.
    pub async fn load_with_health(
        request: &Request,
        short_urls: &ShortUrls,
        stats: &StatsTable,
        targets: &WatchTable,
        link: Link,
    ) -> Self {
        let Some(target) = link.watched_target() else { return Self::load(request, short_urls, stats, link).await };
        let health = in_time(HEALTH, targets.health(&target, request.received_at()));
        let (answer, health) = tokio::join!(Self::load(request, short_urls, stats, link), health);
        answer.with_health(health)
    }

    fn with_health(mut self, health: Option<Option<Health>>) -> Self {
        self.degraded.extend(health.is_none().then_some(HEALTH));
        self.health = Some(health.map_or_else(|| HealthView::without_result("unknown"), HealthView::of));
        self
    }
}
