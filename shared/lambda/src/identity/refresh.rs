//! Refresh tokens: signed as tokens are, but no token, and none of them is one.

use jsonwebtoken::{Algorithm, Validation};
use linklet_domain::{RefreshToken, SessionId, Timestamp, UserId};
use serde::{Deserialize, Serialize};

use super::{TokenIssuer, TokenVerifier};
use crate::http::Result;

/// The issuer that refresh tokens name, by which verifiers tell them from tokens.
const ISSUER: &str = "url-shortener/refresh";

/// The claims have no time, so that the successor of a refresh token is the same text each time it is made.
#[derive(Serialize, Deserialize)]
struct Claims {
    iss: String,
    sub: UserId,
    jti: SessionId,
    #[serde(rename = "gen")]
    generation: u64,
}

/// What makes a refresh token valid, besides its signature: when it expires, the session's item says.
pub(super) fn validation() -> Validation {
    let mut validation = Validation::new(Algorithm::HS256);
    validation.validate_exp = false;
    validation.set_issuer(&[ISSUER]);
    validation.set_required_spec_claims(&["iss", "sub"]);
    validation
}

impl TokenIssuer {
    /// The text of a refresh token.
    ///
    /// # Errors
    /// When signing fails.
    pub async fn refresh_token(&self, token: &RefreshToken, now: Timestamp) -> Result<String> {
        let RefreshToken { user, session, generation } = *token;
        self.signed(&Claims { iss: ISSUER.to_owned(), sub: user, jti: session, generation }, now).await
    }
}

impl TokenVerifier {
    /// Reads a refresh token; `None` if it isn't one that the current or the previous secret has signed.
    pub async fn refresh_token(&self, text: &str, now: Timestamp) -> Option<RefreshToken> {
        let read = |key: &_| jsonwebtoken::decode::<Claims>(text, key, &self.refresh).ok();
        let Claims { sub: user, jti: session, generation, .. } = self.signed_by_known(read, now).await?.claims;
        Some(RefreshToken { user, session, generation })
    }
}
