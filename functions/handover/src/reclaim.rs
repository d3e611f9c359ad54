//! Pauses what others may have made in the name of an account that its person has reclaimed: its API keys everywhere, and in the
//! workspaces that it has founded and leads all other memberships and keys. Open invitations are withdrawn, since nobody waits for them.
//! It is forgotten from where others may have signed in, so that they are strangers there again.
//!
//! The person sees what is paused, and keeps or removes each.

use std::time::Instant;

use linklet_domain::{AccountChange, Invitation, Member, Role, UserId, Workspace, WorkspaceId};
use linklet_dynamodb::{OpenReclaim, RepositoryError};
use linklet_lambda::metrics;

use crate::{Handovers, TurnError};

impl Handovers {
    /// Pauses what fits into a turn, and notes how far that has come.
    pub(crate) async fn pause(&self, user: &UserId) -> Result<(), TurnError> {
        let ends_at = Instant::now() + self.turn;
        let Some(open) = self.users.reclaim(user).await? else { return Ok(()) };
        metrics::concerns(open.correlation_id());
        let mut workspaces = self.users.workspaces_of(user).await?;
        workspaces.sort_by_key(|(_, workspace)| workspace.id);
        let mut done = None;
        for (_, workspace) in workspaces.iter().filter(|(_, workspace)| open.is_ahead(&workspace.id)) {
            let is_all = self.pause_in(workspace, &open, ends_at).await?;
            done = is_all.then_some(&workspace.id).or(done);
            if Instant::now() >= ends_at {
                return Ok(self.users.note_reclaim(&open, done).await?);
            }
        }
        // After all that gives access, since a squatter may have made the account familiar with any number of networks.
        let is_all = self.guesses.forget_sign_ins(open.reclaimed_from(), open.reclaimed_at(), ends_at).await?;
        let end = if is_all { self.users.end_reclaim(&open).await } else { self.users.note_reclaim(&open, done).await };
        Ok(end?)
    }

    /// Pauses what is to be paused in a workspace, until there is nothing left: whoever is let in while this looks at the keys may let
    /// somebody in, too. It says whether that is all: it isn't if the turn has ended meanwhile.
    async fn pause_in(
        &self,
        workspace: &Workspace,
        open: &OpenReclaim,
        ends_at: Instant,
    ) -> Result<bool, RepositoryError> {
        let (id, at) = (&workspace.id, open.reclaimed_at());
        loop {
            let origin = open.origin();
            let is_theirs = self.is_theirs(workspace, open.user()).await?;
            let is_meant = |by: &UserId, made_at| open.concerns(is_theirs, by, made_at);
            // Keys come before members, of whom there may be many.
            let keys = self.users.pause_keys(id, at, is_meant, &origin).await?;
            let is_meant = |one: &Invitation| is_meant(&one.invited_by, one.created_at);
            let invitations = self.users.withdraw_all(id, at, is_meant, &origin).await?;
            let others = if is_theirs { self.others(id, open.user()).await? } else { Vec::new() };
            if keys + invitations + others.len() == 0 {
                let (user_id, workspace_id) = (open.user().to_string(), id.to_string());
                tracing::info!(user_id, workspace_id, is_theirs, "paused what others may have made");
                return Ok(true);
            }
            for member in &others {
                self.pause_member(workspace, open, member).await?;
                if Instant::now() >= ends_at {
                    return Ok(false);
                }
            }
        }
    }

    /// Whether somebody has founded a workspace and leads it still. Whoever has taken the role away has it now, and a founder who was
    /// an admin once doesn't become one by forgetting a password.
    async fn is_theirs(&self, workspace: &Workspace, user: &UserId) -> Result<bool, RepositoryError> {
        if workspace.founded_by != *user {
            return Ok(false);
        }
        let members = self.users.members(&workspace.id).await?;
        Ok(members.iter().any(|member| member.user == *user && member.active_role() == Some(Role::Admin)))
    }

    /// The members of a workspace but one whose memberships aren't paused.
    async fn others(&self, workspace: &WorkspaceId, user: &UserId) -> Result<Vec<Member>, RepositoryError> {
        let mut members = self.users.members(workspace).await?;
        members.retain(|member| member.user != *user && member.active_role().is_some());
        Ok(members)
    }

    async fn pause_member(
        &self,
        workspace: &Workspace,
        open: &OpenReclaim,
        member: &Member,
    ) -> Result<(), RepositoryError> {
        let (at, origin) = (open.reclaimed_at(), open.origin());
        let paused = self.users.pause_member(&workspace.id, &member.user, at, &origin).await?;
        if paused.is_some() {
            let change = AccountChange::MembershipPaused { workspace_name: workspace.name.clone() };
            self.mails.tell_of(open.correlation_id(), &member.user, change).await;
        }
        Ok(())
    }
}
