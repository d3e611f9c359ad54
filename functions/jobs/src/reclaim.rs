//! Pauses what others may have made in the name of an account that its person has reclaimed: its API keys everywhere, and in the
//! workspaces that it has created and leads all other memberships and keys. Open invitations are withdrawn, since nobody waits for them.
//! It is forgotten from where others may have signed in, so that they are strangers there again.
//!
//! The person sees what is paused, and keeps or removes each.
//!
//! Nobody adds anything meanwhile: whatever gives somebody access is a transaction that asks whether the session lasts in which it was
//! wanted, and whether the membership is active. So what a step finds is all that there is.

use std::time::{Duration, Instant};

use linklet_domain::{
    AccountChange, AuditContext, CorrelationId, Invitation, Member, Role, Timestamp, UserId, Workspace, WorkspaceId,
    reclaim::Reclaim,
};
use linklet_dynamodb::{Result, ThrottleTable, UsersTable};
use linklet_lambda::email_requests::EmailRequests;
use serde::{Deserialize, Serialize};

use crate::{Next, Piece};

/// The kind of task that pauses what others may have made in an account.
pub struct ReclaimWork {
    /// The repository of members, invitations and API keys.
    pub users: UsersTable,
    /// The repository of where people have signed in from.
    pub guesses: ThrottleTable,
    /// Where it is ordered that people are told that their membership is paused.
    pub mails: EmailRequests,
}

/// How far it has come. Workspaces are in the order of their ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// The last workspace in which all is paused.
    after: Option<WorkspaceId>,
}

impl ReclaimWork {
    /// How many members are paused before it is looked whether the step is over.
    const MEMBERS_AT_ONCE: usize = 16;
    /// How long a piece forgets from where somebody has signed in.
    const FORGETS_FOR: Duration = Duration::from_secs(5);

    /// Pauses what there is in the next workspace. Networks come last, since a squatter may have made the account familiar with any number
    /// of them.
    pub(crate) async fn next(
        &self,
        reclaim: &Reclaim,
        correlation_id: &CorrelationId,
        checkpoint: Option<Checkpoint>,
    ) -> Result<Piece<Checkpoint>> {
        let checkpoint = checkpoint.unwrap_or_default();
        let is_ahead = |id: &WorkspaceId| checkpoint.after.is_none_or(|after| *id > after);
        let workspaces = self.users.workspaces_of(&reclaim.user).await?.into_iter().map(|(_, workspace)| workspace);
        let next = match workspaces.filter(|workspace| is_ahead(&workspace.id)).min_by_key(|workspace| workspace.id) {
            Some(workspace) if self.pause_in(&workspace, reclaim, correlation_id).await? == 0 => {
                Next::GoOn(Checkpoint { after: Some(workspace.id) })
            }
            None if self.forget_sign_ins(reclaim).await? => Next::End,
            Some(_) | None => Next::GoOn(checkpoint),
        };
        Ok(Piece::then(next))
    }

    /// Says whether that is all.
    async fn forget_sign_ins(&self, reclaim: &Reclaim) -> Result<bool> {
        let until = Instant::now() + Self::FORGETS_FOR;
        self.guesses.forget_sign_ins(&reclaim.reclaimed_from, reclaim.reclaimed_at, until).await
    }

    /// Pauses what there is in a workspace, and says how much that was. Whoever is let in while this looks at the keys may let somebody in,
    /// too, so it is done until there is nothing left.
    async fn pause_in(
        &self,
        workspace: &Workspace,
        reclaim: &Reclaim,
        correlation_id: &CorrelationId,
    ) -> Result<usize> {
        let (id, at) = (&workspace.id, reclaim.reclaimed_at);
        let origin = AuditContext::consequence(correlation_id, Timestamp::now());
        let is_theirs = self.is_theirs(workspace, &reclaim.user).await?;
        let is_meant = |by: &UserId, made_at| reclaim.concerns(is_theirs, by, made_at);
        // Keys come before members, of whom there may be many.
        let keys = self.users.pause_keys(id, at, is_meant, &origin).await?;
        let is_meant = |one: &Invitation| is_meant(&one.invited_by, one.created_at);
        let invitations = self.users.withdraw_all(id, at, is_meant, &origin).await?;
        let others = if is_theirs { self.others(id, &reclaim.user).await? } else { Vec::new() };
        for member in others.iter().take(Self::MEMBERS_AT_ONCE) {
            self.pause_member(workspace, member, at, &origin).await?;
        }
        let paused = keys + invitations + others.len();
        if paused == 0 {
            let (user_id, workspace_id) = (reclaim.user.to_string(), id.to_string());
            tracing::info!(user_id, workspace_id, is_theirs, "paused what others may have made");
        }
        Ok(paused)
    }

    /// Whether somebody has created a workspace and leads it still. Whoever has taken the role away has it now, and a creator who was
    /// an admin once doesn't become one by forgetting a password.
    async fn is_theirs(&self, workspace: &Workspace, user: &UserId) -> Result<bool> {
        if workspace.creator != *user {
            return Ok(false);
        }
        let members = self.users.members(&workspace.id).await?;
        Ok(members.iter().any(|member| member.user == *user && member.active_role() == Some(Role::Admin)))
    }

    /// The members of a workspace but one whose memberships aren't paused.
    async fn others(&self, workspace: &WorkspaceId, user: &UserId) -> Result<Vec<Member>> {
        let mut members = self.users.members(workspace).await?;
        members.retain(|member| member.user != *user && member.active_role().is_some());
        Ok(members)
    }

    async fn pause_member(
        &self,
        workspace: &Workspace,
        member: &Member,
        at: Timestamp,
        origin: &AuditContext,
    ) -> Result<()> {
        let paused = self.users.pause_member(&workspace.id, &member.user, at, origin).await?;
        if paused.is_some() {
            let change = AccountChange::MembershipPaused { workspace_name: workspace.name.clone() };
            self.mails.tell_of(&origin.correlation_id, &member.user, change).await;
        }
        Ok(())
    }
}
