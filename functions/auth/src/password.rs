//! The password of an account: the first one, another one, or none any more.

use linklet_domain::{
    Account, AccountChange, Credential, HashFor, Identity, Password, Timestamp, TypedPassword, optional,
};
use linklet_dynamodb::PasswordChange;
use linklet_lambda::http::{ApiError, Problem, Request, Response, Result, no_content};
use linklet_lambda::identity::Person;
use linklet_lambda::proofs::Purpose;
use serde::Deserialize;

use crate::Auth;

impl Auth {
    /// Sets the first password, or replaces it, and ends all sessions but the one that asks.
    pub(crate) async fn change_password(&self, request: &Request) -> Result<Response> {
        const OLD_AND_NEW: u32 = 2;
        let person = self.tokens.person_now(request).await?;
        let NewPassword { current, new } = request.json()?;
        let account = self.users.account(&person.user).await?.ok_or(Problem::Unauthorized)?;
        Problem::PasswordLoginOff.unless(self.password_login.admits(&account, request.received_at))?;
        new.refuse_guessable(&account.email).map_err(|refused| refused.in_field("new"))?;
        let purpose = Purpose { refusal: "wrong password while changing it", hashes: OLD_AND_NEW };
        self.proofs().require_of(request, person.acting(), &account, current.as_ref(), purpose).await?;
        let hash = match current {
            Some(_) => self.passwords.hash(new.typed()).map_err(ApiError::internal)?,
            None => self.first_hash(request, &account.email, &new, Some(HashFor::Strangers)).await?,
        };
        self.change(request, &person, &account, Credential::Password(&hash)).await?;
        self.mails.tell(request, &person.user, AccountChange::PasswordChanged).await;
        Ok(no_content())
    }

    /// Takes the password away from an account with an identity, and ends all sessions but the one that asks.
    pub(crate) async fn remove_password(&self, request: &Request) -> Result<Response> {
        let person = self.tokens.person_now(request).await?;
        let Removal { password } = if request.has_body() { request.json()? } else { Removal::default() };
        let account = self.users.account(&person.user).await?.ok_or(Problem::Unauthorized)?;
        let purpose = Purpose::refused_as("wrong password while removing it");
        self.proofs().require_of(request, person.acting(), &account, password.as_ref(), purpose).await?;
        // A repeated removal has done what it is for.
        if account.password_hash.is_none() {
            return Ok(no_content());
        }
        let (identities, issuers) = (self.users.identities(&person.user).await?, self.issuers());
        let works = |identity: &&Identity| issuers.contains(&identity.issuer.as_str());
        let instead = identities.iter().find(works).ok_or(Problem::LastSignIn)?;
        self.change(request, &person, &account, Credential::Identity(instead)).await?;
        self.mails.tell(request, &person.user, AccountChange::PasswordRemoved).await;
        Ok(no_content())
    }

    async fn change(&self, request: &Request, person: &Person, account: &Account, new: Credential<'_>) -> Result<()> {
        let session = person.session().id;
        let change = PasswordChange {
            user: &person.user,
            old_hash: account.password_hash.as_deref(),
            new,
            // Hashing has taken a while, in which others may have logged in.
            at: Timestamp::now(),
            but: Some(&session),
            origin: &self.limits.guesses.origin(request, person.actor()),
        };
        if self.users.change_password(&change).await? { Ok(()) } else { Err(Problem::TryAgain.into()) }
    }
}

/// The body of a request to change the password.
#[derive(Deserialize)]
struct NewPassword {
    /// As it was typed. It may be missing, for who has shown otherwise who they are.
    #[serde(default, deserialize_with = "optional")]
    current: Option<TypedPassword>,
    new: Password,
}

/// The body of a request to remove something, which may be missing.
#[derive(Default, Deserialize)]
pub(crate) struct Removal {
    /// As it was typed. It may be missing, for who has shown otherwise who they are.
    #[serde(default, deserialize_with = "optional")]
    pub password: Option<TypedPassword>,
}
