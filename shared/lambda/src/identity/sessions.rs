use std::{num::NonZeroUsize, time::Duration};

use linklet_domain::{SessionId, Timestamp, WorkspaceId};
use linklet_dynamodb::{ActiveSession, Consistency, Result, Session, SessionStatus, Sessions};
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
/// The role of a member is held for up to 55 seconds, so a removed or demoted member is that within a minute in every
/// environment, also if a read is some seconds behind. So is that a session without a workspace lasts. Other answers aren't held, so
/// that a person who has just joined isn't refused.
pub(super) struct HeldSessions {
    table: Sessions,
    held: Mutex<LruCache<Purpose, (SessionStatus, Timestamp)>>,
}

/// A session, and the workspace that one of its tokens is for.
type Purpose = (SessionId, Option<WorkspaceId>);

impl HeldSessions {
    const MAX_AGE: Duration = Duration::from_secs(55);
    const CAPACITY: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

    pub(super) fn new(table: Sessions) -> Self {
        Self { table, held: Mutex::new(LruCache::sparse(Self::CAPACITY)) }
    }

    /// When the person of a session last showed in it who they are.
    pub(super) async fn proved_at(&self, acting: ActiveSession<'_>) -> Result<Option<Timestamp>> {
        self.table.proved_at(acting).await
    }

    /// What a session is worth to a request that arrived at `now`.
    pub(super) async fn status(
        &self,
        session: &Session,
        now: Timestamp,
        freshness: Freshness,
    ) -> Result<SessionStatus> {
        if freshness == Freshness::LastMinute
            && let Some(status) = self.held(session, now)
        {
            return Ok(status);
        }
        // A membership that has just begun or ended may be missing in a read that costs half.
        let consistency = match freshness {
            Freshness::LastMinute => Consistency::Eventual,
            Freshness::Now => Consistency::Strong,
        };
        let mut status = self.table.status(session, consistency).await?;
        if matches!(status, SessionStatus::NoMember | SessionStatus::Paused | SessionStatus::Closed)
            && consistency == Consistency::Eventual
        {
            status = self.table.status(session, Consistency::Strong).await?;
        }
        let (mut held, key) = (self.held.lock(), (session.id, session.workspace));
        match status {
            // The age counts from the request's arrival, before the table was read.
            SessionStatus::Member(_) | SessionStatus::WithoutWorkspace => _ = held.put(key, (status, now)),
            SessionStatus::NoMember | SessionStatus::Paused | SessionStatus::Closed | SessionStatus::Ended => {
                _ = held.pop(&key);
            }
        }
        Ok(status)
    }

    /// Forgets what is held of a session in all its workspaces, since it was ended.
    pub(super) fn forget(&self, session: &SessionId) {
        let mut held = self.held.lock();
        let its: Vec<_> = held.iter().map(|(key, _)| key).filter(|(id, _)| id == session).cloned().collect();
        for key in its {
            held.pop(&key);
        }
    }

    /// What was read within the last minute, unless the clock was set back since.
    fn held(&self, session: &Session, now: Timestamp) -> Option<SessionStatus> {
        let held = self.held.lock();
        let (status, since) = held.peek(&(session.id, session.workspace))?;
        (*since <= now && now < since.plus(Self::MAX_AGE)).then_some(*status)
    }
}
