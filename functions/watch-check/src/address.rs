//! The IP addresses to which a check may connect.
//!
//! The tables follow IANA's registries of special-purpose addresses as of the end of 2025, and add multicast:
//! <https://www.iana.org/assignments/iana-ipv4-special-registry> and
//! <https://www.iana.org/assignments/iana-ipv6-special-registry>. Blocks that are "globally reachable" there are refused, too,
//! since they contain only network infrastructure such as relays and name servers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::FetchError;

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
    fn allows(self, address: IpAddr) -> bool {
        is_public(address) || (self == Self::PublicAndLoopback && address.is_loopback())
    }
}

/// An address that was checked: a check may connect to it. Only [`CheckedAddress::all`] creates these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckedAddress(SocketAddr);

impl CheckedAddress {
    /// Checks all addresses of a host. If one isn't allowed, all are refused, since a host with a public and a private address
    /// is a mistake or an attack.
    pub(crate) fn all(addresses: &[SocketAddr], reach: Reach) -> Result<Vec<Self>, FetchError> {
        if !addresses.iter().all(|address| reach.allows(address.ip())) {
            return Err(FetchError::NotPublic);
        }
        Ok(addresses.iter().copied().map(Self).collect())
    }

    /// The socket address to connect to.
    #[must_use]
    pub fn get(self) -> SocketAddr {
        self.0
    }
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
