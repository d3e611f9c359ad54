//! Partitions: who works on their ticks, and what one tick leaves to the next.

use linklet_domain::{CheckPartition, CorrelationId, PlannedTick, TargetId, lifetimes};
use serde::{Deserialize, Serialize};

use super::WatchTable;
use super::item::{NotesItem, notes_key, partitions_key};
use crate::item::{Item, number, text};
use crate::write::Outcome;
use crate::{Consistency, Result};

/// What a partition's worker tells the next one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionNotes {
    /// The targets that are checked first, since there was no time for them.
    #[serde(default)]
    pub first: Vec<TargetId>,
    /// Whether there were more targets than were read.
    pub is_cut: bool,
}

impl WatchTable {
    /// Has a worker take a partition until the next tick begins, and returns whether it may work: not if another has this tick, a
    /// later one, or one that isn't over, in this or any other division into partitions. It takes one write, and ends by itself, so a
    /// worker that dies costs its own tick.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn take_partition(&self, tick: &PlannedTick, worker: &CorrelationId) -> Result<bool> {
        const TAKE: &str = "take a partition";
        let (mut changes, mut conditions, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for shard in tick.partition.shards() {
            let name = format!("t{shard}");
            changes.push(format!("{name} = :until"));
            conditions.push(format!("(attribute_not_exists({name}) OR {name} <= :slot)"));
            names.push(name);
        }
        let by = format!("w{}", tick.partition.number());
        let until = number(&tick.ends_at().unix_seconds());
        let update = self.table.update(TAKE, partitions_key(), format!("SET {}, {by} = :worker", changes.join(", ")));
        let update = update.only_if(conditions.join(" AND ")).values([
            (":until", until.clone()),
            (":slot", number(&tick.slot.unix_seconds())),
            (":worker", text(worker)),
        ]);
        Ok(match update.send().await? {
            Outcome::Done(_) => true,
            // The answer to an earlier try may have been lost.
            Outcome::Refused(found) => {
                let is_own = |found: &Item| {
                    found.get(&by) == Some(&text(worker)) && names.iter().all(|name| found.get(name) == Some(&until))
                };
                found.as_ref().is_some_and(is_own)
            }
        })
    }

    /// Reads what the last worker of a partition has told, by an eventually consistent read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn notes(&self, partition: CheckPartition) -> Result<PartitionNotes> {
        const OPERATION: &str = "read a partition's notes";
        let found = self.table.get_with::<NotesItem>(OPERATION, notes_key(partition), Consistency::Eventual).await?;
        Ok(found.map(|item| item.value).unwrap_or_default())
    }

    /// Stores what a worker tells the next one, in the place of what it was told.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn note(&self, tick: &PlannedTick, notes: &PartitionNotes) -> Result<()> {
        let ttl = Some(tick.slot.plus(lifetimes::PARTITION_NOTES).unix_seconds());
        let item = NotesItem { key: notes_key(tick.partition), value: notes.clone(), ttl };
        self.table.put_item("store a partition's notes", &item)?.or_fail().await
    }
}
