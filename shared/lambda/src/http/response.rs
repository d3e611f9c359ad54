use lambda_http::Body;
use lambda_http::http::{HeaderValue, StatusCode, header};
use serde::Serialize;

/// An HTTP response.
pub type Response = lambda_http::Response<Body>;

/// A response with a JSON body.
pub fn json(status: StatusCode, body: &impl Serialize) -> Response {
    typed(status, "application/json", body)
}

/// A response with status 201 and a JSON body. `location` leads to what was made, relative to the request's address, so that it
/// is right whatever comes before the path, as with an emulator.
pub fn created(location: &str, body: &impl Serialize) -> Response {
    located(json(StatusCode::CREATED, body), location)
}

/// This response with the header `Location`. An address that can't be in a header is left out.
pub fn located(mut response: Response, location: &str) -> Response {
    if let Ok(location) = HeaderValue::from_str(location) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// A response with a JSON body that is already serialised.
pub fn json_text(status: StatusCode, text: String) -> Response {
    content(status, "application/json", text)
}

/// The media type of tables (RFC 7111).
pub(super) const CSV: &str = "text/csv; charset=utf-8";

/// A response with a table as CSV.
pub fn table(text: String) -> Response {
    content(StatusCode::OK, CSV, text)
}

/// A response with a problem document (RFC 9457).
pub(super) fn problem(status: StatusCode, body: &impl Serialize) -> Response {
    typed(status, "application/problem+json", body)
}

/// A response with no body.
pub fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::Empty);
    *response.status_mut() = status;
    response
}

/// A response with status 204 and no body.
pub fn no_content() -> Response {
    empty(StatusCode::NO_CONTENT)
}

/// A response with status 202 and no body, for what happens later, if at all.
pub fn accepted() -> Response {
    empty(StatusCode::ACCEPTED)
}

/// A response with status 304 and no body.
pub fn not_modified() -> Response {
    empty(StatusCode::NOT_MODIFIED)
}

/// This response, which has a secret in its body, such as a token. It is never compressed: the length of what is compressed
/// tells whoever can have something of theirs put beside the secret what it begins with
/// ([BREACH](https://www.breachattack.com)).
#[must_use]
pub fn with_secret(mut response: Response) -> Response {
    response.extensions_mut().insert(HasSecret);
    response
}

/// Whether a response is one [`with_secret`].
pub(super) fn has_secret(response: &Response) -> bool {
    response.extensions().get::<HasSecret>().is_some()
}

#[derive(Clone)]
struct HasSecret;

fn typed(status: StatusCode, content_type: &'static str, body: &impl Serialize) -> Response {
    match serde_json::to_string(body) {
        Ok(text) => content(status, content_type, text),
        Err(error) => {
            tracing::error!(%error, "a response could not be serialised");
            content(StatusCode::INTERNAL_SERVER_ERROR, "application/json", "{}".to_owned())
        }
    }
}

/// A response with a body of this type, as text or as bytes.
pub fn content(status: StatusCode, content_type: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
