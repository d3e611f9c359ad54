//! What was made in an account before its person has reclaimed it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{FamiliarNetwork, Timestamp, UserId};

/// By how much the clock of what made something may be ahead of the clock of the reset that came after it.
const CLOCK_DIFFERENCE: Duration = Duration::from_secs(5);

/// Whether something may have been made before an account was reclaimed, and so by somebody else than its person.
pub fn may_predate(made_at: Timestamp, reclaimed_at: Timestamp) -> bool {
    made_at <= reclaimed_at.plus(CLOCK_DIFFERENCE)
}

/// An account that its person has reclaimed: a mailed token has shown that its address is theirs, which nothing had shown before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reclaim {
    /// The account.
    pub user: UserId,
    /// When it was reclaimed.
    pub reclaimed_at: Timestamp,
    /// From which network, which the account knows since then.
    #[serde(flatten)]
    pub reclaimed_from: FamiliarNetwork,
}

impl Reclaim {
    /// Whether something that gives access is to be paused, by who made it and when. What the person has made since stays, and so does
    /// what others have made in a workspace that isn't the person's.
    pub fn concerns(&self, is_theirs: bool, made_by: &UserId, made_at: Timestamp) -> bool {
        if *made_by == self.user { may_predate(made_at, self.reclaimed_at) } else { is_theirs }
    }
}
