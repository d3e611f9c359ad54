//! The parameters of a visitor's address, put onto the target.

use std::collections::BTreeSet;

use url::form_urlencoded;

use crate::TargetUrl;

impl TargetUrl {
    /// The longest location that a visitor's parameters may make, in bytes.
    pub const LONGEST_WITH_QUERY: usize = 4_096;

    /// The URL for a `Location` header with the parameters of a visitor's address, which replace those of the same name. Only the
    /// query changes. `qr`, by which links tell scans, is left out, and so is what would make the URL longer than 4 KB.
    #[must_use]
    pub fn location_with(&self, query: &str) -> String {
        let base = self.location();
        let (rest, fragment) = base.split_once('#').map_or((&*base, None), |(rest, fragment)| (rest, Some(fragment)));
        let (path, own) = rest.split_once('?').unwrap_or((rest, ""));
        let given: Vec<_> =
            form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name != "qr" && !name.is_empty()).collect();
        let mut room = Self::LONGEST_WITH_QUERY.saturating_sub(base.len() + 1);
        let mut taken = Vec::with_capacity(given.len());
        for (name, value) in &given {
            let pair = form_urlencoded::Serializer::new(String::new()).append_pair(name, value).finish();
            if pair.len() < room {
                room -= pair.len() + 1;
                taken.push((name, pair));
            }
        }
        let replaced: BTreeSet<&str> = taken.iter().map(|(name, _)| name.as_ref()).collect();
        let kept = own.split('&').filter(|pair| !pair.is_empty() && !replaced.contains(&*name_of(pair)));
        let all: Vec<&str> = kept.chain(taken.iter().map(|(_, pair)| pair.as_str())).collect();
        let (mark, hash) = (if all.is_empty() { "" } else { "?" }, if fragment.is_some() { "#" } else { "" });
        format!("{path}{mark}{}{hash}{}", all.join("&"), fragment.unwrap_or_default())
    }
}

/// The name of a parameter, decoded.
fn name_of(pair: &str) -> String {
    form_urlencoded::parse(pair.as_bytes()).next().map(|(name, _)| name.into_owned()).unwrap_or_default()
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
    fn a_visitors_parameters_replace_those_of_the_same_name_and_touch_nothing_else() {
        for (target, query, expected) in [
            ("https://example.com/a", "utm_source=x", "https://example.com/a?utm_source=x"),
            ("https://example.com/a?b=1&c=2#top", "c=3&d=4", "https://example.com/a?b=1&c=3&d=4#top"),
            ("https://example.com/a?b=1&b=2", "b=3&b=4", "https://example.com/a?b=3&b=4"),
            ("https://example.com/a?b=%20x&flag", "", "https://example.com/a?b=%20x&flag"),
            ("https://example.com/a?B=1", "b=2", "https://example.com/a?B=1&b=2"),
            ("https://example.com/a?%62=1", "b=2", "https://example.com/a?b=2"),
            ("https://example.com/a", "qr=1", "https://example.com/a"),
            ("https://example.com", "a=1", "https://example.com?a=1"),
            ("https://example.com/a", "=lonely&x", "https://example.com/a?x="),
            ("https://example.com/#/page?inner=1", "inner=2", "https://example.com/?inner=2#/page?inner=1"),
        ] {
            assert_eq!(with(target, query), expected, "{target} {query}");
        }
    }

    #[test]
    fn what_makes_a_location_too_long_is_dropped() {
        let long = format!("long={}&short=1", "x".repeat(TargetUrl::LONGEST_WITH_QUERY));

        assert_eq!(with("https://example.com/a?long=own", &long), "https://example.com/a?long=own&short=1");
    }

    proptest! {
        #[test]
        fn no_query_changes_where_a_link_leads(query in "\\PC{0,200}|[ -~]{0,200}", target in "https://example\\.com(/[a-z]{0,9}(\\?[a-z]=[0-9])?(#[a-z]{1,5})?)?") {
            let location = with(&target, &query);

            let (before, after) = (Url::parse(&target).unwrap(), Url::parse(&location).unwrap());
            prop_assert!(location.len() <= TargetUrl::LONGEST_WITH_QUERY && location.bytes().all(|byte| byte.is_ascii_graphic()), "{location}");
            prop_assert_eq!((before.host(), before.port(), before.path(), before.fragment()), (after.host(), after.port(), after.path(), after.fragment()));
        }
    }
}
