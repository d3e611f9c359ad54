//! The parameters of a visitor's address, put onto the target.

use std::collections::BTreeSet;

use crate::TargetUrl;
use crate::uri::{decode, encode_query, pieces};

impl TargetUrl {
    /// The longest location that a visitor's parameters may make, in bytes. API Gateway allows 10,240 for all headers of an answer.
    pub const LONGEST_WITH_QUERY: usize = 9_000;

    /// The URL for a `Location` header with the parameters of a visitor's address, which replace those of the same name. Only the
    /// query changes, and parameters keep their bytes. `qr`, by which links tell scans, is left out, and so is what would make the URL
    /// too long.
    pub fn location_with(&self, query: &str) -> String {
        let base = self.location();
        let (rest, fragment) = base.split_once('#').map_or((&*base, None), |(rest, fragment)| (rest, Some(fragment)));
        let (path, own) = rest.split_once('?').unwrap_or((rest, ""));
        let mut room = Self::LONGEST_WITH_QUERY.saturating_sub(base.len());
        let (mut added, mut names) = (Vec::new(), BTreeSet::new());
        for piece in pieces(query) {
            let (name, encoded) = (name_of(piece), encode_query(piece));
            // The piece comes with a mark before it.
            if name != b"qr" && encoded.len() < room {
                room -= encoded.len() + 1;
                added.push(encoded);
                names.extend((!piece.is_empty()).then_some(name));
            }
        }
        if added.is_empty() {
            return base;
        }
        let kept = pieces(own).filter(|piece| piece.is_empty() || !names.contains(&name_of(piece)));
        let all: Vec<&str> = kept.chain(added.iter().map(String::as_str)).collect();
        let fragment = fragment.map(|fragment| format!("#{fragment}")).unwrap_or_default();
        format!("{path}?{}{fragment}", all.join("&"))
    }
}

fn name_of(piece: &str) -> Vec<u8> {
    decode(piece).0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use url::Url;

    use super::*;

    fn with(target: &str, query: &str) -> String {
        TargetUrl::parse(target).unwrap().location_with(query)
    }

    #[test]
    fn a_visitors_parameters_replace_only_those_of_the_same_name() {
        for (target, query, expected) in [
            ("https://example.com/a", "utm_source=x", "https://example.com/a?utm_source=x"),
            ("https://example.com/a?b=1&c=2#top", "c=3&d=4", "https://example.com/a?b=1&c=3&d=4#top"),
            ("https://example.com/a?b=1&b=2", "b=3&b=4", "https://example.com/a?b=3&b=4"),
            ("https://example.com/a?b=%20x&flag", "", "https://example.com/a?b=%20x&flag"),
            ("https://example.com/a?B=1", "b=2", "https://example.com/a?B=1&b=2"),
            ("https://example.com/a?%62=1", "b=2", "https://example.com/a?b=2"),
            ("https://example.com/a", "qr=1", "https://example.com/a"),
            ("https://example.com", "a=1", "https://example.com?a=1"),
            ("https://example.com/a", "=lonely&x", "https://example.com/a?=lonely&x"),
            ("https://example.com/#/page?inner=1", "inner=2", "https://example.com/?inner=2#/page?inner=1"),
        ] {
            assert_eq!(with(target, query), expected, "{target} {query}");
        }
    }

    #[test]
    fn forwarded_parameters_keep_their_bytes() {
        for query in
            ["q=caf%E9", "abc", "sig=abc==", "a=1;b=2", "q=a%20b", "q=a+b", "=x", "q=%c3%a4", "f[x]=1", "a=b?c/d"]
        {
            assert_eq!(with("https://example.com/a", query), format!("https://example.com/a?{query}"));
        }
        for (query, expected) in [("q=100%", "q=100%25"), ("q=%zz", "q=%25zz"), ("q=a b|ü\\", "q=a%20b%7C%C3%BC%5C")] {
            assert_eq!(with("https://example.com/a", query), format!("https://example.com/a?{expected}"));
        }
        assert_eq!(with("https://example.com/?%E9=1&%C3%A9=2", "%e9=3"), "https://example.com/?%C3%A9=2&%e9=3");
    }

    #[test]
    fn what_makes_a_location_too_long_is_dropped() {
        let long = format!("long={}&short=1", "x".repeat(TargetUrl::LONGEST_WITH_QUERY));

        assert_eq!(with("https://example.com/a?long=own", &long), "https://example.com/a?long=own&short=1");
    }

    proptest! {
        #[test]
        fn a_valid_query_is_forwarded_byte_for_byte(query in "([a-pA-Z0-9._~!$'()*+,;:@/?-]|%[0-9A-Fa-f]{2}|[=&]){1,200}") {
            prop_assume!(pieces(&query).all(|piece| name_of(piece) != b"qr"));

            prop_assert_eq!(with("https://example.com/a", &query), format!("https://example.com/a?{query}"));
        }

        #[test]
        fn no_query_changes_where_a_link_leads(query in "\\PC{0,200}|[ -~]{0,200}", target in "https://example\\.com(/[a-z]{0,9}(\\?[a-z]=[0-9])?(#[a-z]{1,5})?)?") {
            let location = with(&target, &query);

            let (before, after) = (Url::parse(&target).unwrap(), Url::parse(&location).unwrap());
            prop_assert!(location.len() <= TargetUrl::LONGEST_WITH_QUERY && location.bytes().all(|byte| byte.is_ascii_graphic()), "{location}");
            prop_assert_eq!((before.host(), before.port(), before.path(), before.fragment()), (after.host(), after.port(), after.path(), after.fragment()));
        }
    }
}
