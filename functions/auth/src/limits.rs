//! Limits on guessing passwords and on hashing them.

use std::time::Duration;

use linklet_domain::{HashBudget, HashFor};
use linklet_lambda::{
    guesses::{Guesses, must_wait},
    http::{ApiError, Request},
    metrics::{self, Metric},
    telemetry::chain,
};

/// What keeps people from guessing, and guesses from being in the way of everybody else.
pub struct Limits {
    /// Lets those wait who guess, and has the table for hashes as well.
    pub guesses: Guesses,
    /// How many passwords are hashed in a second: so many for strangers, and as many for those who are known.
    pub hashes: HashBudget,
}

impl Limits {
    /// Counts hashes before they are computed, unless there is no room for them in this second, so that hashing doesn't take all
    /// execution environments that the account has. If the table doesn't answer in time, or didn't before (`whose` is `None`
    /// then), they are allowed and a warning is logged, as with other limits.
    ///
    /// # Errors
    /// 429 if there is no room. Whoever is refused is told to wait for one to three seconds, so that not all come back at once.
    pub async fn admit_hashes(&self, request: &Request, whose: Option<HashFor>, hashes: u32) -> Result<(), ApiError> {
        let Some(whose) = whose else { return Ok(()) };
        let (sender, now) = (self.guesses.sender(request), request.received_at());
        match self.guesses.table.spend_hashes(whose, &sender, hashes, self.hashes, now).await {
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
