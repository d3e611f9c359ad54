//! Revisions as entity tags (RFC 9110, 8.8.3), and the header `If-Match` (13.1.1).
//!
//! The tag of what can be changed is about that alone, and so not about what an answer also says, such as clicks: whoever changes
//! a link wants to overwrite nobody's change, and a click is none.

use std::{collections::BTreeSet, fmt::Display};

use lambda_http::http::{HeaderValue, header};
use linklet_domain::{Precondition, Revision};

use super::{Request, Response};

/// What is put behind a tag when an answer is compressed, since a strong tag names one form only.
const COMPRESSED: &str = "-gzip";

/// This answer with the strong tag of a revision of `thing`, which has an id without quotes and spaces.
pub fn tagged(mut response: Response, thing: &impl Display, revision: Revision) -> Response {
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{thing}-{revision}\"")) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// Gives an answer that was compressed the strong tag of that form, if it has a strong one.
pub(super) fn name_compressed(response: &mut Response) {
    let strong =
        response.headers().get(header::ETAG).and_then(|tag| tag.to_str().ok()?.strip_prefix('"')?.strip_suffix('"'));
    if let Some(Ok(tag)) = strong.map(|opaque| HeaderValue::from_str(&format!("\"{opaque}{COMPRESSED}\""))) {
        response.headers_mut().insert(header::ETAG, tag);
    }
}

impl Request {
    /// Which revisions of `thing` the request is meant for, by its header `If-Match`. A weak tag, one of something else and what is
    /// no tag at all match nothing. Of more tags than a condition of DynamoDB takes, the latest count.
    pub fn precondition(&self, thing: &impl Display) -> Precondition {
        const MOST: usize = 100;
        let Some(tags) = self.header_lossy(header::IF_MATCH).filter(|tags| tags.trim() != "*") else {
            return Precondition::None;
        };
        let thing = format!("{thing}-");
        let revisions: BTreeSet<_> = tags.split(',').filter_map(|tag| revision_in(tag.trim(), &thing)).collect();
        Precondition::OneOf(revisions.into_iter().rev().take(MOST).collect())
    }
}

fn revision_in(tag: &str, thing: &str) -> Option<Revision> {
    let opaque = tag.strip_prefix('"')?.strip_suffix('"')?;
    Revision::parse(opaque.strip_suffix(COMPRESSED).unwrap_or(opaque).strip_prefix(thing)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{GatewayEvent, no_content};

    fn with(if_match: &str) -> Request {
        let mut event = GatewayEvent::default();
        event.headers.insert(header::IF_MATCH, if_match.parse().unwrap());
        event.into()
    }

    fn revisions(numbers: &[&str]) -> Precondition {
        Precondition::OneOf(numbers.iter().map(|number| Revision::parse(number).unwrap()).collect())
    }

    #[test]
    fn a_tag_that_was_given_is_the_revision_it_was_given_for() {
        let response = tagged(no_content(), &"x7Kf2a", Revision::FIRST);
        let tag = response.headers()[header::ETAG].to_str().unwrap();

        assert_eq!(tag, "\"x7Kf2a-0\"");
        assert_eq!(with(tag).precondition(&"x7Kf2a"), revisions(&["0"]));
        assert_eq!(with("\"x7Kf2a-3-gzip\"").precondition(&"x7Kf2a"), revisions(&["3"]));
    }

    #[test]
    fn a_star_and_no_header_are_no_precondition() {
        assert_eq!(with(" * ").precondition(&"a"), Precondition::None);
        assert_eq!(Request::from(GatewayEvent::default()).precondition(&"a"), Precondition::None);
    }

    #[test]
    fn of_a_list_only_strong_tags_of_the_thing_count() {
        let list = "\"a-1\", W/\"a-2\",\"b-3\" ,\"a-4\", a-5, \"a-06\", \"a-7,\", \"\", *";
        assert_eq!(with(list).precondition(&"a"), revisions(&["1", "4"]));
        for nothing in ["", "W/\"a-1\"", "a-1", "\"a-1", "'a-1'", "\"a--1\"", "\"a-1-gzip-gzip\""] {
            assert_eq!(with(nothing).precondition(&"a"), revisions(&[]), "{nothing}");
        }
    }

    #[test]
    fn of_more_than_100_tags_the_latest_count() {
        let list: Vec<_> = (0..=100).map(|number| format!("\"a-{number}\"")).collect();

        let precondition = with(&list.join(",")).precondition(&"a");
        let admits = |number| precondition.admits(Revision::parse(number).unwrap());
        assert_eq!((admits("0"), admits("1"), admits("100")), (false, true, true));
    }
}
