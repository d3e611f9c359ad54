use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use url::Url;

use crate::{Invalid, TargetUrl, normalized_url::plain, validated::string_newtype};

/// A URL in the form by which registering it again is recognised.
///
/// Scheme and host are lower case, the host in its ASCII form; default port, fragment and trailing slashes are gone, but for
/// the slash of an empty path. The query stays as it is: what is monitored may depend on each parameter.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CanonicalUrl(String);

impl CanonicalUrl {
    /// The longest canonical form in bytes. Percent-encoding can make a URL several times as long as it was given.
    pub const MAX_LENGTH: usize = 2_048;

    /// The canonical form of a URL.
    ///
    /// # Errors
    /// When it is longer than 2,048 bytes, or its host is longer than a name can be.
    pub fn of(url: &TargetUrl) -> Result<Self, Invalid> {
        let mut plain = plain(url);
        if let Some(plain) = &mut plain {
            // A browser's business: it is never sent to the server that is monitored.
            plain.set_fragment(None);
        }
        let canonical = plain.map_or_else(|| url.as_str().to_owned(), String::from);
        if canonical.len() > Self::MAX_LENGTH {
            return Err(Invalid::new("url must have at most 2,048 bytes when it is percent-encoded"));
        }
        let canonical = Self(canonical);
        Host::parse(canonical.host_text().as_str())?;
        Ok(canonical)
    }

    fn parse(text: &str) -> Result<Self, Invalid> {
        Self::of(&TargetUrl::parse(text)?)
    }

    /// The host that answers.
    #[must_use]
    pub fn host(&self) -> Host {
        Host(self.host_text())
    }

    fn host_text(&self) -> String {
        let host = Url::parse(&self.0).ok().and_then(|url| url.host_str().map(without_root));
        host.unwrap_or_default()
    }
}

string_newtype!(CanonicalUrl);

/// The host of a monitored URL, without its port: lower case, in its ASCII form, without the root's dot. At most one check at a
/// time runs for it, whatever the port, since it is one machine that would feel them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Host(String);

impl Host {
    /// The longest name in DNS (RFC 1035, 2.3.4).
    pub const MAX_LENGTH: usize = 253;

    /// Accepts a host name or an IP address in any spelling; an IPv6 address stands in brackets, as in a URL.
    ///
    /// # Errors
    /// When it is neither, or longer than 253 bytes.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let parsed = url::Host::parse(text).map_err(|_| Invalid::new("host must be a host name or an IP address"))?;
        let host = without_root(&parsed.to_string());
        match host.len() {
            0 => Err(Invalid::new("host must be a host name or an IP address")),
            1..=Self::MAX_LENGTH => Ok(Self(host)),
            _ => Err(Invalid::new("host must have at most 253 characters")),
        }
    }

    /// The name of the queue's message group in which this host's checks wait for each other: the host itself, or a digest
    /// of one that is longer than the 128 characters of a group's name.
    #[must_use]
    pub fn group(&self) -> String {
        const LONGEST: usize = 128;
        if self.0.len() <= LONGEST {
            return self.0.clone();
        }
        hex::encode(Sha256::digest(&self.0))
    }
}

string_newtype!(Host);

fn without_root(host: &str) -> String {
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
    fn a_host_is_one_machine_in_every_spelling() {
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
    fn what_fits_no_key_is_refused() {
        let refusal = |text: &str| CanonicalUrl::of(&TargetUrl::parse(text).unwrap()).unwrap_err().to_string();

        assert_eq!(refusal(&format!("https://{}.com/", "a".repeat(250))), "host must have at most 253 characters");
        assert_eq!(
            refusal(&format!("https://example.com/{}", "ü".repeat(1_000))),
            "url must have at most 2,048 bytes when it is percent-encoded"
        );
        assert!(CanonicalUrl::of(&TargetUrl::parse(&format!("https://{}.com/", "a".repeat(249))).unwrap()).is_ok());
    }

    #[test]
    fn a_group_is_the_host_as_long_as_that_fits() {
        let host = |length: usize| Host::parse(&"a".repeat(length)).unwrap();

        assert_eq!(host(128).group(), "a".repeat(128));
        assert_eq!(host(129).group().len(), 64);
        assert_ne!(host(129).group(), host(130).group());
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
        fn the_canonical_form_of_a_canonical_form_is_itself(text in any_url()) {
            let once = canonical(&text);

            prop_assert_eq!(canonical(once.as_str()), once.clone());
            prop_assert_eq!(Host::parse(once.host().as_str()), Ok(once.host()));
        }

        #[test]
        fn only_what_the_rules_name_is_changed(text in any_url()) {
            let given = Url::parse(&text).unwrap();
            let canonical = Url::parse(canonical(&text).as_str()).unwrap();

            prop_assert_eq!(canonical.scheme(), given.scheme());
            prop_assert_eq!(canonical.host_str(), given.host_str());
            prop_assert_eq!(canonical.port(), given.port());
            prop_assert_eq!(canonical.path().trim_end_matches('/'), given.path().trim_end_matches('/'));
            prop_assert!(canonical.path() == "/" || !canonical.path().ends_with('/'));
            prop_assert_eq!(canonical.query(), given.query());
            prop_assert_eq!(canonical.fragment(), None);
        }
    }
}
