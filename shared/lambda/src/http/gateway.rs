//! Between API Gateway's events (payload format 2.0) and the types of the `http` crate.
//!
//! `lambda_http` has the same conversion, but makes a URI of host, scheme, path and query on the way and panics when that is
//! none. A client can see to that with `?q="x"`, and a panic ends the execution environment. No URI is needed here.

use lambda_http::{
    Body, RequestExt as _,
    aws_lambda_events::{
        apigw::{ApiGatewayV2httpRequest, ApiGatewayV2httpResponse},
        query_map::QueryMap,
    },
    request::RequestContext,
};

use super::Response;

/// The request that an event tells of, whatever a client has put into it.
#[must_use]
pub fn request_of(event: ApiGatewayV2httpRequest) -> lambda_http::Request {
    let body =
        event.body.as_deref().map_or(Body::Empty, |body| Body::from_maybe_encoded(event.is_base64_encoded, body));
    // Read from the raw text: API Gateway's own map joins repeated parameters with commas.
    let query: QueryMap = event.raw_query_string.unwrap_or_default().parse().unwrap_or_default();
    let mut request = lambda_http::Request::new(body);
    *request.method_mut() = event.request_context.http.method.clone();
    *request.headers_mut() = event.headers;
    request
        .with_raw_http_path(event.raw_path.unwrap_or_default())
        .with_query_string_parameters(query)
        .with_request_context(RequestContext::ApiGatewayV2(event.request_context))
}

/// What API Gateway is told to answer. All our bodies are text.
pub(super) fn answer_of(response: Response) -> ApiGatewayV2httpResponse {
    let (parts, body) = response.into_parts();
    let mut answer = ApiGatewayV2httpResponse::default();
    answer.status_code = parts.status.as_u16().into();
    answer.headers = parts.headers;
    // An empty body is no member: not everything that plays API Gateway knows what `null` means.
    answer.body = Some(body).filter(|body| !body.is_empty());
    answer
}

#[cfg(test)]
mod tests {
    use lambda_http::http::StatusCode;
    use serde_json::{Value, json};

    use super::*;
    use crate::http::{Request, html, no_content};

    fn event(host: &str, scheme: &str, path: &str, query: &str) -> Value {
        json!({
            "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": query,
            "headers": {"host": host, "x-forwarded-proto": scheme},
            "requestContext": {"http": {"method": "GET", "path": path, "sourceIp": "203.0.113.9"}, "stage": "$default"},
            "body": "{}", "isBase64Encoded": false,
        })
    }

    fn read(event: Value) -> Request {
        Request::from(request_of(serde_json::from_value(event).unwrap()))
    }

    #[test]
    fn everything_that_handlers_ask_for_is_there() {
        let request = read(event("go.example.com", "https", "/api/links", "q=a%20b&q=c"));

        assert_eq!((request.method().as_str(), request.path()), ("GET", "/api/links"));
        assert_eq!((request.query("q"), request.source_ip()), (Some("a b"), "203.0.113.9"));
        assert_eq!(request.origin(), "https://go.example.com");
        assert!(request.json(2).is_ok());
    }

    #[test]
    fn an_event_that_makes_no_uri_is_a_request_all_the_same() {
        for (host, scheme, path, query) in [
            ("go.example.com", "https", "/health", "q=\"x\""),
            ("go.example.com", "https", "/health", "q=<x>"),
            ("go.example.com", "https", "/health", "q=a b"),
            ("go example com", "https", "/health", ""),
            ("go.example.com", "java script", "/health", ""),
            ("go.example.com", "https,http", "/health", ""),
            ("", "", "//", "%%%"),
            ("go.example.com:port", "https", ":no path", "?"),
        ] {
            assert_eq!(read(event(host, scheme, path, query)).path(), path);
        }
    }

    #[test]
    fn an_answer_keeps_its_status_headers_and_text() {
        let answer = serde_json::to_value(answer_of(html(StatusCode::GONE, "<p>".to_owned()))).unwrap();

        assert_eq!((&answer["statusCode"], &answer["body"]), (&json!(410), &json!("<p>")));
        assert_eq!(answer["headers"]["content-type"], "text/html; charset=utf-8");
        assert_eq!(answer["isBase64Encoded"], false);
        let empty = serde_json::to_value(answer_of(no_content())).unwrap();
        assert_eq!((&empty["statusCode"], empty.get("body")), (&json!(204), None));
    }
}
