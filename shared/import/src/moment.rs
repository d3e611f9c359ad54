use jiff::civil::{Date, DateTime};
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::TimeZone;
use linklet_domain::Timestamp;
use serde_json::Value;

use crate::record::text_of;

/// Milliseconds since 1970 have been more than this since 1973; seconds will be in the year 5138.
const MILLISECONDS: u64 = 100_000_000_000;
/// A day that looks like a number. So few seconds were over in March 1973.
const DAY: &str = "20140308";

/// A time as systems write it: by RFC 3339, without or with an unusual zone, as a day, or as seconds or milliseconds since 1970.
pub(crate) fn read(value: &Value, zone: &TimeZone) -> Option<Timestamp> {
    let text = text_of(value)?;
    // A number that a program has written as a fraction.
    let text = text.strip_suffix(".0").unwrap_or(&text);
    match text.parse::<u64>() {
        Ok(number @ MILLISECONDS..) => Some(Timestamp::from_unix_millis(number)),
        Ok(number) if text.len() > DAY.len() => Timestamp::from_unix_seconds(number.try_into().ok()?).ok(),
        _ => Timestamp::parse(text).ok().or_else(|| with_zone(text)).or_else(|| in_zone(text, zone)),
    }
}

/// Whether this is a day without a time.
pub(crate) fn is_day(value: &Value) -> bool {
    text_of(value).is_some_and(|text| text.len() <= "2014-03-08".len() && text.parse::<Date>().is_ok())
}

/// Whether this says that there is no such time, such as `0000-00-00 00:00:00`.
pub(crate) fn is_never(value: &Value) -> bool {
    let is_zero = |text: &str| text.trim_matches(['0', '-', ' ', ':', 'T', 'Z', '.']).is_empty();
    text_of(value).is_some_and(|text| is_zero(&text) || text.eq_ignore_ascii_case("never"))
}

/// Such as `2020-10-26T17:20:40+0000` or `2020-10-26 17:20:40.123+00`.
fn with_zone(text: &str) -> Option<Timestamp> {
    if let Ok(at) = text.parse() {
        return ours(at);
    }
    let parsed = ["%Y-%m-%d %H:%M:%S%.f %z", "%Y-%m-%d %H:%M:%S%.f UTC"].into_iter();
    let parsed = parsed.filter_map(|form| BrokenDownTime::parse(form, text).ok());
    let at = parsed.filter_map(|mut parsed| {
        if parsed.offset().is_none() {
            parsed.set_offset(Some(jiff::tz::Offset::UTC));
        }
        parsed.to_timestamp().ok()
    });
    at.filter_map(ours).next()
}

/// Such as `2014-03-08 00:38:44`, `2014-03-08`, `20140308` or `Mar 8, 2014`.
fn in_zone(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    let in_words = || {
        ["%b %d, %Y", "%B %d, %Y"].into_iter().find_map(|form| BrokenDownTime::parse(form, text).ok()?.to_date().ok())
    };
    let local = text.parse::<DateTime>().ok().or_else(|| in_words().map(DateTime::from))?;
    ours(local.to_zoned(zone.clone()).ok()?.timestamp())
}

fn ours(at: jiff::Timestamp) -> Option<Timestamp> {
    at.as_millisecond().try_into().ok().map(Timestamp::from_unix_millis)
}
