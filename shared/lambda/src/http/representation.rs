//! What an answer of JSON or CSV gets on its way: a tag by which it needn't be sent again, and compression.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};
use lambda_http::Body;
use lambda_http::http::{HeaderValue, StatusCode, header};
use sha2::{Digest as _, Sha256};

use super::response::{CSV, has_secret};
use super::{Method, Request, Response, accepts_gzip, matches, not_modified, revisions};

/// `Vary` of what is compressed for some. With CORS, API Gateway adds headers for some origins only, so an answer to one origin
/// isn't right for another.
pub const VARIES: HeaderValue = HeaderValue::from_static("Accept-Encoding, Origin");

/// A shorter answer gets hardly any shorter, and fits into a packet.
const COMPRESSED_FROM: usize = 1_024;

const REPRESENTED: [HeaderValue; 2] = [HeaderValue::from_static("application/json"), HeaderValue::from_static(CSV)];

/// The form of an answer for this request: 304 if the client has this body already, compressed if it takes that and the answer is
/// worth it.
pub(super) fn represented(request: &Request, mut response: Response) -> Response {
    let is_data = response.headers().get(header::CONTENT_TYPE).is_some_and(|given| REPRESENTED.contains(given));
    if !is_data || has_secret(&response) {
        return response;
    }
    if request.method() == Method::GET && response.status() == StatusCode::OK {
        response = revalidated(request, response);
    }
    response.headers_mut().entry(header::VARY).or_insert(VARIES);
    if accepts_gzip(request.header(header::ACCEPT_ENCODING)) { compressed(response) } else { response }
}

/// The answer with a weak tag of its body, or 304 if `If-None-Match` names that. An answer that has the tag of a
/// [revision](revisions) stays as it is: that tag stays the same while its clicks change.
fn revalidated(request: &Request, mut response: Response) -> Response {
    if response.headers().contains_key(header::ETAG) {
        return response;
    }
    let digest = Sha256::digest(&**response.body());
    let Ok(tag) = HeaderValue::from_str(&format!("W/\"{}\"", hex::encode(&digest[..16]))) else { return response };
    if tag.to_str().is_ok_and(|tag| matches(request.header(header::IF_NONE_MATCH), tag)) {
        let mut unchanged = not_modified();
        std::mem::swap(unchanged.headers_mut(), response.headers_mut());
        unchanged.headers_mut().remove(header::CONTENT_TYPE);
        response = unchanged;
    }
    let headers = response.headers_mut();
    headers.insert(header::ETAG, tag);
    // A browser may keep it, and asks with the tag each time before it shows what it has kept.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("private, no-cache"));
    response
}

fn compressed(mut response: Response) -> Response {
    let Body::Text(text) = response.body() else { return response };
    if text.len() < COMPRESSED_FROM || response.headers().contains_key(header::CONTENT_ENCODING) {
        return response;
    }
    // The fastest level: the default takes twice as long for an eighth less.
    let mut encoder = GzEncoder::new(Vec::with_capacity(text.len() / 2), Compression::fast());
    let Ok(bytes) = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish()) else { return response };
    *response.body_mut() = Body::Binary(bytes);
    revisions::name_compressed(&mut response);
    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response
}
