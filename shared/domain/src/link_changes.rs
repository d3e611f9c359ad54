//! What a write has changed of a link.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    ClickLimit, Description, ExternalId, Link, LinkMetadata, Notes, Preview, RedirectOptions, Tags, TargetUrl,
    Timestamp, Title, UserId,
};

/// A member of a link before and after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transition<T> {
    /// What it was.
    pub from: T,
    /// What it is.
    pub to: T,
}

impl<T: Clone + PartialEq> Transition<T> {
    pub(crate) fn between(from: &T, to: &T) -> Option<Self> {
        (from != to).then(|| Self { from: from.clone(), to: to.clone() })
    }
}

/// The members that a write has changed, under the names that the API gives them. `is_active` is not among them: switching a link
/// on or off is an event of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkChanges {
    /// The display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Transition<Option<Title>>>,
    /// The note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Transition<Option<Description>>>,
    /// The tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Transition<Tags>>,
    /// What programs note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Transition<Option<Notes>>>,
    /// What the link is called elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<Transition<Option<ExternalId>>>,
    /// The expiry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Transition<Option<Timestamp>>>,
    /// From when on it redirects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Transition<Option<Timestamp>>>,
    /// Where it leads before and after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_url: Option<Transition<Option<TargetUrl>>>,
    /// How often it may be followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_clicks: Option<Transition<Option<ClickLimit>>>,
    /// Whether parameters go onto the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward_query: Option<Transition<bool>>,
    /// What is shown where it is posted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<Transition<Option<Preview>>>,
    /// The destination.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_url: Option<Transition<TargetUrl>>,
    /// Whether visitors have to know a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_protected: Option<Transition<bool>>,
    /// Whether the link watches where it leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch: Option<Transition<bool>>,
    /// Whether lists leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<Transition<bool>>,
    /// Whether its rules or variants are others, which may be many.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rules: bool,
    /// Whose link it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Transition<UserId>>,
}

impl LinkChanges {
    /// The names of what has changed, as the API calls them.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let members = serde_json::to_value(self).ok();
        members.iter().filter_map(Value::as_object).flat_map(|members| members.keys().cloned()).collect()
    }

    /// What has changed from one state of a link to another; `None` if none of the members has.
    #[must_use]
    pub fn between(before: &Link, after: &Link) -> Option<Self> {
        let new = &after.metadata;
        // Taken apart by name, so that the compiler asks for a new one.
        let LinkMetadata { title, description, tags, metadata, external_id } = &before.metadata;
        let RedirectOptions { fallback_url, max_clicks, forward_query, preview } = &before.options;
        let (was, is) = (&before.availability, &after.availability);
        let changes = Self {
            title: Transition::between(title, &new.title),
            description: Transition::between(description, &new.description),
            tags: Transition::between(tags, &new.tags),
            metadata: Transition::between(metadata, &new.metadata),
            external_id: Transition::between(external_id, &new.external_id),
            expires_at: Transition::between(&was.expires_at, &is.expires_at),
            valid_from: Transition::between(&was.valid_from, &is.valid_from),
            fallback_url: Transition::between(fallback_url, &after.options.fallback_url),
            max_clicks: Transition::between(max_clicks, &after.options.max_clicks),
            forward_query: Transition::between(forward_query, &after.options.forward_query),
            preview: Transition::between(preview, &after.options.preview),
            original_url: Transition::between(&before.target, &after.target),
            is_protected: Transition::between(&was.is_protected, &is.is_protected),
            watch: Transition::between(&before.watch, &after.watch),
            archived: Transition::between(&before.archived, &after.archived),
            rules: before.routing != after.routing,
            user_id: Transition::between(&before.identity.owner, &after.identity.owner),
        };
        (changes != Self::default()).then_some(changes)
    }
}
