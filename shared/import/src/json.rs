//! The answers of APIs, and files that consist of them: a list of objects, wherever in the document it is.

use std::rc::Rc;

use serde_json::{Map, Value};

use crate::record::{Record, plain};
use crate::{BadRow, Found};

/// The objects of the first list that has any, or of the object `links` that YOURLS has instead. They are found one by one, so that half
/// a document has its first half.
pub(crate) fn records(text: &str) -> Vec<Found> {
    let bytes = text.as_bytes();
    let Some(mut at) = beginning(bytes) else { return Vec::new() };
    let (mut line, mut counted, mut found) = (1, 0, Vec::new());
    while let Some(start) = next_object(bytes, at) {
        line += bytes[counted..start].iter().filter(|byte| **byte == b'\n').count() as u64;
        counted = start;
        let Some(end) = end_of(bytes, start) else {
            found.push(Err((line, BadRow::Json)));
            break;
        };
        found.push(match serde_json::from_str(&text[start..end]) {
            Ok(Value::Object(object)) => Ok(Record::new(line, flat(object))),
            _ => Err((line, BadRow::Json)),
        });
        at = end;
    }
    found
}

/// What under these is has names of its own, such as countries.
const WHOLE: [&str; 3] = ["geo", "metadata", "preview"];

/// Members of members have both names: `meta.validUntil` is `metavaliduntil`.
fn flat(object: Map<String, Value>) -> Vec<(Rc<str>, Value)> {
    let mut fields = Vec::new();
    for (name, value) in object {
        let name = plain(&name);
        match value {
            Value::Object(members) if !WHOLE.contains(&&*name) => {
                fields
                    .extend(flat(members).into_iter().map(|(member, value)| (format!("{name}{member}").into(), value)));
            }
            value => fields.push((name, value)),
        }
    }
    fields
}

/// Behind the first bracket that has an object behind it, or behind that of `links`.
fn beginning(text: &[u8]) -> Option<usize> {
    let mut at = 0;
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
    after_space(text, 0).filter(|first| text[*first] == b'{')
}

fn after_space(text: &[u8], at: usize) -> Option<usize> {
    text.get(at..)?.iter().position(|byte| !byte.is_ascii_whitespace()).map(|spaces| at + spaces)
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
