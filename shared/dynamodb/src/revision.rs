//! The attribute `revision`, which counts the changes of an item. A new item has none.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use linklet_domain::{Precondition, Revision};

use crate::item::number;

/// The clause of an update that makes the next revision.
pub(crate) const NEXT_REVISION: &str = "ADD revision :one_more";

/// The name of the value of [`NEXT_REVISION`].
pub(crate) const ONE_MORE: &str = ":one_more";

/// The value of [`NEXT_REVISION`].
pub(crate) fn one_more() -> (String, AttributeValue) {
    (ONE_MORE.to_owned(), number(&1))
}

pub(crate) fn is_first(revision: &Revision) -> bool {
    *revision == Revision::FIRST
}

/// What a write adds to its condition, so that it is made to a revision only that it is meant for.
pub(crate) struct Guard {
    /// Empty, or begins with `AND`.
    pub condition: String,
    pub values: HashMap<String, AttributeValue>,
}

impl Guard {
    pub(crate) fn of(precondition: &Precondition) -> Self {
        let Precondition::OneOf(revisions) = precondition else {
            return Self { condition: String::new(), values: HashMap::new() };
        };
        let values: HashMap<_, _> =
            revisions.iter().filter(|&revision| !is_first(revision)).enumerate().map(named).collect();
        let mut alternatives = Vec::new();
        if revisions.contains(&Revision::FIRST) {
            // A tombstone has no revision.
            alternatives.push("attribute_not_exists(revision) AND attribute_not_exists(tombstone)".to_owned());
        }
        if !values.is_empty() {
            let names: Vec<_> = values.keys().map(String::as_str).collect();
            alternatives.push(format!("revision IN ({})", names.join(", ")));
        }
        if alternatives.is_empty() {
            // Never true of what is there.
            alternatives.push("attribute_not_exists(pk)".to_owned());
        }
        Self { condition: format!(" AND ({})", alternatives.join(" OR ")), values }
    }
}

fn named((position, revision): (usize, &Revision)) -> (String, AttributeValue) {
    (format!(":revision{position}"), number(revision))
}
