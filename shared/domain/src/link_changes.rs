//! What a write has changed of a link.

use serde::{Deserialize, Serialize};

use crate::{Description, ExternalId, Link, LinkMetadata, Notes, Tags, Timestamp, Title, UserId};

/// A member of a link before and after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transition<T> {
    /// What it was.
    pub from: T,
    /// What it is.
    pub to: T,
}

impl<T: Clone + PartialEq> Transition<T> {
    fn between(from: &T, to: &T) -> Option<Self> {
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
    /// Whether the link watches where it leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch: Option<Transition<bool>>,
    /// Whether lists leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<Transition<bool>>,
    /// Whose link it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Transition<UserId>>,
}

impl LinkChanges {
    /// What has changed from one state of a link to another; `None` if none of the members has.
    #[must_use]
    pub fn between(before: &Link, after: &Link) -> Option<Self> {
        let new = &after.metadata;
        // Taken apart by name, so that the compiler asks for a new one.
        let LinkMetadata { title, description, tags, metadata, external_id } = &before.metadata;
        let changes = Self {
            title: Transition::between(title, &new.title),
            description: Transition::between(description, &new.description),
            tags: Transition::between(tags, &new.tags),
            metadata: Transition::between(metadata, &new.metadata),
            external_id: Transition::between(external_id, &new.external_id),
            expires_at: Transition::between(&before.availability.expires_at, &after.availability.expires_at),
            watch: Transition::between(&before.watch, &after.watch),
            archived: Transition::between(&before.archived, &after.archived),
            user_id: Transition::between(&before.identity.owner, &after.identity.owner),
        };
        (changes != Self::default()).then_some(changes)
    }
}
