//! Registers users, logs them in, and shows the caller's identity.

mod limits;
mod password;
mod refusal;
mod registration;
mod reset;
mod verification;

use std::time::Instant;

use linklet_domain::{
    Account, EmailAddress, Membership, Password, RegistrationPolicy, Role, Timestamp, WorkspaceId, WorkspaceName,
    WorkspaceSlug, optional,
};
use linklet_dynamodb::{FoundOutcome, NewWorkspace, PasswordChange, Profile, UsersTable, back_off};
use linklet_lambda::{
    guesses::Attempt,
    http::{ApiError, Handler, Method, Problem, Request, Response, StatusCode, json, no_content},
    identity::{Caller, TokenIssuer, TokenVerifier},
    mail_orders::MailOrders,
    telemetry::chain,
};
use serde::Deserialize;
use serde_json::json;

pub use self::limits::Limits;
use self::password::Passwords;

/// `POST /api/auth/register`, `login`, `logout`, `switch`, `password` and what is below it, `verify` and `verification`, and
/// `GET /api/me`.
pub struct Auth {
    users: UsersTable,
    tokens: TokenVerifier,
    issuer: TokenIssuer,
    limits: Limits,
    passwords: Passwords,
    mails: MailOrders,
    registration: RegistrationPolicy,
}

const BODY_LIMIT: usize = 1_024;

impl Handler for Auth {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::POST, ["api", "auth", "register"]) => self.register(request).await,
            (&Method::POST, ["api", "auth", "login"]) => self.login(request).await,
            (&Method::POST, ["api", "auth", "logout"]) => self.log_out(request).await,
            (&Method::POST, ["api", "auth", "switch"]) => self.switch(request).await,
            (&Method::POST, ["api", "auth", "password"]) => self.change_password(request).await,
            (&Method::POST, ["api", "auth", "password", "forgot"]) => self.forgot_password(request).await,
            (&Method::POST, ["api", "auth", "password", "reset"]) => self.reset_password(request).await,
            (&Method::POST, ["api", "auth", "verify"]) => self.verify_address(request).await,
            (&Method::POST, ["api", "auth", "verification"]) => self.request_verification(request).await,
            (&Method::GET, ["api", "me"]) => self.me(request).await,
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

impl Auth {
    /// A handler with its repository, the verifier and issuer of tokens, and the limits on guessing, where no mail is configured.
    #[must_use]
    pub fn new(users: UsersTable, tokens: TokenVerifier, issuer: TokenIssuer, limits: Limits) -> Self {
        let (passwords, mails, registration) = Default::default();
        Self { users, tokens, issuer, limits, passwords, mails, registration }
    }

    /// Orders mails here.
    #[must_use]
    pub fn with_mails(self, mails: MailOrders) -> Self {
        Self { mails, ..self }
    }

    /// Lets only these people register without an invitation, and not anybody.
    #[must_use]
    pub fn with_registration(self, registration: RegistrationPolicy) -> Self {
        Self { registration, ..self }
    }

    async fn login(&self, request: &Request) -> Result<Response, ApiError> {
        let credentials = request.json::<Credentials>(BODY_LIMIT)?;
        let attempt = Attempt::at_password_of(&credentials.email);
        let log_in = async |whose| {
            self.limits.admit_hashes(request, whose, 1).await?;
            let started = Instant::now();
            let answer = self.log_in(request, &credentials).await;
            // Whatever was wrong: who has no right to a workspace must not learn by the time that the password was right.
            if let Err(ApiError::Problem(Problem::InvalidCredentials)) = answer {
                refusal::at_the_next_step(started).await;
            }
            answer
        };
        self.limits.guesses.limit(request, attempt, log_in).await
    }

    async fn log_in(&self, request: &Request, credentials: &Credentials) -> Result<Response, ApiError> {
        let Credentials { email, password, workspace } = credentials;
        // An invalid address is treated like an unknown one, so that all refusals take the same time.
        let found = match EmailAddress::parse(email) {
            Ok(email) => self.users.find_by_email(&email).await?,
            Err(_) => None,
        };
        let stored_hash = found.as_ref().map(|(account, _)| account.password_hash.as_str());
        if !self.passwords.verify(password.as_bytes(), stored_hash) {
            return Err(ApiError::Problem(Problem::InvalidCredentials));
        }
        let (account, memberships) = found.ok_or(ApiError::Problem(Problem::InvalidCredentials))?;
        // Somebody may have changed the password, and ended all sessions, while this one was verified.
        let current = self.users.account(&account.id).await?;
        if current.is_none_or(|current| current.password_hash != account.password_hash) {
            return Err(ApiError::Problem(Problem::InvalidCredentials));
        }
        self.require_usable(&account).await?;
        let membership = match workspace {
            Some(slug) => self.membership_at(&memberships, slug).await?.cloned(),
            None => Some(self.oldest(&account, memberships, request).await?),
        };
        let membership = membership.ok_or(ApiError::Problem(Problem::InvalidCredentials))?;
        self.refresh_hash(&account, password).await;

        let Membership { workspace, role, .. } = membership;
        let issued = self.issuer.issue(&account.id, &account.email, &workspace, role, request.received_at()).await?;
        Ok(token_view(&issued))
    }

    /// The membership of the workspace with this slug.
    async fn membership_at<'m>(
        &self,
        memberships: &'m [Membership],
        slug: &str,
    ) -> Result<Option<&'m Membership>, ApiError> {
        let Ok(slug) = WorkspaceSlug::parse(slug) else { return Ok(None) };
        let workspace = self.users.workspace_by_slug(&slug).await?;
        Ok(memberships.iter().find(|membership| Some(&membership.workspace) == workspace.as_ref()))
    }

    /// The oldest membership. Who was removed from their last workspace gets a new one, so that nobody is locked out.
    async fn oldest(
        &self,
        account: &Account,
        memberships: Vec<Membership>,
        request: &Request,
    ) -> Result<Membership, ApiError> {
        const TRIES: u32 = 5;
        if let Some(oldest) = memberships.into_iter().next() {
            return Ok(oldest);
        }
        let (id, name) =
            (WorkspaceId::derived_from(&account.id, request.received_at()), WorkspaceName::personal(&account.email));
        let workspace = NewWorkspace::of(account, id, name, request.received_at());
        for attempt in 0..TRIES {
            if self.users.found_workspace(&workspace).await? == FoundOutcome::Founded {
                return Ok(workspace.membership());
            }
            // Another login at the same time was faster.
            if let Some(oldest) = self.users.memberships(&account.id).await?.into_iter().next() {
                return Ok(oldest);
            }
            back_off(attempt).await;
        }
        Err(ApiError::Problem(Problem::TryAgain))
    }

    /// A token for another workspace of the caller's, which belongs to the same session.
    async fn switch(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.tokens.require_now(request, Role::Viewer).await?;
        let session = caller.session().ok_or(ApiError::Problem(Problem::Unauthorized))?;
        let Switch { workspace } = request.json(BODY_LIMIT)?;
        let memberships = self.users.memberships(caller.user()).await?;
        let membership = self.membership_at(&memberships, &workspace).await?;
        let membership = membership.ok_or(ApiError::Problem(Problem::WorkspaceNotFound))?;
        let issued = self.issuer.issue_for(&caller, &session, membership, request.received_at()).await?;
        Ok(token_view(&issued))
    }

    /// Changes the password, and ends all sessions but the one that asks.
    async fn change_password(&self, request: &Request) -> Result<Response, ApiError> {
        // Of two passwords, each of which may be as long as a registration's.
        const TWO_PASSWORDS: usize = 2 * BODY_LIMIT;
        let caller = self.tokens.require_now(request, Role::Viewer).await?;
        let passwords = request.json::<NewPassword>(TWO_PASSWORDS)?;
        passwords.new.refuse_guessable(caller.email()).map_err(|refused| refused.in_field("new"))?;
        let attempt = Attempt::at_password_of(caller.email().as_str());
        let replace = async |whose| {
            // The old one and the new one.
            self.limits.admit_hashes(request, whose, 2).await?;
            self.replace_password(&caller, &passwords).await
        };
        self.limits.guesses.limit(request, attempt, replace).await
    }

    async fn replace_password(&self, caller: &Caller, passwords: &NewPassword) -> Result<Response, ApiError> {
        const WRONG: ApiError = ApiError::Problem(Problem::InvalidCredentials);
        let NewPassword { current, new } = passwords;
        let account = self.users.account(caller.user()).await?.ok_or(WRONG)?;
        if !self.passwords.verify(current.as_bytes(), Some(&account.password_hash)) {
            return Err(WRONG);
        }
        let hash = self.passwords.hash(new.as_bytes()).map_err(|error| ApiError::Internal(Box::new(error)))?;
        let session = caller.session().map(|session| session.id);
        let change = PasswordChange {
            user: caller.user(),
            old_hash: &account.password_hash,
            new_hash: &hash,
            // Hashing has taken a while, in which others may have logged in.
            at: Timestamp::now(),
            but: session.as_ref(),
        };
        if self.users.change_password(&change).await? { Ok(no_content()) } else { Err(Problem::TryAgain.into()) }
    }

    /// Replaces an outdated password hash. A failure is only logged, since the next login tries again.
    async fn refresh_hash(&self, account: &Account, password: &str) {
        if !password::is_outdated(&account.password_hash) {
            return;
        }
        match self.passwords.hash(password.as_bytes()) {
            Ok(hash) => {
                if let Err(error) = self.users.replace_password_hash(&account.id, &account.password_hash, &hash).await {
                    tracing::warn!(error = chain(&error), "an outdated password hash could not be replaced");
                }
            }
            Err(error) => tracing::warn!(error = chain(&error), "an outdated password hash could not be replaced"),
        }
    }

    /// Ends the session of the token, or all sessions of its person.
    async fn log_out(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.tokens.authenticate(request).await?;
        let Logout { everywhere } = if request.has_body() { request.json(BODY_LIMIT)? } else { Logout::default() };
        let Some(session) = caller.session() else { return Err(Problem::Unauthorized.into()) };
        if everywhere.unwrap_or_default() {
            self.users.end_sessions(caller.user(), request.received_at(), None).await?;
        } else {
            self.users.end_session(&session, request.received_at()).await?;
        }
        self.tokens.forget(&session);
        Ok(no_content())
    }

    async fn me(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.tokens.authenticate(request).await?;
        let Profile { full_name, verified_at } = self.users.profile(caller.user()).await?;
        Ok(json(
            StatusCode::OK,
            &json!({
                "user_id": caller.user(),
                "email": caller.email(),
                "full_name": full_name,
                "verified": verified_at.is_some(),
                "workspace_id": caller.workspace(),
                "role": caller.role(),
            }),
        ))
    }
}

fn token_view((token, expires_at): &(String, Timestamp)) -> Response {
    json(StatusCode::OK, &json!({"token": token, "expires_at": expires_at}))
}

/// The body of a login.
#[derive(Deserialize)]
struct Credentials {
    /// A `String`, since an invalid [`EmailAddress`] is a wrong credential rather than an invalid request.
    email: String,
    password: String,
    /// The slug of the workspace that the token is for.
    #[serde(default, deserialize_with = "optional")]
    workspace: Option<String>,
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
    current: String,
    new: Password,
}

/// The body of a logout, which may be missing.
#[derive(Default, Deserialize)]
struct Logout {
    /// Whether all sessions end, and not this one only.
    #[serde(default, deserialize_with = "optional")]
    everywhere: Option<bool>,
}
