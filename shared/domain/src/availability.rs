//! Whether a link leads to its target.

use serde::{Deserialize, Serialize};

use crate::{Invalid, Timestamp};

/// Whether a link leads to its target, and until when. All that reads a link has this: the link itself, what the redirect reads
/// of it, and what lists read of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Availability {
    /// Whether somebody has switched the link off, or deleted it.
    pub state: LinkState,
    /// When the link expires; `None` if never. It doesn't redirect from this moment on.
    pub expires_at: Option<Timestamp>,
}

/// The state of a link that people control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinkState {
    /// The link redirects until it expires.
    #[default]
    Active,
    /// The link is switched off and can be switched on again.
    Inactive,
    /// The link was deleted at this time and never redirects again.
    Deleted(Timestamp),
}

/// The status of a link at a given time. All but [`Self::Active`] answer a visitor with 410.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkStatus {
    /// The link redirects.
    Active,
    /// The link is switched off.
    Inactive,
    /// The link was deleted. Its statistics stay.
    Deleted,
    /// The link has expired.
    Expired,
    /// The link was deleted with its statistics.
    Purged,
}

/// Why a link has given way to its tombstone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RemovalReason {
    /// It was deleted, and then its expiry was over.
    Deleted,
    /// Its expiry was over.
    Expired,
    /// It was deleted with its statistics.
    Purged,
}

impl From<RemovalReason> for LinkStatus {
    fn from(reason: RemovalReason) -> Self {
        match reason {
            RemovalReason::Deleted => Self::Deleted,
            RemovalReason::Expired => Self::Expired,
            RemovalReason::Purged => Self::Purged,
        }
    }
}

impl Availability {
    /// The link's status at `now`.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> LinkStatus {
        match self.state {
            LinkState::Deleted(_) => LinkStatus::Deleted,
            _ if self.expires_at.is_some_and(|expiry| expiry <= now) => LinkStatus::Expired,
            LinkState::Inactive => LinkStatus::Inactive,
            LinkState::Active => LinkStatus::Active,
        }
    }

    /// Whether somebody has deleted the link.
    #[must_use]
    pub fn is_deleted(&self) -> bool {
        matches!(self.state, LinkState::Deleted(_))
    }

    /// Whether the link redirects at any time, as long as nobody changes it.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }
}

impl LinkStatus {
    /// The status's name in the API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Inactive => "inactive",
            Self::Deleted => "deleted",
            Self::Expired => "expired",
            Self::Purged => "purged",
        }
    }

    /// Parses a status that a stored link can have: any but `purged`, of which only a tombstone is left.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        [Self::Active, Self::Inactive, Self::Deleted, Self::Expired]
            .into_iter()
            .find(|status| status.as_str() == text)
            .ok_or_else(|| Invalid::new("status must be active, inactive, deleted or expired"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_link_expires_in_the_very_moment() {
        let expiry = Timestamp::parse("2026-03-02T12:00:00Z").unwrap();
        let expiring = Availability { expires_at: Some(expiry), ..Availability::default() };

        assert_eq!(expiring.status(expiry.minus(Duration::from_millis(1))), LinkStatus::Active);
        assert_eq!(expiring.status(expiry), LinkStatus::Expired);
    }

    #[test]
    fn a_link_that_is_deleted_or_switched_off_has_one_status_when_it_also_expires() {
        let now = Timestamp::now();
        let at_its_expiry = |state| Availability { state, expires_at: Some(now) }.status(now);

        assert_eq!(at_its_expiry(LinkState::Deleted(now)), LinkStatus::Deleted);
        assert_eq!(at_its_expiry(LinkState::Inactive), LinkStatus::Expired);
    }

    #[test]
    fn only_an_active_link_without_an_expiry_is_unlimited() {
        let now = Timestamp::now();

        assert!(Availability::default().is_unlimited());
        for limited in [
            Availability { expires_at: Some(now), ..Availability::default() },
            Availability { state: LinkState::Inactive, ..Availability::default() },
            Availability { state: LinkState::Deleted(now), ..Availability::default() },
        ] {
            assert!(!limited.is_unlimited(), "{limited:?}");
        }
    }
}
