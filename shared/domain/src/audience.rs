//! What follows links: people, programs, and browsers that look ahead.

use serde::{Deserialize, Serialize};

use crate::Visitor;

/// Who or what a click comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Audience {
    /// A person, as far as one can tell.
    Human,
    /// A crawler, a link preview, a monitor, a script.
    Bot,
    /// A browser that fetches the target before anybody asks for it (`Sec-Purpose` of the Fetch standard, and the older
    /// `Purpose`).
    Prefetch,
}

impl Audience {
    /// The audience of a click.
    #[must_use]
    pub fn of(visitor: &Visitor, client: &Client) -> Self {
        match client.device {
            Device::Bot => Self::Bot,
            _ if visitor.prefetch => Self::Prefetch,
            _ => Self::Human,
        }
    }
}

/// The kind of device that a user agent names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    /// A computer, also one with a touch screen.
    Desktop,
    /// A phone.
    Mobile,
    /// A tablet that says so.
    Tablet,
    /// No device of a person.
    Bot,
    /// It doesn't say.
    Unknown,
}

impl Device {
    /// The device as the API spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Desktop => "desktop",
            Self::Mobile => "mobile",
            Self::Tablet => "tablet",
            Self::Bot => "bot",
            Self::Unknown => "unknown",
        }
    }
}

/// What a user agent says about the client. Whoever sends a request chooses it, so the texts are cut to size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// The kind of device.
    pub device: Device,
    /// The browser's or program's name, or `unknown`; at most 40 bytes.
    pub browser: String,
    /// Its version, possibly empty; at most 20 bytes.
    pub version: String,
    /// The operating system's name, or `unknown`; at most 40 bytes.
    pub os: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IpHash, Salt};

    #[test]
    fn a_bot_is_a_bot_whatever_it_says_and_looking_ahead_is_not_following() {
        let visitor = Visitor::new(IpHash::of("203.0.113.9", &Salt::parse(&"s".repeat(32)).unwrap()));
        let client = |device| Client { device, browser: "x".into(), version: String::new(), os: "x".into() };
        let ahead = visitor.clone().prefetching(true);

        assert_eq!(Audience::of(&visitor, &client(Device::Mobile)), Audience::Human);
        assert_eq!(Audience::of(&visitor, &client(Device::Unknown)), Audience::Human);
        assert_eq!(Audience::of(&ahead, &client(Device::Desktop)), Audience::Prefetch);
        assert_eq!(Audience::of(&ahead, &client(Device::Bot)), Audience::Bot);
    }
}
