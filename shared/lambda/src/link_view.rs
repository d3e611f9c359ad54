//! The JSON representation of a link in the API.

use std::{collections::HashMap, time::Duration};

use linklet_domain::{
    ClickLimit, FullName, Link, LinkClicks, LinkId, LinkMetadata, LinkState, LinkStatus, Preview, ShortCode,
    SuspensionReason, TargetId, TargetStatus, TargetUrl, Timestamp, UserId, Uses, WorkspaceId,
};
use linklet_dynamodb::{Health, LinksTable, Names, Result, StatsTable, WatchTable};
use serde::Serialize;

use crate::http::{Request, ShortUrls};
use crate::metrics::{self, Metric};
use crate::telemetry::chain;

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
    /// How often those with a limit were used.
    pub uses: Option<LinkUses>,
}

/// How often links with a limit were used.
pub type LinkUses = HashMap<LinkId, Uses>;

/// The name of links' uses in the member `degraded`.
pub const USES: &str = "uses";

/// Reads how often those of these links were used that have a limit, up to 100; `None` if that fails or takes longer than 1 s.
pub async fn link_uses(table: &LinksTable, links: &[Link]) -> Option<LinkUses> {
    let limited: Vec<_> = links.iter().filter(|link| link.options.max_clicks.is_some()).map(Link::id).collect();
    within_budget(USES, table.uses(&limited)).await
}

impl Surroundings {
    /// What is known of a link that was just created: it has neither clicks nor uses.
    pub fn of_new_link() -> Self {
        Self { clicks: Some(ClickCounts::new()), names: None, uses: Some(LinkUses::new()) }
    }

    /// Of a link, without reading anything.
    pub fn unread() -> Self {
        Self { clicks: None, names: None, uses: None }
    }

    /// The names of what could not be read.
    pub fn degraded(&self) -> Vec<&'static str> {
        [(CLICKS, self.clicks.is_none()), (NAMES, self.names.is_none()), (USES, self.uses.is_none())]
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
pub async fn within_budget<T>(what: &'static str, read: impl Future<Output = Result<T>>) -> Option<T> {
    match tokio::time::timeout(BUDGET, read).await {
        Ok(Ok(known)) => return Some(known),
        Ok(Err(error)) => tracing::warn!(what, error = chain(&error), "a part of a response could not be read"),
        Err(_) => tracing::warn!(what, "a part of a response was not read within 1 s"),
    }
    metrics::add(Metric::Degraded, 1);
    None
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

/// Where that is read which is shown with links.
#[derive(Debug, Clone, Copy)]
pub struct LinkTables<'a> {
    /// The repository of links, for their uses.
    pub links: &'a LinksTable,
    /// The repository of statistics, for their clicks.
    pub stats: &'a StatsTable,
    /// The repository of people's names, for those of their creators.
    pub people: &'a Names,
}

impl LinkTables<'_> {
    /// What is shown with these links of one workspace, up to 100.
    pub async fn surroundings(self, links: &[Link]) -> Surroundings {
        let (clicks, names, uses) = tokio::join!(
            click_counts(self.stats, links),
            creator_names(self.people, links),
            link_uses(self.links, links)
        );
        Surroundings { clicks, names, uses }
    }
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
    /// The target that the link watches; `None` if it watches none, or not any more.
    target_id: Option<TargetId>,
    created_at: Timestamp,
    updated_at: Timestamp,
    valid_from: Option<Timestamp>,
    exhausted_at: Option<Timestamp>,
    is_protected: bool,
    expires_at: Option<Timestamp>,
    is_active: bool,
    /// Whether it leads to its destination, at the time of the request.
    status: &'static str,
    /// Why it is suspended; empty if it isn't.
    suspended_for: Vec<SuspensionReason>,
    fallback_url: Option<TargetUrl>,
    max_clicks: Option<ClickLimit>,
    /// How often the link was used; `None` where there is no limit.
    used: Option<u32>,
    forward_query: bool,
    preview: Option<Preview>,
    has_rules: bool,
    total_clicks: Option<u64>,
    /// How often it was clicked where it was imported from; `None` if it wasn't imported.
    imported_clicks: Option<u64>,
    created_by: UserId,
    created_by_name: Option<FullName>,
}

impl LinkView {
    /// The representation of a link at the time of the request.
    pub fn new(request: &Request, short_urls: &ShortUrls, link: Link, around: &Surroundings) -> Self {
        let Surroundings { clicks, names, uses } = around;
        let uses = uses.as_ref().filter(|_| link.options.max_clicks.is_some());
        let used = uses.map(|uses| uses.get(link.id()).map_or(0, |uses| uses.used));
        Self {
            short_url: short_urls.of(request, link.code()),
            target_id: target_of(request, &link),
            valid_from: link.availability.valid_from,
            exhausted_at: link.availability.exhausted_at,
            is_protected: link.availability.is_protected,
            expires_at: link.availability.expires_at,
            is_active: link.availability.state == LinkState::Active,
            status: link.availability.status(request.received_at).into(),
            suspended_for: link.availability.suspensions.iter().collect(),
            total_clicks: clicks.as_ref().map(|clicks| clicks.get(link.id()).map_or(0, |clicks| clicks.total)),
            imported_clicks: link.imported_clicks,
            fallback_url: link.options.fallback_url,
            max_clicks: link.options.max_clicks,
            used,
            forward_query: link.options.forward_query,
            preview: link.options.preview,
            has_rules: link.routing.is_some(),
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

/// The target that is checked for a link at the time of the request. That of an expired or suspended link isn't checked for it.
fn target_of(request: &Request, link: &Link) -> Option<TargetId> {
    let status = link.availability.status(request.received_at);
    link.watched_target().filter(|_| !matches!(status, LinkStatus::Expired | LinkStatus::Suspended))
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
            return Self::without_result(TargetStatus::Pending.into());
        };
        let view = Self::without_result(status.into());
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
    /// Makes the response for a link, with its clicks, its uses and its creator's name if these can be read within 1 s.
    pub async fn load(request: &Request, short_urls: &ShortUrls, tables: LinkTables<'_>, link: Link) -> Self {
        let around = tables.surroundings(std::slice::from_ref(&link)).await;
        Self::among(request, short_urls, &around, link)
    }

    /// The response for one of several links whose surroundings were read together.
    pub fn among(request: &Request, short_urls: &ShortUrls, around: &Surroundings, link: Link) -> Self {
        Self { degraded: around.degraded(), link: LinkView::new(request, short_urls, link, around), health: None }
    }

    /// Like [`Self::load`], and concurrently reads the health of the target that the link watches.
    pub async fn load_with_health(
        request: &Request,
        short_urls: &ShortUrls,
        tables: LinkTables<'_>,
        targets: &WatchTable,
        link: Link,
    ) -> Self {
        let Some(target) = target_of(request, &link) else {
            return Self::load(request, short_urls, tables, link).await;
        };
        let health = within_budget(HEALTH, targets.health(&target, request.received_at));
        let (answer, health) = tokio::join!(Self::load(request, short_urls, tables, link), health);
        answer.with_health(health)
    }

    fn with_health(mut self, health: Option<Option<Health>>) -> Self {
        self.degraded.extend(health.is_none().then_some(HEALTH));
        self.health = Some(health.map_or_else(|| HealthView::without_result("unknown"), HealthView::of));
        self
    }
}
