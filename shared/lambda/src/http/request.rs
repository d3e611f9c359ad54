use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use lambda_http::Body;
use lambda_http::aws_lambda_events::query_map::QueryMap;
use lambda_http::http::{HeaderMap, Method, header};
use linklet_domain::{
    Allowance, CorrelationId, Day, IdempotencyKey, Invalid, IpHash, ShortCode, ThrottleSubject, Timestamp, UserId,
};
use serde::de::DeserializeOwned;

use super::operations::{self, Ending, Mistake, Operation};
use super::unread::{Unread, naming, shown};
use super::{ApiError, GatewayEvent, JsonObject, Problem, Response, Result, weighted};
use crate::actor::Actor;
use crate::zone::{self, Zone};

const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

/// The longest body of most routes. All members at their longest fit, in any script and with each character as an escape.
pub const BODY_BYTES: usize = 64 << 10;

/// The longest body of the routes that create, change or try a link, or are about many links.
pub const LARGE_BODY_BYTES: usize = 256 << 10;

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

    /// The query as it was sent, which nobody has decoded.
    pub fn raw_query(&self) -> &str {
        &self.raw_query
    }

    /// A query parameter's first value. An empty one is an absent one, since forms send what nobody filled in.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.queries(name).next()
    }

    /// All values of a query parameter that may come several times, without empty ones.
    pub fn queries(&self, name: &str) -> impl Iterator<Item = &str> {
        self.query.all(name).into_iter().flatten().filter(|value| !value.is_empty())
    }

    /// The documented path of the request, such as `/api/links/{code}`.
    fn documented_path(&self) -> Option<&'static str> {
        self.operations.first().map(|operation| operation.path)
    }

    /// Refuses what no handler has to look at: a method that the path doesn't have, and where nobody has to be known, parameters that
    /// the operation doesn't have.
    ///
    /// # Errors
    /// 405, or 400 as of [`Self::require_known_parameters`].
    pub(super) fn require_operation(&self) -> Result<()> {
        let operations = self.operations;
        match operations::with_method(operations, self.method.as_str()) {
            Some(operation) if operation.is_public => self.require_known_parameters(),
            Some(_) => Ok(()),
            None if operations.is_empty() => Ok(()),
            None => Err(ApiError::MethodNotAllowed { allow: operations::methods(operations) }),
        }
    }

    /// The headers that announce the end of the operation, if it will end.
    pub(super) fn ending(&self) -> Option<&'static Ending> {
        operations::with_method(self.operations, self.method.as_str())?.ending()
    }

    /// Refuses query parameters that the operation doesn't have, since a misspelt one would change what an answer is about, and those
    /// that are there twice and have one value. A parameter without a name doesn't count, and in a GET neither does one without a value.
    /// Refuses an idempotency key where it has no effect.
    ///
    /// # Errors
    /// 400 for the first of them.
    pub(crate) fn require_known_parameters(&self) -> Result<()> {
        let Some(operation) = operations::with_method(self.operations, self.method.as_str()) else { return Ok(()) };
        if operation.refuses_idempotency_keys() {
            let is_given = self.header_lossy(IDEMPOTENCY_KEY).is_some_and(|key| !key.is_empty());
            let sentence = "Idempotency-Key is not supported here; send the request without it";
            Invalid::field_when(IDEMPOTENCY_KEY, is_given, sentence)?;
        }
        if operation.takes_any_query() {
            return Ok(());
        }
        let pairs = url::form_urlencoded::parse(self.raw_query.as_bytes());
        // What is misspelt mustn't change anything, whatever its value is.
        let is_change = self.method != Method::GET;
        let counts = |name: &str, value: &str| !name.is_empty() && (is_change || !value.is_empty());
        let names: Vec<_> = pairs.filter(|(name, value)| counts(name, value)).map(|(name, _)| name).collect();
        for (position, name) in names.iter().enumerate() {
            match operation.mistake(name, &names[..position]) {
                None => {}
                Some(Mistake::Unknown(nearest)) => {
                    return Err(ApiError::UnknownParameter { name: shown(name), nearest });
                }
                Some(Mistake::Repeated) => {
                    return Err(Invalid::new(format!("{name} may be in the query only once"))
                        .in_field(name.as_ref())
                        .into());
                }
            }
        }
        Ok(())
    }

    /// A query parameter, read by this function.
    ///
    /// # Errors
    /// The error of the function, which then names the parameter.
    pub fn parsed<'a, T>(
        &'a self,
        name: &'static str,
        parse: impl FnOnce(&'a str) -> Result<T, Invalid>,
    ) -> Result<Option<T>, Invalid> {
        self.query(name).map(parse).transpose().map_err(|refused| refused.in_field(name))
    }

    /// A query parameter that is true or false. One without a value isn't an absent one: whoever writes `?dry_run` means something.
    ///
    /// # Errors
    /// When it is neither.
    pub fn flag(&self, name: &'static str) -> Result<Option<bool>, Invalid> {
        let flag = self.query.first(name).map(str::parse).transpose();
        flag.map_err(|_| Invalid::new(format!("{name} must be true or false")).in_field(name))
    }

    /// The query parameter `limit`: 20 if it is missing, and at most 100, whatever it says.
    ///
    /// # Errors
    /// When it is no whole number from 1 on.
    pub fn page_size(&self) -> Result<usize, Invalid> {
        const DEFAULT: usize = 20;
        self.page_size_or(DEFAULT)
    }

    /// The query parameter `limit`: this number if it is missing, and at most 100, whatever it says.
    ///
    /// # Errors
    /// When it is no whole number from 1 on.
    pub fn page_size_or(&self, default: usize) -> Result<usize, Invalid> {
        Ok(self.limit(Self::MOST_OF_A_PAGE)?.unwrap_or(default))
    }

    /// The query parameter `limit` of a table: this number if it is missing, and at most, whatever it says.
    ///
    /// # Errors
    /// When it is no whole number from 1 on.
    pub fn number_of_rows(&self, most: usize) -> Result<usize, Invalid> {
        Ok(self.limit(most)?.unwrap_or(most))
    }

    fn limit(&self, most: usize) -> Result<Option<usize>, Invalid> {
        self.parsed("limit", |text| {
            let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
            // A number with more digits than a usize has is above the maximum, too.
            let limit = if is_number { text.parse().unwrap_or(most) } else { 0 };
            if limit == 0 { Err(Invalid::new("limit must be a positive integer")) } else { Ok(limit.min(most)) }
        })
    }

    /// Two query parameters that are the ends of a time: dates or date-times. A date as the first end means its first moment, as
    /// the last end its last one.
    ///
    /// # Errors
    /// When one of them is neither, or the first is later than the last.
    pub fn time_between(
        &self,
        (first, last): (&'static str, &'static str),
    ) -> Result<(Option<Timestamp>, Option<Timestamp>), Invalid> {
        Zone::utc().between((first, self.query(first)), (last, self.query(last)))
    }

    /// A query parameter that is a date-time, or a date, of which a moment is meant.
    ///
    /// # Errors
    /// When it is neither.
    pub fn moment(&self, name: &'static str, of: impl Fn(Day) -> Timestamp) -> Result<Option<Timestamp>, Invalid> {
        self.query(name).map(|text| zone::moment(name, text, of)).transpose()
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

    fn json_object_within(&self, limit: usize) -> Result<JsonObject> {
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

    fn with_query(query: &str) -> Request {
        GatewayEvent { raw_query_string: Some(query.to_owned()), ..GatewayEvent::default() }.into()
    }

    #[test]
    fn a_limit_is_capped_at_its_maximum_and_refused_below_1() {
        for (query, limit) in [("", 20), ("limit=", 20), ("limit=1", 1), ("limit=100", 100), ("limit=101", 100)] {
            assert_eq!(with_query(query).page_size(), Ok(limit), "{query}");
        }
        assert_eq!(with_query(&format!("limit={}", "9".repeat(40))).page_size(), Ok(100));
        for refused in ["0", "-1", "ten", "1.5", "1e2", "٣"] {
            let sentence = Invalid::new("limit must be a positive integer").in_field("limit");
            assert_eq!(with_query(&format!("limit={refused}")).page_size(), Err(sentence), "{refused}");
        }
    }

    fn refused(method: Method, path: &str, query: &str) -> Option<(Option<String>, String)> {
        let mut event = GatewayEvent { raw_path: Some(path.to_owned()), ..GatewayEvent::default() };
        event.raw_query_string = Some(query.to_owned());
        event.request_context.http.method = method;
        let request = Request::from(event);
        let refused = request.require_operation().and_then(|()| request.require_known_parameters()).err()?;
        Some((refused.field().map(str::to_owned), refused.sentence()))
    }

    #[test]
    fn an_unknown_or_repeated_parameter_is_refused_by_its_name() {
        let links = |query: &str| refused(Method::GET, "/api/links", query);
        let expected = |field: &str, sentence: &str| Some((Some(field.to_owned()), sentence.to_owned()));

        for (query, field, sentence) in [
            ("tag=a&serch=b", "serch", "there is no parameter serch here; did you mean search?"),
            ("colour=b", "colour", "there is no parameter colour here"),
            ("order=asc&tag=a&order=desc", "order", "order may be in the query only once"),
        ] {
            assert_eq!(links(query), expected(field, sentence), "{query}");
        }
        for query in ["", "tag=a&tag=b&search=", "=null", "&&", "colour=", "order=&order=asc"] {
            assert_eq!(links(query), None, "{query}");
        }
        assert_eq!(refused(Method::GET, "/launch", "colour=b"), None, "visitors bring what they like");
    }

    #[test]
    fn an_idempotency_key_is_refused_where_a_post_makes_nothing_once() {
        let refused = |method: Method, path: &str, key: &'static str| {
            let mut event = GatewayEvent { raw_path: Some(path.to_owned()), ..GatewayEvent::default() };
            event.request_context.http.method = method;
            event.headers.insert("idempotency-key", header::HeaderValue::from_static(key));
            Request::from(event).require_known_parameters().err().map(|refused| refused.field().map(str::to_owned))
        };

        for path in ["/api/auth/login", "/api/invitations/accept", "/api/auth/password"] {
            assert_eq!(refused(Method::POST, path, "a"), Some(Some("Idempotency-Key".to_owned())), "{path}");
            assert_eq!(refused(Method::POST, path, ""), None, "{path}");
        }
        for path in ["/api/keys", "/api/keys/lk_live_00000000/rotate", "/launch", "/r/launch", "/api/unsubscribe"] {
            assert_eq!(refused(Method::POST, path, "a"), None, "{path}");
        }
        assert_eq!(refused(Method::PATCH, "/api/me", "a"), None);
    }

    #[test]
    fn a_method_that_the_path_lacks_is_refused() {
        let refused = |method, path| refused(method, path, "");

        assert_eq!(refused(Method::HEAD, "/api/links"), None);
        assert_eq!(refused(Method::PUT, "/nothing/is/here"), None, "another answer says so");
        assert_eq!(refused(Method::PUT, "/api/shorten"), Some((None, "this address only supports POST".to_owned())));
        let sentence = "this address only supports GET, HEAD, PUT, PATCH, DELETE";
        assert_eq!(refused(Method::POST, "/api/links/launch"), Some((None, sentence.to_owned())));
    }

    #[test]
    fn a_date_as_the_last_end_includes_its_day() {
        let between = |query: &str| with_query(query).time_between(("from", "to"));
        let time = |text: &str| Some(Timestamp::parse(text).unwrap());

        let expected = Ok((time("2026-03-02T00:00:00Z"), time("2026-03-02T23:59:59.999Z")));
        assert_eq!(between("from=2026-03-02&to=2026-03-02"), expected);
        assert_eq!(between("from=&to="), Ok((None, None)));
        let expected = Err(Invalid::new("from must not be later than to").in_field("from"));
        assert_eq!(between("from=2026-03-03&to=2026-03-02"), expected);
        assert_eq!(between("to=now"), Err(Invalid::new("to must be a date or RFC3339 format").in_field("to")));
    }
}
