//! Answers as tables for spreadsheets (RFC 4180).

use csv::{Terminator, Writer, WriterBuilder};
use lambda_http::http::{HeaderValue, header};
use linklet_domain::Invalid;

use super::{ApiError, NextPage, Request, Response, Result, response::table};

/// How many bytes a page has at most. Lambda answers 6 MB, and what is compressed comes as Base64.
const MOST_BYTES: usize = 4 << 20;

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
pub struct TableRows(Writer<Vec<u8>>);

impl Default for TableRows {
    fn default() -> Self {
        Self(WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new()))
    }
}

impl TableRows {
    /// Adds a row. No cell is a formula.
    ///
    /// # Errors
    /// Never: texts can be written.
    pub fn add<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) -> Result<()> {
        let cells = cells.into_iter().map(|cell| plain(cell.as_ref()));
        self.0.write_record(cells).map_err(ApiError::internal)
    }

    /// Whether there are as many rows as an answer holds.
    pub fn is_full(&mut self) -> bool {
        // What the writer still holds is small.
        self.0.get_ref().len() >= MOST_BYTES - (64 << 10)
    }

    /// The answer with these rows, as a file that is called after the request's path. It begins with a byte order mark if the parameter
    /// `bom` says so, by which spreadsheets recognise UTF-8.
    ///
    /// # Errors
    /// 400 when `bom` is neither true nor false.
    pub fn answer(self, request: &Request) -> Result<Response> {
        let bytes = self.0.into_inner().map_err(|error| ApiError::Internal(error.to_string().into()))?;
        let mark = if request.flag("bom")?.unwrap_or_default() { "\u{feff}" } else { "" };
        let mut response = table(format!("{mark}{}", String::from_utf8_lossy(&bytes)));
        let named = format!("attachment; filename=\"{}.csv\"", file_name(request.path()));
        response
            .headers_mut()
            .insert(header::CONTENT_DISPOSITION, HeaderValue::from_str(&named).map_err(ApiError::internal)?);
        Ok(response)
    }

    /// The answer with these rows, and with a link to the next page (RFC 8288) if there is one.
    ///
    /// # Errors
    /// When the cursor can't be in a header.
    pub fn page(self, request: &Request, next: &NextPage) -> Result<Response> {
        let mut response = self.answer(request)?;
        if let Some(cursor) = &next.next_cursor {
            let link = format!("<{}>; rel=\"next\"", next_page(request, cursor));
            let link = HeaderValue::from_str(&link).map_err(ApiError::internal)?;
            response.headers_mut().insert(header::LINK, link);
        }
        Ok(response)
    }
}

/// What a table is called that was asked for at this path, such as `stats-launch-clicks`.
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

/// A cell that spreadsheets take for text: whoever clicks on a link chooses some of them. Where a list is written with semicolons, they
/// begin a cell behind each, and behind tabs and line breaks. What begins a formula also does in its full-width form.
fn plain(cell: &str) -> String {
    const SEPARATORS: [char; 4] = [';', '\t', '\n', '\r'];
    const FORMULAS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
    let mut text = String::with_capacity(cell.len());
    let mut begins = true;
    for letter in cell.chars() {
        if begins && FORMULAS.contains(&letter) {
            text.push('\'');
        }
        text.push(letter);
        begins = SEPARATORS.contains(&letter) || (begins && letter == '"');
    }
    text
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

    #[test]
    fn no_cell_is_a_formula() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "＝1", "＋1", "－1", "＠SUM(A1)"] {
            assert_eq!(plain(formula), format!("'{formula}"));
            for before in [";", "\t", "\n", "\r\n", "a;", "\"b\";", "a;\""] {
                assert_eq!(plain(&format!("{before}{formula}")), format!("{before}'{formula}"));
            }
        }
        for text in ["", "Firefox", "1-1", "'=1", "X11; Linux", "a\r\nb"] {
            assert_eq!(plain(text), text);
        }
    }
}
