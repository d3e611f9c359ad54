use std::borrow::Cow;

use serde::Serialize;
use serde_with::DeserializeFromStr;
use strum::{EnumCount as _, EnumString, IntoStaticStr};

use super::AudienceGroup;
use crate::{Client, Invalid, Routing, Source, Visitor};

/// A property by which clicks are broken down.
///
/// A new one needs its name, its place in [`Dimension::ALL`] and an arm in each method: counting, merging, storing, comparing and
/// showing go through all of them.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, DeserializeFromStr, EnumString, IntoStaticStr,
)]
#[serde(into = "&'static str")]
#[strum(parse_err_ty = Invalid, parse_err_fn = no_dimension)]
pub enum Dimension {
    /// The kind of device.
    #[strum(serialize = "devices")]
    Device,
    /// The page that the click came from.
    #[strum(serialize = "referers")]
    Referer,
    /// The country of the visitor.
    #[strum(serialize = "countries")]
    Country,
    /// The browser or program.
    #[strum(serialize = "browsers")]
    Browser,
    /// The operating system.
    #[strum(serialize = "operating_systems")]
    OperatingSystem,
    /// Where the link has led, if it has several destinations.
    #[strum(serialize = "destinations")]
    Destination,
    /// How the visitor came upon the link.
    #[strum(serialize = "sources")]
    Source,
    /// The campaign that the visitor came with.
    #[strum(serialize = "campaigns")]
    Campaign,
}

impl Dimension {
    /// The country of visitors of whom it isn't known.
    pub const UNKNOWN_COUNTRY: &str = "unknown";

    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Device,
        Self::Referer,
        Self::Country,
        Self::Browser,
        Self::OperatingSystem,
        Self::Destination,
        Self::Source,
        Self::Campaign,
    ];

    /// The name of a breakdown by this, in rows and in answers.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// What answers call one value of this.
    pub fn label(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Referer => "referer",
            Self::Country => "country",
            Self::Browser => "browser",
            Self::OperatingSystem => "os",
            Self::Destination => "destination",
            Self::Source => "source",
            Self::Campaign => "campaign",
        }
    }

    /// How many values a breakdown holds: 30, but all of the world's 250 countries, and as many destinations as a link has. Of
    /// machines it holds 10 values of what they can make up, since they would otherwise make a day's row twice as large.
    pub fn capacity(self, group: AudienceGroup) -> usize {
        match self {
            Self::Country => 250,
            Self::Destination => Routing::MOST_RULES + Routing::MOST_VARIANTS + 1,
            Self::Source => Source::COUNT,
            Self::Referer | Self::OperatingSystem | Self::Campaign if group == AudienceGroup::Automated => 10,
            Self::Device | Self::Referer | Self::Browser | Self::OperatingSystem | Self::Campaign => 30,
        }
    }

    /// The value of a click, or `None` if it has none. Never empty, since DynamoDB has no empty names.
    pub fn value<'a>(self, visitor: &'a Visitor, client: &'a Client) -> Option<Cow<'a, str>> {
        let value = match self {
            Self::Device => client.device.into(),
            Self::Referer => page(visitor.referer.as_deref()?),
            Self::Country => visitor.country.as_ref().map_or(Self::UNKNOWN_COUNTRY, |country| country.as_str()),
            Self::Browser => &client.browser,
            Self::OperatingSystem => &client.os,
            Self::Destination => visitor.destination.as_ref()?.as_str(),
            Self::Source => Source::of(visitor).into(),
            Self::Campaign => return Some(visitor.campaign.as_ref()?.to_string().into()),
        };
        (!value.is_empty()).then_some(value.into())
    }
}

fn no_dimension(_: &str) -> Invalid {
    Invalid::new("there is no such breakdown")
}

/// A referrer without query and fragment, which tell pages apart less than people, cut to 100 bytes.
fn page(referer: &str) -> &str {
    const MAX_BYTES: usize = 100;
    let page = referer.split(['?', '#']).next().unwrap_or_default();
    &page[..page.floor_char_boundary(MAX_BYTES)]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_dimension_has_names_of_its_own() {
        let names: BTreeSet<_> = Dimension::ALL.iter().map(|dimension| dimension.name()).collect();
        let labels: BTreeSet<_> = Dimension::ALL.iter().map(|dimension| dimension.label()).collect();

        assert_eq!((names.len(), labels.len()), (Dimension::ALL.len(), Dimension::ALL.len()));
        assert!(names.iter().all(|name| name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')));
    }
}
