//! Signing in at an identity provider.
//!
//! ```text
//! GET /api/auth/oidc/{provider}           ──→ the provider, and a cookie with what only this browser knows
//! POST /api/auth/proof                    ──→ the same, for somebody in a session who shows again who they are
//! POST /api/me/identities                 ──→ the same, for somebody in a session who connects an identity
//! GET /api/auth/oidc/{provider}/callback  ──→ a session, or a cookie with which the account is joined that has the address
//! POST /api/auth/join                     ──→ a session, by that account's password or a mailed token
//! ```
//! Nothing of it is loaded before somebody signs in like this.

mod join;
mod providers;
mod roles;
mod sealed;
mod sign_in;

use std::time::Duration;

use linklet_domain::{
    Actor, GuessKind, IdentityHash, Invalid, OneTimeToken, SessionId, Timestamp, TokenHash, TokenPurpose, UserId,
};
use linklet_dynamodb::{ActiveSession, ConnectOutcome, FoundIdentity};
use linklet_lambda::following::led_to;
use linklet_lambda::guesses::Attempt;
use linklet_lambda::http::{ApiError, Problem, Request, Response, Result, StatusCode, json, with_secret};
use linklet_lambda::telemetry::chain;
use linklet_oidc::{CallbackParameters, Identity, OidcError, Prompt, RoundTrip, Settings};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use url::Url;

pub use self::providers::{Oidc, OidcSecret};
use self::sealed::Seal;
use crate::Auth;
use crate::cookie::{BrowserCookie, SameSite};
use crate::reset::TOKEN_INVALID;

/// How long somebody may be at the provider.
const LASTS: Duration = Duration::from_secs(600);

/// What the cookie of a round trip has.
#[derive(Serialize, Deserialize)]
struct RoundTripCookie {
    trip: RoundTrip,
    purpose: Purpose,
    until: Timestamp,
}

/// What somebody goes to a provider for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Purpose {
    /// To sign in, maybe by the token of an invitation, whose hash this is.
    SignIn { invitation: Option<TokenHash> },
    /// To show again, in this session, who they are.
    Prove { user: UserId, session: SessionId },
    /// To connect the identity with the account of this session.
    Connect { user: UserId, session: SessionId },
}

impl Purpose {
    /// The page to which somebody comes back who is refused.
    fn page(&self) -> &'static str {
        if matches!(self, Self::SignIn { .. }) { SIGN_IN_PAGE } else { SIGNED_IN_PAGE }
    }
}

/// The cookie with the ID token, for signing out at the provider.
const HINT: &str = "linklet_oidc_hint";

/// How long the value of a cookie may be, which browsers limit to 4,096 bytes with its name and attributes.
const MAX_COOKIE: usize = 3_900;

const SIGN_IN_PAGE: &str = "#/sign-in";
const SIGNED_IN_PAGE: &str = "#/signed-in";

/// Why a sign-in failed. Its word is the value of `refused` in the address of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// The provider, or the person there, has refused.
    Denied,
    /// The provider can't be asked, or gives no answer that can be used.
    Unavailable,
    /// Nothing was begun in this browser, or not within ten minutes.
    Expired,
    /// The address isn't shown to be the person's.
    Unproven,
    /// `Registration` isn't open to this address.
    Closed,
    /// There were too many attempts.
    TooMany,
    /// The account can't be used.
    Refused,
    /// The invitation can't be used.
    Invitation,
    /// It is somebody else's identity than the account's.
    Other,
    /// The provider doesn't confirm the address of the account.
    Address,
    /// Another account has the identity.
    Taken,
    /// The provider hasn't asked again who it is.
    Stale,
}

impl Reason {
    /// Whether the provider's answer is the reason, which is logged with its cause.
    fn is_the_providers(self) -> bool {
        matches!(self, Self::Denied | Self::Unavailable | Self::Stale)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Unavailable => "unavailable",
            Self::Expired => "expired",
            Self::Unproven => "unproven",
            Self::Closed => "closed",
            Self::TooMany => "too_many",
            Self::Refused => "refused",
            Self::Invitation => "invitation",
            Self::Other => "other",
            Self::Address => "address",
            Self::Taken => "taken",
            Self::Stale => "stale",
        }
    }
}

impl Auth {
    fn oidc(&self) -> Result<&Oidc> {
        self.oidc.as_ref().ok_or(ApiError::Problem(Problem::NotFound))
    }

    /// Sends a browser to a provider.
    pub(crate) async fn begin_oidc(&self, request: &Request, id: &str) -> Result<Response> {
        // Another site could sign people in without their click. From there they come to the page that asks for one.
        if is_from_another_site(request) {
            return led_to(&to_application(request, SIGN_IN_PAGE), StatusCode::FOUND);
        }
        let invitation = request.query("invitation").map(|token| OneTimeToken::parse(TokenPurpose::Invitation, token));
        let Ok(invitation) = invitation.transpose() else { return back(request, SIGN_IN_PAGE, Reason::Invitation) };
        let purpose = Purpose::SignIn { invitation: invitation.map(|token| token.hash()) };
        match self.begin_round_trip(request, id, purpose, Prompt::IfNeeded).await? {
            Ok((url, name, cookie)) => {
                let leaving = led_to(url.as_str(), StatusCode::FOUND)?;
                Ok(self.with_round_trip(leaving, request, id, (&name, &cookie)))
            }
            Err(reason) => back(request, SIGN_IN_PAGE, reason),
        }
    }

    /// The address at a provider to which a page of the application goes, for what somebody does in a session.
    pub(crate) async fn provider_address(
        &self,
        request: &Request,
        id: &str,
        purpose: Purpose,
        prompt: Prompt,
    ) -> Result<Response> {
        let unknown = || {
            ApiError::from(Invalid::new("provider must be one of those at which people sign in").in_field("provider"))
        };
        self.oidc.as_ref().filter(|oidc| oidc.provider(id).is_ok()).ok_or_else(unknown)?;
        let left = self.begin_round_trip(request, id, purpose, prompt).await?;
        let (url, name, cookie) = left.map_err(|_| ApiError::Problem(Problem::ProviderUnavailable))?;
        let answer = with_secret(json(StatusCode::OK, &json!({ "url": url.as_str() })));
        Ok(self.with_round_trip(answer, request, id, (&name, &cookie)))
    }

    /// Begins a round trip: the address at the provider, and the name and value of the cookie for the way back.
    async fn begin_round_trip(
        &self,
        request: &Request,
        id: &str,
        purpose: Purpose,
        prompt: Prompt,
    ) -> Result<Result<(Url, String, String), Reason>> {
        let (oidc, now) = (self.oidc()?, request.received_at);
        let begun = oidc.provider(id)?.begin(&self.callback_address(request, id), prompt, now).await;
        let (trip, url) = match begun {
            Ok(begun) => begun,
            Err(error) => return Ok(Err(logged(id, &error))),
        };
        let name = cookie_of(&trip.state);
        let begun = RoundTripCookie { trip, purpose, until: now.plus(LASTS) };
        let value = oidc.seal(now).await?.seal(&name, &begun)?;
        Ok(Ok((url, name, value)))
    }

    fn with_round_trip(
        &self,
        response: Response,
        request: &Request,
        id: &str,
        (name, value): (&str, &str),
    ) -> Response {
        self.address.with_own(response, request, &self.round_trip_cookie(id, name), value, LASTS.as_secs())
    }

    /// Takes back somebody whom a provider sends.
    pub(crate) async fn finish_oidc(&self, request: &Request, id: &str) -> Result<Response> {
        self.oidc()?.provider(id)?;
        let state = request.query("state").unwrap_or_default();
        let name = cookie_of(state);
        let begun = self.begun(request, &name).await?;
        let page = begun.as_ref().map_or(SIGN_IN_PAGE, |begun| begun.purpose.page());
        let outcome = match begun {
            Some(begun) => self.finish(request, id, begun).await,
            // Some providers forget the state of who has refused.
            None if request.query("error").is_some() => Ok(Err(Reason::Denied)),
            None => Ok(Err(Reason::Expired)),
        };
        let response = match outcome {
            Ok(Ok(response)) => response,
            Ok(Err(reason)) => {
                if !reason.is_the_providers() {
                    tracing::warn!(
                        provider = id,
                        reason = reason.word(),
                        "a sign-in at an identity provider was refused"
                    );
                }
                back(request, page, reason)?
            }
            Err(error) => {
                // What the provider answered is logged already.
                if error.problem() != Problem::TokenInvalid {
                    tracing::error!(provider = id, error = chain(&error), "a sign-in at an identity provider failed");
                }
                back(request, page, reason_of(&error))?
            }
        };
        // Whatever has come of it, it was the only time.
        Ok(self.address.with_own(response, request, &self.round_trip_cookie(id, &name), "", 0))
    }

    /// What was begun in this browser, unless that is too long ago.
    async fn begun(&self, request: &Request, name: &str) -> Result<Option<RoundTripCookie>> {
        let Some(sealed) = request.cookie(name) else { return Ok(None) };
        let begun: Option<RoundTripCookie> = self.oidc()?.seal(request.received_at).await?.open(name, sealed);
        Ok(begun.filter(|begun| request.received_at < begun.until))
    }

    async fn finish(
        &self,
        request: &Request,
        id: &str,
        RoundTripCookie { trip, purpose, .. }: RoundTripCookie,
    ) -> Result<Result<Response, Reason>> {
        let (oidc, now) = (self.oidc()?, request.received_at);
        let provider = oidc.provider(id)?;
        let secret = oidc.client_secret(id, now).await?;
        let redirect_uri = self.callback_address(request, id);
        let exchange = async |_| match provider.finish(&trip, &brought(request), &secret, &redirect_uri, now).await {
            Ok(identity) => Ok(Ok(identity)),
            Err(error @ (OidcError::Token(_) | OidcError::Mismatch(_))) => {
                logged(id, &error);
                // Counted, as is a token that nobody has issued.
                Err(TOKEN_INVALID)
            }
            Err(error) => Ok(Err(logged(id, &error))),
        };
        let attempt = Attempt { kind: GuessKind::Token, account: None };
        let found: Result<Identity, Reason> = self.limits.guesses.limit(request, attempt, exchange).await?;
        let found = match found {
            Ok(identity) => identity,
            Err(reason) => return Ok(Err(reason)),
        };
        match purpose {
            Purpose::SignIn { invitation } => {
                let id_token = found.id_token.clone();
                match self.sign_in(request, &provider.settings, found, invitation.as_ref()).await? {
                    Ok(response) => Ok(Ok(self.with_hint(response, request, id, &id_token).await?)),
                    Err(reason) => Ok(Err(reason)),
                }
            }
            Purpose::Prove { user, session } => {
                let proved = self.note_proof(request, &found, ActiveSession { user: &user, session: &session }).await?;
                proved.map_or_else(|| signed_in(request).map(Ok), |reason| Ok(Err(reason)))
            }
            Purpose::Connect { user, session } => {
                let acting = ActiveSession { user: &user, session: &session };
                let connected = self.note_connection(request, &provider.settings, found, acting).await?;
                connected.map_or_else(|| signed_in(request).map(Ok), |reason| Ok(Err(reason)))
            }
        }
    }

    /// Notes that somebody has shown again who they are; why not, if it is somebody else.
    async fn note_proof(
        &self,
        request: &Request,
        found: &Identity,
        acting: ActiveSession<'_>,
    ) -> Result<Option<Reason>> {
        let hash = IdentityHash::of(&found.issuer, &found.subject);
        match self.users.account_of_identity(&hash).await? {
            FoundIdentity::Account(whose, _) if whose.0.id == *acting.user => {
                let is_noted = self.users.prove_session(acting.user, acting.session, request.received_at).await?;
                Ok((!is_noted).then_some(Reason::Expired))
            }
            _ => Ok(Some(Reason::Other)),
        }
    }

    /// Connects an identity with the account of a session; why not, if another account has it.
    async fn note_connection(
        &self,
        request: &Request,
        provider: &Settings,
        found: Identity,
        acting: ActiveSession<'_>,
    ) -> Result<Option<Reason>> {
        let email = self.oidc()?.proven(&found);
        let identity = linklet_domain::Identity::new(found.issuer, &found.subject, email, request.received_at);
        match self.users.account_of_identity(&identity.hash).await? {
            FoundIdentity::Account(whose, _) if whose.0.id == *acting.user => return Ok(None),
            FoundIdentity::Account(..) | FoundIdentity::Closed => return Ok(Some(Reason::Taken)),
            FoundIdentity::Unknown => {}
        }
        // Otherwise people could add an identity of which their company knows nothing.
        let account = self.users.account(acting.user).await?;
        if account.is_none_or(|account| identity.email.as_ref() != Some(&account.email)) {
            return Ok(Some(Reason::Address));
        }
        let origin = self.limits.guesses.origin(request, Actor::Person(*acting.user));
        Ok(match self.users.connect_identity(acting, &identity, &origin).await? {
            ConnectOutcome::Connected => {
                self.tell_connected(request, acting.user, &provider.name, false).await;
                None
            }
            ConnectOutcome::Taken => Some(Reason::Taken),
            ConnectOutcome::SessionEnded => Some(Reason::Expired),
        })
    }

    /// Sends a browser to where the provider signs people out, or else to the application.
    pub(crate) async fn sign_out_oidc(&self, request: &Request, id: &str) -> Result<Response> {
        let provider = self.oidc()?.provider(id)?;
        if is_from_another_site(request) {
            return led_to(&to_application(request, ""), StatusCode::FOUND);
        }
        let application = format!("{}/app", self.address.base(request));
        let now = request.received_at;
        let id_token = match request.cookie(HINT) {
            Some(sealed) => self.oidc()?.seal(now).await?.open::<String>(HINT, sealed),
            None => None,
        };
        match provider.end_session(id_token.as_deref(), &application, now).await {
            Ok(Some(url)) => led_to(url.as_str(), StatusCode::FOUND),
            Ok(None) => led_to(&to_application(request, ""), StatusCode::FOUND),
            Err(error) => {
                logged(id, &error);
                led_to(&to_application(request, ""), StatusCode::FOUND)
            }
        }
    }

    /// The address to which a provider sends people back. The provider knows it.
    fn callback_address(&self, request: &Request, id: &str) -> String {
        format!("{}/{}", self.address.base(request), callback_path(id))
    }

    /// The response with a cookie with which the provider knows whom it signs out, if it is small enough for browsers.
    async fn with_hint(&self, response: Response, request: &Request, id: &str, id_token: &str) -> Result<Response> {
        let (oidc, path) = (self.oidc()?, format!("api/auth/oidc/{id}/logout"));
        let value = oidc.seal(request.received_at).await?.seal(HINT, &id_token)?;
        let cookie = BrowserCookie { name: HINT.to_owned(), path, same_site: SameSite::Lax };
        if value.len() > MAX_COOKIE {
            return Ok(response);
        }
        Ok(self.address.with_own(response, request, &cookie, &value, oidc.session.as_secs()))
    }

    fn round_trip_cookie(&self, id: &str, name: &str) -> BrowserCookie {
        BrowserCookie { name: name.to_owned(), path: callback_path(id), same_site: SameSite::Lax }
    }
}

/// Whether a browser says that a page of another site has sent it.
fn is_from_another_site(request: &Request) -> bool {
    request.header("sec-fetch-site").is_some_and(|site| !matches!(site, "same-origin" | "none"))
}

fn callback_path(id: &str) -> String {
    format!("api/auth/oidc/{id}/callback")
}

/// The name of the cookie of a round trip, so that each tab has its own.
fn cookie_of(state: &str) -> String {
    let hash = hex::encode(Sha256::digest(state));
    format!("linklet_oidc_{}", hash.get(..16).unwrap_or_default())
}

fn brought(request: &Request) -> CallbackParameters {
    let given = |name| request.query(name).map(str::to_owned);
    CallbackParameters { state: given("state"), code: given("code"), iss: given("iss"), error: given("error") }
}

/// Leads to the page that says why.
fn back(request: &Request, page: &str, reason: Reason) -> Result<Response> {
    led_to(&to_application(request, &format!("{page}?refused={}", reason.word())), StatusCode::FOUND)
}

/// Leads to the page that goes on where somebody was.
fn signed_in(request: &Request) -> Result<Response> {
    led_to(&to_application(request, SIGNED_IN_PAGE), StatusCode::FOUND)
}

/// The address of a page of the application, relative to that of the request.
fn to_application(request: &Request, page: &str) -> String {
    // From what is below the folder in which the last segment is.
    let up = "../".repeat(request.segments().len().saturating_sub(1));
    format!("{up}app{page}")
}

/// Writes the line that says why somebody could not sign in, and returns what they are told.
fn logged(provider: &str, error: &OidcError) -> Reason {
    tracing::warn!(provider, error = chain(error), "a sign-in at an identity provider failed");
    match error {
        OidcError::Denied(_) => Reason::Denied,
        OidcError::Mismatch(_) => Reason::Expired,
        OidcError::Stale => Reason::Stale,
        OidcError::Unreachable(_)
        | OidcError::Unusable(_)
        | OidcError::Refused(_)
        | OidcError::NoAuthTime
        | OidcError::Token(_)
        | OidcError::Random(_) => Reason::Unavailable,
    }
}

fn reason_of(error: &ApiError) -> Reason {
    match error.problem() {
        Problem::TokenInvalid => Reason::Expired,
        Problem::RegistrationClosed => Reason::Closed,
        Problem::InvitationInvalid => Reason::Invitation,
        Problem::TooManyAttempts => Reason::TooMany,
        Problem::InvalidCredentials | Problem::AddressUnverified => Reason::Refused,
        _ => Reason::Unavailable,
    }
}
