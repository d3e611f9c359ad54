//! One attempt at a URL.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header::LOCATION, response};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use rustls::{ClientConfig, RootCertStore, crypto::aws_lc_rs};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use url::Host;

use crate::{
    CheckedAddress, FetchError, Network, Reach, SystemNetwork,
    connection::{Connection, Kept},
    destination::Destination,
};

/// How much of a body is read. What comes after it doesn't tell more about whether the server works.
const MAX_BODY: usize = 64 * 1024;

/// How many redirects are followed.
const MAX_REDIRECTS: usize = 5;

/// Of a host with more addresses only the first are tried.
const MAX_ADDRESSES: usize = 3;

/// Fetches URLs, and nothing but what is public.
///
/// It holds the connections that it keeps, so there is one for as long as an execution environment lives.
pub struct Fetcher<N = SystemNetwork> {
    network: N,
    reach: Reach,
    tls: TlsConnector,
    timeout: Duration,
    kept: Kept,
    own_hosts: Vec<linklet_domain::Host>,
}

/// Why no fetcher can be made.
#[derive(Debug, thiserror::Error)]
pub enum FetcherError {
    /// Without them no server could be trusted.
    #[error("the system has no root certificates")]
    NoRoots,
    /// The library for TLS refuses its own defaults.
    #[error("TLS can't be set up")]
    Tls(#[from] rustls::Error),
}

impl Fetcher {
    /// A fetcher on the system's network that trusts the system's root certificates. An attempt takes at most `timeout`.
    ///
    /// # Errors
    /// When the system has no root certificates.
    pub fn new(reach: Reach, timeout: Duration) -> Result<Self, FetcherError> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Self::on(SystemNetwork, roots, reach, timeout)
    }
}

impl<N: Network> Fetcher<N> {
    /// A fetcher on another network, with other roots.
    ///
    /// # Errors
    /// When there are no roots.
    pub fn on(network: N, roots: RootCertStore, reach: Reach, timeout: Duration) -> Result<Self, FetcherError> {
        if roots.is_empty() {
            return Err(FetcherError::NoRoots);
        }
        let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let tls = TlsConnector::from(Arc::new(config));
        Ok(Self { network, reach, tls, timeout, kept: Kept::default(), own_hosts: Vec::new() })
    }

    /// The same, that asks none of these hosts. They are the shortener's own, where each request of a short link is a click.
    #[must_use]
    pub fn avoiding(self, own_hosts: Vec<linklet_domain::Host>) -> Self {
        Self { own_hosts, ..self }
    }

    /// Fetches a URL once. The time is for all of it: names, connections, redirects, and the answer with its body.
    pub(crate) async fn fetch(&self, destination: Destination) -> Result<StatusCode, FetchError> {
        timeout(self.timeout, self.follow(destination)).await.unwrap_or(Err(FetchError::Timeout))
    }

    async fn follow(&self, destination: Destination) -> Result<StatusCode, FetchError> {
        let mut destination = self.avoid(destination, FetchError::InvalidUrl)?;
        for _ in 0..=MAX_REDIRECTS {
            let (connection, answer) = self.get(&destination).await?;
            let (head, body) = answer.into_parts();
            self.finish(connection, body).await?;
            match redirect(&head) {
                Some(location) => {
                    destination = self.avoid(destination.redirected(location)?, FetchError::InvalidRedirect)?;
                }
                None => return Ok(head.status),
            }
        }
        Err(FetchError::TooManyRedirects)
    }

    fn avoid(&self, destination: Destination, otherwise: FetchError) -> Result<Destination, FetchError> {
        if destination.leads_to(&self.own_hosts) { Err(otherwise) } else { Ok(destination) }
    }

    async fn get(&self, destination: &Destination) -> Result<(Connection, Response<Incoming>), FetchError> {
        // The server may be closing a connection that was kept. This says nothing about whether it answers.
        if let Some(mut kept) = self.kept.take(&destination.origin())
            && let Ok(answer) = kept.get(destination).await
        {
            return Ok((kept, answer));
        }
        let mut connection = self.open(destination).await?;
        let answer = connection.get(destination).await?;
        Ok((connection, answer))
    }

    /// Opens a connection to an address that has been checked. The name is resolved once, so nobody can exchange the answer
    /// between the check and the connection.
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

    /// Connects to the first address that accepts. Each gets an equal share of the time, so that a silent one leaves some to
    /// the next.
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

    /// How many connections wait for the next check.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        self.kept.len()
    }

    /// Reads the body up to its limit, and keeps the connection if that was all.
    async fn finish(&self, connection: Connection, mut body: Incoming) -> Result<(), FetchError> {
        let mut length = 0;
        while let Some(frame) = body.frame().await {
            length += frame.map_err(FetchError::Answer)?.data_ref().map_or(0, Bytes::len);
            if length >= MAX_BODY && !body.is_end_stream() {
                return Ok(());
            }
        }
        self.kept.put(connection);
        Ok(())
    }
}

/// Where an answer sends us, if it does.
fn redirect(head: &response::Parts) -> Option<&HeaderValue> {
    match head.status.as_u16() {
        301 | 302 | 303 | 307 | 308 => head.headers.get(LOCATION),
        _ => None,
    }
}
