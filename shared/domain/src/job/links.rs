//! What a job does to links, and to which.

use serde::{Deserialize, Serialize};

use crate::{
    Invalid, Link, LinkEdit, LinkPatch, LinkState, Record, ShortCode, Tag, TagChange, Tags, Timestamp, optional,
    target_url::pasted, validated::null_as_default,
};

/// Doing the same to all links that a filter finds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkJob {
    /// What is done to each link.
    #[serde(flatten)]
    pub task: LinkTask,
    /// Which links are meant.
    pub filter: GivenFilter,
    /// The code of the link whose short URL the filter's search is. Only a request knows what short URLs look like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short_code: Option<ShortCode>,
}

/// What is done to each link of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LinkTask {
    /// It gets a tag.
    Tag {
        /// The tag.
        tag: Tag,
    },
    /// It loses a tag.
    Untag {
        /// The tag.
        tag: Tag,
    },
    /// If it has a tag, that is called otherwise from now on.
    RenameTag {
        /// The tag.
        from: Tag,
        /// What it is called then.
        to: Tag,
    },
    /// It is switched off.
    SwitchOff,
    /// It is switched on.
    SwitchOn,
    /// It is put away.
    Archive,
    /// It is no longer put away.
    Unarchive,
    /// It is deleted.
    Delete,
    /// It is deleted with its statistics.
    Purge,
    /// It gets another expiry.
    SetExpiry {
        /// When it expires; `None` if never.
        expires_at: Option<Timestamp>,
    },
}

impl LinkTask {
    /// What is left to do to a link at this time.
    ///
    /// # Errors
    /// When the link can't be so.
    pub fn edit(&self, link: &Link, now: Timestamp) -> Result<LinkEdit, Invalid> {
        let (tags, availability) = (&link.metadata.tags, link.availability);
        let patch = match self {
            Self::Purge => return Ok(LinkEdit::purge(&Record::Link(link.clone()), now)),
            Self::Delete => return Ok(LinkEdit::delete(link, now)),
            Self::Tag { tag } => retagged(tags, TagChange::adding(tag).made_to(tags)?),
            Self::Untag { tag } => retagged(tags, TagChange::removing(tag).made_to(tags)?),
            Self::RenameTag { from, to } => retagged(tags, tags.renamed(from, to)),
            Self::SwitchOff | Self::SwitchOn => {
                let is_active = matches!(self, Self::SwitchOn);
                let is_wanted = if is_active { LinkState::Active } else { LinkState::Inactive };
                (availability.state != is_wanted)
                    .then(|| LinkPatch { is_active: Some(is_active), ..LinkPatch::default() })
            }
            Self::Archive | Self::Unarchive => {
                let archived = matches!(self, Self::Archive);
                (link.archived != archived).then(|| LinkPatch { archived: Some(archived), ..LinkPatch::default() })
            }
            Self::SetExpiry { expires_at } if availability.expires_at != *expires_at => {
                let is_past = expires_at.is_some_and(|expiry| expiry <= now);
                Invalid::field_when("expires_at", is_past, "expires_at must be in the future")?;
                Some(LinkPatch { expires_at: Some(*expires_at), ..LinkPatch::default() })
            }
            Self::SetExpiry { .. } => None,
        };
        let Some(patch) = patch else { return Ok(LinkEdit::Keep) };
        let after = link.changed_by(&patch, now);
        after.availability.check_window()?;
        Ok(LinkEdit::Change(Box::new(after)))
    }

    /// Whether a deleted link can be so, too.
    pub fn concerns_deleted(&self) -> bool {
        matches!(self, Self::Delete | Self::Purge)
    }

    /// What is to be done, in words that come after `to`.
    pub(super) fn in_words(&self) -> String {
        match self {
            Self::Tag { tag } => format!("add the tag {}", tag.as_str()),
            Self::Untag { tag } => format!("remove the tag {}", tag.as_str()),
            Self::RenameTag { from, to } => format!("rename the tag {} to {}", from.as_str(), to.as_str()),
            Self::SwitchOff => "disable links".to_owned(),
            Self::SwitchOn => "enable links".to_owned(),
            Self::Archive => "archive links".to_owned(),
            Self::Unarchive => "unarchive links".to_owned(),
            Self::Delete => "delete links".to_owned(),
            Self::Purge => "purge links with their statistics".to_owned(),
            Self::SetExpiry { expires_at: Some(expiry) } => format!("set links to expire at {expiry}"),
            Self::SetExpiry { expires_at: None } => "set links to never expire".to_owned(),
        }
    }
}

fn retagged(before: &Tags, after: Tags) -> Option<LinkPatch> {
    let tags = Some(after).filter(|after| *after != Tags::default());
    (tags.as_ref().unwrap_or(&Tags::default()) != before)
        .then(|| LinkPatch { tags: Some(tags), ..LinkPatch::default() })
}

/// Which links are meant, as it was given: by the parameters of a list, or by the filter of a job. What the texts mean is read where
/// they are used, so a job shows its filter as it was given, and finds what the same list shows.
#[serde_with::apply(Option => #[serde(deserialize_with = "optional", skip_serializing_if = "Option::is_none")])]
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GivenFilter {
    /// That all are meant that a list without parameters shows.
    pub all: Option<bool>,
    /// A text to find.
    pub search: Option<String>,
    /// Conditions on the tags, of which a link has to meet each.
    #[serde(deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub tag: Vec<String>,
    /// Who has created the link.
    pub created_by: Option<String>,
    /// A status, or `all`.
    pub status: Option<String>,
    /// `false`, `true` or `all`.
    pub archived: Option<String>,
    /// The first time of creation.
    pub created_after: Option<String>,
    /// The last time of creation.
    pub created_before: Option<String>,
    /// The time zone of dates.
    pub tz: Option<String>,
    /// What the link is called elsewhere.
    pub external_id: Option<String>,
}

impl GivenFilter {
    /// The links that have a tag, also archived ones.
    pub fn of_tag(tag: &Tag) -> Self {
        let escaped = tag.as_str().replace('\\', r"\\").replace(',', r"\,");
        let text = if escaped.starts_with('-') { format!(r"\{escaped}") } else { escaped };
        Self { tag: vec![text], archived: Some("all".to_owned()), ..Self::default() }
    }

    /// Whether it says which links are meant. Nobody is to change all of them by forgetting to say so.
    pub fn says_which(&self) -> bool {
        let Self { all, search, tag, created_by, status, archived, created_after, created_before, tz: _, external_id } =
            self;
        *all == Some(true)
            || tag.iter().any(|text| !text.is_empty())
            || search.as_deref().is_some_and(|search| !pasted(search).is_empty())
            || [created_by, status, archived, created_after, created_before, external_id]
                .iter()
                .any(|member| member.is_some())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;
    use crate::{TagTerm, link::tests::some_link};

    fn tag(text: &str) -> Tag {
        Tag::parse(text).unwrap()
    }

    #[test]
    fn the_filter_of_a_tag_finds_it_whatever_is_in_it() {
        for text in ["a", "a,b", "-a", r"\", r"-\,", "a-b", "50 %"] {
            let filter = GivenFilter::of_tag(&tag(text));
            let terms: Vec<_> = filter.tag.iter().map(|text| TagTerm::parse(text)).collect();
            assert_eq!(terms, [Ok(TagTerm::AnyOf(vec![text.to_owned()]))], "{text}");
        }
    }

    #[test]
    fn a_filter_has_to_say_which_links_are_meant() {
        let says = |filter: Value| serde_json::from_value::<GivenFilter>(filter).unwrap().says_which();

        for empty in
            [json!({}), json!({"all": false}), json!({"tz": "UTC"}), json!({"search": " "}), json!({"tag": [""]})]
        {
            assert!(!says(empty.clone()), "{empty}");
        }
        for full in
            [json!({"all": true}), json!({"search": "x"}), json!({"archived": "all"}), json!({"tag": ["", "a"]})]
        {
            assert!(says(full.clone()), "{full}");
        }
    }

    #[test]
    fn nothing_is_done_to_a_link_that_is_as_it_is_wanted() {
        let now = Timestamp::now();
        let mut link = some_link();
        link.metadata.tags = vec!["Sale".to_owned()].try_into().unwrap();
        let edit = |task: LinkTask| task.edit(&link, now).unwrap();
        let changed = |task| match edit(task) {
            LinkEdit::Change(after) => *after,
            other => panic!("{other:?}"),
        };

        for done in [
            LinkTask::Tag { tag: tag("sale") },
            LinkTask::Untag { tag: tag("new") },
            LinkTask::RenameTag { from: tag("new"), to: tag("old") },
            LinkTask::RenameTag { from: tag("sale"), to: tag("Sale") },
            LinkTask::SwitchOn,
            LinkTask::Unarchive,
            LinkTask::SetExpiry { expires_at: None },
        ] {
            assert_eq!(edit(done.clone()), LinkEdit::Keep, "{done:?}");
        }
        let by = |patch: Value| link.changed_by(&serde_json::from_value(patch).unwrap(), now);
        assert_eq!(changed(LinkTask::Untag { tag: tag("SALE") }), by(json!({"tags": null})));
        let renamed = changed(LinkTask::RenameTag { from: tag("sale"), to: tag("SALE") });
        assert_eq!(renamed, by(json!({"tags": ["SALE"]})));
        assert_eq!(renamed.metadata.tags.iter().collect::<Vec<_>>(), ["SALE"], "in the new spelling");
        assert_eq!(changed(LinkTask::SwitchOff), by(json!({"is_active": false})));
        assert!(changed(LinkTask::Delete).availability.is_deleted());
        assert!(matches!(edit(LinkTask::Purge), LinkEdit::Replace(_)));
    }

    #[test]
    fn an_expiry_has_to_come_after_now_and_after_the_links_beginning() {
        let now = Timestamp::now();
        let mut link = some_link();
        link.availability.valid_from = Some(now.plus(Duration::from_secs(60)));
        let refused = |seconds| {
            let expires_at = Some(now.plus(Duration::from_secs(seconds)));
            LinkTask::SetExpiry { expires_at }.edit(&link, now).err().map(|error| error.to_string())
        };

        assert_eq!(refused(0).as_deref(), Some("expires_at must be in the future"));
        assert_eq!(refused(60).as_deref(), Some("valid_from must be before expires_at"));
        assert_eq!(refused(61), None);
    }
}
