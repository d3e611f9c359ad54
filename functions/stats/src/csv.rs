//! Answers as tables for spreadsheets (RFC 4180).

use std::borrow::Cow;

use csv::{Terminator, Writer, WriterBuilder};
use linklet_domain::{ClickId, Dimension, Invalid};
use linklet_lambda::{
    http::{self, ApiError, HeaderValue, Request, Response, header},
    zone::Zone,
};

use crate::{clicks::ClickView, period::Period};

/// How many bytes a page has at most. Lambda answers 6 MB, and what is compressed comes as Base64.
const MOST_BYTES: usize = 4 << 20;

/// In which form an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Csv,
}

impl Format {
    /// # Errors
    /// 400 when the parameter is none.
    pub(crate) fn of(request: &Request) -> Result<Self, Invalid> {
        let format = request.parsed("format", |text| match text {
            "json" => Ok(Self::Json),
            "csv" => Ok(Self::Csv),
            _ => Err(Invalid::new("format must be json or csv")),
        })?;
        Ok(format.unwrap_or(Self::Json))
    }
}

/// What of an answer a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Series,
    Breakdown(Dimension),
}

/// The table that a request wants: the series, unless it says another one.
///
/// # Errors
/// 400 when the parameter is none.
pub(crate) fn table(request: &Request) -> Result<Table, Invalid> {
    let table = request.parsed("table", |text| {
        let breakdown = Dimension::ALL.into_iter().find(|dimension| dimension.name() == text).map(Table::Breakdown);
        let table = if text == "series" { Some(Table::Series) } else { breakdown };
        table.ok_or_else(|| Invalid::new("table must be series or the name of a breakdown"))
    })?;
    Ok(table.unwrap_or(Table::Series))
}

/// The table of a time.
///
/// # Errors
/// Never: texts can be written.
pub(crate) fn of_table(period: &Period, table: Table) -> Result<Response, ApiError> {
    let mut rows = Rows::new();
    match table {
        Table::Series => {
            rows.add(["period", "clicks", "people"])?;
            for (period, count) in &period.findings.points {
                rows.add([period.as_str(), &count.clicks.to_string(), &count.people.to_string()])?;
            }
        }
        Table::Breakdown(dimension) => {
            rows.add([dimension.label(), "clicks"])?;
            for (value, count) in period.findings.by(dimension).ranking() {
                rows.add([value.as_str(), &count.to_string()])?;
            }
        }
    }
    rows.answer()
}

/// As many clicks as a page holds. What is left of them, or comes after them, is behind its link to the next page.
///
/// # Errors
/// Never: texts can be written.
pub(crate) fn of_clicks(
    request: &Request,
    clicks: impl Iterator<Item = ClickView>,
    mut next: Option<ClickId>,
    cursor: impl Fn(ClickId) -> String,
    zone: &Zone,
) -> Result<Response, ApiError> {
    let mut rows = Rows::new();
    rows.add(COLUMNS)?;
    let mut clicks = clicks.peekable();
    while let Some(click) = clicks.next() {
        let id = click.id;
        rows.add(row(&click, zone))?;
        if rows.is_full() && clicks.peek().is_some() {
            next = Some(id);
            break;
        }
    }
    let mut response = rows.answer()?;
    if let Some(id) = next {
        let link = format!("<{}>; rel=\"next\"", next_page(request, &cursor(id)));
        let link = HeaderValue::from_str(&link).map_err(|error| ApiError::Internal(Box::new(error)))?;
        response.headers_mut().insert(header::LINK, link);
    }
    Ok(response)
}

const COLUMNS: [&str; 13] = [
    "id",
    "clicked_at",
    "audience",
    "device",
    "browser",
    "browser_version",
    "os",
    "country",
    "city",
    "referrer",
    "source",
    "campaign",
    "user_agent",
];

fn row<'c>(click: &'c ClickView, zone: &Zone) -> [Cow<'c, str>; COLUMNS.len()] {
    let or_empty = |text: &'c Option<String>| Cow::from(text.as_deref().unwrap_or_default());
    [
        click.id.to_string().into(),
        zone.with_offset(click.clicked_at).into(),
        click.audience.as_str().into(),
        click.device.as_str().into(),
        click.browser.as_str().into(),
        click.browser_version.as_str().into(),
        click.os.as_str().into(),
        click.country.as_ref().map_or("", |country| country.as_str()).into(),
        or_empty(&click.city),
        or_empty(&click.referer),
        click.source.into(),
        or_empty(&click.campaign),
        click.user_agent.as_str().into(),
    ]
}

/// The same query with another cursor, relative to the request's address.
fn next_page(request: &Request, cursor: &str) -> String {
    let others = request.raw_query().split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("after="));
    let cursor = format!("after={cursor}");
    format!("?{}", others.chain([cursor.as_str()]).collect::<Vec<_>>().join("&"))
}

/// Rows of a table.
struct Rows(Writer<Vec<u8>>);

impl Rows {
    fn new() -> Self {
        Self(WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new()))
    }

    fn add<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) -> Result<(), ApiError> {
        let cells = cells.into_iter().map(|cell| plain(cell.as_ref()).into_owned());
        self.0.write_record(cells).map_err(|error| ApiError::Internal(Box::new(error)))
    }

    fn is_full(&mut self) -> bool {
        // What the writer still holds is small.
        self.0.get_ref().len() >= MOST_BYTES - (64 << 10)
    }

    fn answer(self) -> Result<Response, ApiError> {
        let bytes = self.0.into_inner().map_err(|error| ApiError::Internal(error.to_string().into()))?;
        Ok(http::table(String::from_utf8_lossy(&bytes).into_owned()))
    }
}

/// A cell that spreadsheets take for text, also if it begins as a formula does: whoever clicks on a link chooses some of them.
fn plain(cell: &str) -> Cow<'_, str> {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{cell}").into() } else { cell.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_that_begins_as_a_formula_is_text() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"] {
            assert_eq!(plain(formula), format!("'{formula}"));
        }
        for text in ["", "Firefox", "1-1", "'=1"] {
            assert_eq!(plain(text), text);
        }
    }
}
