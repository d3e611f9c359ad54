use std::{num::NonZeroUsize, time::Duration};

use linklet_domain::{CorrelationId, LinkId, Timestamp};
use linklet_dynamodb::{Exhaustion, LinksTable, Result, UseOutcome};
use lru::LruCache;
use parking_lot::Mutex;

/// Links of which this execution environment has just seen that nothing is left, so that a flood of visitors who come too late
/// costs one write a second.
#[derive(Debug)]
pub struct UsedUp {
    links: Mutex<LruCache<LinkId, Timestamp>>,
}

/// Whether a visitor may follow a link with a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Use {
    /// They may.
    Taken {
        /// The end of the link's uses that is to be noted, if theirs was the last.
        end: Option<Exhaustion>,
    },
    /// Nothing is left.
    Refused {
        /// The end of the link's uses, if nobody has noted it.
        end: Option<Exhaustion>,
    },
    /// The link has no limit any more, or is gone, so it has to be read again.
    Unlimited,
}

impl UsedUp {
    /// How long it is believed that nothing is left.
    pub const HELD_FOR: Duration = Duration::from_secs(1);
    /// Maximum number of links, of which the one is evicted that was asked for longest ago.
    pub const MAX_LINKS: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

    /// Takes a use of a link for a visitor who comes at this time.
    ///
    /// # Errors
    /// When DynamoDB can't be reached. Whether a use was taken isn't known then, and nobody may follow the link.
    pub async fn take(
        &self,
        links: &LinksTable,
        link: &LinkId,
        now: Timestamp,
        correlation_id: &CorrelationId,
    ) -> Result<Use> {
        let seen_at = self.links.lock().get(link).copied();
        if seen_at.is_some_and(|seen| seen <= now && seen.until(now) < Self::HELD_FOR) {
            return Ok(Use::Refused { end: None });
        }
        let (is_taken, uses) = match links.take_use(link).await? {
            UseOutcome::Taken(uses) => (true, uses),
            UseOutcome::Refused(uses) => (false, uses),
            UseOutcome::Unlimited => return Ok(Use::Unlimited),
        };
        let end = uses.are_to_be_noted().then(|| Exhaustion {
            link: link.clone(),
            max: uses.max,
            at: now,
            correlation_id: correlation_id.clone(),
        });
        if is_taken {
            return Ok(Use::Taken { end });
        }
        self.links.lock().put(link.clone(), now);
        Ok(Use::Refused { end })
    }
}

impl Default for UsedUp {
    fn default() -> Self {
        Self { links: Mutex::new(LruCache::sparse(Self::MAX_LINKS)) }
    }
}
