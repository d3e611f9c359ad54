//! Changes of how a target stands, which its results cause.
//!
//! A change is one conditional update of the target, after the results of its tick are stored: so a change is never told without
//! them. A worker that dies in between changes nothing, and the next tick decides by what is stored then.

use aws_sdk_dynamodb::types::AttributeValue;
use linklet_domain::{CheckResult, EventId, TargetHealth, TargetStatus, Timestamp};

use super::item::{TargetItem, target_key};
use super::{CheckedTarget, WatchTable};
use crate::Result;
use crate::item::{number, text};
use crate::transaction::retry_on_conflict;

const CONCLUDE: &str = "change a target's status";

impl WatchTable {
    /// Changes how a target stands after its check in the tick of a slot, and returns its status if that has changed. A success
    /// of a target that is up takes neither a read nor a write.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn conclude(&self, slot: Timestamp, checked: &CheckedTarget) -> Result<Option<TargetStatus>> {
        // What was read at the beginning of the tick, and what is read now if that isn't so any more.
        let mut known = Some(checked.target.health);
        retry_on_conflict(CONCLUDE, || self.try_to_conclude(slot, checked, known.take())).await
    }

    /// Returns `None` if the target has another health than the one that was given.
    async fn try_to_conclude(
        &self,
        slot: Timestamp,
        checked: &CheckedTarget,
        known: Option<TargetHealth>,
    ) -> Result<Option<Option<TargetStatus>>> {
        let health = match known {
            Some(health) => health,
            None => match self.standing_now(checked).await? {
                Some(health) => health,
                None => return Ok(Some(None)),
            },
        };
        let next = self.next_health(slot, checked, health).await?;
        if next == health {
            return Ok(Some(None));
        }
        let is_done = self.change(checked, health, next).await?;
        Ok(is_done.then_some((next.status != health.status).then_some(next.status)))
    }

    /// How the target stands, unless it is gone or its status is newer than the check.
    async fn standing_now(&self, checked: &CheckedTarget) -> Result<Option<TargetHealth>> {
        let found = self.table.get::<TargetItem>(CONCLUDE, target_key(&checked.target.id)).await?;
        let is_of_check = |item: &TargetItem| {
            item.target.created_at == checked.target.created_at && item.target.status_since <= checked.result.checked_at
        };
        Ok(found
            .filter(is_of_check)
            .map(|item| TargetHealth { status: item.target.status, failed_slot: item.failed_slot }))
    }

    async fn next_health(
        &self,
        slot: Timestamp,
        checked: &CheckedTarget,
        health: TargetHealth,
    ) -> Result<TargetHealth> {
        if !checked.result.is_failure() {
            return Ok(health.after_success());
        }
        let has_succeeded = match health.failed_slot.filter(|failed| *failed < slot) {
            Some(failed) => self.has_succeeded(&checked.target, failed, slot).await?,
            None => false,
        };
        Ok(health.after_failure(slot, has_succeeded))
    }

    async fn change(&self, checked: &CheckedTarget, from: TargetHealth, to: TargetHealth) -> Result<bool> {
        let CheckedTarget { target, result } = checked;
        let (mut set, mut remove, mut values) = (Vec::new(), Vec::new(), Vec::new());
        if to.status != from.status {
            let (reason, other, value) = reason_of(result);
            set.extend(["#status = :status", "status_since = :at", "change_id = :change", reason]);
            remove.push(other);
            values.extend([(":status", text(&to.status)), (":change", text(&EventId::generate())), (":reason", value)]);
        }
        match to.failed_slot {
            Some(slot) => {
                set.push("failed_slot = :failed");
                values.push((":failed", text(&slot)));
            }
            None => remove.push("failed_slot"),
        }
        let is_known = match from.failed_slot {
            Some(slot) => {
                values.push((":known_failed", text(&slot)));
                "failed_slot = :known_failed"
            }
            None => "attribute_not_exists(failed_slot)",
        };
        let change = [("SET ", set), ("REMOVE ", remove)].into_iter().filter(|(_, parts)| !parts.is_empty());
        let change: String = change.map(|(verb, parts)| format!("{verb}{} ", parts.join(", "))).collect();
        values.extend([
            (":known", text(&from.status)),
            (":created", text(&target.created_at)),
            (":at", text(&result.checked_at)),
        ]);
        let update = self.table.update(CONCLUDE, target_key(&target.id), change.trim_end());
        let update =
            update.only_if("#status = :known AND created_at = :created AND status_since <= :at").and_if(is_known);
        update.values(values).unless_refused().await
    }
}

/// How a change sets the reason of the new status, what it removes in turn, and the reason.
fn reason_of(result: &CheckResult) -> (&'static str, &'static str, AttributeValue) {
    match (result.outcome.error(), result.outcome.status_code()) {
        (Some(error), _) => ("#error = :reason", "status_code", text(<&str>::from(error))),
        (None, code) => ("status_code = :reason", "#error", number(&code.unwrap_or_default())),
    }
}
