//! What becomes of a request for a short link.

use std::time::Duration;

use crate::{Availability, LinkIdentity, LinkStatus, Record, StoredLink, TargetUrl, Timestamp};

/// The part of a link that a redirect reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectTarget {
    /// Which link it is, and whose.
    pub identity: LinkIdentity,
    /// The destination.
    pub target: TargetUrl,
    /// Whether the link leads there.
    pub availability: Availability,
}

impl StoredLink for RedirectTarget {
    fn identity(&self) -> &LinkIdentity {
        &self.identity
    }
}

/// What a request wants of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// To go where it leads.
    Visit,
    /// To know where it leads, without going there.
    Inspect,
}

/// What a request counts as in the statistics of its link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountsAs {
    /// A click.
    Click,
    /// It isn't counted.
    Nothing,
}

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It is led to the target.
    Follow {
        /// The link, with its target.
        target: RedirectTarget,
        /// For how long whoever asks may go there again without asking.
        cache: Duration,
        /// What it counts as.
        counts_as: CountsAs,
    },
    /// It is refused.
    Refuse {
        /// The link's status.
        why: LinkStatus,
    },
}

impl Decision {
    /// The longest time for which a redirect may be cached. It is short, since a link can be switched off or deleted.
    const LONGEST_CACHE: Duration = Duration::from_secs(90);

    /// Decides on a request for what is stored under its code, which arrives `at` this time.
    #[must_use]
    pub fn on(record: Record<RedirectTarget>, intent: Intent, at: Timestamp) -> Self {
        let target = match record {
            Record::Link(link) => link,
            Record::Tombstone(tombstone) => return Self::Refuse { why: tombstone.reason.into() },
        };
        match target.availability.status(at) {
            LinkStatus::Active => Self::Follow {
                cache: target.cacheable_for(at),
                counts_as: match intent {
                    Intent::Visit => CountsAs::Click,
                    Intent::Inspect => CountsAs::Nothing,
                },
                target,
            },
            why => Self::Refuse { why },
        }
    }
}

impl RedirectTarget {
    /// Nobody goes to the target without asking once the link has expired.
    fn cacheable_for(&self, now: Timestamp) -> Duration {
        let longest = Decision::LONGEST_CACHE;
        self.availability.expires_at.map_or(longest, |expiry| now.until(expiry).min(longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LinkId, LinkState, RemovalReason, Tombstone, UserId, WorkspaceId};

    fn noon() -> Timestamp {
        Timestamp::parse("2026-03-02T12:00:00Z").unwrap()
    }

    fn identity() -> LinkIdentity {
        LinkIdentity {
            id: LinkId::parse("abcd.x7Kf2a").unwrap(),
            workspace: WorkspaceId::generate(),
            owner: UserId::generate(),
        }
    }

    fn link(availability: Availability) -> Record<RedirectTarget> {
        let target = TargetUrl::parse("https://example.com").unwrap();
        Record::Link(RedirectTarget { identity: identity(), target, availability })
    }

    fn expiring_in(seconds: u64) -> Availability {
        Availability { expires_at: Some(noon().plus(Duration::from_secs(seconds))), ..Availability::default() }
    }

    fn cached_for(availability: Availability) -> u64 {
        match Decision::on(link(availability), Intent::Visit, noon()) {
            Decision::Follow { cache, .. } => cache.as_secs(),
            refused @ Decision::Refuse { .. } => panic!("{refused:?}"),
        }
    }

    #[test]
    fn a_browser_never_keeps_a_redirect_past_expiry() {
        assert_eq!(cached_for(Availability::default()), 90);
        assert_eq!(cached_for(expiring_in(600)), 90);
        assert_eq!(cached_for(expiring_in(7)), 7);
    }

    #[test]
    fn only_a_visit_counts_as_a_click() {
        for (intent, expected) in [(Intent::Visit, CountsAs::Click), (Intent::Inspect, CountsAs::Nothing)] {
            let decided = Decision::on(link(Availability::default()), intent, noon());

            let Decision::Follow { counts_as, target, .. } = decided else { panic!("{decided:?}") };
            assert_eq!((counts_as, target.target.as_str()), (expected, "https://example.com"));
        }
    }

    #[test]
    fn whoever_asks_for_a_link_that_does_not_redirect_learns_why() {
        let in_state = |state| link(Availability { state, ..Availability::default() });
        let removed = |reason| {
            Record::Tombstone(Tombstone { identity: identity(), reason, removed_at: noon(), watched_target: None })
        };
        for (record, why) in [
            (in_state(LinkState::Inactive), LinkStatus::Inactive),
            (in_state(LinkState::Deleted(noon())), LinkStatus::Deleted),
            (link(expiring_in(0)), LinkStatus::Expired),
            (removed(RemovalReason::Deleted), LinkStatus::Deleted),
            (removed(RemovalReason::Expired), LinkStatus::Expired),
            (removed(RemovalReason::Purged), LinkStatus::Purged),
        ] {
            assert_eq!(Decision::on(record, Intent::Visit, noon()), Decision::Refuse { why });
        }
    }
}
