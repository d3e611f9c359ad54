//! When a refused login is answered.

use std::time::{Duration, Instant};

/// Refusals are answered in steps of this time. Any hash that is usual takes less: so nobody learns from the time whether an
/// account has a hash of Argon2id or of bcrypt, or whether there is an account at all.
const STEP: Duration = Duration::from_millis(500);

/// Waits until a whole number of steps has passed.
pub(crate) async fn at_the_next_step(started: Instant) {
    tokio::time::sleep(until_the_next_step(started.elapsed())).await;
}

fn until_the_next_step(elapsed: Duration) -> Duration {
    let begun = elapsed.as_nanos() / STEP.as_nanos() + 1;
    (STEP * u32::try_from(begun).unwrap_or(u32::MAX)).saturating_sub(elapsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_happens_within_a_step_ends_with_it() {
        for (elapsed, rest) in [(0, 500), (1, 499), (499, 1), (500, 500), (1_030, 470)] {
            let rest = Duration::from_millis(rest);
            assert_eq!(until_the_next_step(Duration::from_millis(elapsed)), rest, "{elapsed} ms");
        }
    }
}
