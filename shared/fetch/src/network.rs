//! The network operations of a check: resolving names and opening connections.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};

use crate::CheckedAddress;

/// Resolves names and opens connections, only to checked addresses.
pub trait Network: Send + Sync {
    /// The stream of an open connection.
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Resolves a name to all its addresses.
    fn resolve(&self, name: &str) -> impl Future<Output = io::Result<Vec<IpAddr>>> + Send;

    /// Opens a connection to an address.
    fn connect(&self, address: CheckedAddress) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

/// The network of the operating system, without proxies.
#[derive(Debug, Clone, Copy)]
pub struct SystemNetwork;

impl Network for SystemNetwork {
    type Stream = TcpStream;

    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let addresses = lookup_host((name, 0)).await?;
        Ok(addresses.map(|address: SocketAddr| address.ip()).collect())
    }

    async fn connect(&self, address: CheckedAddress) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(address.get()).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}
