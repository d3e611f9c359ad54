//! What is paused since somebody has reclaimed their account.
//!
//! Anybody may register an address. When a mailed token for a new password is the first proof of whose the address is, somebody else
//! may have used the account before: made API keys with it, and let others into its workspaces. The transaction that sets the
//! password writes down that this is to be paused, and its stream brings the turns that do it, as with
//! [handovers](super::OpenHandover).
//!
//! Nobody adds anything meanwhile: whatever gives somebody access is a transaction that asks whether the session lasts in which it was
//! wanted, and whether the membership is active. So what a turn finds is all that there is.

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use linklet_domain::{CorrelationId, FamiliarNetwork, Origin, Timestamp, UserId, WorkspaceId, reclaim};

use super::{
    UsersTable,
    item::{ReclaimItem, reclaim_key},
};
use crate::{
    RepositoryError,
    item::{number, text},
    transaction::{Transaction, TransactionOutcome},
};

/// An account that was reclaimed, and in which of its workspaces nothing was paused yet.
#[derive(Debug)]
pub struct OpenReclaim(ReclaimItem);

impl OpenReclaim {
    /// The account.
    #[must_use]
    pub fn user(&self) -> &UserId {
        &self.0.user_id
    }

    /// When it was reclaimed.
    #[must_use]
    pub fn reclaimed_at(&self) -> Timestamp {
        self.0.reclaimed_at
    }

    /// From which network it was reclaimed, which the account knows since then.
    #[must_use]
    pub fn reclaimed_from(&self) -> &FamiliarNetwork {
        &self.0.reclaimed_from
    }

    /// Whether something that gives access is to go, by who made it and when. What the person has made since they reclaimed the account
    /// stays, and so does what others have made in a workspace that isn't the person's.
    #[must_use]
    pub fn concerns(&self, is_theirs: bool, made_by: &UserId, made_at: Timestamp) -> bool {
        if *made_by == self.0.user_id { reclaim::may_predate(made_at, self.0.reclaimed_at) } else { is_theirs }
    }

    /// Where what is paused comes from: from the request that did it.
    #[must_use]
    pub fn origin(&self) -> Origin {
        Origin::consequence(&self.0.correlation_id, Timestamp::now())
    }

    /// The correlation id of the request that did it.
    #[must_use]
    pub fn correlation_id(&self) -> &CorrelationId {
        &self.0.correlation_id
    }

    /// Whether this workspace comes after those that are done with. They are in the order of their ids.
    #[must_use]
    pub fn is_ahead(&self, workspace: &WorkspaceId) -> bool {
        self.0.after.as_ref().is_none_or(|after| workspace.to_string() > after.to_string())
    }
}

const RECLAIM: &str = "pause what others may have made";

impl UsersTable {
    /// Reads what is to be paused since somebody has reclaimed their account; `None` if that is done.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn reclaim(&self, user: &UserId) -> Result<Option<OpenReclaim>, RepositoryError> {
        Ok(self.0.get::<ReclaimItem>(RECLAIM, reclaim_key(user)).await?.map(OpenReclaim))
    }

    /// Notes up to which workspace a reclaim has come. The stream then brings the next turn.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn note_reclaim(&self, open: &OpenReclaim, done: Option<&WorkspaceId>) -> Result<(), RepositoryError> {
        let OpenReclaim(item) = open;
        let next = ReclaimItem { after: done.or(item.after.as_ref()).cloned(), turn: item.turn + 1, ..item.clone() };
        let action = self.0.put_if(RECLAIM, &next, IS_AS_READ, as_read(item))?;
        self.commit_reclaim(action).await
    }

    /// Ends a reclaim that is complete.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn end_reclaim(&self, open: &OpenReclaim) -> Result<(), RepositoryError> {
        let delete = self.0.delete(RECLAIM, open.0.key.clone()).only_if(IS_AS_READ);
        self.commit_reclaim(delete.values(as_read(&open.0)).action()?).await
    }

    /// Writes what a turn has come to. It changes nothing if another delivery of the turn was faster.
    async fn commit_reclaim(&self, action: TransactWriteItem) -> Result<(), RepositoryError> {
        match Transaction::new(RECLAIM).and(action, ()).send(&self.0.client).await? {
            TransactionOutcome::Committed | TransactionOutcome::Refused(()) => Ok(()),
            TransactionOutcome::InConflict => Err(RepositoryError::contention(RECLAIM)),
        }
    }
}

/// The condition that a reclaim was not written since it was read.
const IS_AS_READ: &str = "reclaimed_at = :reclaimed_at AND turn = :turn";

/// The values of [`IS_AS_READ`].
fn as_read(item: &ReclaimItem) -> [(&'static str, AttributeValue); 2] {
    [(":reclaimed_at", text(&item.reclaimed_at)), (":turn", number(&item.turn))]
}
