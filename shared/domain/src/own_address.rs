use std::net::{Ipv4Addr, Ipv6Addr};

use percent_encoding::percent_decode_str;
use url::{Host, Url};

use crate::{ShortCode, target_url::pasted};

/// An address of the shortener itself: a host with a port, and possibly a path below which everything belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnAddress {
    host: Host,
    port: Port,
    /// The segments that each path begins with; none if the whole host belongs to the shortener.
    base: Vec<String>,
}

/// The port of an address. A server that speaks https at its usual port redirects there from that of http, so the two count as
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Port {
    Usual,
    Other(u16),
}

impl OwnAddress {
    /// Reads the base of short URLs, the endpoint of the API, or the origin of a request; `None` for what is no URL of the web.
    pub fn parse(address: &str) -> Option<Self> {
        Self::of(&Url::parse(address).ok()?)
    }

    fn of(url: &Url) -> Option<Self> {
        let port = match url.port_or_known_default()? {
            80 | 443 => Port::Usual,
            other => Port::Other(other),
        };
        Some(Self { host: canonical(url.host()?), port, base: segments(url).collect() })
    }

    /// Whether a URL leads to this address, in whatever spelling.
    pub fn is_address_of(&self, url: &Url) -> bool {
        Self::of(url).is_some_and(|address| self.is_same_server(&address) && address.base.starts_with(&self.base))
    }

    /// The code of the short link whose whole address a text is, with or without its scheme.
    pub fn code_in(&self, text: &str) -> Option<ShortCode> {
        let text = pasted(text);
        let url = if text.contains("://") { Url::parse(text) } else { Url::parse(&format!("https://{text}")) };
        let address = Self::of(&url.ok()?).filter(|address| self.is_same_server(address))?;
        let code = match address.base.strip_prefix(self.base.as_slice())? {
            [code] => code,
            [route, code] if route == "r" => code,
            _ => return None,
        };
        ShortCode::followed(code).ok()
    }

    /// Whether this is an address at the same host and port, with whatever path.
    pub fn is_same_server(&self, other: &Self) -> bool {
        (&self.host, self.port) == (&other.host, other.port)
    }
}

/// A host in the one form that all its spellings have: without a dot at its end, and `localhost` for this machine. The parser
/// has brought it into lower case and ASCII before, and recognised IP addresses.
fn canonical(host: Host<&str>) -> Host {
    const LOCALHOST: &str = "localhost";
    match host {
        Host::Ipv4(Ipv4Addr::LOCALHOST) | Host::Ipv6(Ipv6Addr::LOCALHOST) => Host::Domain(LOCALHOST.to_owned()),
        Host::Ipv6(address) => address.to_ipv4_mapped().map_or(Host::Ipv6(address), |v4| canonical(Host::Ipv4(v4))),
        Host::Domain(domain) => Host::Domain(domain.trim_end_matches('.').to_owned()),
        other => other.to_owned(),
    }
}

/// The segments of a path without empty ones, as a server reads them: decoded.
fn segments(url: &Url) -> impl Iterator<Item = String> {
    let segments = url.path_segments().into_iter().flatten().filter(|segment| !segment.is_empty());
    segments.map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_own(own: &str, url: &str) -> bool {
        OwnAddress::parse(own).unwrap().is_address_of(&Url::parse(url).unwrap())
    }

    #[test]
    fn an_own_host_is_recognised_in_every_spelling() {
        for own in ["https://go.example.com", "https://GO.example.com./", "https://go.example.com:443/"] {
            for url in [
                "https://go.example.com",
                "https://GO.Example.COM/abcd",
                "https://go.example.com./abcd?q#f",
                "https://go.example.com:443/r/abcd",
                "https://%67o.example.com/abcd",
            ] {
                assert!(is_own(own, url), "{own} {url}");
            }
        }
        assert!(is_own("https://xn--mnchen-3ya.de", "https://MÜNCHEN.de/a"));
        assert!(is_own("https://münchen.de", "https://xn--mnchen-3ya.de./a"));
        assert!(is_own("https://192.0.2.1", "https://0xc0000201/a"));
        for other in ["https://example.com/", "https://go.example.com.evil.example/", "https://stop.go.example.com/"] {
            assert!(!is_own("https://go.example.com", other), "{other}");
        }
    }

    #[test]
    fn http_and_https_are_one_address_at_usual_ports_but_not_others() {
        for own in ["https://go.example.com", "http://go.example.com"] {
            assert!(is_own(own, "http://go.example.com/"));
            assert!(is_own(own, "https://go.example.com/"));
            assert!(!is_own(own, "https://go.example.com:8443/"));
            assert!(!is_own(own, "http://go.example.com:8080/"));
        }
        assert!(is_own("https://go.example.com:8443", "https://go.example.com:8443/abcd"));
        assert!(!is_own("https://go.example.com:8443", "https://go.example.com/abcd"));
    }

    #[test]
    fn below_a_base_with_a_path_only_that_path_is_own() {
        let own = "http://127.0.0.1:4566/_aws/execute-api/c0ffee00/";

        for url in [
            "http://127.0.0.1:4566/_aws/execute-api/c0ffee00",
            "http://127.0.0.1:4566/_aws/execute-api/c0ffee00/launch",
            "http://127.0.0.1:4566/other/../_aws//execute%2Dapi/c0ffee00/r/launch",
            "http://localhost:4566/_aws/execute-api/c0ffee00/launch",
            "http://[::1]:4566/_aws/execute-api/c0ffee00/launch",
            "http://[::ffff:127.0.0.1]:4566/_aws/execute-api/c0ffee00/launch",
            "http://2130706433:4566/_aws/execute-api/c0ffee00/launch",
        ] {
            assert!(is_own(own, url), "{url}");
        }
        for url in [
            "http://127.0.0.1:4566/",
            "http://127.0.0.1:4566/other",
            "http://127.0.0.1:4566/_aws/execute-api/c0ffee001/launch",
            "http://127.0.0.1:4566/_aws/execute-api/deadbeef/launch",
            "http://127.0.0.1:8000/_aws/execute-api/c0ffee00/launch",
            "http://127.0.0.2:4566/_aws/execute-api/c0ffee00/launch",
        ] {
            assert!(!is_own(own, url), "{url}");
        }
    }

    #[test]
    fn only_addresses_of_the_web_are_addresses() {
        for refused in ["", "go.example.com", "mailto:ada@example.com", "file:///etc/passwd"] {
            assert_eq!(OwnAddress::parse(refused), None, "{refused}");
        }
    }
}
