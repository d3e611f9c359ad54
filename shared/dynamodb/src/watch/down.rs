//! Which of a workspace's targets are down. No index knows, since a change of status would have to write to it.

use linklet_domain::{DownTarget, TargetId, TargetStatus, TargetUrl, Timestamp, WorkspaceId};
use serde::Deserialize;

use super::{WatchTable, item::target_key};
use crate::{Result, item::from_item};

/// What is read of a target.
#[derive(Debug, Deserialize)]
struct StatusItem {
    target_id: TargetId,
    url: TargetUrl,
    status: TargetStatus,
    status_since: Timestamp,
}

/// The targets that are down among those that were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DownTargets {
    /// Those that are down.
    pub targets: Vec<DownTarget>,
    /// Whether all of the workspace's targets were read.
    pub is_complete: bool,
}

impl WatchTable {
    /// How many targets are looked at, oldest first: five times the default quota, for 250 read units.
    const JUDGED: usize = 500;

    /// Looks which targets of a workspace are down, by eventually consistent reads of up to 500.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn down(&self, workspace: &WorkspaceId) -> Result<DownTargets> {
        const OPERATION: &str = "look which targets are down";
        let page = self.list(workspace, None, Self::JUDGED, None).await?;
        let keys = page.items.iter().map(|target| target_key(&target.id)).collect();
        let mut targets = Vec::new();
        for item in self.table.batch_get(OPERATION, keys, false, None).await? {
            let StatusItem { target_id, url, status, status_since } = from_item(OPERATION, item)?;
            let is_down = status == TargetStatus::Down;
            targets.extend(is_down.then_some(DownTarget { id: target_id, url, since: status_since }));
        }
        Ok(DownTargets { targets, is_complete: page.next.is_none() })
    }
}
