//! Classification of clicks: people, bots and prefetching browsers.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::Visitor;

/// The audience of a click: person, bot or prefetch.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, EnumString, IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Audience {
    /// A person, as far as the request shows.
    Human,
    /// A program, such as a crawler, a link preview, a monitor or a script.
    Bot,
    /// A browser that prefetches the destination (`Sec-Purpose` of the Fetch standard, or the older `Purpose`).
    Prefetch,
}

impl Audience {
    /// Classifies a click. A bot that prefetches counts as a bot.
    pub fn of(visitor: &Visitor, client: &Client) -> Self {
        match client.device {
            Device::Bot => Self::Bot,
            _ if visitor.prefetch => Self::Prefetch,
            _ => Self::Human,
        }
    }
}

/// The kind of device, as derived from a user agent.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, EnumString, IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Device {
    /// A desktop or laptop computer, with or without a touch screen.
    Desktop,
    /// A phone.
    Mobile,
    /// A tablet that identifies as one.
    Tablet,
    /// A bot, not a person's device.
    Bot,
    /// The user agent doesn't tell the device.
    Unknown,
}

/// The families of browsers that a rule can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BrowserFamily {
    /// Google Chrome.
    Chrome,
    /// Microsoft Edge, with either engine.
    Edge,
    /// Mozilla Firefox.
    Firefox,
    /// Apple Safari.
    Safari,
    /// Opera, also Opera Mini.
    Opera,
    /// Samsung Internet.
    Samsung,
}

/// A client, as derived from its user agent. Clients can send any user agent, so the texts are limited in length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// The kind of device.
    pub device: Device,
    /// The name of the browser or program, or `unknown`; at most 40 bytes.
    pub browser: String,
    /// The version of the browser or program, possibly empty; at most 20 bytes.
    pub version: String,
    /// The operating system's name, or `unknown`; at most 40 bytes.
    pub os: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IpHash, Salt};

    #[test]
    fn a_prefetching_bot_is_a_bot_and_a_prefetch_is_not_human() {
        let visitor = Visitor::new(IpHash::of("203.0.113.9", &Salt::parse(&"s".repeat(32)).unwrap()));
        let client = |device| Client { device, browser: "x".into(), version: String::new(), os: "x".into() };
        let ahead = visitor.clone().prefetching(true);

        assert_eq!(Audience::of(&visitor, &client(Device::Mobile)), Audience::Human);
        assert_eq!(Audience::of(&visitor, &client(Device::Unknown)), Audience::Human);
        assert_eq!(Audience::of(&ahead, &client(Device::Desktop)), Audience::Prefetch);
        assert_eq!(Audience::of(&ahead, &client(Device::Bot)), Audience::Bot);
    }
}
