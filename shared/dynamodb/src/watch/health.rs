//! How targets are: their status and their latest results, which no list has.

use std::collections::HashMap;

use linklet_domain::{CheckResult, Target, TargetId, TargetMark, TargetStatus, Timestamp, WorkspaceId};

use super::item::{TargetItem, target_key};
use super::{ListedTarget, WatchTable};
use crate::{Result, item::from_item};

/// The health of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// The target's status.
    pub status: TargetStatus,
    /// Since when it has the status.
    pub status_since: Timestamp,
    /// The latest result; `None` before the first check.
    pub latest: Option<CheckResult>,
}

impl WatchTable {
    /// Reads the health of a target; `None` if there is no such target.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn health(&self, id: &TargetId, now: Timestamp) -> Result<Option<Health>> {
        let Some(target) = self.find(id).await? else { return Ok(None) };
        let latest = self.latest_results(&target.workspace, &[target.mark()], target.created_at, now).await?;
        Ok(Some(health_of(&target, &latest)))
    }

    /// Reads the health of up to 100 targets of one workspace. Targets that are gone are absent. Results are among the workspace's
    /// latest ones, of which up to 1 MB is read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn healths(
        &self,
        workspace: &WorkspaceId,
        targets: &[ListedTarget],
        now: Timestamp,
    ) -> Result<HashMap<TargetId, Health>> {
        const OPERATION: &str = "read the health of targets";
        let Some(oldest) = targets.iter().map(|target| target.created_at).min() else { return Ok(HashMap::new()) };
        let keys = targets.iter().map(|target| target_key(&target.id)).collect();
        let marks: Vec<_> = targets.iter().map(|target| TargetMark::of(&target.id, target.created_at)).collect();
        let items = self.table.batch_get(OPERATION, keys, false, None);
        let (items, latest) = tokio::try_join!(items, self.latest_results(workspace, &marks, oldest, now))?;
        items
            .into_iter()
            .map(|item| {
                let target = from_item::<TargetItem>(OPERATION, item)?.target;
                let health = health_of(&target, &latest);
                Ok((target.id, health))
            })
            .collect()
    }
}

fn health_of(target: &Target, latest: &HashMap<TargetMark, CheckResult>) -> Health {
    Health { status: target.status, status_since: target.status_since, latest: latest.get(&target.mark()).cloned() }
}
