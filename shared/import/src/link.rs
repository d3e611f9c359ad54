//! What the names in a record of a link mean, in the order in which they are asked.

use jiff::tz::TimeZone;
use linklet_domain::Timestamp;
use serde_json::Value;

use crate::record::{Record, text_of};
use crate::{BadRow, Format, moment, rules};

const URL: &[&str] = &["longurl", "originalurl", "destinationurl", "destination", "target", "longlink", "url"];
/// Whole short links. One that somebody has chosen comes before the one that was generated.
const SHORT_URL: &[&str] =
    &["customlink", "custombitlink", "custombitlinks", "shorturl", "shortlink", "bitlink", "link"];
const CODE: &[&str] =
    &["shortcode", "customcode", "code", "keyword", "slug", "slashtag", "shortid", "path", "alias", "key", "address"];
pub(crate) const HOST: &[&str] = &["domainfullname", "domain", "host"];
const TITLE: &[&str] = &["title", "label", "name"];
const DESCRIPTION: &[&str] = &["description", "note", "notes", "comment", "comments"];
const CREATED: &[&str] = &["createdat", "created", "datecreated", "createdatdate", "timestamp", "creationdate", "date"];
const EXPIRES: &[&str] =
    &["expiresat", "expiration", "expirein", "expirytime", "validuntil", "metavaliduntil", "expires", "expiry"];
const VALID_FROM: &[&str] = &["validfrom", "validsince", "metavalidsince"];
const MAX_CLICKS: &[&str] = &["maxclicks", "maxvisits", "metamaxvisits"];
const FALLBACK: &[&str] = &["fallbackurl", "expiredurl"];
const FORWARD: &[&str] = &["forwardquery", "forwardparameters", "redirectwithquery", "paramforwarding"];
pub(crate) const CLICKS: &[&str] =
    &["clicks", "totalclicks", "visits", "hits", "visitcount", "visitssummarytotal", "visitscount", "engagements"];
const PASSWORD: &[&str] = &["password", "secretkey", "isprotected", "protected", "haspassword", "passwordprotected"];
const DISABLED: &[&str] = &["isdisabled", "disabled", "banned"];
const ENABLED: &[&str] = &["isactive", "isenabled", "enabled"];
const STATUS: &[&str] = &["linkstatus", "status"];
/// What changes how a link works, and isn't there here.
const UNSUPPORTED: [&str; 7] = ["cloaking", "rewrite", "proxy", "unsafe", "testvariants", "hasredirectrules", "image"];

/// A link of another system. Its texts are as they were there, and may break rules that hold here.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LinkRow {
    /// The destination.
    pub url: String,
    /// The short code; a new one is wanted if there is none.
    pub code: Option<String>,
    /// The host of its short URL.
    pub host: Option<String>,
    /// The display name.
    pub title: Option<String>,
    /// A note.
    pub description: Option<String>,
    /// The labels.
    pub tags: Vec<String>,
    /// When it was created.
    pub created_at: Option<Timestamp>,
    /// When it ends, or has.
    pub expires_at: Option<Timestamp>,
    /// When it begins.
    pub valid_from: Option<Timestamp>,
    /// How many clicks it may have.
    pub max_clicks: Option<u64>,
    /// Where it leads when it doesn't work.
    pub fallback_url: Option<String>,
    /// Whether parameters of a visitor are handed on.
    pub forward_query: bool,
    /// Its rules, in the form that the API takes.
    pub rules: Vec<Value>,
    /// How often it was clicked there.
    pub clicks: Option<u64>,
    /// Whether it was put away.
    pub archived: bool,
    /// Whether it was switched off.
    pub is_disabled: bool,
    /// Whether it has had all the clicks that it may have.
    pub is_used_up: bool,
    /// Whether visitors need a password or a key, which no export has.
    pub is_protected: bool,
    /// Members of a request for a new link that no other system has, as our own export has them.
    pub own: Vec<(&'static str, Value)>,
    /// What the record says and isn't kept, by its names.
    pub ignored: Vec<String>,
}

/// Whether a record is a link, also if its destination is missing.
pub(crate) fn is_link(record: &Record) -> bool {
    record.has_any(URL) || own_url(record).is_some()
}

/// In a table that has nothing but links, `link` is the destination.
fn own_url(record: &Record) -> Option<String> {
    let has_code = record.get(CODE).is_some();
    record.text(&["link"]).filter(|link| !has_code && link.contains("://"))
}

pub(crate) fn read(record: &Record, format: Format, zone: &TimeZone) -> Result<LinkRow, BadRow> {
    let (url, is_plain) = match record.text(URL) {
        Some(url) => (url, false),
        None => (own_url(record).ok_or(BadRow::NoUrl)?, true),
    };
    let short = if is_plain { None } else { record.text(SHORT_URL) };
    let (host, code) = short.map(|short| parts_in(format, short)).unwrap_or_default();
    let code = code_of(record).map(|code| code.trim_matches('/').to_owned()).or(code).filter(|code| !code.is_empty());
    // Their lists of a domain's links have the domain itself.
    let is_own_address = match format {
        Format::Shortio => code.is_none(),
        Format::Dub => code.as_deref().map_or(host.is_some(), |code| code == "_root"),
        _ => false,
    };
    if is_own_address {
        return Err(BadRow::NoCode);
    }
    let given = |names| record.get(names).filter(|time| !moment::is_never(time));
    let time = |names, name| match given(names) {
        Some(value) => moment::read(value, zone).map(Some).ok_or(BadRow::Time(name)),
        None => Ok(None),
    };
    let created_at = given(CREATED).and_then(|value| moment::read(value, zone));
    let (clicks, max_clicks) = (clicks_of(record), record.count(MAX_CLICKS));
    let is_unread = |names| record.count(names).is_none() && record.get(names).is_some();
    let lost = [
        ("created_at", created_at.is_none() && given(CREATED).is_some()),
        ("clicks", is_unread(CLICKS)),
        ("max_clicks", is_unread(MAX_CLICKS)),
    ];
    let lost = lost.into_iter().filter(|(_, is_lost)| *is_lost).map(|(name, _)| name.to_owned());
    let max_clicks = max_clicks.filter(|max| *max > 0);
    let (rules, lost_rules) = rules::of(record);
    let unsupported = UNSUPPORTED.into_iter().filter(|name| record.is(&[name])).map(str::to_owned);
    Ok(LinkRow {
        url,
        code,
        host: record.text(HOST).or(host),
        title: record.text(TITLE),
        description: record.text(DESCRIPTION),
        tags: record.get(&["tags", "taglist"]).map(tags).unwrap_or_default(),
        created_at,
        expires_at: time(EXPIRES, "expires_at")?,
        valid_from: time(VALID_FROM, "valid_from")?,
        max_clicks,
        fallback_url: record.text(FALLBACK),
        forward_query: record.is(FORWARD),
        rules,
        clicks,
        archived: record.is(&["archived", "isarchived"]) || record.text(&["archivedat"]).is_some(),
        is_disabled: is_disabled(record),
        is_used_up: is_used_up(record, clicks, max_clicks),
        is_protected: record.is_any(PASSWORD),
        own: own(record),
        ignored: unsupported.chain(lost_rules).chain(lost).collect(),
    })
}

/// In YOURLS' own pair of columns, `source` is the code; elsewhere it is what has made the link.
fn code_of(record: &Record) -> Option<String> {
    let is_pair = || URL.iter().all(|name| record.has(name) == (*name == "target"));
    record.text(CODE).or_else(|| record.text(&["source"]).filter(|_| is_pair()))
}

fn is_disabled(record: &Record) -> bool {
    let is_off = |text: String| matches!(&*text.to_lowercase(), "inactive" | "disabled");
    record.is_any(DISABLED)
        || ENABLED.iter().any(|name| record.get(&[name]).is_some() && !record.is(&[name]))
        || STATUS.iter().any(|name| record.text(&[name]).is_some_and(is_off))
}

/// Of our own links, `used` counts what the maximum counts.
fn is_used_up(record: &Record, clicks: Option<u64>, max_clicks: Option<u64>) -> bool {
    let used = record.count(&["used"]).or(clicks).unwrap_or_default();
    record.get(&["exhaustedat"]).is_some() || max_clicks.is_some_and(|max| used >= max)
}

/// All that were counted: those of our own export may have been imported there.
fn clicks_of(record: &Record) -> Option<u64> {
    let (clicks, imported) = (record.count(CLICKS), record.count(&["importedclicks"]));
    if imported.is_none() { clicks } else { Some(clicks.unwrap_or_default().saturating_add(imported?)) }
}

/// Texts, and what is JSON in a cell.
const OWN_TEXTS: [(&str, &str); 2] = [("externalid", "external_id"), ("statistics", "statistics")];
const OWN_VALUES: [&str; 4] = ["metadata", "preview", "variants", "watch"];

fn own(record: &Record) -> Vec<(&'static str, Value)> {
    let texts = OWN_TEXTS.into_iter().filter_map(|(name, member)| Some((member, record.text(&[name])?.into())));
    let values = OWN_VALUES.into_iter().filter_map(|name| Some((name, rules::inner(record.get(&[name])?))));
    texts.chain(values).collect()
}

/// Host and code of a short link. Polr calls the code so.
fn parts_in(format: Format, short: String) -> (Option<String>, Option<String>) {
    match format {
        Format::Polr if !short.contains("://") => (None, Some(short)),
        _ => parts_of(&short, matches!(format, Format::Bitly | Format::Dub | Format::Shortio)),
    }
}

/// Host and code of a short link, such as `https://bit.ly/launch` or `bit.ly/launch`. A code may have slashes. What has dots and stands
/// alone may be a host.
pub(crate) fn parts_of(short: &str, may_be_host: bool) -> (Option<String>, Option<String>) {
    let (has_scheme, rest) = short.split_once("://").map_or((false, short), |(_, rest)| (true, rest));
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    match rest.split_once('/') {
        Some((host, code)) if has_scheme || host.contains('.') => {
            let code = code.trim_matches('/');
            (
                Some(host.to_owned()).filter(|host| !host.is_empty()),
                Some(code.to_owned()).filter(|code| !code.is_empty()),
            )
        }
        _ if rest.is_empty() => (None, None),
        _ if has_scheme || may_be_host && rest.contains('.') => (Some(rest.to_owned()), None),
        _ => (None, Some(rest.to_owned())),
    }
}

/// A list, a list in a cell, or texts between bars or else commas.
fn tags(value: &Value) -> Vec<String> {
    let named = |tag: &Value| tag.get("name").or(Some(tag)).and_then(text_of);
    let of_list = |list: &Vec<Value>| list.iter().filter_map(named).filter(|tag| !tag.is_empty()).collect();
    match value {
        Value::Array(list) => of_list(list),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Array(list)) => of_list(&list),
            _ => {
                let between = if text.contains('|') { '|' } else { ',' };
                text.split(between).map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
            }
        },
        _ => Vec::new(),
    }
}
