//! The SDK's configuration, the same for every client.

use std::time::Duration;

use aws_config::{BehaviorVersion, SdkConfig, retry::RetryConfig, timeout::TimeoutConfig};

/// Loads region, credentials and endpoint from the environment.
///
/// The limits suit a function that has 10 seconds and makes up to four calls one after another: a lost connection is given up
/// early enough to try again, and the caller still gets an answer of ours. (The SDK's defaults would wait without end.)
pub async fn load() -> SdkConfig {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(Duration::from_millis(800))
        .operation_attempt_timeout(Duration::from_millis(1_500))
        .operation_timeout(Duration::from_millis(2_400))
        .build();
    aws_config::defaults(BehaviorVersion::latest())
        .timeout_config(timeouts)
        .retry_config(RetryConfig::standard().with_max_attempts(3))
        .load()
        .await
}
