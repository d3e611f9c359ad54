//! What those read of workspaces and memberships who change none.

use linklet_domain::{Backing, Job, Member, Membership, Timestamp, UserId, Workspace, WorkspaceId};

use super::item::{
    AddressItem, KeyItem, MEMBER_PREFIX, MemberItem, WorkspaceItem, WorkspaceMemberItem, access_partition, address_key,
    member_key, workspace_api_key_key, workspace_key, workspace_partition,
};
use crate::item::{SortKeys, Table, from_found};
use crate::{Consistency, Result};

/// The repository for reading workspaces and memberships: UsersTable, without the right to change it.
#[derive(Debug, Clone)]
pub struct Workspaces(pub Table);

impl Workspaces {
    /// Reads a workspace with a strongly consistent read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn workspace(&self, id: &WorkspaceId) -> Result<Option<Workspace>> {
        self.0.workspace(id).await
    }

    /// Lists the members of a workspace in the order in which they joined.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn members(&self, id: &WorkspaceId) -> Result<Vec<Member>> {
        self.0.members(id).await
    }

    /// Who created a workspace, which never changes; `None` if there is no such workspace.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn creator(&self, id: &WorkspaceId) -> Result<Option<UserId>> {
        Ok(self.workspace(id).await?.map(|workspace| workspace.creator))
    }

    /// What stands behind a job at this moment.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn backing(&self, job: &Job, now: Timestamp) -> Result<Backing> {
        const OPERATION: &str = "look up what stands behind a job";
        let (member, address) = (member_key(&job.created_by, &job.workspace), address_key(&job.created_by));
        let api_key = job.created_with.as_ref().map(|prefix| workspace_api_key_key(&job.workspace, prefix));
        let keys = [Some(member), Some(address), api_key];
        let [member, address, api_key] = self.0.get_each(OPERATION, keys, Consistency::Strong).await?;
        let member = from_found(OPERATION, member)?.filter(|item: &MemberItem| item.value.is_active());
        Ok(Backing {
            role: member.map(|item| item.value.role),
            has_valid_key: from_found(OPERATION, api_key)?.is_some_and(|row: KeyItem| row.value.is_valid_at(now)),
            reclaimed_at: from_found(OPERATION, address)?.and_then(|item: AddressItem| item.reclaimed_at),
        })
    }
}

impl Table {
    pub(super) async fn workspace(&self, id: &WorkspaceId) -> Result<Option<Workspace>> {
        Ok(self.get::<WorkspaceItem>("find a workspace", workspace_key(id)).await?.map(|item| item.workspace))
    }

    pub(super) async fn members(&self, workspace: &WorkspaceId) -> Result<Vec<Member>> {
        let (partition, prefix) = (workspace_partition(workspace), SortKeys::Beginning(MEMBER_PREFIX));
        let items = self.list::<WorkspaceMemberItem>("list members", &partition, prefix).await?;
        let mut members: Vec<_> = items.into_iter().map(|item| item.member).collect();
        members.sort_by(|one, other| (one.joined_at, &one.user).cmp(&(other.joined_at, &other.user)));
        Ok(members)
    }

    pub(super) async fn memberships(&self, user: &UserId) -> Result<Vec<Membership>> {
        let (partition, prefix) = (access_partition(user), SortKeys::Beginning(MEMBER_PREFIX));
        let items = self.list::<MemberItem>("list memberships", &partition, prefix).await?;
        let mut memberships: Vec<_> = items.into_iter().map(|item| item.value).collect();
        memberships.sort_by_key(|membership| membership.joined_at);
        Ok(memberships)
    }
}
