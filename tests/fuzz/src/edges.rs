use std::net::IpAddr;

use linklet_lambda::http::{Edge, Request};

use crate::raw_http;

/// The headers of an edge in front of API Gateway.
pub fn edge_headers(input: &[u8]) {
    let Some(event) = raw_http::event(input) else { return };
    let request = Request::from(event);

    assert_eq!(Edge::None.address(&request), raw_http::SOURCE_IP, "a header has changed the address");
    assert_eq!((Edge::None.country(&request), Edge::None.city(&request)), (None, None));

    let address = Edge::CloudFront.address(&request);
    let parsed: IpAddr = address.parse().expect("an address");
    assert_eq!(parsed.to_string(), address, "one address has two texts");
    if let Some(country) = Edge::CloudFront.country(&request) {
        assert!(country.as_str().len() == 2 && country.as_str().bytes().all(|byte| byte.is_ascii_uppercase()));
    }
    let _ = Edge::CloudFront.city(&request);
}
