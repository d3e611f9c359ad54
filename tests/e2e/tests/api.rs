//! A client as a user of the API would write it.

use std::env;
use std::future::Future;
use std::net::{Ipv6Addr, SocketAddr};
use std::time::Duration;

use linklet_test_support::{Contract, Exchange};
use reqwest::{Client, Method, RequestBuilder, Url, redirect::Policy};
use serde_json::{Value, json};

/// An answer, read whole.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// This answer, which has to have this status.
    pub fn expecting(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }

    /// A member of the body that is a text.
    pub fn text(&self, member: &str) -> String {
        self.json()[member].as_str().unwrap_or_else(|| panic!("{member} of {}", self.body)).to_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Whether it leads elsewhere. With which status is the redirect's business, which has a test of its own.
    pub fn is_redirect(&self) -> bool {
        (300..400).contains(&self.status) && !self.header("location").is_empty()
    }

    pub fn problem(&self) -> (u16, String) {
        (self.status, self.json()["error"].as_str().unwrap_or_default().to_owned())
    }
}

/// The system under test, as one client sees it.
#[derive(Clone)]
pub struct Api {
    base: String,
    client: Client,
    address: Ipv6Addr,
}

impl Api {
    pub fn new() -> Self {
        let base = base();
        let url = Url::parse(&base).expect("API_URL is a URL");
        let mut client = Client::builder().redirect(Policy::none()).timeout(Duration::from_secs(30));
        // Not every resolver knows that *.localhost is this machine (RFC 6761, 6.3).
        if let Some(host) = url.host_str().filter(|host| host.ends_with(".localhost")) {
            let port = url.port_or_known_default().unwrap_or(80);
            client = client.resolve(host, SocketAddr::from(([127, 0, 0, 1], port)));
        }
        // In 2001:db8::/32, which is for examples; the next 32 bits make the network, and so the client, an own one.
        let random = uuid::Uuid::new_v4().as_u128();
        let address = Ipv6Addr::from_bits((0x2001_0db8 << 96) | (random >> 32));
        Self { base: base.trim_end_matches('/').to_owned(), client: client.build().unwrap(), address }
    }

    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = self.client.request(method, format!("{}{path}", self.base));
        // Where an edge is trusted, as in the local system, each client has limits of its own.
        request.header("cloudfront-viewer-address", format!("{}:443", self.address))
    }

    pub async fn get(&self, path: &str) -> Answer {
        send(self.request("GET", path)).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        send(self.request("POST", path).json(body)).await
    }
}

/// Sends a request, and again if there were too many: where no edge is trusted, all tests are one client.
pub async fn send(request: RequestBuilder) -> Answer {
    loop {
        let answer = send_once(request.try_clone().expect("a body in memory can be sent again")).await;
        let Ok(seconds) = answer.header("retry-after").parse() else { return answer };
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }
}

/// Sends a request that may be refused because there were too many.
///
/// The exchange is checked against the contract of the API, unless it is API Gateway's own answer.
pub async fn send_once(request: RequestBuilder) -> Answer {
    let sent = request.try_clone().expect("a body in memory can be sent again").build().expect("a request");
    let response = request.send().await.expect("the API answers");
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let answer = Answer { status, headers, body: response.text().await.expect("the answer is text") };
    if !answer.header("x-correlation-id").is_empty() {
        check(&sent, &answer);
    }
    answer
}

fn check(sent: &reqwest::Request, answer: &Answer) {
    let base = Url::parse(&base()).expect("API_URL is a URL");
    let path = sent.url().path().strip_prefix(base.path().trim_end_matches('/')).unwrap_or_default();
    let text = |value: &reqwest::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers: Vec<_> = answer.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    let body = sent.body().and_then(reqwest::Body::as_bytes).unwrap_or_default();
    let exchange = Exchange {
        method: sent.method().as_str(),
        path,
        query: sent.url().query().unwrap_or_default(),
        sent: &String::from_utf8_lossy(body),
        status: answer.status,
        headers: &headers,
        body: &answer.body,
    };
    if let Err(deviation) = Contract::load().check(exchange) {
        panic!("{deviation}");
    }
}

fn base() -> String {
    env::var("API_URL").expect("API_URL names the system to test; `make e2e` starts one and sets it")
}

/// Somebody who has registered and logged in.
pub struct User {
    api: Api,
    pub email: String,
    pub id: String,
    pub workspace: String,
    pub token: String,
}

pub const PASSWORD: &str = "correct horse battery";

impl User {
    pub async fn new(api: &Api) -> Self {
        let email = format!("ada-{}@example.com", uuid::Uuid::new_v4());
        let credentials = json!({"email": email, "password": PASSWORD});
        let registered = api.post("/api/auth/register", &credentials).await.expecting(201);
        let logged_in = api.post("/api/auth/login", &credentials).await.expecting(200);
        let (id, workspace) = (registered.text("user_id"), registered.text("workspace_id"));
        Self { api: api.clone(), id, workspace, token: logged_in.text("token"), email }
    }

    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        self.api.request(method, path).bearer_auth(&self.token)
    }

    pub async fn get(&self, path: &str) -> Answer {
        send(self.request("GET", path)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        send(self.request("DELETE", path)).await
    }

    /// Shortens a URL and returns the code.
    pub async fn shorten(&self, url: &str) -> String {
        send(self.request("POST", "/api/shorten").json(&json!({"url": url}))).await.expecting(201).text("short_code")
    }

    /// The caller's notifications of this type.
    pub async fn notifications(&self, event_type: &str) -> Vec<Value> {
        let answer = self.get("/api/notifications?limit=100").await.expecting(200);
        let all = answer.json()["notifications"].as_array().unwrap().clone();
        all.into_iter().filter(|notification| notification["event_type"] == event_type).collect()
    }
}

/// The system under test, and somebody who has registered and logged in there.
pub async fn signed_up() -> (Api, User) {
    let api = Api::new();
    let user = User::new(&api).await;
    (api, user)
}

/// Asks again until the answer is the expected one, for a minute, and returns it. Events travel in the background, so tests wait for
/// their effect.
pub async fn eventually<T, F>(what: &str, expected: T, mut ask: impl FnMut() -> F) -> T
where
    T: PartialEq + std::fmt::Debug,
    F: Future<Output = T>,
{
    let mut last = ask().await;
    for _ in 0..240 {
        if last == expected {
            return last;
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
        last = ask().await;
    }
    panic!("{what}: expected {expected:?}, got {last:?}");
}
