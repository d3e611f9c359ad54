//! Registers users, logs them in, and shows the caller's identity.

mod cookie;
mod login;
mod person;
mod refusal;
mod registration;
mod renewal;
mod reset;
mod sessions;
mod verification;

use linklet_domain::{
    Account, AccountChange, CreationPolicy, Membership, Password, RegistrationPolicy, Timestamp, TypedPassword,
    optional,
};
use linklet_dynamodb::{PasswordChange, UsersTable};
use linklet_lambda::email_requests::EmailRequests;
use linklet_lambda::hashing::Limits;
use linklet_lambda::http::{
    ApiError, Handler, Method, Problem, Request, Response, Result, StatusCode, json, no_content, with_secret,
};
use linklet_lambda::identity::{Person, TokenIssuer, TokenVerifier};
use linklet_lambda::passwords::Passwords;
use linklet_lambda::proofs::{Proofs, Purpose};
use serde::Deserialize;
use serde_json::json;

pub use self::cookie::ApiAddress;

/// `POST /api/auth/register`, `login`, `refresh`, `logout`, `switch`, `password` and what is below it, `verify`, `verification` and
/// `address/keep`, `GET /api/auth/registration`, `/api/me` and `/api/me/sessions`.
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
    /// The address of the API.
    pub address: ApiAddress,
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
            (&Method::POST, ["api", "auth", "password"]) => self.change_password(request).await,
            (&Method::POST, ["api", "auth", "password", "forgot"]) => self.forgot_password(request).await,
            (&Method::POST, ["api", "auth", "password", "reset"]) => self.reset_password(request).await,
            (&Method::POST, ["api", "auth", "verify"]) => self.verify_address(request).await,
            (&Method::POST, ["api", "auth", "verification"]) => self.request_verification(request).await,
            (&Method::POST, ["api", "auth", "address", "keep"]) => self.keep_address(request).await,
            (&Method::GET, ["api", "me"]) => self.me(request).await,
            (&Method::PATCH, ["api", "me"]) => Box::pin(self.change_me(request)).await,
            (&Method::GET, ["api", "me", "sessions"]) => self.list_sessions(request).await,
            (&Method::DELETE, ["api", "me", "sessions", id]) => self.end_one(request, id).await,
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

impl Auth {
    /// A handler with its repository, the verifier and issuer of tokens, and the limits on guessing, where no mail is configured and
    /// anybody may register.
    pub fn new(users: UsersTable, tokens: TokenVerifier, issuer: TokenIssuer, limits: Limits) -> Self {
        let (passwords, mails, registration, creation, address) = Default::default();
        Self { users, tokens, issuer, limits, passwords, mails, registration, creation, address }
    }

    pub(crate) fn proofs(&self) -> Proofs<'_> {
        Proofs { limits: &self.limits, passwords: &self.passwords, audit_log: self.users.audit_log() }
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

    /// Changes the password, and ends all sessions but the one that asks.
    async fn change_password(&self, request: &Request) -> Result<Response> {
        const OLD_AND_NEW: u32 = 2;
        let person = self.tokens.person_now(request).await?;
        let passwords = request.json::<NewPassword>()?;
        let account = self.users.account(&person.user).await?.ok_or(Problem::Unauthorized)?;
        passwords.new.refuse_guessable(&account.email).map_err(|refused| refused.in_field("new"))?;
        let purpose = Purpose { refusal: "wrong password for another one", hashes: OLD_AND_NEW };
        self.proofs().require(request, &account, &passwords.current, purpose).await?;
        let replaced = self.replace_password(request, &person, &account, &passwords.new).await?;
        self.mails.tell(request, &person.user, AccountChange::PasswordChanged).await;
        Ok(replaced)
    }

    async fn replace_password(
        &self,
        request: &Request,
        person: &Person,
        account: &Account,
        new: &Password,
    ) -> Result<Response> {
        const WRONG: ApiError = ApiError::Problem(Problem::InvalidCredentials);
        let hash = self.passwords.hash(new.typed()).map_err(ApiError::internal)?;
        let session = person.session().id;
        let change = PasswordChange {
            user: &person.user,
            old_hash: account.password_hash.as_deref().ok_or(WRONG)?,
            new_hash: &hash,
            // Hashing has taken a while, in which others may have logged in.
            at: Timestamp::now(),
            but: Some(&session),
            origin: &self.limits.guesses.origin(request, person.actor()),
        };
        if self.users.change_password(&change).await? { Ok(no_content()) } else { Err(Problem::TryAgain.into()) }
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

/// The body of a request to change the password.
#[derive(Deserialize)]
struct NewPassword {
    current: TypedPassword,
    new: Password,
}

/// The body of a logout, which may be missing.
#[derive(Default, Deserialize)]
struct Logout {
    /// Whether all sessions end, and not this one only.
    #[serde(default, deserialize_with = "optional")]
    everywhere: Option<bool>,
}
