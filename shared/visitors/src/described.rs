//! A browser and its system in words, for people who are to recognise where they have signed in.

use linklet_domain::{BrowserFamily, Platform};

use crate::{browser_family, device_of_person, platforms};

/// A browser and its system in words, such as `Firefox on Linux`, or what is known of both; `None` for programs that are no
/// browsers. It has at most 40 characters, none of which the client chooses.
pub fn described(user_agent: &str) -> Option<String> {
    let system = platforms(user_agent, device_of_person(user_agent)).find_map(system);
    match (browser_family(user_agent).map(browser), system) {
        (Some(browser), Some(system)) => Some(format!("{browser} on {system}")),
        (Some(known), None) => Some(known.to_owned()),
        (None, Some(system)) => Some(format!("a browser on {system}")),
        (None, None) => None,
    }
}

fn browser(family: BrowserFamily) -> &'static str {
    match family {
        BrowserFamily::Chrome => "Chrome",
        BrowserFamily::Edge => "Edge",
        BrowserFamily::Firefox => "Firefox",
        BrowserFamily::Safari => "Safari",
        BrowserFamily::Opera => "Opera",
        BrowserFamily::Samsung => "Samsung Internet",
    }
}

/// The name of a system; `None` for a kind of device.
fn system(platform: Platform) -> Option<&'static str> {
    match platform {
        Platform::Android => Some("Android"),
        Platform::Ios => Some("iOS"),
        Platform::Windows => Some("Windows"),
        Platform::Macos => Some("macOS"),
        Platform::Linux => Some("Linux"),
        Platform::Chromeos => Some("ChromeOS"),
        Platform::Mobile | Platform::Desktop => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_described_with_its_system_as_far_as_known() {
        for (user_agent, expected) in [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0", Some("Firefox on Linux")),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/18.0 Mobile/15E148 Safari/604.1",
                Some("Safari on iOS"),
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 \
                 Safari/537.36 AnyBrowser/1.0",
                Some("a browser on Windows"),
            ),
            ("curl/8.5.0", None),
            ("<script>alert(1)</script>", None),
            ("", None),
        ] {
            assert_eq!(described(user_agent).as_deref(), expected, "{user_agent}");
        }
    }
}
