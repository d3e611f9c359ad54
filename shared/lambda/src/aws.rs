//! The SDK's configuration, the same for every client.

use std::time::Duration;

use aws_config::{BehaviorVersion, SdkConfig, retry::RetryConfig, timeout::TimeoutConfig};

/// Loads region, credentials and endpoint from the environment.
///
/// The limits suit a function that answers within 10 seconds: a lost connection is given up early enough to try again, and
/// no call outlives its caller. (The SDK's defaults would wait without end for an answer.)
pub async fn load() -> SdkConfig {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(Duration::from_millis(1_000))
        .operation_attempt_timeout(Duration::from_millis(2_500))
        .operation_timeout(Duration::from_millis(6_000))
        .build();
    aws_config::defaults(BehaviorVersion::latest())
        .timeout_config(timeouts)
        .retry_config(RetryConfig::standard().with_max_attempts(3))
        .load()
        .await
}
