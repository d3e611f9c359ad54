//! How often somebody may call a route.
//!
//! A window begins with somebody's first call and lasts a minute, so that nobody can call twice as often around the turn of a
//! clock's minute. A call that is refused doesn't count: whoever waits until the window ends gets a whole new one.

use std::{
    net::{IpAddr, Ipv6Addr},
    str::FromStr,
    time::Duration,
};

use crate::{Invalid, IpHash, KeyHash, Salt, Timestamp};

/// A route with a limit. Each has counts of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LimitedRoute {
    /// Creating links.
    Shorten,
    /// Following links.
    Redirect,
}

impl LimitedRoute {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shorten => "shorten",
            Self::Redirect => "redirect",
        }
    }
}

/// Whose calls are counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ThrottleSubject {
    /// Everybody at an address, which only its hash is known of.
    Address(IpHash),
    /// Everybody with an API key.
    ApiKey(KeyHash),
}

impl ThrottleSubject {
    /// The subject at this address. An IPv6 client owns at least a /64, so all addresses in it are one subject; an IPv4 address
    /// that is written as IPv6 is itself.
    #[must_use]
    pub fn at(address: &str, salt: &Salt) -> Self {
        Self::Address(match address.parse::<IpAddr>().map(|address| address.to_canonical()) {
            Ok(IpAddr::V6(address)) => IpHash::of(&network(address), salt),
            Ok(address @ IpAddr::V4(_)) => IpHash::of(&address.to_string(), salt),
            Err(_) => IpHash::of(address, salt),
        })
    }
}

fn network(address: Ipv6Addr) -> String {
    let [a, b, c, d, ..] = address.segments();
    format!("{}/64", Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
}

/// How many calls a subject may make on a route within a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    calls: u32,
}

impl RateLimit {
    /// How long a window lasts.
    pub const WINDOW: Duration = Duration::from_secs(60);

    /// So many calls a minute, at least one.
    ///
    /// # Errors
    /// When it is zero.
    pub fn per_minute(calls: u32) -> Result<Self, Invalid> {
        if calls == 0 { Err(Invalid::new("a limit must be at least 1 per minute")) } else { Ok(Self { calls }) }
    }

    /// How many calls.
    #[must_use]
    pub fn calls(self) -> u32 {
        self.calls
    }

    /// What is left of the window, whose latest call is counted already.
    #[must_use]
    pub fn allowance(self, window: Window) -> Allowance {
        Allowance { limit: self.calls, remaining: self.calls.saturating_sub(window.hits) }
    }

    /// Whether another call has to wait.
    #[must_use]
    pub fn is_reached(self, window: Window) -> bool {
        window.hits >= self.calls
    }

    /// The refusal of a call at this moment.
    #[must_use]
    pub fn refusal(self, window: Window, now: Timestamp) -> Refusal {
        let millis = now.until(window.ends_at).as_millis();
        Refusal { limit: self.calls, retry_after: u64::try_from(millis.div_ceil(1_000)).unwrap_or(u64::MAX).max(1) }
    }
}

impl FromStr for RateLimit {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::per_minute(text.parse().map_err(|_| Invalid::new("it must be a whole number"))?)
    }
}

/// A minute that began with somebody's first call, and how often they have called since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// From this moment on it says nothing any more.
    pub ends_at: Timestamp,
    /// The calls in it that were not refused.
    pub hits: u32,
}

impl Window {
    /// A new one, without a call.
    #[must_use]
    pub fn starting(now: Timestamp) -> Self {
        Self { ends_at: now.plus(RateLimit::WINDOW), hits: 0 }
    }

    /// Whether it still lasts.
    #[must_use]
    pub fn is_live(self, now: Timestamp) -> bool {
        now < self.ends_at
    }
}

/// What a client may still do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Calls per minute.
    pub limit: u32,
    /// How many of them are left in this window.
    pub remaining: u32,
}

impl Allowance {
    /// The lesser of two that both hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if other.remaining < self.remaining { other } else { self }
    }
}

/// Why a client has to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// Calls per minute.
    pub limit: u32,
    /// After so many seconds another call may succeed; at least 1.
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

    #[test]
    fn ipv4_addresses_are_subjects_of_their_own_however_they_are_written() {
        assert_eq!(subject("203.0.113.9"), subject("::ffff:203.0.113.9"));
        assert_ne!(subject("203.0.113.9"), subject("203.0.113.10"));
        assert_ne!(subject("::ffff:203.0.113.9"), subject("::ffff:203.0.113.10"));
    }

    #[test]
    fn what_is_no_address_is_one_subject() {
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
        }
        assert_eq!(limit.refusal(window(10, now.minus(Duration::from_secs(5))), now).retry_after, 1);
    }

    #[test]
    fn what_remains_never_falls_below_zero() {
        let (limit, now) = (RateLimit::per_minute(10).unwrap(), Timestamp::now());

        assert_eq!(limit.allowance(window(1, now)), Allowance { limit: 10, remaining: 9 });
        assert_eq!(limit.allowance(window(10, now)), Allowance { limit: 10, remaining: 0 });
        assert_eq!(limit.allowance(window(12, now)), Allowance { limit: 10, remaining: 0 });
        assert!(limit.is_reached(window(10, now)) && !limit.is_reached(window(9, now)));
    }

    #[test]
    fn a_window_ends_in_the_very_moment() {
        let now = Timestamp::now();
        let window = Window::starting(now);

        assert!(window.is_live(now.plus(Duration::from_millis(59_999))));
        assert!(!window.is_live(now.plus(RateLimit::WINDOW)));
    }

    #[test]
    fn of_two_allowances_the_lesser_holds() {
        let (much, little) = (Allowance { limit: 10, remaining: 9 }, Allowance { limit: 10, remaining: 2 });

        assert_eq!((much.and(little), little.and(much)), (little, little));
    }
}
