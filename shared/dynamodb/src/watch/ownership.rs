//! Targets of one person, to hand them over.

use linklet_domain::{PageToken, Target, TargetId, Timestamp, UserId, WorkspaceId};
use serde::Deserialize;

use super::WatchTable;
use super::item::{TargetItem, target_key};
use crate::Result;
use crate::item::{from_item, text};

/// Some of the targets of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedTargets {
    /// Their ids.
    pub ids: Vec<TargetId>,
    /// After which target to read on; `None` at the end.
    pub rest: Option<PageToken>,
}

/// The attributes of a target that say whose it is; the sort key is its id.
#[derive(Debug, Deserialize)]
struct OwnedItem {
    #[serde(rename = "sk")]
    id: TargetId,
    user_id: UserId,
    created_at: Timestamp,
}

impl WatchTable {
    /// How many targets of a workspace one read looks at: as many as one BatchGetItem reads.
    const LOOKED_AT: usize = 100;

    /// The targets that a person owns in a workspace and that were created until a time, among the next 100 of the workspace,
    /// oldest first. They are found by an index, which is some moments behind.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn owned(
        &self,
        workspace: &WorkspaceId,
        owner: &UserId,
        created_until: Timestamp,
        after: Option<&PageToken>,
    ) -> Result<OwnedTargets> {
        const OPERATION: &str = "read the targets of a person";
        let page = self.list(workspace, None, Self::LOOKED_AT, after).await?;
        let keys = page.items.iter().map(|target| target_key(&target.id)).collect();
        let mut ids = Vec::new();
        for item in self.table.batch_get(OPERATION, keys, true, Some("sk, user_id, created_at")).await? {
            let OwnedItem { id, user_id, created_at } = from_item(OPERATION, item)?;
            if user_id == *owner && created_at <= created_until {
                ids.push(id);
            }
        }
        Ok(OwnedTargets { ids, rest: page.next })
    }

    /// Reads these targets, in no order. One that has gone since it was found is left out.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn with_ids(&self, ids: &[TargetId]) -> Result<Vec<Target>> {
        const OPERATION: &str = "read targets";
        let items = self.table.batch_get(OPERATION, ids.iter().map(target_key).collect(), false, None).await?;
        items.into_iter().map(|item| from_item::<TargetItem>(OPERATION, item).map(|item| item.target)).collect()
    }

    /// Makes a target another member's, who gets its notifications from now on, if it still is the owner's.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn hand_over(&self, id: &TargetId, owner: &UserId, heir: &UserId) -> Result<()> {
        let update = self.table.update("hand over a target", target_key(id), "SET user_id = :heir");
        let update = update.only_if("user_id = :owner").values([(":owner", text(owner)), (":heir", text(heir))]);
        update.unless_refused().await.map(|_| ())
    }
}
