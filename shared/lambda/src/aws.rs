//! The SDK's configuration, the same for every client, and the clients' guard.

use std::time::Duration;

use aws_config::{BehaviorVersion, SdkConfig, retry::RetryConfig, timeout::TimeoutConfig};
use aws_sdk_dynamodb::{Client as DynamoDb, config::Builder};

use crate::breaker::Breaker;

/// Loads region, credentials and endpoint from the environment.
///
/// The limits suit a function that has 10 seconds and makes up to four calls one after another: a lost connection is given up
/// early enough to try again, and the caller still gets an answer of ours. (The SDK's defaults would wait without end.) The
/// first call that fails ends a request, so even the failures that open the [breaker](crate::breaker) cost 2.4 s each.
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

/// The tables as functions behind the API reach them: with a circuit breaker, one for all tables, since they share an endpoint.
///
/// Consumers of streams and queues have none: nobody waits for them, a batch that fails comes again, and a refused message
/// would count as received.
#[must_use]
pub fn tables(config: &SdkConfig) -> DynamoDb {
    DynamoDb::from_conf(Builder::from(config).interceptor(Breaker::default()).build())
}
