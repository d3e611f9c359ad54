//! Parts of hot days.
//!
//! A link's clicks of one day are counted one write after another. When there are too many of them for that, the day is split,
//! and from then on each of its parts is counted by itself. A click's id says which part it belongs to, so a click that comes
//! again is looked for where it was counted.

use std::fmt;

use serde_with::{DeserializeFromStr, SerializeDisplay};

use crate::{ClickId, Day, Invalid, validated::from_text};

/// A part of a day that was split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part(u8);

impl Part {
    /// Into how many parts a day is split.
    pub const COUNT: u8 = 16;

    /// The part that a click belongs to. It follows from the random end of its id, as the place of its raw click does, so that
    /// the clicks of a part come together.
    pub fn of(id: &ClickId) -> Self {
        let [.., last] = id.to_bytes();
        Self(last % Self::COUNT)
    }

    /// All parts.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    fn parse(text: &str) -> Option<Self> {
        let number = u8::from_str_radix(text, 16).ok().filter(|number| *number < Self::COUNT)?;
        (Self(number).to_string() == text).then_some(Self(number))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:x}", self.0)
    }
}

/// What is counted by itself: a day, or a part of one. As text it is `2026-03-02` or `2026-03-02#a`.
///
/// All slices of a day follow one another, the day itself first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct DaySlice {
    /// The day.
    pub day: Day,
    /// Which part of it; `None` for all that was counted before the day was split, which are all clicks of most days.
    pub part: Option<Part>,
}

impl DaySlice {
    /// Parses `2026-03-02` or `2026-03-02#a`.
    ///
    /// # Errors
    /// When the text has another form.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let Some((day, part)) = text.split_once('#') else { return Day::parse(text).map(Self::from) };
        let part = Part::parse(part).ok_or_else(|| Invalid::new("a part of a day is one hexadecimal digit"))?;
        Ok(Self { day: Day::parse(day)?, part: Some(part) })
    }

    /// The parts of a day.
    pub fn parts_of(day: Day) -> impl Iterator<Item = Self> {
        Part::all().map(move |part| Self { day, part: Some(part) })
    }
}

impl From<Day> for DaySlice {
    fn from(day: Day) -> Self {
        Self { day, part: None }
    }
}

impl fmt::Display for DaySlice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            Some(part) => write!(formatter, "{}#{part}", self.day),
            None => self.day.fmt(formatter),
        }
    }
}

from_text!(DaySlice);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Timestamp;

    fn slice(text: &str) -> DaySlice {
        DaySlice::parse(text).unwrap()
    }

    #[test]
    fn a_slice_survives_text() {
        for text in ["2026-03-02", "2026-03-02#0", "2026-03-02#f"] {
            assert_eq!(slice(text).to_string(), text);
            assert_eq!(serde_json::from_value::<DaySlice>(serde_json::json!(text)).unwrap(), slice(text));
        }
        for refused in ["", "2026-03-32", "2026-03-02#", "2026-03-02#10", "2026-03-02#A", "2026-03-02#g", "#a"] {
            assert!(DaySlice::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn the_slices_of_a_day_sort_together_with_the_day_first() {
        let mut slices = [slice("2026-03-03"), slice("2026-03-02#f"), slice("2026-03-02"), slice("2026-03-02#0")];

        slices.sort();

        assert_eq!(slices.map(|slice| slice.to_string()), ["2026-03-02", "2026-03-02#0", "2026-03-02#f", "2026-03-03"]);
        assert_eq!(DaySlice::parts_of(slices[0].day).count(), 16);
    }

    #[test]
    fn clicks_are_spread_over_all_parts_and_each_stays_in_its_own() {
        let ids: Vec<ClickId> = (0..1_000).map(|_| ClickId::generate(Timestamp::now())).collect();

        let parts: BTreeSet<Part> = ids.iter().map(Part::of).collect();

        assert_eq!(parts, Part::all().collect());
        for id in ids {
            assert_eq!(Part::of(&ClickId::parse(&id.to_string()).unwrap()), Part::of(&id));
        }
    }
}
