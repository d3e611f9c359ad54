use linklet_domain::{NormalizedUrl, OwnAddress, TargetUrl};
use percent_encoding::percent_decode_str;
use url::{Position, Url};

use crate::text;

/// Target URLs, and the form in which they are compared.
pub fn target_urls(input: &[u8]) {
    let text = text(input);
    let Ok(target) = TargetUrl::parse(&text) else { return };
    let (before, after) = text.split_once(target.as_str()).expect("a URL is kept as it was given");
    let is_seen = |character: char| character.is_ascii_graphic();
    assert!(!before.contains(is_seen) && !after.contains(is_seen), "{text:?} lost something that is seen");
    leads_where_it_seems_to(&target);
    normalises(&target);
}

fn leads_where_it_seems_to(target: &TargetUrl) {
    let (given, location) = (Url::parse(target.as_str()).unwrap(), target.location());
    assert!(location.bytes().all(|byte| byte.is_ascii_graphic()), "{location:?} splits a header");
    assert_eq!(decoded(&Url::parse(&location).unwrap()), decoded(&given), "the redirect leads somewhere else");
    assert!(["http", "https"].contains(&given.scheme()));

    // Not everybody reads a URL as browsers do. Whoever ends the host at the first slash must find the same.
    let rest = location.split_once("://").unwrap().1;
    let authority = rest.split(['/', '?', '#']).next().unwrap();
    assert!(!authority.contains(['@', '\\']), "{location:?} has another host for other programs");

    let authority = &given[Position::BeforeHost..Position::AfterPort];
    let own = OwnAddress::parse(&format!("{}://{}", given.scheme(), authority.to_uppercase())).unwrap();
    assert!(target.refuse_own([&own]).is_err(), "the loop to {authority:?} was not seen");
}

/// A URL as a server understands it. A location has more of it encoded.
fn decoded(url: &Url) -> Vec<u8> {
    percent_decode_str(url.as_str()).collect()
}

fn normalises(target: &TargetUrl) {
    let normal = NormalizedUrl::of(target);
    for (what, same) in same_pages(target) {
        // Percent encoding may have made it too long.
        let Ok(same) = TargetUrl::parse(&same) else { continue };
        let other = NormalizedUrl::of(&same);
        assert_eq!(other, normal, "{what}: {same}");
        assert_eq!(other.digest(), normal.digest());
    }
}

/// URLs that the rules take for the same page.
fn same_pages(target: &TargetUrl) -> Vec<(&'static str, String)> {
    let text = target.as_str();
    let mut same =
        vec![("normalised twice", NormalizedUrl::of(target).to_string()), ("as a browser gets it", target.location())];
    if !text.contains('#') {
        let joint = if text.contains('?') { '&' } else { '?' };
        same.push(("with an empty fragment", format!("{text}#")));
        same.push(("with a tracking parameter", format!("{text}{joint}utm_source=letter")));
    }
    same
}
