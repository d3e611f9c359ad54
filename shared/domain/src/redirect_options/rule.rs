use serde::{Deserialize, Serialize};

use super::{DestinationName, language};
use crate::{BrowserFamily, CountryCode, Invalid, IpHash, TargetUrl, Timestamp, uri};

/// Sends visitors who meet all conditions elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// What statistics call it.
    #[serde(default, deserialize_with = "crate::optional", skip_serializing_if = "Option::is_none")]
    pub name: Option<DestinationName>,
    /// Where it leads.
    pub url: TargetUrl,
    /// What has to hold: 1–5 conditions.
    pub conditions: Vec<Condition>,
}

impl Rule {
    /// Maximum number of conditions.
    pub const MOST_CONDITIONS: usize = 5;

    /// Whether all conditions hold of a visitor.
    pub fn matches(&self, visitor: &Traits<'_>) -> bool {
        self.conditions.iter().all(|condition| condition.holds(visitor))
    }

    /// The highest weight that a visitor gives to a language of this rule; `None` if it names none that they prefer.
    pub(super) fn language_weight(&self, visitor: &Traits<'_>) -> Option<language::Weight> {
        self.conditions.iter().filter_map(|condition| condition.language_weight(visitor)).max()
    }

    /// Whether another rule asks the same of a visitor, except for their language.
    pub(super) fn differs_by_language_only(&self, other: &Self) -> bool {
        let is_part = |some: &Self, all: &Self| {
            some.conditions.iter().all(|one| matches!(one, Condition::Language(_)) || all.conditions.contains(one))
        };
        is_part(self, other) && is_part(other, self)
    }
}

/// What a rule asks of a visitor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawCondition", into = "RawCondition")]
pub enum Condition {
    /// They use one of these devices.
    Device(Vec<Platform>),
    /// They use a browser of one of these families.
    Browser(Vec<BrowserFamily>),
    /// They prefer one of these languages, such as `fr` or `en-US`.
    Language(Vec<String>),
    /// They are in one of these countries, as far as a trusted edge knows.
    Country(Vec<CountryCode>),
    /// The address that they have followed has a parameter of this value.
    QueryParam {
        /// The parameter's name.
        key: String,
        /// Its value.
        value: String,
    },
    /// They come before this time.
    BeforeDate(Timestamp),
    /// They come at this time or after it.
    AfterDate(Timestamp),
}

impl Condition {
    /// Maximum length of the key and of the value of a parameter, in characters.
    pub const LONGEST_PARAMETER: usize = 100;
    /// Maximum number of values of which one has to hold.
    pub const MOST_VALUES: usize = 50;

    /// Whether it holds of a visitor.
    pub fn holds(&self, visitor: &Traits<'_>) -> bool {
        match self {
            Self::Device(platforms) => visitor.platforms.iter().any(|platform| platforms.contains(platform)),
            Self::Browser(families) => visitor.browser.is_some_and(|family| families.contains(&family)),
            Self::Language(_) => self.language_weight(visitor).is_some(),
            Self::Country(countries) => visitor.country.as_ref().is_some_and(|country| countries.contains(country)),
            Self::QueryParam { key, value } => {
                let is_asked = |piece: &str| uri::decode(piece) == (key.as_bytes().to_vec(), value.as_bytes().to_vec());
                uri::pieces(visitor.query).any(is_asked)
            }
            Self::BeforeDate(end) => visitor.at < *end,
            Self::AfterDate(start) => *start <= visitor.at,
        }
    }

    fn language_weight(&self, visitor: &Traits<'_>) -> Option<language::Weight> {
        let Self::Language(wanted) = self else { return None };
        wanted.iter().filter_map(|language| language::weight_of(visitor.accept_language, language)).max()
    }
}

/// A device that a rule can name. One device may be several of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// A telephone or tablet with Android.
    Android,
    /// An iPhone or iPad. Safari on an iPad says that it is a Mac, unless it is set to ask for mobile websites.
    Ios,
    /// Any telephone or tablet.
    Mobile,
    /// A computer with Windows.
    Windows,
    /// A Mac, or an iPad whose browser says that it is one.
    Macos,
    /// A computer with Linux.
    Linux,
    /// A Chromebook.
    Chromeos,
    /// Any computer.
    Desktop,
}

impl Platform {
    /// This, and what any such device is as well.
    pub fn with_its_kind(self) -> Vec<Self> {
        match self {
            Self::Android | Self::Ios => vec![self, Self::Mobile],
            Self::Windows | Self::Macos | Self::Linux | Self::Chromeos => vec![self, Self::Desktop],
            Self::Mobile | Self::Desktop => vec![self],
        }
    }
}

/// What is known of a visitor when a rule is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traits<'a> {
    /// When they come.
    pub at: Timestamp,
    /// The hash of their address.
    pub address: &'a IpHash,
    /// What their device is.
    pub platforms: Vec<Platform>,
    /// The family of their browser, if it is known.
    pub browser: Option<BrowserFamily>,
    /// The header `Accept-Language`.
    pub accept_language: &'a str,
    /// Their country, if it is known.
    pub country: Option<CountryCode>,
    /// The query of the address that they have followed.
    pub query: &'a str,
}

/// A condition as requests, answers and items have it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct RawCondition {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(with = "serde_with::As::<serde_with::OneOrMany<serde_with::Same>>")]
    value: Vec<String>,
}

impl TryFrom<RawCondition> for Condition {
    type Error = Invalid;

    fn try_from(RawCondition { kind, key, value: values }: RawCondition) -> Result<Self, Invalid> {
        let single = || match values.as_slice() {
            [value] => Ok(value.as_str()),
            _ => Err(Invalid::new("only a device, browser, language or country may have a list of values")),
        };
        match kind.as_str() {
            "device" => each(&values, |value| {
                named(value).ok_or_else(|| {
                    Invalid::new("a device must be android, ios, mobile, windows, macos, linux, chromeos or desktop")
                })
            })
            .map(Self::Device),
            "browser" => each(&values, |value| {
                named(value)
                    .ok_or_else(|| Invalid::new("a browser must be chrome, edge, firefox, safari, opera or samsung"))
            })
            .map(Self::Browser),
            "language" => each(&values, language_of).map(Self::Language),
            "country" => each(&values, CountryCode::parse).map(Self::Country),
            "query-param" => Ok(Self::QueryParam {
                key: parameter(key.unwrap_or_default())
                    .filter(|key| !key.is_empty())
                    .ok_or_else(|| Invalid::new("the key of a query-param must have 1–100 characters"))?,
                value: parameter(single()?.to_owned())
                    .ok_or_else(|| Invalid::new("the value of a query-param must have at most 100 characters"))?,
            }),
            "before-date" => date(single()?).map(Self::BeforeDate),
            "after-date" => date(single()?).map(Self::AfterDate),
            _ => Err(Invalid::new(
                "the type of a condition must be device, browser, language, country, query-param, before-date or after-date",
            )),
        }
    }
}

impl From<Condition> for RawCondition {
    fn from(condition: Condition) -> Self {
        let (kind, key, value) = match condition {
            Condition::Device(platforms) => ("device", None, platforms.iter().map(name_of).collect()),
            Condition::Browser(families) => ("browser", None, families.iter().map(name_of).collect()),
            Condition::Language(languages) => ("language", None, languages),
            Condition::Country(countries) => ("country", None, countries.iter().map(ToString::to_string).collect()),
            Condition::QueryParam { key, value } => ("query-param", Some(key), vec![value]),
            Condition::BeforeDate(end) => ("before-date", None, vec![end.to_string()]),
            Condition::AfterDate(start) => ("after-date", None, vec![start.to_string()]),
        };
        Self { kind: kind.to_owned(), key, value }
    }
}

/// The values of a condition of which one has to hold.
fn each<T>(values: &[String], parse: impl Fn(&str) -> Result<T, Invalid>) -> Result<Vec<T>, Invalid> {
    let fits = (1..=Condition::MOST_VALUES).contains(&values.len());
    Invalid::unless(fits, "the value of a condition must be a text or a list of 1–50 texts")?;
    values.iter().map(|value| parse(value)).collect()
}

/// The value of an enum whose name is this text.
fn named<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    T::deserialize(serde::de::value::StrDeserializer::<serde::de::value::Error>::new(text)).ok()
}

fn name_of(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Checks a language tag: letters, with a region or script of letters and digits if any (RFC 5646).
fn language_of(text: &str) -> Result<String, Invalid> {
    let mut parts = text.split('-');
    let is_language = |part: &str| (2..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_further =
        |part: &str| (2..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_tag = parts.next().is_some_and(is_language) && parts.clone().count() <= 2 && parts.all(is_further);
    if is_tag { Ok(text.to_owned()) } else { Err(Invalid::new("a language must be a tag such as fr or en-US")) }
}

fn parameter(text: String) -> Option<String> {
    let fits = text.chars().count() <= Condition::LONGEST_PARAMETER && !text.contains(char::is_control);
    fits.then_some(text)
}

fn date(text: &str) -> Result<Timestamp, Invalid> {
    Timestamp::parse(text).map_err(|_| Invalid::new("a date must be RFC 3339, such as 2026-05-03T00:00:00Z"))
}
