//! Creating workspaces, and listing those of a person.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{
    Account, AuditAction, AuditContext, AuditSubject, Destinations, IdempotencyKey, Member, Membership, Revision, Role,
    Timestamp, UserId, Workspace, WorkspaceId, WorkspaceName, WorkspaceSettings, WorkspaceSlug,
};

use super::UsersTable;
use super::item::{
    MemberItem, PublicItem, SlugItem, WorkspaceItem, WorkspaceMemberItem, creation_key, slug_key, workspace_key,
};
use super::room::most_made;
use crate::item::from_item;
use crate::transaction::{Transaction, TransactionOutcome, retry_on_conflict};
use crate::{CreationAnswer, KeptAnswer, Result};

const CREATE: &str = "create a workspace";

/// A new workspace, whose creator is its only member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWorkspace {
    /// The workspace.
    pub id: WorkspaceId,
    /// Its name.
    pub name: WorkspaceName,
    /// Its slug.
    pub slug: WorkspaceSlug,
    /// Its creator, who is an admin.
    pub creator: Member,
}

impl NewWorkspace {
    /// A workspace of this account, with a slug that is derived from its name and id.
    pub fn of(account: &Account, id: WorkspaceId, name: WorkspaceName, at: Timestamp) -> Self {
        let slug = WorkspaceSlug::derive(name.as_str(), &id);
        Self { id, name, slug, creator: Member::of(account, Role::Admin, at) }
    }

    /// The workspace as it is stored first.
    pub fn workspace(&self) -> Workspace {
        let (settings, created_at) = (WorkspaceSettings::default(), self.creator.joined_at);
        let (id, name, slug) = (self.id, self.name.clone(), self.slug.clone());
        Workspace {
            id,
            name,
            slug,
            settings,
            destinations: Destinations::default(),
            statistics: None,
            color: None,
            contact: None,
            logo: None,
            creator: self.creator.user,
            created_at,
            updated_at: created_at,
            revision: Revision::FIRST,
            closure: None,
        }
    }

    /// The creator's membership.
    pub fn membership(&self) -> Membership {
        let Member { role, joined_at, .. } = self.creator;
        Membership::new(self.id, role, joined_at)
    }
}

/// The outcome of creating a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateWorkspaceOutcome {
    /// The workspace is created.
    Created,
    /// The id or the slug is taken; retry with others.
    Taken,
    /// Another request with the same idempotency key was faster; its answer is the answer.
    IdempotencyKeyTaken,
    /// The creator has another name or address by now; a retry may succeed.
    AccountChanged,
    /// The creator is in as many workspaces as one may be.
    TooMany,
}

impl UsersTable {
    /// Creates a workspace with its slug and its creator's membership in one transaction, if the creator has room for it,
    /// and stores what the creator is answered if their request has an idempotency key.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn create_workspace(
        &self,
        workspace: &NewWorkspace,
        answer: KeptAnswer<'_>,
        origin: &AuditContext,
    ) -> Result<CreateWorkspaceOutcome> {
        let Member { user, joined_at: now, .. } = &workspace.creator;
        retry_on_conflict(CREATE, async || {
            let joinings = self.joinings(user).await?;
            let memberships = self.memberships(user).await?.len();
            let Some(most_joinings) = most_made(joinings, memberships, Membership::MOST) else {
                return Ok(Some(CreateWorkspaceOutcome::TooMany));
            };
            let kept = self.keep_answer(user, answer, *now)?;
            let transaction = Transaction::new(CREATE).and_each(kept, CreateWorkspaceOutcome::IdempotencyKeyTaken);
            let transaction = self
                .and_workspace(
                    transaction,
                    workspace,
                    CreateWorkspaceOutcome::Taken,
                    CreateWorkspaceOutcome::Taken,
                    origin,
                )?
                .and(self.joining(&workspace.creator, None, most_joinings)?, CreateWorkspaceOutcome::AccountChanged);
            Ok(match transaction.send(&self.0.client).await? {
                TransactionOutcome::Committed => Some(CreateWorkspaceOutcome::Created),
                TransactionOutcome::Refused(CreateWorkspaceOutcome::AccountChanged)
                    if self.joinings(user).await? != joinings =>
                {
                    None
                }
                TransactionOutcome::Refused(outcome) => Some(outcome),
                TransactionOutcome::InConflict => None,
            })
        })
        .await
    }

    /// What a request of a person with this key was answered in the last 24 hours.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn creation_answer(
        &self,
        user: &UserId,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<CreationAnswer>> {
        self.0.kept_answer(creation_key(user, key), now).await
    }

    /// The action that keeps what a person is answered, if their request has an idempotency key. It is a transaction's first, so that of
    /// a repeated request it is the key that is refused, whatever else is.
    pub(super) fn keep_answer(
        &self,
        user: &UserId,
        answer: KeptAnswer<'_>,
        now: Timestamp,
    ) -> Result<Option<TransactWriteItem>> {
        answer.map(|(key, answer)| self.0.keep_answer(creation_key(user, key), answer, now)).transpose()
    }

    /// Adds the items of a new workspace to a transaction.
    pub(super) fn and_workspace<T: Copy>(
        &self,
        transaction: Transaction<T>,
        workspace: &NewWorkspace,
        slug_taken: T,
        id_taken: T,
        origin: &AuditContext,
    ) -> Result<Transaction<T>> {
        let NewWorkspace { id, slug, creator, .. } = workspace;
        let slug_item = SlugItem { key: slug_key(slug), workspace_id: *id };
        let stored = workspace.workspace();
        let workspace_item = WorkspaceItem::new(&stored);
        let membership = MemberItem::new(&creator.user, &workspace.membership());
        let created = origin.in_workspace(id, AuditAction::WorkspaceCreated, AuditSubject::Workspace(*id));
        Ok(transaction
            .and(self.0.put_new(&slug_item)?, slug_taken)
            .and(self.0.put_new(&workspace_item)?, id_taken)
            .and(self.0.put_new(&PublicItem::of(&stored))?, id_taken)
            .and(self.0.put_new(&membership)?, id_taken)
            .and(self.0.put_new(&WorkspaceMemberItem::new(id, creator))?, id_taken)
            .and(self.entry(&created)?, id_taken))
    }

    /// The workspaces of a person with their memberships, in the order in which the person joined.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn workspaces_of(&self, user: &UserId) -> Result<Vec<(Membership, Workspace)>> {
        const OPERATION: &str = "list a person's workspaces";
        let memberships = self.memberships(user).await?;
        let keys = memberships.iter().map(|membership| workspace_key(&membership.workspace)).collect();
        let mut workspaces = Vec::with_capacity(memberships.len());
        for item in self.0.batch_get(OPERATION, keys, true, None).await? {
            workspaces.push(from_item::<WorkspaceItem>(OPERATION, item)?.workspace);
        }
        let with_workspace = |membership: Membership| {
            let workspace = workspaces.iter().find(|workspace| workspace.id == membership.workspace).cloned();
            workspace.map(|workspace| (membership, workspace))
        };
        Ok(memberships.into_iter().filter_map(with_workspace).collect())
    }
}
