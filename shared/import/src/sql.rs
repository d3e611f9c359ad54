//! Dumps of databases: the rows of its `INSERT` statements.

use std::collections::HashMap;
use std::rc::Rc;

use encoding_rs::WINDOWS_1252;
use serde_json::Value;

use crate::record::{Record, plain};
use crate::{BadRow, Found, click, link};

/// The columns of YOURLS' tables, for a dump that doesn't name them.
const KNOWN: [(&str, &[&str]); 2] = [
    ("_url", &["keyword", "url", "title", "timestamp", "ip", "clicks"]),
    ("_log", &["clickid", "clicktime", "shorturl", "referrer", "useragent", "ipaddress", "countrycode"]),
];

/// A table with more columns has no links. Each statement that inserts rows looks through the columns that it names.
const MOST_COLUMNS: usize = 200;

/// Whether a text has lines that begin statements which insert rows, or begins with a table.
pub(crate) fn is_dump(text: &str) -> bool {
    let begins = |line: &str, starts: &[[&str; 2]]| {
        let mut words = line.split_whitespace();
        let start = [words.next(), words.next()].map(Option::unwrap_or_default);
        starts
            .iter()
            .any(|[first, second]| start[0].eq_ignore_ascii_case(first) && start[1].eq_ignore_ascii_case(second))
    };
    let is_comment = |line: &&str| line.is_empty() || ["--", "#", "/*"].iter().any(|mark| line.starts_with(mark));
    let first = text.lines().map(str::trim_start).find(|line| !is_comment(line)).unwrap_or_default();
    begins(first, &[["create", "table"], ["drop", "table"]])
        || text.lines().any(|line| begins(line, &[["insert", "into"], ["insert", "ignore"]]))
}

/// The columns of a table.
#[derive(Clone)]
struct Columns {
    names: Rc<[Rc<str>]>,
    /// Whether its rows are links or clicks. A dump has other tables, too.
    is_wanted: bool,
}

impl Columns {
    fn of(names: Vec<Rc<str>>) -> Self {
        let full = Record::new(0, names.iter().take(MOST_COLUMNS).cloned().map(|name| (name, Value::Bool(true))));
        let is_wanted = names.len() <= MOST_COLUMNS && (link::is_link(&full) || click::is_click(&full));
        Self { names: names.into(), is_wanted }
    }
}

pub(crate) fn records(text: &str) -> Vec<Found> {
    // Texts in UTF-8 that a table of Latin 1 has as two characters each.
    let is_latin = text.contains("CHARSET=latin1");
    let mut dump = Dump { text, at: 0, line: 1, counted: 0 };
    let (mut columns, mut found) = (HashMap::new(), Vec::<Found>::new());
    while let Some(word) = dump.word() {
        if word.eq_ignore_ascii_case("create") {
            dump.table(&mut columns);
        } else if word.eq_ignore_ascii_case("insert") {
            dump.rows(&columns, is_latin, &mut found);
        }
    }
    found
}

/// A dump, read from the beginning to the end.
struct Dump<'t> {
    text: &'t str,
    at: usize,
    line: u64,
    counted: usize,
}

/// What a dump consists of.
enum Token<'t> {
    Word(&'t str),
    Name(String),
    Value(Option<String>),
    Sign(u8),
}

impl<'t> Dump<'t> {
    /// The next word outside of texts.
    fn word(&mut self) -> Option<&'t str> {
        loop {
            if let Token::Word(word) = self.token()? {
                return Some(word);
            }
        }
    }

    /// Learns the columns of a table.
    fn table(&mut self, columns: &mut HashMap<String, Columns>) {
        let Some(table) = self.name() else { return };
        let (mut names, mut depth, mut is_first) = (Vec::new(), 0_u32, false);
        while let Some(token) = self.token() {
            match token {
                Token::Sign(b'(') => (depth, is_first) = (depth + 1, depth == 0),
                Token::Sign(b')') if depth <= 1 => break,
                Token::Sign(b')') => depth -= 1,
                Token::Sign(b';') => break,
                Token::Sign(b',') if depth == 1 => is_first = true,
                // A key or constraint begins with a word, a column with its name.
                Token::Name(name) if is_first => {
                    names.push(plain(&name));
                    is_first = false;
                }
                _ => is_first = false,
            }
        }
        columns.insert(table, Columns::of(names));
    }

    /// The rows of a statement.
    fn rows(&mut self, columns: &HashMap<String, Columns>, is_latin: bool, found: &mut Vec<Found>) {
        let Some(table) = self.name() else { return };
        let known = || {
            let (_, names) = KNOWN.iter().find(|(end, _)| table.ends_with(end))?;
            Some(Columns::of(names.iter().map(|name| Rc::from(*name)).collect()))
        };
        let mut given = Vec::new();
        loop {
            match self.token() {
                Some(Token::Name(name)) => given.push(plain(&name)),
                Some(Token::Word(word)) if word.eq_ignore_ascii_case("values") => break,
                Some(Token::Word(name)) => given.push(plain(name)),
                Some(Token::Sign(b';')) | None => return,
                Some(_) => {}
            }
        }
        let of_table = || columns.get(&table).cloned().or_else(known);
        let columns = if given.is_empty() { of_table() } else { Some(Columns::of(given)) };
        let Columns { names, is_wanted } = columns.unwrap_or_else(|| Columns::of(Vec::new()));
        while let Some(token) = self.token() {
            match token {
                Token::Sign(b'(') => {
                    let line = self.line();
                    let row = self.row().filter(|values| values.len() == names.len());
                    let of = |values: Vec<Option<String>>| {
                        let values = values.into_iter().map(|value| as_value(value, is_latin));
                        Record::new(line, names.iter().cloned().zip(values))
                    };
                    let is_cut = row.is_none() && self.at >= self.text.len();
                    found.extend(is_wanted.then(|| row.map(of).ok_or((line, BadRow::Sql))));
                    if is_cut {
                        return;
                    }
                }
                Token::Sign(b',') => {}
                _ => return,
            }
        }
    }

    /// The values until the bracket that closes a row.
    fn row(&mut self) -> Option<Vec<Option<String>>> {
        let mut values = Vec::new();
        loop {
            match self.token()? {
                Token::Value(value) => values.push(value),
                Token::Word(word) => {
                    let is_null = word.eq_ignore_ascii_case("null");
                    values.push((!is_null).then(|| word.to_owned()));
                }
                Token::Sign(b')') => return Some(values),
                Token::Sign(b',') => {}
                Token::Sign(_) | Token::Name(_) => return None,
            }
        }
    }

    /// The name of a table, without that of its database.
    fn name(&mut self) -> Option<String> {
        let mut name = self.part_of_name()?;
        while self.text[self.at..].starts_with('.') {
            self.at += 1;
            name = self.part_of_name()?;
        }
        name.rsplit('.').next().map(str::to_owned)
    }

    fn part_of_name(&mut self) -> Option<String> {
        loop {
            match self.token()? {
                Token::Name(name) => return Some(name),
                Token::Word(word)
                    if ["into", "table", "if", "not", "exists", "ignore"]
                        .iter()
                        .any(|other| word.eq_ignore_ascii_case(other)) => {}
                Token::Word(name) => return Some(name.to_owned()),
                _ => return None,
            }
        }
    }

    fn line(&mut self) -> u64 {
        let newlines = self.text.as_bytes()[self.counted..self.at].iter().filter(|byte| **byte == b'\n').count();
        self.counted = self.at;
        self.line += newlines as u64;
        self.line
    }

    fn token(&mut self) -> Option<Token<'t>> {
        let bytes = self.text.as_bytes();
        loop {
            let rest = &self.text[self.at..];
            match *bytes.get(self.at)? {
                byte if byte.is_ascii_whitespace() => self.at += 1,
                b'#' => self.skip_past("\n"),
                b'-' if rest.starts_with("--") => self.skip_past("\n"),
                b'/' if rest.starts_with("/*") => self.skip_past("*/"),
                b'`' => return Some(Token::Name(self.quoted(b'`')?)),
                quote @ (b'\'' | b'"') => return Some(Token::Value(Some(self.quoted(quote)?))),
                b'0' if rest.starts_with("0x") => return Some(Token::Value(self.hexadecimal())),
                byte if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-') => {
                    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'$');
                    let length = rest.bytes().position(|byte| !is_part(byte)).unwrap_or(rest.len());
                    self.at += length;
                    return Some(Token::Word(&rest[..length]));
                }
                byte if byte.is_ascii() => {
                    self.at += 1;
                    return Some(Token::Sign(byte));
                }
                _ => self.at += rest.chars().next().map_or(1, char::len_utf8),
            }
        }
    }

    fn skip_past(&mut self, end: &str) {
        let rest = &self.text[self.at..];
        self.at += rest.find(end).map_or(rest.len(), |at| at + end.len());
    }

    /// A text without its quotation marks. A mark in it stands twice or behind a backslash.
    fn quoted(&mut self, quote: u8) -> Option<String> {
        let mut text = String::new();
        let mut rest = self.text[self.at + 1..].char_indices();
        while let Some((index, character)) = rest.next() {
            if character == char::from(quote) {
                if !rest.as_str().starts_with(character) {
                    self.at += index + 2;
                    return Some(text);
                }
                rest.next();
                text.push(character);
            } else if character == '\\' && quote != b'`' {
                text.push(match rest.next()?.1 {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    '0' => '\0',
                    other => other,
                });
            } else {
                text.push(character);
            }
        }
        self.at = self.text.len();
        None
    }

    /// A text as its bytes in hexadecimal digits; `None` if they are none.
    fn hexadecimal(&mut self) -> Option<String> {
        let digits = &self.text[self.at + 2..];
        let length = digits.bytes().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(digits.len());
        self.at += 2 + length;
        let pairs = digits.as_bytes()[..length].chunks(2);
        let bytes: Option<Vec<_>> = pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()).collect();
        String::from_utf8(bytes?).ok()
    }
}

fn as_value(text: Option<String>, is_latin: bool) -> Value {
    let Some(text) = text else { return Value::Null };
    if !is_latin || text.is_ascii() {
        return Value::String(text);
    }
    let (bytes, _, has_others) = WINDOWS_1252.encode(&text);
    let decoded = String::from_utf8(bytes.into_owned()).ok().filter(|_| !has_others);
    Value::String(decoded.unwrap_or(text))
}
