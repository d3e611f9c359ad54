//! Joining the account that has one's address: nobody takes over an account by an address alone.

use std::time::Duration;

use linklet_domain::{
    Actor, Credential, EmailAddress, GuessKind, Identity, Invalid, OneTimeToken, Timestamp, TokenPurpose,
    TypedPassword, WorkspaceRole, lifetimes, optional,
};
use linklet_dynamodb::{FoundIdentity, JoinOutcome, ResetOutcome};
use linklet_lambda::guesses::Attempt;
use linklet_lambda::http::{Problem, Request, Response, Result, no_content};
use linklet_lambda::proofs::Purpose;
use linklet_oidc::Settings;
use serde::{Deserialize, Serialize};

use super::roles::IdentityRoles;
use crate::Auth;
use crate::cookie::{BrowserCookie, SameSite};
use crate::renewal::Begun;
use crate::reset::TOKEN_INVALID;

/// Somebody whom a provider has named, and who has to show that the account with their address is theirs.
#[derive(Serialize, Deserialize)]
pub(super) struct PendingJoin {
    /// What the provider is called.
    provider: String,
    #[serde(flatten)]
    identity: Identity,
    address: EmailAddress,
    /// The roles that the person's groups have, if they are known.
    roles: Option<Vec<WorkspaceRole>>,
    until: Timestamp,
}

impl PendingJoin {
    pub(super) fn new(
        provider: &Settings,
        identity: Identity,
        address: EmailAddress,
        roles: Option<Vec<WorkspaceRole>>,
        now: Timestamp,
    ) -> Self {
        // As long as the token works that is mailed for it.
        let (provider, until) = (provider.name.clone(), now.plus(lifetimes::PASSWORD_RESETS));
        Self { provider, identity, address, roles, until }
    }
}

impl PendingJoin {
    fn person(&self) -> IdentityRoles<'_> {
        IdentityRoles { identity: &self.identity, roles: self.roles.as_deref() }
    }
}

/// The body of a request to join.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "optional")])]
#[derive(Deserialize)]
struct Join {
    /// As it was typed, since a wrong one is a wrong guess rather than an invalid request.
    password: Option<TypedPassword>,
    /// A `String`, since text that can't be a token is an unknown token rather than an invalid request.
    token: Option<String>,
}

const NAME: &str = "linklet_join";

impl Auth {
    /// The response with a cookie with which the account is joined.
    pub(super) async fn with_pending(
        &self,
        response: Response,
        request: &Request,
        pending: &PendingJoin,
    ) -> Result<Response> {
        let value = self.oidc()?.seal(request.received_at).await?.seal(NAME, pending)?;
        Ok(self.address.with_own(response, request, &cookie(), &value, lifetimes::PASSWORD_RESETS.as_secs()))
    }

    async fn pending(&self, request: &Request) -> Result<PendingJoin> {
        let (Some(oidc), Some(sealed)) = (&self.oidc, request.cookie(NAME)) else { return Err(TOKEN_INVALID) };
        let pending: Option<PendingJoin> = oidc.seal(request.received_at).await?.open(NAME, sealed);
        let pending = pending.filter(|pending| request.received_at < pending.until).ok_or(TOKEN_INVALID)?;
        // The cookie is good for one time: later, the groups in it may be others.
        let found = self.users.account_of_identity(&pending.identity.hash).await?;
        if found == FoundIdentity::Unknown { Ok(pending) } else { Err(TOKEN_INVALID) }
    }

    /// Connects the identity in the cookie with the account that has its address, for whoever has the password or a mailed token.
    pub(crate) async fn join(&self, request: &Request) -> Result<Response> {
        self.address.require_own_page(request)?;
        let Join { password, token } = request.json()?;
        let pending = self.pending(request).await?;
        let begun = match (password, token) {
            (Some(password), None) => Box::pin(self.join_by_password(request, &pending, &password)).await?,
            (None, Some(token)) => Box::pin(self.join_by_token(request, &pending, &token)).await?,
            _ => return Err(Invalid::new("either password or token is required").into()),
        };
        let response = self.address.with_cookie(no_content(), request, &begun.refresh_token, begun.lasts);
        Ok(self.address.with_own(response, request, &cookie(), "", 0))
    }

    async fn join_by_password(
        &self,
        request: &Request,
        pending: &PendingJoin,
        password: &TypedPassword,
    ) -> Result<Begun> {
        let found = self.users.find_by_email(&pending.address).await?;
        let (account, memberships) = found.ok_or(TOKEN_INVALID)?;
        let purpose = Purpose::refused_as("wrong password while connecting an identity");
        self.proofs().require(request, &account, password, purpose).await?;
        let origin = self.limits.guesses.origin(request, Actor::Person(account.id));
        match self.users.join_identity(&account, &pending.identity, &origin).await? {
            JoinOutcome::Joined => {}
            JoinOutcome::Changed => return Err(Problem::TryAgain.into()),
        }
        self.tell_connected(request, &account.id, &pending.provider, false).await;
        self.let_in(request, &account, memberships, &pending.person(), request.received_at).await
    }

    /// By a token for a new password. The identity replaces the password. If that is the first proof that the address is the person's, what
    /// others may have made in the account's name is paused.
    async fn join_by_token(&self, request: &Request, pending: &PendingJoin, token: &str) -> Result<Begun> {
        let use_up = async |_| {
            let token = OneTimeToken::parse(TokenPurpose::Reset, token).map_err(|_| TOKEN_INVALID)?;
            let reset = self.users.reset(&token.hash(), request.received_at).await?;
            let reset = reset.filter(|reset| reset.email == pending.address).ok_or(TOKEN_INVALID)?;
            let origin = self.limits.guesses.origin(request, Actor::Person(reset.user));
            let network = self.limits.guesses.familiar_network(request, reset.email.as_str());
            let credential = Credential::Identity(&pending.identity);
            match self.users.reset_credential(&reset, credential, &network, Timestamp::now, &origin).await? {
                ResetOutcome::Done { is_first_proof } => Ok((reset.user, is_first_proof)),
                ResetOutcome::TokenInvalid => Err(TOKEN_INVALID),
                ResetOutcome::Conflict => Err(Problem::TryAgain.into()),
            }
        };
        let attempt = Attempt { kind: GuessKind::Token, account: None };
        let (user, is_first_proof) = self.limits.guesses.limit(request, attempt, use_up).await?;
        self.tell_connected(request, &user, &pending.provider, is_first_proof).await;
        let account = self.users.account(&user).await?.ok_or(TOKEN_INVALID)?;
        let memberships = self.users.memberships(&user).await?;
        // All sessions have ended that began before.
        let at = Timestamp::now().plus(Duration::from_millis(1));
        self.let_in(request, &account, memberships, &pending.person(), at).await
    }
}

fn cookie() -> BrowserCookie {
    BrowserCookie { name: NAME.to_owned(), path: "api/auth/join".to_owned(), same_site: SameSite::Strict }
}
