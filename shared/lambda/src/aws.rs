//! The SDK's configuration, the same for every client, and the clients' guard.

use std::{sync::OnceLock, time::Duration};

use aws_config::{
    BehaviorVersion, SdkConfig, retry::RetryConfig, stalled_stream_protection::StalledStreamProtectionConfig,
    timeout::TimeoutConfig,
};
use aws_sdk_dynamodb::{Client as DynamoDb, config::Builder};
use aws_smithy_http_client::{
    Connector,
    proxy::ProxyConfig,
    tls::{Provider, rustls_provider::CryptoMode},
};
use aws_smithy_runtime_api::client::http::{SharedHttpClient, SharedHttpConnector, http_client_fn};
use aws_types::service_config::{LoadServiceConfig, ServiceConfigKey};
use linklet_dynamodb::RepositoryError;

use crate::{breaker::Breaker, telemetry::chain};

/// How long a call may take, its repetitions included.
pub const LONGEST_CALL: Duration = Duration::from_millis(2_400);

/// Before a call is tried again, at most; twice as long before the third try. The SDK's own second would keep whoever waits
/// longer than DynamoDB takes to find room, and a burst of throttled clicks would keep as many environments busy.
const FIRST_PAUSE: Duration = Duration::from_millis(25);

/// Loads region, credentials and endpoint from the environment.
///
/// The limits suit a function that has 10 seconds and makes a few calls one after another: a lost connection is given up early
/// enough to try again, and the caller still gets an answer of ours. (The SDK's defaults would wait without end.) A call that
/// fails takes 2.4 s at most, and mostly ends its request. A request goes on when the use of an API key can't be noted, when a
/// call can't be counted (after half a second), and in redirect when memory stands in for the link. After a redirect's answer
/// there are two more at worst, 4.8 s: the click is not stored, and parked or lost.
pub async fn load() -> SdkConfig {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(Duration::from_millis(800))
        .operation_attempt_timeout(Duration::from_millis(1_500))
        .operation_timeout(LONGEST_CALL)
        .build();
    let config = aws_config::defaults(BehaviorVersion::latest())
        .http_client(http_client())
        .timeout_config(timeouts)
        // Bodies are small, and the limits above hold for a stalled one, too.
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
        .retry_config(RetryConfig::standard().with_max_attempts(3).with_initial_backoff(FIRST_PAUSE))
        .load()
        .await;
    let settings = SetForServices(config.clone());
    config.into_builder().service_config(settings).build()
}

/// What is set for single services (`AWS_ENDPOINT_URL_DYNAMODB`), or for all of them. The SDK takes an empty value for an
/// address and panics; here it is as good as none, so the general setting holds, and without one the service's own address.
#[derive(Debug)]
struct SetForServices(SdkConfig);

impl LoadServiceConfig for SetForServices {
    fn load_config(&self, key: ServiceConfigKey<'_>) -> Option<String> {
        self.0.service_config()?.load_config(key).filter(|value| !value.is_empty())
    }
}

/// What the client of each service would make for itself, but once for all of them: each would parse all root certificates
/// again. They share their settings, too.
fn http_client() -> SharedHttpClient {
    let connector = OnceLock::new();
    http_client_fn(move |settings, components| {
        let connect = || {
            let mut builder = Connector::builder()
                .tls_provider(Provider::Rustls(CryptoMode::AwsLc))
                .connector_settings(settings.clone())
                .proxy_config(ProxyConfig::from_env());
            builder.set_sleep_impl(components.sleep_impl());
            SharedHttpConnector::new(builder.build())
        };
        connector.get_or_init(connect).clone()
    })
}

/// The tables as functions behind the API reach them: with a circuit breaker, one for all tables, since they share an endpoint.
///
/// Consumers of streams and queues have none: nobody waits for them, a batch that fails comes again, and a refused message
/// would count as received.
#[must_use]
pub fn tables(config: &SdkConfig) -> DynamoDb {
    DynamoDb::from_conf(Builder::from(config).interceptor(Breaker::default()).build())
}

/// Logs a connection that could not be opened ahead of the first request. That is for the first request to bear: a function
/// starts without its tables, since it may be asked for what needs none.
pub fn note_connection(opened: Result<(), RepositoryError>) {
    if let Err(error) = opened {
        tracing::warn!(error = chain(&error), "the tables can't be reached at the start");
    }
}
