use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Counts per value, limited to a number of distinct values, since clients can send any values.
///
/// When the `capacity` that a method is given is reached, a new value replaces the rarest one, whose count is added to `other`.
/// So the sum of all counts is always exact and frequent values are kept. With at most `capacity` distinct values each count is
/// exact; otherwise a count is exact since the value was last added.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Breakdown {
    /// The count of each value.
    pub counts: BTreeMap<String, u64>,
    /// The sum of the counts of replaced values.
    pub other: u64,
}

impl Breakdown {
    /// Counts one occurrence of a value.
    pub fn count(&mut self, value: &str, capacity: usize) {
        self.add(value, 1, capacity);
    }

    /// Adds all counts of another breakdown.
    pub fn merge(&mut self, counted: &Self, capacity: usize) {
        self.other += counted.other;
        // In ascending order of count, so that a rare value never replaces a frequent one.
        for (value, count) in counted.ranked().into_iter().rev() {
            self.add(value, count, capacity);
        }
    }

    /// The sum of all counts, `other` included.
    pub fn total(&self) -> u64 {
        self.counts.values().sum::<u64>() + self.other
    }

    /// The values with their counts, most frequent first, and in alphabetical order for equal counts.
    pub fn ranked(&self) -> Vec<(&str, u64)> {
        let mut ranked: Vec<_> = self.counts.iter().map(|(value, count)| (value.as_str(), *count)).collect();
        ranked.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(right.0)));
        ranked
    }

    /// Whether both may be counts of the same values. Which values a full breakdown keeps depends on their order, so of two
    /// full ones only the totals are compared.
    pub fn agrees_with(&self, other: &Self) -> bool {
        self == other || (self.other > 0 && other.other > 0 && self.total() == other.total())
    }

    fn add(&mut self, value: &str, count: u64, capacity: usize) {
        if let Some(counted) = self.counts.get_mut(value) {
            *counted += count;
            return;
        }
        if self.counts.len() >= capacity {
            self.evict_rarest();
        }
        self.counts.insert(value.to_owned(), count);
    }

    fn evict_rarest(&mut self) {
        let rarest = self.counts.iter().min_by_key(|(_, count)| **count).map(|(value, _)| value.clone());
        if let Some(count) = rarest.and_then(|value| self.counts.remove(&value)) {
            self.other += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_frequent_value_survives_a_flood_of_distinct_ones() {
        let mut breakdown = Breakdown::default();
        (0..5).for_each(|_| breakdown.count("regular", 30));

        (0..100_000).for_each(|number| breakdown.count(&number.to_string(), 30));

        assert_eq!(breakdown.ranked()[0], ("regular", 5));
        assert_eq!(breakdown.counts.len(), 30);
        assert_eq!(breakdown.total(), 100_005);
    }

    proptest! {
        #[test]
        fn merging_adds_up_and_stays_bounded(left in values(), right in values()) {
            let counted = |values: &[u8]| {
                let mut breakdown = Breakdown::default();
                values.iter().for_each(|value| breakdown.count(&value.to_string(), 10));
                breakdown
            };

            let mut merged = counted(&left);
            merged.merge(&counted(&right), 10);

            prop_assert_eq!(merged.total(), (left.len() + right.len()) as u64);
            prop_assert!(merged.counts.len() <= 10);
            let both: Vec<u8> = left.into_iter().chain(right).collect();
            if both.iter().collect::<std::collections::BTreeSet<_>>().len() <= 10 {
                prop_assert_eq!(merged, counted(&both));
            }
        }
    }

    fn values() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(0_u8..20, 0..60)
    }
}
