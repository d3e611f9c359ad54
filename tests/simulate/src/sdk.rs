//! The SDK's clients as the product's functions have them, but for the network.

/// The configuration of a client, but for the way to the service. Each SDK crate has types of its own, hence a macro. Each client has its
/// own budget of retries, as each environment has.
macro_rules! config_for {
    ($sdk:ident) => {{
        use $sdk::config::{
            BehaviorVersion, Credentials, Region,
            retry::{RetryConfig, RetryPartition, TokenBucket},
            timeout::TimeoutConfig,
        };
        $sdk::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("eu-central-1"))
            .credentials_provider(Credentials::new("test", "test", None, None, "test"))
            .retry_config(
                RetryConfig::standard().with_max_attempts(3).with_initial_backoff(linklet_lambda::aws::INITIAL_BACKOFF),
            )
            .retry_partition(RetryPartition::custom("environment").token_bucket(TokenBucket::default()).build())
            .timeout_config(TimeoutConfig::builder().operation_timeout(linklet_lambda::aws::OPERATION_TIMEOUT).build())
            .stalled_stream_protection($sdk::config::StalledStreamProtectionConfig::disabled())
    }};
}

pub(crate) use config_for;
