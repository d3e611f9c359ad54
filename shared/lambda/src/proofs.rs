//! Showing once more that an account is one's own, for what can't be undone.

use std::time::Duration;

use linklet_domain::{Account, Actor, GuessKind, HashFor, PasswordLogin, TypedPassword, UserId};
use linklet_dynamodb::{ActiveSession, AuditTable};

use crate::audit_log;
use crate::guesses::Attempt;
use crate::hashing::Limits;
use crate::http::{ApiError, Problem, Request, Result};
use crate::identity::TokenVerifier;
use crate::passwords::Passwords;

/// How long a refusal waits for its entry in the audit log: less than the steps in which refused logins are answered.
const NOTED_WITHIN: Duration = Duration::from_millis(100);

/// Has people show that an account is theirs.
#[derive(Clone, Copy)]
pub struct Proofs<'a> {
    /// What keeps people from guessing.
    pub limits: &'a Limits,
    /// Verifies passwords.
    pub passwords: &'a Passwords,
    /// Whether passwords open accounts.
    pub password_login: PasswordLogin,
    /// Knows who has shown in their session who they are.
    pub tokens: &'a TokenVerifier,
    /// Where it is written that somebody has guessed.
    pub audit_log: &'a AuditTable,
}

/// What a password is given for, and what that hashes.
#[derive(Debug, Clone, Copy)]
pub struct Purpose {
    /// The words for the log of why a wrong one is refused.
    pub refusal: &'static str,
    /// How many passwords are hashed, this one among them.
    pub hashes: u32,
}

impl Purpose {
    /// A purpose for which this password alone is hashed.
    pub const fn refused_as(refusal: &'static str) -> Self {
        Self { refusal, hashes: 1 }
    }
}

impl Proofs<'_> {
    /// Whether somebody who has signed in sends the password of their account, or has shown in this session a moment ago who they are.
    ///
    /// # Errors
    /// 403 if there is neither, and else those of [`Self::require`].
    pub async fn require_of(
        &self,
        request: &Request,
        acting: ActiveSession<'_>,
        account: &Account,
        password: Option<&TypedPassword>,
        purpose: Purpose,
    ) -> Result<()> {
        if let Some(password) = password {
            return self.require(request, account, password, purpose).await;
        }
        self.tokens.require_proof(acting, request.received_at).await
    }

    /// Whether somebody knows the password of this account. Whoever guesses waits longer and longer.
    ///
    /// # Errors
    /// 401 if it is another one, 403 if passwords are off, 429 if the guess has to wait, or as many passwords are hashed in this second as may be.
    pub async fn require(
        &self,
        request: &Request,
        account: &Account,
        password: &TypedPassword,
        Purpose { refusal, hashes }: Purpose,
    ) -> Result<()> {
        Problem::PasswordLoginOff.unless(self.password_login.admits(account, request.received_at))?;
        let verify = async |whose: Option<HashFor>| {
            self.limits.admit_hashes(request, whose, account.email.as_str(), hashes, request.received_at).await?;
            if self.passwords.verify(password, account.password_hash.as_deref()) {
                return Ok(());
            }
            Err(self.refused(request, Some(&account.id), refusal).await)
        };
        let attempt = Attempt { kind: GuessKind::Password, account: Some(account.email.as_str()) };
        self.limits.guesses.limit(request, attempt, verify).await
    }

    /// Writes the line that says why a password was refused, and returns the error, which doesn't. If the next guess has to wait, the
    /// person finds that in their audit log.
    pub async fn refused(&self, request: &Request, user: Option<&UserId>, reason: &'static str) -> ApiError {
        if let Some(user) = user.filter(|_| request.is_last_guess()) {
            // Nobody knows who it was. The answer must not come so late that it tells whether there is an account.
            let entry = self.limits.guesses.origin(request, Actor::Linklet).guessed(user);
            if tokio::time::timeout(NOTED_WITHIN, audit_log::note(self.audit_log, &entry)).await.is_err() {
                tracing::warn!("an entry of the audit log was not written in time");
            }
        }
        let address_hash = self.limits.guesses.address_hash(request);
        let (user_id, address_hash) = (user.map(UserId::to_string), address_hash.as_str());
        tracing::warn!(reason, user_id, address_hash, "a login was refused");
        ApiError::Problem(Problem::InvalidCredentials)
    }
}
