//! Handovers of what members leave behind.
//!
//! ```text
//! removal ──→ handover, open in the removal's transaction
//!               │ stream: a turn, which notes how far it has come; that is in the stream again, so another turn follows
//!             all is handed over ──→ the handover rests, beside a marker with a TTL
//!               │ stream: the marker is gone
//!             the last pass, since what was under way when the member left has come to its end ──→ the handover is deleted
//! ```
//! A turn that is repeated finds done what it has done. Each write of a handover is conditional on the one before, so a turn
//! that comes late, or one for an earlier removal of the same person, changes nothing.

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use linklet_domain::{
    AuditAction, AuditSubject, Handover, KeysLeft, Member, Origin, PageToken, ShortCode, Timestamp, UserId, WorkspaceId,
};

use super::{
    UsersTable,
    item::{HandoverItem, RevisitItem, WorkspaceKeyItem, api_key_key, handover_key},
    keys::KEYS_AT_ONCE,
};
use crate::{
    Cursor, RepositoryError,
    item::{Key, number, text},
    transaction::{Transaction, TransactionOutcome, retry_on_conflict},
};

/// The end of a membership.
#[derive(Debug, Clone)]
pub struct Removal<'a> {
    /// The workspace.
    pub workspace: &'a WorkspaceId,
    /// Who asks for it: an admin, or the member.
    pub caller: &'a UserId,
    /// The member.
    pub user: &'a UserId,
    /// What becomes of the member's API keys.
    pub keys: KeysLeft,
    /// The time of the request.
    pub at: Timestamp,
    /// Where it comes from.
    pub origin: Origin,
}

impl Removal<'_> {
    pub(super) fn handover(&self, heir: UserId) -> Handover {
        Handover {
            workspace: *self.workspace,
            leaver: *self.user,
            heir,
            keys: self.keys,
            left_at: self.at,
            correlation_id: self.origin.correlation_id.clone(),
        }
    }
}

/// A handover that isn't complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenHandover {
    /// What is handed over, and to whom.
    pub handover: Handover,
    /// How far it has come.
    pub stage: HandoverStage,
    /// Whether this is the last pass.
    pub is_last: bool,
    /// How often it was written.
    pub(super) turn: u64,
}

/// How far a pass of a handover has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandoverStage {
    /// Links, from after this one on.
    Links(Option<Cursor<ShortCode>>),
    /// Monitored URLs, from after this one on.
    Targets(Option<PageToken>),
    /// The first pass is complete, and its marker brings the last one.
    Rests,
}

const HAND_OVER: &str = "hand over what a member leaves";

impl UsersTable {
    /// Reads the handover of what somebody has left in a workspace; `None` if it is complete.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn handover(
        &self,
        workspace: &WorkspaceId,
        leaver: &UserId,
    ) -> Result<Option<OpenHandover>, RepositoryError> {
        const OPERATION: &str = "read a handover";
        let found = self.0.get::<HandoverItem>(OPERATION, handover_key(workspace, leaver)).await?;
        found.map(OpenHandover::try_from).transpose().map_err(RepositoryError::unexpected_item(OPERATION))
    }

    /// Notes how far a handover has come. The stream then brings the next turn.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn note_handover(&self, open: &OpenHandover, stage: HandoverStage) -> Result<(), RepositoryError> {
        self.commit_turn(vec![self.turn(open, stage, open.is_last)?]).await
    }

    /// Lets a handover rest until nothing can be created in the leaver's name any more.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn rest_handover(&self, open: &OpenHandover) -> Result<(), RepositoryError> {
        let marker = self.0.put(HAND_OVER, &RevisitItem::new(&open.handover))?;
        self.commit_turn(vec![self.turn(open, HandoverStage::Rests, false)?, marker]).await
    }

    /// Begins the last pass of a handover that rests.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn begin_last_pass(&self, open: &OpenHandover) -> Result<(), RepositoryError> {
        self.commit_turn(vec![self.turn(open, HandoverStage::Links(None), true)?]).await
    }

    /// Deletes a handover that is complete.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn end_handover(&self, open: &OpenHandover) -> Result<(), RepositoryError> {
        let Handover { workspace, leaver, .. } = &open.handover;
        let delete = self.0.delete(HAND_OVER, handover_key(workspace, leaver)).only_if(IS_AS_READ);
        self.commit_turn(vec![delete.values(as_read(open)).action()?]).await
    }

    /// An action that opens a handover. It takes the place of that of an earlier removal of the same person, since it hands over
    /// all that one would.
    pub(super) fn open_handover(&self, handover: Handover) -> Result<TransactWriteItem, RepositoryError> {
        let open = OpenHandover { handover, stage: HandoverStage::Links(None), is_last: false, turn: 0 };
        self.0.put(HAND_OVER, &HandoverItem::from(&open))
    }

    fn turn(
        &self,
        open: &OpenHandover,
        stage: HandoverStage,
        is_last: bool,
    ) -> Result<TransactWriteItem, RepositoryError> {
        let next = OpenHandover { handover: open.handover.clone(), stage, is_last, turn: open.turn + 1 };
        self.0.put_if(HAND_OVER, &HandoverItem::from(&next), IS_AS_READ, as_read(open))
    }

    /// Sends what is written at the end of a turn. It changes nothing if the handover isn't as it was read.
    async fn commit_turn(&self, actions: Vec<TransactWriteItem>) -> Result<(), RepositoryError> {
        let transaction =
            actions.into_iter().fold(Transaction::new(HAND_OVER), |transaction, action| transaction.and(action, ()));
        match transaction.send(&self.0.client).await? {
            TransactionOutcome::Committed | TransactionOutcome::Refused(()) => Ok(()),
            TransactionOutcome::InConflict => Err(RepositoryError::contention(HAND_OVER)),
        }
    }

    /// Revokes the API keys that somebody who has left a workspace had made until a time, or makes them an heir's.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn settle_keys(
        &self,
        workspace: &WorkspaceId,
        leaver: &UserId,
        until: Timestamp,
        heir: Option<&Member>,
        origin: &Origin,
    ) -> Result<(), RepositoryError> {
        retry_on_conflict(SETTLE_KEYS, || self.try_to_settle_keys(workspace, leaver, until, heir, origin)).await
    }

    async fn try_to_settle_keys(
        &self,
        workspace: &WorkspaceId,
        leaver: &UserId,
        until: Timestamp,
        heir: Option<&Member>,
        origin: &Origin,
    ) -> Result<Option<()>, RepositoryError> {
        let mut rows = self.key_rows(workspace, Timestamp::now()).await?;
        rows.retain(|row| row.attributes.created_by == *leaver && row.attributes.created_at <= until);
        for some in rows.chunks(KEYS_AT_ONCE) {
            let mut transaction = Transaction::new(SETTLE_KEYS);
            for row in some {
                for action in self.key_settlement(row, heir)? {
                    transaction = transaction.and(action, ());
                }
                let subject = AuditSubject::Key(row.attributes.prefix.clone());
                let entry = match heir {
                    Some(heir) => {
                        let kept = origin.in_workspace(workspace, AuditAction::KeyKept, subject);
                        kept.from(leaver).to(&heir.user)
                    }
                    None => origin.in_workspace(workspace, AuditAction::KeyRevoked, subject),
                };
                transaction = transaction.and(self.entry(&entry)?, ());
            }
            if transaction.send(&self.0.client).await? != TransactionOutcome::Committed {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    fn key_settlement(
        &self,
        row: &WorkspaceKeyItem,
        heir: Option<&Member>,
    ) -> Result<[TransactWriteItem; 2], RepositoryError> {
        let Some(heir) = heir else { return Ok([self.key_row_deletion(row)?, self.key_deletion(&row.key_hash)?]) };
        let of_heir = |key| self.key_handover(key, &row.attributes.created_by, heir);
        Ok([of_heir(row.key.clone())?, of_heir(api_key_key(&row.key_hash))?])
    }

    fn key_handover(&self, key: Key, from: &UserId, to: &Member) -> Result<TransactWriteItem, RepositoryError> {
        self.0
            .update(SETTLE_KEYS, key, "SET created_by = :heir")
            .only_if("created_by = :leaver")
            .values([(":leaver", text(from)), (":heir", text(&to.user))])
            .action()
    }
}

const SETTLE_KEYS: &str = "settle the API keys of somebody who has left";

/// The condition that a handover was neither written since it was read, nor replaced by that of a later removal.
const IS_AS_READ: &str = "left_at = :left_at AND turn = :turn";

/// The values of [`IS_AS_READ`].
fn as_read(open: &OpenHandover) -> [(&'static str, AttributeValue); 2] {
    [(":left_at", text(&open.handover.left_at)), (":turn", number(&open.turn))]
}
