use serde_with::{DeserializeFromStr, SerializeDisplay};
use url::Url;

use crate::{Invalid, TargetUrl, normalized_url::normalize_host_and_path, validated::string_newtype};

/// The canonical form of a monitored URL: two URLs with the same canonical form are one target.
///
/// Scheme and host are lower case, the host in ASCII (Punycode). The host's trailing dot, default port, fragment and trailing
/// slashes are removed, except the slash of an empty path. Percent-encoding is upper case. The query is kept otherwise, since
/// the response may depend on each parameter.
#[derive(Debug, Clone, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct CanonicalUrl(String);

impl CanonicalUrl {
    /// Maximum length of the canonical form in bytes. Percent-encoding can make a URL several times as long as it was given.
    pub const MAX_LENGTH: usize = 2_048;

    /// Canonicalises a URL.
    ///
    /// # Errors
    /// When the canonical form is longer than [`Self::MAX_LENGTH`], or its host is not a valid [`Host`].
    pub fn of(url: &TargetUrl) -> Result<Self, Invalid> {
        let mut normalized = normalize_host_and_path(url);
        if let Some(normalized) = &mut normalized {
            // Clients never send the fragment to the server.
            normalized.set_fragment(None);
        }
        let canonical = normalized.map_or_else(|| url.as_str().to_owned(), String::from);
        let is_too_long = canonical.len() > Self::MAX_LENGTH;
        Invalid::when(is_too_long, "url must have at most 2,048 bytes when it is percent-encoded")?;
        let canonical = Self(canonical);
        Host::parse(canonical.host_text().as_str())?;
        Ok(canonical)
    }

    fn parse(text: &str) -> Result<Self, Invalid> {
        Self::of(&TargetUrl::parse(text)?)
    }

    /// The host of the URL.
    pub fn host(&self) -> Host {
        Host(self.host_text())
    }

    fn host_text(&self) -> String {
        let host = Url::parse(&self.0).ok().and_then(|url| url.host_str().map(without_trailing_dot));
        host.unwrap_or_default()
    }
}

string_newtype!(CanonicalUrl);

/// The host of a monitored URL, without port: lower case, in ASCII (Punycode), without trailing dot.
///
/// At most one check per host runs at a time, whatever the port, to limit the load on the server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct Host(String);

impl Host {
    /// Maximum length of a DNS name in characters (RFC 1035, 2.3.4).
    pub const MAX_LENGTH: usize = 253;

    /// Parses a host name or an IP address in any spelling; an IPv6 address needs brackets, as in a URL.
    ///
    /// # Errors
    /// When the text is neither, or is longer than [`Self::MAX_LENGTH`].
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let parsed = url::Host::parse(text).map_err(|_| Invalid::new("host must be a host name or an IP address"))?;
        let host = without_trailing_dot(&parsed.to_string());
        match host.len() {
            0 => Err(Invalid::new("host must be a host name or an IP address")),
            1..=Self::MAX_LENGTH => Ok(Self(host)),
            _ => Err(Invalid::new("host must have at most 253 characters")),
        }
    }
}

string_newtype!(Host);

fn without_trailing_dot(host: &str) -> String {
    host.trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn canonical(text: &str) -> CanonicalUrl {
        CanonicalUrl::of(&TargetUrl::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn each_rule_applies() {
        let cases = [
            ("HTTPS://Example.com:443/path/?a=1#section", "https://example.com/path?a=1"),
            ("http://Example.COM:80", "http://example.com/"),
            ("http://example.com:443/a", "http://example.com:443/a"),
            ("https://example.com:8443/a/", "https://example.com:8443/a"),
            ("https://example.com/", "https://example.com/"),
            ("https://example.com//", "https://example.com/"),
            ("https://example.com/a//", "https://example.com/a"),
            ("https://example.com/?b=2&a=1&utm_source=x&b=", "https://example.com/?b=2&a=1&utm_source=x&b="),
            ("https://example.com/a?next=/b/", "https://example.com/a?next=/b/"),
            ("https://example.com/A#", "https://example.com/A"),
            ("https://München.de/straße", "https://xn--mnchen-3ya.de/stra%C3%9Fe"),
        ];

        for (given, expected) in cases {
            assert_eq!(canonical(given).as_str(), expected, "{given}");
        }
    }

    #[test]
    fn spellings_of_a_host_are_equal() {
        for (url, host) in [
            ("https://Example.COM:8443/a", "example.com"),
            ("https://example.com./a", "example.com"),
            ("https://MÜNCHEN.de", "xn--mnchen-3ya.de"),
            ("http://127.1/", "127.0.0.1"),
            ("http://[2001:DB8::1]:80/", "[2001:db8::1]"),
        ] {
            assert_eq!(canonical(url).host().as_str(), host);
        }
        for spelling in ["example.com", "EXAMPLE.com", "example.com."] {
            assert_eq!(Host::parse(spelling), Ok(canonical("https://example.com").host()));
        }
        assert_eq!(Host::parse("münchen.de"), Ok(canonical("https://münchen.de/a").host()));
        for refused in ["", ".", "example.com:80", "https://example.com", "a b", "2001:db8::1"] {
            assert!(Host::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_url_too_long_for_a_key_is_refused() {
        let refusal = |text: &str| CanonicalUrl::of(&TargetUrl::parse(text).unwrap()).unwrap_err().to_string();

        let expected = "url must have at most 2,048 bytes when it is percent-encoded";
        assert_eq!(refusal(&format!("https://example.com/{}", "ü".repeat(1_000))), expected);
    }

    prop_compose! {
        fn any_url()(
            scheme in "https?|HTTPS",
            host in "[a-zA-Z]{1,8}\\.(com|DE\\.?)",
            port in prop::option::of(1_u16..),
            path in "(/[a-zA-Z0-9._~%20-]{0,6}){0,4}/{0,2}",
            query in prop::option::of("(([a-c]|utm_[a-z]{1,3})(=[a-zA-Z0-9/ü]{0,4})?&?){0,6}"),
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
        fn canonicalizing_is_idempotent(text in any_url()) {
            let once = canonical(&text);

            prop_assert_eq!(canonical(once.as_str()), once.clone());
            prop_assert_eq!(Host::parse(once.host().as_str()), Ok(once.host()));
        }

        #[test]
        fn canonicalizing_keeps_all_other_parts(text in any_url()) {
            let given = Url::parse(&TargetUrl::parse(&text).unwrap().location()).unwrap();
            let canonical = Url::parse(canonical(&text).as_str()).unwrap();

            prop_assert_eq!(canonical.scheme(), given.scheme());
            prop_assert_eq!(canonical.host_str(), given.host_str().map(|host| host.trim_end_matches('.')));
            prop_assert_eq!(canonical.port(), given.port());
            prop_assert!(canonical.path().trim_end_matches('/').eq_ignore_ascii_case(given.path().trim_end_matches('/')));
            prop_assert!(canonical.path() == "/" || !canonical.path().ends_with('/'));
            let query = |url: &Url| url.query().map(str::to_ascii_lowercase);
            prop_assert_eq!(query(&canonical), query(&given));
            prop_assert_eq!(canonical.fragment(), None);
        }
    }
}
