//! Members of workspaces.
//!
//! A membership has two items, which are written in the same transaction: one under its user, for the login, and one under
//! its workspace, for the member list. The workspace's item counts its admins. A condition on this count keeps the last admin,
//! also if concurrent requests would each remove another admin.
//!
//! The role in a token may be outdated. So every change of another user's membership checks in its transaction that the
//! caller is an admin now. Nobody adds a member: who is invited [accepts](super::invitations).
//!
//! A membership can be [paused](linklet_domain::reclaim). It opens nothing then, and an admin whose membership is paused isn't counted.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{
    Actor, AuditAction, AuditContext, AuditEntry, AuditSubject, Member, Role, Timestamp, UserId, WorkspaceId,
    oldest_admin_but,
};

use super::item::{WorkspaceMemberItem, member_key, workspace_key, workspace_member_key};
use super::{ActiveSession, Removal, UsersTable};
use crate::Result;
use crate::item::{Key, number, text};
use crate::transaction::{Transaction, retry_on_conflict};
use crate::write::ACTION;

/// A change of a membership.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemberChange {
    /// The new role; `None` leaves it as it is.
    pub role: Option<Role>,
    /// Whether the membership goes on if it is paused.
    pub resumes: bool,
}

impl MemberChange {
    fn of(self, member: &Member) -> Member {
        let paused_at = member.paused_at.filter(|_| !self.resumes);
        Member { role: self.role.unwrap_or(member.role), paused_at, ..member.clone() }
    }
}

/// The outcome of changing a membership.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberOutcome {
    /// The change is made; this is the member after it, or before they were removed.
    Done(Member),
    /// The change is made, and a membership that was paused goes on; this is the member after it.
    Resumed(Member),
    /// The member is as the change wants them already.
    Unchanged(Member),
    /// The user is not a member of the workspace.
    NoMember,
    /// The change would leave the workspace without an admin.
    LastAdmin,
    /// The caller is no longer an admin of the workspace.
    CallerNotAdmin,
}

/// The outcome if an action is refused. `None` means that the item has changed since it was read, so that a retry is needed.
pub(super) type Refusal = Option<MemberOutcome>;

const REMOVE: &str = "remove a member";

const CALLER_NOT_ADMIN: Refusal = Some(MemberOutcome::CallerNotAdmin);

impl UsersTable {
    /// Lists the members of a workspace in the order in which they joined.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn members(&self, workspace: &WorkspaceId) -> Result<Vec<Member>> {
        self.0.members(workspace).await
    }

    /// Changes a membership, if the caller is an admin.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn change_member(
        &self,
        workspace: &WorkspaceId,
        caller: ActiveSession<'_>,
        user: &UserId,
        change: MemberChange,
        origin: &AuditContext,
    ) -> Result<MemberOutcome> {
        const OPERATION: &str = "change a member";
        retry_on_conflict(OPERATION, async || {
            let Some(member) = self.member(workspace, user).await? else { return Ok(Some(MemberOutcome::NoMember)) };
            if user == caller.user && member.active_role() < Some(Role::Admin) {
                return Ok(Some(MemberOutcome::CallerNotAdmin));
            }
            let changed = change.of(&member);
            if changed == member {
                return Ok(Some(MemberOutcome::Unchanged(member)));
            }
            let transaction = self.transition(OPERATION, workspace, &member, &changed)?;
            let mut transaction = transaction.and_each(self.session_lasts(caller)?, CALLER_NOT_ADMIN);
            // The caller's own items are in the transaction already, with the condition that their role hasn't changed.
            if user != caller.user {
                transaction = transaction.and(self.caller_is_admin(workspace, caller.user)?, CALLER_NOT_ADMIN);
            }
            for entry in entries_of_change(origin, workspace, &member, &changed) {
                transaction = transaction.and(self.entry(&entry)?, None);
            }
            let is_resumed = member.paused_at.is_some() && changed.paused_at.is_none();
            let done = if is_resumed { MemberOutcome::Resumed } else { MemberOutcome::Done };
            transaction.commit(&self.0.client, done(changed)).await
        })
        .await
    }

    /// Pauses a membership, and returns it; `None` if there is none that isn't paused.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn pause_member(
        &self,
        workspace: &WorkspaceId,
        user: &UserId,
        at: Timestamp,
        origin: &AuditContext,
    ) -> Result<Option<Member>> {
        let outcome = retry_on_conflict("pause a member", async || {
            let Some(member) = self.member(workspace, user).await? else { return Ok(Some(MemberOutcome::NoMember)) };
            if member.active_role().is_none() {
                return Ok(Some(MemberOutcome::NoMember));
            }
            let paused = Member { paused_at: Some(at), ..member.clone() };
            let transaction = self.transition("pause a member", workspace, &member, &paused)?;
            let entry = origin.in_workspace(workspace, AuditAction::MemberPaused, AuditSubject::Member(*user));
            transaction.and(self.entry(&entry)?, None).commit(&self.0.client, MemberOutcome::Done(paused)).await
        });
        match outcome.await? {
            MemberOutcome::Done(member) => Ok(Some(member)),
            _ => Ok(None),
        }
    }

    /// Removes a member from a workspace, if the caller is an admin or that member. The same transaction opens the
    /// [handover](linklet_domain::Handover) of what they leave: to the caller, or to the oldest other admin if they leave themselves.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn remove_member(&self, removal: &Removal<'_>) -> Result<MemberOutcome> {
        retry_on_conflict(REMOVE, async || {
            let Removal { workspace, caller, user, .. } = *removal;
            let Some(member) = self.member(workspace, user).await? else { return Ok(Some(MemberOutcome::NoMember)) };
            let Some(heir) = self.heir_of(removal).await? else { return Ok(Some(MemberOutcome::LastAdmin)) };
            // Whoever leaves by themselves needn't be an admin, but whoever gets what they leave has to be one still.
            let (not_admin, heirs_role) = match user == caller {
                true => (None, self.heir_is_admin(workspace, &heir)?),
                false => (CALLER_NOT_ADMIN, self.caller_is_admin(workspace, &heir)?),
            };
            let transaction = self.removal(removal, &member, heir)?.and(heirs_role, not_admin);
            transaction.commit(&self.0.client, MemberOutcome::Done(member)).await
        })
        .await
    }

    /// A transaction that ends a membership, and hands over what the member leaves.
    pub(super) fn removal(&self, removal: &Removal<'_>, member: &Member, heir: UserId) -> Result<Transaction<Refusal>> {
        let Removal { workspace, user, .. } = *removal;
        let mut transaction = Transaction::new(REMOVE);
        for key in membership_keys(workspace, user) {
            transaction = transaction.and(self.member_deletion(key, member)?, None);
        }
        Ok(self
            .count_admins(transaction, workspace, member.active_role(), None)?
            .and_each(self.2.begin(&removal.handover(heir))?, None)
            .and(self.entry(&entry_of_removal(removal, member))?, None))
    }

    /// A transaction that makes another membership of one, with the number of the workspace's admins.
    pub(super) fn transition(
        &self,
        operation: &'static str,
        workspace: &WorkspaceId,
        before: &Member,
        after: &Member,
    ) -> Result<Transaction<Refusal>> {
        let mut transaction = Transaction::new(operation);
        for key in membership_keys(workspace, &before.user) {
            transaction = transaction.and(self.membership_change(key, before, after)?, None);
        }
        self.count_admins(transaction, workspace, before.active_role(), after.active_role())
    }

    /// Who gets what a member leaves; `None` if there is no other admin.
    pub(super) async fn heir_of(&self, removal: &Removal<'_>) -> Result<Option<UserId>> {
        if removal.user != removal.caller {
            return Ok(Some(*removal.caller));
        }
        let members = self.members(removal.workspace).await?;
        Ok(oldest_admin_but(removal.user, &members).map(|heir| heir.user))
    }

    pub(super) async fn member(&self, workspace: &WorkspaceId, user: &UserId) -> Result<Option<Member>> {
        let found = self.0.get::<WorkspaceMemberItem>("find a member", workspace_member_key(workspace, user)).await?;
        Ok(found.map(|item| item.member))
    }

    /// Adds the change of the workspace's count of admins to a transaction, if the change of the role affects it.
    fn count_admins(
        &self,
        transaction: Transaction<Refusal>,
        workspace: &WorkspaceId,
        before: Option<Role>,
        after: Option<Role>,
    ) -> Result<Transaction<Refusal>> {
        let is_admin = |role: Option<Role>| role == Some(Role::Admin);
        // `least` is the number of admins that the workspace must have before. A workspace that doesn't exist has no admins, so
        // the refusal of a promotion means that the caller isn't one.
        let (change, least, refusal) = match (is_admin(before), is_admin(after)) {
            (false, true) => (1, 1, MemberOutcome::CallerNotAdmin),
            (true, false) => (-1, 2, MemberOutcome::LastAdmin),
            _ => return Ok(transaction),
        };
        Ok(transaction.and(self.admin_count(workspace, change, least)?, Some(refusal)))
    }

    /// The action that changes the number of a workspace's admins, which must be at least so many before.
    fn admin_count(&self, workspace: &WorkspaceId, change: i64, least: u64) -> Result<TransactWriteItem> {
        let update = self.0.update(ACTION, workspace_key(workspace), "ADD admins :change").only_if(HAS_ADMINS);
        update.values([(":change", number(&change)), (":least", number(&least))]).action()
    }

    /// A condition check that the caller is an admin now, whatever their token says.
    pub(super) fn caller_is_admin(&self, workspace: &WorkspaceId, caller: &UserId) -> Result<TransactWriteItem> {
        self.role_check(workspace, caller, &format!("{IS_ACTIVE} AND {IS_OPEN}"))
    }

    /// A condition check that the caller may do something with what this member has made: the member as long as they are one at least,
    /// and others as admins.
    pub(super) fn caller_may_change(
        &self,
        workspace: &WorkspaceId,
        caller: &UserId,
        creator: &UserId,
    ) -> Result<TransactWriteItem> {
        const IS_MEMBER: &str = "#role IN (:role, :member) AND attribute_not_exists(paused_at)";
        if caller != creator {
            return self.caller_is_admin(workspace, caller);
        }
        let roles = [(":role", text(&Role::Admin)), (":member", text(&Role::Member))];
        self.0.check(workspace_member_key(workspace, caller), &format!("{IS_MEMBER} AND {IS_OPEN}"), roles)
    }

    /// A condition check that somebody can inherit what a member leaves, also in a closed workspace, which may be brought back.
    pub(super) fn heir_is_admin(&self, workspace: &WorkspaceId, heir: &UserId) -> Result<TransactWriteItem> {
        self.role_check(workspace, heir, IS_ACTIVE)
    }

    fn role_check(&self, workspace: &WorkspaceId, user: &UserId, condition: &str) -> Result<TransactWriteItem> {
        let is_admin = [(":role", text(&Role::Admin))];
        self.0.check(workspace_member_key(workspace, user), condition, is_admin)
    }

    fn membership_change(&self, key: Key, before: &Member, after: &Member) -> Result<TransactWriteItem> {
        let change = match after.paused_at {
            Some(_) => "SET #role = :after, paused_at = :at",
            None => "SET #role = :after REMOVE paused_at",
        };
        let update = self.0.update(ACTION, key, change).only_if(is_as_read(before));
        update
            .values([(":role", text(&before.role)), (":after", text(&after.role))])
            .values(after.paused_at.map(|at| (":at", text(&at))))
            .action()
    }

    fn member_deletion(&self, key: Key, member: &Member) -> Result<TransactWriteItem> {
        let delete = self.0.delete(ACTION, key).only_if(is_as_read(member));
        delete.value(":role", text(&member.role)).action()
    }
}

/// What the audit log says of the end of a membership.
fn entry_of_removal(removal: &Removal<'_>, member: &Member) -> AuditEntry {
    let Removal { workspace, user, origin, .. } = removal;
    let action =
        if origin.actor == Actor::Person(**user) { AuditAction::MemberLeft } else { AuditAction::MemberRemoved };
    origin.in_workspace(workspace, action, AuditSubject::Member(**user)).from(&member.role)
}

/// What the audit log says of a change of a membership.
pub(super) fn entries_of_change(
    origin: &AuditContext,
    workspace: &WorkspaceId,
    before: &Member,
    after: &Member,
) -> impl Iterator<Item = AuditEntry> {
    let entry = |action| origin.in_workspace(workspace, action, AuditSubject::Member(before.user));
    let resumed = before.paused_at != after.paused_at;
    let resumed = resumed.then(|| entry(AuditAction::MemberResumed));
    let role =
        (before.role != after.role).then(|| entry(AuditAction::MemberRoleChanged).from(&before.role).to(&after.role));
    resumed.into_iter().chain(role)
}

/// The condition that a workspace has at least so many admins.
pub(super) const HAS_ADMINS: &str = "admins >= :least";

/// The condition that a workspace is open, for its own item and for those of memberships, which are marked soon after it was closed.
pub(super) const IS_OPEN: &str = "attribute_not_exists(closed_at)";

/// The condition that a member has this role, and isn't paused.
pub(super) const IS_ACTIVE: &str = "#role = :role AND attribute_not_exists(paused_at)";

/// The condition that a member still has the same role, and is paused or not as before.
pub(super) fn is_as_read(member: &Member) -> &'static str {
    if member.paused_at.is_some() { "#role = :role AND attribute_exists(paused_at)" } else { IS_ACTIVE }
}

/// The keys of a membership's two items.
pub(super) fn membership_keys(workspace: &WorkspaceId, user: &UserId) -> [Key; 2] {
    [member_key(user, workspace), workspace_member_key(workspace, user)]
}
