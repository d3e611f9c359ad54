//! The quotas of targets: how many a workspace may have, and all workspaces together that one person has created.
//!
//! Both are counted in items, which change in the transactions that create and delete targets. So the quotas hold exactly, also if
//! many requests come at once.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{Target, TargetId, UserId, WorkspaceId};

use super::WatchTable;
use super::item::{CountItem, count_key, creator_count_key};
use crate::Result;
use crate::item::{Key, number};
use crate::write::{ACTION, Write};

/// How many targets there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetQuota {
    /// Of one workspace.
    pub per_workspace: u32,
    /// Of all workspaces that one person has created.
    pub per_creator: u32,
}

impl WatchTable {
    /// Whether a link of a workspace, which this person has created, can watch a target: because the target exists, or because
    /// there may be one more.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn has_room(&self, workspace: &WorkspaceId, creator: &UserId, id: &TargetId) -> Result<bool> {
        let Some(TargetQuota { per_workspace, per_creator }) = self.quota else { return Ok(true) };
        let (of_workspace, of_creator) =
            tokio::try_join!(self.count(count_key(workspace)), self.count(creator_count_key(creator)))?;
        let has_room = of_workspace < u64::from(per_workspace) && of_creator < u64::from(per_creator);
        Ok(has_room || self.find(id).await?.is_some())
    }

    /// Deletes the count of the targets of a person who has created no workspace that is there still.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn forget_creator(&self, creator: &UserId) -> Result<()> {
        let delete = self.table.delete("forget how many targets a creator has", creator_count_key(creator));
        delete.only_if("targets <= :none").value(":none", number(&0)).unless_refused().await.map(|_| ())
    }

    async fn count(&self, key: Key) -> Result<u64> {
        let count = self.table.get::<CountItem>("look for room for a target", key).await?;
        Ok(count.map_or(0, |count| count.targets))
    }

    /// The actions that count a new target. The condition of one fails if there are as many as there may be.
    pub(super) fn count_in(&self, target: &Target) -> Result<Vec<TransactWriteItem>> {
        let [of_workspace, of_creator] = self.count_updates(target, 1);
        let Some(TargetQuota { per_workspace, per_creator }) = self.quota else {
            return Ok(vec![of_workspace.action()?, of_creator.action()?]);
        };
        Ok(vec![up_to(of_workspace, per_workspace).action()?, up_to(of_creator, per_creator).action()?])
    }

    /// The actions that stop counting a deleted target.
    pub(super) fn count_out(&self, target: &Target) -> Result<Vec<TransactWriteItem>> {
        self.count_updates(target, -1).into_iter().map(Write::action).collect()
    }

    fn count_updates(&self, target: &Target, change: i8) -> [Write<'_>; 2] {
        [count_key(&target.workspace), creator_count_key(&target.workspace_creator)]
            .map(|key| self.table.update(ACTION, key, "ADD targets :change").value(":change", number(&change)))
    }
}

fn up_to(update: Write<'_>, quota: u32) -> Write<'_> {
    // Without an item there is no target yet, and a quota of 0 leaves no room for the first.
    let has_room = if quota == 0 { "targets < :quota" } else { "attribute_not_exists(targets) OR targets < :quota" };
    update.only_if(has_room).value(":quota", number(&quota))
}
