//! Addresses as a URI has them ([RFC 3986](https://www.rfc-editor.org/rfc/rfc3986)), whatever somebody has typed.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, utf8_percent_encode};

/// What is encoded if letters, digits and these remain.
const fn all_but(kept: &[u8]) -> AsciiSet {
    let (mut set, mut rest) = (NON_ALPHANUMERIC.union(AsciiSet::EMPTY), kept);
    while let [first, others @ ..] = rest {
        (set, rest) = (set.remove(*first), others);
    }
    set
}

/// What a path may not have: anything but `pchar` (RFC 3986, 3.3) and slashes.
const PATH: &AsciiSet = &all_but(b"-._~!$&'()*+,;=:@/");

/// What a fragment may not have (RFC 3986, 3.5).
const FRAGMENT: &AsciiSet = &PATH.remove(b'?');

/// What a query may not have (RFC 3986, 3.4). Brackets are let through, which many sites expect in names of parameters, and which
/// no strict client refuses there.
const QUERY: &AsciiSet = &FRAGMENT.remove(b'[').remove(b']');

/// What follows the host of a URL, as a URI has it. What is valid stays as it is, dot segments included.
///
/// Before the query, a backslash becomes a slash, as browsers read it.
pub fn encode_tail(tail: &str) -> String {
    let (before, fragment) = tail.split_once('#').map_or((tail, None), |(before, fragment)| (before, Some(fragment)));
    let (path, query) = before.split_once('?').map_or((before, None), |(path, query)| (path, Some(query)));
    let mut encoded = encode(&path.replace('\\', "/"), PATH);
    for (mark, part, forbidden) in [('?', query, QUERY), ('#', fragment, FRAGMENT)] {
        if let Some(part) = part {
            encoded.push(mark);
            encoded.push_str(&encode(part, forbidden));
        }
    }
    encoded
}

/// A query, or a piece of one, as a URI has it.
pub(crate) fn encode_query(query: &str) -> String {
    encode(query, QUERY)
}

/// A percent sign that begins no encoded byte stands for itself.
fn encode(text: &str, forbidden: &'static AsciiSet) -> String {
    let mut parts = text.split('%');
    let mut encoded = utf8_percent_encode(parts.next().unwrap_or_default(), forbidden).to_string();
    for part in parts {
        let is_byte = part.as_bytes().first_chunk::<2>().is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        encoded.push_str(if is_byte { "%" } else { "%25" });
        encoded.extend(utf8_percent_encode(part, forbidden));
    }
    encoded
}

/// The pieces of a query, undecoded, of which some may be empty.
pub(crate) fn pieces(query: &str) -> impl Iterator<Item = &str> {
    query.split('&').take(if query.is_empty() { 0 } else { usize::MAX })
}

/// The name and the value of a piece of a query, as the bytes that a form means by it, which needn't be UTF-8.
pub(crate) fn decode(piece: &str) -> (Vec<u8>, Vec<u8>) {
    let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
    (decode_component(name), decode_component(value))
}

fn decode_component(text: &str) -> Vec<u8> {
    let spaced: Cow<'_, [u8]> =
        if text.contains('+') { text.replace('+', " ").into_bytes().into() } else { text.as_bytes().into() };
    percent_decode(&spaced).collect()
}
