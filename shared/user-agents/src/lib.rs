//! Classification of user agents: device, browser and operating system; person or bot.
//!
//! Browsers and operating systems are recognised by the regular expressions of [uap-core], which are vendored in `uap-core/`.
//! Bots and devices come from `linklet-visitors`: uap-core's 628 expressions for devices tell the models of phones, which the
//! statistics don't need, and take longer to compile than everything else together.
//!
//! Clients can send any user agent. So use this for statistics, never for decisions about access.
//!
//! [uap-core]: https://github.com/ua-parser/uap-core

use linklet_domain::{Client, Device};
use linklet_visitors::{Bot, device_of_person};
use ua_parser::{Regexes, os, user_agent};

const REGEXES: &str = include_str!("../uap-core/regexes.yaml");

const MAX_NAME: usize = 40;
const MAX_VERSION: usize = 20;
const UNKNOWN: &str = "unknown";

/// Classifies user agents.
///
/// Loading a classifier takes tens of milliseconds and about ten megabytes, so load it once. It can be shared between threads.
pub struct Classifier {
    browsers: user_agent::Extractor<'static>,
    systems: os::Extractor<'static>,
}

/// Why the rules could not be loaded. They are part of the binary, so this is a bug.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file of regular expressions isn't YAML of the expected form.
    #[error("the regular expressions for user agents can't be parsed")]
    Format(#[source] Box<serde_saphyr::Error>),
    /// A regular expression can't be compiled.
    #[error("a regular expression for user agents can't be compiled")]
    Compile(#[from] ua_parser::Error),
}

impl Classifier {
    /// Loads a classifier, compiling its rules.
    ///
    /// # Errors
    /// When the rules, which are part of the binary, are invalid.
    pub fn load() -> Result<Self, LoadError> {
        let regexes: Regexes<'static> =
            serde_saphyr::from_str(REGEXES).map_err(|error| LoadError::Format(Box::new(error)))?;
        Ok(Self { browsers: browsers(regexes.user_agent_parsers)?, systems: systems(regexes.os_parsers)? })
    }

    /// Classifies a user agent. An empty one is a bot, since every browser sends a user agent.
    ///
    /// The `browser` of a bot is the bot's name, whichever browser it claims to be, and its `os` is `unknown`.
    pub fn classify(&self, user_agent: &str) -> Client {
        let user_agent = user_agent.trim();
        if let Some(bot) = Bot::find(user_agent) {
            return client(Device::Bot, bot.name, &version(bot.major, bot.minor), UNKNOWN);
        }
        let system = self.systems.extract(user_agent);
        let system = system.as_ref().map_or(UNKNOWN, |system| &system.os);
        let browser = self.browsers.extract(user_agent).unwrap_or_default();
        client(device_of_person(user_agent), &browser.family, &version(browser.major, browser.minor), system)
    }
}

fn browsers(parsers: Vec<user_agent::Parser<'static>>) -> Result<user_agent::Extractor<'static>, ua_parser::Error> {
    Ok(user_agent::Builder::new().push_all(parsers)?.build()?)
}

fn systems(parsers: Vec<os::Parser<'static>>) -> Result<os::Extractor<'static>, ua_parser::Error> {
    Ok(os::Builder::new().push_all(parsers)?.build()?)
}

fn client(device: Device, browser: &str, version: &str, os: &str) -> Client {
    Client { device, browser: name(browser), version: truncate(version, MAX_VERSION).to_owned(), os: name(os) }
}

fn name(text: &str) -> String {
    match truncate(text, MAX_NAME) {
        "" | "Other" => UNKNOWN.to_owned(),
        name => name.to_owned(),
    }
}

/// The version as text. A minor version of zero is left out: Chrome's is always zero, and Safari 17.0 is called Safari 17.
fn version(major: Option<&str>, minor: Option<&str>) -> String {
    match (major, minor) {
        (Some(major), Some(minor)) if minor != "0" => format!("{major}.{minor}"),
        (Some(major), _) => major.to_owned(),
        (None, _) => String::new(),
    }
}

/// Truncates text to this number of bytes, at a character boundary.
fn truncate(text: &str, bytes: usize) -> &str {
    let text = text.trim();
    text[..text.floor_char_boundary(bytes)].trim_end()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::LazyLock;

    use linklet_domain::BrowserFamily;
    use linklet_visitors::browser_family;
    use proptest::prelude::*;

    use super::*;

    static CLASSIFIER: LazyLock<Classifier> = LazyLock::new(|| Classifier::load().unwrap());

    struct Line {
        number: usize,
        expected: [&'static str; 4],
        user_agent: &'static str,
    }

    fn lines() -> impl Iterator<Item = Line> {
        include_str!("../../visitors/tests/user_agents.tsv")
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
            .map(|(index, line)| {
                let mut fields = line.split('\t');
                let expected = std::array::from_fn(|_| fields.next().expect("five fields"));
                Line { number: index + 1, expected, user_agent: fields.next().expect("five fields") }
            })
    }

    #[test]
    fn every_listed_user_agent_is_classified() {
        let wrong: Vec<String> = lines()
            .filter_map(|Line { number, expected, user_agent }| {
                let client = CLASSIFIER.classify(user_agent);
                let classified = [<&str>::from(client.device), &client.browser, &client.version, &client.os];
                // Statistics don't tell the kinds of bots apart.
                let expected = expected.map(|field| if field == "program" { "bot" } else { field });
                (classified != expected)
                    .then(|| format!("line {number}: {classified:?} instead of {expected:?} for {user_agent}"))
            })
            .collect();

        assert!(wrong.is_empty(), "user_agents.tsv:\n{}", wrong.join("\n"));
    }

    /// The family that uap-core's name of a browser belongs to.
    fn family_of(browser: &str) -> Option<BrowserFamily> {
        Some(match browser {
            "Chrome" | "Chrome Mobile" | "Chrome Mobile iOS" => BrowserFamily::Chrome,
            "Edge" | "Edge Mobile" => BrowserFamily::Edge,
            "Firefox" | "Firefox Mobile" | "Firefox iOS" => BrowserFamily::Firefox,
            "Safari" | "Mobile Safari" => BrowserFamily::Safari,
            "Opera" | "Opera Mobile" | "Opera Mini" => BrowserFamily::Opera,
            "Samsung Internet" => BrowserFamily::Samsung,
            _ => return None,
        })
    }

    /// What names itself in a user agent, but has none of uap-core's expressions, so that it counts as the browser that it claims
    /// to be: browsers and apps, televisions, consoles, and systems.
    const UNKNOWN_TO_UAP_CORE: [&str; 34] = [
        "BingWeb/",
        "Brave ",
        "CCleaner/",
        "Cheshire/",
        "ChromePlus/",
        "CometBird/",
        "CrKey/",
        "DMOST/",
        "Ddg/",
        "Dooble/",
        "Fennec/",
        "Haiku",
        "HuaweiBrowser/",
        "KAIOS/",
        "LBBROWSER",
        "Mercury/",
        "NAVER(",
        "NetCast",
        "NewsSapphire/",
        "NokiaBrowser/",
        "OWB/",
        "OculusBrowser/",
        "Ordissimo/",
        "PlayStation",
        "QtWebEngine/",
        "SailfishBrowser/",
        "SlimBrowser/",
        "SogouMSE",
        "TV Safari/",
        "VIDAA/",
        "Valve Steam Deck",
        "WebAppManager",
        "Wyzo/",
        "YaaniBrowser/",
    ];

    /// User agents that are of a family, though uap-core calls them otherwise.
    const OF_A_FAMILY: [(&str, BrowserFamily); 5] = [
        // Chrome and Opera on an iPad, which asks for pages as a Mac does.
        ("CriOS/129 Version/", BrowserFamily::Chrome),
        ("OPT/1.11.0 Mobile/", BrowserFamily::Opera),
        // Firefox, compiled for one kind of processor.
        ("(Swiftfox)", BrowserFamily::Firefox),
        ("Windows IoT 10.0; Android", BrowserFamily::Edge),
        // Opera's engine in a television.
        ("HbbTV/1.1.1 (; Sony", BrowserFamily::Opera),
    ];

    #[test]
    fn a_browsers_family_agrees_with_the_name_that_statistics_show() {
        let people = include_str!("../../visitors/tests/people.txt")
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let people = lines().map(|line| line.user_agent).chain(people).filter(|text| Bot::find(text).is_none());
        let (mut seen, mut used) = (BTreeSet::new(), BTreeSet::new());
        for user_agent in people {
            let browser = CLASSIFIER.classify(user_agent).browser;
            let by_words = browser_family(user_agent);
            seen.extend(by_words);
            if by_words == family_of(&browser) {
                continue;
            }
            let is_in = |text: &&str| user_agent.contains(*text);
            let exception = match by_words {
                None => UNKNOWN_TO_UAP_CORE.into_iter().find(is_in),
                Some(family) => {
                    OF_A_FAMILY.into_iter().filter(|(_, of)| *of == family).map(|(text, _)| text).find(is_in)
                }
            };
            used.insert(exception.unwrap_or_else(|| panic!("{by_words:?} instead of {browser}: {user_agent}")));
        }

        assert_eq!(seen.len(), 6, "{seen:?}");
        let exceptions = UNKNOWN_TO_UAP_CORE.into_iter().chain(OF_A_FAMILY.map(|(text, _)| text));
        let unused: Vec<&str> = exceptions.filter(|text| !used.contains(text)).collect();
        assert!(unused.is_empty(), "no user agent needs {unused:?}");
    }

    #[test]
    fn no_user_agent_is_a_bots() {
        for nothing in ["", " \t "] {
            let client = CLASSIFIER.classify(nothing);

            assert_eq!((client.device, client.browser.as_str(), client.os.as_str()), (Device::Bot, UNKNOWN, UNKNOWN));
        }
    }

    #[test]
    fn a_name_is_truncated_between_characters() {
        let client = CLASSIFIER.classify(&format!("{}é/1 (+https://program.example)", "x".repeat(MAX_NAME - 1)));

        assert_eq!(client.browser, "x".repeat(MAX_NAME - 1));
    }

    #[test]
    fn a_version_is_truncated() {
        let client = CLASSIFIER.classify(&format!("curl/{}", "1".repeat(100)));

        assert_eq!(client.version, "1".repeat(MAX_VERSION));
    }

    #[test]
    fn a_classifier_can_be_shared_between_threads() {
        fn shared<T: Send + Sync>() {}

        shared::<Classifier>();
    }

    fn assert_fits(client: &Client) {
        assert!((1..=MAX_NAME).contains(&client.browser.len()), "{client:?}");
        assert!((1..=MAX_NAME).contains(&client.os.len()), "{client:?}");
        assert!(client.version.len() <= MAX_VERSION, "{client:?}");
    }

    proptest! {
        #[test]
        fn any_text_has_an_answer_that_fits(text in any::<String>()) {
            assert_fits(&CLASSIFIER.classify(&text));
        }

        #[test]
        fn user_agents_with_anything_in_them_have_an_answer_that_fits(
            index in any::<prop::sample::Index>(),
            at in any::<prop::sample::Index>(),
            text in "[\\PC\\x00-\\x20]{0,512}",
        ) {
            let all: Vec<Line> = lines().collect();
            let user_agent = index.get(&all).user_agent;
            let at = user_agent.floor_char_boundary(at.index(user_agent.len()));

            assert_fits(&CLASSIFIER.classify(&format!("{}{text}{}", &user_agent[..at], &user_agent[at..])));
        }
    }
}
