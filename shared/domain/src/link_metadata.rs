//! What only people read of a link, and what can be changed of it.

use serde::{Deserialize, Serialize};

use crate::{
    Invalid, Timestamp,
    validated::{Shape, bounded_text, normalized, null_as_default, optional, patched, readable},
};

/// The properties of a link that only people read. Request bodies, responses and items have these members under the same names,
/// so a new property belongs here and in [`LinkPatch`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LinkMetadata {
    /// The display name.
    #[serde(default, deserialize_with = "optional")]
    pub title: Option<Title>,
    /// A note.
    #[serde(default, deserialize_with = "optional")]
    pub description: Option<Description>,
    /// Tags to filter by.
    #[serde(default, deserialize_with = "null_as_default")]
    pub tags: Tags,
}

impl LinkMetadata {
    /// The names of the properties that are given here and that another link doesn't have like this.
    #[must_use]
    pub fn missing_in(&self, other: &Self) -> Vec<&'static str> {
        let differs = |given: bool, same: bool| given && !same;
        [
            ("title", differs(self.title.is_some(), self.title == other.title)),
            ("description", differs(self.description.is_some(), self.description == other.description)),
            ("tags", self.tags.iter().any(|tag| !other.tags.contains(tag))),
        ]
        .into_iter()
        .filter_map(|(name, is_missing)| is_missing.then_some(name))
        .collect()
    }
}

bounded_text! {
    /// The display name of a link: at most 500 characters.
    Title, "title", 500, Line
}

bounded_text! {
    /// The description of a link: at most 2,000 characters.
    Description, "description", 2000, Lines
}

/// The labels of a link: at most 20, each once, of 1–50 characters without spaces around.
///
/// They are kept as they were given, in Unicode's normal form C, in which equal texts have equal characters. Two that differ in
/// upper and lower case only are the same.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct Tags(Vec<String>);

impl Tags {
    /// How many labels a link has at most.
    pub const MOST: usize = 20;
    /// Maximum length of a label in characters.
    pub const MAX_LENGTH: usize = 50;

    /// The labels in the order in which they were given.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The labels with what they have in common with those that count as the same.
    pub(crate) fn compared(&self) -> impl Iterator<Item = (String, &str)> {
        self.iter().map(|label| (compared(label), label))
    }

    /// Whether one of the labels is this one.
    #[must_use]
    pub fn contains(&self, label: &str) -> bool {
        let label = compared(label);
        self.iter().any(|known| compared(known) == label)
    }
}

impl TryFrom<Vec<String>> for Tags {
    type Error = Invalid;

    /// Trims tags and drops repetitions.
    fn try_from(given: Vec<String>) -> Result<Self, Invalid> {
        let mut tags = Self(Vec::with_capacity(given.len()));
        for tag in &given {
            let tag = readable(tag, Shape::Line).map_err(|rule| Invalid::new(format!("tags {rule}")))?;
            if !(1..=Self::MAX_LENGTH).contains(&tag.chars().count()) {
                return Err(Invalid::new("each of the tags must have 1–50 characters"));
            }
            if !tags.contains(&tag) {
                tags.0.push(tag);
            }
        }
        if tags.0.len() > Self::MOST {
            return Err(Invalid::new("tags must be at most 20"));
        }
        Ok(tags)
    }
}

/// What is compared of a label.
fn compared(label: &str) -> String {
    normalized(&label.to_lowercase()).into_owned()
}

/// Changes to a link; its destination can't be changed. `None` leaves a property unchanged, `Some(None)` removes it.
///
/// Request bodies have these members under the same names, with `null` for a removed property, and so have the attributes that
/// they change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkPatch {
    /// The new title.
    #[serde(deserialize_with = "patched", skip_serializing_if = "Option::is_none")]
    pub title: Option<Option<Title>>,
    /// The new description.
    #[serde(deserialize_with = "patched", skip_serializing_if = "Option::is_none")]
    pub description: Option<Option<Description>>,
    /// The new tags, which replace all old ones.
    #[serde(deserialize_with = "patched", skip_serializing_if = "Option::is_none")]
    pub tags: Option<Option<Tags>>,
    /// The new expiry.
    #[serde(deserialize_with = "patched", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Option<Timestamp>>,
    /// Whether the link is switched on.
    #[serde(deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub is_active: Option<bool>,
    /// That the link watches no more where it leads.
    #[serde(deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub watch: Option<NoWatch>,
}

/// `false`, as the new value of `watch`: a link can give up watching, and never begin to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "bool", into = "bool")]
pub struct NoWatch;

impl TryFrom<bool> for NoWatch {
    type Error = Invalid;

    fn try_from(watch: bool) -> Result<Self, Invalid> {
        const REFUSED: &str = "watch can only be given up, with false; a link begins to watch when it is created";
        if watch { Err(Invalid::new(REFUSED)) } else { Ok(Self) }
    }
}

impl From<NoWatch> for bool {
    fn from(_: NoWatch) -> Self {
        false
    }
}

impl LinkPatch {
    /// Whether a link may be [reusable](Link::is_reusable) after this change that was not before.
    #[must_use]
    pub fn can_make_reusable(&self) -> bool {
        self.expires_at == Some(None) || self.is_active == Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_the_same_in_upper_and_lower_case_and_however_their_accents_are_written() {
        let tags =
            |given: &[&str]| Tags::try_from(given.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>()).unwrap();

        let kept = tags(&["Caf\u{e9}", "cafe\u{301}", "CAF\u{c9}", "sale", " Sale "]);

        assert_eq!(kept.iter().collect::<Vec<_>>(), ["Caf\u{e9}", "sale"]);
        assert_eq!(tags(&["cafe\u{301}"]), tags(&["caf\u{e9}"]));
        assert!(kept.contains("CAFE\u{301}") && kept.contains("SALE") && !kept.contains("sal"));
    }

    #[test]
    fn a_text_that_looks_like_another_one_is_refused() {
        let tags = |tag: &str| Tags::try_from(vec![tag.to_owned()]);
        for disguised in ["in\u{202E}voice", "a\u{2066}b", "a\u{0}b", "a\u{1b}[31m", "a\u{85}b"] {
            assert!(Title::parse(disguised).is_err(), "{disguised:?}");
            assert!(Description::parse(disguised).is_err(), "{disguised:?}");
            assert!(tags(disguised).is_err(), "{disguised:?}");
        }
        assert!(Title::parse("two\nlines").is_err() && tags("two\nlines").is_err());
        assert!(Description::parse("two\r\nlines\tand a tab").is_ok());
        for plain in ["Frühling 🌱", "שלום\u{200F}", "تخفيضات"] {
            assert!(Title::parse(plain).is_ok() && tags(plain).is_ok(), "{plain}");
        }
    }

    #[test]
    fn what_another_link_lacks_is_named() {
        let given = LinkMetadata {
            title: Some("Spring".parse().unwrap()),
            description: None,
            tags: vec!["News".to_owned(), "spring".to_owned()].try_into().unwrap(),
        };
        let all = LinkMetadata {
            title: given.title.clone(),
            description: Some("of last year".parse().unwrap()),
            tags: vec!["SPRING".to_owned(), "news".to_owned(), "old".to_owned()].try_into().unwrap(),
        };
        let none = LinkMetadata::default();

        assert_eq!(given.missing_in(&all), Vec::<&str>::new());
        assert_eq!(given.missing_in(&none), ["title", "tags"]);
        assert_eq!(all.missing_in(&given), ["description", "tags"]);
        assert_eq!(none.missing_in(&all), Vec::<&str>::new());
    }

    #[test]
    fn tags_are_trimmed_and_counted_once() {
        let tags = |given: &[&str]| Tags::try_from(given.iter().map(|&tag| tag.to_owned()).collect::<Vec<_>>());
        let many: Vec<String> = (0..21).map(|number| number.to_string()).collect();

        assert_eq!(tags(&[" news ", "news", "2026"]).unwrap().iter().collect::<Vec<_>>(), ["news", "2026"]);
        assert!(tags(&[" "]).is_err());
        assert!(tags(&[&"x".repeat(51)]).is_err());
        assert!(Tags::try_from(many).is_err());
    }

    #[test]
    fn a_patch_tells_what_is_taken_away_from_what_stays() {
        let patch: LinkPatch = serde_json::from_str(r#"{"title": null, "tags": ["a"], "is_active": null}"#).unwrap();

        assert_eq!((&patch.title, &patch.description, patch.is_active), (&Some(None), &None, None));
        assert_eq!(serde_json::to_string(&patch).unwrap(), r#"{"title":null,"tags":["a"]}"#);
    }
}
