//! An identity provider.

use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::HeaderValue;
use jsonwebtoken::{Algorithm, DecodingKey, Header};
use linklet_domain::{Reach, TargetUrl, Timestamp};
use linklet_fetch::{Call, Fetcher, Network, SystemNetwork};
use parking_lot::Mutex;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::{Url, form_urlencoded};

use crate::claims::{Claims, Profile};
use crate::metadata::{Keys, Metadata, Read};
use crate::round_trip::Authentication;
use crate::{ErrorCode, Identity, OidcError, RoundTrip, Settings};

/// A provider, with what it has said of itself.
pub struct Provider<N = SystemNetwork> {
    /// How it is configured.
    pub settings: Settings,
    fetcher: Arc<Fetcher<N>>,
    reach: Reach,
    metadata: Mutex<Option<Read<Arc<Metadata>>>>,
    keys: Mutex<Option<Read<Arc<Keys>>>>,
}

/// Whether a provider asks somebody who is signed in there to do so again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompt {
    /// No: they come back at once.
    IfNeeded,
    /// Yes: they show anew who they are.
    Always,
}

/// What a browser brings back from a provider: the parameters of the callback.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct CallbackParameters {
    /// Which round trip it belongs to.
    pub state: Option<String>,
    /// What is exchanged for an ID token.
    pub code: Option<String>,
    /// Which provider it comes from (RFC 9207).
    pub iss: Option<String>,
    /// Why there is no code.
    pub error: Option<String>,
}

/// The answer of the token endpoint.
#[derive(Deserialize)]
struct Tokens {
    id_token: String,
    access_token: String,
}

/// What the provider says of a person apart from the ID token.
#[derive(Deserialize)]
struct UserInfo {
    sub: String,
    #[serde(flatten)]
    profile: Profile,
}

impl<N: Network> Provider<N> {
    /// A provider that is asked by this fetcher, which has this reach.
    pub fn new(settings: Settings, fetcher: Arc<Fetcher<N>>, reach: Reach) -> Self {
        Self { settings, fetcher, reach, metadata: Mutex::default(), keys: Mutex::default() }
    }

    /// Begins a sign-in, and says to which address the browser goes. `redirect_uri` is where it comes back.
    ///
    /// # Errors
    /// When the provider can't be asked where people sign in.
    pub async fn begin(
        &self,
        redirect_uri: &str,
        prompt: Prompt,
        now: Timestamp,
    ) -> Result<(RoundTrip, Url), OidcError> {
        let metadata = self.metadata(now).await?;
        let is_again = prompt == Prompt::Always;
        let again = is_again.then_some(("prompt", "login"));
        // It has the provider say when the person signed in, which shows whether the browser has left out the other parameter. Entra ID
        // lets the ID token expire after this time.
        let says_when = (is_again && metadata.says_auth_time).then_some(("max_age", "600"));
        let authentication = Authentication { since: now, must_be_said: says_when.is_some() };
        let trip = RoundTrip::to(&self.settings.id, is_again.then_some(authentication))?;
        let url = with_query(
            &metadata.authorization,
            [
                ("response_type", "code"),
                ("client_id", &self.settings.client_id),
                ("redirect_uri", redirect_uri),
                ("scope", &self.settings.scope),
                ("state", &trip.state),
                ("nonce", &trip.nonce),
                ("code_challenge", &trip.challenge()),
                ("code_challenge_method", "S256"),
            ]
            .into_iter()
            .chain(again)
            .chain(says_when),
        )?;
        Ok((trip, url))
    }

    /// Who has come back from this round trip.
    ///
    /// # Errors
    /// When the provider has refused or can't be asked, what came back belongs to another round trip or provider, or the ID token doesn't
    /// prove who it is.
    pub async fn finish(
        &self,
        trip: &RoundTrip,
        given: &CallbackParameters,
        secret: &str,
        redirect_uri: &str,
        now: Timestamp,
    ) -> Result<Identity, OidcError> {
        let metadata = self.metadata(now).await?;
        self.require_own(trip, given, &metadata)?;
        let code = match (&given.code, &given.error) {
            (Some(code), None) => code,
            (_, Some(error)) => return Err(OidcError::Denied(ErrorCode::of(error))),
            (None, None) => return Err(OidcError::Mismatch("it has no code")),
        };
        let tokens = self.exchange(&metadata, code, trip, secret, redirect_uri).await?;
        let claims = self.verified(&metadata, &tokens.id_token, now).await?;
        claims.require(&self.settings, trip, now)?;
        let apart = match &metadata.userinfo {
            Some(url) if !claims.is_complete(&self.settings) => {
                Some(self.profile(url, &tokens.access_token, &claims.sub).await?)
            }
            _ => None,
        };
        Ok(claims.into_identity(apart, &self.settings, tokens.id_token))
    }

    /// Where the provider signs people out and sends them back, if it does.
    ///
    /// # Errors
    /// When the provider can't be asked.
    pub async fn end_session(
        &self,
        id_token: Option<&str>,
        back: &str,
        now: Timestamp,
    ) -> Result<Option<Url>, OidcError> {
        let metadata = self.metadata(now).await?;
        let query = [("client_id", self.settings.client_id.as_str()), ("post_logout_redirect_uri", back)];
        let query = query.into_iter().chain(id_token.map(|token| ("id_token_hint", token)));
        metadata.end_session.as_ref().map(|url| with_query(url, query)).transpose()
    }

    /// Refuses what another round trip or provider has given: otherwise a provider could have the code of another one sent to itself.
    fn require_own(&self, trip: &RoundTrip, given: &CallbackParameters, metadata: &Metadata) -> Result<(), OidcError> {
        let names_us = match &given.iss {
            Some(issuer) => *issuer == self.settings.issuer,
            None => !metadata.names_issuer,
        };
        for (holds, otherwise) in [
            (trip.provider == self.settings.id, "it was begun at another provider"),
            (given.state.as_ref() == Some(&trip.state), "it has another state"),
            (names_us, "it comes from another provider"),
        ] {
            if !holds {
                return Err(OidcError::Mismatch(otherwise));
            }
        }
        Ok(())
    }

    /// Exchanges a code for tokens. The provider takes a code once, from the client that has its verifier.
    async fn exchange(
        &self,
        metadata: &Metadata,
        code: &str,
        trip: &RoundTrip,
        secret: &str,
        redirect_uri: &str,
    ) -> Result<Tokens, OidcError> {
        let (id, in_form) = (self.settings.client_id.as_str(), metadata.takes_secret_in_form);
        let authorization = if in_form { None } else { Some(basic(id, secret)?) };
        let client = [("client_id", id), ("client_secret", secret)].into_iter().filter(|_| in_form);
        let given = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", &trip.verifier),
        ];
        let form = encoded_form(given.into_iter().chain(client));
        let call = Call { url: &metadata.token, authorization, form: Some(form) };
        match self.ask(call).await {
            // A made-up code, which is a guess; with another error code, it is our request that is wrong.
            Err(OidcError::Refused(error)) if error.as_str() == "invalid_grant" => {
                Err(OidcError::Token("the provider refuses the code"))
            }
            other => other,
        }
    }

    /// What an ID token says that one of the provider's keys has signed. If none has the name that it names, they are read again.
    async fn verified(&self, metadata: &Metadata, token: &str, now: Timestamp) -> Result<Claims, OidcError> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| OidcError::Token("it has no valid header"))?;
        if !matches!(header.alg, Algorithm::RS256 | Algorithm::ES256) {
            return Err(OidcError::Token("its algorithm isn't allowed"));
        }
        if header.crit.is_some() {
            return Err(OidcError::Token("it has extensions that must be understood"));
        }
        let key = self.key(metadata, &header, now).await?.ok_or(OidcError::Token("none of the keys has signed it"))?;
        Claims::signed(token, &key, header.alg)
    }

    async fn key(
        &self,
        metadata: &Metadata,
        header: &Header,
        now: Timestamp,
    ) -> Result<Option<DecodingKey>, OidcError> {
        let held = self.keys.lock().clone().filter(|held| held.is_fresh(now));
        if let Some(held) = held {
            let key = held.what.of(header);
            if key.is_some() || !held.may_be_read_again(now) {
                return Ok(key.cloned());
            }
        }
        let keys = Arc::new(Keys::parse(&self.read(&metadata.keys).await?)?);
        *self.keys.lock() = Some(Read::new(keys.clone(), now));
        Ok(keys.of(header).cloned())
    }

    /// What the provider says of itself.
    async fn metadata(&self, now: Timestamp) -> Result<Arc<Metadata>, OidcError> {
        let held = self.metadata.lock().clone().filter(|held| held.is_fresh(now));
        if let Some(held) = held {
            return Ok(held.what);
        }
        let url = Metadata::url_of(&self.settings.issuer, self.reach);
        let url = url.ok_or(OidcError::Unusable("its issuer is no https URL"))?;
        let metadata = Metadata::parse(&self.read(&url).await?, &self.settings.issuer, self.reach)?;
        let metadata = Arc::new(metadata);
        *self.metadata.lock() = Some(Read::new(metadata.clone(), now));
        Ok(metadata)
    }

    /// What the provider says of somebody apart from the ID token, which must be about the same person.
    async fn profile(&self, url: &TargetUrl, access_token: &str, subject: &str) -> Result<Profile, OidcError> {
        let authorization = Some(secret_value(&format!("Bearer {access_token}"))?);
        let answer: UserInfo = self.ask(Call { url, authorization, form: None }).await?;
        if answer.sub == subject { Ok(answer.profile) } else { Err(OidcError::Unusable("userinfo has another sub")) }
    }

    async fn ask<T: DeserializeOwned>(&self, call: Call<'_>) -> Result<T, OidcError> {
        let body = self.call(call).await?;
        serde_json::from_slice(&body).map_err(|_| OidcError::Unusable("it isn't the JSON that was expected"))
    }

    async fn read(&self, url: &TargetUrl) -> Result<Bytes, OidcError> {
        self.call(Call { url, authorization: None, form: None }).await
    }

    async fn call(&self, call: Call<'_>) -> Result<Bytes, OidcError> {
        let answer = self.fetcher.call(call).await?;
        match answer.status.as_u16() {
            200 => Ok(answer.body),
            400..=499 => Err(OidcError::Refused(error_code_in(&answer.body))),
            _ => Err(OidcError::Unusable("it has another status than 200")),
        }
    }
}

/// The error code in the answer of an endpoint.
fn error_code_in(body: &[u8]) -> ErrorCode {
    #[derive(Deserialize)]
    struct Refusal {
        error: String,
    }
    ErrorCode::of(&serde_json::from_slice(body).map_or(String::new(), |refusal: Refusal| refusal.error))
}

/// A URL with more parameters.
fn with_query<'a>(url: &TargetUrl, query: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Url, OidcError> {
    let mut url = Url::parse(url.as_str()).map_err(|_| OidcError::Unusable("an endpoint is no https URL"))?;
    url.query_pairs_mut().extend_pairs(query);
    Ok(url)
}

fn encoded_form<'a>(fields: impl Iterator<Item = (&'a str, &'a str)>) -> Bytes {
    Bytes::from(form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish())
}

/// The credentials of a client, each part encoded as in a form (RFC 6749, 2.3.1).
fn basic(client_id: &str, secret: &str) -> Result<HeaderValue, OidcError> {
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encoded(client_id), encoded(secret));
    secret_value(&format!("Basic {}", BASE64_STANDARD.encode(pair)))
}

/// The value of a header that no log shows.
fn secret_value(text: &str) -> Result<HeaderValue, OidcError> {
    let mut value = HeaderValue::try_from(text).map_err(|_| OidcError::Unusable("a token is no text"))?;
    value.set_sensitive(true);
    Ok(value)
}
