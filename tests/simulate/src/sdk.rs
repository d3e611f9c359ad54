//! The SDK's clients as the product's functions have them, but for the network.

use std::{fmt, sync::Arc, time::Duration};

use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, SharedHttpClient, SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use linklet_test_support::operation_of;
use serde_json::Value;
use tokio::time::sleep;

use crate::{lambda::Processor, limits};

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

/// An HTTP client of an environment with this processor: its calls are answered by this function, and take as
/// long, half of it before the answer.
pub fn without_network<F>(processor: &Processor, takes: Duration, answer: F) -> SharedHttpClient
where
    F: Fn(&str, Value) -> (u16, Value) + Send + Sync + 'static,
{
    let connector = Connector { processor: processor.clone(), takes, answer: Arc::new(answer) };
    http_client_fn(move |_, _| SharedHttpConnector::new(connector.clone()))
}

/// Answers a call, by its operation and its body, with a status and a body.
type Answer = dyn Fn(&str, Value) -> (u16, Value) + Send + Sync;

/// What stands between an environment's SDK and a service.
#[derive(Clone)]
struct Connector {
    processor: Processor,
    takes: Duration,
    answer: Arc<Answer>,
}

impl fmt::Debug for Connector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Connector")
    }
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let Self { processor, takes, answer } = self.clone();
        HttpConnectorFuture::new(async move {
            let body = serde_json::from_slice(request.body().bytes().unwrap_or_default()).expect("the SDK sends JSON");
            processor.work(limits::CALL_WORK).await;
            sleep(takes / 2).await;
            let (status, answer) = answer(&operation_of(&request), body);
            sleep(takes / 2).await;
            let status = StatusCode::try_from(status).expect("a status");
            Ok(HttpResponse::new(status, SdkBody::from(answer.to_string())))
        })
    }
}
