mod query;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use lambda_http::Body;
use lambda_http::aws_lambda_events::query_map::QueryMap;
use lambda_http::http::{HeaderMap, Method, header};
use linklet_domain::{
    Allowance, CorrelationId, IdempotencyKey, Invalid, IpHash, ShortCode, ThrottleSubject, Timestamp, UserId,
};
use serde::de::DeserializeOwned;

use super::operations::{self, Operation};
use super::unread::{Unread, naming};
use super::{GatewayEvent, JsonObject, Problem, Response, Result, weighted};
use crate::actor::Actor;

const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

/// The longest body of most routes. All members at their longest fit, in any script and with each character as an escape.
pub const BODY_BYTES: usize = 64 << 10;

/// The longest body of the routes that create, change or try a link, or are about many links.
pub const LARGE_BODY_BYTES: usize = 256 << 10;

/// The longest body of the route that takes a logo: base64 of the largest file, also with each character as an escape.
pub const LOGO_BODY_BYTES: usize = 1_100_000;

/// A request as handlers see it.
#[derive(Debug)]
pub struct Request {
    method: Method,
    /// Whether a GET asks for no body, and so is nobody who follows a link.
    pub is_head: bool,
    path: String,
    headers: HeaderMap,
    cookies: Vec<String>,
    raw_query: String,
    query: QueryMap,
    body: Body,
    source_ip: Option<String>,
    /// The id that ties this request to all that comes of it.
    pub correlation_id: CorrelationId,
    /// When the request arrived: "now" for every decision about it.
    pub received_at: Timestamp,
    allowance: OnceLock<Allowance>,
    refused: OnceLock<IpHash>,
    actor: OnceLock<Actor>,
    last_guess: OnceLock<()>,
    unread: Arc<Unread>,
    /// The operations at the documented path of the request; none if it has none.
    operations: &'static [Operation],
}

impl From<GatewayEvent> for Request {
    fn from(mut event: GatewayEvent) -> Self {
        let body = event.take_body();
        let offered_id = event.headers.get("x-correlation-id").and_then(|value| value.to_str().ok());
        let correlation_id = CorrelationId::accept(offered_id);
        let method = event.request_context.http.method;
        let is_head = method == Method::HEAD;
        let raw_query = event.raw_query_string.unwrap_or_default();
        let path = event.raw_path.unwrap_or_default();
        Self {
            method: if is_head { Method::GET } else { method },
            is_head,
            operations: operations::at(&path),
            path,
            headers: event.headers,
            cookies: event.cookies,
            query: raw_query.parse().unwrap_or_default(),
            raw_query,
            body,
            // X-Forwarded-For also holds what the client wrote into it.
            source_ip: event.request_context.http.source_ip,
            correlation_id,
            received_at: Timestamp::now(),
            allowance: OnceLock::new(),
            refused: OnceLock::new(),
            actor: OnceLock::new(),
            last_guess: OnceLock::new(),
            unread: Arc::default(),
        }
    }
}

impl Request {
    /// How many items a page has at most.
    pub const MOST_OF_A_PAGE: usize = 100;

    /// The method. A HEAD is a GET to its route, and its answer [has no body](super::answer), so that a route which answers one
    /// answers the other alike.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Whether a browser asks what a page of another origin may do (Fetch standard, CORS-preflight request).
    pub fn is_preflight(&self) -> bool {
        let asks = self.has_header(header::ORIGIN) && self.has_header(header::ACCESS_CONTROL_REQUEST_METHOD);
        self.method == Method::OPTIONS && asks
    }

    /// The path without the query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The route as the OpenAPI document names it, such as `DELETE /api/keys/{prefix}`, or `unknown`. Log lines have it instead of the
    /// path, since a client may write anything into a path, also a secret by mistake.
    pub fn route(&self) -> String {
        let method = if self.is_head { Method::HEAD.as_str() } else { self.method.as_str() };
        self.documented_path().map_or_else(|| "unknown".to_owned(), |path| format!("{method} {path}"))
    }

    /// The short code that the path has where the route expects one, for log lines. A longer one than anybody can choose is left
    /// out, since it may be an API key that somebody has pasted into a path.
    pub fn short_code(&self) -> Option<ShortCode> {
        let code = operations::parameter(self.documented_path()?, &self.path, "{code}")?;
        if code.len() > *ShortCode::CUSTOM_LENGTH.end() { None } else { ShortCode::parse(code).ok() }
    }

    /// The path's parts, to match routes on.
    pub fn segments(&self) -> Vec<&str> {
        self.path.split('/').skip(1).collect()
    }

    /// A header's value, if it is there and is text.
    pub fn header(&self, name: impl header::AsHeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Whether a header is there, whatever is in it.
    pub fn has_header(&self, name: impl header::AsHeaderName) -> bool {
        self.headers.contains_key(name)
    }

    /// The value of a header that may be there once, such as a credential; `None` also if there are several.
    pub fn only_header(&self, name: impl header::AsHeaderName) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let first = values.next()?;
        if values.next().is_some() { None } else { first.to_str().ok() }
    }

    /// The credential of the scheme Bearer in the header `Authorization`. The scheme's name is case-insensitive (RFC 9110, 11.1).
    pub fn bearer_token(&self) -> Option<&str> {
        let (scheme, token) = self.only_header(header::AUTHORIZATION)?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token)
    }

    /// A header's value with anything that is not UTF-8 replaced: what visitors send may hold any byte.
    pub fn header_lossy(&self, name: impl header::AsHeaderName) -> Option<Cow<'_, str>> {
        self.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()))
    }

    /// A cookie's value. Of several with the same name, it is the first.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let in_header = self.header(header::COOKIE).unwrap_or_default().split(';');
        let pairs = self.cookies.iter().map(String::as_str).chain(in_header);
        pairs.filter_map(|pair| pair.trim().split_once('=')).find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// A field of the form that a browser has sent, which is empty if the form has none of this name; `None` if the body is no form.
    ///
    /// # Errors
    /// 413 when the form is longer than [`BODY_BYTES`].
    pub fn form_field(&self, name: &str) -> Result<Option<String>> {
        if !self.is_of_type("application/x-www-form-urlencoded") {
            return Ok(None);
        }
        Problem::BodyTooLarge.when(self.body.len() > BODY_BYTES)?;
        let field = url::form_urlencoded::parse(&self.body).find(|(field, _)| field == name);
        Ok(Some(field.map(|(_, value)| value.into_owned()).unwrap_or_default()))
    }

    /// Whether the body says that it is JSON, which no form on a page of another site can say.
    pub fn is_json(&self) -> bool {
        self.is_of_type("application/json")
    }

    fn is_of_type(&self, wanted: &str) -> bool {
        let media_type = self.header(header::CONTENT_TYPE).and_then(|value| value.split(';').next());
        media_type.is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case(wanted))
    }

    /// The documented path of the request, such as `/api/links/{code}`.
    fn documented_path(&self) -> Option<&'static str> {
        self.operations.first().map(|operation| operation.path)
    }

    /// The header `Idempotency-Key`.
    ///
    /// # Errors
    /// When it has another form.
    pub fn idempotency_key(&self) -> Result<Option<IdempotencyKey>, Invalid> {
        let key = self.header_lossy(IDEMPOTENCY_KEY).filter(|key| !key.is_empty());
        key.map(|key| IdempotencyKey::parse(&key)).transpose().map_err(|refused| refused.in_field(IDEMPOTENCY_KEY))
    }

    /// The body as the struct that a route has for it.
    ///
    /// # Errors
    /// As of [`Self::json_object`], and 400 when a member breaks a rule.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        Ok(self.json_object()?.read()?)
    }

    /// Whether there is a body, for a route that takes none as well.
    pub fn has_body(&self) -> bool {
        !self.body.is_empty()
    }

    /// The body as a JSON object, for a route that reads more than one struct from it.
    ///
    /// # Errors
    /// 415 when it is encoded, 413 when it is longer than [`BODY_BYTES`], 400 when it is no JSON object.
    pub fn json_object(&self) -> Result<JsonObject> {
        self.json_object_within(BODY_BYTES)
    }

    /// The body as a JSON object, for a route that creates, changes or tries a link, or is about many links.
    ///
    /// # Errors
    /// 415 when it is encoded, 413 when it is longer than [`LARGE_BODY_BYTES`], 400 when it is no JSON object.
    pub fn large_json_object(&self) -> Result<JsonObject> {
        self.json_object_within(LARGE_BODY_BYTES)
    }

    /// The body as a JSON object, for a route that takes a larger one than others.
    ///
    /// # Errors
    /// 415 when it is encoded, 413 when it is longer than this, 400 when it is no JSON object.
    pub fn json_object_within(&self, limit: usize) -> Result<JsonObject> {
        Problem::EncodingUnsupported.when(self.is_encoded())?;
        Problem::BodyTooLarge.when(self.body.len() > limit)?;
        Ok(JsonObject::parse(&self.body, Arc::clone(&self.unread))?)
    }

    /// An answer that names the body's members that do nothing, if it is a JSON object.
    pub(super) fn name_ignored(&self, answer: Response) -> Response {
        naming(&self.unread.take(), answer)
    }

    /// Whether the body has been encoded (`Content-Encoding`, RFC 9110, 8.4), as by compression.
    fn is_encoded(&self) -> bool {
        let codings = self.header_lossy(header::CONTENT_ENCODING).unwrap_or_default();
        let is_none = |coding: &str| coding.is_empty() || coding.eq_ignore_ascii_case("identity");
        !codings.split(',').map(str::trim).all(is_none)
    }

    /// Checks a time in the body that has to come after the request.
    ///
    /// # Errors
    /// 400 when it doesn't.
    pub fn require_future(&self, member: &str, time: Option<Timestamp>) -> Result<(), Invalid> {
        if time.is_some_and(|time| time <= self.received_at) {
            return Err(Invalid::new(format!("{member} must be in the future")).in_field(member));
        }
        Ok(())
    }

    /// The client's address as API Gateway saw it.
    pub fn source_ip(&self) -> &str {
        self.source_ip.as_deref().unwrap_or("unknown")
    }

    /// Scheme and host under which the client reached us, such as `https://go.example.com`. API Gateway only speaks https, so
    /// nothing but a plain `http` (the local system's) makes it another scheme: whatever a client forges ends up in no link.
    pub fn origin(&self) -> String {
        let scheme = if self.header("x-forwarded-proto") == Some("http") { "http" } else { "https" };
        format!("{scheme}://{}", self.host())
    }

    /// Whether the request certainly came over https, as API Gateway says.
    pub fn is_https(&self) -> bool {
        self.header("x-forwarded-proto") == Some("https")
    }

    /// The host under which the client reached us, with its port if it has one. API Gateway routes by it, so it is ours; what
    /// has not the form of a host did not come that way.
    pub fn host(&self) -> &str {
        self.header(header::HOST).filter(|host| is_host(host)).unwrap_or("localhost")
    }

    /// Whether a browser fetches this before anybody asks for it: `Sec-Purpose: prefetch` (Fetch standard, also with
    /// `;prerender`), and the headers that browsers sent before there was a standard.
    pub fn is_prefetch(&self) -> bool {
        ["sec-purpose", "purpose", "x-purpose", "x-moz"].into_iter().filter_map(|name| self.header(name)).any(|value| {
            let mut purposes = value.split([';', ',']).map(str::trim);
            purposes.any(|purpose| {
                ["prefetch", "prerender", "preview"].iter().any(|known| purpose.eq_ignore_ascii_case(known))
            })
        })
    }

    /// Whether the client prefers a page to a JSON document (`Accept`, RFC 9110, 12.5.1). A client that takes anything, as curl
    /// says, gets JSON.
    pub fn wants_html(&self) -> bool {
        let accepted = self.header(header::ACCEPT).unwrap_or_default();
        let page = weight_of(&["text/html", "text/*"], accepted);
        page > 0.0 && page >= weight_of(&["application/problem+json", "application/json", "application/*"], accepted)
    }

    /// Notes the remaining calls of a rate limit, which the response shows in its headers. The first call decides.
    pub fn note_allowance(&self, allowance: Allowance) {
        self.allowance.get_or_init(|| allowance);
    }

    /// How many calls the client has left, on a route that has a limit.
    pub(super) fn allowance(&self) -> Option<Allowance> {
        self.allowance.get().copied()
    }

    /// Notes that a limit by address refuses the request, so that its log line tells who sends most.
    pub fn note_refused(&self, senders: &[ThrottleSubject]) {
        if let Some(ThrottleSubject::Address(_, address)) = senders.first() {
            self.refused.get_or_init(|| address.clone());
        }
    }

    /// The salted hash of the address that a limit has refused.
    pub(super) fn refused(&self) -> Option<&IpHash> {
        self.refused.get()
    }

    /// Notes who has sent the request, for log lines. Only verifiers of credentials know it.
    pub(crate) fn note_actor(&self, actor: Actor) {
        self.actor.get_or_init(|| actor);
    }

    /// Notes whose account a request is about that has proved it without a token, as a login does, for log lines.
    pub fn note_account(&self, user: &UserId) {
        self.note_actor(Actor::with_account(user));
    }

    /// Notes that the next guess at the password has to wait if that of this request is wrong.
    pub(crate) fn note_last_guess(&self) {
        self.last_guess.get_or_init(|| ());
    }

    /// Whether the next guess at the password has to wait if that of this request is wrong.
    pub fn is_last_guess(&self) -> bool {
        self.last_guess.get().is_some()
    }

    /// Who has sent the request, if its credentials were verified.
    pub(super) fn actor(&self) -> Option<&Actor> {
        self.actor.get()
    }
}

/// The highest weight that an `Accept` header gives to one of these media ranges: 0 if it has none of them.
fn weight_of(ranges: &[&str], accepted: &str) -> f32 {
    let is_meant = |name: &str| ranges.iter().any(|known| name.eq_ignore_ascii_case(known));
    weighted(accepted).filter(|(name, _)| is_meant(name)).map(|(_, weight)| weight).fold(0.0, f32::max)
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

    fn wants_html(accepted: &str) -> bool {
        let mut event = GatewayEvent::default();
        event.headers.insert("accept", accepted.parse().unwrap());
        Request::from(event).wants_html()
    }

    #[test]
    fn a_page_goes_to_who_prefers_one() {
        for page in [
            "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "text/html",
            "TEXT/HTML",
            "text/*",
            "application/json;q=0.5, text/html;q=0.9",
            "application/json, text/html",
            "text/html;level=1;q=0.2",
        ] {
            assert!(wants_html(page), "{page}");
        }
        for document in [
            "",
            "*/*",
            "application/json",
            "text/html;q=0",
            "text/html;q=0.5, application/json",
            "text/html;q=0.5, application/problem+json;q=0.6",
            "text/htmlx",
            "text/plain",
        ] {
            assert!(!wants_html(document), "{document}");
        }
    }

    fn at(path: &str) -> Request {
        GatewayEvent { raw_path: Some(path.to_owned()), ..GatewayEvent::default() }.into()
    }

    #[test]
    fn a_valid_short_code_is_read_only_where_the_route_expects_one() {
        let found = |path| (at(path).route(), at(path).short_code().map(|code| code.to_string()));

        for (path, route) in [
            ("/launch", "GET /{code}"),
            ("/r/launch", "GET /r/{code}"),
            ("/r/launch/", "GET /r/{code}/"),
            ("/launch/qr", "GET /{code}/qr"),
            ("/api/stats/launch/daily", "GET /api/stats/{code}/daily"),
        ] {
            assert_eq!(found(path), (route.to_owned(), Some("launch".to_owned())));
        }
        for (path, route) in [
            ("/a secret", "GET /{code}"),
            ("/", "GET /"),
            ("/health", "GET /health"),
            ("/api/keys/launch", "GET /api/keys/{prefix}"),
            ("/api/links/bulk", "GET /api/links/bulk"),
            ("/r/", "unknown"),
            ("/r/launch/further", "unknown"),
            ("/api/nothing/launch", "unknown"),
        ] {
            assert_eq!(found(path), (route.to_owned(), None));
        }
    }
}
