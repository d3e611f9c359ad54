//! Answers as tables for spreadsheets (RFC 4180).

use csv::{Terminator, Writer, WriterBuilder};
use lambda_http::http::{HeaderValue, header};
use linklet_domain::{Invalid, spreadsheet};

use super::{ApiError, NextPage, Request, Response, Result, response::table};

/// How many bytes a page has at most, [as Lambda takes them](weight). Lambda answers 6 MB, and what is compressed comes as Base64.
pub(super) const MOST_BYTES: usize = 5_000_000;

/// How many bytes a row has at most, or an item.
pub(super) const LARGEST: usize = 64 << 10;

/// How many bytes a part of an answer takes, in which each of these characters is written as so many.
pub(super) fn weight(text: &str, escaped: &[u8], as_many: usize) -> usize {
    text.len() + text.bytes().filter(|byte| escaped.contains(byte)).count() * (as_many - 1)
}

/// In which form an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An object.
    Json,
    /// A table.
    Csv,
}

impl Format {
    /// The form that the query parameter `format` names: JSON unless it names another one.
    ///
    /// # Errors
    /// 400 when the parameter is none.
    pub fn of(request: &Request) -> Result<Self, Invalid> {
        let format = request.parsed("format", |text| match text {
            "json" => Ok(Self::Json),
            "csv" => Ok(Self::Csv),
            _ => Err(Invalid::new("format must be json or csv")),
        })?;
        Ok(format.unwrap_or(Self::Json))
    }
}

/// Rows of a table.
#[derive(Debug)]
pub struct TableRows {
    writer: Writer<Vec<u8>>,
    weight: usize,
}

impl Default for TableRows {
    fn default() -> Self {
        Self { writer: WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new()), weight: 0 }
    }
}

impl TableRows {
    /// Adds a row. No cell is a formula.
    ///
    /// # Errors
    /// Never: texts can be written.
    pub fn add<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) -> Result<()> {
        for cell in cells {
            let cell = spreadsheet::cell_of(cell.as_ref());
            // A quotation mark is doubled, and each of both is escaped where the answer is a text in JSON. So are those around it.
            self.weight += weight(&cell, b"\"\\\r\n\t", 4) + 5;
            self.writer.write_field(cell).map_err(ApiError::internal)?;
        }
        self.writer.write_record(None::<&[u8]>).map_err(ApiError::internal)
    }

    /// Whether there are as many rows as an answer holds.
    pub fn is_full(&self) -> bool {
        self.weight >= MOST_BYTES - LARGEST
    }

    /// The answer with these rows, as a file that is called after the request's path. It begins with a byte order mark if the parameter
    /// `bom` says so, by which spreadsheets recognise UTF-8.
    ///
    /// # Errors
    /// 400 when `bom` is neither true nor false.
    pub fn answer(self, request: &Request) -> Result<Response> {
        let bytes = self.writer.into_inner().map_err(|error| ApiError::Internal(error.to_string().into()))?;
        let mark = if request.flag("bom")?.unwrap_or_default() { "\u{feff}" } else { "" };
        named(table(format!("{mark}{}", String::from_utf8_lossy(&bytes))), request, "csv")
    }

    /// The answer with these rows, and with a link to the next page (RFC 8288) if there is one.
    ///
    /// # Errors
    /// When the cursor can't be in a header.
    pub fn page(self, request: &Request, next: &NextPage) -> Result<Response> {
        linked(self.answer(request)?, request, next)
    }
}

/// This answer as a file that is called after the request's path.
pub(super) fn named(mut response: Response, request: &Request, ending: &str) -> Result<Response> {
    let name = format!("attachment; filename=\"{}.{ending}\"", file_name(request.path()));
    let name = HeaderValue::from_str(&name).map_err(ApiError::internal)?;
    response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    Ok(response)
}

/// This answer with a link to the next page (RFC 8288) if there is one.
///
/// # Errors
/// When the cursor can't be in a header.
pub fn linked(mut response: Response, request: &Request, next: &NextPage) -> Result<Response> {
    if let Some(cursor) = &next.next_cursor {
        let link = format!("<{}>; rel=\"next\"", next_page(request, cursor));
        let link = HeaderValue::from_str(&link).map_err(ApiError::internal)?;
        response.headers_mut().insert(header::LINK, link);
    }
    Ok(response)
}

/// What a file is called that was asked for at this path, such as `stats-launch-clicks`.
fn file_name(path: &str) -> String {
    let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty() && *part != "api").collect();
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    parts.join("-").chars().map(plain).collect()
}

/// The same query with another cursor, relative to the request's address.
fn next_page(request: &Request, cursor: &str) -> String {
    let others = request.raw_query().split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("after="));
    let cursor = format!("after={cursor}");
    format!("?{}", others.chain([cursor.as_str()]).collect::<Vec<_>>().join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer_at(path: &str, query: &str) -> Response {
        let mut event = crate::http::GatewayEvent { raw_path: Some(path.into()), ..Default::default() };
        event.raw_query_string = Some(query.into());
        let mut rows = TableRows::default();
        rows.add(["a"]).unwrap();
        rows.answer(&event.into()).unwrap()
    }

    #[test]
    fn a_table_is_a_file_named_after_its_path_with_a_byte_order_mark_on_request() {
        for (path, query, name, body) in [
            ("/api/stats/launch", "", "stats-launch.csv", "a\r\n"),
            ("/api/stats/ext:crm_1/clicks", "bom=true", "stats-ext-crm-1-clicks.csv", "\u{feff}a\r\n"),
            ("/api/workspace/audit", "bom=false", "workspace-audit.csv", "a\r\n"),
        ] {
            let answer = answer_at(path, query);
            let expected = format!("attachment; filename=\"{name}\"");
            assert_eq!(answer.headers()[header::CONTENT_DISPOSITION], expected);
            assert_eq!(answer.body().as_ref(), body.as_bytes());
        }
    }
}
