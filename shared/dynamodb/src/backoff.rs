//! The pause between two tries of what somebody else was faster at, or what DynamoDB had no room for.

use std::time::Duration;

/// Waits before another try, after so many: up to 10 ms after the first, up to 20 ms after the second, and so on up to 640 ms.
/// How long is random, so that two who got in each other's way don't meet again.
///
/// `earlier` counts the tries before the one that has just failed.
pub async fn back_off(earlier: u32) {
    let longest = Duration::from_millis(10 << earlier.min(6));
    tokio::time::sleep(longest.mul_f64(fastrand::f64())).await;
}
