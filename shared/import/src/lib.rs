//! Links of other systems: reads their exports into rows.
//!
//! Every format becomes records first, which are values under names. [One table](link) says which names mean what, whatever system they
//! are from, so that a format needs code only for its syntax. A record that can't be read is named with its line, and the others are read.

mod click;
mod csv;
mod format;
mod json;
mod link;
mod moment;
mod record;
mod rules;
mod sql;

use jiff::tz::TimeZone;
use serde_json::Value;

pub use self::click::ClickRow;
pub use self::format::Format;
pub use self::link::LinkRow;
use self::record::Record;

/// How a text is to be read.
#[derive(Debug, Clone)]
pub struct Reading {
    /// What it is; recognized if it isn't named.
    pub format: Option<Format>,
    /// The zone of times that name none.
    pub zone: TimeZone,
    /// How many rows it may have. They take many times the memory of their text.
    pub most_rows: usize,
}

impl Default for Reading {
    fn default() -> Self {
        Self { format: None, zone: TimeZone::UTC, most_rows: usize::MAX }
    }
}

/// What a text has.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    /// What it is.
    pub format: Format,
    /// Its rows in their order.
    pub rows: Vec<Row>,
}

/// A row of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The line where it begins, from 1.
    pub line: u64,
    /// What it says.
    pub content: Result<Content, BadRow>,
}

/// What a row says.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A link.
    Link(Box<LinkRow>),
    /// A click of a link.
    Click(Box<ClickRow>),
}

/// Why a row can't be read. The sentences are for the person who imports it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRow {
    /// A quoted cell doesn't end, or something stands behind its end.
    #[error("a quotation mark is missing")]
    Quotes,
    /// An object that JSON doesn't allow.
    #[error("this isn't valid JSON")]
    Json,
    /// An element of a list that should have objects only.
    #[error("this isn't an object")]
    NoObject,
    /// A row of SQL that doesn't end, or has another number of values than its table has columns.
    #[error("this isn't a row of its table")]
    Sql,
    /// It has neither a URL nor the code and time of a click.
    #[error("the destination is missing")]
    NoUrl,
    /// It is the address of a whole domain.
    #[error("a domain's own address has no short code")]
    NoCode,
    /// A time on which it depends when the link works.
    #[error("{0} isn't a time")]
    Time(&'static str),
}

/// Why nothing of a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It has neither links nor clicks.
    #[error("no links were recognized: a CSV file needs a header with a column for the destination, such as long_url")]
    Unrecognized,
    /// It has more rows than this.
    #[error("at most {0} rows are read at once")]
    TooManyRows(usize),
}

/// Reads a text.
///
/// # Errors
/// When there is nothing in it that could be a link or a click, or too many rows.
pub fn read(text: &str, reading: &Reading) -> Result<Import, Unreadable> {
    import(records(text.strip_prefix('\u{feff}').unwrap_or(text)), reading)
}

/// Reads objects, such as elements of a list that an API has answered. The line of a row is its place in the list, from 1.
///
/// # Errors
/// As those of [`read`].
pub fn read_items(items: &[Value], reading: &Reading) -> Result<Import, Unreadable> {
    import(json::of_items(items), reading)
}

fn import(records: Vec<Found>, reading: &Reading) -> Result<Import, Unreadable> {
    let known = records.iter().filter_map(|record| record.as_ref().ok());
    let recognized = known.clone().find_map(Format::of);
    let is_readable = known.clone().any(|record| link::is_link(record) || click::is_click(record));
    let format = reading.format.or(recognized).filter(|_| is_readable).ok_or(Unreadable::Unrecognized)?;
    if records.len() > reading.most_rows {
        return Err(Unreadable::TooManyRows(reading.most_rows));
    }
    let rows = records.into_iter().map(|record| match record {
        Ok(record) => Row { line: record.line, content: content(&record, format, &reading.zone) },
        Err((line, why)) => Row { line, content: Err(why) },
    });
    Ok(Import { format, rows: rows.collect() })
}

/// A record, or the line of one that can't be read.
type Found = Result<Record, (u64, BadRow)>;

fn records(text: &str) -> Vec<Found> {
    match text.trim_start().bytes().next() {
        Some(b'{' | b'[') => json::records(text),
        _ if sql::is_dump(text) => sql::records(text),
        _ => csv::records(text),
    }
}

fn content(record: &Record, format: Format, zone: &TimeZone) -> Result<Content, BadRow> {
    if click::is_click(record) {
        return click::read(record, zone).map(|click| Content::Click(Box::new(click)));
    }
    link::read(record, format, zone).map(|link| Content::Link(Box::new(link)))
}
