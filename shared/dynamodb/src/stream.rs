//! Translation of DynamoDB stream records into events.
//!
//! The table is the outbox: a stream contains only committed writes, so an event exists if and only if its write does.

use aws_lambda_events::dynamodb::EventRecord;
use linklet_domain::{CorrelationId, Event, Invalid, Link};
use serde::de::DeserializeOwned;

use crate::{
    clicks::item::{CLICK_PREFIX, ClickItem},
    item::Key,
    links::item::{LINK_PREFIX, LinkItem, TOMBSTONE, TombstoneItem},
    stats::{MILESTONE_PREFIX, MilestoneItem},
    watch::item::{TARGET_PREFIX, TargetItem},
};

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
#[expect(clippy::large_enum_variant, reason = "nearly every record is an event, and none is kept")]
pub enum Change {
    /// An event to publish.
    Event(Event),
    /// DynamoDB's TTL has deleted a link, which needs a tombstone.
    Expired(Box<Link>, CorrelationId),
    /// A change without an event.
    None,
}

/// Translates a stream record.
///
/// # Errors
/// When the record's images can't be read.
pub fn change_of(record: &EventRecord) -> Result<Change, StreamError> {
    let change = &record.change;
    let Key { pk, sk } = serde_dynamo::from_item(change.keys.clone())?;
    match record.event_name.as_str() {
        "INSERT" | "MODIFY" if pk.starts_with(LINK_PREFIX) && is_tombstone(&change.new_image) => {
            Ok(image::<TombstoneItem>(&change.new_image)?.removed_event().map_or(Change::None, Change::Event))
        }
        "INSERT" if pk.starts_with(LINK_PREFIX) => {
            Ok(Change::Event(image::<LinkItem>(&change.new_image)?.created_event()))
        }
        "MODIFY" if pk.starts_with(LINK_PREFIX) => {
            let event = image::<LinkItem>(&change.new_image)?.changed_event(&image(&change.old_image)?);
            Ok(event.map_or(Change::None, Change::Event))
        }
        "REMOVE" if pk.starts_with(LINK_PREFIX) && is_by_ttl(record) && !is_tombstone(&change.old_image) => {
            let item: LinkItem = image(&change.old_image)?;
            let correlation_id = item.correlation_id.clone();
            Ok(Change::Expired(Box::new(item.into_link()), correlation_id))
        }
        "MODIFY" if pk.starts_with(TARGET_PREFIX) => {
            let event = image::<TargetItem>(&change.new_image)?.changed_event(&image(&change.old_image)?);
            Ok(event.map_or(Change::None, Change::Event))
        }
        "INSERT" if pk.starts_with(CLICK_PREFIX) => {
            Ok(Change::Event(image::<ClickItem>(&change.new_image)?.into_click()?.into_event()))
        }
        "INSERT" if sk.starts_with(MILESTONE_PREFIX) => {
            Ok(Change::Event(image::<MilestoneItem>(&change.new_image)?.reached_event()))
        }
        _ => Ok(Change::None),
    }
}

/// Whether DynamoDB's TTL deleted the item: the record then names DynamoDB as the user
/// ([DynamoDB Streams and TTL](https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-streams.html)).
fn is_by_ttl(record: &EventRecord) -> bool {
    record
        .user_identity
        .as_ref()
        .is_some_and(|identity| identity.type_ == "Service" && identity.principal_id == "dynamodb.amazonaws.com")
}

fn is_tombstone(item: &serde_dynamo::Item) -> bool {
    item.inner().contains_key(TOMBSTONE)
}

fn image<T: DeserializeOwned>(item: &serde_dynamo::Item) -> Result<T, serde_dynamo::Error> {
    serde_dynamo::from_item(item.clone())
}
