//! Items of what somebody has left behind.

use linklet_domain::{CorrelationId, Handover, Invalid, KeysLeft, PageToken, Timestamp, UserId, WorkspaceId};
use serde::{Deserialize, Serialize};

use super::{REVISIT_PREFIX, handover_key, workspace_partition};
use crate::{
    Cursor,
    item::Key,
    users::{HandoverStage, OpenHandover},
};

/// `WS#<id>` / `HANDOVER#<user>`: what is to be handed over since this person has left, and how far that has come. The stream
/// of its changes is what carries it out.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::users) struct HandoverItem {
    #[serde(flatten)]
    pub key: Key,
    pub workspace_id: WorkspaceId,
    pub user_id: UserId,
    pub heir: UserId,
    pub keeps_keys: bool,
    pub left_at: Timestamp,
    pub stage: Stage,
    /// The last link or target that the stage has come to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    pub is_last: bool,
    /// How often the item was written.
    pub turn: u64,
    pub correlation_id: CorrelationId,
}

/// What a handover is about at the moment.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::users) enum Stage {
    Links,
    Targets,
    Rests,
}

impl From<&OpenHandover> for HandoverItem {
    fn from(open: &OpenHandover) -> Self {
        let Handover { workspace, leaver, heir, keys, left_at, correlation_id } = open.handover.clone();
        let (stage, after) = match &open.stage {
            HandoverStage::Links(after) => (Stage::Links, after.as_ref().map(Cursor::encode)),
            HandoverStage::Targets(after) => (Stage::Targets, after.as_ref().map(PageToken::encode)),
            HandoverStage::Rests => (Stage::Rests, None),
        };
        Self {
            key: handover_key(&workspace, &leaver),
            workspace_id: workspace,
            user_id: leaver,
            heir,
            keeps_keys: keys == KeysLeft::Kept,
            left_at,
            stage,
            after,
            is_last: open.is_last,
            turn: open.turn,
            correlation_id,
        }
    }
}

impl TryFrom<HandoverItem> for OpenHandover {
    type Error = Invalid;

    fn try_from(item: HandoverItem) -> Result<Self, Invalid> {
        let after = item.after.as_deref();
        let stage = match item.stage {
            Stage::Links => HandoverStage::Links(after.map(Cursor::decode).transpose()?),
            Stage::Targets => HandoverStage::Targets(after.map(PageToken::decode).transpose()?),
            Stage::Rests => HandoverStage::Rests,
        };
        let handover = Handover {
            workspace: item.workspace_id,
            leaver: item.user_id,
            heir: item.heir,
            keys: if item.keeps_keys { KeysLeft::Kept } else { KeysLeft::Revoked },
            left_at: item.left_at,
            correlation_id: item.correlation_id,
        };
        Ok(Self { handover, stage, is_last: item.is_last, turn: item.turn })
    }
}

/// `WS#<id>` / `REVISIT#<user>`: the marker beside a handover that rests. Its deletion by TTL brings the last pass.
#[derive(Debug, Serialize)]
pub(in crate::users) struct RevisitItem {
    #[serde(flatten)]
    pub key: Key,
    pub ttl: i64,
}

impl RevisitItem {
    pub(in crate::users) fn new(handover: &Handover) -> Self {
        let Handover { workspace, leaver, .. } = handover;
        let key = Key::new(workspace_partition(workspace), format!("{REVISIT_PREFIX}{leaver}"));
        // Rounded up, since a marker that is gone before its time would bring the last pass too early.
        Self { key, ttl: handover.settled_at().unix_seconds() + 1 }
    }
}
