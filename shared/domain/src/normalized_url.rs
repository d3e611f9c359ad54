use std::fmt;

use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256};
use url::Url;

use crate::TargetUrl;

/// Tracking parameters, which [`NormalizedUrl`] removes from the query: they identify a campaign or visit, not a page.
///
/// They are, one a line in lower case, those that [tidy-url](https://github.com/DrKain/tidy-url) 1.18.3 removes from the URLs of all sites,
/// without `cmpid`, `elq`, `int_…`, `itm_…`, `mbid`, `ncid` and `__s`, which sites also use for what they show, and a few that it
/// lacks. `hsa_…` are those of an advertiser's tool, `mtm_…` Matomo's, and `piwik_…` and `pk_…` its predecessor's. Each is listed, since
/// sites have other parameters of such names.
const TRACKING: &str = include_str!("normalized_url/tracking.txt");

/// How the names of the parameters of a campaign begin, of which sites make further ones.
const TRACKING_PREFIX: &str = "utm_";

/// The normalised form of a link's URL, for finding links to the same page. It is only compared, never shown or followed.
///
/// Scheme and host are lower case, the host in ASCII (Punycode). The host's trailing dot, default port, trailing slashes of a
/// non-empty path, empty pieces of the query, tracking parameters and an empty fragment are removed. Percent-encoding is upper
/// case. The remaining parameters are sorted by name; parameters of the same name
/// keep their order. The case of path and values is kept, since servers may distinguish it. A fragment is kept, since it can
/// identify another page in an application with client-side routing (`/#/invoice/42`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NormalizedUrl(String);

impl NormalizedUrl {
    /// Normalises a URL.
    pub fn of(target: &TargetUrl) -> Self {
        let Some(mut url) = normalize_host_and_path(target) else { return Self(target.as_str().to_owned()) };
        let query = url.query().map(normalize_query);
        url.set_query(query.flatten().as_deref());
        if url.fragment() == Some("") {
            url.set_fragment(None);
        }
        Self(url.into())
    }

    /// The normalised URL as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// SHA-256 of the normalised URL in hex, 64 characters: short enough for a table key.
    pub fn digest(&self) -> String {
        hex::encode(Sha256::digest(&self.0))
    }
}

impl fmt::Display for NormalizedUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Lower-cases scheme and host, converts the host to ASCII, and removes the host's trailing dot, the default port and trailing
/// slashes of a non-empty path. Percent-encoding is written in upper case. Returns `None` only for a URL that can't be parsed,
/// which [`TargetUrl::parse`] has ruled out.
pub(crate) fn normalize_host_and_path(target: &TargetUrl) -> Option<Url> {
    // Parsing lower-cases, drops the default port and turns the host into ASCII.
    let mut url = Url::parse(&target.location()).ok()?;
    if let Some(host) = url.host_str().and_then(|host| host.strip_suffix('.')).map(str::to_owned) {
        url.set_host(Some(&host)).ok()?;
    }
    let path = in_upper_case(url.path().trim_end_matches('/'));
    url.set_path(&path);
    let query = url.query().map(in_upper_case);
    url.set_query(query.as_deref());
    Some(url)
}

/// A text whose percent-encoded bytes have upper-case digits, as RFC 3986 (6.2.2.1) recommends: `%c3` is `%C3`.
fn in_upper_case(text: &str) -> String {
    let mut parts = text.split('%');
    let mut upper = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take(2).take_while(u8::is_ascii_hexdigit).count();
        let (encoded, rest) = part.split_at(if digits == 2 { 2 } else { 0 });
        upper.push('%');
        upper.push_str(&encoded.to_ascii_uppercase());
        upper.push_str(rest);
    }
    upper
}

/// Removes empty pieces and tracking parameters from a query and sorts the others by name; `None` if none are left.
fn normalize_query(query: &str) -> Option<String> {
    let mut parameters: Vec<&str> = query.split('&').filter(|parameter| is_kept(parameter)).collect();
    if parameters.is_empty() {
        return None;
    }
    parameters.sort_by_key(|parameter| name_of(parameter));
    Some(parameters.join("&"))
}

fn is_kept(parameter: &str) -> bool {
    !parameter.is_empty() && !is_tracking(name_of(parameter))
}

fn name_of(parameter: &str) -> &str {
    parameter.split_once('=').map_or(parameter, |(name, _)| name)
}

fn is_tracking(name: &str) -> bool {
    let name = percent_decode_str(name).decode_utf8_lossy().to_ascii_lowercase();
    TRACKING.lines().any(|tracking| tracking == name) || name.starts_with(TRACKING_PREFIX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn normal(text: &str) -> String {
        NormalizedUrl::of(&TargetUrl::parse(text).unwrap()).to_string()
    }

    #[test]
    fn each_rule_applies() {
        let cases = [
            ("HTTPS://Example.COM/Path", "https://example.com/Path"),
            ("https://münchen.de/", "https://xn--mnchen-3ya.de/"),
            ("https://example.com:443/a", "https://example.com/a"),
            ("http://example.com:80/a", "http://example.com/a"),
            ("https://example.com:8443/a", "https://example.com:8443/a"),
            ("https://example.com/a/#part", "https://example.com/a#part"),
            ("https://app.example/#/invoice/42", "https://app.example/#/invoice/42"),
            ("https://example.com/a?utm_source=x#Part", "https://example.com/a#Part"),
            ("https://example.com/a#", "https://example.com/a"),
            ("https://example.com/a/", "https://example.com/a"),
            ("https://example.com", "https://example.com/"),
            ("https://example.com/", "https://example.com/"),
            ("https://example.com/a?b=2&a=1", "https://example.com/a?a=1&b=2"),
            ("https://example.com/a?b=2&b=1&a", "https://example.com/a?a&b=2&b=1"),
            ("https://example.com/a/?utm_source=x&UTM_Medium=y&gclid=1&fbclid=2", "https://example.com/a"),
            (
                "https://example.com/a?igsh=1&_gl=2&gad_source=3&srsltid=4&_hsenc=5&_hsmi=6&li_fat_id=7&mkt_tok=8&x",
                "https://example.com/a?x",
            ),
            (
                "https://example.com/a?pk_campaign=1&mtm_kwd=2&hsa_cam=3&piwik_kwd=4&%75tm_source=7&elqTrackId=5&hsCtaTracking=6",
                "https://example.com/a",
            ),
            ("https://example.com/a?utm_source=x&id=7", "https://example.com/a?id=7"),
            ("https://example.com/a?", "https://example.com/a"),
            ("https://example.com/a?&utm_source=1", "https://example.com/a"),
            ("https://example.com/a?&b=1&&a=2&", "https://example.com/a?a=2&b=1"),
            ("https://example.com./a", "https://example.com/a"),
            ("https://example.com/stra%c3%9fe?q=%c3%a4&r=100%", "https://example.com/stra%C3%9Fe?q=%C3%A4&r=100%25"),
            ("https://example.com/straße", "https://example.com/stra%C3%9Fe"),
        ];

        for (given, expected) in cases {
            assert_eq!(normal(given), expected, "{given}");
        }
    }

    #[test]
    fn what_servers_may_tell_apart_stays_apart() {
        for (left, right) in [
            ("https://example.com/a", "https://example.com/A"),
            ("https://example.com/a", "http://example.com/a"),
            ("https://example.com/a?q=x", "https://example.com/a?q=X"),
            ("https://example.com/a?q=1&q=2", "https://example.com/a?q=2&q=1"),
            ("https://example.com/a", "https://www.example.com/a"),
            ("https://example.com/a?utm=1", "https://example.com/a"),
            ("https://example.com/a?pk=1", "https://example.com/a"),
            ("https://example.com/a?id_utm_source=1", "https://example.com/a"),
            ("https://example.com/a?cmpid=1", "https://example.com/a"),
            ("https://example.com/a?pk_article=7", "https://example.com/a?pk_article=8"),
            ("https://example.com/a?hsa_plan=1", "https://example.com/a"),
            ("https://example.com/a?mtm_line=1", "https://example.com/a"),
            ("https://example.com/a?piwik_site=1", "https://example.com/a"),
            ("https://app.example/#/invoice/42", "https://app.example/#/invoice/43"),
            ("https://example.com/a#part", "https://example.com/a"),
            ("https://example.com/a#part", "https://example.com/a#Part"),
        ] {
            assert_ne!(normal(left), normal(right));
        }
    }

    prop_compose! {
        fn any_url()(
            scheme in "https?|HTTPS",
            host in "[a-zA-Z]{1,8}\\.(com|DE)",
            port in prop::option::of(1_u16..),
            path in "(/[a-zA-Z0-9._~%20-]{0,6}){0,4}/{0,2}",
            query in prop::option::of("(([a-c]|utm_[a-z]{1,3}|gclid)(=[a-zA-Z0-9/ü]{0,4})?&?){0,6}"),
            fragment in prop::option::of("[a-z]{0,4}"),
        ) -> String {
            let port = port.map(|port| format!(":{port}")).unwrap_or_default();
            let query = query.map(|query| format!("?{query}")).unwrap_or_default();
            let fragment = fragment.map(|fragment| format!("#{fragment}")).unwrap_or_default();
            format!("{scheme}://{host}{port}{path}{query}{fragment}")
        }
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing_more(text in any_url()) {
            let once = normal(&text);

            prop_assert_eq!(normal(&once), once);
        }

        #[test]
        fn only_what_the_rules_name_is_changed(text in any_url()) {
            let given = Url::parse(&TargetUrl::parse(&text).unwrap().location()).unwrap();
            let normal = Url::parse(&normal(&text)).unwrap();

            prop_assert_eq!(normal.scheme(), given.scheme());
            prop_assert_eq!(normal.host_str(), given.host_str());
            prop_assert_eq!(normal.port(), given.port());
            prop_assert_eq!(normal.path().trim_end_matches('/'), in_upper_case(given.path().trim_end_matches('/')));
            prop_assert_eq!(normal.fragment(), given.fragment().filter(|fragment| !fragment.is_empty()));
            let kept = |url: &Url| {
                let parameters = url.query().unwrap_or_default().split('&').map(str::to_owned);
                let mut kept: Vec<_> = parameters.filter(|parameter| is_kept(parameter)).collect();
                kept.sort_by(|left, right| name_of(left).cmp(name_of(right)));
                kept
            };
            let given_kept = kept(&given);
            // A query of nothing but tracking parameters is no query.
            if !(given_kept.is_empty() && normal.query().is_none()) {
                prop_assert_eq!(kept(&normal), given_kept);
            }
        }

        #[test]
        fn equal_digests_are_equal_urls(left in any_url(), right in any_url()) {
            let form = |text: &str| NormalizedUrl::of(&TargetUrl::parse(text).unwrap());

            prop_assert_eq!(form(&left).digest() == form(&right).digest(), form(&left) == form(&right));
        }
    }
}
