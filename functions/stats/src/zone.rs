//! Time zones, for days as people in a place count them.

use std::ops::RangeInclusive;

use jiff::tz::{TimeZone, db};
use linklet_domain::{Day, Invalid, Timestamp};

const DAY: std::time::Duration = std::time::Duration::from_secs(86_400);

/// A time zone from the IANA database that the executable contains.
///
/// Clicks are counted by UTC hours, so only zones whose hours are UTC's can be told exactly.
pub(crate) struct Zone(TimeZone);

impl Zone {
    /// Coordinated Universal Time.
    pub(crate) fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// The zone with this name, such as `Europe/Berlin`.
    pub(crate) fn parse(name: &str) -> Result<Self, Invalid> {
        let zone = db().get(name).map_err(|_| Invalid::new("tz must be an IANA time zone such as Europe/Berlin"))?;
        Ok(Self(zone))
    }

    /// The date and hour that clocks in the zone show, as if they were in UTC.
    pub(crate) fn local(&self, at: Timestamp) -> Timestamp {
        let offset = self.offset_seconds(at);
        let by = std::time::Duration::from_secs(offset.unsigned_abs().into());
        if offset < 0 { at.minus(by) } else { at.plus(by) }
    }

    /// Checks that the zone is whole hours from UTC on all of these days.
    pub(crate) fn require_whole_hours(&self, days: &RangeInclusive<Day>) -> Result<(), Invalid> {
        let (first, last) = (days.start().at_hour(12), days.end().at_hour(12));
        // Counted beforehand: the last day that there is has no next one at which a walk could end.
        let count = u32::try_from(first.until(last).as_secs() / DAY.as_secs()).unwrap_or(u32::MAX);
        let is_whole = |noon: Timestamp| self.offset_seconds(noon) % 3_600 == 0;
        if (0..=count).all(|number| is_whole(first.plus(DAY * number))) {
            Ok(())
        } else {
            Err(Invalid::new("tz must be whole hours from UTC").in_field("tz"))
        }
    }

    /// The UTC days that have hours of these days of the zone.
    pub(crate) fn utc_days(&self, days: &RangeInclusive<Day>) -> RangeInclusive<Day> {
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
    }

    #[test]
    fn a_zone_that_is_not_whole_hours_from_utc_is_refused() {
        let year = days("2026-01-01", "2026-12-31");

        for refused in ["Asia/Kolkata", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns"] {
            assert!(Zone::parse(refused).unwrap().require_whole_hours(&year).is_err(), "{refused}");
        }
        for accepted in ["UTC", "Europe/London", "Pacific/Kiritimati", "Etc/GMT+12"] {
            assert!(Zone::parse(accepted).unwrap().require_whole_hours(&year).is_ok(), "{accepted}");
        }
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

            assert!(Zone::utc().require_whole_hours(&day).is_ok());
            assert_eq!(Zone::utc().utc_days(&day), day);
            assert!(Zone::parse("Etc/GMT+12").unwrap().utc_days(&day).contains(day.start()));
        }
    }
}
