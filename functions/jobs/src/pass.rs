//! Work that is done once more.
//!
//! Environments hold for a minute what a session or a key is worth, and an index is some moments behind. So requests that began before
//! all of them know of a change may still add something, and what follows from the change is done in two passes: at once, and when that
//! time is over.

use linklet_domain::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Next;

/// How far a pass has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pass<S> {
    /// When all environments know of the change.
    caches_expire_at: Timestamp,
    /// When the pass began.
    since: Timestamp,
    #[serde(flatten)]
    pub step: S,
}

/// What a pass consists of.
pub(crate) trait PassStep: Clone + PartialEq {
    /// What comes first.
    const FIRST: Self;
    /// Waiting for the next pass.
    const REST: Self;
}

impl<S: PassStep> Pass<S> {
    /// The beginning of the first pass.
    pub(crate) fn first(caches_expire_at: Timestamp, now: Timestamp) -> Self {
        Self { caches_expire_at, since: now, step: S::FIRST }
    }

    /// The beginning of another pass.
    pub(crate) fn again(self, now: Timestamp) -> Self {
        Self { since: now, step: S::FIRST, ..self }
    }

    pub(crate) fn at(self, step: S) -> Self {
        Self { step, ..self }
    }

    /// Whether the pass is the last one: nothing is added any more.
    pub(crate) fn is_last(&self) -> bool {
        self.caches_expire_at <= self.since
    }

    pub(crate) fn rests(&self) -> bool {
        self.step == S::REST
    }

    /// Another pass, at once or when it is time.
    pub(crate) fn once_more(self, now: Timestamp) -> Next<Self> {
        let caches_expire_at = self.caches_expire_at;
        if caches_expire_at <= now {
            Next::GoOn(self.again(now))
        } else {
            Next::Rest(self.at(S::REST), Some(caches_expire_at))
        }
    }
}
