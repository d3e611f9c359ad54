//! How many more API keys, invitations and shares a workspace may have, and how many more workspaces a person may be in. It is exact.
//!
//! The item of a workspace counts the keys, the invitations and the shares that were ever made there, and that of a person's address how
//! often they have joined a workspace. Whoever makes one more reads that number, and only then counts those that there are. The write
//! adds one to the number, on the condition that no more were made meanwhile than there was room for. Since only those count that are
//! there, what is revoked, withdrawn, ended or deleted by its TTL makes room by itself. Below the limit, writers at the same moment may
//! have to try again, and nobody is refused.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{UserId, WorkspaceId};
use serde::Deserialize;

use super::UsersTable;
use super::item::{AddressItem, address_key, workspace_key};
use crate::{Result, item::number, write::ACTION};

pub(super) const KEYS_MADE: &str = "keys_made";
pub(super) const INVITATIONS_MADE: &str = "invitations_made";
pub(super) const SHARES_MADE: &str = "shares_made";

/// How many were ever made in a workspace.
#[derive(Debug, Deserialize)]
pub(super) struct Made {
    #[serde(default)]
    pub keys_made: u64,
    #[serde(default)]
    pub invitations_made: u64,
    #[serde(default)]
    pub shares_made: u64,
}

/// How many may have been made by the time of a write that makes one more, if `made` were before those were counted that there are;
/// `None` if there is no room.
pub(super) fn most_made(made: u64, there_are: usize, most: usize) -> Option<u64> {
    let room = most.checked_sub(there_are)?.checked_sub(1)?;
    made.checked_add(u64::try_from(room).ok()?)
}

impl UsersTable {
    /// How many were ever made in a workspace; `None` if there is no such workspace.
    pub(super) async fn made_in(&self, workspace: &WorkspaceId) -> Result<Option<Made>> {
        self.0.get("read what was made in a workspace", workspace_key(workspace)).await
    }

    /// The action that counts one more by this attribute, unless more than so many were made.
    pub(super) fn one_more_made(
        &self,
        workspace: &WorkspaceId,
        attribute: &str,
        most_made: u64,
    ) -> Result<TransactWriteItem> {
        let has_room = format!("attribute_exists(pk) AND (attribute_not_exists({attribute}) OR {attribute} <= :most)");
        let update = self.0.update(ACTION, workspace_key(workspace), format!("ADD {attribute} :one"));
        update.only_if(has_room).values([(":one", number(&1)), (":most", number(&most_made))]).action()
    }

    /// How often somebody has joined a workspace.
    pub(super) async fn joinings(&self, user: &UserId) -> Result<u64> {
        let found = self.0.get::<AddressItem>("count joined workspaces", address_key(user)).await?;
        Ok(found.map_or(0, |address| address.joinings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_more_is_made_only_while_fewer_were_made_than_fit() {
        assert_eq!(most_made(500, 97, 100), Some(502));
        assert_eq!(most_made(0, 99, 100), Some(0));
        assert_eq!([most_made(500, 100, 100), most_made(500, 117, 100)], [None, None]);
    }
}
