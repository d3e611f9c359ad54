//! Items of accounts that were reclaimed.

use linklet_domain::{CorrelationId, FamiliarNetwork, Timestamp, UserId, WorkspaceId};
use serde::{Deserialize, Serialize};

use super::reclaim_key;
use crate::item::Key;

/// `RECLAIM#<user>` / `RECLAIM`: that a person has shown, by a mailed reset, that the address of an account is theirs, which nobody had
/// shown before. The stream of its changes is what has paused what others may have made in the account's name.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::users) struct ReclaimItem {
    #[serde(flatten)]
    pub key: Key,
    pub user_id: UserId,
    pub reclaimed_at: Timestamp,
    #[serde(flatten)]
    pub reclaimed_from: FamiliarNetwork,
    pub correlation_id: CorrelationId,
    /// The last workspace that is done with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<WorkspaceId>,
    /// How often the item was written.
    pub turn: u64,
}

impl ReclaimItem {
    pub(in crate::users) fn new(
        user: &UserId,
        reclaimed_at: Timestamp,
        reclaimed_from: &FamiliarNetwork,
        correlation_id: &CorrelationId,
    ) -> Self {
        Self {
            key: reclaim_key(user),
            user_id: *user,
            reclaimed_at,
            reclaimed_from: reclaimed_from.clone(),
            correlation_id: correlation_id.clone(),
            after: None,
            turn: 0,
        }
    }
}
