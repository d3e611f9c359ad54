//! The JSON representation of breakdowns.

use std::collections::BTreeMap;

use linklet_domain::{Breakdown, Dimension};
use serde::Serialize;

/// A value under the label of its dimension, and its count: `{"browser": "Firefox", "count": 3}`. A country that isn't known is `null`.
#[derive(Debug, Serialize)]
pub struct ValueCount {
    #[serde(flatten)]
    value: BTreeMap<&'static str, Option<String>>,
    count: u64,
}

impl ValueCount {
    /// How often a dimension has a value.
    pub fn new(dimension: Dimension, value: &str, count: u64) -> Self {
        let is_known = dimension != Dimension::Country || value != Dimension::UNKNOWN_COUNTRY;
        Self { value: BTreeMap::from([(dimension.label(), is_known.then(|| value.to_owned()))]), count }
    }
}

/// All values of a breakdown, most frequent first.
pub fn value_counts(breakdown: &Breakdown, dimension: Dimension) -> Vec<ValueCount> {
    breakdown.ranking().iter().map(|(value, count)| ValueCount::new(dimension, value, *count)).collect()
}
