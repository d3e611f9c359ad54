//! User agents of made-up visitors.

use crate::ClickBuilder;

/// A user agent, and what is known to be behind it.
#[derive(Debug, PartialEq)]
pub struct Agent {
    /// As it is sent.
    pub text: &'static str,
    /// The kind of device.
    pub device: &'static str,
    /// The browser or program.
    pub browser: &'static str,
    /// The operating system.
    pub os: &'static str,
}

/// Some of each kind of device. The last two are programs.
pub const AGENTS: [Agent; 7] = [
    Agent { text: ClickBuilder::BROWSER, device: "desktop", browser: "Chrome", os: "Windows" },
    Agent {
        text: "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0",
        device: "desktop",
        browser: "Firefox",
        os: "Linux",
    },
    Agent {
        text: "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
               Version/17.4.1 Mobile/15E148 Safari/604.1",
        device: "mobile",
        browser: "Mobile Safari",
        os: "iOS",
    },
    Agent {
        text: "Mozilla/5.0 (Android 13; Tablet; rv:131.0) Gecko/131.0 Firefox/131.0",
        device: "tablet",
        browser: "Firefox Mobile",
        os: "Android",
    },
    Agent { text: "", device: "bot", browser: "unknown", os: "unknown" },
    Agent { text: "curl/8.5.0", device: "bot", browser: "curl", os: "unknown" },
    Agent {
        text: "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
        device: "bot",
        browser: "Slackbot-LinkExpanding",
        os: "unknown",
    },
];
