//! What a provider says of itself: where its endpoints are, and its keys.

use std::time::Duration;

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Header};
use linklet_domain::{Reach, TargetUrl, Timestamp};
use serde::Deserialize;

use crate::OidcError;
use crate::settings::endpoint;

/// For how long metadata and keys are held.
const MAX_AGE: Duration = Duration::from_secs(3_600);

/// The minimum time between reads of the keys that unknown ones cause, so that forged tokens don't become a flood of requests.
const MIN_AGE: Duration = Duration::from_secs(30);

/// Something that was read from the provider.
#[derive(Debug, Clone)]
pub(crate) struct Read<T> {
    pub(crate) what: T,
    at: Timestamp,
}

impl<T> Read<T> {
    pub(crate) fn new(what: T, at: Timestamp) -> Self {
        Self { what, at }
    }

    pub(crate) fn is_fresh(&self, now: Timestamp) -> bool {
        self.at.until(now) < MAX_AGE
    }

    pub(crate) fn may_be_read_again(&self, now: Timestamp) -> bool {
        self.at.until(now) >= MIN_AGE
    }
}

/// The endpoints of a provider.
#[derive(Debug, Clone)]
pub(crate) struct Metadata {
    pub(crate) authorization: TargetUrl,
    pub(crate) token: TargetUrl,
    pub(crate) keys: TargetUrl,
    pub(crate) userinfo: Option<TargetUrl>,
    pub(crate) end_session: Option<TargetUrl>,
    /// Whether the secret goes into the form, for a provider that doesn't take it in a header.
    pub(crate) takes_secret_in_form: bool,
    /// Whether what comes back from the provider names it (RFC 9207).
    pub(crate) names_issuer: bool,
    /// Whether ID tokens say when the person has shown who they are.
    pub(crate) says_auth_time: bool,
}

/// The document at `/.well-known/openid-configuration`.
#[derive(Deserialize)]
struct Document {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    userinfo_endpoint: Option<String>,
    end_session_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    claims_supported: Vec<String>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

impl Metadata {
    /// Where the metadata of an issuer is.
    pub(crate) fn url_of(issuer: &str, reach: Reach) -> Option<TargetUrl> {
        endpoint(&format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/')), reach)
    }

    /// Reads the document of an issuer, which must name just this issuer: otherwise one provider could speak for another.
    pub(crate) fn parse(body: &[u8], issuer: &str, reach: Reach) -> Result<Self, OidcError> {
        let document: Document =
            serde_json::from_slice(body).map_err(|_| OidcError::Unusable("its metadata can't be read"))?;
        if document.issuer != issuer {
            return Err(OidcError::Unusable("its metadata names another issuer"));
        }
        let url = |url: &str| endpoint(url, reach).ok_or(OidcError::Unusable("an endpoint is no https URL"));
        let optional = |given: Option<String>| given.as_deref().map(url).transpose();
        let methods = document.token_endpoint_auth_methods_supported.unwrap_or_default();
        let takes = |method: &str| methods.iter().any(|other| other == method);
        Ok(Self {
            authorization: url(&document.authorization_endpoint)?,
            token: url(&document.token_endpoint)?,
            keys: url(&document.jwks_uri)?,
            userinfo: optional(document.userinfo_endpoint)?,
            end_session: optional(document.end_session_endpoint)?,
            takes_secret_in_form: takes("client_secret_post") && !takes("client_secret_basic"),
            names_issuer: document.authorization_response_iss_parameter_supported,
            says_auth_time: document.claims_supported.iter().any(|claim| claim == "auth_time"),
        })
    }
}

/// The keys of a provider that can verify ID tokens.
#[derive(Debug, Clone)]
pub(crate) struct Keys(Vec<(Jwk, DecodingKey, Algorithm)>);

impl Keys {
    /// Reads a set of keys, without those of kinds that aren't used here: a set may have any.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, OidcError> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<serde_json::Value>,
        }
        let set: Set = serde_json::from_slice(body).map_err(|_| OidcError::Unusable("its keys can't be read"))?;
        let keys = set.keys.into_iter().filter_map(|key| usable(serde_json::from_value(key).ok()?));
        Ok(Self(keys.collect()))
    }

    /// The key that a token's header names. A token that names none is verified only if there is no choice.
    pub(crate) fn of(&self, header: &Header) -> Option<&DecodingKey> {
        let mut fitting = self.0.iter().filter(|(jwk, _, algorithm)| {
            *algorithm == header.alg && (header.kid.is_none() || jwk.common.key_id == header.kid)
        });
        let (_, key, _) = fitting.next()?;
        fitting.next().is_none().then_some(key)
    }
}

/// A key with the one algorithm that it verifies here, if it is one for signatures.
fn usable(key: Jwk) -> Option<(Jwk, DecodingKey, Algorithm)> {
    let (algorithm, name) = match &key.algorithm {
        AlgorithmParameters::RSA(_) => (Algorithm::RS256, KeyAlgorithm::RS256),
        AlgorithmParameters::EllipticCurve(curve) if curve.curve == EllipticCurve::P256 => {
            (Algorithm::ES256, KeyAlgorithm::ES256)
        }
        _ => return None,
    };
    let signs = key.common.public_key_use.as_ref().is_none_or(|usage| *usage == PublicKeyUse::Signature);
    let is_for_it = key.common.key_algorithm.is_none_or(|given| given == name);
    let decoding = DecodingKey::from_jwk(&key).ok().filter(|_| signs && is_for_it)?;
    Some((key, decoding, algorithm))
}
