use strum::{Display, EnumString, VariantNames};

use crate::record::Record;

/// Where links are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Format {
    /// Bitly: its CSV files and the answers of its API.
    Bitly,
    /// Dub.
    Dub,
    /// Kutt: the answers of its API.
    Kutt,
    /// Linklet's own export.
    Linklet,
    /// Polr: CSV, the answers of its API, or its database.
    Polr,
    /// Rebrandly: the answers of its API.
    Rebrandly,
    /// Shlink: the answers of its API, and both kinds of CSV.
    Shlink,
    /// Short.io: TSV, or the answers of its API.
    Shortio,
    /// Sink.
    Sink,
    /// YOURLS: its database, the CSV of its plugin, or the answers of its API.
    Yourls,
    /// Any table with a header, or list of objects.
    Table,
}

/// The names of which each system has one, or all of several together, that nobody else has. The first that fits counts.
const SIGNS: [(Format, &[&[&str]]); 10] = [
    (Format::Linklet, &[&["shortcode", "originalurl"], &["shorturl", "code", "importedclicks"]]),
    (
        Format::Bitly,
        &[
            &["bitlink"],
            &["custombitlink"],
            &["custombitlinks"],
            &["customlink", "destinationurl"],
            &["longurl", "link"],
        ],
    ),
    (Format::Rebrandly, &[&["slashtag"]]),
    (Format::Shortio, &[&["originalurl", "path"], &["originalurl", "shorturl"]]),
    (Format::Polr, &[&["longurl", "isdisabled"]]),
    (
        Format::Shlink,
        &[
            &["longurl", "shortcode"],
            &["longurl", "shorturl"],
            &["longurl", "domain"],
            &["visitlocation"],
            &["potentialbot"],
        ],
    ),
    (Format::Yourls, &[&["keyword"], &["source", "target"], &["shorturl", "url", "timestamp"], &["clicktime"]]),
    (Format::Kutt, &[&["address", "target"]]),
    (Format::Sink, &[&["slug", "url"]]),
    (Format::Dub, &[&["shortlink", "destinationurl"], &["shortlink", "key"]]),
];

impl Format {
    /// Their names.
    pub const NAMES: &[&str] = Self::VARIANTS;

    /// What a record is from.
    pub(crate) fn of(record: &Record) -> Option<Self> {
        let has_all = |names: &[&str]| names.iter().all(|name| record.has(name));
        let known = SIGNS.iter().find(|(_, signs)| signs.iter().any(|names| has_all(names)));
        let is_any = crate::link::is_link(record) || crate::click::is_click(record);
        known.map(|(format, _)| *format).or(is_any.then_some(Self::Table))
    }
}
