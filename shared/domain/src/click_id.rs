//! The ids of clicks.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{ALPHABET, EventId, Invalid, Timestamp, validated::string_newtype};

/// The id of a click: 7 characters of base 62 for the time of the click in milliseconds, and 8 random ones.
///
/// Ids sort by the time of their clicks. An id is the sort key of its click, so it is as short as it can be: two clicks on one
/// link within a millisecond have the same id with a probability of 62⁻⁸, or 1 in 2 × 10¹⁴.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ClickId(String);

impl ClickId {
    const TIME_DIGITS: usize = 7;
    const RANDOM_DIGITS: usize = 8;
    /// Number of bytes of [`Self::to_bytes`].
    pub const BYTES: usize = 12;

    /// Generates the id of a click at this time, which must be before the year 2081.
    #[must_use]
    pub fn generate(at: Timestamp) -> Self {
        Self::of(at.unix_millis(), random())
    }

    /// The lowest id of a click at this time: a lower bound for range queries.
    #[must_use]
    pub fn first_at(time: Timestamp) -> Self {
        Self::of(time.unix_millis(), 0)
    }

    /// Parses an id.
    ///
    /// # Errors
    /// When the text is not 15 characters of `[0-9A-Za-z]`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let is_id = text.len() == Self::TIME_DIGITS + Self::RANDOM_DIGITS
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_id { Ok(Self(text.to_owned())) } else { Err(Invalid::new("a click's id has 15 letters and digits")) }
    }

    /// The time of the click.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        Timestamp::from_unix_millis(self.millis())
    }

    /// The time of the click, in milliseconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub fn millis(&self) -> u64 {
        number(&self.0[..Self::TIME_DIGITS])
    }

    /// The id as bytes, which take less space where many ids are stored together.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let random = u128::from(number(&self.0[Self::TIME_DIGITS..]));
        let packed = (u128::from(self.millis()) << 48 | random).to_be_bytes();
        std::array::from_fn(|position| packed[position + 4])
    }

    /// Reads what [`Self::to_bytes`] wrote.
    ///
    /// # Errors
    /// When there are more or fewer bytes, or numbers that no id has.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Invalid> {
        let unknown = || Invalid::new("a click's id has 12 bytes");
        let bytes: [u8; Self::BYTES] = bytes.try_into().map_err(|_| unknown())?;
        let packed = bytes.iter().fold(0_u128, |packed, byte| packed << 8 | u128::from(*byte));
        let (time, random) = ((packed >> 48) as u64, (packed & 0xffff_ffff_ffff) as u64);
        let id = Self::of(time, random);
        if id.to_bytes() == bytes { Ok(id) } else { Err(unknown()) }
    }

    fn of(millis: u64, random: u64) -> Self {
        let mut text = String::with_capacity(Self::TIME_DIGITS + Self::RANDOM_DIGITS);
        push_digits(&mut text, millis, Self::TIME_DIGITS);
        push_digits(&mut text, random, Self::RANDOM_DIGITS);
        Self(text)
    }
}

string_newtype!(ClickId);

impl From<ClickId> for EventId {
    fn from(id: ClickId) -> Self {
        Self::of_click(id.0)
    }
}

/// 47 random bits of a UUID of version 4, all of which have a place in 8 digits of base 62.
fn random() -> u64 {
    const BITS: u32 = 47;
    (Uuid::new_v4().as_u128() & ((1 << BITS) - 1)) as u64
}

/// Appends the last digits of a number in base 62, with leading zeros.
fn push_digits(text: &mut String, number: u64, digits: usize) {
    const BASE: u64 = ALPHABET.len() as u64;
    let mut rest = number;
    let mut reversed = [b'0'; 11];
    for digit in reversed.iter_mut().take(digits) {
        *digit = ALPHABET[usize::try_from(rest % BASE).unwrap_or_default()];
        rest /= BASE;
    }
    text.extend(reversed[..digits].iter().rev().map(|digit| char::from(*digit)));
}

/// The number that letters and digits are in base 62.
fn number(text: &str) -> u64 {
    text.bytes().fold(0, |number, byte| number * ALPHABET.len() as u64 + value(byte))
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
            assert_eq!(ClickId::parse(id.as_str()), Ok(id.clone()));
            assert_eq!(ClickId::from_bytes(&id.to_bytes()), Ok(id));
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
    }

    #[test]
    fn ids_of_one_moment_differ() {
        let at = Timestamp::now();
        let ids: std::collections::HashSet<_> = (0..1_000).map(|_| ClickId::generate(at)).collect();

        assert_eq!(ids.len(), 1_000);
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for refused in ["", "V", "VcGWZ4X00000000x", "VcGWZ4X0000000-", "0198c0de-0000-7000-8000-000000000001"] {
            assert!(ClickId::parse(refused).is_err(), "{refused:?}");
        }
        for refused in [&[0_u8; 11][..], &[0; 13], &[255; 12]] {
            assert!(ClickId::from_bytes(refused).is_err(), "{refused:?}");
        }
    }
}
