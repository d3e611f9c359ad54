//! Room for what a link is to watch.

use linklet_domain::{TargetId, UserId, WorkspaceId};
use linklet_dynamodb::{RepositoryError, TargetQuota, WatchTable, Workspaces};

use crate::{
    config::{self, ConfigError},
    http::{ApiError, Problem},
    link_view::within_budget,
};

/// Reads how many targets there may be from the environment.
///
/// # Errors
/// When a variable is missing or isn't a number.
pub fn quota_from_env() -> Result<TargetQuota, ConfigError> {
    Ok(TargetQuota {
        per_workspace: config::parsed("TARGETS_PER_WORKSPACE")?,
        per_founder: config::parsed("TARGETS_PER_FOUNDER")?,
    })
}

/// Knows how much room there is for targets.
pub struct TargetRoom {
    /// The repository of targets, with their quota.
    pub targets: WatchTable,
    /// Knows who founded a workspace.
    pub users: Workspaces,
}

impl TargetRoom {
    /// Refuses a link of this person whose URL would be a target too many. If that can't be read in time, nothing is refused, and
    /// watch-links decides alone, as it does about links that are created or extended at once.
    ///
    /// # Errors
    /// When as many URLs are monitored as may be, and this is none of them.
    pub async fn require(&self, workspace: &WorkspaceId, user: &UserId, target: &TargetId) -> Result<(), ApiError> {
        match within_budget("quota", self.has_room(workspace, user, target)).await {
            Some(false) => Err(Problem::TargetQuotaReached.into()),
            Some(true) | None => Ok(()),
        }
    }

    async fn has_room(&self, workspace: &WorkspaceId, user: &UserId, id: &TargetId) -> Result<bool, RepositoryError> {
        let founder = self.users.founder(workspace).await?.unwrap_or(*user);
        self.targets.has_room(workspace, &founder, id).await
    }
}
