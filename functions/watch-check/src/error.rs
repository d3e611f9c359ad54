use std::io;

use linklet_domain::CheckError;

/// Why a URL could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The host's name has no address, or none could be found out.
    #[error("the host's name could not be resolved")]
    Dns(#[source] io::Error),
    /// One of the host's addresses is not public, so none was connected to.
    #[error("the host has an address that is not public")]
    NotPublic,
    /// The URL has a port at which nothing is fetched.
    #[error("the port is not allowed")]
    PortNotAllowed,
    /// No address accepted a connection.
    #[error("no connection could be opened")]
    Connect(#[source] io::Error),
    /// The server's certificate isn't valid for the host, or there was no agreement on how to encrypt.
    #[error("the TLS handshake failed")]
    Tls(#[source] io::Error),
    /// The answer wasn't there in time, from resolving the name to the end of the body.
    #[error("there was no answer in time")]
    Timeout,
    /// The answer ended early, or was no HTTP.
    #[error("the answer could not be read")]
    Answer(#[source] hyper::Error),
    /// The redirects went on and on.
    #[error("there were too many redirects")]
    TooManyRedirects,
    /// A redirect led to something that is no http or https URL, or that has credentials, or to the shortener itself.
    #[error("a redirect led to no URL that can be fetched")]
    InvalidRedirect,
    /// The URL itself can't be fetched, or leads to the shortener.
    #[error("the URL can't be fetched")]
    InvalidUrl,
}

impl FetchError {
    /// The class under which a result shows the error.
    #[must_use]
    pub fn class(&self) -> CheckError {
        match self {
            Self::Dns(_) => CheckError::Dns,
            Self::NotPublic => CheckError::NotPublic,
            Self::PortNotAllowed => CheckError::PortNotAllowed,
            Self::Connect(_) => CheckError::Connect,
            Self::Tls(_) => CheckError::Tls,
            Self::Timeout => CheckError::Timeout,
            Self::TooManyRedirects => CheckError::TooManyRedirects,
            Self::InvalidRedirect => CheckError::InvalidRedirect,
            Self::Answer(_) | Self::InvalidUrl => CheckError::Other,
        }
    }

    /// Whether it may be gone in a moment, as trouble in the network may. What was refused would be refused again.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Dns(_) | Self::Connect(_) | Self::Tls(_) | Self::Timeout | Self::Answer(_) => true,
            Self::NotPublic
            | Self::PortNotAllowed
            | Self::TooManyRedirects
            | Self::InvalidRedirect
            | Self::InvalidUrl => false,
        }
    }
}
