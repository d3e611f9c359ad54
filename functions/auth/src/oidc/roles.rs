//! Memberships that people have by their groups at an identity provider, as they are when they sign in.

use linklet_domain::{
    Account, AccountChange, Actor, AuditContext, Identity, IdentityHash, Role, Timestamp, WorkspaceId, WorkspaceRole,
};
use linklet_dynamodb::{GroupOutcome, WaysToSignIn};
use linklet_lambda::http::{Problem, Request, Result};

use crate::Auth;

/// Somebody whose identity an account has.
pub(super) struct IdentityRoles<'a> {
    /// The identity.
    pub identity: &'a Identity,
    /// The roles that their groups have, if they are known.
    pub roles: Option<&'a [WorkspaceRole]>,
}

impl Auth {
    /// Gives a person the roles that their groups have, and ends the memberships that groups gave and give no more. The last admin of a
    /// workspace stays one.
    pub(super) async fn apply_roles(
        &self,
        request: &Request,
        account: &Account,
        known: &IdentityRoles<'_>,
    ) -> Result<()> {
        let Some(roles) = known.roles else { return Ok(()) };
        let given = known.identity.workspaces.iter();
        let lost = given.filter(|given| !roles.iter().any(|role| role.workspace == **given));
        let lost: Vec<_> = lost.map(|workspace| (*workspace, None)).collect();
        let named = roles.iter().map(|WorkspaceRole { workspace, role }| (*workspace, Some(*role)));
        let origin = self.limits.guesses.origin(request, Actor::Linklet);
        for (workspace, role) in named.chain(lost) {
            let outcome = self.users.apply_group_role(account, known.identity, &workspace, role, &origin).await?;
            self.take_what_the_role_lacks(account, &workspace, role, outcome, &origin).await?;
            self.tell_of_role(request, account, &workspace, role, outcome).await;
        }
        Ok(())
    }

    /// Ends the memberships that groups of an identity gave, before it is removed: nothing would know that they did. Nothing ends if it is
    /// the last way to sign in, which isn't removed.
    pub(crate) async fn end_group_roles(
        &self,
        request: &Request,
        account: &Account,
        hash: &IdentityHash,
        ways: WaysToSignIn<'_>,
    ) -> Result<()> {
        let identities = self.users.identities(&account.id).await?;
        let Some(identity) = identities.iter().find(|identity| identity.hash == *hash) else { return Ok(()) };
        let works = |other: &Identity| other.hash != *hash && ways.issuers.contains(&other.issuer.as_str());
        let has_password = ways.passwords && account.password_hash.is_some();
        Problem::LastSignIn.unless(has_password || identities.iter().any(works))?;
        self.apply_roles(request, account, &IdentityRoles { identity, roles: Some(&[]) }).await
    }

    /// Keys act as members, and admins alone invite. It is done at each sign-in, so that nothing stays that an interruption has left. The
    /// handover of what a former member leaves does it once more.
    async fn take_what_the_role_lacks(
        &self,
        account: &Account,
        workspace: &WorkspaceId,
        role: Option<Role>,
        outcome: GroupOutcome,
        origin: &AuditContext,
    ) -> Result<()> {
        let (invites, has_keys) = match (outcome, role) {
            (GroupOutcome::Removed, _) => (false, false),
            (GroupOutcome::Unchanged | GroupOutcome::RoleChanged, Some(role)) => {
                (role >= Role::Admin, role >= Role::Member)
            }
            _ => return Ok(()),
        };
        let now = Timestamp::now();
        if !invites {
            self.users.withdraw_invitations_by(workspace, &account.id, now, origin).await?;
        }
        if !has_keys {
            self.users.revoke_keys(workspace, &account.id, now, None, origin).await?;
        }
        Ok(())
    }

    async fn tell_of_role(
        &self,
        request: &Request,
        account: &Account,
        workspace: &WorkspaceId,
        role: Option<Role>,
        outcome: GroupOutcome,
    ) {
        if outcome == GroupOutcome::Unchanged {
            return;
        }
        if matches!(outcome, GroupOutcome::LastAdmin | GroupOutcome::NoRoom | GroupOutcome::Closed) {
            let (user_id, workspace_id) = (&account.id, workspace);
            tracing::warn!(%user_id, %workspace_id, ?outcome, "the role of a group could not be applied");
        }
        // Who is told nothing sees it in the application.
        let Ok(Some(workspace)) = self.users.workspace(workspace).await else { return };
        let workspace_name = workspace.name;
        let change = match (outcome, role) {
            (GroupOutcome::Joined, Some(role)) => AccountChange::Joined { workspace_name, role },
            (GroupOutcome::RoleChanged, Some(role)) => AccountChange::RoleChanged { workspace_name, role },
            (GroupOutcome::Removed, _) => AccountChange::Removed { workspace_name },
            _ => return,
        };
        self.mails.tell(request, &account.id, change).await;
    }
}
