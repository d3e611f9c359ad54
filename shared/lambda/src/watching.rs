//! What may be monitored, and whether there is room for what a link is to watch.

use linklet_domain::{CanonicalUrl, Host, Reach, TargetId, TargetUrl, Timestamp, UserId, WorkspaceId};
use linklet_dynamodb::{ListedTarget, RepositoryError, TargetQuota, WatchTable, Workspaces};
use serde::Serialize;

use crate::config::{self, ConfigError};
use crate::http::{Problem, Result};
use crate::link_view::within_budget;

/// A target as lists show it.
#[derive(Debug, Serialize)]
pub struct TargetView {
    id: TargetId,
    url: TargetUrl,
    canonical_url: CanonicalUrl,
    host: Host,
    created_at: Timestamp,
}

impl From<ListedTarget> for TargetView {
    fn from(target: ListedTarget) -> Self {
        let ListedTarget { id, url, canonical_url, created_at } = target;
        Self { id, url, host: canonical_url.host(), canonical_url, created_at }
    }
}

/// Reads how many targets there may be from the environment.
///
/// # Errors
/// When a variable is missing or isn't a number.
pub fn quota_from_env() -> Result<TargetQuota, ConfigError> {
    Ok(TargetQuota {
        per_workspace: config::parsed("TARGETS_PER_WORKSPACE")?,
        per_creator: config::parsed("TARGETS_PER_CREATOR")?,
    })
}

/// The environment variable that allows connections to loopback addresses. The template doesn't set it.
const ALLOW_LOOPBACK: &str = "WATCH_ALLOW_LOOPBACK";

/// The only value of [`ALLOW_LOOPBACK`] that has an effect. It is long, so that nobody sets it by mistake.
const YES: &str = "yes-for-tests";

/// Reads from the environment what checks reach: [`Reach::Public`], or with `WATCH_ALLOW_LOOPBACK=yes-for-tests`
/// [`Reach::PublicAndLoopback`], which is logged as a warning.
///
/// # Errors
/// When the variable has another value.
pub fn reach_from_env() -> Result<Reach, ConfigError> {
    let reach = reach_of(config::optional(ALLOW_LOOPBACK).as_deref())?;
    if reach != Reach::Public {
        tracing::warn!(
            variable = ALLOW_LOOPBACK,
            "loopback addresses may be monitored; never set this outside of tests"
        );
    }
    Ok(reach)
}

fn reach_of(value: Option<&str>) -> Result<Reach, ConfigError> {
    match value {
        None => Ok(Reach::Public),
        Some(YES) => Ok(Reach::PublicAndLoopback),
        Some(_) => Err(ConfigError::Invalid { name: ALLOW_LOOPBACK, reason: format!("must be {YES} or empty") }),
    }
}

/// Knows what links may watch, and how much room there is for targets.
pub struct TargetRoom {
    /// The repository of targets, with their quota.
    pub targets: WatchTable,
    /// Knows who created a workspace.
    pub users: Workspaces,
    /// What checks reach.
    pub reach: Reach,
}

impl TargetRoom {
    /// Refuses a link of this person whose URL would be a target too many. If that can't be read in time, nothing is refused, and
    /// watch-links decides alone, as it does about links that are created or extended at once.
    ///
    /// # Errors
    /// When as many URLs are monitored as may be, and this is none of them.
    pub async fn require(&self, workspace: &WorkspaceId, user: &UserId, target: &TargetId) -> Result<()> {
        match within_budget("quota", self.has_room(workspace, user, target)).await {
            Some(false) => Err(Problem::TargetQuotaReached.into()),
            Some(true) | None => Ok(()),
        }
    }

    async fn has_room(&self, workspace: &WorkspaceId, user: &UserId, id: &TargetId) -> Result<bool, RepositoryError> {
        let creator = self.users.creator(workspace).await?.unwrap_or(*user);
        self.targets.has_room(workspace, &creator, id).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_words_allow_loopback() {
        assert_eq!(reach_of(None).unwrap(), Reach::Public);
        assert_eq!(reach_of(Some("yes-for-tests")).unwrap(), Reach::PublicAndLoopback);
        for other in ["yes", "true", "1", "no", "YES-FOR-TESTS"] {
            let error = reach_of(Some(other)).unwrap_err().to_string();
            assert_eq!(
                error,
                "the environment variable WATCH_ALLOW_LOOPBACK is invalid: must be yes-for-tests or empty"
            );
        }
    }
}
