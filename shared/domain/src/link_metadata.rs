//! The properties of a link that don't change where it leads, and the changes of a link.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use crate::folding::{folded, is_same};
use crate::validated::{
    Shape, bounded_text, disguises_a_line, null_as_default, optional, optional_text, patched, patched_text, readable,
};
use crate::{
    ClickLimit, Invalid, Preview, Routing, ShortCode, Tag, TargetUrl, Timestamp, Visibility, redirect_options,
};

/// The properties of a link that don't change where it leads. Request bodies, responses and items have these members under the same names,
/// so a new property belongs here and in [`LinkPatch`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LinkMetadata {
    /// The display name.
    #[serde(default, deserialize_with = "optional_text")]
    pub title: Option<Title>,
    /// A note.
    #[serde(default, deserialize_with = "optional_text")]
    pub description: Option<Description>,
    /// Tags to filter by.
    #[serde(default, deserialize_with = "null_as_default")]
    pub tags: Tags,
    /// What programs note of the link.
    #[serde(default, deserialize_with = "notes")]
    pub metadata: Option<Notes>,
    /// What the link is called elsewhere, which no other link of the workspace is.
    #[serde(default, deserialize_with = "optional_text")]
    pub external_id: Option<ExternalId>,
    /// Who may see its statistics; otherwise, its workspace says it.
    #[serde(default, deserialize_with = "optional")]
    pub statistics: Option<Visibility>,
}

impl LinkMetadata {
    /// The properties after a change.
    pub(crate) fn changed_by(&self, patch: &LinkPatch) -> Self {
        Self {
            title: member(patch.title.as_ref(), &self.title),
            description: member(patch.description.as_ref(), &self.description),
            tags: patch.tags.clone().map_or_else(|| self.tags.clone(), Option::unwrap_or_default),
            metadata: member(patch.metadata.as_ref(), &self.metadata),
            external_id: member(patch.external_id.as_ref(), &self.external_id),
            statistics: patch.statistics.unwrap_or(self.statistics),
        }
    }

    /// The tags, and the other properties that the link has, by their names.
    pub fn given(&self) -> Map<String, Value> {
        let Value::Object(mut given) = json!(self) else { return Map::new() };
        given.retain(|_, value| !value.is_null());
        given
    }

    /// The names of the properties that are given here and that another link doesn't have like this.
    pub fn missing_in(&self, other: &Self) -> Vec<String> {
        let others = other.given();
        let is_missing = |name: &str, value: &Value| match name {
            "tags" => self.tags.iter().any(|tag| !other.tags.contains(tag)),
            _ => others.get(name) != Some(value),
        };
        self.given().into_iter().filter(|(name, value)| is_missing(name, value)).map(|(name, _)| name).collect()
    }
}

/// How a path names a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkName {
    /// By its code.
    Code(ShortCode),
    /// By what it is called elsewhere, in the workspace of the caller.
    External(ExternalId),
}

impl LinkName {
    /// Reads a part of a path: a code, or `ext:` and an external id of unreserved characters (RFC 3986, 2.3). No code has a colon.
    ///
    /// # Errors
    /// When it is neither.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let Some(id) = text.strip_prefix("ext:") else { return ShortCode::parse(text).map(Self::Code) };
        let is_unreserved =
            !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._~-".contains(&byte));
        Invalid::unless(is_unreserved, "an external id in a path has 0-9, A-Z, a-z, ., _, ~ and - only")?;
        ExternalId::parse(id).map(Self::External)
    }
}

/// A member after a change, or as it was.
pub(crate) fn member<T: Clone>(changed: Option<&T>, before: &T) -> T {
    changed.unwrap_or(before).clone()
}

bounded_text! {
    /// The display name of a link: at most 500 characters.
    Title, "title", 500, Line
}

bounded_text! {
    /// The description of a link: at most 2,000 characters.
    Description, "description", 2000, Lines
}

bounded_text! {
    /// The id that a link has in another system: at most 255 characters.
    ExternalId, "external_id", 255, Line
}

/// What programs note of a link: at most 16 texts of 500 characters, each under a key of 1–40 characters, which have at most 2,048
/// bytes of UTF-8 together, keys and texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, String>")]
pub struct Notes(BTreeMap<String, String>);

impl Notes {
    /// How many texts a link has at most.
    pub const MOST: usize = 16;
    /// Maximum length of the keys and texts together, in bytes of UTF-8.
    pub const MOST_BYTES: usize = 2_048;
    const LONGEST_KEY: usize = 40;
    const LONGEST_TEXT: usize = 500;

    /// These notes; `None` if there are none.
    fn unless_empty(self) -> Option<Self> {
        (!self.0.is_empty()).then_some(self)
    }
}

impl TryFrom<BTreeMap<String, String>> for Notes {
    type Error = Invalid;

    fn try_from(notes: BTreeMap<String, String>) -> Result<Self, Invalid> {
        Invalid::when(notes.len() > Self::MOST, "metadata must have at most 16 members")?;
        let fits = |key: &String| (1..=Self::LONGEST_KEY).contains(&key.chars().count());
        Invalid::unless(notes.keys().all(fits), "each key of metadata must have 1–40 characters")?;
        let is_too_long = |text: &String| text.chars().count() > Self::LONGEST_TEXT;
        Invalid::when(notes.values().any(is_too_long), "each text of metadata must have at most 500 characters")?;
        let disguises = |own| disguises_a_line(own) && !matches!(own, '\n' | '\r' | '\t');
        let has_control = notes.keys().any(|key| key.contains(disguises_a_line))
            || notes.values().any(|text| text.contains(disguises));
        Invalid::when(has_control, "metadata must not contain control characters")?;
        let bytes: usize = notes.iter().map(|(key, text)| key.len() + text.len()).sum();
        Invalid::when(bytes > Self::MOST_BYTES, "metadata must have at most 2048 bytes, its keys and texts together")?;
        Ok(Self(notes))
    }
}

/// Reads notes, of which none are the same as their absence.
fn notes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Notes>, D::Error> {
    optional::<Notes, D>(deserializer).map(|given| given.and_then(Notes::unless_empty))
}

fn patched_notes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<Notes>>, D::Error> {
    notes(deserializer).map(Some)
}

/// The labels of a link: at most 20, each once, of 1–50 characters without spaces around.
///
/// They are kept as they were given, in Unicode's normal form C. Two that differ only in upper and lower case are the same, and so are
/// `Straße` and `STRASSE`.
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
        self.iter().map(|label| (folded(label), label))
    }

    /// Whether one of the labels is this one.
    pub fn contains(&self, label: &str) -> bool {
        self.spelling(label).is_some()
    }

    /// A label as it is spelled here, if it is there.
    pub(crate) fn spelling(&self, label: &str) -> Option<&str> {
        self.iter().find(|known| is_same(known, label))
    }

    /// These labels with another one in place of one that is among them. If the other one is there, too, it is there once.
    pub fn renamed(&self, from: &Tag, to: &Tag) -> Self {
        if !self.contains(from.as_str()) {
            return self.clone();
        }
        let same = [from, to].map(|tag| folded(tag.as_str()));
        let mut labels = Vec::with_capacity(self.0.len());
        for (label, spelling) in self.compared() {
            if !same.contains(&label) {
                labels.push(spelling.to_owned());
            } else if !labels.iter().any(|known| known == to.as_str()) {
                labels.push(to.as_str().to_owned());
            }
        }
        Self(labels)
    }
}

impl TryFrom<Vec<String>> for Tags {
    type Error = Invalid;

    /// Trims tags and drops repetitions.
    fn try_from(given: Vec<String>) -> Result<Self, Invalid> {
        let mut tags = Self(Vec::with_capacity(given.len()));
        for tag in &given {
            let tag = readable(tag, Shape::Line).map_err(|rule| Invalid::new(format!("tags {rule}")))?;
            let fits = (1..=Self::MAX_LENGTH).contains(&tag.chars().count());
            Invalid::unless(fits, "each of the tags must have 1–50 characters")?;
            if !tags.contains(&tag) {
                tags.0.push(tag);
            }
        }
        Invalid::when(tags.0.len() > Self::MOST, "tags must be at most 20")?;
        Ok(tags)
    }
}

/// Labels that links get and lose, whatever others they have.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct TagChange {
    /// The labels that a link has afterwards.
    #[serde(default, rename = "add_tags", deserialize_with = "null_as_default")]
    pub add: Tags,
    /// The labels that it hasn't, unless it gets them.
    #[serde(default, rename = "remove_tags", deserialize_with = "null_as_default")]
    pub remove: Tags,
}

impl TagChange {
    /// That links get a label.
    pub fn adding(tag: &Tag) -> Self {
        Self { add: Tags(vec![tag.as_str().to_owned()]), ..Self::default() }
    }

    /// That links lose a label.
    pub fn removing(tag: &Tag) -> Self {
        Self { remove: Tags(vec![tag.as_str().to_owned()]), ..Self::default() }
    }

    /// Whether no link is changed by it.
    pub fn is_none(&self) -> bool {
        self.add.0.is_empty() && self.remove.0.is_empty()
    }

    /// The labels of a link after the change. A label that it has already keeps its spelling and its place.
    ///
    /// # Errors
    /// When there would be too many.
    pub fn made_to(&self, tags: &Tags) -> Result<Tags, Invalid> {
        let is_kept = |label: &&str| self.add.contains(label) || !self.remove.contains(label);
        let changed: Vec<_> = tags.iter().filter(is_kept).chain(self.add.iter()).map(str::to_owned).collect();
        Tags::try_from(changed).map_err(|refused| refused.in_field("tags"))
    }
}

/// Changes to a link. `None` leaves a property unchanged, `Some(None)` removes it.
///
/// Request bodies have these members under the same names, with `null` for a removed property, but for rules, variants and
/// `is_protected`, which handlers add.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct LinkPatch {
    /// The new title.
    #[serde(deserialize_with = "patched_text")]
    pub title: Option<Option<Title>>,
    /// The new description.
    #[serde(deserialize_with = "patched_text")]
    pub description: Option<Option<Description>>,
    /// The new tags, which replace all old ones.
    #[serde(deserialize_with = "patched")]
    pub tags: Option<Option<Tags>>,
    /// The new notes, which replace all old ones.
    #[serde(deserialize_with = "patched_notes")]
    pub metadata: Option<Option<Notes>>,
    /// What the link is called elsewhere from now on.
    #[serde(deserialize_with = "patched_text")]
    pub external_id: Option<Option<ExternalId>>,
    /// Who may see its statistics from now on.
    #[serde(deserialize_with = "patched")]
    pub statistics: Option<Option<Visibility>>,
    /// The new expiry.
    #[serde(deserialize_with = "patched")]
    pub expires_at: Option<Option<Timestamp>>,
    /// From when on it redirects.
    #[serde(deserialize_with = "patched")]
    pub valid_from: Option<Option<Timestamp>>,
    /// Where visitors are led before and after.
    #[serde(deserialize_with = "patched_fallback")]
    pub fallback_url: Option<Option<TargetUrl>>,
    /// How often the link may be followed.
    #[serde(deserialize_with = "patched")]
    pub max_clicks: Option<Option<ClickLimit>>,
    /// Whether the parameters of a visitor's address go onto the target.
    #[serde(deserialize_with = "patched_flag")]
    pub forward_query: Option<bool>,
    /// What is shown where the link is posted.
    #[serde(deserialize_with = "patched_preview")]
    pub preview: Option<Option<Preview>>,
    /// The new destination.
    #[serde(alias = "original_url", deserialize_with = "optional")]
    pub url: Option<TargetUrl>,
    /// The new rules and variants, which replace all old ones.
    #[serde(skip)]
    pub routing: Option<Option<Routing>>,
    /// Whether visitors have to know a password, of which the hash is kept apart from the link.
    #[serde(skip)]
    pub is_protected: Option<bool>,
    /// Whether the link is switched on.
    #[serde(deserialize_with = "optional")]
    pub is_active: Option<bool>,
    /// Whether the link is put away.
    #[serde(deserialize_with = "optional")]
    pub archived: Option<bool>,
    /// Whether the link watches where it leads.
    #[serde(deserialize_with = "optional")]
    pub watch: Option<bool>,
}

fn patched_flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    Ok(Some(optional(deserializer)?.unwrap_or_default()))
}

fn patched_fallback<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<TargetUrl>>, D::Error> {
    redirect_options::fallback_url(deserializer).map(Some)
}

fn patched_preview<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<Preview>>, D::Error> {
    redirect_options::preview(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_a_link_by_its_code_or_by_an_external_id() {
        let id = |text: &str| ExternalId::parse(text).unwrap();
        assert_eq!(LinkName::parse("launch"), Ok(LinkName::Code(ShortCode::parse("launch").unwrap())));
        assert_eq!(LinkName::parse("ext:crm-47.1_1~"), Ok(LinkName::External(id("crm-47.1_1~"))));
        for refused in ["ext:", "ext:a/b", "ext:a b", "ext:ä", "EXT:a", "a:b", ""] {
            assert!(LinkName::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn tags_are_equal_in_any_case_and_spelling_of_accents() {
        let tags =
            |given: &[&str]| Tags::try_from(given.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>()).unwrap();

        let kept = tags(&["Caf\u{e9}", "cafe\u{301}", "CAF\u{c9}", "sale", " Sale ", "Stra\u{df}e", "STRASSE"]);

        assert_eq!(kept.iter().collect::<Vec<_>>(), ["Caf\u{e9}", "sale", "Stra\u{df}e"]);
        assert_eq!(tags(&["cafe\u{301}"]), tags(&["caf\u{e9}"]));
        assert!(kept.contains("CAFE\u{301}") && kept.contains("SALE") && !kept.contains("sal"));
    }

    #[test]
    fn a_label_is_renamed_in_whatever_spelling() {
        let tags =
            |given: &[&str]| Tags::try_from(given.iter().map(|&tag| tag.to_owned()).collect::<Vec<_>>()).unwrap();
        let tag = |text: &str| Tag::parse(text).unwrap();
        let kept = tags(&["Caf\u{e9}", "sale", "new"]);
        assert_eq!(kept.renamed(&tag("SALE"), &tag("Summer")), tags(&["Caf\u{e9}", "Summer", "new"]));
        assert_eq!(kept.renamed(&tag("none"), &tag("sale")), kept);
        assert_eq!(kept.renamed(&tag("new"), &tag("SALE")), tags(&["Caf\u{e9}", "SALE"]), "one of both is left");
        assert_eq!(kept.renamed(&tag("sale"), &tag("Sale")), tags(&["Caf\u{e9}", "Sale", "new"]), "another spelling");
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
    fn each_property_can_be_changed() {
        let properties = serde_json::to_value(LinkMetadata::default()).unwrap();
        for property in properties.as_object().unwrap().keys() {
            let patch: LinkPatch = serde_json::from_value(serde_json::json!({ property: null })).unwrap();
            assert_ne!(patch, LinkPatch::default(), "{property}");
        }
    }

    #[test]
    fn what_another_link_lacks_is_named() {
        let given = LinkMetadata {
            title: Some("Spring".parse().unwrap()),
            description: None,
            tags: vec!["News".to_owned(), "spring".to_owned()].try_into().unwrap(),
            ..LinkMetadata::default()
        };
        let all = LinkMetadata {
            title: given.title.clone(),
            description: Some("of last year".parse().unwrap()),
            tags: vec!["SPRING".to_owned(), "news".to_owned(), "old".to_owned()].try_into().unwrap(),
            ..LinkMetadata::default()
        };
        let none = LinkMetadata::default();

        assert_eq!(given.missing_in(&all), Vec::<String>::new());
        assert_eq!(given.missing_in(&none), ["tags", "title"]);
        assert_eq!(all.missing_in(&given), ["description", "tags"]);
        assert_eq!(none.missing_in(&all), Vec::<String>::new());
    }

    #[test]
    fn notes_have_limits_by_themselves_and_together() {
        let notes = |given: Vec<(String, String)>| Notes::try_from(BTreeMap::from_iter(given));
        let many = |count: usize, text: &str| (0..count).map(|key| (key.to_string(), text.to_owned())).collect();
        let one = |key: &str, text: &str| vec![(key.to_owned(), text.to_owned())];

        assert!(notes(many(16, "x")).is_ok() && notes(one(&"ä".repeat(40), &"ö".repeat(500))).is_ok());
        assert!(notes(one("note", "two\nlines")).is_ok() && notes(one("note", "")).is_ok());
        for refused in [
            many(17, "x"),
            one("", "x"),
            one(&"x".repeat(41), "x"),
            one("x", &"x".repeat(501)),
            one("a\nb", "x"),
            one("x", "a\u{202E}b"),
        ] {
            assert!(notes(refused.clone()).is_err(), "{refused:?}");
        }
        // Four keys of one byte, and 4 × 511 bytes of text.
        let texts =
            |last: usize| (0..4).map(|key| (key.to_string(), "ö".repeat(if key == 3 { last } else { 255 }))).collect();
        assert!(notes(texts(255)).is_ok() && notes(texts(257)).is_ok() && notes(texts(258)).is_err());
    }

    #[test]
    fn no_notes_are_the_same_as_an_absent_member() {
        for absent in ["null", "{}", r#""""#] {
            let given: LinkMetadata = serde_json::from_str(&format!(r#"{{"metadata": {absent}}}"#)).unwrap();
            let patch: LinkPatch = serde_json::from_str(&format!(r#"{{"metadata": {absent}}}"#)).unwrap();
            assert_eq!((given.metadata, patch.metadata), (None, Some(None)), "{absent}");
        }
    }

    #[test]
    fn a_text_of_white_space_is_the_same_as_an_absent_one() {
        for absent in ["", " ", " \u{a0}\u{3000}"] {
            for member in ["title", "description", "external_id"] {
                let body = serde_json::json!({ member: absent });
                let given: LinkMetadata = serde_json::from_value(body.clone()).unwrap();
                let patch: LinkPatch = serde_json::from_value(body).unwrap();

                assert_eq!(given, LinkMetadata::default(), "{member} {absent:?}");
                let null = serde_json::from_value(serde_json::json!({ member: null })).unwrap();
                assert!(patch == null && patch != LinkPatch::default(), "{absent:?}");
            }
        }
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
    fn a_change_of_tags_leaves_the_others_and_their_spelling() {
        let tags =
            |given: &[&str]| Tags::try_from(given.iter().map(|&tag| tag.to_owned()).collect::<Vec<_>>()).unwrap();
        let change = TagChange { add: tags(&["NEWS", "sale", "Cafe\u{301}"]), remove: tags(&["old", "CAF\u{c9}"]) };

        let changed = change.made_to(&tags(&["News", "Old", "caf\u{e9}", "2026"])).unwrap();

        assert_eq!(changed.iter().collect::<Vec<_>>(), ["News", "caf\u{e9}", "2026", "sale"]);
        assert!(TagChange::default().is_none() && !change.is_none());
        let full: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        let refused = TagChange { add: tags(&["x"]), remove: Tags::default() }.made_to(&full.try_into().unwrap());
        assert_eq!(refused, Err(Invalid::new("tags must be at most 20").in_field("tags")));
    }

    #[test]
    fn a_patch_tells_what_is_taken_away_from_what_stays() {
        let patch: LinkPatch = serde_json::from_str(r#"{"title": null, "tags": ["a"], "is_active": null}"#).unwrap();

        assert_eq!((&patch.title, &patch.description, patch.is_active), (&Some(None), &None, None));
        assert!(matches!(&patch.tags, Some(Some(tags)) if tags.contains("a")), "{patch:?}");
    }
}
