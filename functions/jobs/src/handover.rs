//! Handing over what a member leaves behind: links and monitored URLs to an heir, and API keys, unless those are revoked.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use linklet_domain::{
    AuditContext, CorrelationId, Handover, Invalid, JobProgress, KeysLeft, Member, PageToken, Timestamp,
};
use linklet_dynamodb::{Cursor, LinksTable, RepositoryError, Result, UsersTable, WatchTable};
use serde::{Deserialize, Serialize};

use crate::pass::{Pass, PassStep};
use crate::{Next, Piece};

/// The kind of task that hands over what members leave.
pub struct HandoverWork {
    /// The repository of members, invitations and API keys.
    pub users: UsersTable,
    /// The repository of links.
    pub links: LinksTable,
    /// The repository of monitored URLs.
    pub targets: WatchTable,
    /// How many links of a workspace are looked at with one read. Writing as many takes some seconds.
    pub links_at_once: usize,
}

/// How far a pass has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub(crate) enum Step {
    /// Links, from after this one on. API keys and invitations come before the first.
    Links { after: Option<String> },
    /// Monitored URLs, from after this one on.
    Targets { after: Option<String> },
    /// Nothing, until a mark is gone.
    Rest,
}

impl PassStep for Step {
    const FIRST: Self = Self::Links { after: None };
    const REST: Self = Self::Rest;
}

/// What is handed over, from whom and to whom.
struct Transfer<'a> {
    handover: &'a Handover,
    heir: &'a Member,
    /// The last time of creation of what is handed over.
    created_until: Timestamp,
    correlation_id: &'a CorrelationId,
}

const READ_CURSOR: &str = "read a checkpoint";

impl HandoverWork {
    /// How many links or monitored URLs are written at once.
    const CONCURRENCY: usize = 16;

    /// Does the next piece.
    pub(crate) async fn next(
        &self,
        handover: &Handover,
        correlation_id: &CorrelationId,
        pass: Option<Pass<Step>>,
        now: Timestamp,
    ) -> Result<Piece<Pass<Step>>> {
        // Each time anew, since the heir may have left since.
        let members = self.users.members(&handover.workspace).await?;
        let Some(heir) = handover.heir_among(&members) else {
            // Everybody else has left since. Somebody who has come back keeps what they had.
            if members.iter().any(|member| member.user == handover.leaver) {
                return Ok(Piece::then(Next::End));
            }
            let nobody = Invalid::new("the workspace has no other admin");
            return Err(RepositoryError::unexpected_item("find who gets what a member leaves")(nobody));
        };
        let transfer = Transfer { handover, heir, created_until: handover.created_until(&members), correlation_id };
        let pass = pass.unwrap_or_else(|| Pass::first(handover.caches_expire_at(), now));
        let (step, changed) = match &pass.step {
            Step::Links { after } => {
                if after.is_none() {
                    self.hand_over_access(&transfer).await?;
                }
                self.hand_over_links(&transfer, after.as_deref()).await?
            }
            Step::Targets { after } => self.hand_over_targets(&transfer, after.as_deref()).await?,
            Step::Rest => return Ok(Piece::then(Next::Rest(pass, None))),
        };
        let next = match step {
            Step::Rest if pass.is_last() => Next::End,
            Step::Rest => pass.once_more(now),
            step => Next::GoOn(pass.at(step)),
        };
        Ok(Piece { progress: JobProgress { seen: changed, changed, ..JobProgress::default() }, next })
    }

    async fn hand_over_access(&self, transfer: &Transfer<'_>) -> Result<()> {
        let Transfer { handover: Handover { workspace, leaver, keys, .. }, heir, created_until, .. } = *transfer;
        let origin = AuditContext::consequence(transfer.correlation_id, Timestamp::now());
        let heir = (*keys == KeysLeft::Kept).then_some(heir);
        self.users.revoke_keys(workspace, leaver, created_until, heir, &origin).await?;
        self.users.withdraw_invitations_by(workspace, leaver, created_until, &origin).await
    }

    /// Hands over the next links. Returns what comes after them, and how many they were.
    async fn hand_over_links(&self, transfer: &Transfer<'_>, after: Option<&str>) -> Result<(Step, u64)> {
        let Transfer { handover: Handover { workspace, leaver, .. }, heir, created_until, .. } = *transfer;
        let after = after.map(Cursor::decode).transpose().map_err(RepositoryError::unexpected_item(READ_CURSOR))?;
        let owned = self.links.owned(workspace, leaver, created_until, after.as_ref(), self.links_at_once).await?;
        let hand_over = |code| self.links.hand_over(code, leaver, &heir.user, transfer.correlation_id);
        let handed: Vec<_> = owned.codes.iter().map(hand_over).collect();
        stream::iter(handed).buffer_unordered(Self::CONCURRENCY).try_collect::<()>().await?;
        transfer.log("links", owned.codes.len());
        let rest = owned.rest.map(|rest| Step::Links { after: Some(rest.encode()) });
        Ok((rest.unwrap_or(Step::Targets { after: None }), owned.codes.len() as u64))
    }

    /// Hands over the next monitored URLs. Returns what comes after them, and how many they were.
    async fn hand_over_targets(&self, transfer: &Transfer<'_>, after: Option<&str>) -> Result<(Step, u64)> {
        let Transfer { handover: Handover { workspace, leaver, .. }, heir, created_until, .. } = *transfer;
        let after = after.map(PageToken::decode).transpose().map_err(RepositoryError::unexpected_item(READ_CURSOR))?;
        let owned = self.targets.owned(workspace, leaver, created_until, after.as_ref()).await?;
        let handed: Vec<_> = owned.ids.iter().map(|id| self.targets.hand_over(id, leaver, &heir.user)).collect();
        stream::iter(handed).buffer_unordered(Self::CONCURRENCY).try_collect::<()>().await?;
        transfer.log("targets", owned.ids.len());
        let rest = owned.rest.map(|rest| Step::Targets { after: Some(rest.encode()) });
        Ok((rest.unwrap_or(Step::Rest), owned.ids.len() as u64))
    }
}

impl Transfer<'_> {
    /// Logs what was handed over, unless that is nothing.
    fn log(&self, what: &'static str, number: usize) {
        let Handover { workspace, leaver, .. } = self.handover;
        if number > 0 {
            tracing::info!(workspace_id = %workspace, user_id = %leaver, what, number, "handed over");
        }
    }
}
