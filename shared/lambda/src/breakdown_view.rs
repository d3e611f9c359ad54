//! The JSON representation of breakdowns.

use std::{cmp::Reverse, collections::BTreeMap};

use linklet_domain::{Breakdown, Dimension, site_of};
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

/// The sites of a breakdown of referrers, most frequent first: the addresses of pages may tell secrets, such as who works on what.
pub fn site_counts(referrers: &Breakdown) -> Vec<ValueCount> {
    let pages = referrers.ranking();
    let mut sites: BTreeMap<&str, u64> = BTreeMap::new();
    for (page, clicks) in &pages {
        *sites.entry(site_of(page)).or_default() += *clicks;
    }
    let mut ranked: Vec<_> = sites.into_iter().collect();
    ranked.sort_by_key(|(_, clicks)| Reverse(*clicks));
    ranked.into_iter().map(|(site, clicks)| ValueCount::new(Dimension::Referer, site, clicks)).collect()
}

/// All values of a breakdown, most frequent first.
pub fn value_counts(breakdown: &Breakdown, dimension: Dimension) -> Vec<ValueCount> {
    breakdown.ranking().iter().map(|(value, count)| ValueCount::new(dimension, value, *count)).collect()
}
