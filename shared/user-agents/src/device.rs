//! The kind of device that a person uses.

use linklet_domain::Device;

/// Televisions, consoles and headsets are none of the kinds that statistics tell apart. Most of them look like a tablet
/// or a computer otherwise. `; AFT` begins the models of Fire TV.
const OTHERS: &[&str] = &[
    "SmartTV",
    "SMART-TV",
    "Smart-TV",
    "TV Safari",
    "Android TV",
    "AndroidTV",
    "GoogleTV",
    "Google TV",
    "AppleTV",
    "Apple TV",
    "MiTV",
    "webOS.TV",
    "Web0S",
    "HbbTV",
    "NetCast",
    "; AFT",
    "BRAVIA",
    "CrKey",
    "MIBOX",
    "Roku",
    "VIDAA",
    "Viera",
    "Nintendo",
    "PLAYSTATION",
    "PlayStation",
    "Xbox",
    "OculusBrowser",
];

/// `KF` begins the models of Fire tablets, whose browser claims to be mobile now and then.
const TABLETS: &[&str] = &["iPad", "; KF", "Kindle", "PlayBook", "Tablet; "];

/// Systems of computers. Android names Linux, too, but never its architecture.
const COMPUTERS: &[&str] =
    &["Windows NT", "Windows 9", "Win64", "X11", "CrOS", "Linux x86_64", "Linux i686", "Wayland"];

/// What iPads have even when they claim to be a Mac: `Mobile/`, in browsers inside of apps, and browsers of iOS only.
const IOS_ONLY: &[&str] = &["Mobile/", "CriOS/", "FxiOS/", "EdgiOS/", "GSA/"];

const PHONES: &[&str] = &["iPhone", "iPod", "Mobi", "Phone", "Opera Mini", "MIDP", "BlackBerry", "KAIOS"];

/// The device of a user agent that isn't a bot's.
///
/// Safari on an iPad says the same as on a Mac, to the letter, and a browser that was asked for the desktop site says
/// that it is on a desktop: both are told as desktop.
pub(crate) fn of_person(user_agent: &str) -> Device {
    let names = |tokens: &[&str]| tokens.iter().any(|token| user_agent.contains(token));
    if names(OTHERS) {
        Device::Unknown
    } else if names(&["Macintosh"]) {
        if names(IOS_ONLY) { Device::Tablet } else { Device::Desktop }
    } else if names(COMPUTERS) && !names(&["Kindle"]) {
        Device::Desktop
    } else if names(TABLETS) {
        Device::Tablet
    } else if names(PHONES) {
        Device::Mobile
    } else if names(&["Android"]) {
        Device::Tablet
    } else {
        Device::Unknown
    }
}
