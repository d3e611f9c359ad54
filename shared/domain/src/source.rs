//! How visitors come upon links: by a QR code, with a campaign, from a page, or directly.

use std::fmt;

use serde::{Deserialize, Serialize};
use url::form_urlencoded;

use crate::Visitor;

/// How a visitor came upon a link. A click has one source, the first of these that fits.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, strum::IntoStaticStr, strum::EnumString, strum::EnumCount,
)]
#[strum(serialize_all = "lowercase")]
pub enum Source {
    /// By the link's QR code.
    Qr,
    /// With the parameters of a campaign, the visitor's or the destination's.
    Campaign,
    /// From a page that links to it, or from an app that says which it is.
    Link,
    /// By typing it, from a mail, or from a program that doesn't say where it was.
    Direct,
}

impl Source {
    /// The source of a click.
    pub fn of(visitor: &Visitor) -> Self {
        match visitor {
            Visitor { has_scanned: true, .. } => Self::Qr,
            Visitor { campaign: Some(_), .. } => Self::Campaign,
            Visitor { referer: Some(_), .. } => Self::Link,
            _ => Self::Direct,
        }
    }

    /// Whether the query of a short link is the one that its QR code has.
    pub fn is_scan(query: &str) -> bool {
        !query.is_empty() && form_urlencoded::parse(query.as_bytes()).any(|(name, value)| name == "qr" && value == "1")
    }
}

/// The campaign that a click belongs to, by the parameters `utm_source`, `utm_medium` and `utm_campaign`, of which one at least is
/// there. As text it is `newsletter / email / spring`, where `-` stands for what is missing.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Campaign {
    /// Which site, program or newsletter it came from.
    pub source: Option<String>,
    /// By which means, such as mail or an advertisement.
    pub medium: Option<String>,
    /// Its name.
    pub name: Option<String>,
}

impl Campaign {
    /// The longest part that is kept, in bytes.
    pub const MAX_PART: usize = 50;

    /// The campaign that a query names. Of a parameter that comes twice the first counts.
    pub fn of_query(query: &str) -> Option<Self> {
        if !query.contains("utm") {
            return None;
        }
        let part = |name| {
            let value =
                form_urlencoded::parse(query.as_bytes()).find(|(given, _)| given == name).map(|(_, value)| value);
            value.and_then(|value| kept(&value))
        };
        Self::of_parts(part("utm_source"), part("utm_medium"), part("utm_campaign"))
    }

    /// The campaign that a URL names.
    pub fn of_url(url: &str) -> Option<Self> {
        let (_, query) = url.split('#').next()?.split_once('?')?;
        Self::of_query(query)
    }

    /// A campaign of these parts; `None` if there are none.
    pub fn of_parts(source: Option<String>, medium: Option<String>, name: Option<String>) -> Option<Self> {
        (source.is_some() || medium.is_some() || name.is_some()).then_some(Self { source, medium, name })
    }
}

impl fmt::Display for Campaign {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |part: &Option<String>| part.as_deref().unwrap_or("-").to_owned();
        write!(formatter, "{} / {} / {}", part(&self.source), part(&self.medium), part(&self.name))
    }
}

/// What is kept of a parameter, which can have any text: no control characters, and so many bytes.
fn kept(value: &str) -> Option<String> {
    let mut text: String = value.chars().filter(|character| !character.is_control()).collect();
    text.truncate(text.floor_char_boundary(Campaign::MAX_PART));
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IpHash, Salt};

    fn visitor() -> Visitor {
        Visitor::new(IpHash::of("203.0.113.9", &Salt::parse(&"s".repeat(32)).unwrap()))
    }

    fn campaign(query: &str) -> Option<String> {
        Campaign::of_query(query).map(|campaign| campaign.to_string())
    }

    #[test]
    fn a_click_has_the_first_source_that_fits() {
        let come = |query: &str, destination: &str, referer: Option<&str>| {
            let visitor = visitor().with_headers(None, referer).coming_with(query, destination);
            <&str>::from(Source::of(&visitor))
        };
        let page = Some("https://news.example/");

        assert_eq!(come("qr=1&utm_source=poster", "https://example.com/", page), "qr");
        assert_eq!(come("utm_source=mail", "https://example.com/", page), "campaign");
        assert_eq!(come("", "https://example.com/?utm_source=mail#top", page), "campaign");
        assert_eq!(come("qr=2&utm_source=", "https://example.com/#?utm_source=mail", page), "link");
        assert_eq!(come("", "https://example.com/", Some("android-app://com.google.android.gm/")), "link");
        assert_eq!(come("", "https://example.com/", None), "direct");
    }

    #[test]
    fn the_campaign_of_the_visitor_goes_before_that_of_the_destination() {
        let destination = "https://example.com/?utm_source=site&utm_campaign=always";
        let of = |query: &str| visitor().coming_with(query, destination).campaign.unwrap().to_string();

        assert_eq!(of("utm_source=mail"), "mail / - / -");
        assert_eq!(of("ref=mail"), "site / - / always");
    }

    #[test]
    fn a_campaign_has_what_its_parameters_say() {
        for (query, expected) in [
            ("utm_source=newsletter&utm_medium=email&utm_campaign=spring%20sale", "newsletter / email / spring sale"),
            ("utm_campaign=spring+sale", "- / - / spring sale"),
            ("utm_source=a&utm_source=b", "a / - / -"),
            ("UTM_SOURCE=a&utm_medium=%00b%1b%c2%85%0A", "- / b / -"),
            ("utm_source=%ff", "\u{fffd} / - / -"),
        ] {
            assert_eq!(campaign(query).as_deref(), Some(expected), "{query}");
        }
        for query in ["", "utm", "utm_source", "utm_source=%20&utm_medium=", "utm_term=x", "a=utm_source"] {
            assert_eq!(campaign(query), None, "{query}");
        }
    }

    #[test]
    fn a_part_is_cut_to_its_bytes_between_characters() {
        let long = Campaign::of_query(&format!("utm_source={}", "é".repeat(100))).unwrap();
        let odd = Campaign::of_query(&format!("utm_source=a{}", "é".repeat(100))).unwrap();

        assert_eq!(long.source.unwrap().len(), Campaign::MAX_PART);
        assert_eq!(odd.source.unwrap().len(), Campaign::MAX_PART - 1);
    }
}
