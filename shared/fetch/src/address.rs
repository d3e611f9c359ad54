use std::net::SocketAddr;

use linklet_domain::Reach;

use crate::FetchError;

/// An address that was checked: a check may connect to it. Only [`CheckedAddress::all`] creates these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckedAddress(SocketAddr);

impl CheckedAddress {
    /// Checks all addresses of a host. If one isn't allowed, all are refused, since a host with a public and a private address
    /// is a mistake or an attack.
    pub(crate) fn all(addresses: &[SocketAddr], reach: Reach) -> Result<Vec<Self>, FetchError> {
        if !addresses.iter().all(|address| reach.allows(address.ip())) {
            return Err(FetchError::NotPublic);
        }
        Ok(addresses.iter().copied().map(Self).collect())
    }

    /// The socket address to connect to.
    pub fn get(self) -> SocketAddr {
        self.0
    }
}
