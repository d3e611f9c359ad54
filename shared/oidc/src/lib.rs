//! OpenID Connect as a client: people prove who they are at their company's identity provider.
//!
//! It is the authorization code flow with PKCE, as [OpenID Connect Core](https://openid.net/specs/openid-connect-core-1_0.html) and
//! [RFC 9700](https://www.rfc-editor.org/rfc/rfc9700) describe it:
//!
//! - [`Provider::begin`] makes a [`RoundTrip`] and the address to which a browser is sent. The browser keeps the round trip, encrypted.
//! - [`Provider::finish`] compares what the browser brings back with its round trip, exchanges the code and verifies the ID token.
//! - [`Provider::end_session`] is the address at which the provider signs people out, if it does.
//!
//! What a provider says of itself and its keys are cached for an hour. A token that names an unknown key causes another read of the keys,
//! at most twice a minute. All requests go through [`linklet_fetch`], which reaches no private address.

mod claims;
mod error_code;
mod metadata;
mod provider;
mod round_trip;
mod settings;

use linklet_fetch::FetchError;

pub use claims::Identity;
pub use error_code::ErrorCode;
pub use provider::{CallbackParameters, Prompt, Provider};
pub use round_trip::RoundTrip;
pub use settings::{ProviderId, Settings};

/// Why somebody could not prove who they are.
#[derive(Debug, thiserror::Error)]
pub enum OidcError {
    /// The provider can't be asked.
    #[error("the identity provider could not be asked")]
    Unreachable(#[from] FetchError),
    /// The provider answers what can't be used.
    #[error("the identity provider's answer can't be used: {0}")]
    Unusable(&'static str),
    /// The provider refuses a request of ours, by this error code, such as `invalid_client` for a wrong secret.
    #[error("the identity provider refuses the request: {0}")]
    Refused(ErrorCode),
    /// The provider, or the person there, has refused, by this error code.
    #[error("the identity provider sent the person back: {0}")]
    Denied(ErrorCode),
    /// The parameters of the callback don't belong to this sign-in.
    #[error("the callback does not belong to this sign-in: {0}")]
    Mismatch(&'static str),
    /// The ID token proves nothing.
    #[error("the ID token was refused: {0}")]
    Token(&'static str),
    /// The provider was asked when the person signed in, and doesn't say it.
    #[error("the ID token has no auth_time, although the provider's metadata lists it in claims_supported")]
    NoAuthTime,
    /// The provider hasn't asked the person again to show who they are.
    #[error("the ID token says that the person signed in too long ago")]
    Stale,
    /// The operating system gives no random bytes.
    #[error("there are no random bytes")]
    Random(#[from] getrandom::Error),
}
