//! Shares of statistics, which are in StatsTable. They are made and ended here, since that is for members, and has entries in the audit
//! log.

use linklet_domain::{AuditAction, AuditContext, AuditSubject, Share, UserId};

use super::room::{SHARES_MADE, most_made};
use super::{ActiveSession, UsersTable};
use crate::transaction::{Transaction, retry_on_conflict};
use crate::{KeptAnswer, Result, StatsTable};

/// The outcome of sharing statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateShareOutcome {
    /// The share is created.
    Created,
    /// The workspace has [`Share::MAX_PER_WORKSPACE`] shares.
    TooMany,
    /// The caller is no longer a member of the workspace.
    NotAllowed,
    /// Another request with the same idempotency key was faster; its answer is the answer.
    IdempotencyKeyTaken,
}

/// The outcome of ending a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndShareOutcome {
    /// There is no such share any more.
    Ended,
    /// Somebody else has made the share, and the caller is no admin; or the caller has, and is no longer a member.
    NotAllowed,
}

impl UsersTable {
    /// Stores a share, if its creator is a member at least and the workspace has room for it, and what the creator is answered if their
    /// request has an idempotency key.
    ///
    /// # Errors
    /// When DynamoDB can't be reached. The share may be stored then, but nobody knows its token.
    pub async fn create_share(
        &self,
        shares: &StatsTable,
        share: &Share,
        creator: ActiveSession<'_>,
        answer: KeptAnswer<'_>,
        origin: &AuditContext,
    ) -> Result<CreateShareOutcome> {
        const OPERATION: &str = "create a share";
        let workspace = &share.workspace;
        let subject = AuditSubject::Share(share.id.clone());
        let created = origin.in_workspace(workspace, AuditAction::ShareCreated, subject).to(&share.shared.in_words());
        let not_allowed = Some(CreateShareOutcome::NotAllowed);
        retry_on_conflict(OPERATION, async || {
            let Some(made) = self.made_in(workspace).await? else { return Ok(not_allowed) };
            let there_are = shares.shares(workspace, share.created_at).await?.len();
            let Some(most) = most_made(made.shares_made, there_are, Share::MAX_PER_WORKSPACE) else {
                return Ok(Some(CreateShareOutcome::TooMany));
            };
            Transaction::new(OPERATION)
                .and_each(
                    self.keep_answer(creator.user, answer, share.created_at)?,
                    Some(CreateShareOutcome::IdempotencyKeyTaken),
                )
                .and(self.caller_may_change(workspace, creator.user, creator.user)?, not_allowed)
                .and_each(self.session_lasts(creator)?, not_allowed)
                .and(self.one_more_made(workspace, SHARES_MADE, most)?, None)
                .and(shares.new_share(share)?, None)
                .and(self.entry(&created)?, None)
                .commit(&self.0.client, CreateShareOutcome::Created)
                .await
        })
        .await
    }

    /// Ends a share that was read, if the caller has made it or is an admin.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn end_share(
        &self,
        shares: &StatsTable,
        share: &Share,
        caller: &UserId,
        origin: &AuditContext,
    ) -> Result<EndShareOutcome> {
        const OPERATION: &str = "end a share";
        let workspace = &share.workspace;
        let subject = AuditSubject::Share(share.id.clone());
        let ended = origin.in_workspace(workspace, AuditAction::ShareEnded, subject).from(&share.shared.in_words());
        retry_on_conflict(OPERATION, async || {
            Transaction::new(OPERATION)
                .and(self.caller_may_change(workspace, caller, &share.created_by)?, Some(EndShareOutcome::NotAllowed))
                // Somebody else was faster, which has an entry of its own.
                .and(shares.share_deletion(share)?, Some(EndShareOutcome::Ended))
                .and(self.entry(&ended)?, None)
                .commit(&self.0.client, EndShareOutcome::Ended)
                .await
        })
        .await
    }
}
