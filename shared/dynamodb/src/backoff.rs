//! The pause before a retry, after a conflict with another writer or throttling by DynamoDB.

use std::time::Duration;

/// Waits before a retry: a random time of up to 10 ms after the first attempt, 20 ms after the second, and so on up to 640 ms.
/// It is random, so that two writers in conflict don't collide again.
///
/// `earlier` is the number of attempts before the one that has just failed.
pub async fn back_off(earlier: u32) {
    let longest = Duration::from_millis(10 << earlier.min(6));
    tokio::time::sleep(longest.mul_f64(fastrand::f64())).await;
}
