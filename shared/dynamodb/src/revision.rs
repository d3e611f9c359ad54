//! The attribute `revision`, which counts the changes of an item. A new item has none.

use aws_sdk_dynamodb::types::AttributeValue;
use linklet_domain::Revision;

use crate::item::number;

/// The condition that an item still has this revision, with its value.
pub(crate) fn is_of(revision: Revision) -> (&'static str, Option<(&'static str, AttributeValue)>) {
    if revision.is_first() {
        return ("attribute_not_exists(revision)", None);
    }
    ("revision = :known_revision", Some((":known_revision", number(&revision))))
}
