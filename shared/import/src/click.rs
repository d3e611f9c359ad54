//! What the names in a record of a click mean.

use jiff::tz::TimeZone;
use linklet_domain::Timestamp;

use crate::link::{CLICKS, HOST, is_link, parts_of};
use crate::record::Record;
use crate::{BadRow, moment};

const CODE: &[&str] = &["shortcode", "code", "keyword", "slug"];
/// Whole short links, or the code.
const SHORT_URL: &[&str] = &["shorturl", "visitedurl", "shortlink", "link"];
const TIME: &[&str] = &["clickedat", "clicktime", "visitedat", "time", "date", "timestamp"];
const BOT: &[&str] = &["potentialbot", "isbot"];

/// A click of a link of another system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClickRow {
    /// The short code of the link.
    pub code: String,
    /// The host of its short URL.
    pub host: Option<String>,
    /// What identifies the click there.
    pub id: Option<String>,
    /// When it was.
    pub at: Timestamp,
    /// The page that it came from.
    pub referrer: Option<String>,
    /// The user agent.
    pub user_agent: Option<String>,
    /// The country, as two letters.
    pub country: Option<String>,
    /// The city.
    pub city: Option<String>,
    /// The address of the visitor, which is kept as a hash only.
    pub address: Option<String>,
    /// Whether it was taken for a bot there.
    pub is_bot: Option<bool>,
}

/// Whether a record is one click. Links have codes and times, too, and so have the numbers of a day.
pub(crate) fn is_click(record: &Record) -> bool {
    let has_time = record.get(TIME).is_some_and(|time| !moment::is_day(time));
    let may_be_else = || is_link(record) || record.has_any(CLICKS);
    has_time && code_of(record).is_some() && (record.get(&["clickid"]).is_some() || !may_be_else())
}

fn code_of(record: &Record) -> Option<String> {
    record.text(CODE).or_else(|| short_of(record).1)
}

fn short_of(record: &Record) -> (Option<String>, Option<String>) {
    record.text(SHORT_URL).as_deref().map(|short| parts_of(short, false)).unwrap_or_default()
}

pub(crate) fn read(record: &Record, zone: &TimeZone) -> Result<ClickRow, BadRow> {
    let at = record.get(TIME).and_then(|value| moment::read(value, zone)).ok_or(BadRow::Time("clicked_at"))?;
    // YOURLS and Dub say so of visitors who come from nowhere.
    let referrer = record.text(&["referrerurl", "referrer", "referer"]);
    let referrer = referrer.filter(|referrer| !matches!(&**referrer, "direct" | "(direct)"));
    Ok(ClickRow {
        code: code_of(record).ok_or(BadRow::NoCode)?,
        host: record.text(HOST).or_else(|| short_of(record).0),
        id: record.text(&["clickid", "id"]),
        at,
        referrer,
        user_agent: record.text(&["useragent"]),
        country: record.text(&["countrycode", "visitlocationcountrycode", "country"]),
        city: record.text(&["visitlocationcityname", "city"]),
        address: record.text(&["ipaddress", "ip"]),
        is_bot: record.get(BOT).map(|_| record.is(BOT)),
    })
}
