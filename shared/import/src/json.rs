//! The answers of APIs, and files that consist of them: a list of objects, wherever in the document it is.

use std::rc::Rc;

use serde_json::{Map, Value};

use crate::record::{Record, plain};
use crate::{BadRow, Found, click, link};

/// The objects of each document that a text has: of one, of pages of answers, or of one in each line.
pub(crate) fn records(text: &str) -> Vec<Found> {
    let (mut objects, mut found, mut at) = (Objects { text, line: 1, counted: 0 }, Vec::new(), 0);
    while let Some(start) = next(text.as_bytes(), at, b"{[") {
        let (end, before) = (end_of(text.as_bytes(), start), found.len());
        at = end.unwrap_or(text.len());
        objects.of_document(start, at, &mut found);
        if end.is_none() && found.len() == before {
            found.push(Err((objects.line_of(start), BadRow::Json)));
        }
    }
    found
}

/// The records of a list that was read already, each with its place.
pub(crate) fn of_items(items: &[Value]) -> Vec<Found> {
    let record = |(line, item): (u64, &Value)| match item {
        Value::Object(object) => Ok(flat(line, object.clone())),
        _ => Err((line, BadRow::NoObject)),
    };
    (1..).zip(items).map(record).collect()
}

struct Objects<'t> {
    text: &'t str,
    line: u64,
    counted: usize,
}

impl Objects<'_> {
    /// Those of the first list that has any, or of the object `links` that YOURLS has instead. They are found one by one, so that half a
    /// document has its first half.
    fn of_document(&mut self, start: usize, end: usize, found: &mut Vec<Found>) {
        let document = &self.text.as_bytes()[..end];
        if let Some(record) = self.link(start, end) {
            return found.push(Ok(record));
        }
        let mut rest = beginning(document, start);
        while let Some(start) = rest.and_then(|at| next_object(document, at)) {
            let line = self.line_of(start);
            rest = end_of(document, start);
            let object = rest.and_then(|end| serde_json::from_str(&self.text[start..end]).ok());
            found.push(object.map(|object| flat(line, object)).ok_or((line, BadRow::Json)));
        }
    }

    /// A document that is itself a link or a click, whose lists are of something else, such as rules.
    fn link(&mut self, start: usize, end: usize) -> Option<Record> {
        let text = Some(&self.text[start..end]).filter(|text| text.starts_with('{') && text.len() <= LARGEST_LINK)?;
        let record = flat(self.line_of(start), serde_json::from_str(text).ok()?);
        (link::is_link(&record) || click::is_click(&record)).then_some(record)
    }

    fn line_of(&mut self, at: usize) -> u64 {
        let between = &self.text.as_bytes()[self.counted..at];
        self.line += between.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.counted = at;
        self.line
    }
}

/// How large, in bytes, a document is read at once to see whether it is a link itself.
const LARGEST_LINK: usize = 16_384;
/// The longest name, in bytes, that could mean something. Each member of a member has a copy of it.
const LONGEST_NAME: usize = 28;
/// How deep such members are.
const DEEPEST: u8 = 3;

/// What under these is has names of its own, such as countries.
const WHOLE: [&str; 3] = ["geo", "metadata", "preview"];

/// Members of members have both names: `meta.validUntil` is `metavaliduntil`.
fn flat(line: u64, object: Map<String, Value>) -> Record {
    let mut fields = Vec::new();
    add(&mut fields, "", object, 1);
    Record::new(line, fields)
}

fn add(fields: &mut Vec<(Rc<str>, Value)>, outer: &str, object: Map<String, Value>, depth: u8) {
    for (own, value) in object {
        let own = plain(&own);
        let name = format!("{outer}{own}");
        match value {
            _ if name.len() > LONGEST_NAME => {}
            Value::Object(members) if !WHOLE.contains(&&*own) => {
                if depth < DEEPEST {
                    add(fields, &name, members, depth + 1);
                }
            }
            value => fields.push((name.into(), value)),
        }
    }
}

/// Behind the first bracket that has an object behind it, or behind that of `links`.
fn beginning(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    while at < text.len() {
        match text[at] {
            b'"' => {
                let end = end_of_string(text, at)?;
                let opens = after_space(text, end)
                    .filter(|colon| text[*colon] == b':')
                    .and_then(|colon| after_space(text, colon + 1));
                if &text[at..end] == b"\"links\"" && opens.is_some_and(|opens| text[opens] == b'{') {
                    return opens.map(|opens| opens + 1);
                }
                at = end;
            }
            b'[' if after_space(text, at + 1).is_some_and(|next| text[next] == b'{') => return Some(at + 1),
            _ => at += 1,
        }
    }
    // A single object is a list of one.
    Some(start).filter(|start| text[*start] == b'{')
}

fn after_space(text: &[u8], at: usize) -> Option<usize> {
    text.get(at..)?.iter().position(|byte| !byte.is_ascii_whitespace()).map(|spaces| at + spaces)
}

/// Where the next of these bytes is.
fn next(text: &[u8], at: usize, bytes: &[u8]) -> Option<usize> {
    text.get(at..)?.iter().position(|byte| bytes.contains(byte)).map(|before| at + before)
}

/// Where the next object of the list begins; `None` at its end.
fn next_object(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match text.get(at)? {
            b'{' => return Some(at),
            b'"' => at = end_of_string(text, at)?,
            b']' | b'}' => return None,
            _ => at += 1,
        }
    }
}

/// Behind the bracket that closes the one here.
fn end_of(text: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0_u32);
    loop {
        match text.get(at)? {
            b'"' => {
                at = end_of_string(text, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Behind the quotation mark that closes the one here.
fn end_of_string(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}
