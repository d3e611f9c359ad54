use std::{borrow::Cow, net::IpAddr, sync::Once};

use linklet_domain::{CountryCode, Invalid};
use percent_encoding::percent_decode_str;

use super::Request;

/// The trusted edge in front of API Gateway, whose headers describe the client.
///
/// Use [`Edge::CloudFront`] only if clients can't bypass CloudFront, since they could forge its headers otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", parse_err_ty = Invalid, parse_err_fn = no_edge)]
pub enum Edge {
    /// No edge: the client's address is the source IP of API Gateway, its location is unknown.
    None,
    /// CloudFront with an origin request policy that adds its
    /// [viewer headers](https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/adding-cloudfront-headers.html).
    CloudFront,
}

fn no_edge(_: &str) -> Invalid {
    Invalid::new("must be none or cloudfront")
}

impl Edge {
    /// The client's IP address.
    pub fn address(self, request: &Request) -> Cow<'_, str> {
        let viewer = self.header(request, "cloudfront-viewer-address").and_then(without_port);
        if self == Self::CloudFront && viewer.is_none() {
            warn_once();
        }
        viewer.map_or(Cow::Borrowed(request.source_ip()), |address| Cow::Owned(address.to_string()))
    }

    /// The client's country, if the edge has sent it.
    pub fn country(self, request: &Request) -> Option<CountryCode> {
        CountryCode::parse(self.header(request, "cloudfront-viewer-country")?).ok()
    }

    /// The client's city, if the edge has sent it. CloudFront percent-encodes it.
    pub fn city(self, request: &Request) -> Option<Cow<'_, str>> {
        Some(percent_decode_str(self.header(request, "cloudfront-viewer-city")?).decode_utf8_lossy())
    }

    fn header<'a>(self, request: &'a Request, name: &'static str) -> Option<&'a str> {
        match self {
            Self::None => None,
            Self::CloudFront => request.header(name),
        }
    }
}

/// Logs a warning, once per environment: without the header, all clients of an edge location share one rate limit.
fn warn_once() {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| tracing::warn!("CloudFront-Viewer-Address is missing: is it in the origin request policy?"));
}

/// The address without port, as in `198.51.100.10:46532`. An IPv6 address may be in brackets or not.
fn without_port(viewer: &str) -> Option<IpAddr> {
    let (address, _port) = viewer.rsplit_once(':')?;
    address.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::GatewayEvent;

    fn request(headers: &[(&'static str, &str)]) -> Request {
        let mut event = GatewayEvent::default();
        for (name, value) in headers {
            event.headers.insert(*name, value.parse().unwrap());
        }
        Request::from(event)
    }

    fn viewer() -> Request {
        request(&[
            ("cloudfront-viewer-address", "198.51.100.10:46532"),
            ("cloudfront-viewer-country", "DE"),
            ("cloudfront-viewer-city", "K%C3%B6ln"),
        ])
    }

    #[test]
    fn a_trusted_edge_says_who_and_where() {
        let request = viewer();

        assert_eq!(Edge::CloudFront.address(&request), "198.51.100.10");
        assert_eq!(Edge::CloudFront.country(&request), CountryCode::parse("DE").ok());
        assert_eq!(Edge::CloudFront.city(&request).as_deref(), Some("Köln"));
    }

    #[test]
    fn without_an_edge_its_headers_mean_nothing() {
        let request = viewer();

        assert_eq!(Edge::None.address(&request), "unknown");
        assert_eq!((Edge::None.country(&request), Edge::None.city(&request)), (None, None));
    }

    #[test]
    fn addresses_of_both_versions_are_read_and_others_are_not() {
        for (header, address) in [
            ("[2001:db8::1]:443", Some("2001:db8::1")),
            ("2001:db8:0:0:0:0:0:1:443", Some("2001:db8::1")),
            ("198.51.100.10", None),
            ("somewhere:1", None),
            ("", None),
        ] {
            assert_eq!(without_port(header).map(|address| address.to_string()).as_deref(), address, "{header}");
        }
    }

    #[test]
    fn a_country_of_another_form_is_none() {
        assert_eq!(Edge::CloudFront.country(&request(&[("cloudfront-viewer-country", "Germany")])), None);
    }
}
