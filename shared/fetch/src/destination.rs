//! The destination of a request.

use std::{io, net::IpAddr};

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, USER_AGENT};
use http::{HeaderValue, Method, Request, Version};
use http_body_util::Full;
use linklet_domain::{OwnAddress, Reach, TargetUrl};
use rustls::pki_types::ServerName;
use url::{Host, Position, Url};

use crate::FetchError;

/// What a request says besides its destination.
pub(crate) struct Asking<'a> {
    pub method: Method,
    pub agent: &'a str,
    pub cookie: Option<HeaderValue>,
    pub authorization: Option<HeaderValue>,
    /// The fields of a form, encoded.
    pub form: Option<Bytes>,
}

/// An http or https URL without credentials, with a port that may be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Destination {
    url: Url,
    /// The parsed host. The parser recognises an IP address in any spelling.
    pub(crate) host: Host,
    pub(crate) port: u16,
}

/// The origin of a URL: scheme, host and port. A connection can be used for all URLs of its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin(String);

impl Destination {
    /// The destination of a target's URL.
    pub(crate) fn of(target: &TargetUrl) -> Result<Self, FetchError> {
        let url = Url::parse(target.as_str()).map_err(|_| FetchError::InvalidUrl)?;
        Self::new(url, FetchError::InvalidUrl)
    }

    /// The destination of a redirect from this URL, which keeps its fragment if it gets no other
    /// ([RFC 9110, 10.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.2)).
    pub(crate) fn redirected(&self, location: &HeaderValue) -> Result<Self, FetchError> {
        let location = str::from_utf8(location.as_bytes()).map_err(|_| FetchError::InvalidRedirect)?;
        let mut url = self.url.join(location).map_err(|_| FetchError::InvalidRedirect)?;
        if url.fragment().is_none() {
            url.set_fragment(self.url.fragment());
        }
        Self::new(url, FetchError::InvalidRedirect)
    }

    fn new(url: Url, otherwise: FetchError) -> Result<Self, FetchError> {
        let has_credentials = !url.username().is_empty() || url.password().is_some();
        if !matches!(url.scheme(), "http" | "https") || has_credentials {
            return Err(otherwise);
        }
        let (Some(host), Some(port)) = (url.host().map(|host| host.to_owned()), url.port_or_known_default()) else {
            return Err(otherwise);
        };
        if Reach::allows_port(port) { Ok(Self { url, host, port }) } else { Err(FetchError::PortNotAllowed) }
    }

    /// The URL, with its fragment.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    pub(crate) fn origin(&self) -> Origin {
        Origin(self.url[..Position::AfterPort].to_owned())
    }

    /// Whether this leads to one of these addresses, in any spelling.
    pub(crate) fn is_one_of(&self, addresses: &[OwnAddress]) -> bool {
        addresses.iter().any(|address| address.is_address_of(&self.url))
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The name that the server's certificate must be valid for.
    pub(crate) fn server_name(&self) -> Result<ServerName<'static>, FetchError> {
        match &self.host {
            Host::Domain(name) => {
                ServerName::try_from(name.clone()).map_err(|error| FetchError::Tls(io::Error::other(error)))
            }
            Host::Ipv4(address) => Ok(IpAddr::from(*address).into()),
            Host::Ipv6(address) => Ok(IpAddr::from(*address).into()),
        }
    }

    /// The request. It has no `Accept-Encoding`, since responses are never decompressed.
    pub(crate) fn request(&self, version: Version, asking: &Asking<'_>) -> Result<Request<Full<Bytes>>, FetchError> {
        let path_and_query = &self.url[Position::BeforePath..Position::AfterQuery];
        let request = Request::builder().method(asking.method.clone()).version(version);
        let request = request.header(USER_AGENT, asking.agent).header(ACCEPT, "*/*");
        let form = asking.form.as_ref().map(|_| HeaderValue::from_static("application/x-www-form-urlencoded"));
        let optional =
            [(COOKIE, &asking.cookie), (AUTHORIZATION, &asking.authorization), (CONTENT_TYPE, &form)].into_iter();
        let request = optional
            .filter_map(|(name, value)| Some((name, value.as_ref()?)))
            .fold(request, |request, (name, value)| request.header(name, value));
        let request = if version == Version::HTTP_2 {
            request.uri(&self.url[..Position::AfterQuery])
        } else {
            request.uri(path_and_query).header(HOST, &self.url[Position::BeforeHost..Position::AfterPort])
        };
        request.body(Full::new(asking.form.clone().unwrap_or_default())).map_err(|_| FetchError::InvalidUrl)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_url_of_the_web_becomes_a_request_to_its_host(rest in "[/?]\\PC{0,40}") {
            let target = TargetUrl::parse(&format!("https://example.com{}", rest.trim_end()));
            let Ok(destination) = target.map_err(|_| FetchError::InvalidUrl).and_then(|target| Destination::of(&target)) else {
                return Ok(());
            };

            let asking = Asking { method: Method::GET, agent: "LinkletBot", cookie: None, authorization: None, form: None };

            let [http1, http2] = [Version::HTTP_11, Version::HTTP_2].map(|version| destination.request(version, &asking));

            let (http1, http2) = (http1.unwrap(), http2.unwrap());
            prop_assert_eq!(http1.uri().host(), None);
            prop_assert_eq!(&http1.headers()[HOST], "example.com");
            prop_assert_eq!(http2.uri().host(), Some("example.com"));
            prop_assert_eq!(http1.uri().path_and_query(), http2.uri().path_and_query());
        }
    }
}
