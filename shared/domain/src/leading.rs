//! The history of a link: every change of where or whether it leads.

use serde::{Deserialize, Serialize};

use crate::{ClickLimit, Link, LinkState, Routing, TargetUrl, Timestamp, Transition, UserId};

/// A change that somebody has made to where or whether a link leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEntry {
    /// When; later than the change before.
    pub at: Timestamp,
    /// Who.
    pub by: UserId,
    /// What.
    pub changes: LeadingChanges,
}

/// The members of a link that a change has touched and that decide where or whether it leads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LeadingChanges {
    /// The destination.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_url: Option<Transition<TargetUrl>>,
    /// Rules and variants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<Transition<Option<Routing>>>,
    /// Where it leads before and after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_url: Option<Transition<Option<TargetUrl>>>,
    /// From when on it redirects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Transition<Option<Timestamp>>>,
    /// The expiry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Transition<Option<Timestamp>>>,
    /// How often it may be followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_clicks: Option<Transition<Option<ClickLimit>>>,
    /// Whether it is switched on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_active: Option<Transition<bool>>,
    /// Whether visitors have to know a password. Another password is a change from `true` to `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_protected: Option<Transition<bool>>,
    /// Whether the link was deleted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

impl LeadingChanges {
    /// What has changed from one state of a link to another; `None` if it leads as before.
    #[must_use]
    pub fn between(before: &Link, after: &Link, has_new_password: bool) -> Option<Self> {
        let (was, is) = (&before.availability, &after.availability);
        if is.is_deleted() {
            return (!was.is_deleted()).then(|| Self { deleted: true, ..Self::default() });
        }
        let is_on = |state: LinkState| state == LinkState::Active;
        let another_password = has_new_password.then_some(Transition { from: was.is_protected, to: is.is_protected });
        let changes = Self {
            original_url: Transition::between(&before.target, &after.target),
            routing: Transition::between(&before.routing, &after.routing),
            fallback_url: Transition::between(&before.options.fallback_url, &after.options.fallback_url),
            valid_from: Transition::between(&was.valid_from, &is.valid_from),
            expires_at: Transition::between(&was.expires_at, &is.expires_at),
            max_clicks: Transition::between(&before.options.max_clicks, &after.options.max_clicks),
            is_active: Transition::between(&is_on(was.state), &is_on(is.state)),
            is_protected: Transition::between(&was.is_protected, &is.is_protected).or(another_password),
            deleted: false,
        };
        (changes != Self::default()).then_some(changes)
    }
}
