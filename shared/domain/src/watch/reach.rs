//! What a check may fetch: which IP addresses, and which ports.
//!
//! The tables follow IANA's registries of special-purpose addresses as of the end of 2025, and add multicast:
//! <https://www.iana.org/assignments/iana-ipv4-special-registry> and
//! <https://www.iana.org/assignments/iana-ipv6-special-registry>. Blocks that are "globally reachable" there are refused, too,
//! since they contain only network infrastructure such as relays and name servers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use super::CanonicalUrl;
use crate::{Invalid, TargetUrl};

/// The IPv4 blocks that aren't public: first address and prefix length.
const SPECIAL_V4: [(Ipv4Addr, u32); 18] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),       // this network, unspecified
    (Ipv4Addr::new(10, 0, 0, 0), 8),      // private
    (Ipv4Addr::new(100, 64, 0, 0), 10),   // shared by carriers
    (Ipv4Addr::new(127, 0, 0, 0), 8),     // loopback
    (Ipv4Addr::new(169, 254, 0, 0), 16),  // link-local, with the metadata of AWS
    (Ipv4Addr::new(172, 16, 0, 0), 12),   // private
    (Ipv4Addr::new(192, 0, 0, 0), 24),    // protocol assignments
    (Ipv4Addr::new(192, 0, 2, 0), 24),    // documentation
    (Ipv4Addr::new(192, 31, 196, 0), 24), // AS112
    (Ipv4Addr::new(192, 52, 193, 0), 24), // multicast tunnels
    (Ipv4Addr::new(192, 88, 99, 0), 24),  // 6to4 relays, deprecated
    (Ipv4Addr::new(192, 168, 0, 0), 16),  // private
    (Ipv4Addr::new(192, 175, 48, 0), 24), // AS112
    (Ipv4Addr::new(198, 18, 0, 0), 15),   // benchmarking
    (Ipv4Addr::new(198, 51, 100, 0), 24), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24),  // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4),     // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4),     // reserved, broadcast
];

/// The IPv6 block of global unicast addresses, `2000::/3`. All other blocks are special or reserved: loopback, IPv4 addresses in
/// IPv6 (mapped, compatible, translated), discard-only, unique local (with AWS's metadata), link-local, site-local, multicast.
const GLOBAL_UNICAST_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// The IPv6 blocks within [`GLOBAL_UNICAST_V6`] that aren't public: first address and prefix length.
const SPECIAL_V6: [(Ipv6Addr, u32); 5] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocol assignments: Teredo, benchmarking, ORCHID, …
    (Ipv6Addr::new(0x2001, 0x0db8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4, which embeds any IPv4 address
    (Ipv6Addr::new(0x2620, 0x004f, 0x8000, 0, 0, 0, 0, 0), 48), // AS112
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

/// The addresses to which checks may connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Public addresses only.
    Public,
    /// Public and loopback addresses, for tests with a server on the same machine.
    PublicAndLoopback,
}

impl Reach {
    /// Whether a check may connect to an address.
    pub fn allows(self, address: IpAddr) -> bool {
        is_public(address) || (self == Self::PublicAndLoopback && address.is_loopback())
    }

    /// Whether a check may connect to a port: 80, 443, or 1024 and above.
    ///
    /// Other ports below 1024 are those of services such as mail, DNS or file servers, to which Linklet must not send requests.
    pub fn allows_port(port: u16) -> bool {
        matches!(port, 80 | 443 | 1024..)
    }

    /// Refuses a URL that can be no target, or that certainly is never fetched. A name may lead to an address that isn't public,
    /// which only a check shows.
    ///
    /// # Errors
    /// When the URL has no canonical form, or a port or host that no check connects to.
    pub fn require(self, url: &TargetUrl) -> Result<(), Invalid> {
        let canonical = CanonicalUrl::of(url)?;
        // What can't be parsed has failed before.
        let Ok(url) = Url::parse(canonical.as_str()) else { return Ok(()) };
        let allows_port = url.port_or_known_default().is_some_and(Self::allows_port);
        Invalid::unless(allows_port, "url must have port 80, 443 or one from 1024 on to be monitored")?;
        let is_allowed = match url.host() {
            Some(Host::Domain(name)) => self == Self::PublicAndLoopback || !is_localhost(name),
            Some(Host::Ipv4(address)) => self.allows(address.into()),
            Some(Host::Ipv6(address)) => self.allows(address.into()),
            None => true,
        };
        if is_allowed { Ok(()) } else { Err(Invalid::new("url must have a public address to be monitored")) }
    }
}

/// Whether a name always means this machine (RFC 6761, 6.3). The URL parser has put it into lower case.
fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !SPECIAL_V4.iter().any(|&block| is_in_v4(address, block)),
        IpAddr::V6(address) => {
            is_in_v6(address, GLOBAL_UNICAST_V6) && !SPECIAL_V6.iter().any(|&block| is_in_v6(address, block))
        }
    }
}

fn is_in_v4(address: Ipv4Addr, (first, prefix): (Ipv4Addr, u32)) -> bool {
    (address.to_bits() ^ first.to_bits()) >> (Ipv4Addr::BITS - prefix) == 0
}

fn is_in_v6(address: Ipv6Addr, (first, prefix): (Ipv6Addr, u32)) -> bool {
    (address.to_bits() ^ first.to_bits()) >> (Ipv6Addr::BITS - prefix) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(reach: Reach, url: &str) -> Option<String> {
        reach.require(&TargetUrl::parse(url).unwrap()).err().map(|refused| refused.to_string())
    }

    #[test]
    fn a_port_that_is_never_fetched_is_refused() {
        for port in [0, 1, 22, 25, 53, 79, 81, 442, 444, 1_023] {
            for reach in [Reach::Public, Reach::PublicAndLoopback] {
                let refused = refusal(reach, &format!("https://example.com:{port}/"));
                let sentence = "url must have port 80, 443 or one from 1024 on to be monitored";
                assert_eq!(refused.as_deref(), Some(sentence), "{port}");
            }
        }
        for port in [80, 443, 1_024, 8_080, 65_535] {
            assert_eq!(refusal(Reach::Public, &format!("https://example.com:{port}/")), None, "{port}");
        }
    }

    #[test]
    fn a_host_that_is_certainly_not_public_is_refused_in_any_spelling() {
        let hosts = "127.0.0.1 127.0.0.1. 127.1 2130706433 0x7f.0.0.1 0x7f000001 0177.0.0.1 017700000001 １２７.０.０.１ \
                     127。0。0。1 10.0.0.1 192.168.1.1 169.254.169.254 0xa9fea9fe 0.0.0.0 0 [::1] [::127.0.0.1] \
                     [::ffff:8.8.8.8] [fd00:ec2::254] [fe80::1] localhost LocalHost. a.localhost";
        for host in hosts.split(' ') {
            let refused = refusal(Reach::Public, &format!("http://{host}:8080/"));
            assert_eq!(refused.as_deref(), Some("url must have a public address to be monitored"), "{host}");
        }
        for host in
            ["93.184.216.34", "[2606:2800:21f::1]", "example.com", "intranet", "localhost.example", "mylocalhost"]
        {
            assert_eq!(refusal(Reach::Public, &format!("http://{host}/")), None, "{host}");
        }
    }

    #[test]
    fn loopback_allowed_for_tests_allows_no_other_host() {
        for host in ["127.0.0.2", "[::1]", "localhost"] {
            assert_eq!(refusal(Reach::PublicAndLoopback, &format!("http://{host}:8080/")), None, "{host}");
        }
        for host in ["10.0.0.1", "0.0.0.0", "[::ffff:127.0.0.1]", "169.254.169.254", "[::]", "[fe80::1]"] {
            assert!(refusal(Reach::PublicAndLoopback, &format!("http://{host}/")).is_some(), "{host}");
        }
    }
}
