//! Limits on guessing passwords and on hashing them.

use std::time::Duration;

use linklet_domain::{HashBudget, HashFor};
use linklet_dynamodb::ThrottleTable;
use linklet_lambda::{
    guesses::{Guesses, must_wait},
    http::{ApiError, Request},
    metrics::{self, Metric},
    telemetry::chain,
};

/// What keeps people from guessing, and guesses from being in the way of everybody else.
pub struct Limits {
    /// Lets those wait who guess.
    pub guesses: Guesses,
    /// Limits how many passwords are hashed.
    pub hashing: Hashing,
}

/// Keeps hashing from taking all execution environments that the account has.
pub struct Hashing {
    /// The table that has the counts.
    pub table: ThrottleTable,
    /// The number of hashes a second, once for strangers and once for those who are known.
    pub budget: HashBudget,
}

impl Hashing {
    /// Counts hashes before they are computed, unless there is no room for them in this second. If the table doesn't answer in
    /// time, or didn't before (`whose` is `None` then), they are allowed and a warning is logged, as with other limits.
    ///
    /// # Errors
    /// 429 if there is no room. Whoever is refused is told to wait for one to three seconds, so that not all come back at once.
    pub async fn admit(&self, request: &Request, whose: Option<HashFor>, hashes: u32) -> Result<(), ApiError> {
        let Some(whose) = whose else { return Ok(()) };
        match self.table.spend_hashes(whose, hashes, self.budget, request.received_at()).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(must_wait(Duration::from_secs(fastrand::u64(1..=3)))),
            Err(error) => {
                metrics::add(Metric::ThrottleUnavailable, 1);
                tracing::warn!(error = chain(&error), "a password is hashed without being counted");
                Ok(())
            }
        }
    }
}
