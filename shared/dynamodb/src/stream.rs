//! From a stream record to a domain event.
//!
//! The table write is the outbox: what stands in a stream has committed, so an event exists if and only if its write does.

use aws_lambda_events::dynamodb::EventRecord;
use linklet_domain::{Event, Invalid};
use serde::de::DeserializeOwned;

use crate::{
    clicks::item::ClickItem,
    item::Key,
    links::item::{LINK_PREFIX, LinkItem},
    stats::{MILESTONE_PREFIX, MilestoneItem},
};

/// Why a record yields no event although it should. Retrying can't help.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// An image lacks the attributes that this version of Linklet writes.
    #[error("a stream image has an unexpected form")]
    Image(#[from] serde_dynamo::Error),
    /// An attribute breaks a rule.
    #[error("a stream image holds an invalid value")]
    Value(#[from] Invalid),
}

/// The event that a record stands for, or `None` for a change that nobody is told about.
///
/// # Errors
/// When the record should yield an event but can't be read.
pub fn event_of(record: &EventRecord) -> Result<Option<Event>, StreamError> {
    let change = &record.change;
    let Key { pk, sk } = serde_dynamo::from_item(change.keys.clone())?;
    match record.event_name.as_str() {
        "INSERT" if pk.starts_with(LINK_PREFIX) => Ok(Some(image::<LinkItem>(&change.new_image)?.created_event())),
        "MODIFY" if pk.starts_with(LINK_PREFIX) => {
            Ok(image::<LinkItem>(&change.new_image)?.changed_event(&image(&change.old_image)?))
        }
        "INSERT" if pk.starts_with("CLICK#") => Ok(Some(image::<ClickItem>(&change.new_image)?.clicked_event()?)),
        "INSERT" if sk.starts_with(MILESTONE_PREFIX) => {
            Ok(Some(image::<MilestoneItem>(&change.new_image)?.reached_event()))
        }
        _ => Ok(None),
    }
}

fn image<T: DeserializeOwned>(item: &serde_dynamo::Item) -> Result<T, serde_dynamo::Error> {
    serde_dynamo::from_item(item.clone())
}
