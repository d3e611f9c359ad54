use std::{fmt::Debug, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures_util::FutureExt as _;
use linklet_domain::{EmailAddress, Membership, Role, SessionId, Timestamp, UserId, WorkspaceId};
use linklet_dynamodb::ApiKeys;
use linklet_lambda::http::{self, DeferringHandler, GatewayEvent, Request};
use linklet_lambda::identity::{Authenticator, TokenIssuer, TokenSecret, TokenVerifier};
use linklet_lambda::metrics;
use serde_json::{Value, json};

use crate::{Contract, Exchange, Person, Template, TestDynamoDb, roles};

/// The secret that tests sign with.
pub const TOKEN_SECRET: &str = "a secret for tests, 32 bytes or more";

/// Accepts the tokens of [`token_for`].
///
/// # Panics
/// Never: the secret is long enough.
pub fn tokens() -> TokenVerifier {
    TokenVerifier::new(&[secret()])
}

/// Accepts these tokens for a function that would take API keys, too, and can't reach their table. With it there is
/// [`TestDynamoDb::authenticator`].
pub fn authenticator() -> Authenticator {
    Authenticator::new(tokens(), ApiKeys(TestDynamoDb::unreachable_table("UsersTable")))
}

/// Signs tokens for tests.
pub fn issuer() -> TokenIssuer {
    TokenIssuer::new(&secret())
}

fn secret() -> TokenSecret {
    TokenSecret::parse(TOKEN_SECRET).expect("the secret is long enough")
}

/// A token of this member.
///
/// # Panics
/// When signing fails.
pub fn token_of(user: &UserId, workspace: &WorkspaceId, role: Role) -> String {
    let email = EmailAddress::parse("ada@example.com").expect("an address");
    signed(user, &email, Some(&Membership::new(*workspace, role, Timestamp::now())))
}

/// A token of somebody who is in no workspace.
///
/// # Panics
/// When signing fails.
pub fn token_without_workspace(person: &Person) -> String {
    signed(&person.id, &person.email, None)
}

fn signed(user: &UserId, email: &EmailAddress, membership: Option<&Membership>) -> String {
    let now = Timestamp::now();
    let issued = issuer().issue(&SessionId::beginning_at(now), user, email, membership, now).now_or_never();
    issued.expect("there is nothing to wait for").expect("a token can be signed").0
}

/// A token of somebody new in this workspace.
pub fn token_for(workspace: &WorkspaceId, role: Role) -> String {
    token_of(&UserId::generate(), workspace, role)
}

/// Builds a request as API Gateway hands it to a function (payload format 2.0).
#[derive(Debug, Clone)]
pub struct RequestBuilder {
    event: Value,
    arriving_at: Option<Timestamp>,
    has_contract: bool,
}

impl RequestBuilder {
    /// The request of an event, such as a sample in a function's folder.
    ///
    /// # Panics
    /// When it is no JSON.
    pub fn of_event(event: &str) -> Self {
        let event = serde_json::from_str(event).expect("an event is JSON");
        Self { event, arriving_at: None, has_contract: true }
    }

    /// A request without body, token or query. The path may end in `?query`.
    ///
    /// # Panics
    /// Never for a plain path.
    pub fn new(method: &str, path_and_query: &str) -> Self {
        let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
        let route = Template::load().route_key(method, path);
        let event = json!({
            "version": "2.0",
            "routeKey": route,
            "rawPath": path,
            "rawQueryString": query,
            "headers": {"host": "api.example.com", "x-forwarded-proto": "https"},
            "requestContext": {
                "accountId": "123456789012", "apiId": "api-id", "domainName": "api.example.com", "domainPrefix": "api",
                "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "203.0.113.9", "userAgent": "test"},
                "requestId": "id", "routeKey": route, "stage": "$default",
                "time": "12/Mar/2026:19:03:58 +0000", "timeEpoch": 1_773_342_238_000_u64,
            },
            "isBase64Encoded": false,
        });
        let mut builder = Self { event, arriving_at: None, has_contract: true };
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            builder.event["queryStringParameters"][name] = value.into();
        }
        builder
    }

    /// With a header; names are lower-case, as API Gateway makes them.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.event["headers"][name] = value.into();
        self
    }

    /// With a bearer token.
    #[must_use]
    pub fn token(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    /// With a cookie, as API Gateway hands it on.
    #[must_use]
    pub fn cookie(mut self, cookie: &str) -> Self {
        self.event["cookies"] = json!([cookie]);
        self
    }

    /// With an API key.
    #[must_use]
    pub fn api_key(self, key: &str) -> Self {
        self.header("x-api-key", key)
    }

    /// Arriving at this time, which is "now" for every decision about it.
    #[must_use]
    pub fn at(self, time: Timestamp) -> Self {
        Self { arriving_at: Some(time), ..self }
    }

    /// To a handler that is no route of the API, so that the contract says nothing about it.
    #[must_use]
    pub fn outside_the_contract(self) -> Self {
        Self { has_contract: false, ..self }
    }

    /// With a JSON body.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.body(&body.to_string())
    }

    /// With a JSON body, unless that is `null`.
    #[must_use]
    pub fn json_unless_null(self, body: &Value) -> Self {
        if body.is_null() { self } else { self.json(body) }
    }

    /// With any body.
    #[must_use]
    pub fn body(mut self, body: &str) -> Self {
        self.event["body"] = body.into();
        self.header("content-type", "application/json")
    }

    /// With a form as browsers send it, which API Gateway hands on in Base64.
    #[must_use]
    pub fn form(self, fields: &str) -> Self {
        self.bytes(fields.as_bytes()).header("content-type", "application/x-www-form-urlencoded")
    }

    /// With a body of any bytes, which API Gateway hands on in Base64.
    #[must_use]
    pub fn bytes(mut self, body: &[u8]) -> Self {
        self.event["body"] = STANDARD.encode(body).into();
        self.event["isBase64Encoded"] = true.into();
        self.header("content-type", "application/json")
    }

    /// From this address.
    #[must_use]
    pub fn source_ip(mut self, address: &str) -> Self {
        self.event["requestContext"]["http"]["sourceIp"] = address.into();
        self
    }

    /// As if an authorizer of API Gateway had let it in with these claims. Linklet has none.
    #[must_use]
    pub fn authorized_as(mut self, claims: &Value) -> Self {
        self.event["requestContext"]["authorizer"] = json!({"jwt": {"claims": claims, "scopes": []}, "lambda": claims});
        self
    }

    /// Hands it to a function.
    ///
    /// # Panics
    /// When the runtime can't read the event.
    pub async fn send_to(self, handler: &impl DeferringHandler) -> Answer {
        let mut request = parsed(&self.event.to_string());
        if let Some(time) = self.arriving_at {
            request.received_at = time;
        }
        let answer = answered(handler, request).await;
        if self.has_contract {
            check(&self.event, &answer);
        }
        answer
    }
}

fn parsed(event: &str) -> Request {
    serde_json::from_str::<GatewayEvent>(event).expect("an event of API Gateway").into()
}

async fn answered<H: DeferringHandler>(handler: &H, request: Request) -> Answer {
    let exchange = async {
        let (response, exchange) = http::answer(handler, request).await;
        exchange.finish(handler).await;
        response
    };
    let response = roles::in_role_of::<H, _>(metrics::scope(exchange)).await;
    let (parts, body) = response.into_parts();
    let headers = parts
        .headers
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap_or_default().to_owned()))
        .collect();
    let (body, bytes) = (String::from_utf8_lossy(&body).into_owned(), body.to_vec());
    Answer { status: parts.status.as_u16(), headers, body, bytes }
}

fn check(event: &Value, answer: &Answer) {
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    // A body in Base64 is not looked at.
    let sent = if event["isBase64Encoded"] == true { "" } else { text("/body") };
    let exchange = Exchange {
        method: text("/requestContext/http/method"),
        path: text("/rawPath"),
        query: text("/rawQueryString"),
        sent,
        status: answer.status,
        headers: &answer.headers,
        body: &answer.body,
    };
    if let Err(deviation) = Contract::load().check(exchange) {
        panic!("{deviation}");
    }
}

/// What a client gets.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    headers: Vec<(String, String)>,
    /// The body as text.
    pub body: String,
    bytes: Vec<u8>,
}

impl Answer {
    /// The body as JSON; `null` if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// This answer, which has to have this status.
    ///
    /// # Panics
    /// When it has another one.
    pub fn expecting(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }

    /// A member of the body that is a text.
    ///
    /// # Panics
    /// When it is none.
    pub fn text(&self, member: &str) -> String {
        self.json()[member].as_str().unwrap_or_else(|| panic!("{member} of {}", self.body)).to_owned()
    }

    /// A member of the body that is written as a text.
    ///
    /// # Panics
    /// When it is none, or cannot be read.
    pub fn parsed<T: FromStr<Err: Debug>>(&self, member: &str) -> T {
        self.text(member).parse().expect("a member can be read")
    }

    /// The body's bytes, which need not be a text.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A header's value, empty if it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// All headers, in their order.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The status, and the sentence of a problem document.
    pub fn problem(&self) -> (u16, String) {
        self.with_member("error")
    }

    /// The status, and the code of a problem document.
    pub fn problem_code(&self) -> (u16, String) {
        self.with_member("code")
    }

    /// The status, and what a problem document is about.
    pub fn problem_field(&self) -> (u16, String) {
        self.with_member("field")
    }

    fn with_member(&self, member: &str) -> (u16, String) {
        (self.status, self.json()[member].as_str().unwrap_or_default().to_owned())
    }
}
