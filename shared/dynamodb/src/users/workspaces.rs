//! What those read of workspaces and memberships who change none.

use aws_sdk_dynamodb::Client;
use linklet_domain::{Membership, UserId, Workspace, WorkspaceId};

use super::item::{MEMBER_PREFIX, MemberItem, WorkspaceItem, access_partition, workspace_key};
use crate::{
    RepositoryError,
    item::{SortKeys, Table},
};

/// The repository for reading workspaces and memberships: UsersTable, without the right to change it.
#[derive(Debug, Clone)]
pub struct Workspaces(Table);

impl Workspaces {
    /// A repository for the table with this name.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self(Table { client, name: name.into() })
    }

    /// Reads a workspace with a strongly consistent read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn workspace(&self, id: &WorkspaceId) -> Result<Option<Workspace>, RepositoryError> {
        self.0.workspace(id).await
    }

    /// Who founded a workspace, which never changes; `None` if there is no such workspace.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn founder(&self, id: &WorkspaceId) -> Result<Option<UserId>, RepositoryError> {
        Ok(self.workspace(id).await?.map(|workspace| workspace.founded_by))
    }

    /// Reads a person's memberships, in the order in which they joined.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn memberships(&self, user: &UserId) -> Result<Vec<Membership>, RepositoryError> {
        self.0.memberships(user).await
    }
}

impl Table {
    pub(super) async fn workspace(&self, id: &WorkspaceId) -> Result<Option<Workspace>, RepositoryError> {
        Ok(self.get::<WorkspaceItem>("find a workspace", workspace_key(id)).await?.map(Workspace::from))
    }

    pub(super) async fn memberships(&self, user: &UserId) -> Result<Vec<Membership>, RepositoryError> {
        let (partition, prefix) = (access_partition(user), SortKeys::Beginning(MEMBER_PREFIX));
        let items = self.list::<MemberItem>("list memberships", &partition, prefix).await?;
        let mut memberships: Vec<_> = items.into_iter().map(Membership::from).collect();
        memberships.sort_by_key(|membership| membership.joined_at);
        Ok(memberships)
    }
}
