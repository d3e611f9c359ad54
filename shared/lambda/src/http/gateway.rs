//! API Gateway's events and responses (payload format 2.0).
//!
//! Linklet has its own types for two reasons. They deserialise only what Linklet reads; the types of `aws_lambda_events`
//! deserialise everything, which takes longer than processing a redirect. And `lambda_http` builds a URI of host, scheme, path
//! and query, and panics if that is invalid, as with `?q="x"`; a panic ends the execution environment.

use std::{borrow::Cow, fmt};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use lambda_http::Body;
use lambda_http::http::response::Parts;
use lambda_http::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Response;

/// The event of an HTTP request
/// ([payload format 2.0](https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html)).
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GatewayEvent {
    /// The path, decoded.
    pub raw_path: Option<String>,
    /// The query string as it was sent. (The event's map of parameters would join repeated ones with commas.)
    pub raw_query_string: Option<String>,
    /// The headers; repeated ones are joined with commas.
    #[serde(default, deserialize_with = "headers")]
    pub headers: HeaderMap,
    /// The cookies, each as `name=value`. Emulators leave them in the header `Cookie`, which API Gateway takes them out of.
    #[serde(default)]
    pub cookies: Vec<String>,
    /// The request context of API Gateway.
    pub request_context: RequestContext,
    /// The body, as text or in Base64.
    pub body: Option<String>,
    /// Whether `body` is Base64-encoded.
    pub is_base64_encoded: Option<bool>,
}

/// The request context of API Gateway.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct RequestContext {
    /// The HTTP part of the context.
    pub http: HttpContext,
}

/// The HTTP part of the request context.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpContext {
    /// The HTTP method.
    #[serde(deserialize_with = "method")]
    pub method: Method,
    /// The source IP address of the connection to API Gateway.
    pub source_ip: Option<String>,
}

impl GatewayEvent {
    /// Takes the decoded body. A body that can't be decoded becomes empty, which all routes with a body refuse.
    pub(super) fn take_body(&mut self) -> Body {
        match self.body.take() {
            Some(body) if self.is_base64_encoded == Some(true) => {
                STANDARD.decode(body).map_or(Body::Empty, Body::Binary)
            }
            Some(body) => Body::Text(body),
            None => Body::Empty,
        }
    }
}

fn method<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Method, D::Error> {
    let name = Cow::<str>::deserialize(deserializer)?;
    name.parse().map_err(|_| D::Error::custom("invalid HTTP method"))
}

fn headers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<HeaderMap, D::Error> {
    deserializer.deserialize_map(Headers)
}

struct Headers;

impl<'de> Visitor<'de> for Headers {
    type Value = HeaderMap;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("headers")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<HeaderMap, A::Error> {
        let mut headers = HeaderMap::with_capacity(map.size_hint().unwrap_or(16));
        while let Some((name, value)) = map.next_entry::<Cow<'_, str>, Cow<'_, str>>()? {
            // Invalid headers are skipped, since no handler could read them.
            if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(&value)) {
                headers.insert(name, value);
            }
        }
        Ok(headers)
    }
}

/// The response for API Gateway. A binary body is written in Base64, which API Gateway decodes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GatewayAnswer {
    #[serde(serialize_with = "number")]
    status_code: StatusCode,
    #[serde(serialize_with = "texts")]
    headers: HeaderMap,
    /// The body; left out if it is empty, since some emulators of API Gateway don't accept `null`.
    #[serde(skip_serializing_if = "is_empty")]
    body: Body,
    is_base64_encoded: bool,
    /// The values of `Set-Cookie`. Emulators that use the types of `aws_lambda_events`, such as `cargo lambda watch`, require the
    /// member, also if it is empty.
    cookies: Vec<String>,
}

impl From<Response> for GatewayAnswer {
    fn from(response: Response) -> Self {
        let (Parts { status, mut headers, .. }, body) = response.into_parts();
        let is_base64_encoded = matches!(body, Body::Binary(_));
        let cookies = headers.remove(header::SET_COOKIE).into_iter();
        let cookies = cookies.map(|cookie| String::from_utf8_lossy(cookie.as_bytes()).into_owned()).collect();
        Self { status_code: status, headers, body, is_base64_encoded, cookies }
    }
}

fn is_empty(body: &Body) -> bool {
    body.is_empty()
}

fn number<S: Serializer>(status: &StatusCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u16(status.as_u16())
}

/// Serialises headers. Handlers set only text, and each header once.
fn texts<S: Serializer>(headers: &HeaderMap, serializer: S) -> Result<S::Ok, S::Error> {
    serializer
        .collect_map(headers.iter().map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes()))))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::http::{Request, content, no_content};

    fn event(host: &str, scheme: &str, path: &str, query: &str) -> Value {
        json!({
            "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": query,
            "headers": {"host": host, "x-forwarded-proto": scheme},
            "requestContext": {"http": {"method": "GET", "path": path, "sourceIp": "203.0.113.9"}, "stage": "$default"},
            "body": "{}", "isBase64Encoded": false,
        })
    }

    fn read(event: Value) -> Request {
        Request::from(serde_json::from_value::<GatewayEvent>(event).unwrap())
    }

    #[test]
    fn everything_that_handlers_ask_for_is_there() {
        let request = read(event("go.example.com", "https", "/api/links", "q=a%20b&q=c"));

        assert_eq!((request.method().as_str(), request.path()), ("GET", "/api/links"));
        assert_eq!((request.query("q"), request.source_ip()), (Some("a b"), "203.0.113.9"));
        assert_eq!(request.origin(), "https://go.example.com");
        assert!(request.json_object().is_ok());
    }

    #[test]
    fn an_encoded_body_is_decoded_and_an_undecodable_one_is_refused() {
        let with_body = |body: &str| {
            let mut event = event("go.example.com", "https", "/api/shorten", "");
            (event["body"], event["isBase64Encoded"]) = (json!(body), json!(true));
            read(event)
        };

        assert_eq!(with_body("eyJ1cmwiOiJ4In0=").json_object().unwrap().canonical(), r#"{"url":"x"}"#);
        for refused in ["%", "eyJ1cmwiOiJ4In0", "/w==", ""] {
            assert_eq!(with_body(refused).json_object().unwrap_err().status(), StatusCode::BAD_REQUEST, "{refused}");
        }
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

    fn told(answer: Response) -> Value {
        serde_json::to_value(GatewayAnswer::from(answer)).unwrap()
    }

    #[test]
    fn a_cookie_is_found_where_gateways_and_emulators_put_it() {
        let mut aws = event("go.example.com", "https", "/api/auth/refresh", "");
        aws["cookies"] = json!(["theme=dark", "refresh=a.b=c"]);
        let mut emulator = event("go.example.com", "https", "/api/auth/refresh", "");
        emulator["headers"]["cookie"] = json!("theme=dark;refresh=a.b=c; refresh=other");
        let none = event("go.example.com", "https", "/api/auth/refresh", "");

        for given in [aws, emulator] {
            let request = read(given);
            assert_eq!((request.cookie("refresh"), request.cookie("fresh")), (Some("a.b=c"), None));
        }
        assert_eq!(read(none).cookie("refresh"), None);
    }

    #[test]
    fn a_cookie_to_set_is_no_header() {
        let mut answer = no_content();
        answer.headers_mut().insert(header::SET_COOKIE, HeaderValue::from_static("refresh=a; HttpOnly"));
        let answer = told(answer);

        assert_eq!((&answer["cookies"], answer["headers"].get("set-cookie")), (&json!(["refresh=a; HttpOnly"]), None));
        assert_eq!(told(no_content())["cookies"], json!([]));
    }

    #[test]
    fn headers_that_are_none_are_left_out_and_the_rest_is_read() {
        let mut event = event("go.example.com", "https", "/health", "");
        (event["headers"]["user agent"], event["headers"]["x-note"]) = (json!("x"), json!("a\nb"));
        event["headers"]["x-city"] = json!("Köln");
        let request = read(event);

        assert_eq!(request.host(), "go.example.com");
        assert_eq!(request.header_lossy("x-city").as_deref(), Some("Köln"));
        assert!(!request.has_header("x-note"));
    }

    #[test]
    fn an_invalid_event_is_refused() {
        let without = |member: &str| {
            let mut event = event("go.example.com", "https", "/health", "");
            event.as_object_mut().unwrap().remove(member);
            serde_json::from_value::<GatewayEvent>(event)
        };
        let mut no_method = event("go.example.com", "https", "/health", "");
        no_method["requestContext"]["http"]["method"] = json!("GET /");

        assert!(without("requestContext").is_err());
        assert!(serde_json::from_value::<GatewayEvent>(no_method).is_err());
        for member in ["headers", "body", "isBase64Encoded", "rawQueryString", "rawPath"] {
            assert!(without(member).is_ok(), "{member}");
        }
    }

    #[test]
    fn an_answer_keeps_its_status_headers_and_text() {
        let answer = told(content(StatusCode::GONE, "text/html; charset=utf-8", "<p>"));

        assert_eq!((&answer["statusCode"], &answer["body"]), (&json!(410), &json!("<p>")));
        assert_eq!(answer["headers"]["content-type"], "text/html; charset=utf-8");
        assert_eq!(answer["isBase64Encoded"], false);
        let empty = told(no_content());
        assert_eq!((&empty["statusCode"], empty.get("body")), (&json!(204), None));
    }

    #[test]
    fn a_binary_body_is_encoded_and_a_text_is_not() {
        let binary = told(content(StatusCode::OK, "application/json", vec![0x1f, 0x8b, 0xff]));
        let text = told(content(StatusCode::OK, "application/json", "{}"));

        assert_eq!((&binary["body"], &binary["isBase64Encoded"]), (&json!("H4v/"), &json!(true)));
        assert_eq!((&text["body"], &text["isBase64Encoded"]), (&json!("{}"), &json!(false)));
    }
}
