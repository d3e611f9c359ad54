//! Closing a workspace, and bringing it back.
//!
//! ```text
//! request ──→ closed_at, in one transaction with the job and its mark
//!               │ the job: memberships and API keys are marked, links are suspended, once more when environments have settled
//!             the mark is gone after a week ──→ the job purges what the workspace has, and at last the workspace itself
//! ```
//! Whoever brings it back takes `closed_at` away, in one transaction with a job that undoes what the first one has done. Each step of
//! either looks at `closed_at`, and leaves off if it says otherwise by now.

use linklet_domain::{
    AuditAction, AuditContext, AuditSubject, Closure, Job, Role, Timestamp, UserId, Workspace, WorkspaceId,
    WorkspaceSlug,
};

use super::item::workspace_key;
use super::members::{IS_ACTIVE, IS_OPEN, membership_keys};
use super::{ActiveSession, UsersTable};
use crate::item::text;
use crate::transaction::{Transaction, retry_on_conflict};
use crate::{JobMark, Result};

/// The outcome of closing a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseOutcome {
    /// It is closed, since now or before.
    Closed(Closure),
    /// It has another slug.
    OtherSlug,
    /// There is no such workspace.
    NoWorkspace,
    /// The caller is no longer an admin of the workspace, or their session has ended.
    CallerNotAdmin,
}

/// The outcome of bringing a workspace back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreOutcome {
    /// It is open again.
    Restored(Box<Workspace>),
    /// It is open already.
    Open,
    /// The time for that is over.
    Gone,
    /// There is no such workspace, or the caller wasn't its admin, or their session has ended.
    NoWorkspace,
}

const CLOSE: &str = "close a workspace";
const RESTORE: &str = "bring a workspace back";

impl UsersTable {
    /// Closes a workspace by a job, whatever other jobs run or wait, if it has this slug and the caller is an admin now.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn close_workspace(
        &self,
        job: &Job,
        slug: &WorkspaceSlug,
        caller: ActiveSession<'_>,
        origin: &AuditContext,
    ) -> Result<CloseOutcome> {
        let closure = Closure::restorable(origin.at, job.id);
        retry_on_conflict(CLOSE, async || {
            let Some(workspace) = self.workspace(&job.workspace).await? else {
                return Ok(Some(CloseOutcome::NoWorkspace));
            };
            if workspace.slug != *slug {
                return Ok(Some(CloseOutcome::OtherSlug));
            }
            if let Some(closure) = workspace.closure {
                return Ok(Some(CloseOutcome::Closed(closure)));
            }
            let not_admin = Some(CloseOutcome::CallerNotAdmin);
            // Their own membership is marked at once, so that they don't sign in to what they have just closed.
            let mut transaction = Transaction::new(CLOSE);
            for key in membership_keys(&workspace.id, caller.user) {
                let update = self.0.update(CLOSE, key, "SET closed_at = :at").only_if(IS_ACTIVE);
                let update = update.value(":at", text(&closure.closed_at)).value(":role", text(&Role::Admin));
                transaction = transaction.and(update.action()?, not_admin);
            }
            let transaction = transaction.and_each(self.session_lasts(caller)?, not_admin);
            let transaction = self.and_closure(transaction, &workspace, job, &closure, None).await?;
            let entry =
                origin.in_workspace(&workspace.id, AuditAction::WorkspaceClosed, AuditSubject::Workspace(workspace.id));
            transaction.and(self.entry(&entry)?, None).commit(&self.0.client, CloseOutcome::Closed(closure)).await
        })
        .await
    }

    /// Adds to a transaction that a workspace of this slug is closed, unless it is already, with the job that does the rest.
    pub(super) async fn and_closure<T: Clone>(
        &self,
        transaction: Transaction<T>,
        workspace: &Workspace,
        job: &Job,
        closure: &Closure,
        refusal: T,
    ) -> Result<Transaction<T>> {
        const CLOSED: &str = "SET closed_at = :at, restorable_until = :until, closing_job = :job";
        let closed = self
            .0
            .update(CLOSE, workspace_key(&workspace.id), CLOSED)
            .only_if(format!("slug = :slug AND {IS_OPEN}"))
            .values([
                (":at", text(&closure.closed_at)),
                (":until", text(&closure.restorable_until)),
                (":job", text(&closure.job)),
                (":slug", text(&workspace.slug)),
            ]);
        Ok(transaction
            .and(closed.action()?, refusal.clone())
            .and_each(self.2.preempted_by(job).await?, refusal.clone())
            .and(self.2.schedule_recheck(job)?, refusal.clone())
            .and(self.2.mark_action(&job.run().id, JobMark::Closed, closure.restorable_until)?, refusal))
    }

    /// Brings a closed workspace back by a job, if the caller was its admin and the time for that isn't over.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn restore_workspace(
        &self,
        job: &Job,
        caller: ActiveSession<'_>,
        origin: &AuditContext,
    ) -> Result<RestoreOutcome> {
        const OPENED: &str = "REMOVE closed_at, restorable_until, closing_job";
        const NONE: Option<RestoreOutcome> = Some(RestoreOutcome::NoWorkspace);
        retry_on_conflict(RESTORE, async || {
            let Some(workspace) = self.workspace(&job.workspace).await? else { return Ok(NONE) };
            let Some(closure) = workspace.closure else {
                return self.told_to_admins(&workspace.id, caller.user, RestoreOutcome::Open).await;
            };
            // A slow request may have come before the purge has begun, and get here after it.
            let now = origin.at.max(Timestamp::now());
            if closure.is_over(now) {
                return self.told_to_admins(&workspace.id, caller.user, RestoreOutcome::Gone).await;
            }
            let opened = self
                .0
                .update(RESTORE, workspace_key(&workspace.id), OPENED)
                .only_if("closed_at = :at AND restorable_until > :now")
                .values([(":at", text(&closure.closed_at)), (":now", text(&now))]);
            let mut transaction = Transaction::new(RESTORE);
            // Their own membership opens the workspace at once.
            for key in membership_keys(&workspace.id, caller.user) {
                let update = self.0.update(RESTORE, key, "REMOVE closed_at").only_if(IS_ACTIVE);
                transaction = transaction.and(update.value(":role", text(&Role::Admin)).action()?, NONE);
            }
            let entry = origin.in_workspace(
                &workspace.id,
                AuditAction::WorkspaceRestored,
                AuditSubject::Workspace(workspace.id),
            );
            transaction
                .and_each(self.session_lasts(caller)?, NONE)
                .and(opened.action()?, None)
                .and_each(self.2.preempted_by(job).await?, None)
                .and(self.2.unmark_action(&workspace.id, &closure.job, JobMark::Closed)?, None)
                .and(self.2.schedule_recheck(job)?, None)
                .and(self.entry(&entry)?, None)
                .commit(&self.0.client, RestoreOutcome::Restored(Box::new(Workspace { closure: None, ..workspace })))
                .await
        })
        .await
    }

    /// What an admin is told about a workspace that they can't bring back, and nobody else.
    async fn told_to_admins(
        &self,
        workspace: &WorkspaceId,
        user: &UserId,
        outcome: RestoreOutcome,
    ) -> Result<Option<RestoreOutcome>> {
        let member = self.member(workspace, user).await?;
        let is_admin = member.is_some_and(|member| member.active_role() == Some(Role::Admin));
        Ok(Some(if is_admin { outcome } else { RestoreOutcome::NoWorkspace }))
    }
}
