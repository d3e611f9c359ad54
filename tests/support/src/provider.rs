//! An identity provider on this machine, which does what a test has it do, and which people sign in at as soon as a test says so.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::{Form, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::{Engine as _, prelude::BASE64_STANDARD, prelude::BASE64_URL_SAFE_NO_PAD};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use linklet_domain::Timestamp;
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use url::Url;

use crate::faults::lock;

/// The client of a provider.
pub const CLIENT: (&str, &str) = ("linklet", "s3cret: of a client");

/// A key that signs ID tokens.
#[derive(Clone)]
pub struct SigningKey {
    /// Its name.
    pub kid: String,
    /// How it signs.
    pub algorithm: Algorithm,
    /// What it signs with.
    pub key: EncodingKey,
}

impl SigningKey {
    /// A new key.
    ///
    /// # Panics
    /// When there can't be one.
    pub fn generate(kid: &str, algorithm: Algorithm) -> Self {
        // Where an RSA key of 2,048 bits begins in its PKCS #8 document.
        const BEHIND_PKCS8: usize = 26;
        let key = match algorithm {
            Algorithm::RS256 => {
                let pair = KeyPair::generate_for(&PKCS_RSA_SHA256).expect("an RSA key");
                EncodingKey::from_rsa_der(&pair.serialize_der()[BEHIND_PKCS8..])
            }
            _ => {
                let pair = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).expect("a key of a curve");
                EncodingKey::from_ec_der(&pair.serialize_der())
            }
        };
        Self { kid: kid.to_owned(), algorithm, key }
    }

    /// The public key.
    ///
    /// # Panics
    /// When the key has none.
    pub fn public(&self) -> Value {
        let mut jwk = Jwk::from_encoding_key(&self.key, self.algorithm).expect("a public key");
        jwk.common.key_id = Some(self.kid.clone());
        serde_json::to_value(jwk).expect("JSON")
    }

    /// A token with these claims.
    ///
    /// # Panics
    /// When it can't be signed.
    pub fn sign(&self, claims: &Value) -> String {
        let header = Header { kid: Some(self.kid.clone()), ..Header::new(self.algorithm) };
        jsonwebtoken::encode(&header, claims, &self.key).expect("a signature")
    }
}

/// A token that nobody has signed, or that has any signature.
pub fn forged(header: &Value, claims: &Value, signature: &[u8]) -> String {
    let encode = |part: &Value| BASE64_URL_SAFE_NO_PAD.encode(part.to_string());
    format!("{}.{}.{}", encode(header), encode(claims), BASE64_URL_SAFE_NO_PAD.encode(signature))
}

/// How a provider answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderManner {
    /// As it should.
    Answers,
    /// After this time.
    AnswersAfter(Duration),
    /// With this status.
    Fails(u16),
}

type Forge = Box<dyn Fn(&Value) -> String + Send>;

struct Inner {
    /// What it says of itself.
    metadata: Value,
    /// The keys that it shows.
    keys: Vec<Value>,
    /// What makes an ID token of claims.
    issue: Forge,
    manner: ProviderManner,
    /// What was granted by codes that weren't exchanged yet.
    grants: HashMap<String, Grant>,
    /// What it says apart from ID tokens.
    apart: Value,
    paths: Vec<&'static str>,
}

struct Grant {
    challenge: String,
    redirect_uri: String,
    claims: Value,
}

type Shared = Arc<Mutex<Inner>>;

/// An identity provider. Clones share its state.
#[derive(Clone)]
pub struct FakeProvider {
    /// Its issuer.
    pub issuer: String,
    inner: Shared,
}

impl FakeProvider {
    /// A provider whose one key, `first`, is of a curve.
    ///
    /// # Panics
    /// When it can't listen on this machine.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let issuer = format!("http://{}", listener.local_addr().expect("an address"));
        let first = SigningKey::generate("first", Algorithm::ES256);
        let metadata = json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/authorize?tenant=1"),
            "token_endpoint": format!("{issuer}/token"),
            "jwks_uri": format!("{issuer}/keys"),
            "userinfo_endpoint": format!("{issuer}/userinfo"),
            "end_session_endpoint": format!("{issuer}/logout"),
            "authorization_response_iss_parameter_supported": true,
        });
        let inner = Inner {
            metadata,
            keys: vec![first.public()],
            issue: Box::new(move |claims| first.sign(claims)),
            manner: ProviderManner::Answers,
            grants: HashMap::new(),
            apart: json!({}),
            paths: Vec::new(),
        };
        let provider = Self { issuer, inner: Arc::new(Mutex::new(inner)) };
        let routes = Router::new()
            .route("/.well-known/openid-configuration", get(show_metadata))
            .route("/keys", get(show_keys))
            .route("/token", post(exchange))
            .route("/userinfo", get(show_person))
            .with_state(provider.inner.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        provider
    }

    /// Changes what it says of itself.
    pub fn change_metadata(&self, member: &str, value: Value) {
        lock(&self.inner).metadata[member] = value;
    }

    /// Shows these keys.
    pub fn show_keys(&self, keys: Vec<Value>) {
        lock(&self.inner).keys = keys;
    }

    /// Makes ID tokens like this from now on.
    pub fn issue(&self, issue: impl Fn(&Value) -> String + Send + 'static) {
        lock(&self.inner).issue = Box::new(issue);
    }

    /// Answers like this from now on.
    pub fn answer(&self, manner: ProviderManner) {
        lock(&self.inner).manner = manner;
    }

    /// Says this of whoever has an access token, apart from ID tokens.
    pub fn say_apart(&self, apart: Value) {
        lock(&self.inner).apart = apart;
    }

    /// The paths that were asked for, in order.
    pub fn paths(&self) -> Vec<&'static str> {
        lock(&self.inner).paths.clone()
    }

    /// What the browser brings back from this address of the provider, after somebody has signed in there about whom these claims are
    /// true: code, state and issuer.
    ///
    /// # Panics
    /// When the address isn't this provider's, or lacks a parameter.
    pub fn sign_in(&self, address: &str, person: &Value) -> HashMap<String, String> {
        let url = Url::parse(address).expect("a URL");
        assert!(address.starts_with(&format!("{}/authorize?tenant=1&", self.issuer)), "{address}");
        let given: HashMap<_, _> = url.query_pairs().into_owned().collect();
        for (name, value) in [("response_type", "code"), ("client_id", CLIENT.0), ("code_challenge_method", "S256")] {
            assert_eq!(given[name], value, "{name}");
        }
        let now = Timestamp::now().unix_seconds();
        let mut claims = json!({
            "iss": self.issuer, "aud": CLIENT.0, "iat": now, "exp": now + 300, "nonce": given["nonce"],
        });
        for (name, value) in person.as_object().into_iter().flatten() {
            claims[name] = value.clone();
        }
        let mut inner = lock(&self.inner);
        let code = format!("code/{}+{}", inner.grants.len(), given["state"]);
        let grant =
            Grant { challenge: given["code_challenge"].clone(), redirect_uri: given["redirect_uri"].clone(), claims };
        inner.grants.insert(code.clone(), grant);
        let iss = self.issuer.clone();
        [("code", code), ("state", given["state"].clone()), ("iss", iss)]
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    }
}

/// Answers in the manner that it has now.
async fn in_its_manner(provider: &Shared, path: &'static str) -> Result<(), StatusCode> {
    let manner = {
        let mut inner = lock(provider);
        inner.paths.push(path);
        inner.manner
    };
    match manner {
        ProviderManner::Answers => Ok(()),
        ProviderManner::AnswersAfter(time) => {
            tokio::time::sleep(time).await;
            Ok(())
        }
        ProviderManner::Fails(status) => Err(StatusCode::from_u16(status).expect("a status")),
    }
}

async fn show_metadata(State(provider): State<Shared>) -> Result<Json<Value>, StatusCode> {
    in_its_manner(&provider, "metadata").await?;
    Ok(Json(lock(&provider).metadata.clone()))
}

async fn show_keys(State(provider): State<Shared>) -> Result<Json<Value>, StatusCode> {
    in_its_manner(&provider, "keys").await?;
    Ok(Json(json!({"keys": lock(&provider).keys})))
}

async fn show_person(State(provider): State<Shared>, headers: HeaderMap) -> Result<Json<Value>, StatusCode> {
    in_its_manner(&provider, "userinfo").await?;
    let has_token = headers.get(header::AUTHORIZATION).is_some_and(|value| value == "Bearer access");
    if has_token { Ok(Json(lock(&provider).apart.clone())) } else { Err(StatusCode::UNAUTHORIZED) }
}

async fn exchange(
    State(provider): State<Shared>,
    headers: HeaderMap,
    Form(form): Form<HashMap<String, String>>,
) -> Result<Json<Value>, (StatusCode, Json<Value>)> {
    in_its_manner(&provider, "token").await.map_err(|status| (status, Json(Value::Null)))?;
    let refused = |status, code: &str| (status, Json(json!({"error": code})));
    let mut inner = lock(&provider);
    let given = |name: &str| form.get(name).map(String::as_str);
    if client_of(&headers, &form).as_deref() != Some(&format!("{}:{}", CLIENT.0, CLIENT.1)) {
        return Err(refused(StatusCode::UNAUTHORIZED, "invalid_client"));
    }
    let grant = inner
        .grants
        .remove(given("code").unwrap_or_default())
        .ok_or_else(|| refused(StatusCode::BAD_REQUEST, "invalid_grant"))?;
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(given("code_verifier").unwrap_or_default()));
    let is_right = given("grant_type") == Some("authorization_code")
        && given("redirect_uri") == Some(&grant.redirect_uri)
        && challenge == grant.challenge;
    if !is_right {
        return Err(refused(StatusCode::BAD_REQUEST, "invalid_grant"));
    }
    let id_token = (inner.issue)(&grant.claims);
    Ok(Json(json!({"access_token": "access", "token_type": "Bearer", "id_token": id_token})))
}

/// The client with its secret, from the header or the form.
fn client_of(headers: &HeaderMap, form: &HashMap<String, String>) -> Option<String> {
    if let (Some(id), Some(secret)) = (form.get("client_id"), form.get("client_secret")) {
        return Some(format!("{id}:{secret}"));
    }
    let encoded = headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Basic ")?;
    let pair = String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok()?;
    let (id, secret) = pair.split_once(':')?;
    let decode = |text: &str| {
        url::form_urlencoded::parse(format!("x={text}").as_bytes()).next().map(|(_, value)| value.into_owned())
    };
    Some(format!("{}:{}", decode(id)?, decode(secret)?))
}
