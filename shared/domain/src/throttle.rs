//! Rate limits: how often a client may call a route.
//!
//! Calls are counted in fixed windows of one minute per client. A window begins with a client's first call, and the next one
//! with the first call after its end. Each window allows at most the limit, but calls at the end of one and at the start of
//! the next can come close together: with a limit of 10, a client that calls once at 0 s can call nine times at 59.9 s and ten
//! times at 60 s, twice the limit minus one within 0.1 s. In return, a window needs only one counter and one write per call,
//! and its end is known exactly. Refused calls are not counted, so the next window always starts with the full limit.

mod guesses;
mod mails;

use std::net::{AddrParseError, IpAddr, Ipv6Addr};
use std::str::FromStr;
use std::time::Duration;

pub use self::guesses::{
    AccountHash, Failures, FamiliarNetwork, Guess, GuessKind, Guesser, HashBudget, HashFor, Hasher, Patience,
};
pub use self::mails::{Correspondent, MailCount, MailLimit};
use serde::Deserialize;

use crate::{Invalid, IpHash, Salt, ShareId, Timestamp, UserId, WorkspaceId};

/// A route with a rate limit. Each route is counted separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum LimitedRoute {
    /// Creating links.
    Shorten,
    /// Asking whether codes are free.
    Codes,
    /// Following links.
    Redirect,
    /// Reading statistics from outside of the link's workspace.
    Statistics,
    /// Reading the links, days or clicks of a workspace, in read units.
    Reads,
    /// Creating, changing and deleting links, many with one request.
    Bulk,
    /// Importing links.
    Import,
    /// Computing answers for a share.
    Shares,
    /// Reading what is computed for the shares of a workspace, in read units.
    SharedReads,
    /// Asking where the short URLs of others lead.
    Resolve,
}

/// The client whose calls are counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ThrottleSubject {
    /// All calls from an IPv4 address or an IPv6 network, identified by its hash.
    Address(Tier, IpHash),
    /// All calls of a person, with whichever token or API key.
    Person(UserId),
    /// All calls in a workspace.
    Workspace(WorkspaceId),
    /// All calls with the token of a share.
    Share(ShareId),
}

/// How large the network is that an address stands for.
///
/// A client of IPv6 usually has a whole /64, so that is what an IPv4 address is otherwise. Many get a /56 or a /48 from their
/// provider, which are 256 and 65,536 such networks: each tier has an allowance for all of its networks together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tier {
    /// An IPv4 address or an IPv6 /64.
    Client,
    /// An IPv6 /56.
    Home,
    /// An IPv6 /48.
    Site,
}

impl Tier {
    const OF_IPV6: [Self; 3] = [Self::Client, Self::Home, Self::Site];

    /// How many clients' allowances the tier has. Several people may share a /56 or a /48, but only few of them reach their limit
    /// at the same time.
    pub const fn allowances(self) -> u32 {
        match self {
            Self::Client => 1,
            Self::Home => 4,
            Self::Site => 16,
        }
    }

    /// The tier's network around an address, in the usual notation.
    fn network(self, address: Ipv6Addr) -> String {
        let prefix = match self {
            Self::Client => 64,
            Self::Home => 56,
            Self::Site => 48,
        };
        let network = address.to_bits() & u128::MAX << (128 - prefix);
        format!("{}/{prefix}", Ipv6Addr::from_bits(network))
    }
}

impl ThrottleSubject {
    /// The subject for an IP address: of IPv6 the one for its /64.
    ///
    /// An IPv4-mapped IPv6 address is the same subject as its IPv4 address. Text that is not an IP address is a subject of its
    /// own.
    pub fn at(address: &str, salt: &Salt) -> Self {
        Self::Address(Tier::Client, IpHash::of_network(address, salt))
    }

    /// All subjects that a call from an IP address counts for, the smallest first: one, or the three tiers of IPv6.
    pub fn all_at(address: &str, salt: &Salt) -> Vec<Self> {
        match parse(address) {
            Ok(IpAddr::V6(address)) => {
                let at = |tier: Tier| Self::Address(tier, IpHash::of(&tier.network(address), salt));
                Tier::OF_IPV6.map(at).into()
            }
            _ => vec![Self::at(address, salt)],
        }
    }

    /// How many times a limit the subject may use.
    pub const fn allowances(&self) -> u32 {
        match self {
            Self::Address(tier, _) => tier.allowances(),
            Self::Person(_) | Self::Workspace(_) | Self::Share(_) => 1,
        }
    }
}

fn parse(address: &str) -> Result<IpAddr, AddrParseError> {
    address.parse::<IpAddr>().map(|address| address.to_canonical())
}

impl IpHash {
    /// The hash of the network of a [client](Tier::Client) with this address.
    pub fn of_network(address: &str, salt: &Salt) -> Self {
        match parse(address) {
            Ok(IpAddr::V6(address)) => Self::of(&Tier::Client.network(address), salt),
            Ok(address @ IpAddr::V4(_)) => Self::of(&address.to_string(), salt),
            Err(_) => Self::of(address, salt),
        }
    }

    /// The hash of the largest network that one of us may have with this address: an IPv4 /24 or an IPv6 /48.
    pub fn of_site(address: &str, salt: &Salt) -> Self {
        match parse(address) {
            Ok(IpAddr::V6(address)) => Self::of(&Tier::Site.network(address), salt),
            Ok(IpAddr::V4(address)) => {
                let [first, second, third, _] = address.octets();
                Self::of(&format!("{first}.{second}.{third}.0/24"), salt)
            }
            Err(_) => Self::of(address, salt),
        }
    }
}

/// The maximum number of calls per subject, route and window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    calls: u32,
}

impl RateLimit {
    /// Length of a window.
    pub const WINDOW: Duration = Duration::from_secs(60);

    /// A limit of this many calls per minute.
    ///
    /// # Errors
    /// When `calls` is zero.
    pub fn per_minute(calls: u32) -> Result<Self, Invalid> {
        if calls == 0 { Err(Invalid::new("a limit must be at least 1 per minute")) } else { Ok(Self { calls }) }
    }

    /// How many read units requests of a workspace may use that read much: as many as thirty of the largest answers.
    pub const READ_UNITS: Self = Self { calls: 30_000 };

    /// How many links a workspace may create, change and delete by requests about many of them.
    pub const BULK_LINKS: Self = Self { calls: 1_000 };

    /// How many links a workspace may import.
    pub const IMPORTED_LINKS: Self = Self { calls: 5_000 };

    /// How many answers are computed for a share.
    pub const SHARED_ANSWERS: Self = Self { calls: 10 };

    /// How many URLs a person may have resolved, each of which makes requests to others' servers.
    pub const RESOLVED_URLS: Self = Self { calls: 10 };

    /// The maximum number of calls per window.
    pub fn calls(self) -> u32 {
        self.calls
    }

    /// What of the limit applies to a subject, which may be a network of several clients.
    #[must_use]
    pub fn of(self, subject: &ThrottleSubject) -> Self {
        Self { calls: self.calls.saturating_mul(subject.allowances()) }
    }

    /// The calls that are left in a window at `now`; `window.hits` includes the current call.
    pub fn allowance(self, window: Window, now: Timestamp) -> Allowance {
        let remaining = self.calls.saturating_sub(window.hits);
        Allowance { limit: self.calls, remaining, resets_in: window.seconds_left(now) }
    }

    /// Whether the window has no calls left, so that another one is refused.
    pub fn is_reached(self, window: Window) -> bool {
        self.has_no_room(window, 1)
    }

    /// Whether the window has fewer calls left than so many, which are then refused together.
    pub fn has_no_room(self, window: Window, calls: u32) -> bool {
        window.hits.saturating_add(calls) > self.calls
    }

    /// The refusal of a call at `now`, with the time until the window ends.
    pub fn refusal(self, window: Window, now: Timestamp) -> Refusal {
        Refusal { limit: self.calls, retry_after: window.seconds_left(now) }
    }
}

impl FromStr for RateLimit {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::per_minute(text.parse().map_err(|_| Invalid::new("must be a whole number"))?)
    }
}

/// What a route allows a person, wherever they call from, and an address, whoever calls from there. Both hold for each call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteLimits {
    /// For a person, with all of their tokens and API keys.
    pub by_person: RateLimit,
    /// For an address, which may be that of an office; networks of several addresses have
    /// [more](ThrottleSubject::allowances).
    pub by_address: RateLimit,
}

/// A subject's window on a route: when it ends, and the number of calls so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Window {
    /// When the window ends.
    #[serde(rename = "window_ends")]
    pub ends_at: Timestamp,
    /// Number of calls in the window, without refused ones.
    pub hits: u32,
}

impl Window {
    /// A new window that starts at `now`, without calls.
    pub fn starting(now: Timestamp) -> Self {
        Self { ends_at: now.plus(RateLimit::WINDOW), hits: 0 }
    }

    /// Whether the window has not ended at `now`.
    pub fn is_live(self, now: Timestamp) -> bool {
        now < self.ends_at
    }

    /// Whole seconds until the window ends, rounded up; at least 1.
    fn seconds_left(self, now: Timestamp) -> u64 {
        let millis = now.until(self.ends_at).as_millis();
        u64::try_from(millis.div_ceil(1_000)).unwrap_or(u64::MAX).max(1)
    }
}

/// The calls that a client has left, for the rate limit headers of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// The limit in calls per minute.
    pub limit: u32,
    /// Number of calls left in the current window.
    pub remaining: u32,
    /// Seconds until the window ends; at least 1.
    pub resets_in: u64,
}

impl Allowance {
    /// The stricter of two allowances that apply to the same call.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        if other.remaining < self.remaining { other } else { self }
    }
}

/// The refusal of a call that exceeds a rate limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The limit in calls per minute.
    pub limit: u32,
    /// Seconds until the window ends and another call may succeed; at least 1.
    pub retry_after: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(address: &str) -> ThrottleSubject {
        ThrottleSubject::at(address, &Salt::parse(&"salt".repeat(8)).unwrap())
    }

    fn window(hits: u32, ends_at: Timestamp) -> Window {
        Window { ends_at, hits }
    }

    #[test]
    fn ipv6_addresses_of_one_network_are_one_subject() {
        assert_eq!(subject("2001:db8:1:2::1"), subject("2001:db8:1:2:ffff:ffff:ffff:ffff"));
        assert_eq!(subject("2001:db8:1:2::1"), subject("2001:0DB8:1:2:0::1"));
        assert_ne!(subject("2001:db8:1:2::1"), subject("2001:db8:1:3::1"));
    }

    fn subjects(address: &str) -> Vec<ThrottleSubject> {
        ThrottleSubject::all_at(address, &Salt::parse(&"salt".repeat(8)).unwrap())
    }

    #[test]
    fn an_ipv6_address_counts_for_its_64_its_56_and_its_48() {
        let ours = subjects("2001:db8:1:2345::1");
        let shared = |address: &str| {
            let theirs = subjects(address);
            (0..3).map(|tier| ours[tier] == theirs[tier]).collect::<Vec<_>>()
        };

        assert_eq!(ours[0], subject("2001:db8:1:2345::1"));
        assert_eq!(ours.iter().map(ThrottleSubject::allowances).collect::<Vec<_>>(), [1, 4, 16]);
        assert_eq!(shared("2001:db8:1:2345:ffff::"), [true, true, true]);
        assert_eq!(shared("2001:db8:1:2300::1"), [false, true, true]);
        assert_eq!(shared("2001:db8:1::1"), [false, false, true]);
        assert_eq!(shared("2001:db8:2:2345::1"), [false, false, false]);
    }

    #[test]
    fn an_ipv4_address_counts_for_itself_only() {
        for address in ["203.0.113.9", "::ffff:203.0.113.9", "unknown"] {
            assert_eq!(subjects(address), [subject(address)], "{address}");
        }
    }

    #[test]
    fn a_larger_network_has_a_larger_limit() {
        let limit = RateLimit::per_minute(10).unwrap();

        let calls = subjects("2001:db8::1").iter().map(|subject| limit.of(subject).calls()).collect::<Vec<_>>();

        assert_eq!(calls, [10, 40, 160]);
    }

    #[test]
    fn a_site_is_an_ipv4_24_or_an_ipv6_48() {
        let site = |address: &str| IpHash::of_site(address, &Salt::parse(&"salt".repeat(8)).unwrap());

        assert_eq!(site("203.0.113.9"), site("::ffff:203.0.113.254"));
        assert_ne!(site("203.0.113.9"), site("203.0.114.9"));
        assert_eq!(site("2001:db8:1:2345::1"), site("2001:db8:1::1"));
        assert_ne!(site("2001:db8:1::1"), site("2001:db8:2::1"));
        assert_ne!(site("unknown"), site("nowhere"));
    }

    #[test]
    fn ipv4_addresses_are_subjects_of_their_own_however_they_are_written() {
        assert_eq!(subject("203.0.113.9"), subject("::ffff:203.0.113.9"));
        assert_ne!(subject("203.0.113.9"), subject("203.0.113.10"));
        assert_ne!(subject("::ffff:203.0.113.9"), subject("::ffff:203.0.113.10"));
    }

    #[test]
    fn text_that_is_no_address_is_a_subject() {
        assert_eq!(subject("unknown"), subject("unknown"));
        assert_ne!(subject("unknown"), subject("203.0.113.9"));
    }

    #[test]
    fn a_limit_is_a_whole_number_of_at_least_one() {
        assert_eq!("10".parse(), RateLimit::per_minute(10));
        for refused in ["", "0", "-1", "1.5", "ten", "4294967296"] {
            assert!(refused.parse::<RateLimit>().is_err(), "{refused}");
        }
    }

    #[test]
    fn the_wait_is_in_whole_seconds_rounded_up_and_at_least_one() {
        let (limit, now) = (RateLimit::per_minute(10).unwrap(), Timestamp::parse("2026-03-02T12:00:00Z").unwrap());
        for (millis, seconds) in [(60_000, 60), (59_001, 60), (59_000, 59), (1_001, 2), (1, 1), (0, 1)] {
            let refusal = limit.refusal(window(10, now.plus(Duration::from_millis(millis))), now);
            assert_eq!(refusal, Refusal { limit: 10, retry_after: seconds }, "{millis}");
            let allowance = limit.allowance(window(1, now.plus(Duration::from_millis(millis))), now);
            assert_eq!(allowance.resets_in, seconds, "{millis}");
        }
        assert_eq!(limit.refusal(window(10, now.minus(Duration::from_secs(5))), now).retry_after, 1);
    }

    #[test]
    fn what_remains_never_falls_below_zero() {
        let (limit, now) = (RateLimit::per_minute(10).unwrap(), Timestamp::now());

        let remaining = |hits| limit.allowance(window(hits, now), now).remaining;
        assert_eq!([1, 10, 12].map(remaining), [9, 0, 0]);
        assert!(limit.is_reached(window(10, now)) && !limit.is_reached(window(9, now)));
        assert!(limit.has_no_room(window(7, now), 4) && !limit.has_no_room(window(7, now), 3));
        assert!(limit.has_no_room(window(u32::MAX, now), u32::MAX));
    }

    #[test]
    fn a_window_is_over_at_its_end() {
        let now = Timestamp::now();
        let window = Window::starting(now);

        assert!(window.is_live(now.plus(Duration::from_millis(59_999))));
        assert!(!window.is_live(now.plus(RateLimit::WINDOW)));
    }

    #[test]
    fn the_stricter_allowance_has_fewer_calls_left() {
        let [more, fewer] = [9, 2].map(|remaining| Allowance { limit: 10, remaining, resets_in: 60 });

        assert_eq!((more.stricter(fewer), fewer.stricter(more)), (fewer, fewer));
    }
}
