//! Translation of DynamoDB stream records into events.
//!
//! The table is the outbox: a stream contains only committed writes, so an event exists if and only if its write does.

use std::time::Duration;

use aws_lambda_events::dynamodb::EventRecord;
use linklet_domain::{Click, CorrelationId, Event, Invalid, LinkId, Timestamp, WorkId};
use serde::de::DeserializeOwned;

use crate::clicks::item::{CLICK_PREFIX, ClickItem, MARKER};
use crate::item::Key;
use crate::jobs::item::{JOB_PREFIX, JobItem};
use crate::links::item::{
    AVAILABILITY, EXPIRY_PREFIX, ExpiryMarkerItem, LINK_PREFIX, LinkItem, TOMBSTONE, TombstoneItem, USES_PREFIX,
    UsesItem,
};
use crate::stats::{MILESTONE_PREFIX, MilestoneItem};
use crate::watch::item::{TARGET_PREFIX, TargetItem};
use crate::{Exhaustion, ExpiryMarker, JobSignal};

/// Why a stream record can't be translated. Retrying doesn't help.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// An image could not be deserialised. The deserialiser's error is left out, since this error is logged and that one
    /// contains attribute values; the dead-letter queue keeps the whole record.
    #[error("the stream image has unexpected attributes")]
    Image,
    /// An attribute has an invalid value.
    #[error("the stream image has an invalid value")]
    Value(#[from] Invalid),
}

impl From<serde_dynamo::Error> for StreamError {
    fn from(_: serde_dynamo::Error) -> Self {
        Self::Image
    }
}

/// What a stream record means for other contexts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// What has happened. A write may change several things, or nothing that has an event.
    Events(Vec<Event>),
    /// The marker of a link is gone, so the next step of the link's expiry may be due.
    ExpiryDue(LinkId, CorrelationId),
    /// A link was used as often as it may be.
    Exhausted(Exhaustion),
}

impl Change {
    /// What has happened.
    pub fn into_events(self) -> Vec<Event> {
        match self {
            Self::Events(events) => events,
            Self::ExpiryDue(..) | Self::Exhausted(_) => Vec::new(),
        }
    }
}

/// What a record of JobsTable's stream says about a job or a task, and about which; `None` if nothing.
///
/// # Errors
/// When the record can't be read.
pub fn job_signal(record: &EventRecord) -> Result<Option<(WorkId, JobSignal)>, StreamError> {
    let key: Key = serde_dynamo::from_item(record.change.keys.clone())?;
    if record.event_name == "REMOVE" {
        return JobSignal::of_gone(&key);
    }
    JobSignal::of(&key, || Ok(image(&record.change.new_image)?))
}

/// Translates a stream record.
///
/// # Errors
/// When the record's images can't be read.
pub fn change_of(record: &EventRecord) -> Result<Change, StreamError> {
    let change = &record.change;
    let Key { pk, sk } = serde_dynamo::from_item(change.keys.clone())?;
    Ok(Change::Events(match record.event_name.as_str() {
        "INSERT" | "MODIFY" if pk.starts_with(LINK_PREFIX) && is_tombstone(&change.new_image) => {
            vec![image::<TombstoneItem>(&change.new_image)?.removed_event()]
        }
        "INSERT" | "MODIFY" if pk.starts_with(LINK_PREFIX) && is_new_link(record) => {
            vec![image::<LinkItem>(&change.new_image)?.created_event()]
        }
        "MODIFY" if pk.starts_with(LINK_PREFIX) => {
            image::<LinkItem>(&change.new_image)?.changed_events(image(&change.old_image)?)
        }
        // Also if somebody has deleted it by hand: the marker of a link whose time is not over is written again.
        "REMOVE" if pk.starts_with(EXPIRY_PREFIX) => {
            let ExpiryMarkerItem { short_code, generation, correlation_id, .. } = image(&change.old_image)?;
            return Ok(Change::ExpiryDue(LinkId { code: short_code, generation }, correlation_id));
        }
        "MODIFY" if pk.starts_with(USES_PREFIX) => {
            let end = image::<UsesItem>(&change.new_image)?.exhaustion()?;
            return Ok(end.map_or(Change::Events(Vec::new()), Change::Exhausted));
        }
        "MODIFY" if pk.starts_with(TARGET_PREFIX) => {
            let changed = image::<TargetItem>(&change.new_image)?.changed_event(&image(&change.old_image)?);
            changed.into_iter().collect()
        }
        "INSERT" if pk.starts_with(CLICK_PREFIX) && sk != MARKER => {
            vec![arrived(record, image::<ClickItem>(&change.new_image)?.into_click()?).into_event()]
        }
        "INSERT" if sk.starts_with(MILESTONE_PREFIX) => {
            image::<MilestoneItem>(&change.new_image)?.reached_event().into_iter().collect()
        }
        "INSERT" | "MODIFY" if sk.starts_with(JOB_PREFIX) => {
            image::<JobItem>(&change.new_image)?.finished_event().into_iter().collect()
        }
        _ => Vec::new(),
    }))
}

/// A click that arrived when its record was made, which is the same whenever the record is delivered. A record may lack that time.
fn arrived(record: &EventRecord, click: Click) -> Click {
    match u64::try_from(record.change.approximate_creation_date_time.timestamp_millis()) {
        Ok(created @ 1..) => click.arrived(Timestamp::from_unix_millis(created)),
        _ => click,
    }
}

/// The marker that a link needs after a change; `None` if the change is about something else, or its marker stays as it is.
/// Expired links are kept for `kept_for`.
///
/// # Errors
/// When the record's images can't be read.
pub fn marker_after(record: &EventRecord, kept_for: Duration) -> Result<Option<ExpiryMarker>, StreamError> {
    let change = &record.change;
    // Nearly all records are clicks, so what is no link is told by one look.
    if !change.new_image.inner().contains_key(AVAILABILITY) {
        return Ok(None);
    }
    let item: LinkItem = image(&change.new_image)?;
    let correlation_id = item.last_write.correlation_id.clone();
    let link = item.into_link();
    let Some((due, step)) = link.next_expiry_step(kept_for) else { return Ok(None) };
    if !is_new_link(record) {
        let before = image::<LinkItem>(&change.old_image)?.into_link();
        if before.next_expiry_step(kept_for) == Some((due, step)) {
            return Ok(None);
        }
    }
    Ok(Some(ExpiryMarker { link: link.identity.id, due, correlation_id }))
}

/// Whether the item was not there before, or was the tombstone of a purged link with the same code.
fn is_new_link(record: &EventRecord) -> bool {
    record.event_name == "INSERT" || is_tombstone(&record.change.old_image)
}

fn is_tombstone(item: &serde_dynamo::Item) -> bool {
    item.inner().contains_key(TOMBSTONE)
}

fn image<T: DeserializeOwned>(item: &serde_dynamo::Item) -> Result<T, serde_dynamo::Error> {
    serde_dynamo::from_item(item.clone())
}
