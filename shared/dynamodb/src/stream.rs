//! From a stream record to what it means.
//!
//! The table write is the outbox: what stands in a stream has committed, so an event exists if and only if its write does.

use aws_lambda_events::dynamodb::EventRecord;
use linklet_domain::{CorrelationId, Event, Invalid, Link};
use serde::de::DeserializeOwned;

use crate::{
    clicks::item::ClickItem,
    item::Key,
    links::item::{LINK_PREFIX, LinkItem, TOMBSTONE, TombstoneItem},
    stats::{MILESTONE_PREFIX, MilestoneItem},
    watch::item::{TARGET_PREFIX, TargetItem},
};

/// Why a record yields no event although it should. Retrying can't help.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// An image lacks the attributes that this version of Linklet writes. Which one isn't told, since the deserialiser's text
    /// quotes values and this error is logged; the record is kept whole elsewhere.
    #[error("a stream image has an unexpected form")]
    Image,
    /// An attribute breaks a rule.
    #[error("a stream image holds an invalid value")]
    Value(#[from] Invalid),
}

impl From<serde_dynamo::Error> for StreamError {
    fn from(_: serde_dynamo::Error) -> Self {
        Self::Image
    }
}

/// What a record means to the rest of the system.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "nearly every record is an event, and none is kept")]
pub enum Change {
    /// An event to publish.
    Event(Event),
    /// DynamoDB has deleted a link whose time was over; it has to be buried.
    Expired(Box<Link>, CorrelationId),
    /// Nothing that anybody is told about.
    None,
}

/// What a record means.
///
/// # Errors
/// When the record should mean something but can't be read.
pub fn change_of(record: &EventRecord) -> Result<Change, StreamError> {
    let change = &record.change;
    let Key { pk, sk } = serde_dynamo::from_item(change.keys.clone())?;
    match record.event_name.as_str() {
        "INSERT" | "MODIFY" if pk.starts_with(LINK_PREFIX) && is_tombstone(&change.new_image) => {
            Ok(image::<TombstoneItem>(&change.new_image)?.buried_event().map_or(Change::None, Change::Event))
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
        "INSERT" if pk.starts_with("CLICK#") => {
            Ok(Change::Event(image::<ClickItem>(&change.new_image)?.into_click()?.into_event()))
        }
        "INSERT" if sk.starts_with(MILESTONE_PREFIX) => {
            Ok(Change::Event(image::<MilestoneItem>(&change.new_image)?.reached_event()))
        }
        _ => Ok(Change::None),
    }
}

/// DynamoDB names itself as the one who deleted an expired item.
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
