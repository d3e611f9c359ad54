//! What a person's device is, as rules of links name it.

use linklet_domain::{Device, Platform};

/// The systems by the tokens of their user agents, of which the first here counts: those of Android contain `Linux`, those of
/// iPhones `Mac OS X`, and those of old Windows phones everything.
const SYSTEMS: [(&[&str], Option<Platform>); 7] = [
    (&["Windows Phone", "KAIOS", "Tizen"], None),
    (&["Android"], Some(Platform::Android)),
    (&["iPhone", "iPad", "iPod"], Some(Platform::Ios)),
    (&["CrOS"], Some(Platform::Chromeos)),
    (&["Windows"], Some(Platform::Windows)),
    (&["Macintosh"], Some(Platform::Macos)),
    (&["Linux", "X11", "Wayland"], Some(Platform::Linux)),
];

/// What a person's device is, by their user agent and the [kind of device](crate::device_of_person): its system, and whether it is
/// a telephone or tablet, or a computer. Televisions and consoles are none of these.
pub fn platforms(user_agent: &str, device: Device) -> impl Iterator<Item = Platform> {
    let kind = match device {
        Device::Mobile | Device::Tablet => Some(Platform::Mobile),
        Device::Desktop => Some(Platform::Desktop),
        Device::Bot | Device::Unknown => None,
    };
    let named = SYSTEMS.iter().find(|(tokens, _)| tokens.iter().any(|token| user_agent.contains(token)));
    let system = match (named.and_then(|(_, platform)| *platform), device) {
        // An iPad whose apps claim to be on a Mac.
        (Some(Platform::Macos), Device::Tablet) => Some(Platform::Ios),
        (system, _) => system,
    };
    system.filter(|_| kind.is_some()).into_iter().chain(kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device_of_person;

    fn of(user_agent: &str) -> Vec<Platform> {
        platforms(user_agent, device_of_person(user_agent)).collect()
    }

    #[test]
    fn a_device_is_its_system_and_its_kind() {
        for (user_agent, expected) in [
            (
                "Mozilla/5.0 (Linux; Android 14; K) Chrome/130 Mobile Safari/537.36",
                [Platform::Android, Platform::Mobile],
            ),
            (
                "Mozilla/5.0 (Linux; Android 14; SM-X910) Chrome/130 Safari/537.36",
                [Platform::Android, Platform::Mobile],
            ),
            ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1", [Platform::Ios, Platform::Mobile]),
            ("Mozilla/5.0 (iPad; CPU OS 17_0 like Mac OS X) Safari/604.1", [Platform::Ios, Platform::Mobile]),
            ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) GSA/300 Mobile/15E148", [Platform::Ios, Platform::Mobile]),
            ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605.1.15", [Platform::Macos, Platform::Desktop]),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/130 Safari/537.36",
                [Platform::Windows, Platform::Desktop],
            ),
            ("Mozilla/5.0 (X11; CrOS x86_64 14541) Chrome/130 Safari/537.36", [Platform::Chromeos, Platform::Desktop]),
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/2010 Firefox/132.0",
                [Platform::Linux, Platform::Desktop],
            ),
        ] {
            assert_eq!(of(user_agent), expected, "{user_agent}");
        }
        assert_eq!(of("Mozilla/5.0 (Windows Phone 10.0; Android 6.0.1) Mobile"), [Platform::Mobile]);
        assert_eq!(of("Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) TV Safari/537.36"), []);
        assert_eq!(of(""), []);
    }
}
