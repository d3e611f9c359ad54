use std::{sync::Arc, time::Duration};

use aws_config::SdkConfig;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, errors::ErrorKind};
use lambda_http::http::header;
use linklet_domain::{EmailAddress, Invalid, Role, Timestamp, UserId, WorkspaceId};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::Caller;
use crate::{
    StartError, config,
    http::{ApiError, Request},
    secrets::{self, SecretError},
    telemetry::chain,
};

const ISSUER: &str = "url-shortener";
const LIFETIME: Duration = Duration::from_secs(86_400);

/// How old a copy of the secret may be when it is used: so long after a rotation, all environments know of it, also those
/// that meet no token that is signed with the new one.
const MAX_AGE: Duration = Duration::from_secs(300);

/// Why the token secret can't be had; the function then refuses to start.
#[derive(Debug, thiserror::Error)]
pub enum TokenSecretError {
    /// Secrets Manager did not answer.
    #[error("the token secret could not be read")]
    Secret(#[from] SecretError),
    /// The secret can be guessed.
    #[error("the token secret is unusable")]
    Weak(#[from] Invalid),
}

/// A secret that signs tokens: at least 32 bytes, the output size of HS256's hash (RFC 7518, 3.2).
pub struct TokenSecret(String);

impl TokenSecret {
    /// The environment variable with the secret's id.
    const VARIABLE: &str = "JWT_SECRET_ID";

    /// Accepts at least 32 bytes.
    ///
    /// # Errors
    /// When the text is shorter.
    pub fn parse(text: impl Into<String>) -> Result<Self, Invalid> {
        let text = text.into();
        if text.len() >= 32 {
            Ok(Self(text))
        } else {
            Err(Invalid::new("the token secret must have at least 32 bytes"))
        }
    }
}

/// Turns tokens into callers. API keys mean nothing to it.
///
/// The secret is read at the start and again when the copy is five minutes old. A token with an unknown signature has it read
/// sooner, at most every ten seconds: so right after a rotation, an environment learns the new secret from the first token
/// that is signed with it.
pub struct TokenVerifier {
    keys: Mutex<Keys>,
    source: Option<Source>,
    reload_interval: Duration,
    validation: Validation,
}

struct Keys {
    known: Arc<[DecodingKey]>,
    read_at: Timestamp,
}

/// Where the secret comes from.
struct Source {
    client: aws_sdk_secretsmanager::Client,
    secret_id: String,
}

impl Source {
    /// The current secret and, so that a rotation ends no session, the one before.
    async fn read(&self) -> Result<Vec<TokenSecret>, TokenSecretError> {
        let mut secrets = vec![self.current().await?];
        if let Some(previous) = secrets::previous(&self.client, &self.secret_id).await? {
            secrets.push(TokenSecret::parse(previous)?);
        }
        Ok(secrets)
    }

    async fn current(&self) -> Result<TokenSecret, TokenSecretError> {
        Ok(TokenSecret::parse(secrets::current(&self.client, &self.secret_id).await?)?)
    }
}

fn decoding_keys(secrets: &[TokenSecret]) -> Arc<[DecodingKey]> {
    secrets.iter().map(|secret| DecodingKey::from_secret(secret.0.as_bytes())).collect()
}

impl TokenVerifier {
    /// How often a token with an unknown signature may have the secret read again: seldom enough that nobody can run up a bill
    /// with forged tokens.
    const RELOAD_INTERVAL: Duration = Duration::from_secs(10);

    /// Accepts the tokens that `JWT_SECRET_ID` signs.
    ///
    /// # Errors
    /// When the variable is missing, or the secret can't be read or is too short.
    pub async fn from_env(aws: &SdkConfig) -> Result<Self, StartError> {
        let secret_id = config::required(TokenSecret::VARIABLE)?;
        Ok(Self::load(&aws_sdk_secretsmanager::Client::new(aws), &secret_id).await?)
    }

    /// Reads the secret and the one before it.
    ///
    /// # Errors
    /// When they can't be read or are too short.
    pub async fn load(client: &aws_sdk_secretsmanager::Client, secret_id: &str) -> Result<Self, TokenSecretError> {
        let source = Source { client: client.clone(), secret_id: secret_id.to_owned() };
        let secrets = source.read().await?;
        Ok(Self { source: Some(source), ..Self::new(&secrets) })
    }

    /// Accepts tokens signed with any of these secrets.
    #[must_use]
    pub fn new(secrets: &[TokenSecret]) -> Self {
        let mut validation = Validation::new(Algorithm::HS256);
        validation.leeway = 0;
        validation.set_issuer(&[ISSUER]);
        validation.set_required_spec_claims(&["exp", "iss", "sub"]);
        let keys = Keys { known: decoding_keys(secrets), read_at: Timestamp::now() };
        Self { keys: Mutex::new(keys), source: None, reload_interval: Self::RELOAD_INTERVAL, validation }
    }

    /// The same with another interval between readings of the secret.
    #[must_use]
    pub fn reloading_every(self, reload_interval: Duration) -> Self {
        Self { reload_interval, ..self }
    }

    /// Who sent the request.
    ///
    /// # Errors
    /// 401 without a valid token. The log says why, the answer doesn't.
    pub async fn authenticate(&self, request: &Request) -> Result<Caller, ApiError> {
        let token = request.only_header(header::AUTHORIZATION).and_then(bearer_token).ok_or(ApiError::Unauthorized)?;
        let now = request.received_at();
        self.reload(MAX_AGE, now).await;
        let mut verified = self.verify(token);
        let is_unknown = verified.as_ref().is_err_and(|error| *error.kind() == ErrorKind::InvalidSignature);
        if is_unknown && self.reload(self.reload_interval, now).await {
            verified = self.verify(token);
        }
        verified.map_err(|error| {
            tracing::info!(reason = reason(error.kind()), "a token was refused");
            ApiError::Unauthorized
        })
    }

    /// Who sent the request, if they may at least do what this role may.
    ///
    /// # Errors
    /// 401 without a valid token, 403 with a lesser role.
    pub async fn require(&self, request: &Request, role: Role) -> Result<Caller, ApiError> {
        let caller = self.authenticate(request).await?;
        if caller.role >= role { Ok(caller) } else { Err(ApiError::Forbidden("your role does not allow this")) }
    }

    fn verify(&self, token: &str) -> Result<Caller, jsonwebtoken::errors::Error> {
        let keys = self.keys.lock().known.clone();
        let mut refusal = ErrorKind::InvalidSignature.into();
        for key in keys.iter() {
            match jsonwebtoken::decode::<Claims>(token, key, &self.validation) {
                Ok(token) => return Ok(token.claims.into()),
                // A key that fits tells more than one that doesn't: an expired token is no unknown one.
                Err(error) if *error.kind() != ErrorKind::InvalidSignature => return Err(error),
                Err(error) => refusal = error,
            }
        }
        Err(refusal)
    }

    /// Reads the secret again if the copy is so old, and says whether there may be a new one. While Secrets Manager doesn't
    /// answer, the copy stays in use: sessions matter more than a rotation's last minutes.
    async fn reload(&self, age: Duration, now: Timestamp) -> bool {
        let Some(source) = &self.source else { return false };
        {
            let mut keys = self.keys.lock();
            if keys.read_at.until(now) < age {
                return false;
            }
            keys.read_at = now;
        }
        match source.read().await {
            Ok(secrets) => {
                self.keys.lock().known = decoding_keys(&secrets);
                true
            }
            Err(error) => {
                tracing::warn!(error = chain(&error), "the token secret could not be read again");
                false
            }
        }
    }
}

/// What is wrong with a token, without anything of it: the error's own text quotes headers and claims.
fn reason(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidToken => "it has not the form of a token",
        ErrorKind::InvalidSignature => "its signature is not ours",
        ErrorKind::InvalidAlgorithm | ErrorKind::InvalidAlgorithmName => "it is signed with another algorithm",
        ErrorKind::ExpiredSignature => "it has expired",
        ErrorKind::InvalidIssuer => "it is somebody else's",
        _ => "its header or claims are not ours",
    }
}

/// The scheme's name is case-insensitive (RFC 9110, 11.1).
fn bearer_token(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token)
}

/// Signs tokens. The secret is read at the start, and again when the copy is five minutes old.
pub struct TokenIssuer {
    key: Mutex<SigningKey>,
    source: Option<Source>,
}

struct SigningKey {
    key: EncodingKey,
    read_at: Timestamp,
}

impl SigningKey {
    fn of(secret: &TokenSecret, read_at: Timestamp) -> Self {
        Self { key: EncodingKey::from_secret(secret.0.as_bytes()), read_at }
    }
}

impl TokenIssuer {
    /// Signs with the secret `JWT_SECRET_ID`.
    ///
    /// # Errors
    /// When the variable is missing, or the secret can't be read or is too short.
    pub async fn from_env(aws: &SdkConfig) -> Result<Self, StartError> {
        let secret_id = config::required(TokenSecret::VARIABLE)?;
        Ok(Self::load(&aws_sdk_secretsmanager::Client::new(aws), &secret_id).await?)
    }

    /// Reads the secret.
    ///
    /// # Errors
    /// When it can't be read or is too short.
    pub async fn load(client: &aws_sdk_secretsmanager::Client, secret_id: &str) -> Result<Self, TokenSecretError> {
        let source = Source { client: client.clone(), secret_id: secret_id.to_owned() };
        let secret = source.current().await?;
        Ok(Self { source: Some(source), ..Self::new(&secret) })
    }

    /// Signs with this secret.
    #[must_use]
    pub fn new(secret: &TokenSecret) -> Self {
        Self { key: Mutex::new(SigningKey::of(secret, Timestamp::now())), source: None }
    }

    /// A token for 24 hours, and when it expires.
    ///
    /// # Errors
    /// When signing fails.
    pub async fn issue(
        &self,
        user: &UserId,
        email: &EmailAddress,
        workspace: &WorkspaceId,
        role: Role,
        now: Timestamp,
    ) -> Result<(String, Timestamp), ApiError> {
        self.reload(now).await;
        let expires_at = now.plus(LIFETIME);
        let claims = Claims {
            iss: ISSUER.to_owned(),
            sub: user.clone(),
            email: email.clone(),
            ws: workspace.clone(),
            role,
            iat: now.unix_seconds(),
            exp: expires_at.unix_seconds(),
        };
        let token = jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &self.key.lock().key)
            .map_err(|error| ApiError::Internal(Box::new(error)))?;
        let expires_at = Timestamp::from_unix_seconds(claims.exp).unwrap_or(expires_at);
        Ok((token, expires_at))
    }

    async fn reload(&self, now: Timestamp) {
        let Some(source) = &self.source else { return };
        {
            let mut key = self.key.lock();
            if key.read_at.until(now) < MAX_AGE {
                return;
            }
            key.read_at = now;
        }
        match source.current().await {
            Ok(secret) => *self.key.lock() = SigningKey::of(&secret, now),
            Err(error) => tracing::warn!(error = chain(&error), "the token secret could not be read again"),
        }
    }
}

/// The claims of a token. A missing or malformed one makes the token invalid.
#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    iss: String,
    sub: UserId,
    email: EmailAddress,
    ws: WorkspaceId,
    role: Role,
    iat: i64,
    exp: i64,
}

impl From<Claims> for Caller {
    fn from(claims: Claims) -> Self {
        Self { user: claims.sub, email: claims.email, workspace: claims.ws, role: claims.role, api_key: None }
    }
}
