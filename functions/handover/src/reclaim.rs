//! Pauses what others may have made in the name of an account that its person has reclaimed: its API keys everywhere, and in the
//! workspaces that it has founded all other memberships and keys. Open invitations are withdrawn, since nobody waits for them.
//!
//! The person sees what is paused, and keeps or removes each.

use std::time::Instant;

use linklet_domain::{AccountChange, Member, UserId, Workspace};
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
        workspaces.sort_by(|(_, one), (_, other)| one.id.as_str().cmp(other.id.as_str()));
        let mut done = None;
        for (_, workspace) in workspaces.iter().filter(|(_, workspace)| open.is_ahead(&workspace.id)) {
            let is_all = self.pause_in(workspace, &open, ends_at).await?;
            done = is_all.then_some(&workspace.id).or(done);
            if Instant::now() >= ends_at {
                return Ok(self.users.note_reclaim(&open, done).await?);
            }
        }
        Ok(self.users.end_reclaim(&open).await?)
    }

    /// Pauses what is to be paused in a workspace, and says whether that is all: it isn't if the turn has ended meanwhile.
    async fn pause_in(
        &self,
        workspace: &Workspace,
        open: &OpenReclaim,
        ends_at: Instant,
    ) -> Result<bool, RepositoryError> {
        let is_founder = workspace.founded_by == *open.user();
        if is_founder {
            // Somebody who was let in could have taken the role away.
            self.users.restore_founder(&workspace.id, open.user()).await?;
            if !self.pause_others(workspace, open, ends_at).await? {
                return Ok(false);
            }
        } else {
            let at = open.reclaimed_at();
            self.users.withdraw_invitations_by(&workspace.id, open.user(), at).await?;
        }
        let creator = (!is_founder).then_some(open.user());
        self.users.pause_keys(&workspace.id, creator, open.reclaimed_at()).await?;
        let (user_id, workspace_id) = (open.user().as_str(), workspace.id.as_str());
        tracing::info!(user_id, workspace_id, is_founder, "paused what others may have made");
        Ok(true)
    }

    /// Pauses all memberships but the founder's, and withdraws all invitations, until there is nothing left: whoever is let in while
    /// this looks at the others may let somebody in, too.
    async fn pause_others(
        &self,
        workspace: &Workspace,
        open: &OpenReclaim,
        ends_at: Instant,
    ) -> Result<bool, RepositoryError> {
        loop {
            let withdrawn = self.users.withdraw_all(&workspace.id, open.reclaimed_at(), |_| true).await?;
            let members = self.users.members(&workspace.id).await?;
            let is_meant = |member: &&Member| member.user != *open.user() && member.active_role().is_some();
            let mut active = members.iter().filter(is_meant).peekable();
            if withdrawn == 0 && active.peek().is_none() {
                return Ok(true);
            }
            for member in active {
                self.pause_member(workspace, open, member).await?;
                if Instant::now() >= ends_at {
                    return Ok(false);
                }
            }
        }
    }

    async fn pause_member(
        &self,
        workspace: &Workspace,
        open: &OpenReclaim,
        member: &Member,
    ) -> Result<(), RepositoryError> {
        let paused = self.users.pause_member(&workspace.id, &member.user, open.reclaimed_at()).await?;
        if paused.is_some() {
            let change = AccountChange::MembershipPaused { workspace_name: workspace.name.clone() };
            self.mails.tell_of(open.correlation_id(), &member.user, change).await;
        }
        Ok(())
    }
}
