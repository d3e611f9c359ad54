//! The JSON representation of a link in the API.

use std::{collections::HashMap, time::Duration};

use linklet_domain::{
    Availability, Description, ExternalId, FullName, Link, LinkClicks, LinkId, LinkMetadata, LinkState, LinkStatus,
    Notes, ShortCode, Tags, TargetId, TargetStatus, TargetUrl, Timestamp, Title, UserId, WorkspaceId,
};
use linklet_dynamodb::{Health, Names, RepositoryError, StatsTable, WatchTable};
use serde::Serialize;

use crate::{
    http::{BodyLimit, Request, ShortUrls},
    telemetry::chain,
};

/// The longest body with the members that links are created and changed with alike.
pub const LINK_BODY: BodyLimit = BodyLimit::EMPTY
    .text("title", Title::MAX_LENGTH)
    .text("description", Description::MAX_LENGTH)
    .list("tags", Tags::MOST, Tags::MAX_LENGTH)
    .map("metadata", Notes::MOST, Notes::MOST_BYTES)
    .text("external_id", ExternalId::MAX_LENGTH)
    .time("expires_at");

/// Clicks by link; links without clicks are absent.
pub type ClickCounts = HashMap<LinkId, LinkClicks>;

/// Maximum time to wait for data of other contexts, without which a response is still useful.
const BUDGET: Duration = Duration::from_secs(1);

/// The name of click counts in the member `degraded`.
pub const CLICKS: &str = "clicks";

/// The name of the creators' names in the member `degraded`.
pub const NAMES: &str = "names";

/// What the creators of links are called; who has no name is absent.
pub type CreatorNames = HashMap<UserId, FullName>;

/// What of other contexts is shown with links; `None` is what could not be read.
#[derive(Debug)]
pub struct Surroundings {
    /// The links' clicks.
    pub clicks: Option<ClickCounts>,
    /// The names of their creators.
    pub names: Option<CreatorNames>,
}

impl Surroundings {
    /// The names of what could not be read.
    #[must_use]
    pub fn degraded(&self) -> Vec<&'static str> {
        [(CLICKS, self.clicks.is_none()), (NAMES, self.names.is_none())]
            .into_iter()
            .filter_map(|(name, is_missing)| is_missing.then_some(name))
            .collect()
    }
}

/// Reads the names of the creators of these links, up to 100; `None` if that fails or takes longer than 1 s.
pub async fn creator_names(people: &Names, links: &[Link]) -> Option<CreatorNames> {
    within_budget(NAMES, people.names(links.iter().map(|link| &link.identity.owner).collect())).await
}

/// The name of the health of a link's target in the member `degraded`.
const HEALTH: &str = "health";

/// Reads data of another context; `None` if that fails or takes longer than 1 s. `what` is the data's name in `degraded`.
pub async fn within_budget<T>(what: &'static str, read: impl Future<Output = Result<T, RepositoryError>>) -> Option<T> {
    match tokio::time::timeout(BUDGET, read).await {
        Ok(Ok(known)) => Some(known),
        Ok(Err(error)) => {
            tracing::warn!(what, error = chain(&error), "a part of a response could not be read");
            None
        }
        Err(_) => {
            tracing::warn!(what, "a part of a response was not read within 1 s");
            None
        }
    }
}

/// Reads the click counts of these links of one workspace; `None` if that fails or takes longer than 1 s.
pub async fn click_counts(stats: &StatsTable, links: &[Link]) -> Option<ClickCounts> {
    let Some(first) = links.first() else { return Some(ClickCounts::new()) };
    let ids: Vec<_> = links.iter().map(Link::id).cloned().collect();
    click_counts_of(stats, &first.identity.workspace, &ids).await
}

/// Reads the click counts of links that haven't been read themselves; `None` if that fails or takes longer than 1 s.
pub async fn click_counts_of(stats: &StatsTable, workspace: &WorkspaceId, links: &[LinkId]) -> Option<ClickCounts> {
    within_budget(CLICKS, stats.totals(workspace, links)).await
}

/// A link with its click count, which is `null` if it could not be read.
#[derive(Debug, Serialize)]
pub struct LinkView {
    short_code: ShortCode,
    short_url: String,
    original_url: TargetUrl,
    #[serde(flatten)]
    metadata: LinkMetadata,
    watch: bool,
    archived: bool,
    /// The target that the link watches; missing if it watches none, or not any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    target_id: Option<TargetId>,
    created_at: Timestamp,
    updated_at: Timestamp,
    #[serde(flatten)]
    availability: AvailabilityView,
    total_clicks: Option<u64>,
    created_by: UserId,
    created_by_name: Option<FullName>,
}

/// Whether a link leads to its destination, at the time of a request.
#[derive(Debug, Serialize)]
struct AvailabilityView {
    expires_at: Option<Timestamp>,
    is_active: bool,
    status: &'static str,
}

impl AvailabilityView {
    fn at(now: Timestamp, availability: &Availability) -> Self {
        Self {
            expires_at: availability.expires_at,
            is_active: availability.state == LinkState::Active,
            status: availability.status(now).as_str(),
        }
    }
}

impl LinkView {
    /// The representation of a link at the time of the request.
    #[must_use]
    pub fn new(request: &Request, short_urls: &ShortUrls, link: Link, around: &Surroundings) -> Self {
        let Surroundings { clicks, names } = around;
        Self {
            short_url: short_urls.of(request, link.code()),
            target_id: target_of(request, &link),
            availability: AvailabilityView::at(request.received_at(), &link.availability),
            total_clicks: clicks.as_ref().map(|clicks| clicks.get(link.id()).map_or(0, |clicks| clicks.total)),
            short_code: link.identity.id.code,
            original_url: link.target,
            metadata: link.metadata,
            watch: link.watch,
            archived: link.archived,
            created_at: link.created_at,
            updated_at: link.updated_at,
            created_by_name: names.as_ref().and_then(|names| names.get(&link.identity.owner)).cloned(),
            created_by: link.identity.owner,
        }
    }
}

/// The target that is checked for a link at the time of the request. That of an expired link isn't checked for it any more.
fn target_of(request: &Request, link: &Link) -> Option<TargetId> {
    link.watched_target().filter(|_| link.availability.status(request.received_at()) != LinkStatus::Expired)
}

/// The health of the target that a link watches. All but `status` are `null` before the first check.
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

    /// The health of a target. `None` means that it doesn't exist yet, since the link's event has not been processed.
    fn of(health: Option<Health>) -> Self {
        let Some(Health { status, latest, .. }) = health else {
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

/// The response with a single link. `degraded` names the parts that could not be read.
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
    /// Makes the response for a link, with its click count and its creator's name if these can be read within 1 s.
    pub async fn load(
        request: &Request,
        short_urls: &ShortUrls,
        (stats, people): (&StatsTable, &Names),
        link: Link,
    ) -> Self {
        let links = std::slice::from_ref(&link);
        let (clicks, names) = tokio::join!(click_counts(stats, links), creator_names(people, links));
        let around = Surroundings { clicks, names };
        Self { degraded: around.degraded(), link: LinkView::new(request, short_urls, link, &around), health: None }
    }

    /// Like [`Self::load`], and concurrently reads the health of the target that the link watches.
    pub async fn load_with_health(
        request: &Request,
        short_urls: &ShortUrls,
        tables: (&StatsTable, &Names),
        targets: &WatchTable,
        link: Link,
    ) -> Self {
        let Some(target) = target_of(request, &link) else {
            return Self::load(request, short_urls, tables, link).await;
        };
        let health = within_budget(HEALTH, targets.health(&target, request.received_at()));
        let (answer, health) = tokio::join!(Self::load(request, short_urls, tables, link), health);
        answer.with_health(health)
    }

    fn with_health(mut self, health: Option<Option<Health>>) -> Self {
        self.degraded.extend(health.is_none().then_some(HEALTH));
        self.health = Some(health.map_or_else(|| HealthView::without_result("unknown"), HealthView::of));
        self
    }
}
