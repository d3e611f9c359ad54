//! Classification of devices.

use linklet_domain::Device;

/// Tokens of televisions, consoles and headsets, which count as unknown devices. Most of them would otherwise be classified as a
/// tablet or a computer. `; AFT` is the prefix of Fire TV models.
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

/// Tokens of tablets. `KF` is the prefix of Fire tablet models, whose browser sometimes claims to be mobile.
const TABLETS: &[&str] = &["iPad", "; KF", "Kindle", "PlayBook", "Tablet; "];

/// Tokens of computers' operating systems. Android's user agents contain `Linux`, too, but never an architecture.
const COMPUTERS: &[&str] =
    &["Windows NT", "Windows 9", "Win64", "X11", "CrOS", "Linux x86_64", "Linux i686", "Wayland"];

/// Tokens by which an iPad is recognised that claims to be a Mac: `Mobile/` of in-app browsers, and browsers for iOS only.
const IOS_ONLY: &[&str] = &["Mobile/", "CriOS/", "FxiOS/", "EdgiOS/", "GSA/"];

/// Tokens of phones.
const PHONES: &[&str] = &["iPhone", "iPod", "Mobi", "Phone", "Opera Mini", "MIDP", "BlackBerry", "KAIOS"];

/// Classifies the device of a user agent that isn't a bot.
///
/// Safari on an iPad sends the same user agent as on a Mac, and a mobile browser in desktop mode sends that of a desktop
/// browser; both are classified as desktop.
pub fn of_person(user_agent: &str) -> Device {
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
