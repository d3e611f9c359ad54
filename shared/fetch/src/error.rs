use std::io;

use linklet_domain::CheckError;
use rustls::{AlertDescription, CertificateError, Error as TlsError};

/// Why a URL could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The host name could not be resolved.
    #[error("the host name could not be resolved")]
    Dns(#[source] io::Error),
    /// One of the host's addresses is not public, so no connection was opened.
    #[error("the host has an address that is not public")]
    NotPublic,
    /// The URL's port may not be fetched.
    #[error("the port is not allowed")]
    PortNotAllowed,
    /// No TCP connection could be opened to any of the host's addresses.
    #[error("no connection could be opened")]
    Connect(#[source] io::Error),
    /// The TLS handshake failed, for example because the certificate isn't valid for the host.
    #[error("the TLS handshake failed")]
    Tls(#[source] io::Error),
    /// The attempt, from resolving the name to the end of the body, took too long.
    #[error("the attempt timed out")]
    Timeout,
    /// The response is incomplete or not HTTP.
    #[error("the response could not be read")]
    Answer(#[source] hyper::Error),
    /// The body of the response is larger than what is read of one.
    #[error("the response is too large")]
    TooLarge,
    /// There were more redirects than are followed.
    #[error("too many redirects")]
    TooManyRedirects,
    /// A redirect's location is not an http or https URL, has credentials, or is the shortener itself.
    #[error("a redirect's location can't be fetched")]
    InvalidRedirect,
    /// The URL itself can't be fetched, or is the shortener's.
    #[error("the URL can't be fetched")]
    InvalidUrl,
}

impl FetchError {
    /// The error as a result of a check contains it.
    pub fn class(&self) -> CheckError {
        match self {
            Self::Dns(_) => CheckError::Dns,
            Self::NotPublic => CheckError::NotPublic,
            Self::PortNotAllowed => CheckError::PortNotAllowed,
            Self::Connect(_) => CheckError::Connect,
            Self::Tls(error) => tls_class(error),
            Self::Timeout => CheckError::Timeout,
            Self::TooManyRedirects => CheckError::TooManyRedirects,
            Self::InvalidRedirect => CheckError::InvalidRedirect,
            Self::Answer(_) | Self::TooLarge | Self::InvalidUrl => CheckError::Other,
        }
    }

    /// Whether a retry may succeed: network errors are transient, refusals are not.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Dns(_) | Self::Connect(_) | Self::Tls(_) | Self::Timeout | Self::Answer(_) => true,
            Self::NotPublic
            | Self::PortNotAllowed
            | Self::TooLarge
            | Self::TooManyRedirects
            | Self::InvalidRedirect
            | Self::InvalidUrl => false,
        }
    }
}

/// What is wrong with the server's TLS. A handshake that a broken connection ends says nothing about it.
fn tls_class(error: &io::Error) -> CheckError {
    match error.get_ref().and_then(|error| error.downcast_ref::<TlsError>()) {
        Some(TlsError::InvalidCertificate(error)) => certificate_class(error),
        Some(TlsError::NoCertificatesPresented) => CheckError::TlsCertificate,
        Some(
            TlsError::InvalidMessage(_)
            | TlsError::PeerIncompatible(_)
            | TlsError::AlertReceived(AlertDescription::ProtocolVersion | AlertDescription::HandshakeFailure),
        ) => CheckError::TlsProtocol,
        _ => CheckError::Tls,
    }
}

fn certificate_class(error: &CertificateError) -> CheckError {
    match error {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => CheckError::TlsChain,
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => CheckError::TlsExpired,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => CheckError::TlsName,
        _ => CheckError::TlsCertificate,
    }
}
