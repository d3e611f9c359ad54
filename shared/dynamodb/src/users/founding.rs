//! Founding workspaces, and listing those of a person.

use linklet_domain::{
    Account, Member, Membership, Role, Timestamp, UserId, Workspace, WorkspaceId, WorkspaceName, WorkspaceSettings,
    WorkspaceSlug,
};

use super::{
    UsersTable,
    item::{MemberItem, SlugItem, WorkspaceItem, WorkspaceMemberItem, slug_key, workspace_key},
};
use crate::{
    RepositoryError,
    item::from_item,
    transaction::{Sent, Transaction},
};

/// A new workspace, whose founder is its only member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWorkspace {
    /// The workspace.
    pub id: WorkspaceId,
    /// Its name.
    pub name: WorkspaceName,
    /// Its slug.
    pub slug: WorkspaceSlug,
    /// Its founder, who is an admin.
    pub founder: Member,
}

impl NewWorkspace {
    /// A workspace of this account, with a slug that is derived from its name and id.
    #[must_use]
    pub fn of(account: &Account, id: WorkspaceId, name: WorkspaceName, at: Timestamp) -> Self {
        let slug = WorkspaceSlug::derive(name.as_str(), &id);
        Self { id, name, slug, founder: Member::of(account, Role::Admin, at) }
    }

    /// The workspace as it is stored first.
    #[must_use]
    pub fn workspace(&self) -> Workspace {
        let (settings, created_at) = (WorkspaceSettings::default(), self.founder.joined_at);
        let (id, name, slug) = (self.id.clone(), self.name.clone(), self.slug.clone());
        Workspace {
            id,
            name,
            slug,
            settings,
            founded_by: self.founder.user.clone(),
            created_at,
            updated_at: created_at,
        }
    }

    /// The founder's membership.
    #[must_use]
    pub fn membership(&self) -> Membership {
        let Member { role, joined_at, .. } = self.founder;
        Membership::new(self.id.clone(), role, joined_at)
    }
}

/// The outcome of founding a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundOutcome {
    /// The workspace is created.
    Founded,
    /// The id or the slug is taken; retry with others.
    Taken,
}

impl UsersTable {
    /// Creates a workspace with its slug and its founder's membership in one transaction.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn found_workspace(&self, workspace: &NewWorkspace) -> Result<FoundOutcome, RepositoryError> {
        const OPERATION: &str = "found a workspace";
        let transaction = self.and_workspace(Transaction::new(OPERATION), OPERATION, workspace, (), ())?;
        Ok(match transaction.send(&self.0.client).await? {
            Sent::Committed => FoundOutcome::Founded,
            Sent::Refused(()) | Sent::InConflict => FoundOutcome::Taken,
        })
    }

    /// Adds the items of a new workspace to a transaction.
    pub(super) fn and_workspace<T: Copy>(
        &self,
        transaction: Transaction<T>,
        operation: &'static str,
        workspace: &NewWorkspace,
        slug_taken: T,
        id_taken: T,
    ) -> Result<Transaction<T>, RepositoryError> {
        let NewWorkspace { id, slug, founder, .. } = workspace;
        let slug_item = SlugItem { key: slug_key(slug), workspace_id: id.clone() };
        let workspace_item = WorkspaceItem::new(&workspace.workspace());
        let membership = MemberItem::new(&founder.user, &workspace.membership());
        Ok(transaction
            .and(self.0.put_new(operation, &slug_item)?, slug_taken)
            .and(self.0.put_new(operation, &workspace_item)?, id_taken)
            .and(self.0.put_new(operation, &membership)?, id_taken)
            .and(self.0.put_new(operation, &WorkspaceMemberItem::new(id, founder))?, id_taken))
    }

    /// The workspaces of a person with their memberships, in the order in which the person joined.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn workspaces_of(&self, user: &UserId) -> Result<Vec<(Membership, Workspace)>, RepositoryError> {
        const OPERATION: &str = "list a person's workspaces";
        /// As many as one BatchGetItem reads.
        const BATCH: usize = 100;
        let memberships = self.memberships(user).await?;
        let mut workspaces = Vec::with_capacity(memberships.len());
        for some in memberships.chunks(BATCH) {
            let keys = some.iter().map(|membership| workspace_key(&membership.workspace)).collect();
            for item in self.0.batch_get(OPERATION, keys, true, None).await? {
                workspaces.push(Workspace::from(from_item::<WorkspaceItem>(OPERATION, item)?));
            }
        }
        let with_workspace = |membership: Membership| {
            let workspace = workspaces.iter().find(|workspace| workspace.id == membership.workspace).cloned();
            workspace.map(|workspace| (membership, workspace))
        };
        Ok(memberships.into_iter().filter_map(with_workspace).collect())
    }
}
