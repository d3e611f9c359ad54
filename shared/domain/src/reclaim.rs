//! What was made in an account before its person has reclaimed it.

use std::time::Duration;

use crate::Timestamp;

/// By how much the clock of what made something may be ahead of the clock of the reset that came after it.
const CLOCK_DIFFERENCE: Duration = Duration::from_secs(5);

/// Whether something may have been made before an account was reclaimed, and so by somebody else than its person.
#[must_use]
pub fn may_predate(made_at: Timestamp, reclaimed_at: Timestamp) -> bool {
    made_at <= reclaimed_at.plus(CLOCK_DIFFERENCE)
}
