//! The ids of clicks.

use std::fmt::{self, Write as _};

use serde_with::{DeserializeFromStr, SerializeDisplay};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::{ALPHABET, EventId, Invalid, Timestamp, validated::from_text};

/// The id of a click: 7 characters of base 62 for the time of the click in milliseconds, and 8 random ones.
///
/// Ids sort by the time of their clicks. An id is the sort key of its click, so it is as short as it can be: two clicks on one
/// link within a millisecond have the same id with a probability of 62⁻⁸, or 1 in 2 × 10¹⁴.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct ClickId {
    /// Milliseconds since 1970-01-01T00:00:00Z, below 62⁷.
    millis: u64,
    /// Below 62⁸.
    random: u64,
}

impl ClickId {
    const TIME_DIGITS: usize = 7;
    const RANDOM_DIGITS: usize = 8;
    /// Number of bytes of [`Self::to_bytes`].
    pub const BYTES: usize = 12;

    /// Generates the id of a click at this time, which must be before the year 2081.
    pub fn generate(at: Timestamp) -> Self {
        Self { random: random(), millis: 0 }.moved_to(at)
    }

    /// The id of a click that another system has counted at this time. What tells it from others always makes the same id.
    pub fn derived(at: Timestamp, told_by: &str) -> Self {
        let digest = Sha256::digest(told_by);
        let first_48_bits = digest.iter().take(6).fold(0, |number, byte| number << 8 | u64::from(*byte));
        let random = first_48_bits >> (48 - RANDOM_BITS);
        Self { random, ..Self::first_at(at) }
    }

    /// The id of the same click at another time.
    #[must_use]
    pub fn moved_to(self, at: Timestamp) -> Self {
        Self { random: self.random, ..Self::first_at(at) }
    }

    /// The lowest id of a click at this time: a lower bound for range queries.
    pub fn first_at(time: Timestamp) -> Self {
        Self { millis: time.unix_millis().min(BASE.pow(7) - 1), random: 0 }
    }

    /// Parses an id.
    ///
    /// # Errors
    /// When the text is not 15 characters of `[0-9A-Za-z]`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let is_id = text.len() == Self::TIME_DIGITS + Self::RANDOM_DIGITS
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        Invalid::unless(is_id, "a click's id has 15 letters and digits")?;
        let (time, random) = text.split_at(Self::TIME_DIGITS);
        Ok(Self { millis: number(time), random: number(random) })
    }

    /// The time of the click.
    pub fn at(&self) -> Timestamp {
        Timestamp::from_unix_millis(self.millis)
    }

    /// The time of the click, in milliseconds since 1970-01-01T00:00:00Z.
    pub fn millis(&self) -> u64 {
        self.millis
    }

    /// The id as bytes, which take less space where many ids are stored together.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let packed = (u128::from(self.millis) << 48 | u128::from(self.random)).to_be_bytes();
        std::array::from_fn(|position| packed[position + 4])
    }

    /// Reads what [`Self::to_bytes`] wrote.
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        Self { millis: number(&bytes[..6]), random: number(&bytes[6..]) }
    }
}

impl fmt::Display for ClickId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut digits, mut rest) = ([b'0'; Self::TIME_DIGITS + Self::RANDOM_DIGITS], self.random);
        for (place, digit) in digits.iter_mut().rev().enumerate() {
            if place == Self::RANDOM_DIGITS {
                rest = self.millis;
            }
            *digit = ALPHABET[usize::try_from(rest % BASE).unwrap_or_default()];
            rest /= BASE;
        }
        digits.iter().try_for_each(|digit| formatter.write_char(char::from(*digit)))
    }
}

from_text!(ClickId);

impl From<ClickId> for EventId {
    fn from(id: ClickId) -> Self {
        Self::of_click(id.to_string())
    }
}

const BASE: u64 = ALPHABET.len() as u64;

/// As many bits as have a place in 8 digits of base 62.
const RANDOM_BITS: u32 = 47;

/// Random bits of a UUID of version 4.
fn random() -> u64 {
    (Uuid::new_v4().as_u128() & ((1 << RANDOM_BITS) - 1)) as u64
}

/// The number that letters and digits are in base 62.
fn number(text: &str) -> u64 {
    text.bytes().fold(0, |number, byte| number * BASE + value(byte))
}

fn value(byte: u8) -> u64 {
    u64::from(match byte {
        b'a'..=b'z' => byte - b'a' + 36,
        b'A'..=b'Z' => byte - b'A' + 10,
        _ => byte.saturating_sub(b'0'),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_id_survives_text_and_bytes() {
        let at = Timestamp::parse("2026-03-02T14:05:09.123Z").unwrap();
        for id in [ClickId::generate(at), ClickId::first_at(at), ClickId::generate(Timestamp::now())] {
            assert_eq!(ClickId::parse(&id.to_string()), Ok(id));
            assert_eq!(ClickId::from_bytes(id.to_bytes()), id);
        }
        assert_eq!(ClickId::generate(at).at(), at);
    }

    #[test]
    fn ids_sort_by_the_time_of_their_clicks() {
        let at = Timestamp::parse("2026-03-02T14:05:09.123Z").unwrap();
        let id = ClickId::generate(at);

        assert!(ClickId::first_at(at) <= id);
        assert!(id < ClickId::first_at(at.plus(Duration::from_millis(1))));
        assert!(id.to_bytes() < ClickId::first_at(at.plus(Duration::from_millis(1))).to_bytes());
        assert!(id.to_string() < ClickId::first_at(at.plus(Duration::from_millis(1))).to_string());
    }

    #[test]
    fn ids_of_one_moment_differ() {
        let at = Timestamp::now();
        let ids: std::collections::HashSet<_> = (0..1_000).map(|_| ClickId::generate(at)).collect();

        assert_eq!(ids.len(), 1_000);
    }

    #[test]
    fn the_same_click_of_another_system_has_the_same_id() {
        let at = Timestamp::parse("2026-03-02T14:05:09Z").unwrap();
        let id = ClickId::derived(at, "old.example/launch 1");

        assert_eq!(id, ClickId::derived(at, "old.example/launch 1"));
        assert_ne!(id, ClickId::derived(at, "old.example/launch 2"));
        assert_eq!((id.at(), ClickId::parse(&id.to_string())), (at, Ok(id)));
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for refused in ["", "V", "VcGWZ4X00000000x", "VcGWZ4X0000000-", "0198c0de-0000-7000-8000-000000000001"] {
            assert!(ClickId::parse(refused).is_err(), "{refused:?}");
        }
    }
}
