//! The quota of targets: how many a workspace may have.
//!
//! A workspace's targets are counted in an item, which changes in the transactions that create and delete them. So the quota
//! holds exactly, also if many requests come at once.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{TargetId, WorkspaceId};

use super::{
    WatchTable,
    item::{CountItem, count_key},
};
use crate::{RepositoryError, item::number, write::Write};

impl WatchTable {
    /// Whether a link of the workspace can watch a target: because it exists, or because the workspace may have one more.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn has_room(&self, workspace: &WorkspaceId, id: &TargetId) -> Result<bool, RepositoryError> {
        const LOOK: &str = "look for room for a target";
        let Some(quota) = self.quota else { return Ok(true) };
        let count = self.table.get::<CountItem>(LOOK, count_key(workspace)).await?;
        let targets = count.map_or(0, |count| count.targets);
        Ok(targets < u64::from(quota) || self.find(id).await?.is_some())
    }

    /// The action that counts a new target. Its condition fails if the workspace has as many as it may.
    pub(super) fn count_in(
        &self,
        operation: &'static str,
        workspace: &WorkspaceId,
    ) -> Result<TransactWriteItem, RepositoryError> {
        let update = self.count_update(operation, workspace, 1);
        let Some(quota) = self.quota else { return update.action() };
        // Without an item there is no target yet, and a quota of 0 leaves no room for the first.
        let has_room =
            if quota == 0 { "targets < :quota" } else { "attribute_not_exists(targets) OR targets < :quota" };
        update.only_if(has_room).value(":quota", number(&quota)).action()
    }

    /// The action that stops counting a deleted target.
    pub(super) fn count_out(
        &self,
        operation: &'static str,
        workspace: &WorkspaceId,
    ) -> Result<TransactWriteItem, RepositoryError> {
        self.count_update(operation, workspace, -1).action()
    }

    fn count_update(&self, operation: &'static str, workspace: &WorkspaceId, change: i8) -> Write<'_> {
        let update = self.table.update(operation, count_key(workspace), "ADD targets :change");
        update.value(":change", number(&change))
    }
}
