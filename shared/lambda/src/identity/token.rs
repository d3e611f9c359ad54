use std::{sync::Arc, time::Duration};

use aws_config::SdkConfig;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, errors::ErrorKind};
use lambda_http::http::header;
use linklet_domain::{EmailAddress, Invalid, Membership, Role, SessionId, Timestamp, UserId, WorkspaceId, lifetimes};
use linklet_dynamodb::{ActiveSession, Session, SessionStatus, Sessions};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::sessions::{Freshness, HeldSessions};
use super::{Actor, Caller, Person, api_key, refresh};
use crate::aws::Tables;
use crate::http::{ApiError, Problem, Request, Result};
use crate::secrets::{self, SecretError};
use crate::telemetry::warn_of;
use crate::{StartError, config};

const ISSUER: &str = "url-shortener";

/// Maximum age of the cached secret. After this time all execution environments use a rotated secret, also those that receive
/// no token signed with it.
const MAX_AGE: Duration = Duration::from_secs(300);

/// Why the token secret could not be loaded. The function doesn't start then.
#[derive(Debug, thiserror::Error)]
pub enum TokenSecretError {
    /// The secret could not be read from Secrets Manager.
    #[error("the token secret could not be read")]
    Secret(#[from] SecretError),
    /// The secret is too short.
    #[error("the token secret is too weak")]
    Weak(#[from] Invalid),
}

/// A secret for signing tokens: at least 32 bytes, the output size of HS256's hash (RFC 7518, 3.2).
pub struct TokenSecret(String);

impl TokenSecret {
    /// The environment variable with the secret's id.
    const VARIABLE: &str = "JWT_SECRET_ID";

    /// Parses a secret.
    ///
    /// # Errors
    /// When the text is shorter than 32 bytes.
    pub fn parse(text: impl Into<String>) -> Result<Self, Invalid> {
        let text = text.into();
        Invalid::unless(text.len() >= 32, "the token secret must have at least 32 bytes")?;
        Ok(Self(text))
    }
}

/// Authenticates requests with tokens.
///
/// The secret is read at the start, and again when the cached copy is five minutes old. A token whose signature doesn't match
/// causes a read as well, but at most every ten seconds. So right after a rotation, an environment reads the new secret when
/// it receives the first token signed with it.
///
/// A token says who has logged in. Whether its session lasts, and what the person may do in the workspace, is looked up.
pub struct TokenVerifier {
    keys: Mutex<Keys>,
    source: Option<Source>,
    sessions: Option<HeldSessions>,
    /// The minimum time between reads of the secret that invalid signatures cause.
    pub reload_interval: Duration,
    validation: Validation,
    /// Accepts a token for its signature alone, to know whose token was refused for another reason.
    signature_only: Validation,
    /// Accepts refresh tokens.
    pub(super) refresh: Validation,
}

struct Keys {
    known: Arc<[DecodingKey]>,
    read_at: Timestamp,
}

/// The location of the secret in Secrets Manager.
struct Source {
    client: aws_sdk_secretsmanager::Client,
    secret_id: String,
}

impl Source {
    /// Reads the current secret and the previous one, so that tokens stay valid after a rotation.
    async fn read(&self) -> Result<Vec<TokenSecret>, TokenSecretError> {
        let mut secrets = vec![self.current().await?];
        if let Some(previous) = secrets::previous(&self.client, &self.secret_id).await? {
            secrets.push(TokenSecret::parse(previous)?);
        }
        Ok(secrets)
    }

    /// The secret to sign with. Whoever has just read the one before may not read again for [some
    /// seconds](TokenVerifier::RELOAD_INTERVAL), and clocks differ.
    async fn signing(&self, now: Timestamp) -> Result<TokenSecret, TokenSecretError> {
        const KNOWN_TO_ALL_AFTER: Duration = Duration::from_secs(15);
        Ok(TokenSecret::parse(secrets::of_age(&self.client, &self.secret_id, KNOWN_TO_ALL_AFTER, now).await?)?)
    }

    async fn current(&self) -> Result<TokenSecret, TokenSecretError> {
        Ok(TokenSecret::parse(secrets::current(&self.client, &self.secret_id).await?)?)
    }
}

fn decoding_keys(secrets: &[TokenSecret]) -> Arc<[DecodingKey]> {
    secrets.iter().map(|secret| DecodingKey::from_secret(secret.0.as_bytes())).collect()
}

impl TokenVerifier {
    /// Minimum time between reads of the secret that invalid signatures cause. It limits the costs that forged tokens can cause.
    const RELOAD_INTERVAL: Duration = Duration::from_secs(10);

    /// Verifies tokens with the secret `JWT_SECRET_ID`, and looks up sessions in `USERS_TABLE`.
    ///
    /// # Errors
    /// When one of the variables is missing, or the secret can't be read or is too short.
    pub async fn from_env(aws: &SdkConfig, tables: &Tables) -> Result<Self, StartError> {
        let secret_id = config::required(TokenSecret::VARIABLE)?;
        let sessions = tables.at("USERS_TABLE", Sessions)?;
        Ok(Self::load(&aws_sdk_secretsmanager::Client::new(aws), &secret_id).await?.with_sessions(sessions))
    }

    /// Reads the current and the previous secret from Secrets Manager.
    ///
    /// # Errors
    /// When a secret can't be read or is too short.
    pub async fn load(client: &aws_sdk_secretsmanager::Client, secret_id: &str) -> Result<Self, TokenSecretError> {
        let source = Source { client: client.clone(), secret_id: secret_id.to_owned() };
        let secrets = source.read().await?;
        Ok(Self { source: Some(source), ..Self::new(&secrets) })
    }

    /// Accepts tokens signed with any of these secrets, and believes what they say, unless it gets
    /// [sessions](Self::with_sessions).
    pub fn new(secrets: &[TokenSecret]) -> Self {
        let mut validation = Validation::new(Algorithm::HS256);
        validation.leeway = 0;
        validation.set_issuer(&[ISSUER]);
        validation.set_required_spec_claims(&["exp", "iss", "sub"]);
        let mut signature_only = Validation::new(Algorithm::HS256);
        signature_only.validate_exp = false;
        signature_only.set_required_spec_claims::<&str>(&[]);
        let keys = Mutex::new(Keys { known: decoding_keys(secrets), read_at: Timestamp::now() });
        let (source, sessions) = (None, None);
        let (reload_interval, refresh) = (Self::RELOAD_INTERVAL, refresh::validation());
        Self { keys, source, sessions, reload_interval, validation, signature_only, refresh }
    }

    /// Looks up in this table what the session of a token is worth.
    #[must_use]
    pub fn with_sessions(self, sessions: Sessions) -> Self {
        Self { sessions: Some(HeldSessions::new(sessions)), ..self }
    }

    /// Authenticates a request by the token in its `Authorization` header. Membership and role are those of the last minute.
    ///
    /// # Errors
    /// 401 without a valid token, or with one whose session was ended or whose person has left the workspace; 403 if it is for no
    /// workspace; 503 if that can't be looked up. The reason of a 401 is logged, and not part of the response.
    pub async fn authenticate(&self, request: &Request) -> Result<Caller> {
        self.person(request).await?.into_caller()
    }

    /// Authenticates a request for a route about an account, which who has no workspace needs, too.
    ///
    /// # Errors
    /// As [`Self::authenticate`], but for 403.
    pub async fn person(&self, request: &Request) -> Result<Person> {
        self.person_as_of(request, Freshness::LastMinute).await
    }

    /// Authenticates a request for a route about an account by what the tables say at this moment.
    ///
    /// # Errors
    /// As [`Self::person`].
    pub async fn person_now(&self, request: &Request) -> Result<Person> {
        self.person_as_of(request, Freshness::Now).await
    }

    /// As [`Self::person_now`], but whatever has become of the workspace that the token is for: the person is taken for one without a
    /// workspace, so that a request to leave all of them can be repeated after that one was left.
    ///
    /// # Errors
    /// As [`Self::person`], but not for one who has left the workspace.
    pub async fn person_apart(&self, request: &Request) -> Result<Person> {
        let claims = Claims { ws: None, role: None, ..self.claims(request).await? };
        self.admit(request, claims, Freshness::Now).await
    }

    async fn person_as_of(&self, request: &Request, freshness: Freshness) -> Result<Person> {
        let claims = self.claims(request).await?;
        self.admit(request, claims, freshness).await
    }

    /// What the token of a request says.
    async fn claims(&self, request: &Request) -> Result<Claims> {
        if api_key::is_offered(request) {
            return Err(api_key::refused_for_a_token(request));
        }
        Problem::Unauthorized.unless(request.has_header(header::AUTHORIZATION))?;
        let token = request.bearer_token();
        let token = token.ok_or_else(|| TokenRefusal { reason: "no bearer token", claimed: None }.logged())?;
        let now = request.received_at;
        self.reload(MAX_AGE, now).await;
        let mut verified = self.verify(token);
        let is_signed_otherwise = verified.as_ref().is_err_and(|refused| refused.reason == INVALID_SIGNATURE);
        if is_signed_otherwise && self.reload(self.reload_interval, now).await {
            verified = self.verify(token);
        }
        verified.map_err(TokenRefusal::logged)
    }

    async fn admit(&self, request: &Request, claims: Claims, freshness: Freshness) -> Result<Person> {
        let person = self.in_current_role(claims, request.received_at, freshness).await?;
        request.note_actor(person.sender());
        request.require_known_parameters()?;
        Ok(person)
    }

    /// The person that the claims name, in the role that they have now.
    async fn in_current_role(&self, claims: Claims, now: Timestamp, freshness: Freshness) -> Result<Person> {
        let Some(sessions) = &self.sessions else { return Ok(claims.into()) };
        let reason = match sessions.status(&claims.session(), now, freshness).await? {
            SessionStatus::Member(role) => return Ok(Claims { role: Some(role), ..claims }.into()),
            SessionStatus::WithoutWorkspace => return Ok(claims.into()),
            SessionStatus::NoMember => "no member any more",
            SessionStatus::Paused => "paused membership",
            SessionStatus::Closed => "closed workspace",
            SessionStatus::Ended => "ended session",
        };
        Err(claims.refused(reason).logged())
    }

    /// Authenticates a request by its token, whose role must be at least `role`.
    ///
    /// # Errors
    /// 401 without a valid token, 403 with a lower role.
    pub async fn require(&self, request: &Request, role: Role) -> Result<Caller> {
        self.authenticate(request).await?.with_role(role)
    }

    /// Requires a role by the membership of this moment: for what can't be undone, changes what is others', or changes who may
    /// do what.
    ///
    /// # Errors
    /// As [`Self::require`].
    pub async fn require_now(&self, request: &Request, role: Role) -> Result<Caller> {
        self.person_now(request).await?.into_caller()?.with_role(role)
    }

    /// Requires that somebody has shown in their session, within the last ten minutes, who they are: for what can't be undone. Where
    /// sessions aren't looked up, everybody has.
    ///
    /// # Errors
    /// 403 if they haven't, 503 if the table can't be read.
    pub async fn require_proof(&self, acting: ActiveSession<'_>, now: Timestamp) -> Result<()> {
        const RECENT: Duration = Duration::from_secs(600);
        let Some(sessions) = &self.sessions else { return Ok(()) };
        let proved_at = sessions.proved_at(acting).await?;
        Problem::ProofRequired.unless(proved_at.is_some_and(|at| at.until(now) < RECENT))
    }

    /// Forgets a session that was ended. Other environments may hold it for up to a minute.
    pub fn forget(&self, session: &SessionId) {
        if let Some(sessions) = &self.sessions {
            sessions.forget(session);
        }
    }

    /// What the first of the known secrets that has signed a refresh token finds in it, after reading them again if none has.
    pub(super) async fn signed_by_known<C>(
        &self,
        find: impl Fn(&DecodingKey) -> Option<C>,
        now: Timestamp,
    ) -> Option<C> {
        let known = || self.keys.lock().known.iter().find_map(&find);
        self.reload(MAX_AGE, now).await;
        match known() {
            None if self.reload(self.reload_interval, now).await => known(),
            found => found,
        }
    }

    fn verify(&self, token: &str) -> Result<Claims, TokenRefusal> {
        let keys = self.keys.lock().known.clone();
        for key in keys.iter() {
            match jsonwebtoken::decode::<Claims>(token, key, &self.validation) {
                Ok(token) if token.claims.ws.is_some() == token.claims.role.is_some() => return Ok(token.claims),
                Ok(_) => return Err(TokenRefusal { reason: reason(&ErrorKind::InvalidToken), claimed: None }),
                Err(error) if *error.kind() == ErrorKind::InvalidSignature => {}
                // The signature matches this key, so another error, such as an expired token, is the reason to report.
                Err(error) => {
                    return Err(TokenRefusal { reason: reason(error.kind()), claimed: self.claimed(token, key) });
                }
            }
        }
        Err(TokenRefusal { reason: INVALID_SIGNATURE, claimed: None })
    }

    /// Who a refused token says it belongs to; `None` unless this key has signed it.
    fn claimed(&self, token: &str, key: &DecodingKey) -> Option<Actor> {
        let signed = jsonwebtoken::decode::<Claims>(token, key, &self.signature_only).ok()?;
        Some(Person::from(signed.claims).sender())
    }

    /// Reads the secret again if the cached copy has at least this age. Returns whether it was read. If that fails, the cached
    /// copy stays in use: a late rotation does less harm than refusing all tokens.
    async fn reload(&self, age: Duration, now: Timestamp) -> bool {
        let Some(source) = &self.source else { return false };
        if !is_due(&mut self.keys.lock().read_at, age, now) {
            return false;
        }
        let Some(secrets) = warn_of(source.read().await, NOT_READ) else { return false };
        self.keys.lock().known = decoding_keys(&secrets);
        true
    }
}

const NOT_READ: &str = "the token secret could not be read again";

/// Whether something that was read at a time has this age. If so, it counts as read now.
fn is_due(read_at: &mut Timestamp, age: Duration, now: Timestamp) -> bool {
    let is_due = read_at.until(now) >= age;
    if is_due {
        *read_at = now;
    }
    is_due
}

/// A token that was refused.
struct TokenRefusal {
    reason: &'static str,
    /// Whose token it is, if that is certain.
    claimed: Option<Actor>,
}

impl TokenRefusal {
    /// Writes the line that says why, and returns the error of the request, which doesn't.
    fn logged(self) -> ApiError {
        let claimed = self.claimed.as_ref();
        tracing::warn!(
            reason = self.reason,
            user_id = claimed.map(|actor| actor.user.to_string()),
            workspace_id = claimed.and_then(Actor::workspace_id),
            "a token was refused"
        );
        ApiError::Problem(Problem::Unauthorized)
    }
}

/// The reason to refuse a token that no known secret has signed.
const INVALID_SIGNATURE: &str = "invalid signature";

/// Why a token is invalid, for the log. The text of the error itself isn't logged, since it quotes headers and claims.
fn reason(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidToken => "malformed token",
        ErrorKind::InvalidSignature => INVALID_SIGNATURE,
        ErrorKind::InvalidAlgorithm | ErrorKind::InvalidAlgorithmName => "unsupported algorithm",
        ErrorKind::ExpiredSignature => "expired token",
        ErrorKind::InvalidIssuer => "wrong issuer",
        _ => "invalid header or claims",
    }
}

/// Issues tokens. The secret is read at the start, and again when the cached copy is five minutes old.
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
    /// Signs tokens with the secret `JWT_SECRET_ID`.
    ///
    /// # Errors
    /// When the variable is missing, or the secret can't be read or is too short.
    pub async fn from_env(aws: &SdkConfig) -> Result<Self, StartError> {
        let secret_id = config::required(TokenSecret::VARIABLE)?;
        Ok(Self::load(&aws_sdk_secretsmanager::Client::new(aws), &secret_id).await?)
    }

    /// Reads the current secret from Secrets Manager.
    ///
    /// # Errors
    /// When the secret can't be read or is too short.
    pub async fn load(client: &aws_sdk_secretsmanager::Client, secret_id: &str) -> Result<Self, TokenSecretError> {
        let source = Source { client: client.clone(), secret_id: secret_id.to_owned() };
        let secret = source.signing(Timestamp::now()).await?;
        Ok(Self { source: Some(source), ..Self::new(&secret) })
    }

    /// Signs tokens with this secret.
    pub fn new(secret: &TokenSecret) -> Self {
        Self { key: Mutex::new(SigningKey::of(secret, Timestamp::now())), source: None }
    }

    /// Issues a token that is valid for 24 hours, for a workspace or for none, and returns it with its expiry.
    ///
    /// # Errors
    /// When signing fails.
    pub async fn issue(
        &self,
        session: &SessionId,
        user: &UserId,
        email: &EmailAddress,
        membership: Option<&Membership>,
        now: Timestamp,
    ) -> Result<(String, Timestamp)> {
        self.issue_until((session, now.plus(lifetimes::SESSIONS)), user, email, membership, now).await
    }

    /// Issues another token of somebody's session, for another workspace of theirs. It expires when the present one does.
    ///
    /// # Errors
    /// When signing fails.
    pub async fn issue_for(
        &self,
        person: &Person,
        membership: &Membership,
        now: Timestamp,
    ) -> Result<(String, Timestamp)> {
        let Person { session, user, claimed_email: email, expires_at, .. } = person;
        self.issue_until((session, *expires_at), user, email, Some(membership), now).await
    }

    /// Issues a token of a session that is valid until a time.
    ///
    /// # Errors
    /// When signing fails.
    pub async fn issue_until(
        &self,
        (session, expires_at): (&SessionId, Timestamp),
        user: &UserId,
        email: &EmailAddress,
        membership: Option<&Membership>,
        now: Timestamp,
    ) -> Result<(String, Timestamp)> {
        let claims = Claims {
            iss: ISSUER.to_owned(),
            jti: *session,
            sub: *user,
            email: email.clone(),
            ws: membership.map(|membership| membership.workspace),
            role: membership.map(|membership| membership.role),
            iat: now.unix_seconds(),
            exp: expires_at.unix_seconds(),
        };
        let token = self.signed(&claims, now).await?;
        let expires_at = Timestamp::from_unix_seconds(claims.exp).unwrap_or(expires_at);
        Ok((token, expires_at))
    }

    /// Signs claims with the current secret.
    pub(super) async fn signed(&self, claims: &impl Serialize, now: Timestamp) -> Result<String> {
        self.reload(now).await;
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), claims, &self.key.lock().key).map_err(ApiError::internal)
    }

    async fn reload(&self, now: Timestamp) {
        let Some(source) = &self.source else { return };
        if !is_due(&mut self.key.lock().read_at, MAX_AGE, now) {
            return;
        }
        if let Some(secret) = warn_of(source.signing(now).await, NOT_READ) {
            *self.key.lock() = SigningKey::of(&secret, now);
        }
    }
}

/// The claims of a token. A missing or malformed claim makes the token invalid.
#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    iss: String,
    jti: SessionId,
    sub: UserId,
    /// For clients that show it. Nothing here goes by it, since it is that of the login.
    email: EmailAddress,
    /// `null` for somebody without a workspace, as is the role. Serde takes an absent member for `null`, unless it is told how to read
    /// it.
    #[serde(deserialize_with = "Option::deserialize")]
    ws: Option<WorkspaceId>,
    #[serde(deserialize_with = "Option::deserialize")]
    role: Option<Role>,
    iat: i64,
    exp: i64,
}

impl Claims {
    fn session(&self) -> Session {
        Session { id: self.jti, user: self.sub, workspace: self.ws }
    }

    fn refused(self, reason: &'static str) -> TokenRefusal {
        TokenRefusal { reason, claimed: Some(Person::from(self).sender()) }
    }
}

impl From<Claims> for Person {
    fn from(claims: Claims) -> Self {
        let membership = claims.ws.zip(claims.role);
        let expires_at = Timestamp::from_unix_seconds(claims.exp).unwrap_or(Timestamp::EPOCH);
        Self { user: claims.sub, claimed_email: claims.email, session: claims.jti, expires_at, membership }
    }
}
