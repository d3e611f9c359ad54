use std::{num::NonZeroUsize, time::Duration};

use linklet_domain::{Role, SessionId, Timestamp};
use linklet_dynamodb::{Consistency, RepositoryError, Session, SessionsTable, Standing};
use lru::LruCache;
use parking_lot::Mutex;

/// How old the knowledge of a membership may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freshness {
    /// At most a minute.
    LastMinute,
    /// What the table says at this moment.
    Now,
}

/// What sessions are worth.
///
/// The role of a member is held for up to 60 seconds, so a removed or demoted member is that within a minute in every
/// environment. Other answers aren't held, so that a person who has just joined isn't refused.
pub(super) struct Sessions {
    table: SessionsTable,
    held: Mutex<LruCache<SessionId, (Role, Timestamp)>>,
}

impl Sessions {
    const MAX_AGE: Duration = Duration::from_secs(60);
    const CAPACITY: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

    pub(super) fn new(table: SessionsTable) -> Self {
        Self { table, held: Mutex::new(LruCache::sparse(Self::CAPACITY)) }
    }

    /// What a session is worth to a request that arrived at `now`.
    pub(super) async fn standing(
        &self,
        session: &Session,
        now: Timestamp,
        freshness: Freshness,
    ) -> Result<Standing, RepositoryError> {
        if freshness == Freshness::LastMinute
            && let Some(role) = self.held(&session.id, now)
        {
            return Ok(Standing::Member(role));
        }
        // A membership that has just begun or ended may be missing in a read that costs half.
        let consistency = match freshness {
            Freshness::LastMinute => Consistency::Eventual,
            Freshness::Now => Consistency::Strong,
        };
        let mut standing = self.table.standing(session, consistency).await?;
        if standing == Standing::NoMember && consistency == Consistency::Eventual {
            standing = self.table.standing(session, Consistency::Strong).await?;
        }
        let mut held = self.held.lock();
        match standing {
            // The age counts from the request's arrival, before the table was read.
            Standing::Member(role) => _ = held.put(session.id.clone(), (role, now)),
            Standing::NoMember | Standing::Ended => _ = held.pop(&session.id),
        }
        Ok(standing)
    }

    /// Forgets what is held of a session, since it was ended.
    pub(super) fn forget(&self, session: &SessionId) {
        self.held.lock().pop(session);
    }

    /// The role that was read within the last minute, unless the clock was set back since.
    fn held(&self, session: &SessionId, now: Timestamp) -> Option<Role> {
        let held = self.held.lock();
        let (role, since) = held.peek(session)?;
        (*since <= now && now < since.plus(Self::MAX_AGE)).then_some(*role)
    }
}
