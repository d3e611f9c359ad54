//! Time zones, for days as people in a place count them.

use std::ops::RangeInclusive;

use jiff::tz::{TimeZone, db};
use linklet_domain::{Day, Invalid, Timestamp};

const DAY: std::time::Duration = std::time::Duration::from_secs(86_400);

/// A time zone from the IANA database that the executable contains.
///
/// Clicks are counted by UTC hours, so counted days tell exactly only of zones whose hours are UTC's.
#[derive(Debug, Clone)]
pub struct Zone(TimeZone);

impl From<Zone> for TimeZone {
    fn from(zone: Zone) -> Self {
        zone.0
    }
}

impl Zone {
    /// Coordinated Universal Time.
    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// The zone with this name, such as `Europe/Berlin`.
    ///
    /// # Errors
    /// When there is none with this name.
    pub fn parse(name: &str) -> Result<Self, Invalid> {
        let zone = db().get(name).map_err(|_| Invalid::new("tz must be an IANA time zone such as Europe/Berlin"))?;
        Ok(Self(zone))
    }

    /// The date and hour that clocks in the zone show, as if they were in UTC.
    pub fn local(&self, at: Timestamp) -> Timestamp {
        let offset = self.offset_seconds(at);
        let by = std::time::Duration::from_secs(offset.unsigned_abs().into());
        if offset < 0 { at.minus(by) } else { at.plus(by) }
    }

    /// A moment as clocks of the zone show it, with their offset from UTC (RFC 3339).
    pub fn with_offset(&self, at: Timestamp) -> String {
        let (local, offset) = (self.local(at).to_string(), self.offset_seconds(at));
        let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.unsigned_abs() / 60);
        format!("{}{sign}{:02}:{:02}", local.trim_end_matches('Z'), minutes / 60, minutes % 60)
    }

    /// The first moment of a day of the zone.
    pub fn start_of(&self, day: Day) -> Timestamp {
        self.first_moment(day, 0).unwrap_or_else(|| day.start())
    }

    /// The last moment of a day of the zone.
    pub fn end_of(&self, day: Day) -> Timestamp {
        self.first_moment(day, 1).map_or_else(|| day.end(), |next| next.minus(std::time::Duration::from_millis(1)))
    }

    /// The ends of a time, of which each is a date-time or a day of the zone. A day as the first end means its first moment, as the
    /// last end its last one.
    ///
    /// # Errors
    /// When one of them is neither, or the first is later than the last; the sentence has its name.
    pub fn between(
        &self,
        (first, from): (&str, Option<&str>),
        (last, to): (&str, Option<&str>),
    ) -> Result<(Option<Timestamp>, Option<Timestamp>), Invalid> {
        let from = from.filter(|text| !text.is_empty()).map(|text| moment(first, text, |day| self.start_of(day)));
        let to = to.filter(|text| !text.is_empty()).map(|text| moment(last, text, |day| self.end_of(day)));
        match (from.transpose()?, to.transpose()?) {
            (Some(from), Some(to)) if from > to => {
                Err(Invalid::new(format!("{first} must not be later than {last}")).in_field(first))
            }
            between => Ok(between),
        }
    }

    /// The first moment of the day so many days later; `None` at the ends of time. Where clocks are set forward at midnight, that
    /// is later than 0:00.
    fn first_moment(&self, day: Day, later: i32) -> Option<Timestamp> {
        let date: jiff::civil::Date = day.to_string().parse().ok()?;
        let date = date.checked_add(jiff::Span::new().days(later)).ok()?;
        let start = date.to_zoned(self.0.clone()).ok()?.timestamp();
        Timestamp::from_unix_seconds(start.as_second()).ok()
    }

    /// Its name, as the database has it.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// The zone, or UTC if its clocks don't begin each hour of these days when those of UTC do.
    pub fn or_utc(&self, days: &RangeInclusive<Day>) -> Self {
        if self.has_whole_hours(days) { self.clone() } else { Self::utc() }
    }

    /// Whether clocks of the zone begin each hour of these days when those of UTC do.
    pub fn has_whole_hours(&self, days: &RangeInclusive<Day>) -> bool {
        let (first, last) = (days.start().at_hour(12), days.end().at_hour(12));
        // Counted beforehand: the last day that there is has no next one at which a walk could end.
        let count = u32::try_from(first.until(last).as_secs() / DAY.as_secs()).unwrap_or(u32::MAX);
        (0..=count).all(|number| self.offset_seconds(first.plus(DAY * number)) % 3_600 == 0)
    }

    /// The UTC days that have hours of these days of the zone.
    pub fn utc_days(&self, days: &RangeInclusive<Day>) -> RangeInclusive<Day> {
        let (first, last) = (days.start().start(), days.end().end());
        let is_ahead = self.offset_seconds(first) > 0;
        let is_behind = self.offset_seconds(last) < 0;
        let first = if is_ahead { first.minus(DAY) } else { first };
        let last = if is_behind { last.plus(DAY) } else { last };
        first.day()..=last.day()
    }

    fn offset_seconds(&self, at: Timestamp) -> i32 {
        let at = jiff::Timestamp::from_second(at.unix_seconds()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        self.0.to_offset(at).seconds()
    }
}

/// A date-time, or a date, of which a moment is meant.
///
/// # Errors
/// When the text is neither; the sentence has its name.
pub(crate) fn moment(name: &str, text: &str, of: impl Fn(Day) -> Timestamp) -> Result<Timestamp, Invalid> {
    // The plus of an offset that a client didn't encode arrives as a space.
    let text = text.replace(' ', "+");
    Day::parse(&text)
        .map(of)
        .or_else(|_| Timestamp::parse(&text))
        .map_err(|_| Invalid::new(format!("{name} must be a date or RFC3339 format")).in_field(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn days(first: &str, last: &str) -> RangeInclusive<Day> {
        Day::parse(first).unwrap()..=Day::parse(last).unwrap()
    }

    #[test]
    fn clocks_in_a_zone_follow_its_summer_time() {
        let berlin = Zone::parse("Europe/Berlin").unwrap();

        assert_eq!(berlin.local(time("2026-01-31T23:00:00Z")), time("2026-02-01T00:00:00Z"));
        assert_eq!(berlin.local(time("2026-07-31T22:00:00Z")), time("2026-08-01T00:00:00Z"));
        let new_york = Zone::parse("america/new_york").unwrap();
        assert_eq!(new_york.local(time("2026-02-01T04:00:00Z")), time("2026-01-31T23:00:00Z"));
        assert_eq!(Zone::utc().local(time("2026-02-01T04:00:00Z")), time("2026-02-01T04:00:00Z"));
        assert_eq!(berlin.with_offset(time("2026-07-31T22:00:00Z")), "2026-08-01T00:00:00.000+02:00");
        assert_eq!(new_york.with_offset(time("2026-02-01T04:00:00Z")), "2026-01-31T23:00:00.000-05:00");
    }

    #[test]
    fn a_day_begins_and_ends_with_the_clocks_of_its_zone() {
        let of = |name: &str, day: &str| {
            let (zone, day) = (Zone::parse(name).unwrap(), Day::parse(day).unwrap());
            (zone.start_of(day), zone.end_of(day))
        };

        for (name, day, start, end) in [
            ("UTC", "2026-03-01", "2026-03-01T00:00:00Z", "2026-03-01T23:59:59.999Z"),
            ("Europe/Berlin", "2026-03-01", "2026-02-28T23:00:00Z", "2026-03-01T22:59:59.999Z"),
            ("Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T21:59:59.999Z"),
            ("Asia/Kolkata", "2026-03-01", "2026-02-28T18:30:00Z", "2026-03-01T18:29:59.999Z"),
            // Clocks go from 0:00 to 1:00.
            ("Asia/Beirut", "2026-03-29", "2026-03-28T22:00:00Z", "2026-03-29T20:59:59.999Z"),
        ] {
            assert_eq!(of(name, day), (time(start), time(end)), "{name} {day}");
        }
        assert!(of("Etc/GMT+12", "9999-12-31").1 >= time("9999-12-31T12:00:00Z"));
        assert!(of("Asia/Tokyo", "0001-01-01").0 <= time("0001-01-01T00:00:00Z"));
    }

    #[test]
    fn clocks_that_are_not_whole_hours_from_utc_are_known() {
        let year = days("2026-01-01", "2026-12-31");
        let has_whole_hours = |name: &str| Zone::parse(name).unwrap().has_whole_hours(&year);

        for odd in ["Asia/Kolkata", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns"] {
            assert!(!has_whole_hours(odd), "{odd}");
        }
        for whole in ["UTC", "Europe/London", "Pacific/Kiritimati", "Etc/GMT+12"] {
            assert!(has_whole_hours(whole), "{whole}");
        }
        assert_eq!(Zone::parse("Asia/Kolkata").unwrap().or_utc(&year).name(), "UTC");
        assert_eq!(Zone::parse("europe/berlin").unwrap().or_utc(&year).name(), "Europe/Berlin");
    }

    #[test]
    fn what_is_no_zone_is_refused() {
        for refused in ["Berlin", "+01:00", "Europe/Berlin ", "../etc/passwd", "1"] {
            assert!(Zone::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn only_the_utc_days_that_a_local_day_reaches_into_are_read() {
        let march = days("2026-03-01", "2026-03-02");
        let utc_days = |name: &str| Zone::parse(name).unwrap().utc_days(&march);

        assert_eq!(utc_days("UTC"), march);
        assert_eq!(utc_days("Pacific/Kiritimati"), days("2026-02-28", "2026-03-02"));
        assert_eq!(utc_days("Pacific/Pago_Pago"), days("2026-03-01", "2026-03-03"));
    }

    #[test]
    fn the_first_and_the_last_day_that_there_are_have_an_end() {
        for day in ["0001-01-01", "9999-12-31"] {
            let day = days(day, day);

            assert!(Zone::utc().has_whole_hours(&day));
            assert_eq!(Zone::utc().utc_days(&day), day);
            assert!(Zone::parse("Etc/GMT+12").unwrap().utc_days(&day).contains(day.start()));
        }
    }
}
