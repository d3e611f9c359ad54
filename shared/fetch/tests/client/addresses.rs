use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use linklet_test_support::internet::{Internet, OTHER, PUBLIC, Web, always, redirect};
use proptest::prelude::*;

use super::fetch;

/// The blocks of IANA's two registries of special-purpose addresses, and multicast.
const SPECIAL: &str = "
    0.0.0.0/8 0.0.0.0/32 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.0.0/29
    192.0.0.8/32 192.0.0.9/32 192.0.0.10/32 192.0.0.170/32 192.0.0.171/32 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24
    192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
    255.255.255.255/32 ::1/128 ::/128 ::/96 ::ffff:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64
    2001::/23 2001::/32 2001:1::1/128 2001:1::2/128 2001:1::3/128 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28
    2001:20::/28 2001:30::/28 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7 fe80::/10
    fec0::/10 ff00::/8
";

/// Addresses next to the special blocks, and addresses of real servers.
const ORDINARY: &str = "
    1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0
    172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.31.195.255 192.31.197.0 192.52.192.255
    192.52.194.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 192.175.47.255 192.175.49.0 198.17.255.255
    198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255 2001:200::
    2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9:: 2003:: 2606:4700::6810:84e5
    2620:4f:7fff:ffff:ffff:ffff:ffff:ffff 2620:4f:8001:: 2a00:1450:4001:80b::200e
";

#[derive(Debug, Clone, Copy)]
struct Block {
    first: IpAddr,
    prefix: u32,
}

impl Block {
    fn parse(text: &str) -> Self {
        let (first, prefix) = text.split_once('/').unwrap();
        Self { first: first.parse().unwrap(), prefix: prefix.parse().unwrap() }
    }

    /// An address in the block, whose host part is taken from `choice`.
    fn address(self, choice: u128) -> IpAddr {
        match self.first {
            IpAddr::V4(first) => {
                let free = u32::MAX.checked_shr(self.prefix).unwrap_or(0);
                Ipv4Addr::from_bits(first.to_bits() | (choice as u32 & free)).into()
            }
            IpAddr::V6(first) => {
                let free = u128::MAX.checked_shr(self.prefix).unwrap_or(0);
                Ipv6Addr::from_bits(first.to_bits() | (choice & free)).into()
            }
        }
    }
}

fn literal(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => format!("http://{address}/"),
        IpAddr::V6(address) => format!("http://[{address}]/"),
    }
}

/// All ways in which an attempt can be directed to an address: in the URL, by a name, by a name that also has public addresses, and
/// by a redirect to the address or to such a name.
async fn is_never_connected(address: IpAddr) {
    let (text, to_literal) = (address.to_string(), redirect(&literal(address)));
    let to_name = redirect("http://named.example/");
    let internet = Internet::default()
        .name("named.example", &[&text])
        .name("last.example", &[PUBLIC, OTHER, &text])
        .name("first.example", &[&text, PUBLIC])
        .server(&text, always(200))
        .server(PUBLIC, Web::new([to_literal.as_str(), to_name.as_str()]).server())
        .name("public.example", &[PUBLIC]);
    for url in [&literal(address), "http://named.example/", "http://last.example/", "http://first.example/"] {
        assert_eq!(fetch(&internet, url).await.outcome, Err("not_public"), "{address} by {url}");
    }
    assert_eq!(internet.connected(), [""; 0], "{address}");
    for to in ["its address", "its name"] {
        assert_eq!(fetch(&internet, "http://public.example/").await.outcome, Err("not_public"), "{address} by {to}");
    }
    assert_eq!(internet.connected(), [format!("{PUBLIC}:80"), format!("{PUBLIC}:80")], "{address}");
}

/// The IPv6 addresses that embed an IPv4 address.
fn disguises(address: Ipv4Addr) -> [Ipv6Addr; 7] {
    let bits = u128::from(address.to_bits());
    let at =
        |prefix: &str, shift: u32| Ipv6Addr::from_bits(prefix.parse::<Ipv6Addr>().unwrap().to_bits() | bits << shift);
    [
        at("::", 0),
        at("::ffff:0:0", 0),
        at("::ffff:0:0:0", 0),
        at("64:ff9b::", 0),
        at("64:ff9b:1::", 0),
        at("2002::", 80),
        // Teredo embeds the server's address unchanged, and the client's with all bits inverted (RFC 4380, 4).
        Ipv6Addr::from_bits(at("2001::", 64).to_bits() | u128::from(!address.to_bits())),
    ]
}

#[tokio::test(start_paused = true)]
async fn the_first_and_the_last_address_of_each_special_block_are_refused() {
    for block in SPECIAL.split_whitespace().map(Block::parse) {
        is_never_connected(block.address(0)).await;
        is_never_connected(block.address(u128::MAX)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_addresses_beside_the_special_blocks_are_fetched() {
    for address in ORDINARY.split_whitespace() {
        let internet = Internet::default().server(address, always(200));

        let attempt = fetch(&internet, &literal(address.parse().unwrap())).await;

        assert_eq!(attempt.outcome, Ok(200), "{address}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_is_resolved_once_and_what_was_checked_is_connected_to() {
    let internet = Internet::default()
        .name_that_changes("rebind.example", &[&[PUBLIC], &["127.0.0.1"]])
        .server(PUBLIC, always(200))
        .server("127.0.0.1", always(200));

    let attempt = fetch(&internet, "http://rebind.example/").await;

    assert_eq!(attempt.outcome, Ok(200));
    assert_eq!(internet.resolved(), ["rebind.example"]);
    assert_eq!(internet.connected(), [format!("{PUBLIC}:80")]);
}

#[tokio::test(start_paused = true)]
async fn a_name_without_addresses_is_an_error_of_dns() {
    let internet = Internet::default().name("empty.example", &[]);

    for url in ["http://empty.example/", "http://unknown.example/"] {
        assert_eq!(fetch(&internet, url).await.outcome, Err("dns"), "{url}");
    }
}

#[tokio::test(start_paused = true)]
async fn only_ports_80_443_and_unprivileged_ones_are_fetched() {
    let internet = Internet::default().server(PUBLIC, always(200));

    for port in [80, 443, 1024, 8080, 65_535] {
        assert_eq!(fetch(&internet, &format!("http://{PUBLIC}:{port}/")).await.outcome, Ok(200), "{port}");
    }
    for port in [0, 1, 22, 25, 53, 79, 81, 442, 444, 1023] {
        let before = internet.connected();
        let attempt = fetch(&internet, &format!("http://{PUBLIC}:{port}/")).await;
        assert_eq!((attempt.outcome, attempt.is_transient), (Err("port_not_allowed"), false), "{port}");
        assert_eq!(internet.connected(), before, "{port}");
    }
}

fn paused() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

fn any_special() -> impl Strategy<Value = IpAddr> {
    let blocks: Vec<_> = SPECIAL.split_whitespace().map(Block::parse).collect();
    (prop::sample::select(blocks), any::<u128>()).prop_map(|(block, choice)| block.address(choice))
}

proptest! {
    #[test]
    fn no_special_address_ever_gets_a_connection(address in any_special()) {
        paused().block_on(is_never_connected(address));
    }

    #[test]
    fn no_disguise_of_any_ipv4_address_ever_gets_a_connection(bits in any::<u32>(), disguise in 0_usize..7) {
        paused().block_on(is_never_connected(disguises(Ipv4Addr::from_bits(bits))[disguise].into()));
    }

    #[test]
    fn no_address_outside_of_global_unicast_ever_gets_a_connection(bits in any::<u128>()) {
        let address = Ipv6Addr::from_bits(bits);
        prop_assume!(address.segments()[0] >> 13 != 1);
        paused().block_on(is_never_connected(address.into()));
    }
}
