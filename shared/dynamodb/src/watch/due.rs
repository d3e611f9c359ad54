//! The targets of a host shard, which a tick reads.

use linklet_domain::{Host, HostShard, TargetHealth, TargetId, TargetMark, TargetUrl, Timestamp, UserId, WorkspaceId};
use serde::Deserialize;

use super::{WatchTable, item::shard_partition};
use crate::item::{Item, from_item, text};
use crate::{RepositoryError, Result};

const READ_SHARD: &str = "read the targets of a shard";

/// The attributes of a [`DueTarget`]. `#url`, `#host` and `#status` stand for reserved words.
const DUE_PROJECTION: &str = "sk, workspace_id, creator, created_at, #url, #host, #status, failed_slot";

/// A target that is due for a check.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct DueTarget {
    /// The target's id.
    #[serde(rename = "sk")]
    pub id: TargetId,
    /// The target's workspace.
    #[serde(rename = "workspace_id")]
    pub workspace: WorkspaceId,
    /// Who created the workspace.
    #[serde(rename = "creator")]
    pub workspace_creator: UserId,
    /// When the target was created.
    pub created_at: Timestamp,
    /// The URL to fetch.
    pub url: TargetUrl,
    /// The host, whose checks run one at a time.
    pub host: Host,
    /// How the target stood when it was read.
    #[serde(flatten)]
    pub health: TargetHealth,
}

impl DueTarget {
    /// What tells the target's results from others.
    pub fn mark(&self) -> TargetMark {
        TargetMark::of(&self.id, self.created_at)
    }
}

/// A range of a host shard's targets in the order of their ids.
#[derive(Debug, Clone, PartialEq)]
pub struct ShardRange {
    shard: HostShard,
    condition: &'static str,
    split: Option<TargetId>,
    /// The exclusive start key of the next query.
    start_key: Option<Item>,
}

impl ShardRange {
    /// All targets of a host shard.
    pub fn all(shard: HostShard) -> Self {
        Self { shard, condition: "pk = :shard", split: None, start_key: None }
    }

    /// Splits a host shard into two ranges: the ids from that of a number on, and those before. A caller that doesn't read all of them
    /// can split at a random number, so that no target is always left out.
    pub fn split_at(shard: HostShard, number: u128) -> [Self; 2] {
        let split = TargetId::in_shard(shard, number);
        ["pk = :shard AND sk >= :split", "pk = :shard AND sk < :split"].map(|condition| Self {
            shard,
            condition,
            split: Some(split.clone()),
            start_key: None,
        })
    }
}

/// A page of due targets.
#[derive(Debug, Default)]
pub struct DuePage {
    /// The targets to check.
    pub targets: Vec<DueTarget>,
    /// The items that can't be deserialised. They don't prevent the checks of other targets.
    pub unreadable: Vec<UnreadableTarget>,
    /// The rest of the range; `None` on the last page.
    pub rest: Option<ShardRange>,
}

/// The item of a target that doesn't have the attributes that this version of Linklet writes.
#[derive(Debug)]
pub struct UnreadableTarget {
    /// The target's id, which is the item's sort key.
    pub id: String,
    /// The deserialisation error.
    pub error: RepositoryError,
}

impl WatchTable {
    /// Reads the next targets of a range with one eventually consistent query: at most `limit`, which must not be 0, and at
    /// most 1 MB.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn due(&self, range: &ShardRange, limit: usize) -> Result<DuePage> {
        let query = self
            .table
            .client
            .query()
            .table_name(&self.table.name)
            .key_condition_expression(range.condition)
            .expression_attribute_values(":shard", text(&shard_partition(range.shard)))
            .projection_expression(DUE_PROJECTION)
            .expression_attribute_names("#url", "url")
            .expression_attribute_names("#host", "host")
            .expression_attribute_names("#status", "status")
            .set_exclusive_start_key(range.start_key.clone())
            .limit(i32::try_from(limit).unwrap_or(i32::MAX));
        let query = match &range.split {
            Some(split) => query.expression_attribute_values(":split", text(split)),
            None => query,
        };
        let answer = query.send().await.map_err(RepositoryError::unavailable(READ_SHARD))?;
        let mut page = DuePage::default();
        for row in answer.items.unwrap_or_default() {
            match due_target(row) {
                Ok(target) => page.targets.push(target),
                Err(row) => page.unreadable.push(row),
            }
        }
        page.rest = answer.last_evaluated_key.map(|key| ShardRange { start_key: Some(key), ..range.clone() });
        Ok(page)
    }
}

fn due_target(row: Item) -> Result<DueTarget, UnreadableTarget> {
    let id = row.get("sk").and_then(|id| id.as_s().ok()).cloned().unwrap_or_default();
    from_item(READ_SHARD, row).map_err(|error| UnreadableTarget { id, error })
}
