//! What becomes of what a member leaves behind.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{
    AuditAction, AuditContext, AuditSubject, Handover, KeysLeft, Member, Task, TaskWork, Timestamp, UserId, WorkspaceId,
};

use super::UsersTable;
use super::item::{KeyItem, api_key_key};
use super::keys::KEYS_AT_ONCE;
use crate::Result;
use crate::item::{Key, text};
use crate::transaction::{Transaction, TransactionOutcome, retry_on_conflict};

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
    pub origin: AuditContext,
}

impl Removal<'_> {
    /// The task that hands over what the member leaves.
    pub(super) fn handover(&self, heir: UserId) -> Task {
        let handover =
            Handover { workspace: *self.workspace, leaver: *self.user, heir, keys: self.keys, left_at: self.at };
        Task::new(TaskWork::HandOver(handover), self.at, &self.origin.correlation_id)
    }
}

const REVOKE_KEYS: &str = "revoke the API keys of a former member";

impl UsersTable {
    /// Revokes the API keys that somebody who has left a workspace had made until a time, or makes them an heir's.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn revoke_keys(
        &self,
        workspace: &WorkspaceId,
        leaver: &UserId,
        until: Timestamp,
        heir: Option<&Member>,
        origin: &AuditContext,
    ) -> Result<()> {
        retry_on_conflict(REVOKE_KEYS, async || {
            let mut rows = self.key_rows(workspace, Timestamp::now()).await?;
            rows.retain(|row| row.value.created_by == *leaver && row.value.created_at <= until);
            for some in rows.chunks(KEYS_AT_ONCE) {
                let mut transaction = Transaction::new(REVOKE_KEYS);
                for row in some {
                    transaction = transaction.and_each(self.key_revocation(row, heir)?, ());
                    let subject = AuditSubject::Key(row.value.prefix.clone());
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
        })
        .await
    }

    fn key_revocation(&self, row: &KeyItem, heir: Option<&Member>) -> Result<[TransactWriteItem; 2]> {
        let Some(heir) = heir else { return Ok([self.key_row_deletion(row)?, self.key_deletion(&row.value.hash)?]) };
        let of_heir = |key| self.key_handover(key, &row.value.created_by, heir);
        Ok([of_heir(row.key.clone())?, of_heir(api_key_key(&row.value.hash))?])
    }

    fn key_handover(&self, key: Key, from: &UserId, to: &Member) -> Result<TransactWriteItem> {
        self.0
            .update(REVOKE_KEYS, key, "SET created_by = :heir")
            .only_if("created_by = :leaver")
            .values([(":leaver", text(from)), (":heir", text(&to.user))])
            .action()
    }
}
