//! Room for what a link is to watch.

use linklet_domain::{TargetId, WorkspaceId};
use linklet_dynamodb::WatchTable;

use crate::{
    http::{ApiError, Problem},
    link_view::within_budget,
};

/// Refuses a link whose URL would be a target too many. If that can't be read in time, nothing is refused, and watch-links
/// decides alone, as it does about links that are created or extended at once.
///
/// # Errors
/// When the workspace monitors as many URLs as it may, and this is none of them.
pub async fn require_room(targets: &WatchTable, workspace: &WorkspaceId, target: &TargetId) -> Result<(), ApiError> {
    match within_budget("quota", targets.has_room(workspace, target)).await {
        Some(false) => Err(Problem::TargetQuotaReached.into()),
        Some(true) | None => Ok(()),
    }
}
