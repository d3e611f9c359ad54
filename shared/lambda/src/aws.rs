//! The configuration of the AWS SDK, which all clients share, and DynamoDB clients with a circuit breaker.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use aws_config::{
    BehaviorVersion, SdkConfig, retry::RetryConfig, stalled_stream_protection::StalledStreamProtectionConfig,
    timeout::TimeoutConfig,
};
use aws_sdk_dynamodb::{Client as DynamoDb, config::Builder};
use aws_smithy_async::rt::sleep::SharedAsyncSleep;
use aws_smithy_http_client::Connector;
use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient, SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_types::service_config::{LoadServiceConfig, ServiceConfigKey};
use linklet_dynamodb::{AuditTable, JobsTable, Result, Table, UsersTable};
use parking_lot::Mutex;

use crate::breaker::Breaker;
use crate::config::{self, ConfigError};
use crate::telemetry::warn_of;

/// Maximum duration of a call, including its retries.
pub const OPERATION_TIMEOUT: Duration = Duration::from_millis(2_400);

/// Maximum duration until an answer begins, which leaves as much time for a retry.
const READ_TIMEOUT: Duration = Duration::from_millis(1_200);

/// Maximum pause before the first retry; it doubles before the second one. The SDK's default of one second is longer than
/// DynamoDB needs to recover from throttling, and would keep an execution environment busy for each throttled call.
pub const INITIAL_BACKOFF: Duration = Duration::from_millis(25);

/// Loads region, credentials and endpoint from the environment.
///
/// The timeouts suit a function that has 10 seconds and makes a few calls one after another: there is time for a retry after
/// a lost connection, and the client gets a response before Lambda's timeout. (By default the SDK has no operation timeout.)
/// A failed call takes at most 2.4 s, and in most cases ends its request. Exceptions, in which the request continues: storing
/// the last use of an API key, counting a call (at most half a second), and in redirect reading a link that is cached. After
/// the response of a redirect, two calls can fail, in 4.8 s: storing the click, and parking it; of a hot link now and then a third
/// one before them, for its marker.
pub async fn load() -> SdkConfig {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(Duration::from_millis(800))
        .read_timeout(READ_TIMEOUT)
        .operation_attempt_timeout(Duration::from_millis(1_500))
        .operation_timeout(OPERATION_TIMEOUT)
        .build();
    let config = aws_config::defaults(BehaviorVersion::latest())
        .http_client(http_client())
        .timeout_config(timeouts)
        // Bodies are small, and the timeouts above also end a stalled one.
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
        .retry_config(RetryConfig::standard().with_max_attempts(3).with_initial_backoff(INITIAL_BACKOFF))
        .load()
        .await;
    let settings = NonEmptySettings(config.clone());
    config.into_builder().service_config(settings).build()
}

/// The settings of single services, such as `AWS_ENDPOINT_URL_DYNAMODB`, without those that are empty.
///
/// The SDK would parse an empty value as a URL and panic. Here it counts as not set, so that the general setting applies, or
/// the service's default endpoint.
#[derive(Debug)]
struct NonEmptySettings(SdkConfig);

impl LoadServiceConfig for NonEmptySettings {
    fn load_config(&self, key: ServiceConfigKey<'_>) -> Option<String> {
        self.0.service_config()?.load_config(key).filter(|value| !value.is_empty())
    }
}

/// One HTTP client for the clients of all services. Each would otherwise create its own with the same settings, and parse all
/// root certificates again.
fn http_client() -> SharedHttpClient {
    let connector = OnceLock::new();
    http_client_fn(move |settings, components| {
        let connect = || SharedHttpConnector::new(Reconnecting::new(settings.clone(), components.sleep_impl()));
        connector.get_or_init(connect).clone()
    })
}

/// A connector that forgets all its connections when a call on one of them takes too long. Lambda freezes an environment between
/// invocations, and connections may be gone afterwards without a word. The SDK forgets only the one on which it has waited, and a call
/// has no time for a second one.
#[derive(Debug)]
struct Reconnecting {
    settings: HttpConnectorSettings,
    sleep: Option<SharedAsyncSleep>,
    /// The connector, and since when it is used.
    current: Arc<Mutex<(Instant, SharedHttpConnector)>>,
}

impl Reconnecting {
    /// So long new connections are kept: several calls at once may have waited on the old ones, or the service is slow.
    const KEPT_FOR: Duration = Duration::from_secs(1);

    fn new(settings: HttpConnectorSettings, sleep: Option<SharedAsyncSleep>) -> Self {
        let current = Arc::new(Mutex::new(Self::connected(&settings, sleep.clone())));
        Self { settings, sleep, current }
    }

    fn connected(settings: &HttpConnectorSettings, sleep: Option<SharedAsyncSleep>) -> (Instant, SharedHttpConnector) {
        let mut builder = Connector::builder()
            .tls_provider(Provider::Rustls(CryptoMode::AwsLc))
            .connector_settings(settings.clone())
            .proxy_config(ProxyConfig::from_env());
        builder.set_sleep_impl(sleep);
        (Instant::now(), SharedHttpConnector::new(builder.build()))
    }
}

impl HttpConnector for Reconnecting {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let (current, settings, sleep) = (self.current.clone(), self.settings.clone(), self.sleep.clone());
        HttpConnectorFuture::new(async move {
            let connector = current.lock().1.clone();
            let answered = connector.call(request).await;
            if answered.as_ref().is_err_and(ConnectorError::is_timeout) {
                let mut current = current.lock();
                if current.0.elapsed() >= Self::KEPT_FOR {
                    *current = Self::connected(&settings, sleep);
                }
            }
            answered
        })
    }
}

/// The tables that the environment names.
pub struct Tables(DynamoDb);

impl Tables {
    /// With a circuit breaker, for functions behind the API. All tables share the breaker, since they share an endpoint.
    pub fn behind_the_api(config: &SdkConfig) -> Self {
        Self(DynamoDb::from_conf(Builder::from(config).interceptor(Breaker::default()).build()))
    }

    /// Without a circuit breaker, for consumers of streams and queues: no user waits for them, failed batches are redelivered, and
    /// failing at once would use up the receive count of messages.
    pub fn without_breaker(config: &SdkConfig) -> Self {
        Self(DynamoDb::new(config))
    }

    /// The repository of the table that this variable names.
    ///
    /// # Errors
    /// When the variable is missing.
    pub fn at<T>(&self, variable: &'static str, repository: impl FnOnce(Table) -> T) -> Result<T, ConfigError> {
        Ok(repository(Table::new(self.0.clone(), config::required(variable)?)))
    }

    /// The repository of accounts and workspaces, with what it writes beside its own table.
    ///
    /// # Errors
    /// When a variable is missing.
    pub fn users(&self) -> Result<UsersTable, ConfigError> {
        let (audit_log, jobs) = (self.at("AUDIT_TABLE", AuditTable)?, self.at("JOBS_TABLE", JobsTable)?);
        self.at("USERS_TABLE", |users| UsersTable::new(users, audit_log, jobs))
    }
}

/// Logs the failure to open a connection ahead of the first request. The function starts anyway, since some requests need no
/// table.
pub fn log_connection(opened: Result<()>) {
    warn_of(opened, "DynamoDB can't be reached at start-up");
}
