//! A new password for those who have forgotten theirs.

use linklet_domain::{
    AccountChange, Actor, EmailAddress, GuessKind, HashFor, OneTimeToken, Password, PasswordLogin, RequestedEmail,
    Timestamp, TokenPurpose,
};
use linklet_dynamodb::{ResetOutcome, TokenDelivery};
use linklet_lambda::guesses::Attempt;
use linklet_lambda::http::{ApiError, Problem, Request, Response, Result, accepted, no_content};
use serde::Deserialize;

use crate::Auth;

/// The error of a token that can't be used, whatever the reason is.
pub(crate) const TOKEN_INVALID: ApiError = ApiError::Problem(Problem::TokenInvalid);

impl Auth {
    /// 202, whether or not the address has an account: a mail follows if it has.
    pub(crate) async fn forgot_password(&self, request: &Request) -> Result<Response> {
        let Forgotten { email } = request.json()?;
        let reset = RequestedEmail::PasswordReset { email };
        let order = async |_| self.mails.place(request, reset.clone()).await;
        self.limits.guesses.limit(request, Attempt { kind: GuessKind::Mail, account: None }, order).await?;
        Ok(accepted())
    }

    /// Sets a new password with a token, and ends all sessions. If the token is the first proof that the address is the person's, what
    /// others may have made in the account's name is paused.
    pub(crate) async fn reset_password(&self, request: &Request) -> Result<Response> {
        let wanted = request.json::<NewPassword>()?;
        let set = async |whose| self.set_password(request, &wanted, whose).await;
        self.limits.guesses.limit(request, Attempt { kind: GuessKind::Token, account: None }, set).await
    }

    async fn set_password(&self, request: &Request, wanted: &NewPassword, whose: Option<HashFor>) -> Result<Response> {
        let NewPassword { token, password } = wanted;
        let token = OneTimeToken::parse(TokenPurpose::Reset, token).map_err(|_| TOKEN_INVALID)?;
        let reset = self.users.reset(&token.hash(), request.received_at).await?.ok_or(TOKEN_INVALID)?;
        let is_admitted = reset.by_operator || self.password_login == PasswordLogin::On;
        Problem::PasswordLoginOff.unless(is_admitted)?;
        password.refuse_guessable(&reset.email).map_err(|refused| refused.in_field("password"))?;
        self.limits.admit_hashes(request, whose, reset.email.as_str(), 1, request.received_at).await?;
        let hash = self.passwords.hash(password.typed()).map_err(ApiError::internal)?;
        // Hashing has taken a while, in which others may have logged in.
        let origin = self.limits.guesses.origin(request, Actor::Person(reset.user));
        let network = self.limits.guesses.familiar_network(request, reset.email.as_str());
        match self.users.reset_password(&reset, &hash, &network, Timestamp::now, &origin).await? {
            ResetOutcome::Done { is_first_proof } => {
                request.note_account(&reset.user);
                // What an operator has shown to somebody says nothing about who uses it.
                if reset.delivery == TokenDelivery::Mailed {
                    self.limits.guesses.remember_proof(request, reset.email.as_str()).await;
                }
                let change = AccountChange::PasswordReset { pauses: is_first_proof };
                self.mails.tell(request, &reset.user, change).await;
                Ok(no_content())
            }
            ResetOutcome::TokenInvalid => Err(TOKEN_INVALID),
            ResetOutcome::Conflict => Err(Problem::TryAgain.into()),
        }
    }
}

/// The body of a request for a token.
#[derive(Deserialize)]
struct Forgotten {
    email: EmailAddress,
}

/// The body of a request that sets a new password.
#[derive(Deserialize)]
struct NewPassword {
    /// A `String`, since text that can't be a token is an unknown token rather than an invalid request.
    token: String,
    password: Password,
}
