//! What a browser keeps while its person is at the provider.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use linklet_domain::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{OidcError, ProviderId};

/// A sign-in that has begun: what must come back unchanged, and what only this browser knows. Whoever has it and the code could finish the
/// sign-in, so it is encrypted where it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTrip {
    /// Where the person is.
    pub provider: ProviderId,
    /// Which round trip of the browser this is.
    pub state: String,
    /// What the ID token has to repeat.
    pub(crate) nonce: String,
    /// What the code is exchanged with.
    pub(crate) verifier: String,
    /// When the person must have shown at the provider who they are; `None` if at any time.
    pub(crate) authentication: Option<Authentication>,
}

/// When somebody must have shown at a provider who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Authentication {
    /// The earliest time.
    pub since: Timestamp,
    /// Whether the ID token has to say when it was.
    pub must_be_said: bool,
}

impl RoundTrip {
    pub(crate) fn to(provider: &ProviderId, authentication: Option<Authentication>) -> Result<Self, OidcError> {
        let provider = provider.clone();
        Ok(Self { provider, state: random()?, nonce: random()?, verifier: random()?, authentication })
    }

    /// What the provider sees of the verifier at first (RFC 7636).
    pub(crate) fn challenge(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&self.verifier))
    }
}

/// 256 random bits.
fn random() -> Result<String, OidcError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_that_of_the_standard() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned();
        let provider: ProviderId = serde_json::from_str("\"okta\"").unwrap();
        let trip = RoundTrip { verifier, ..RoundTrip::to(&provider, None).unwrap() };

        assert_eq!(trip.challenge(), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }
}
