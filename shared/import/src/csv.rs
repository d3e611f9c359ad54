//! Values between commas, semicolons or tabs (RFC 4180), with a header.

use ::csv::ReaderBuilder;
use linklet_domain::spreadsheet::text_of;
use serde_json::Value;

use crate::record::{Record, plain};
use crate::{BadRow, Found};

/// A quoted cell of more lines has no end: what follows are the next rows. A description of our own has at most 2,000.
const MOST_LINES: usize = 2_500;
/// Each end that is missing costs a look at so many lines, and halves them for the next, down to this. Each row that is whole adds as many.
const FEWEST_LINES: usize = 20;

pub(crate) fn records(text: &str) -> Vec<Found> {
    let header = text.lines().find(|line| !line.trim().is_empty() && !is_for_excel(line));
    let delimiter = delimiter_of(header.unwrap_or_default());
    let mut rows = Rows { text, at: 0, line: 1, delimiter, most_lines: MOST_LINES };
    let header = rows.find(|row| !row.as_ref().is_ok_and(|(_, row)| is_for_excel(row)));
    let Some(Ok((_, header))) = header else { return Vec::new() };
    let names: Vec<_> = cells(header, delimiter).iter().map(|name| plain(name)).collect();
    let record = |(line, row): (u64, &str)| {
        let cells = cells(row, delimiter).into_iter().map(Value::String);
        Record::new(line, names.iter().cloned().zip(cells))
    };
    rows.map(|row| row.map(record)).collect()
}

/// Whether a line before the header tells Excel what separates cells, such as `sep=;`.
fn is_for_excel(line: &str) -> bool {
    line.trim_start_matches('"').get(..4).is_some_and(|start| start.eq_ignore_ascii_case("sep="))
}

/// What separates the cells of a header, whose names have none of it.
fn delimiter_of(header: &str) -> u8 {
    let count = |delimiter: &u8| header.bytes().filter(|byte| byte == delimiter).count();
    b",;\t".iter().copied().max_by_key(|delimiter| (count(delimiter), *delimiter == b',')).unwrap_or(b',')
}

fn cells(row: &str, delimiter: u8) -> Vec<String> {
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(row.as_bytes());
    let record = reader.records().next().and_then(Result::ok);
    // Exports keep spreadsheets from taking cells for formulas.
    record.map(|record| record.iter().map(text_of).collect()).unwrap_or_default()
}

/// The rows of a text, each with its line, without what is between them. A quoted cell that is damaged ends its row with its first line,
/// so that it doesn't take the next rows with it.
struct Rows<'t> {
    text: &'t str,
    at: usize,
    line: u64,
    delimiter: u8,
    most_lines: usize,
}

impl<'t> Iterator for Rows<'t> {
    type Item = Result<(u64, &'t str), (u64, BadRow)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
            let (length, is_whole) = match row_length(rest.as_bytes(), self.delimiter, self.most_lines) {
                Some(length) => {
                    self.most_lines = MOST_LINES.min(self.most_lines + FEWEST_LINES);
                    (length, true)
                }
                None => {
                    self.most_lines = FEWEST_LINES.max(self.most_lines / 2);
                    (rest.find('\n').unwrap_or(rest.len()), false)
                }
            };
            let (row, line) = (&rest[..length], self.line);
            self.at += length + usize::from(length < rest.len());
            self.line += row.bytes().filter(|byte| *byte == b'\n').count() as u64 + 1;
            match row.trim_end_matches('\r') {
                row if row.trim().is_empty() => {}
                row if is_whole => return Some(Ok((line, row))),
                _ => return Some(Err((line, BadRow::Quotes))),
            }
        }
    }
}

/// The length of the first row without its end; `None` if a quoted cell doesn't end, or something other than a delimiter is behind its
/// end.
fn row_length(text: &[u8], delimiter: u8, most_lines: usize) -> Option<usize> {
    let (mut at, mut lines, mut is_start) = (0, 0, true);
    while at < text.len() {
        match text[at] {
            b'"' if is_start => {
                at += 1;
                loop {
                    match text.get(at)? {
                        b'"' if text.get(at + 1) == Some(&b'"') => at += 1,
                        b'"' => break,
                        b'\n' => lines += 1,
                        _ => {}
                    }
                    if lines > most_lines {
                        return None;
                    }
                    at += 1;
                }
                at += 1;
                let behind = text.get(at).copied().unwrap_or(b'\n');
                if behind != delimiter && !matches!(behind, b'\n' | b'\r') {
                    return None;
                }
                is_start = false;
            }
            b'\n' => return Some(at),
            byte => {
                is_start = byte == delimiter;
                at += 1;
            }
        }
    }
    Some(at)
}
