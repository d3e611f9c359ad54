//! Logging in.

use std::time::Instant;

use linklet_domain::{
    Account, AccountChange, Actor, Creator, EmailAddress, GuessKind, HashFor, Membership, PasswordLogin, SessionId,
    Timestamp, TypedPassword, UserId, WorkspaceId, WorkspaceName, WorkspaceSlug, ends_at, lifetimes, optional,
};
use linklet_dynamodb::{CreateWorkspaceOutcome, NewWorkspace, back_off};
use linklet_lambda::guesses::Attempt;
use linklet_lambda::http::{ApiError, Problem, Request, Response, Result};
use linklet_lambda::passwords;
use linklet_lambda::telemetry::{chain, warn_of};
use serde::Deserialize;

use crate::renewal::SessionLimit;
use crate::{Auth, refusal, token_view};

/// The body of a login.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "optional")])]
#[derive(Deserialize)]
struct Credentials {
    /// A `String`, since an invalid [`EmailAddress`] is a wrong credential rather than an invalid request.
    email: String,
    password: TypedPassword,
    /// The slug of the workspace that the token is for.
    workspace: Option<String>,
    /// Whether the session can be renewed, by a refresh token in a cookie.
    remember: Option<bool>,
}

impl Auth {
    pub(crate) async fn login(&self, request: &Request) -> Result<Response> {
        let credentials = request.json::<Credentials>()?;
        if credentials.remember == Some(true) {
            self.address.require_own_page(request)?;
        }
        let attempt = Attempt { kind: GuessKind::Password, account: Some(&credentials.email) };
        let log_in = async |whose| {
            self.limits.admit_hashes(request, whose, &credentials.email, 1, request.received_at).await?;
            let started = Instant::now();
            let answer = Box::pin(self.log_in(request, &credentials, whose)).await;
            if matches!(answer, Err(ApiError::Problem(Problem::InvalidCredentials))) {
                refusal::at_the_next_step(started).await;
            }
            answer
        };
        self.limits.guesses.limit(request, attempt, log_in).await
    }

    async fn log_in(&self, request: &Request, credentials: &Credentials, whose: Option<HashFor>) -> Result<Response> {
        let Credentials { email, password, workspace, remember } = credentials;
        // An invalid address is treated like an unknown one, so that all refusals take the same time.
        let found = match EmailAddress::parse(email) {
            Ok(email) => self.users.find_by_email(&email).await?,
            Err(_) => None,
        };
        let is_admitted = match &found {
            Some((account, _)) => self.password_login.admits(account, request.received_at),
            None => self.password_login == PasswordLogin::On,
        };
        Problem::PasswordLoginOff.unless(is_admitted)?;
        let stored_hash = found.as_ref().and_then(|(account, _)| account.password_hash.as_deref());
        let proofs = self.proofs();
        let is_right = self.passwords.verify(password, stored_hash);
        let Some((account, mut memberships)) = found else {
            return Err(proofs.refused(request, None, "unknown address").await);
        };
        let refused = |reason| proofs.refused(request, Some(&account.id), reason);
        if !is_right {
            return Err(refused("wrong password").await);
        }
        // Somebody may have changed the password, and ended all sessions, while this one was verified.
        let current = self.users.account(&account.id).await?;
        if current.is_none_or(|current| current.password_hash != account.password_hash) {
            return Err(refused("password changed meanwhile").await);
        }
        self.require_usable(&account).await?;
        memberships.retain(Membership::is_active);
        let membership = match workspace {
            Some(slug) => match self.membership_at(&memberships, slug).await? {
                Some(named) => Some(named.clone()),
                None => return Err(refused("unknown workspace").await),
            },
            None => self.oldest(&account, memberships, request).await?,
        };
        self.refresh_hash(&account, password).await;
        let now = request.received_at;
        // Where passwords are off, an operator has let this one work for a while.
        let until = account.password_works_until.filter(|_| self.password_login == PasswordLogin::Off);
        let limit = until.map(|until| SessionLimit { issuer: None, until });
        let answer = if *remember == Some(true) {
            // The session begins with the request, so ending all sessions also ends one whose password is being verified.
            let begun = self.begin_renewable(request, &account, membership.as_ref(), limit, now).await?;
            self.address.with_cookie(token_view(&begun.issued), request, &begun.refresh_token, begun.lasts)
        } else {
            self.begin(request, &account, membership.as_ref(), limit).await?
        };
        // Before the first time, each place is new.
        if whose == Some(HashFor::Strangers) && account.last_login_at.is_some() {
            self.mails.tell(request, &account.id, AccountChange::SignedIn(self.place(request))).await;
        }
        self.note_login(&account.id, now).await;
        let address_hash = self.limits.guesses.address_hash(request);
        tracing::info!(user_id = %account.id, address_hash = address_hash.as_str(), "signed in");
        request.note_account(&account.id);
        Ok(answer)
    }

    /// Begins a session that can't be renewed, and gives its token.
    async fn begin(
        &self,
        request: &Request,
        account: &Account,
        membership: Option<&Membership>,
        limit: Option<SessionLimit<'_>>,
    ) -> Result<Response> {
        let now = request.received_at;
        // The session begins with the request, so ending all sessions also ends one whose password is being verified.
        let session = SessionId::beginning_at(now);
        let ends = ends_at(now.plus(lifetimes::SESSIONS), limit.map(|limit| limit.until));
        let issued = self.issuer.issue_until((&session, ends), &account.id, &account.email, membership, now).await?;
        self.begin_session(request, &account.id, &session, None, limit).await?;
        Ok(token_view(&issued))
    }

    /// The membership of the workspace with this slug.
    pub(crate) async fn membership_at<'m>(
        &self,
        memberships: &'m [Membership],
        slug: &str,
    ) -> Result<Option<&'m Membership>> {
        let Ok(slug) = WorkspaceSlug::parse(slug) else { return Ok(None) };
        let workspace = self.users.workspace_by_slug(&slug).await?;
        Ok(memberships.iter().find(|membership| Some(&membership.workspace) == workspace.as_ref()))
    }

    /// The oldest of these memberships. Who has none gets a new workspace, or logs in without one where they may not found any, are in too
    /// many that are paused, or are closing their account.
    pub(crate) async fn oldest(
        &self,
        account: &Account,
        memberships: Vec<Membership>,
        request: &Request,
    ) -> Result<Option<Membership>> {
        const TRIES: u32 = 5;
        if let Some(oldest) = memberships.into_iter().next() {
            return Ok(Some(oldest));
        }
        if !self.may_found(account).await? {
            return Ok(None);
        }
        let (id, name) =
            (WorkspaceId::derived_from(&account.id, request.received_at), WorkspaceName::personal(&account.email));
        let workspace = NewWorkspace::of(account, id, name, request.received_at);
        let origin = self.limits.guesses.origin(request, Actor::Person(account.id));
        for attempt in 0..TRIES {
            match self.users.create_workspace(&workspace, None, &origin).await? {
                CreateWorkspaceOutcome::Created => return Ok(Some(workspace.membership())),
                CreateWorkspaceOutcome::TooMany => return Ok(None),
                CreateWorkspaceOutcome::AccountChanged if self.users.is_leaving(&account.id).await? => return Ok(None),
                CreateWorkspaceOutcome::AccountChanged => break,
                CreateWorkspaceOutcome::Taken | CreateWorkspaceOutcome::IdempotencyKeyTaken => {}
            }
            // Another login at the same time was faster.
            let memberships = self.users.memberships(&account.id).await?;
            if let Some(oldest) = memberships.into_iter().find(Membership::is_active) {
                return Ok(Some(oldest));
            }
            back_off(attempt).await;
        }
        Err(ApiError::Problem(Problem::TryAgain))
    }

    /// Whether somebody without a workspace may create one.
    async fn may_found(&self, account: &Account) -> Result<bool> {
        let is_verified = self.users.verified_at(&account.id).await?.is_some();
        Ok(self.creation.admits(Creator { email: &account.email, is_verified, is_admin: false }))
    }

    /// Notes when somebody has logged in. A failure is only logged: the time is for information, and the next login sets it.
    pub(crate) async fn note_login(&self, user: &UserId, at: Timestamp) {
        if let Err(error) = self.users.note_login(user, at).await {
            tracing::warn!(error = chain(&error), user_id = %user, "the time of a login could not be noted");
        }
    }

    /// Replaces an outdated password hash. A failure is only logged, since the next login tries again.
    async fn refresh_hash(&self, account: &Account, password: &TypedPassword) {
        const FAILED: &str = "an outdated password hash could not be replaced";
        let Some(old) = account.password_hash.as_deref().filter(|hash| passwords::is_bcrypt(hash)) else { return };
        if let Some(hash) = warn_of(self.passwords.hash(password), FAILED) {
            warn_of(self.users.replace_password_hash(&account.id, old, &hash).await, FAILED);
        }
    }
}
