//! Whether a link leads to its target.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_with::{DeserializeFromStr, SerializeDisplay};
use strum::VariantArray as _;

use crate::{Invalid, Timestamp};

/// Whether a link leads to its target, and until when. All that reads a link has this: the link itself, what the redirect reads
/// of it, and what lists read of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Availability {
    /// Whether somebody has switched the link off, or deleted it.
    pub state: LinkState,
    /// When the link begins to redirect; `None` if at once.
    pub valid_from: Option<Timestamp>,
    /// When the link expires; `None` if never. It doesn't redirect from this moment on.
    pub expires_at: Option<Timestamp>,
    /// When the last of as many uses as the link may have was seen to be taken.
    pub exhausted_at: Option<Timestamp>,
    /// Whether visitors have to know a password.
    pub is_protected: bool,
    /// Why the link leads nowhere, whatever its people do.
    pub suspensions: Suspensions,
}

/// What suspends a link: nothing, or some of these reasons. In JSON it is a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Vec<SuspensionReason>", into = "Vec<SuspensionReason>")]
pub struct Suspensions(u8);

/// Why a link is suspended. As text it is its name in the API and in the table.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    SerializeDisplay,
    DeserializeFromStr,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "lowercase", parse_err_ty = Invalid, parse_err_fn = no_reason)]
pub enum SuspensionReason {
    /// Its workspace is closed.
    Closed,
    /// An operator has suspended it, since the law asks for that.
    Legal,
    /// An operator has suspended it, since it does harm.
    Abuse,
    /// An operator has suspended it for another reason.
    Other,
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

/// The status of a link at a given time. All but [`Self::Active`] answer a visitor with 410,
/// or lead to the link's fallback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum LinkStatus {
    /// The link redirects.
    Active,
    /// The link is switched off.
    Inactive,
    /// The link doesn't redirect yet.
    Scheduled,
    /// The link was used as often as it may be.
    Exhausted,
    /// The link was deleted. Its statistics stay.
    Deleted,
    /// The link leads nowhere until what suspends it is over.
    Suspended,
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
    pub fn status(&self, now: Timestamp) -> LinkStatus {
        match self.state {
            LinkState::Deleted(_) => LinkStatus::Deleted,
            _ if !self.suspensions.is_empty() => LinkStatus::Suspended,
            _ if self.expires_at.is_some_and(|expiry| expiry <= now) => LinkStatus::Expired,
            _ if self.exhausted_at.is_some() => LinkStatus::Exhausted,
            LinkState::Inactive => LinkStatus::Inactive,
            LinkState::Active if self.valid_from.is_some_and(|from| now < from) => LinkStatus::Scheduled,
            LinkState::Active => LinkStatus::Active,
        }
    }

    /// Checks that the link begins to redirect before it expires.
    ///
    /// # Errors
    /// When it would never redirect.
    pub fn check_window(&self) -> Result<(), Invalid> {
        match (self.valid_from, self.expires_at) {
            (Some(from), Some(until)) if until <= from => {
                Err(Invalid::new("valid_from must be before expires_at").in_field("valid_from"))
            }
            _ => Ok(()),
        }
    }

    /// Whether somebody has deleted the link.
    pub fn is_deleted(&self) -> bool {
        matches!(self.state, LinkState::Deleted(_))
    }

    /// Whether the link redirects everybody at any time, as long as nobody changes it.
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }
}

impl Suspensions {
    /// Nothing but this reason.
    pub fn of(reason: SuspensionReason) -> Self {
        Self::default().with(reason)
    }

    /// These, and this reason.
    #[must_use]
    pub fn with(self, reason: SuspensionReason) -> Self {
        Self(self.0 | Self::bit(reason))
    }

    /// These without the others.
    #[must_use]
    pub fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// Those that only an operator lifts.
    #[must_use]
    pub fn by_operators(self) -> Self {
        self.without(Self::of(SuspensionReason::Closed))
    }

    /// Whether nothing suspends the link.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether this is one of the reasons.
    pub fn contains(self, reason: SuspensionReason) -> bool {
        self.0 & Self::bit(reason) != 0
    }

    /// The reasons, in the order of their declaration.
    pub fn iter(self) -> impl Iterator<Item = SuspensionReason> {
        SuspensionReason::VARIANTS.iter().copied().filter(move |reason| self.contains(*reason))
    }

    fn bit(reason: SuspensionReason) -> u8 {
        1 << reason as u8
    }
}

impl SuspensionReason {
    /// The reason as a part of a sentence.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Closed => "its workspace is closed",
            Self::Legal => "there is a legal reason",
            Self::Abuse => "it was reported or found as abuse",
            Self::Other => "an operator has switched it off",
        }
    }
}

impl From<Vec<SuspensionReason>> for Suspensions {
    fn from(reasons: Vec<SuspensionReason>) -> Self {
        reasons.into_iter().collect()
    }
}

impl From<Suspensions> for Vec<SuspensionReason> {
    fn from(suspensions: Suspensions) -> Self {
        suspensions.iter().collect()
    }
}

impl fmt::Display for Suspensions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.iter().map(<&str>::from).collect::<Vec<_>>().join(", "))
    }
}

impl FromIterator<SuspensionReason> for Suspensions {
    fn from_iter<I: IntoIterator<Item = SuspensionReason>>(reasons: I) -> Self {
        reasons.into_iter().fold(Self::default(), Self::with)
    }
}

fn no_reason(_: &str) -> Invalid {
    Invalid::new("reason must be abuse, legal or other")
}

impl LinkStatus {
    /// Parses a status that a stored link can have: any but `purged`, of which only a tombstone is left.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let status = text.parse().ok().filter(|status| *status != Self::Purged);
        status.ok_or_else(|| {
            Invalid::new("status must be active, inactive, scheduled, exhausted, expired, suspended or deleted")
        })
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
    fn a_status_prefers_deleted_to_expired_and_expired_to_inactive() {
        let now = Timestamp::now();
        let at_its_expiry =
            |state| Availability { state, expires_at: Some(now), ..Availability::default() }.status(now);

        assert_eq!(at_its_expiry(LinkState::Deleted(now)), LinkStatus::Deleted);
        assert_eq!(at_its_expiry(LinkState::Inactive), LinkStatus::Expired);
    }

    #[test]
    fn a_link_is_scheduled_until_the_moment_from_which_it_is_valid() {
        let from = Timestamp::parse("2026-03-02T12:00:00Z").unwrap();
        let beginning = |state| Availability { state, valid_from: Some(from), ..Availability::default() };
        let before = from.minus(Duration::from_millis(1));

        assert_eq!(beginning(LinkState::Active).status(before), LinkStatus::Scheduled);
        assert_eq!(beginning(LinkState::Active).status(from), LinkStatus::Active);
        assert_eq!(beginning(LinkState::Inactive).status(before), LinkStatus::Inactive);
    }

    #[test]
    fn a_used_up_link_is_exhausted_unless_it_expired_or_is_deleted() {
        let now = Timestamp::now();
        let used_up = Availability { exhausted_at: Some(now), ..Availability::default() };

        assert_eq!(used_up.status(now), LinkStatus::Exhausted);
        assert_eq!(Availability { state: LinkState::Inactive, ..used_up }.status(now), LinkStatus::Exhausted);
        assert_eq!(Availability { expires_at: Some(now), ..used_up }.status(now), LinkStatus::Expired);
        assert_eq!(Availability { state: LinkState::Deleted(now), ..used_up }.status(now), LinkStatus::Deleted);
    }

    #[test]
    fn a_suspended_links_status_is_suspended_unless_it_is_deleted() {
        let now = Timestamp::now();
        let suspended =
            Availability { suspensions: Suspensions::of(SuspensionReason::Closed), ..Availability::default() };

        for availability in [
            suspended,
            Availability { state: LinkState::Inactive, ..suspended },
            Availability { expires_at: Some(now), ..suspended },
            Availability { exhausted_at: Some(now), ..suspended },
            Availability { valid_from: Some(now.plus(Duration::from_secs(1))), ..suspended },
        ] {
            assert_eq!(availability.status(now), LinkStatus::Suspended, "{availability:?}");
        }
        assert_eq!(Availability { state: LinkState::Deleted(now), ..suspended }.status(now), LinkStatus::Deleted);
    }

    #[test]
    fn a_link_must_begin_before_it_expires() {
        let now = Timestamp::now();
        let window = |from: Timestamp, until: Timestamp| {
            Availability { valid_from: Some(from), expires_at: Some(until), ..Availability::default() }.check_window()
        };

        assert!(window(now, now.plus(Duration::from_millis(1))).is_ok());
        assert!(window(now, now).is_err() && window(now.plus(Duration::from_secs(1)), now).is_err());
        assert!(Availability { valid_from: Some(now), ..Availability::default() }.check_window().is_ok());
    }

    #[test]
    fn only_an_active_link_without_an_expiry_is_unlimited() {
        let now = Timestamp::now();

        assert!(Availability::default().is_unlimited());
        for limited in [
            Availability { expires_at: Some(now), ..Availability::default() },
            Availability { state: LinkState::Inactive, ..Availability::default() },
            Availability { state: LinkState::Deleted(now), ..Availability::default() },
            Availability { valid_from: Some(now), ..Availability::default() },
            Availability { exhausted_at: Some(now), ..Availability::default() },
            Availability { is_protected: true, ..Availability::default() },
            Availability { suspensions: Suspensions::of(SuspensionReason::Closed), ..Availability::default() },
        ] {
            assert!(!limited.is_unlimited(), "{limited:?}");
        }
    }
}
