//! The JSON representation of targets and results in the API.

use std::collections::HashMap;

use linklet_domain::{CheckError, CheckResult, PageToken, Target, TargetId, TargetStatus, Timestamp};
use linklet_dynamodb::{Health, ListedTarget, TargetPage};
use linklet_lambda::watching::TargetView;
use serde::Serialize;

/// A single target, with its status, which lists don't have.
#[derive(Serialize)]
pub(crate) struct OneTarget {
    #[serde(flatten)]
    target: TargetView,
    status: TargetStatus,
    status_since: Timestamp,
}

impl From<Target> for OneTarget {
    fn from(target: Target) -> Self {
        let Target { id, url, canonical_url, created_at, status, status_since, .. } = target;
        Self { target: ListedTarget { id, url, canonical_url, created_at }.into(), status, status_since }
    }
}

/// A page of targets.
#[derive(Serialize)]
pub(crate) struct Targets {
    items: Vec<TargetView>,
    next_page_token: Option<String>,
}

impl From<TargetPage> for Targets {
    fn from(page: TargetPage) -> Self {
        let next_page_token = page.next.as_ref().map(PageToken::encode);
        Self { items: page.items.into_iter().map(TargetView::from).collect(), next_page_token }
    }
}

/// A page of targets with their health.
#[derive(Serialize)]
pub(crate) struct TargetsWithHealth {
    items: Vec<TargetWithHealth>,
    next_page_token: Option<String>,
}

#[derive(Serialize)]
struct TargetWithHealth {
    #[serde(flatten)]
    target: TargetView,
    status: TargetStatus,
    status_since: Timestamp,
    latest: Option<Check>,
}

impl TargetsWithHealth {
    /// Targets that were deleted since they were listed have no health, and are left out.
    pub(crate) fn new(page: TargetPage, mut health: HashMap<TargetId, Health>) -> Self {
        let next_page_token = page.next.as_ref().map(PageToken::encode);
        let with_health = |target: ListedTarget| {
            let Health { status, status_since, latest } = health.remove(&target.id)?;
            Some(TargetWithHealth { target: target.into(), status, status_since, latest: latest.map(Check::from) })
        };
        Self { items: page.items.into_iter().filter_map(with_health).collect(), next_page_token }
    }
}

/// The result of a check.
#[derive(Serialize)]
pub(crate) struct Check {
    checked_at: Timestamp,
    status_code: Option<u16>,
    latency_ms: u64,
    error: Option<CheckError>,
}

impl From<CheckResult> for Check {
    fn from(result: CheckResult) -> Self {
        let CheckResult { checked_at, latency_ms, outcome, .. } = result;
        Self { checked_at, status_code: outcome.status_code(), latency_ms, error: outcome.error() }
    }
}
