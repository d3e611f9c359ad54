use std::fmt;

use datasketches::hll::{HllSketch, HllType, HllUnion};

use crate::{Invalid, IpHash};

/// An estimate of the number of unique visitors, a HyperLogLog sketch of at most about 2 KB.
///
/// The sketch is that of Apache DataSketches with 4,096 registers. Up to a few hundred visitors it stores their hashes and is
/// exact except for rare collisions; above, the standard error is below 1.7 %. Adding a visitor again changes nothing, so a
/// redelivered click doesn't change the estimate.
#[derive(Clone, PartialEq)]
pub struct UniqueVisitors(HllSketch);

/// Base-2 logarithm of the number of registers: 2¹² = 4,096.
const PRECISION: u8 = 12;
const TYPE: HllType = HllType::Hll4;

impl UniqueVisitors {
    /// Adds a visitor.
    pub fn add(&mut self, visitor: &IpHash) {
        self.0.update(visitor.as_str());
    }

    /// Adds all visitors of another sketch.
    pub fn merge(&mut self, others: &Self) {
        if others.0.is_empty() {
            return;
        }
        if self.0.is_empty() {
            self.0 = others.0.clone();
            return;
        }
        let mut union = empty_union();
        union.update(&self.0);
        union.update(&others.0);
        self.0 = union.to_sketch(TYPE);
    }

    /// The estimated number of unique visitors.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate is a small positive number"
    )]
    pub fn estimate(&self) -> u64 {
        self.0.estimate().round() as u64
    }

    /// Whether both may be sketches of the same visitors: estimates up to 300 must be equal, larger ones may differ by 10 %,
    /// since they depend on the order of the visitors.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let (left, right) = (self.estimate(), other.estimate());
        left.abs_diff(right) * 10 <= left.max(right) && (left > 300 || left == right)
    }

    /// Whether no visitor was added.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Serializes the sketch in the binary format of Apache DataSketches.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.serialize()
    }

    /// Deserializes a sketch that [`Self::to_bytes`] wrote.
    ///
    /// # Errors
    /// When the bytes are not a sketch of 4,096 registers.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Invalid> {
        let refused = || Invalid::new("unique visitors must be a HyperLogLog sketch with 4,096 registers");
        let sketch = HllSketch::deserialize(bytes).map_err(|_| refused())?;
        if sketch.lg_config_k() == PRECISION { Ok(Self(sketch)) } else { Err(refused()) }
    }
}

impl Default for UniqueVisitors {
    fn default() -> Self {
        Self(empty_union().to_sketch(TYPE))
    }
}

impl fmt::Debug for UniqueVisitors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "UniqueVisitors(≈{})", self.estimate())
    }
}

#[expect(clippy::expect_used, reason = "the precision is a constant within the sketch's range")]
fn empty_union() -> HllUnion {
    HllUnion::new(PRECISION).expect("12 is between 4 and 21")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Salt;

    fn people(numbers: std::ops::Range<u32>) -> impl Iterator<Item = IpHash> {
        let salt = Salt::parse(&"salt".repeat(8)).unwrap();
        numbers.map(move |number| IpHash::of(&number.to_string(), &salt))
    }

    fn seen(numbers: std::ops::Range<u32>) -> UniqueVisitors {
        let mut visitors = UniqueVisitors::default();
        people(numbers).for_each(|visitor| visitors.add(&visitor));
        visitors
    }

    #[test]
    fn few_visitors_are_counted_one_by_one() {
        for number in [0, 1, 2, 10, 100, 300] {
            assert_eq!(seen(0..number).estimate(), u64::from(number));
        }
    }

    #[test]
    fn many_visitors_are_estimated_within_two_percent_on_average() {
        let mut squares = 0.0;
        const ROUNDS: u32 = 40;
        for round in 0..ROUNDS {
            let number = 20_000;
            let visitors = seen(round * number..(round + 1) * number);
            let error =
                (f64::from(u32::try_from(visitors.estimate()).unwrap()) - f64::from(number)) / f64::from(number);
            squares += error * error;
        }

        let standard_error = (squares / f64::from(ROUNDS)).sqrt();

        assert!(standard_error < 0.02, "{standard_error}");
    }

    #[test]
    fn a_returning_visitor_changes_nothing() {
        for number in [5, 5_000] {
            let mut visitors = seen(0..number);
            let before = visitors.clone();

            people(0..number).for_each(|visitor| visitors.add(&visitor));

            assert!(visitors == before);
        }
    }

    #[test]
    fn two_days_together_count_common_visitors_once() {
        for size in [10_u32, 10_000] {
            let mut both = seen(0..2 * size);

            both.merge(&seen(size..3 * size));

            let error = (f64::from(u32::try_from(both.estimate()).unwrap()) / f64::from(3 * size) - 1.0).abs();
            assert!(error < 0.06, "{size}: {error}");
        }
    }

    #[test]
    fn it_survives_being_stored_and_stays_small() {
        for number in [0, 5, 200, 100_000] {
            let visitors = seen(0..number);
            let stored = visitors.to_bytes();

            assert!(UniqueVisitors::from_bytes(&stored).unwrap() == visitors, "{number}");
            assert!(stored.len() < 2_500, "{number} visitors take {} bytes", stored.len());
        }
        assert!(UniqueVisitors::from_bytes(b"something else").is_err());
    }
}
