use jiff::civil::DateTime;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::TimeZone;
use linklet_domain::Timestamp;
use serde_json::Value;

use crate::record::text_of;

/// Milliseconds since 1970 have been more than this since 1973; seconds will be in the year 5138.
const MILLISECONDS: u64 = 100_000_000_000;

/// A time as systems write it: by RFC 3339, without or with an unusual zone, as a day, or as seconds or milliseconds since 1970.
pub(crate) fn read(value: &Value, zone: &TimeZone) -> Option<Timestamp> {
    let text = text_of(value)?;
    if let Ok(number) = text.parse::<u64>() {
        return match number {
            0..10_000_000 => None,
            MILLISECONDS.. => Some(Timestamp::from_unix_millis(number)),
            _ => Timestamp::from_unix_seconds(number.try_into().ok()?).ok(),
        };
    }
    Timestamp::parse(&text).ok().or_else(|| with_zone(&text)).or_else(|| in_zone(&text, zone))
}

/// Such as `2020-10-26T17:20:40+0000`.
fn with_zone(text: &str) -> Option<Timestamp> {
    let parsed = ["%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d %H:%M:%S %z", "%Y-%m-%d %H:%M:%S UTC"].into_iter();
    let parsed = parsed.filter_map(|form| BrokenDownTime::parse(form, text).ok());
    let at = parsed.filter_map(|mut parsed| {
        if parsed.offset().is_none() {
            parsed.set_offset(Some(jiff::tz::Offset::UTC));
        }
        parsed.to_timestamp().ok()
    });
    at.filter_map(ours).next()
}

/// Such as `2014-03-08 00:38:44`, `2014-03-08` or `Mar 8, 2014`.
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
