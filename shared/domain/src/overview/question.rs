//! What somebody asks about many links.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::Overview;
use crate::{Day, Invalid, LinkSummary, Tags, Timestamp, folding::folded};

/// A label of links, of which all spellings are the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tag(String);

impl Tag {
    /// # Errors
    /// When no link can have it.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let tags = Tags::try_from(vec![text.to_owned()])?;
        tags.iter().next().map(|tag| Self(tag.to_owned())).ok_or_else(|| Invalid::new("a tag must not be empty"))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is the same tag, in whichever spelling.
    pub fn is_same(&self, other: &Self) -> bool {
        folded(&self.0) == folded(&other.0)
    }

    /// This tag as a link has it.
    fn of(&self, link: &LinkSummary) -> Option<Self> {
        link.tags.spelling(&self.0).map(|tag| Self(tag.to_owned()))
    }
}

/// Which links and which time an overview is about: all links and recent days, unless the question says others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OverviewQuestion {
    /// Only links with this tag.
    pub tag: Option<Tag>,
    /// The days in UTC.
    pub days: Option<RangeInclusive<Day>>,
}

impl OverviewQuestion {
    /// Whether it asks for nothing in particular.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// A text that equal questions have, and no others.
    pub fn key(&self) -> String {
        let days = self.days.as_ref().map(|days| format!("{}#{}", days.start(), days.end())).unwrap_or_default();
        let tag = self.tag.as_ref().map(|tag| folded(tag.as_str())).unwrap_or_default();
        format!("{days}#{tag}")
    }

    /// Whether the totals of links know the clicks of all of its days at this time.
    pub fn is_recent(&self, now: Timestamp) -> bool {
        self.days.as_ref().is_none_or(|days| *days.start() >= now.day().minus(Overview::DAYS - 1))
    }

    /// The tag that it asks for, as a link has it; `None` if the link isn't meant.
    pub(super) fn spelling(&self, link: &LinkSummary) -> Option<Tag> {
        self.tag.as_ref()?.of(link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_questions_have_equal_keys_and_others_have_others() {
        let days = |first, last| Some(Day::parse(first).unwrap()..=Day::parse(last).unwrap());
        let key =
            |tag: Option<&str>, days| OverviewQuestion { tag: tag.map(|tag| Tag::parse(tag).unwrap()), days }.key();

        let expected = key(Some("launch"), days("2026-03-01", "2026-03-02"));
        assert_eq!(key(Some("Launch"), days("2026-03-01", "2026-03-02")), expected);
        let keys = [
            key(None, None),
            key(Some("launch"), None),
            key(Some("#launch"), None),
            key(None, days("2026-03-01", "2026-03-02")),
            key(Some("2026-03-01"), None),
            key(Some("launch"), days("2026-03-01", "2026-03-02")),
        ];
        assert_eq!(keys.iter().collect::<std::collections::BTreeSet<_>>().len(), keys.len(), "{keys:?}");
    }

    #[test]
    fn a_tag_that_no_link_can_have_is_refused() {
        for text in ["", " ", &"x".repeat(51), "a\nb"] {
            assert!(Tag::parse(text).is_err(), "{text:?}");
        }
        assert_eq!(Tag::parse(" Frühling/50 % ").unwrap().as_str(), "Frühling/50 %");
    }
}
