//! Memberships that people have by their groups at an identity provider.
//!
//! An identity's item names the workspaces in which its groups give the role. It changes in the transaction that changes the membership,
//! so that groups end only memberships whose role they gave.

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use linklet_domain::{
    Account, AuditAction, AuditContext, AuditSubject, Identity, KeysLeft, Member, Membership, Role, WorkspaceId,
};

use super::item::own_identity_key;
use super::members::{Refusal, entries_of_change};
use super::room::most_made;
use super::{MemberOutcome, Removal, UsersTable};
use crate::Result;
use crate::transaction::{Transaction, TransactionOutcome, retry_on_conflict};
use crate::write::ACTION;

const APPLY: &str = "apply the role of a group";

/// What a group's role has changed of a membership.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupOutcome {
    /// Nothing.
    Unchanged,
    /// It has begun.
    Joined,
    /// It has the group's role.
    RoleChanged,
    /// It has ended.
    Removed,
    /// Nothing, since the workspace would have no admin.
    LastAdmin,
    /// Nothing, since the person is in as many workspaces as one may be, or is closing their account.
    NoRoom,
    /// Nothing, since the workspace is closed.
    Closed,
}

impl UsersTable {
    /// Gives a person the role that their groups have in a workspace, also if an admin has given them another. Without one, the membership
    /// ends if groups of this identity gave it, and none of another identity do.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn apply_group_role(
        &self,
        account: &Account,
        identity: &Identity,
        workspace: &WorkspaceId,
        role: Option<Role>,
        origin: &AuditContext,
    ) -> Result<GroupOutcome> {
        let is_given = identity.workspaces.contains(workspace);
        let gives = |other: &Identity| other.hash != identity.hash && other.workspaces.contains(workspace);
        let others_give = role.is_none() && is_given && self.identities(&account.id).await?.iter().any(gives);
        retry_on_conflict(APPLY, async || {
            let mark = self.mark_given(account, identity, workspace, role.is_some())?;
            let outcome = match (self.member(workspace, &account.id).await?, role) {
                (None, Some(role)) => return self.join_by_group(account, workspace, role, mark, origin).await,
                (Some(member), None) if is_given && !others_give => {
                    self.remove_by_group(&member, workspace, mark, origin).await?
                }
                (Some(member), Some(role)) if member.role != role => {
                    let changed = Member { role, ..member.clone() };
                    let mut transaction = self.transition(APPLY, workspace, &member, &changed)?.and(mark, None);
                    for entry in entries_of_change(origin, workspace, &member, &changed) {
                        transaction = transaction.and(self.entry(&entry)?, None);
                    }
                    transaction.commit(&self.0.client, MemberOutcome::Done(changed)).await?
                }
                (_, role) if role.is_some() != is_given => {
                    let marked = Transaction::new(APPLY).and(mark, None);
                    return marked.commit(&self.0.client, GroupOutcome::Unchanged).await;
                }
                _ => return Ok(Some(GroupOutcome::Unchanged)),
            };
            Ok(outcome.map(|outcome| match (outcome, role) {
                (MemberOutcome::LastAdmin, _) => GroupOutcome::LastAdmin,
                (MemberOutcome::Done(_), Some(_)) => GroupOutcome::RoleChanged,
                (MemberOutcome::Done(_), None) => GroupOutcome::Removed,
                _ => GroupOutcome::Closed,
            }))
        })
        .await
    }

    async fn join_by_group(
        &self,
        account: &Account,
        workspace: &WorkspaceId,
        role: Role,
        mark: TransactWriteItem,
        origin: &AuditContext,
    ) -> Result<Option<GroupOutcome>> {
        let joinings = self.joinings(&account.id).await?;
        let memberships = self.memberships(&account.id).await?.len();
        let Some(most_joinings) = most_made(joinings, memberships, Membership::MOST) else {
            return Ok(Some(GroupOutcome::NoRoom));
        };
        let (member, now) = (Member::of(account, role, origin.at), origin.at);
        let joined = origin.in_workspace(workspace, AuditAction::MemberJoined, AuditSubject::Member(account.id));
        let transaction = Transaction::new(APPLY).and(self.admission(workspace, role)?, Some(GroupOutcome::Closed));
        let transaction = self
            .and_membership(transaction, workspace, role, account, now, &None)?
            .and(self.joining(&member, None, most_joinings)?, Some(GroupOutcome::NoRoom))
            .and(mark, None)
            .and(self.entry(&joined.to(&role))?, None);
        Ok(match transaction.send(&self.0.client).await? {
            TransactionOutcome::Refused(Some(GroupOutcome::NoRoom))
                if self.joinings(&account.id).await? != joinings =>
            {
                None
            }
            outcome => outcome.or(Some(GroupOutcome::Joined), None),
        })
    }

    async fn remove_by_group(
        &self,
        member: &Member,
        workspace: &WorkspaceId,
        mark: TransactWriteItem,
        origin: &AuditContext,
    ) -> Result<Refusal> {
        let (user, origin) = (&member.user, origin.clone());
        let removal = Removal { workspace, caller: user, user, keys: KeysLeft::Revoked, at: origin.at, origin };
        let Some(heir) = self.heir_of(&removal).await? else { return Ok(Some(MemberOutcome::LastAdmin)) };
        let transaction = self.removal(&removal, member, heir)?;
        let transaction = transaction.and(self.heir_is_admin(workspace, &heir)?, None).and(mark, None);
        transaction.commit(&self.0.client, MemberOutcome::Done(member.clone())).await
    }

    /// The action that marks an identity as one whose groups give the role in a workspace, or don't any more.
    fn mark_given(
        &self,
        account: &Account,
        identity: &Identity,
        workspace: &WorkspaceId,
        is_given: bool,
    ) -> Result<TransactWriteItem> {
        let change = if is_given { "ADD workspaces :workspace" } else { "DELETE workspaces :workspace" };
        let update = self.0.update(ACTION, own_identity_key(&account.id, &identity.hash), change);
        let workspace = AttributeValue::Ss(vec![workspace.to_string()]);
        update.only_if("attribute_exists(pk)").value(":workspace", workspace).action()
    }
}
