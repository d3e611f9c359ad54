//! A single attempt to fetch a URL.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderValue, Method, Response, StatusCode, header::LOCATION, response};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use linklet_domain::{OwnAddress, Reach, TargetUrl};
use rustls::{ClientConfig, RootCertStore, crypto::aws_lc_rs};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use url::Host;

use crate::connection::{Connection, ConnectionPool};
use crate::cookies::Cookies;
use crate::destination::{Asking, Destination};
use crate::{CheckedAddress, FetchError, Network, SystemNetwork};

/// Maximum number of bytes of a body that are read. The rest wouldn't tell more about whether the server works, and no answer to a call is
/// longer.
const MAX_BODY: usize = 64 * 1024;

/// Maximum number of redirects that are followed.
const MAX_REDIRECTS: usize = 10;

/// Maximum number of a host's addresses that are tried.
const MAX_ADDRESSES: usize = 3;

/// Of the timeout, the part in which a server has to answer HEAD before it is asked with GET.
const SHARE_OF_HEAD: u32 = 4;

/// Where a URL leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The URL that doesn't redirect.
    pub url: String,
    /// The HTTP status there.
    pub status: StatusCode,
    /// How many redirects lead there.
    pub hops: usize,
}

/// Why it isn't known where a URL leads.
#[derive(Debug)]
pub struct Lost {
    /// The host at which the way ends.
    pub host: String,
    /// What is wrong there.
    pub error: FetchError,
}

/// A request to a server that is known.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// Where to.
    pub url: &'a TargetUrl,
    /// The value of the header `Authorization`.
    pub authorization: Option<HeaderValue>,
    /// The fields of a form, encoded: they are posted. Without them, it is a GET.
    pub form: Option<Bytes>,
}

/// The answer to a call, as a whole.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The HTTP status.
    pub status: StatusCode,
    /// The body.
    pub body: Bytes,
}

/// How far redirects have led.
struct Trail {
    at: Destination,
    hops: usize,
}

impl From<Destination> for Trail {
    fn from(at: Destination) -> Self {
        Self { at, hops: 0 }
    }
}

/// What is read of each response.
#[derive(Clone, Copy)]
enum Reading {
    Head,
    Body,
}

/// Fetches URLs from public addresses.
///
/// It has a pool of connections, so an execution environment should create only one.
pub struct Fetcher<N = SystemNetwork> {
    network: N,
    agent: String,
    reach: Reach,
    tls: TlsConnector,
    timeout: Duration,
    pool: ConnectionPool,
    own: Vec<OwnAddress>,
}

/// Why a fetcher can't be created.
#[derive(Debug, thiserror::Error)]
pub enum FetcherError {
    /// There are no root certificates, so no server could be trusted.
    #[error("the system has no root certificates")]
    NoRoots,
    /// The TLS configuration is invalid.
    #[error("TLS can't be configured")]
    Tls(#[from] rustls::Error),
}

impl Fetcher {
    /// A fetcher for the system's network and root certificates. Servers are told the purpose, such as `link monitoring`. `timeout`
    /// limits each attempt.
    ///
    /// # Errors
    /// When the system has no root certificates.
    pub fn new(purpose: &str, reach: Reach, timeout: Duration) -> Result<Self, FetcherError> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Self::on((SystemNetwork, roots), purpose, reach, timeout)
    }
}

impl<N: Network> Fetcher<N> {
    /// A fetcher for another network and other root certificates, for tests.
    ///
    /// # Errors
    /// When there are no root certificates.
    pub fn on(
        (network, roots): (N, RootCertStore),
        purpose: &str,
        reach: Reach,
        timeout: Duration,
    ) -> Result<Self, FetcherError> {
        if roots.is_empty() {
            return Err(FetcherError::NoRoots);
        }
        let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let tls = TlsConnector::from(Arc::new(config));
        // Statistics classify it as a bot.
        let agent = format!("LinkletBot/{} ({purpose})", env!("CARGO_PKG_VERSION"));
        Ok(Self { network, agent, reach, tls, timeout, pool: ConnectionPool::default(), own: Vec::new() })
    }

    /// Excludes the shortener's own addresses from fetching, since each request of a short link would count as a click.
    #[must_use]
    pub fn excluding(self, own: Vec<OwnAddress>) -> Self {
        Self { own, ..self }
    }

    /// Fetches a URL once. The timeout includes DNS, connections, redirects and the response with its body.
    ///
    /// # Errors
    /// When the URL can't be fetched.
    pub async fn fetch(&self, url: &TargetUrl) -> Result<StatusCode, FetchError> {
        self.follow(&mut Trail::from(Destination::of(url)?), Reading::Body).await
    }

    /// Follows a URL to where it leads, once, within the timeout. The page there isn't read.
    ///
    /// # Errors
    /// When a server on the way can't be asked, with the host of this server.
    pub async fn resolve(&self, url: &TargetUrl) -> Result<Resolved, Lost> {
        let start = Destination::of(url).map_err(|error| Lost { host: url.host(), error })?;
        let mut trail = Trail::from(start);
        match self.follow(&mut trail, Reading::Head).await {
            Ok(status) => Ok(Resolved { url: trail.at.url().to_string(), status, hops: trail.hops }),
            Err(error) => Err(Lost { host: trail.at.host.to_string(), error }),
        }
    }

    /// Sends one request, once, and reads the whole answer within the timeout. An answer that redirects is the answer: what a call
    /// carries is for this server only. A form goes over a connection of its own, since what was sent over one that fails may have
    /// arrived.
    ///
    /// # Errors
    /// When the server can't be asked, or its answer is too large.
    pub async fn call(&self, call: Call<'_>) -> Result<Answer, FetchError> {
        timeout(self.timeout, self.answer_to(call)).await.unwrap_or(Err(FetchError::Timeout))
    }

    async fn answer_to(&self, Call { url, authorization, form }: Call<'_>) -> Result<Answer, FetchError> {
        let destination = Destination::of(url)?;
        self.refuse_own(&destination, FetchError::InvalidUrl)?;
        let method = if form.is_some() { Method::POST } else { Method::GET };
        let asking = Asking { method, agent: &self.agent, cookie: None, authorization, form };
        let (connection, answer) = self.ask(&destination, &asking).await?;
        let (head, mut body) = answer.into_parts();
        let mut read = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(FetchError::Answer)?;
            read.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
            if read.len() > MAX_BODY {
                return Err(FetchError::TooLarge);
            }
        }
        self.pool.put(connection);
        Ok(Answer { status: head.status, body: read.freeze() })
    }

    async fn follow(&self, trail: &mut Trail, reading: Reading) -> Result<StatusCode, FetchError> {
        timeout(self.timeout, self.to_the_end(trail, reading)).await.unwrap_or(Err(FetchError::Timeout))
    }

    async fn to_the_end(&self, trail: &mut Trail, reading: Reading) -> Result<StatusCode, FetchError> {
        self.refuse_own(&trail.at, FetchError::InvalidUrl)?;
        let mut cookies = Cookies::default();
        for hops in 0..=MAX_REDIRECTS {
            trail.hops = hops;
            let head = match reading {
                Reading::Body => self.read(Method::GET, &trail.at, &cookies).await?,
                Reading::Head => self.head(&trail.at, &cookies).await?,
            };
            cookies.keep(trail.at.url(), &head.headers);
            let Some(location) = redirect(&head) else { return Ok(head.status) };
            let next = trail.at.redirected(location)?;
            self.refuse_own(&next, FetchError::InvalidRedirect)?;
            trail.at = next;
        }
        Err(FetchError::TooManyRedirects)
    }

    fn refuse_own(&self, destination: &Destination, otherwise: FetchError) -> Result<(), FetchError> {
        if destination.is_one_of(&self.own) { Err(otherwise) } else { Ok(()) }
    }

    /// Asks for the head of a response. Some servers don't know HEAD, or never answer it: they are asked with GET, and the body stays
    /// unread, since dropping the connection closes it.
    async fn head(&self, destination: &Destination, cookies: &Cookies) -> Result<response::Parts, FetchError> {
        match timeout(self.timeout / SHARE_OF_HEAD, self.read(Method::HEAD, destination, cookies)).await {
            Ok(Ok(head)) if head.status.as_u16() < 400 => return Ok(head),
            Ok(Ok(_) | Err(FetchError::Answer(_))) | Err(_) => {}
            Ok(Err(error)) => return Err(error),
        }
        let (_connection, answer) = self.send(Method::GET, destination, cookies).await?;
        Ok(answer.into_parts().0)
    }

    /// Asks for a response and reads its body, up to the limit.
    async fn read(
        &self,
        method: Method,
        destination: &Destination,
        cookies: &Cookies,
    ) -> Result<response::Parts, FetchError> {
        let (connection, answer) = self.send(method, destination, cookies).await?;
        let (head, body) = answer.into_parts();
        self.finish(connection, body).await?;
        Ok(head)
    }

    async fn send(
        &self,
        method: Method,
        destination: &Destination,
        cookies: &Cookies,
    ) -> Result<(Connection, Response<Incoming>), FetchError> {
        let cookie = cookies.header_for(destination.url());
        self.ask(destination, &Asking { method, agent: &self.agent, cookie, authorization: None, form: None }).await
    }

    async fn ask(
        &self,
        destination: &Destination,
        asking: &Asking<'_>,
    ) -> Result<(Connection, Response<Incoming>), FetchError> {
        // An idle connection may fail because the server is closing it. That isn't a failure of the attempt.
        if asking.form.is_none()
            && let Some(mut connection) = self.pool.take(&destination.origin())
            && let Ok(answer) = connection.send(destination, asking).await
        {
            return Ok((connection, answer));
        }
        let mut connection = self.open(destination).await?;
        let answer = connection.send(destination, asking).await?;
        Ok((connection, answer))
    }

    /// Opens a connection to a checked address. The name is resolved only once, so that it can't resolve to another address
    /// between the check and the connection (DNS rebinding).
    async fn open(&self, destination: &Destination) -> Result<Connection, FetchError> {
        let addresses = self.addresses(destination).await?;
        let stream = self.connect(&CheckedAddress::all(&addresses, self.reach)?).await?;
        let origin = destination.origin();
        if !destination.is_encrypted() {
            return Connection::http1(origin, stream).await;
        }
        let stream = self.tls.connect(destination.server_name()?, stream).await.map_err(FetchError::Tls)?;
        match stream.get_ref().1.alpn_protocol() {
            Some(b"h2") => Connection::http2(origin, stream).await,
            _ => Connection::http1(origin, stream).await,
        }
    }

    async fn addresses(&self, destination: &Destination) -> Result<Vec<SocketAddr>, FetchError> {
        let addresses = match &destination.host {
            Host::Domain(name) => self.network.resolve(name).await.map_err(FetchError::Dns)?,
            Host::Ipv4(address) => vec![IpAddr::from(*address)],
            Host::Ipv6(address) => vec![IpAddr::from(*address)],
        };
        if addresses.is_empty() {
            return Err(FetchError::Dns(io::Error::other("the name has no address")));
        }
        Ok(addresses.into_iter().map(|address| SocketAddr::new(address, destination.port)).collect())
    }

    /// Connects to the first address that accepts a connection. Each has an equal share of the timeout, so that an address that
    /// doesn't answer leaves time for the next.
    async fn connect(&self, addresses: &[CheckedAddress]) -> Result<N::Stream, FetchError> {
        let tried = &addresses[..addresses.len().min(MAX_ADDRESSES)];
        let mut outcome = Err(FetchError::Timeout);
        for &address in tried {
            outcome = match timeout(self.timeout / tried.len() as u32, self.network.connect(address)).await {
                Ok(connected) => connected.map_err(FetchError::Connect),
                Err(_) => Err(FetchError::Timeout),
            };
            if outcome.is_ok() {
                break;
            }
        }
        outcome
    }

    /// Reads the body up to [`MAX_BODY`], and returns the connection to the pool if the body was complete.
    async fn finish(&self, connection: Connection, mut body: Incoming) -> Result<(), FetchError> {
        let mut length = 0;
        while let Some(frame) = body.frame().await {
            length += frame.map_err(FetchError::Answer)?.data_ref().map_or(0, Bytes::len);
            if length >= MAX_BODY && !body.is_end_stream() {
                return Ok(());
            }
        }
        self.pool.put(connection);
        Ok(())
    }
}

/// The `Location` header of a response that redirects.
fn redirect(head: &response::Parts) -> Option<&HeaderValue> {
    match head.status.as_u16() {
        301 | 302 | 303 | 307 | 308 => head.headers.get(LOCATION),
        _ => None,
    }
}
