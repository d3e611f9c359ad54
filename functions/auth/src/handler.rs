//! Registers users, logs them in, and shows the caller's identity.

mod cookie;
mod identities;
mod login;
mod oidc;
mod password;
mod person;
mod refusal;
mod registration;
mod renewal;
mod reset;
mod security;
mod sessions;
mod verification;

use linklet_domain::{
    AccountChange, CreationPolicy, Membership, PasswordLogin, RegistrationPolicy, Timestamp, optional,
};
use linklet_dynamodb::UsersTable;
use linklet_lambda::email_requests::EmailRequests;
use linklet_lambda::hashing::Limits;
use linklet_lambda::http::{
    ApiError, Handler, Method, Problem, Request, Response, Result, StatusCode, json, no_content, with_secret,
};
use linklet_lambda::identity::{TokenIssuer, TokenVerifier};
use linklet_lambda::passwords::Passwords;
use linklet_lambda::proofs::Proofs;
use serde::Deserialize;
use serde_json::json;

pub use self::cookie::ApiAddress;
pub use self::oidc::{Oidc, OidcSecret};

/// What is below `/api/auth`; `GET` and `PATCH /api/me`; `/api/me/sessions` and `/api/me/identities`; `GET /api/workspace/security`.
pub struct Auth {
    /// The repository of accounts.
    pub users: UsersTable,
    /// Verifies tokens.
    pub tokens: TokenVerifier,
    /// Issues tokens.
    pub issuer: TokenIssuer,
    /// Limits guesses, and the hashes of passwords.
    pub limits: Limits,
    /// Hashes passwords.
    pub passwords: Passwords,
    /// Orders mails.
    pub mails: EmailRequests,
    /// Who may register without an invitation.
    pub registration: RegistrationPolicy,
    /// Which people who have no workspace found one by logging in.
    pub creation: CreationPolicy,
    /// Whether passwords open accounts.
    pub password_login: PasswordLogin,
    /// The address of the API.
    pub address: ApiAddress,
    /// The identity providers at which people sign in, if there are any.
    pub oidc: Option<Oidc>,
}

impl Handler for Auth {
    async fn handle(&self, request: &Request) -> Result<Response> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::GET, ["api", "auth", "registration"]) => Ok(self.show_registration()),
            (&Method::POST, ["api", "auth", "register"]) => self.register(request).await,
            (&Method::POST, ["api", "auth", "login"]) => self.login(request).await,
            (&Method::POST, ["api", "auth", "refresh"]) => self.refresh(request).await,
            (&Method::POST, ["api", "auth", "logout"]) => self.log_out(request).await,
            (&Method::POST, ["api", "auth", "switch"]) => self.switch(request).await,
            (&Method::POST, ["api", "auth", "password"]) => Box::pin(self.change_password(request)).await,
            (&Method::DELETE, ["api", "auth", "password"]) => Box::pin(self.remove_password(request)).await,
            (&Method::POST, ["api", "auth", "password", "forgot"]) => self.forgot_password(request).await,
            (&Method::POST, ["api", "auth", "password", "reset"]) => self.reset_password(request).await,
            (&Method::POST, ["api", "auth", "verify"]) => self.verify_address(request).await,
            (&Method::POST, ["api", "auth", "verification"]) => self.request_verification(request).await,
            (&Method::POST, ["api", "auth", "address", "keep"]) => self.keep_address(request).await,
            (&Method::GET, ["api", "auth", "oidc", id]) => self.begin_oidc(request, id).await,
            (&Method::GET, ["api", "auth", "oidc", id, "callback"]) => Box::pin(self.finish_oidc(request, id)).await,
            (&Method::GET, ["api", "auth", "oidc", id, "logout"]) => self.sign_out_oidc(request, id).await,
            (&Method::POST, ["api", "auth", "join"]) => Box::pin(self.join(request)).await,
            (&Method::POST, ["api", "auth", "proof"]) => Box::pin(self.prove(request)).await,
            (&Method::GET, ["api", "me"]) => self.me(request).await,
            (&Method::PATCH, ["api", "me"]) => Box::pin(self.change_me(request)).await,
            (&Method::GET, ["api", "me", "sessions"]) => self.list_sessions(request).await,
            (&Method::DELETE, ["api", "me", "sessions", id]) => self.end_one(request, id).await,
            (&Method::GET, ["api", "me", "identities"]) => self.list_identities(request).await,
            (&Method::POST, ["api", "me", "identities"]) => Box::pin(self.connect(request)).await,
            (&Method::DELETE, ["api", "me", "identities", id]) => Box::pin(self.remove_identity(request, id)).await,
            (&Method::GET, ["api", "workspace", "security"]) => self.show_security(request).await,
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

impl Auth {
    /// A handler with its repository, the verifier and issuer of tokens, and the limits on guessing, where no mail is configured and
    /// anybody may register.
    pub fn new(users: UsersTable, tokens: TokenVerifier, issuer: TokenIssuer, limits: Limits) -> Self {
        let (passwords, mails, registration, creation, password_login, address) = Default::default();
        Self {
            users,
            tokens,
            issuer,
            limits,
            passwords,
            mails,
            registration,
            creation,
            password_login,
            address,
            oidc: None,
        }
    }

    pub(crate) fn proofs(&self) -> Proofs<'_> {
        Proofs {
            limits: &self.limits,
            passwords: &self.passwords,
            password_login: self.password_login,
            tokens: &self.tokens,
            audit_log: self.users.audit_log(),
        }
    }

    /// A token for another workspace of somebody's, which belongs to the same session.
    async fn switch(&self, request: &Request) -> Result<Response> {
        let person = self.tokens.person_now(request).await?;
        let Switch { workspace } = request.json()?;
        let mut memberships = self.users.memberships(&person.user).await?;
        memberships.retain(Membership::is_active);
        let membership = self.membership_at(&memberships, &workspace).await?;
        let membership = membership.ok_or(ApiError::Problem(Problem::WorkspaceNotFound))?;
        let issued = self.issuer.issue_for(&person, membership, request.received_at).await?;
        Ok(token_view(&issued))
    }

    /// Ends the session of the token, or all sessions of its person.
    async fn log_out(&self, request: &Request) -> Result<Response> {
        let held = self.tokens.person(request).await?;
        let Logout { everywhere } = if request.has_body() { request.json()? } else { Logout::default() };
        let everywhere = everywhere.unwrap_or_default();
        // A session that was just ended elsewhere doesn't end the others.
        let person = if everywhere { self.tokens.person_now(request).await? } else { held };
        let (session, origin) = (person.session(), self.limits.guesses.origin(request, person.actor()));
        if everywhere {
            self.users.end_sessions(&person.user, None, &origin).await?;
            self.mails.tell(request, &person.user, AccountChange::SessionsEnded).await;
        } else {
            self.users.end_session(&session.user, &session.id, &origin).await?;
        }
        self.tokens.forget(&session.id);
        Ok(self.address.without_cookie(no_content(), request))
    }
}

fn token_view((token, expires_at): &(String, Timestamp)) -> Response {
    with_secret(json(StatusCode::OK, &json!({"token": token, "expires_at": expires_at})))
}

/// The body of a request for a token of another workspace.
#[derive(Deserialize)]
struct Switch {
    /// The slug of the workspace.
    workspace: String,
}

/// The body of a logout, which may be missing.
#[derive(Default, Deserialize)]
struct Logout {
    /// Whether all sessions end, and not this one only.
    #[serde(default, deserialize_with = "optional")]
    everywhere: Option<bool>,
}
