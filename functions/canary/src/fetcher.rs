use std::{error::Error, time::Duration};

use aws_smithy_http_client::Connector;
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_runtime_api::client::http::HttpConnector;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::byte_stream::ByteStream;
use tokio::time::timeout;

/// Statistics count it as a bot with this name.
const AGENT: &str = concat!("Linklet-Canary/", env!("CARGO_PKG_VERSION"));

/// Fetches pages with the SDK's HTTPS client, which follows no redirects.
pub(crate) struct Fetcher(Connector);

/// What a page answers.
pub(crate) struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// It takes too long.
    #[error("it takes more than {} s", Fetcher::TIMEOUT.as_secs())]
    Timeout,
    /// There is no connection, or none that can be trusted, or it breaks off.
    #[error("the connection fails")]
    Connection(#[source] Box<dyn Error + Send + Sync>),
}

impl Fetcher {
    /// The most time for an answer, with looking up the name and connecting.
    const TIMEOUT: Duration = Duration::from_secs(5);

    pub(crate) fn new() -> Self {
        let connector = Connector::builder().tls_provider(Provider::Rustls(CryptoMode::AwsLc));
        // Each call looks up the name and the certificate again, and uses no connection that has died while Lambda froze the environment.
        Self(connector.pool_max_idle_per_host(0).build())
    }

    pub(crate) async fn get(&self, url: &str) -> Result<Answer, FetchError> {
        let answer = timeout(Self::TIMEOUT, self.answer(url)).await.map_err(|_| FetchError::Timeout)?;
        answer.map_err(FetchError::Connection)
    }

    async fn answer(&self, url: &str) -> Result<Answer, Box<dyn Error + Send + Sync>> {
        let mut request = HttpRequest::get(url)?;
        request.headers_mut().insert("user-agent", AGENT);
        let answer = self.0.call(request).await?;
        let status = answer.status().as_u16();
        Ok(Answer { status, body: ByteStream::new(answer.into_body()).collect().await?.to_vec() })
    }
}
