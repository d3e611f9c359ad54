//! Points in time and calendar days, always UTC.

use std::{borrow::Cow, fmt, time::Duration};

use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer};
use serde_with::{DeserializeFromStr, SerializeDisplay};
use time::{Date, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset, format_description::well_known::Rfc3339};

use crate::{Invalid, validated::from_text};

/// A moment in UTC with millisecond precision.
///
/// Its text (`2026-03-02T14:05:09.120Z`) has a fixed width, so sorting the text sorts the time: sort keys rely on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, SerializeDisplay)]
pub struct Timestamp(OffsetDateTime);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(OffsetDateTime::UNIX_EPOCH);

    /// The latest time that can be told.
    pub fn latest() -> Self {
        Self::EPOCH.plus(Duration::MAX)
    }

    /// The current time.
    pub fn now() -> Self {
        Self::truncated(OffsetDateTime::now_utc())
    }

    /// Parses an RFC 3339 date-time with any offset, in the years 0001–9999. A leap second, which is the 60th of a day's last
    /// minute in UTC, is read as the moment before the next day, whether there was one on that day or not.
    ///
    /// # Errors
    /// When the text is not such a date-time.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let refused = || Invalid::new("a time must be an RFC 3339 date-time such as 2026-03-02T14:05:09Z");
        let leap = text.get(16..19).filter(|seconds| *seconds == ":60");
        let text = leap.map_or(Cow::Borrowed(text), |_| format!("{}:59{}", &text[..16], &text[19..]).into());
        let parsed = OffsetDateTime::parse(&text, &Rfc3339).map_err(|_| refused())?;
        let utc = parsed.checked_to_offset(UtcOffset::UTC).ok_or_else(refused)?;
        let time = Self::truncated(utc);
        match leap {
            _ if !(1..=9999).contains(&utc.year()) => Err(refused()),
            Some(_) if (utc.hour(), utc.minute()) != (23, 59) => Err(refused()),
            Some(_) => Ok(time.day().end()),
            None => Ok(time),
        }
    }

    /// The time this many seconds after 1970-01-01T00:00:00Z.
    ///
    /// # Errors
    /// When the result is outside the years 0001–9999.
    pub fn from_unix_seconds(seconds: i64) -> Result<Self, Invalid> {
        OffsetDateTime::from_unix_timestamp(seconds)
            .map(Self)
            .map_err(|_| Invalid::new("a time must lie in the years 0001–9999"))
    }

    /// The time this many milliseconds after 1970-01-01T00:00:00Z, or the latest that there is.
    pub fn from_unix_millis(millis: u64) -> Self {
        Self::EPOCH.plus(Duration::from_millis(millis))
    }

    /// Seconds since 1970-01-01T00:00:00Z, rounded down: the unit of DynamoDB's TTL and of JWT claims.
    pub fn unix_seconds(self) -> i64 {
        self.0.unix_timestamp()
    }

    /// Milliseconds since 1970-01-01T00:00:00Z, or zero for an earlier time.
    pub fn unix_millis(self) -> u64 {
        u64::try_from(self.0.unix_timestamp_nanos() / 1_000_000).unwrap_or_default()
    }

    /// Adds a duration, saturating at the latest representable time.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self::truncated(self.0.saturating_add(signed(span)))
    }

    /// Subtracts a duration, saturating at the earliest representable time.
    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        Self::truncated(self.0.saturating_sub(signed(span)))
    }

    /// The duration from this time until `later`; zero if `later` is earlier.
    pub fn until(self, later: Self) -> Duration {
        Duration::try_from(later.0 - self.0).unwrap_or(Duration::ZERO)
    }

    /// The UTC calendar day.
    pub fn day(self) -> Day {
        Day(self.0.date())
    }

    /// The UTC hour of the day, 0–23.
    pub fn hour(self) -> u8 {
        self.0.hour()
    }

    fn truncated(time: OffsetDateTime) -> Self {
        let millis = time.nanosecond() / 1_000_000 * 1_000_000;
        Self(time.replace_nanosecond(millis).unwrap_or(time))
    }
}

fn signed(span: Duration) -> time::Duration {
    time::Duration::try_from(span).unwrap_or(time::Duration::MAX)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.0;
        write!(
            formatter,
            "{}T{:02}:{:02}:{:02}.{:03}Z",
            self.day(),
            time.hour(),
            time.minute(),
            time.second(),
            time.millisecond(),
        )
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(|_| D::Error::invalid_value(Unexpected::Str(&text), &"RFC3339 format"))
    }
}

/// A UTC calendar day; its text is `2026-03-02`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct Day(Date);

impl Day {
    /// Parses `YYYY-MM-DD`.
    ///
    /// # Errors
    /// When the text has another form or is not a calendar day.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let refused = || Invalid::new("a day must have the form 2026-03-02");
        if text.len() != 10 {
            return Err(refused());
        }
        Timestamp::parse(&format!("{text}T00:00:00Z")).map(Timestamp::day).map_err(|_| refused())
    }

    /// The first moment of this day.
    pub fn start(self) -> Timestamp {
        self.at_hour(0)
    }

    /// The last moment of this day, to the millisecond.
    pub fn end(self) -> Timestamp {
        self.at_hour(23).plus(Duration::from_millis(3_600_000 - 1))
    }

    /// The day so many days before this one.
    #[must_use]
    pub fn minus(self, days: u64) -> Self {
        self.start().minus(Duration::from_secs(days * 86_400)).day()
    }

    /// The first day of this day's month.
    #[must_use]
    pub fn start_of_month(self) -> Self {
        Self(self.0.replace_day(1).unwrap_or(self.0))
    }

    /// The last day of this day's month.
    #[must_use]
    pub fn end_of_month(self) -> Self {
        let last = self.0.month().length(self.0.year());
        Self(self.0.replace_day(last).unwrap_or(self.0))
    }

    /// The day of the week; 0 is Monday.
    pub fn weekday(self) -> u8 {
        self.0.weekday().number_days_from_monday()
    }

    /// The start of an hour (0–23) of this day; a larger hour counts as 23.
    pub fn at_hour(self, hour: u8) -> Timestamp {
        let time = Time::from_hms(hour.min(23), 0, 0).unwrap_or(Time::MIDNIGHT);
        Timestamp(PrimitiveDateTime::new(self.0, time).assume_utc())
    }
}

from_text!(Day);

impl fmt::Display for Day {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = self.0;
        write!(formatter, "{:04}-{:02}-{:02}", date.year(), u8::from(date.month()), date.day())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn offsets_become_utc_and_digits_beyond_milliseconds_go() {
        let time = Timestamp::parse("2026-03-02T14:05:09.123987+02:00").unwrap();

        assert_eq!(time.to_string(), "2026-03-02T12:05:09.123Z");
        assert_eq!(time.day().to_string(), "2026-03-02");
        assert_eq!(time.hour(), 12);
    }

    #[test]
    fn only_rfc_3339_is_read() {
        for refused in
            ["", "tomorrow", "2026-03-02", "2026-03-02 14:05", "2026-13-02T00:00:00Z", "0000-01-01T00:00:00Z"]
        {
            assert!(Timestamp::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_leap_second_ends_any_utc_day_and_is_refused_elsewhere() {
        for (leap, end) in [
            ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.999Z"),
            ("2026-03-02T23:59:60Z", "2026-03-02T23:59:59.999Z"),
            ("2026-03-02T23:59:60.25Z", "2026-03-02T23:59:59.999Z"),
            ("2026-03-03T05:29:60+05:30", "2026-03-02T23:59:59.999Z"),
        ] {
            assert_eq!(Timestamp::parse(leap).unwrap().to_string(), end, "{leap}");
        }
        for refused in
            ["2026-03-02T23:58:60Z", "2026-03-02T12:59:60Z", "2026-03-02T23:59:60+01:00", "2026-03-02T23:59:61Z"]
        {
            assert!(Timestamp::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_day_starts_at_midnight_and_its_hours_follow() {
        let day = Day::parse("2026-03-02").unwrap();

        assert_eq!(day.at_hour(0).to_string(), "2026-03-02T00:00:00.000Z");
        assert_eq!(day.at_hour(23).day(), day);
        assert!(Day::parse("2026-02-30").is_err());
    }

    #[test]
    fn spans_count_forwards_and_backwards() {
        let noon = Timestamp::parse("2026-03-02T12:00:00Z").unwrap();

        assert_eq!(noon.plus(Duration::from_millis(1_500)).to_string(), "2026-03-02T12:00:01.500Z");
        assert_eq!(noon.minus(Duration::from_secs(86_400)).day().to_string(), "2026-03-01");
        assert_eq!(noon.until(noon.plus(Duration::from_secs(5))), Duration::from_secs(5));
        assert_eq!(noon.until(noon.minus(Duration::from_secs(5))), Duration::ZERO);
    }

    proptest! {
        #[test]
        fn text_sorts_like_time(left in 0_i64..253_402_300_000, right in 0_i64..253_402_300_000) {
            let (left, right) = (Timestamp::from_unix_seconds(left).unwrap(), Timestamp::from_unix_seconds(right).unwrap());

            prop_assert_eq!(left.cmp(&right), left.to_string().cmp(&right.to_string()));
            prop_assert_eq!(Timestamp::parse(&left.to_string()), Ok(left));
        }
    }
}
