//! What the job does in UsersTable that closes a workspace, brings it back or purges it.
//!
//! Whether a workspace is closed is in its own item. Memberships and API keys get a mark, so that a request which looks them up reads
//! nothing more. A mark is written once and taken away once, whatever else changes of them.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{Timestamp, UserId, Workspace, WorkspaceId};

use super::UsersTable;
use super::item::{
    KEY_PREFIX, KeyItem, MEMBER_PREFIX, WorkspaceMemberItem, api_key_key, invitations_partition, logo_key, member_key,
    public_key, slug_key, workspace_key, workspace_partition,
};
use crate::item::{Key, SortKeys, text};
use crate::transaction::{Transaction, TransactionOutcome};
use crate::{RepositoryError, Result, back_off};

/// What is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Membership,
    Key,
}

/// What of a transaction was refused.
#[derive(Debug, Clone, Copy)]
enum Refused {
    /// The workspace is otherwise by now.
    Workspace,
    /// A membership or key is gone.
    Row,
}

const MARK: &str = "mark what belongs to a closed workspace";
const PURGE: &str = "purge a workspace";

/// How many memberships or keys are marked at once. Each has two items.
const AT_ONCE: usize = 20;

impl UsersTable {
    /// Whose memberships have no mark yet that they are of a workspace which is closed since this time, or still have one if it is open.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn unmarked_members(&self, workspace: &WorkspaceId, closed_at: Option<Timestamp>) -> Result<Vec<UserId>> {
        let rows = self.unmarked_rows(workspace, closed_at).await?;
        Ok(rows.into_iter().map(|row| row.member.user).collect())
    }

    /// Marks all memberships as those of a workspace that is closed since this time, or takes the marks away. It does nothing if the
    /// workspace is otherwise by now.
    ///
    /// # Errors
    /// When DynamoDB can't be reached. Some may be marked then; doing it again marks the rest.
    pub async fn mark_members(&self, workspace: &WorkspaceId, closed_at: Option<Timestamp>) -> Result<()> {
        self.mark_all(Kind::Membership, workspace, closed_at).await
    }

    /// As [`Self::mark_members`], API keys. Nobody makes another one meanwhile, since that takes an admin whose membership has no mark.
    ///
    /// # Errors
    /// As [`Self::mark_members`].
    pub async fn mark_keys(&self, workspace: &WorkspaceId, closed_at: Option<Timestamp>) -> Result<()> {
        self.mark_all(Kind::Key, workspace, closed_at).await
    }

    /// Sets the marks of what has none yet, or takes them away, as long as the workspace is so.
    async fn mark_all(&self, kind: Kind, workspace: &WorkspaceId, closed_at: Option<Timestamp>) -> Result<()> {
        const TRIES: u32 = 8;
        let mut tries = 0;
        loop {
            let mut found = self.unmarked(kind, workspace, closed_at).await?;
            found.truncate(AT_ONCE);
            if found.is_empty() {
                return Ok(());
            }
            let mut transaction = Transaction::new(MARK).and(self.is_so(workspace, closed_at)?, Refused::Workspace);
            for key in found.into_iter().flatten() {
                transaction = transaction.and(self.mark(key, closed_at)?, Refused::Row);
            }
            match transaction.send(&self.0.client).await? {
                TransactionOutcome::Committed => {}
                TransactionOutcome::Refused(Refused::Workspace) => return Ok(()),
                // Somebody has left, or a key was used or revoked.
                TransactionOutcome::Refused(Refused::Row) | TransactionOutcome::InConflict if tries < TRIES => {
                    back_off(tries).await;
                    tries += 1;
                }
                _ => return Err(RepositoryError::contention(MARK)),
            }
        }
    }

    /// What has another mark, with its two items.
    async fn unmarked(
        &self,
        kind: Kind,
        workspace: &WorkspaceId,
        closed_at: Option<Timestamp>,
    ) -> Result<Vec<[Key; 2]>> {
        if kind == Kind::Membership {
            let rows = self.unmarked_rows(workspace, closed_at).await?;
            return Ok(rows.into_iter().map(|row| [member_key(&row.member.user, workspace), row.key]).collect());
        }
        let (mut rows, now) = (self.keys_of_any_age(workspace).await?, Timestamp::now());
        // DynamoDB may have deleted one item of a key whose time is over, and not the other one. It opens nothing.
        rows.retain(|row| row.value.closed_at != closed_at && row.is_kept(now));
        Ok(rows.into_iter().map(|row| [api_key_key(&row.value.hash), row.key]).collect())
    }

    /// The memberships that have another mark.
    async fn unmarked_rows(
        &self,
        workspace: &WorkspaceId,
        closed_at: Option<Timestamp>,
    ) -> Result<Vec<WorkspaceMemberItem>> {
        let (partition, prefix) = (workspace_partition(workspace), SortKeys::Beginning(MEMBER_PREFIX));
        let mut rows = self.0.list::<WorkspaceMemberItem>(MARK, &partition, prefix).await?;
        rows.retain(|row| row.closed_at != closed_at);
        Ok(rows)
    }

    /// The check that a workspace is closed since this time, or open.
    fn is_so(&self, workspace: &WorkspaceId, closed_at: Option<Timestamp>) -> Result<TransactWriteItem> {
        let condition = if closed_at.is_some() { "closed_at = :at" } else { "attribute_not_exists(closed_at)" };
        self.0.check(workspace_key(workspace), condition, closed_at.map(|at| (":at", text(&at))))
    }

    fn mark(&self, key: Key, closed_at: Option<Timestamp>) -> Result<TransactWriteItem> {
        let change = if closed_at.is_some() { "SET closed_at = :at" } else { "REMOVE closed_at" };
        let update = self.0.update(MARK, key, change).only_if("attribute_exists(pk)");
        update.values(closed_at.map(|at| (":at", text(&at)))).action()
    }

    /// Deletes all API keys.
    ///
    /// # Errors
    /// When DynamoDB can't be reached. Some may be deleted then; doing it again deletes the rest.
    pub async fn delete_keys(&self, workspace: &WorkspaceId) -> Result<()> {
        let rows = self.keys_of_any_age(workspace).await?;
        // The list's rows come last, since they tell a repetition what is left.
        let keys = rows.iter().map(|row| api_key_key(&row.value.hash).into_item()).collect();
        self.0.delete_all(PURGE, keys).await?;
        self.0.delete_all(PURGE, rows.into_iter().map(|row| row.key.into_item()).collect()).await
    }

    async fn keys_of_any_age(&self, workspace: &WorkspaceId) -> Result<Vec<KeyItem>> {
        self.0.list(MARK, &workspace_partition(workspace), SortKeys::Beginning(KEY_PREFIX)).await
    }

    /// Deletes all open invitations. Their tokens lead nowhere then, and go by their TTL.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn delete_invitations(&self, workspace: &WorkspaceId) -> Result<()> {
        self.0.delete_partition(PURGE, &invitations_partition(workspace)).await
    }

    /// Deletes all memberships, and what else is there but the workspace itself.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn delete_members(&self, workspace: &WorkspaceId) -> Result<()> {
        let mut rows = self.0.keys_of(PURGE, &workspace_partition(workspace)).await?;
        rows.retain(|key| *key != workspace_key(workspace));
        let users = rows.iter().filter_map(|key| UserId::parse(key.sk.strip_prefix(MEMBER_PREFIX)?).ok());
        self.0.delete_all(PURGE, users.map(|user| member_key(&user, workspace).into_item()).collect()).await?;
        self.0.delete_all(PURGE, rows.into_iter().map(Key::into_item).collect()).await
    }

    /// Deletes a workspace that nobody can bring back, with what strangers may know of it and its logo, and frees its slug. Its name isn't unique.
    ///
    /// # Errors
    /// When DynamoDB can't be reached, or the workspace has changed since it was read.
    pub async fn forget_workspace(&self, workspace: &Workspace, now: Timestamp) -> Result<()> {
        let gone = self.0.delete(PURGE, workspace_key(&workspace.id));
        let has_logo = if workspace.logo.is_some() { "logo = :logo" } else { "attribute_not_exists(logo)" };
        let gone = gone.only_if(format!("restorable_until <= :now AND slug = :slug AND {has_logo}"));
        let gone = gone.values(workspace.logo.as_ref().map(|id| (":logo", text(id))));
        let logo = workspace.logo.as_ref().map(|id| self.0.delete(PURGE, logo_key(id)).action()).transpose()?;
        let slug = self.0.delete(PURGE, slug_key(&workspace.slug));
        let slug = slug.only_if("attribute_not_exists(pk) OR workspace_id = :workspace");
        Transaction::new(PURGE)
            .and(gone.values([(":now", text(&now)), (":slug", text(&workspace.slug))]).action()?, ())
            .and(slug.value(":workspace", text(&workspace.id)).action()?, ())
            .and(self.0.delete(PURGE, public_key(&workspace.id)).action()?, ())
            .and_each(logo, ())
            .or_fail(&self.0.client)
            .await
    }
}
