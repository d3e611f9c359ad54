use std::{borrow::Cow, sync::OnceLock};

use lambda_http::{
    Body,
    aws_lambda_events::query_map::QueryMap,
    http::{HeaderMap, Method, header},
};
use linklet_domain::{Allowance, CorrelationId, Day, Invalid, Timestamp};
use serde::de::DeserializeOwned;

use super::{ApiError, GatewayEvent, JsonObject};

/// A request as handlers see it.
#[derive(Debug)]
pub struct Request {
    method: Method,
    path: String,
    headers: HeaderMap,
    query: QueryMap,
    body: Body,
    source_ip: Option<String>,
    correlation_id: CorrelationId,
    received_at: Timestamp,
    allowance: OnceLock<Allowance>,
}

impl From<GatewayEvent> for Request {
    fn from(mut event: GatewayEvent) -> Self {
        let body = event.take_body();
        let offered_id = event.headers.get("x-correlation-id").and_then(|value| value.to_str().ok());
        let correlation_id = CorrelationId::accept(offered_id);
        Self {
            method: event.request_context.http.method,
            path: event.raw_path.unwrap_or_default(),
            headers: event.headers,
            query: event.raw_query_string.unwrap_or_default().parse().unwrap_or_default(),
            body,
            // X-Forwarded-For also holds what the client wrote into it.
            source_ip: event.request_context.http.source_ip,
            correlation_id,
            received_at: Timestamp::now(),
            allowance: OnceLock::new(),
        }
    }
}

impl Request {
    /// The method.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The path without the query.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The path's parts, to match routes on.
    #[must_use]
    pub fn segments(&self) -> Vec<&str> {
        self.path.split('/').skip(1).collect()
    }

    /// A header's value, if it is there and is text.
    #[must_use]
    pub fn header(&self, name: impl header::AsHeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Whether a header is there, whatever is in it.
    #[must_use]
    pub fn has_header(&self, name: impl header::AsHeaderName) -> bool {
        self.headers.contains_key(name)
    }

    /// The value of a header that may be there once, such as a credential; `None` also if there are several.
    #[must_use]
    pub fn only_header(&self, name: impl header::AsHeaderName) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let first = values.next()?;
        if values.next().is_some() { None } else { first.to_str().ok() }
    }

    /// A header's value with anything that is not UTF-8 replaced: what visitors send may hold any byte.
    #[must_use]
    pub fn header_lossy(&self, name: impl header::AsHeaderName) -> Option<Cow<'_, str>> {
        self.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()))
    }

    /// A query parameter's first value.
    #[must_use]
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.first(name)
    }

    /// The query parameter `limit`: 1–100, 20 if it is missing.
    ///
    /// # Errors
    /// 400 when it is anything else.
    pub fn page_size(&self) -> Result<usize, ApiError> {
        const DEFAULT: usize = 20;
        let Some(limit) = self.query("limit") else { return Ok(DEFAULT) };
        match limit.parse() {
            Ok(limit @ 1..=100) => Ok(limit),
            _ => Err(Invalid::new("limit must be a number from 1 to 100").into()),
        }
    }

    /// A query parameter that is a date, which means its first moment, or a date-time.
    ///
    /// # Errors
    /// 400 when it is neither.
    pub fn moment(&self, name: &str) -> Result<Option<Timestamp>, Invalid> {
        let parse = |text: &str| {
            // The plus of an offset that a client didn't encode arrives as a space.
            let text = text.replace(' ', "+");
            Day::parse(&text)
                .map(|day| day.at_hour(0))
                .or_else(|_| Timestamp::parse(&text))
                .map_err(|_| Invalid(format!("{name} must be a date or an RFC 3339 date-time")))
        };
        self.query(name).map(parse).transpose()
    }

    /// The body as the struct that a route has for it.
    ///
    /// # Errors
    /// 413 when it has more than `limit` bytes, 400 when it is no JSON object or a member breaks a rule.
    pub fn json<T: DeserializeOwned>(&self, limit: usize) -> Result<T, ApiError> {
        Ok(self.json_object(limit)?.read()?)
    }

    /// The body as a JSON object, for a route that reads more than one struct from it.
    ///
    /// # Errors
    /// 413 when it has more than `limit` bytes, 400 when it is no JSON object.
    pub fn json_object(&self, limit: usize) -> Result<JsonObject, ApiError> {
        if self.body.len() > limit {
            return Err(ApiError::PayloadTooLarge { limit });
        }
        Ok(JsonObject::parse(&self.body)?)
    }

    /// Checks a time in the body that has to come after the request.
    ///
    /// # Errors
    /// 400 when it doesn't.
    pub fn require_future(&self, member: &str, time: Option<Timestamp>) -> Result<(), Invalid> {
        if time.is_some_and(|time| time <= self.received_at) {
            return Err(Invalid(format!("{member} must be in the future")));
        }
        Ok(())
    }

    /// The client's address as API Gateway saw it.
    #[must_use]
    pub fn source_ip(&self) -> &str {
        self.source_ip.as_deref().unwrap_or("unknown")
    }

    /// Scheme and host under which the client reached us, such as `https://go.example.com`. API Gateway only speaks https, so
    /// nothing but a plain `http` (the local system's) makes it another scheme: whatever a client forges ends up in no link.
    #[must_use]
    pub fn origin(&self) -> String {
        let scheme = if self.header("x-forwarded-proto") == Some("http") { "http" } else { "https" };
        format!("{scheme}://{}", self.host())
    }

    /// The host under which the client reached us, with its port if it has one. API Gateway routes by it, so it is ours; what
    /// has not the form of a host did not come that way.
    #[must_use]
    pub fn host(&self) -> &str {
        self.header(header::HOST).filter(|host| is_host(host)).unwrap_or("localhost")
    }

    /// Whether a browser fetches this before anybody asks for it: `Sec-Purpose: prefetch` (Fetch standard, also with
    /// `;prerender`), and the headers that browsers sent before there was a standard.
    #[must_use]
    pub fn is_prefetch(&self) -> bool {
        ["sec-purpose", "purpose", "x-purpose", "x-moz"].into_iter().filter_map(|name| self.header(name)).any(|value| {
            let mut purposes = value.split([';', ',']).map(str::trim);
            purposes.any(|purpose| {
                ["prefetch", "prerender", "preview"].iter().any(|known| purpose.eq_ignore_ascii_case(known))
            })
        })
    }

    /// Whether the client prefers a page to a JSON document.
    #[must_use]
    pub fn wants_html(&self) -> bool {
        self.header(header::ACCEPT).is_some_and(|accepted| accepted.contains("text/html"))
    }

    /// The id that ties this request to all that comes of it.
    #[must_use]
    pub fn correlation_id(&self) -> &CorrelationId {
        &self.correlation_id
    }

    /// Notes the remaining calls of a rate limit, which the response shows in its headers. The first call decides.
    pub fn note_allowance(&self, allowance: Allowance) {
        self.allowance.get_or_init(|| allowance);
    }

    /// How many calls the client has left, on a route that has a limit.
    pub(super) fn allowance(&self) -> Option<Allowance> {
        self.allowance.get().copied()
    }

    /// The same request, as if it had arrived at this time.
    #[must_use]
    pub fn arriving_at(self, received_at: Timestamp) -> Self {
        Self { received_at, ..self }
    }

    /// When the request arrived: "now" for every decision about it.
    #[must_use]
    pub fn received_at(&self) -> Timestamp {
        self.received_at
    }
}

/// Letters, digits, dots, hyphens, and what ports and IPv6 addresses need: nothing that ends a host within a URL.
fn is_host(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(host: &str, scheme: &str) -> String {
        let mut event = GatewayEvent::default();
        event.headers.insert("host", host.parse().unwrap());
        event.headers.insert("x-forwarded-proto", scheme.parse().unwrap());
        Request::from(event).origin()
    }

    #[test]
    fn an_origin_is_what_the_client_reached() {
        assert_eq!(origin("go.example.com", "https"), "https://go.example.com");
        assert_eq!(origin("127.0.0.1:4566", "http"), "http://127.0.0.1:4566");
        assert_eq!(origin("[::1]:4566", "http"), "http://[::1]:4566");
    }

    #[test]
    fn a_forged_scheme_or_host_makes_no_other_origin() {
        for scheme in ["javascript", "", "HTTP", "http,https", "ftp", "data:text/html,"] {
            assert_eq!(origin("go.example.com", scheme), "https://go.example.com", "{scheme}");
        }
        for host in ["", "a/b", "user@evil.example", "evil.example?", "evil.example#", "a b", "a\\b", "<script>"] {
            assert_eq!(origin(host, "https"), "https://localhost", "{host}");
        }
    }
}
